"""Folders of rows: every command of rows takes one, and writes for each row what it writes for a single file."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from tests.cli.folder_commands import MADE_COMMANDS, ROW_COMMANDS, folder_of, lines_of
from tests.methods.scripts import CLAIM, SOURCE, reply
from vouching.cli.app import app
from vouching.cli.streams import Exit


def vouch(*arguments: object, **environment: str) -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(app, [*map(str, arguments)], env=environment)


@pytest.mark.parametrize("name", ROW_COMMANDS)
def test_a_folder_gives_each_row_the_line_that_a_file_gives_it(name: str, tmp_path: Path) -> None:
    command = ROW_COMMANDS[name]
    lake, whole = folder_of(command, tmp_path)
    single = vouch(*command.words, "--input", whole, "--output", tmp_path / "out.jsonl")
    parts = vouch(*command.words, "--input", lake, "--output", tmp_path / "out")
    assert (parts.exit_code, lines_of(tmp_path / "out")) == (single.exit_code, lines_of(tmp_path / "out.jsonl"))
    assert parts.stderr.splitlines()[-1] == single.stderr.splitlines()[-1]
    assert json.loads((tmp_path / "out/manifest.json").read_text())["rows"] == len(lines_of(tmp_path / "out"))


@pytest.mark.parametrize("name", ROW_COMMANDS)
def test_parquet_has_the_columns_that_rows_columns_prints(name: str, tmp_path: Path) -> None:
    command = ROW_COMMANDS[name]
    lake, whole = folder_of(command, tmp_path)
    vouch(*command.words, "--input", lake, "--output", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet/parts")
    printed = vouch("rows", "columns", "follow-rules" if name == "follow" else name)
    assert printed.exit_code == Exit.OK
    assert [line.split("\t") for line in printed.stdout.splitlines()] == [[f.name, str(f.type)] for f in table.schema]
    assert table.column("id").to_pylist() == [json.loads(line)["id"] for line in whole.open()]


@pytest.mark.parametrize("name", ROW_COMMANDS)
def test_shards_write_what_one_process_writes(name: str, tmp_path: Path) -> None:
    command = ROW_COMMANDS[name]
    lake, _ = folder_of(command, tmp_path)
    vouch(*command.words, "--input", lake, "--output", tmp_path / "whole")
    for number in (2, 1):
        done = vouch(*command.words, "--input", lake, "--output", tmp_path / "shards", "--shard", f"{number}/2")
        assert "vouch rows merge" in done.stderr
    assert vouch("rows", "merge", tmp_path / "shards", "--output", tmp_path / "all.jsonl").exit_code == Exit.OK
    assert lines_of(tmp_path / "all.jsonl") == lines_of(tmp_path / "whole")


@pytest.mark.parametrize("name", MADE_COMMANDS)
def test_files_made_from_a_folder_are_those_made_from_its_shards(name: str, tmp_path: Path) -> None:
    command = MADE_COMMANDS[name]
    lake, _ = folder_of(command, tmp_path)
    whole, shards = tmp_path / "whole.out.jsonl", tmp_path / "shards.out.jsonl"
    done = vouch(*command.words, "--input", lake, "--output", whole)
    for shard in ("1/2", "2/2"):
        part = vouch(*command.words, "--input", lake, "--output", shards, "--shard", shard)
        assert "--resume and without --shard" in part.stderr
        assert not shards.exists()
    merged = vouch(*command.words, "--input", lake, "--output", shards, "--resume")
    assert (merged.exit_code, done.exit_code) == (Exit.OK, Exit.OK)
    assert lines_of(shards) == lines_of(whole)
    ids = [line["id"] for line in lines_of(whole)]
    assert len({*ids}) == len(ids) > 0


def test_a_single_block_is_perturbed_as_a_file_with_its_broken_rows_listed(tmp_path: Path) -> None:
    command = MADE_COMMANDS["perturb"]
    lake, whole = folder_of(command, tmp_path)
    (lake / "a.jsonl").unlink()
    (lake / "b.jsonl").write_text(f"{{broken\n{whole.read_text()}7\n")
    single = vouch(*command.words, "--input", whole, "--output", tmp_path / "file.jsonl")
    parts = vouch(*command.words, "--input", lake, "--output", tmp_path / "folder.jsonl")
    assert lines_of(tmp_path / "folder.jsonl") == lines_of(tmp_path / "file.jsonl")
    assert (single.exit_code, parts.exit_code) == (Exit.OK, Exit.INCOMPLETE)
    assert parts.stderr.splitlines()[-1] == single.stderr.splitlines()[-1]
    [errors] = (tmp_path / "folder.journal/errors").iterdir()
    assert [json.loads(line)["row"] for line in errors.open()] == ["byte 0", f"byte {8 + whole.stat().st_size}"]


def test_rows_of_a_folder_are_annotated_and_the_calls_are_paced(tmp_path: Path) -> None:
    (lake := tmp_path / "lake").mkdir()
    for name in "ab":
        row = {"id": name, "claim": CLAIM, "source": SOURCE, "label": "Not Attributable"}
        (lake / f"{name}.jsonl").write_text(f"{json.dumps(row)}\n")
    with chat_server(lambda asked: reply()) as model:
        done = vouch(
            "data",
            "annotate",
            "--input",
            lake,
            "--output",
            tmp_path / "sft.jsonl",
            "--model",
            model,
            VOUCH_CALLS_PER_MINUTE="6000",
        )
    assert done.exit_code == Exit.OK, done.stderr
    assert [line["id"] for line in lines_of(tmp_path / "sft.jsonl")] == ["a", "b"]
    assert "2 of 2 rows accepted" in done.stderr


@pytest.mark.parametrize(("reported", "total"), [(0.25, "0.5"), (None, "0.0018")])
def test_the_cost_of_a_folder_is_what_replies_report_and_else_that_of_their_tokens(
    reported: float | None, total: str, tmp_path: Path
) -> None:
    (lake := tmp_path / "lake").mkdir()
    for name in "ab":
        (lake / f"{name}.jsonl").write_text(json.dumps({"id": name, "claim": CLAIM, "source": SOURCE}) + "\n")
    out = tmp_path / "out"
    with chat_server(lambda asked: "0.9", cost=reported) as model:
        done = vouch(
            "check", "--input", lake, "--output", out, "--model", f"decision:{model}", VOUCH_PRICE="1,0", VOUCH_CACHE=""
        )
    assert done.exit_code == Exit.OK, done.stderr
    # Two replies report .25 each; without that, 900 tokens each at 1 a million.
    assert f"2 calls, 1,800 tokens sent, 10 received, cost {total}" in done.stderr
    merged = vouch("rows", "merge", out)  # whatever the price is now
    assert f"received, cost {total}" in merged.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "--ray-address", "auto"), "--ray-address auto needs --engine ray"),
        (("audit", "--jobs", "2"), "--jobs 2 needs a folder of rows, or --engine ray, for this command"),
        (("check", "--model", "http://localhost:9/v1#m", "--jobs", "2"), "cannot be used with a language model"),
        (("data", "perturb", "--resume"), "--resume needs a folder of rows for --input"),
        (("reward", "structured", "--shard", "3/2"), "--shard 3/2: expected I/N with I from 1 to N, such as 3/16"),
    ],
)
def test_options_that_do_not_fit_are_usage_errors(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("{}\n")
    output = tmp_path / ("out" if "--shard" in arguments else "out.jsonl")
    done = vouch(*arguments, "--input", tmp_path / "rows.jsonl", "--output", output)
    assert (done.exit_code, message in done.stderr) == (Exit.USAGE, True), done.stderr


def test_shards_need_rows() -> None:
    assert "--shard applies only to a file of rows" in vouch("rank", "--shard", "1/2").stderr
    assert "--engine applies only to a file of rows" in vouch("audit", "It rained.", "--engine", "ray").stderr
