"""The commands of rows on Ray: the lines of the local engine, and language models within the limits of one run."""

from __future__ import annotations

import json
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from tests.cli.folder_commands import MADE_COMMANDS, ROW_COMMANDS, folder_of, lines_of
from tests.cli.searxng_server import searxng_server
from tests.methods.scripts import CLAIM, SOURCE, reply
from tests.models.fault_server import of_json
from vouching.cli.app import app
from vouching.cli.streams import Exit


def vouch(*arguments: object, **environment: str) -> Result:
    """Run the command line in this process, which has joined the cluster."""
    return CliRunner().invoke(app, [*map(str, arguments)], env=environment)


@pytest.mark.parametrize("name", [*ROW_COMMANDS][1:])  # check is tested in test_ray_engine
def test_the_lines_are_those_of_the_local_engine(ray: Any, name: str, tmp_path: Path) -> None:
    command = ROW_COMMANDS[name]
    lake, _ = folder_of(command, tmp_path)
    here = vouch(*command.words, "--input", lake, "--output", tmp_path / "here")
    there = vouch(*command.words, "--input", lake, "--output", tmp_path / "there", "--engine", "ray", "--jobs", "2")
    assert there.exit_code == here.exit_code, there.stderr
    assert there.stderr.splitlines()[-1] == here.stderr.splitlines()[-1]  # a busy cluster also says that it waits
    assert lines_of(tmp_path / "there") == lines_of(tmp_path / "here")


@pytest.mark.parametrize("name", MADE_COMMANDS)
def test_training_data_is_that_of_the_local_engine(ray: Any, name: str, tmp_path: Path) -> None:
    command = MADE_COMMANDS[name]
    lake, _ = folder_of(command, tmp_path)
    here = vouch(*command.words, "--input", lake, "--output", tmp_path / "here.jsonl")
    there = vouch(
        *command.words, "--input", lake, "--output", tmp_path / "there.jsonl", "--engine", "ray", "--jobs", "2"
    )
    assert (there.exit_code, here.exit_code) == (Exit.OK, Exit.OK), there.stderr
    assert lines_of(tmp_path / "there.jsonl") == lines_of(tmp_path / "here.jsonl")


def test_rows_are_annotated_by_actors(ray: Any, tmp_path: Path) -> None:
    (lake := tmp_path / "lake").mkdir()
    for name in "ab":
        row = {"id": name, "claim": CLAIM, "source": SOURCE, "label": "Not Attributable"}
        (lake / f"{name}.jsonl").write_text(f"{json.dumps(row)}\n")
    annotate = ("data", "annotate", "--input", lake, "--output", tmp_path / "sft.jsonl", "--engine", "ray")
    with chat_server(lambda asked: reply()) as model:
        done = vouch(*annotate, "--model", model)
    assert done.exit_code == Exit.OK, done.stderr
    assert [line["id"] for line in lines_of(tmp_path / "sft.jsonl")] == ["a", "b"]


def test_relative_paths_are_those_of_the_folder_of_the_command(
    ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the nodes were started elsewhere
    (tmp_path / "notes.txt").write_text(SOURCE)
    assert vouch("index", "build", "notes", "notes.txt").exit_code == Exit.OK
    searched_here_and_there(tmp_path, "notes")


def test_actors_search_an_opensearch_server(ray: Any, tmp_path: Path) -> None:
    hit = {"_index": "notes", "_id": "bridge", "_score": 1.0, "_source": {"text": SOURCE}}
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    found = of_json({"took": 1, "timed_out": False, "_shards": shards, "hits": {"hits": [hit]}})
    with searxng_server(lambda request: found) as (engine, paths):
        searched_here_and_there(tmp_path, f"opensearch:{engine.removeprefix('searxng=')}/notes")
    assert paths == ["/notes/_search"] * len(paths)
    assert len(paths) == 4  # two rows, here and there


def searched_here_and_there(folder: Path, index: str) -> None:
    """Check that claims are judged by the same evidence with processes and with Ray."""
    (folder / "lake").mkdir()
    for name in "ab":
        (folder / f"lake/{name}.jsonl").write_text(json.dumps({"id": name, "claim": CLAIM}) + "\n")
    check = ("check", "--input", folder / "lake", "--model", "embedded:rules", "--index", index)
    here = vouch(*check, "--output", folder / "here")
    there = vouch(*check, "--output", folder / "there", "--engine", "ray", "--jobs", "2")
    assert (there.exit_code, here.exit_code) == (Exit.OK, Exit.OK), there.stderr
    assert lines_of(folder / "there") == lines_of(folder / "here")
    assert {line["label"] for line in lines_of(folder / "there")} == {"Not Attributable"}


class Counting:
    """Answers like a model, and counts calls and how many run at a time."""

    def __init__(self) -> None:
        self.begun: list[float] = []
        self.most = self._now = 0
        self._lock = threading.Lock()

    def __call__(self, asked: str) -> str:
        with self._lock:
            self.begun.append(time.monotonic())
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.3)
        with self._lock:
            self._now -= 1
        return reply()


def test_actors_share_the_limits_on_calls_and_their_tokens_and_costs_are_summed(ray: Any, tmp_path: Path) -> None:
    (lake := tmp_path / "lake").mkdir()
    for file in range(4):
        rows = [json.dumps({"id": f"{file}-{n}", "claim": CLAIM, "source": SOURCE}) for n in range(6)]
        (lake / f"{file}.jsonl").write_text("".join(f"{row}\n" for row in rows))
    with chat_server(answer := Counting()) as model:
        done = vouch(
            "check",
            "--input",
            lake,
            "--output",
            tmp_path / "out",
            "--model",
            model,
            "--engine",
            "ray",
            "--jobs",
            "2",
            VOUCH_MAX_CALLS="3",
            VOUCH_CALLS_PER_MINUTE="1200",
            VOUCH_PRICE="1000,2000",
        )
    assert done.exit_code == Exit.OK, done.stderr
    assert len(answer.begun) == 24  # one call for each row
    assert 1 <= answer.most <= 3
    # 1200 calls a minute are one in 0.05 s; of two actors each begins one in 0.1 s, so 24 calls take at least 1.1 s.
    assert answer.begun[-1] - answer.begun[0] > 1.0
    # The server counts 9 tokens sent and 5 received a call: (24 * 9 * 1000 + 24 * 5 * 2000) / 1e6 = .456
    assert "24 calls, 216 tokens sent, 120 received, cost 0.456" in done.stderr
    usage = json.loads((tmp_path / "out/manifest.json").read_text())["usage"]
    assert (usage["calls"], usage["prompt_tokens"], usage["completion_tokens"]) == (24, 216, 120)


def test_a_model_in_an_actor_answers_the_rows_of_a_block_in_batches(ray: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.models.tiny_llama import write_tiny_llama

    weights = write_tiny_llama(tmp_path / "tiny", context=8_192)
    (lake := tmp_path / "lake").mkdir()
    rows = [json.dumps({"id": f"r{n}", "claim": CLAIM, "source": SOURCE}) for n in range(4)]
    (lake / "a.jsonl").write_text("".join(f"{row}\n" for row in rows))
    done = vouch(
        "check",
        "--input",
        lake,
        "--output",
        tmp_path / "out",
        "--model",
        f"local:{weights}",
        "--max-tokens",
        "8",
        "--engine",
        "ray",
    )
    # A model with random weights writes no record, so every row is unverified; the judge failed, not the row.
    assert done.exit_code == Exit.INCOMPLETE
    lines = lines_of(tmp_path / "out")
    assert [line["id"] for line in lines] == [f"r{n}" for n in range(4)]
    assert {line["kind"] for line in lines} == {"unverified"}
    found = re.search(r"(\d+) calls, ([\d,]+) tokens sent, (\d+) received", done.stderr)
    assert found
    assert int(found[1]) >= 4
    assert 0 < int(found[3]) <= 8 * int(found[1])  # at most 8 tokens a call
