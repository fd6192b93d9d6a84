"""``vouch windows``: the scores of windows are those of the library, in every form of documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import vouching
from vouching.cli.app import app
from vouching.rows.shapes import SOURCE_KEYS

TEXT = "The bridge opened to traffic in 1973. It has three towers."
LONG = " ".join(["It rained all day and nobody came."] * 30 + [TEXT] + ["The sun shone on the hills."] * 30)
CLAIM = "The bridge opened in 1973."


def vouch(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "100", "VOUCH_MODEL": ""}).invoke(app, [*arguments, "--model", "embedded:rules"])


def judged(tmp_path: Path, rows: list[dict[str, Any]], *options: str, command: str = "windows") -> list[dict[str, Any]]:
    """The lines for a file of rows."""
    given, made = tmp_path / "rows.jsonl", tmp_path / "lines.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = vouch(command, "--input", str(given), "--output", str(made), *options)
    assert result.exit_code in (0, 3), result.output
    return [json.loads(line) for line in made.read_text(encoding="utf-8").splitlines()]


def test_a_claim_is_judged_as_a_whole_and_window_by_window(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text(LONG, encoding="utf-8")
    result = vouch("windows", CLAIM, "--source", str(tmp_path / "long.txt"), "--max-words", "64", "--json")
    record = json.loads(result.stdout)
    [pair] = vouching.score_pairs([LONG], [CLAIM], model="embedded:rules", max_words=64)
    assert result.exit_code == 0
    assert [one["score"] for one in record["windows"]] == [*pair.window_scores]
    best = max(record["windows"], key=lambda one: one["score"])
    assert "opened to traffic in 1973" in LONG[best["start"] : best["end"]]
    shown = vouch("windows", CLAIM, "--source-text", TEXT).stdout
    assert "Each window alone" in shown
    assert "source-1 0-58" in shown


def test_rows_of_minicheck_and_of_others_get_the_windows_of_their_documents(tmp_path: Path) -> None:
    rows = [
        {"claim": CLAIM, "doc": TEXT},
        {"claim": CLAIM, "contexts": [{"doc_id": "a", "text": TEXT}, {"doc_id": "b", "text": "It rained."}]},
        {"response": CLAIM, "sources": [TEXT]},
        {"claim": CLAIM},
    ]
    lines = judged(tmp_path, rows)
    windows = [[(one["source_id"], one["end"]) for one in line.get("windows", ())] for line in lines]
    # The texts have 58 and 10 characters. A response has no windows, and neither has a row without a source.
    assert windows == [[("source-1", 58)], [("a", 58), ("b", 10)], [], []]
    assert [line["kind"] for line in lines] == ["verdict", "verdict", "report", "unverified"]


@pytest.mark.parametrize("name", SOURCE_KEYS)
def test_rows_name_their_documents_as_they_like_on_the_command_line_and_in_python(tmp_path: Path, name: str) -> None:
    rows = [{"claim": CLAIM, name: value} for value in (TEXT, [TEXT], [{"doc_id": "a", "text": TEXT}])]
    lines = judged(tmp_path, rows, command="check")
    assert [line["label"] for line in lines] == ["Attributable"] * 3
    assert lines[2]["evidence_alignment"][0]["source_span"]["source_id"] == "a"
    here = vouching.check_many(rows, model="embedded:rules")
    assert [getattr(verdict, "score", None) for verdict in here] == [line["score"] for line in lines]


def test_a_claim_without_a_source_is_a_usage_error() -> None:
    result = vouch("windows", CLAIM)
    assert result.exit_code == 2
    assert "no source was given" in result.output
