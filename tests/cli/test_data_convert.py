"""``vouch data convert`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from vouching.cli.app import app

FORMATS = Path(__file__).parents[1] / "data" / "formats"


def test_rows_are_written_and_the_reading_is_told(tmp_path: Path) -> None:
    output = tmp_path / "rows.jsonl"
    done = CliRunner().invoke(
        app, ["data", "convert", "--input", str(FORMATS / "minicheck.jsonl"), "--output", str(output)]
    )
    assert done.exit_code == 0
    assert [json.loads(line)["label"] for line in output.read_text().splitlines()] == [
        "Attributable",
        "Not Attributable",
    ]
    assert "2 rows: MiniCheck / LLM-AggreFact: claim from claim, source from doc, label from label" in done.stderr


def test_a_row_of_an_unknown_format_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text('{"question": "When?", "answer": "In 1973."}\n{"claim": "c", "source": "s"}\n')
    output = tmp_path / "rows.jsonl"
    done = CliRunner().invoke(app, ["data", "convert", "--input", str(mixed), "--output", str(output)])
    assert done.exit_code == 3
    assert output.read_text() == '{"claim": "c", "source": "s"}\n'
    assert "line 1: unknown format: the row has question and answer; the nearest is ragas (before 0.2)" in done.stderr
    assert "which also needs contexts" in done.stderr


def test_a_csv_of_another_tool_is_checked_as_it_is(tmp_path: Path) -> None:
    files = ["--input", str(FORMATS / "deepeval.csv"), "--output", str(tmp_path / "reports.jsonl")]
    done = CliRunner().invoke(app, ["check", *files, "--model", "embedded:rules"])
    assert done.exit_code == 0
    assert "1 row, 2 claims: 1 attributable, 1 not attributable" in done.stderr
