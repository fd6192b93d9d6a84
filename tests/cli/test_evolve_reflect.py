"""``vouch evolve reflect``: from rows to a reflection, gone on with after a stop, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from tests.methods.scripts import RIGHT, SOURCE, reply
from vouching.cli.app import app
from vouching.cli.streams import Exit
from vouching.evolve.records import Judged, Reflection, read_answers, read_record, read_records


def reflected(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["evolve", "reflect", *map(str, arguments)])


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A right claim, and a wrong year that the rules find, of one set; and a claim of another."""
    wrong = {"claim": "The bridge opened in 1937.", "label": "Not Attributable", "error_type": "temporal_shift"}
    fine = {"label": "Attributable"}
    return written(
        tmp_path / "dev.jsonl",
        [
            {"id": "a", "claim": "The bridge opened in 1973.", "source": SOURCE} | fine,
            {"id": "b", "source": SOURCE, **wrong},
            {
                "id": "c",
                "claim": "The bridge has two towers.",
                "source": SOURCE,
                "label": "Attributable",
                "set": "towers",
            },
        ],
    )


def test_a_reflection_is_written_shown_and_keeps_the_answers_beside_it(rows: Path) -> None:
    output = rows.with_name("reflection.json")
    result = reflected("--input", rows, "--output", output, "--model", "embedded:rules")
    assert result.exit_code == Exit.OK, result.stderr
    found = read_record(output, Reflection)
    assert {name: (one.rows, one.right) for name, one in found.sets.items()} == {"dev": (2, 2), "towers": (1, 1)}
    assert (found.types[1].basis, found.types[1].found.right) == ("known", 1)
    shown = next(line for line in result.stdout.splitlines() if line.startswith("temporal_shift"))
    assert shown.split()[:5] == ["temporal_shift", "known", "1", "100.0", "%"]
    answers = read_records(output.with_suffix(".judged.jsonl"), Judged)
    assert [(one.row.id, one.label) for one in answers] == [
        ("a", "Attributable"),
        ("b", "Not Attributable"),
        ("c", "Attributable"),
    ]


def test_json_is_the_record_itself(rows: Path) -> None:
    output = rows.with_name("reflection.json")
    result = reflected("--input", rows, "--output", output, "--model", "embedded:rules", "--json")
    assert json.loads(result.stdout) == json.loads(output.read_text(encoding="utf-8"))


def test_a_run_with_a_row_that_was_not_answered_asks_only_for_that_one(rows: Path) -> None:
    output = rows.with_name("reflection.json")
    asked: list[str] = []

    def answer(question: str) -> str | int:
        asked.append(question)
        return 503 if down and "The bridge has two" in question else reply(RIGHT, confidence=0.9)

    down = True
    with chat_server(answer) as model:
        stopped = reflected("--input", rows, "--output", output, "--model", model, "--method", "label")
        assert stopped.exit_code == Exit.INCOMPLETE
        assert "could not verify 1 row because of temporary failures" in stopped.stderr
        kept = 2
        down, before = False, len(asked)
        done = reflected("--input", rows, "--output", output, "--model", model, "--method", "label")
        assert done.exit_code == Exit.OK, done.stderr
        assert len(asked) - before == 3 - kept
        again = reflected("--input", rows, "--output", output, "--model", model, "--method", "label")
        assert (again.exit_code, len(asked) - before) == (Exit.OK, 3 - kept)
    assert read_record(output, Reflection).sets["dev"].right == 1  # it says Attributable to both, one is


def test_answers_of_another_verifier_are_not_taken_for_its_own(rows: Path) -> None:
    output = rows.with_name("reflection.json")
    assert reflected("--input", rows, "--output", output, "--model", "embedded:rules").exit_code == Exit.OK
    other = reflected("--input", rows, "--output", output, "--model", "embedded")
    assert other.exit_code == Exit.USAGE
    assert "model" in other.stderr


def test_rows_that_cannot_be_used_are_named_and_the_others_count(rows: Path) -> None:
    lines = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    written(rows, [*lines, {"id": "d", "claim": "It opened.", "source": SOURCE, "label": "perhaps"}])
    result = reflected("--input", rows, "--output", rows.with_name("r.json"), "--model", "embedded:rules")
    assert result.exit_code == Exit.INCOMPLETE
    assert "dev.jsonl, line 4" in result.stderr
    assert "'perhaps'" in result.stderr
    assert sum(one.rows for one in read_record(rows.with_name("r.json"), Reflection).sets.values()) == 3


@pytest.mark.parametrize(
    ("rows_of", "output", "told"),
    [
        ([{"claim": "It opened.", "source": "It opened."}], "r.json", "has no usable row"),
        ([], "r.json", "has no usable row"),
        ([{"claim": "It opened.", "source": "It opened.", "label": "Attributable"}], "r.txt", "must end in .json"),
    ],
)
def test_what_cannot_be_reflected_on_is_refused(
    tmp_path: Path, rows_of: list[dict[str, Any]], output: str, told: str
) -> None:
    result = reflected("--input", written(tmp_path / "rows.jsonl", rows_of), "--output", tmp_path / output)
    assert result.exit_code == Exit.USAGE
    assert told in result.stderr


def test_a_file_of_another_kind_is_not_written_over(tmp_path: Path) -> None:
    package = tmp_path / "package.json"
    package.write_text('{"name": "site"}', encoding="utf-8")
    for command, wanted in (
        (["evolve", "reflect", "--input", "rows.jsonl", "--output"], "reflection"),
        (["calibrate", "--input", "rows.jsonl", "--verdicts", "verdicts.jsonl", "--output"], "calibration"),
    ):
        done = CliRunner().invoke(app, [*command, str(package)])
        assert (done.exit_code, f"already exists and is not a {wanted}" in done.stderr) == (2, True), done.stderr
    assert package.read_text(encoding="utf-8") == '{"name": "site"}'


def test_a_file_without_a_row_that_can_be_used_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "bare.jsonl", [{"claim": "The bridge opened.", "source": SOURCE}])
    for text in (path.read_text(encoding="utf-8"), ""):
        path.write_text(text, encoding="utf-8")
        result = reflected("--input", path, "--output", tmp_path / f"of{len(text)}.json", "--model", "embedded:rules")
        assert result.exit_code == Exit.USAGE
        assert "bare.jsonl has no usable row" in result.stderr
        assert not (tmp_path / f"of{len(text)}.json").exists()


def test_answers_are_read_past_the_rows_that_could_not_be_used(rows: Path) -> None:
    with rows.open("a", encoding="utf-8") as more:
        more.write('{"id": "d", "claim": "The bridge opened."}\n')
    output = rows.with_name("reflection.json")
    assert reflected("--input", rows, "--output", output, "--model", "embedded:rules").exit_code == Exit.INCOMPLETE
    assert [one.row.id for one in read_answers(output.with_suffix(".judged.jsonl"))] == ["a", "b", "c"]
