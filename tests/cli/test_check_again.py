"""``vouch check --input`` with an engine or a model that fails for a while: ``--resume`` asks again for what failed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from tests.cli.searxng_server import searxng_server
from tests.methods.scripts import RIGHT, SOURCE, reply
from tests.models.fault_server import Answer, Request
from tests.search.answers import speaks_searxng
from vouching.cli.app import app
from vouching.rows import count_retryable

YEARS = ("1931", "1932", "1933", "1934")


def lines_of(output: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def vouch(*arguments: str) -> Result:
    return CliRunner(env={"VOUCH_MODEL": ""}).invoke(app, arguments)


def test_rows_whose_search_failed_are_asked_again_and_a_kill_in_the_midst_of_it_loses_nothing(tmp_path: Path) -> None:
    rows, output = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    claims = [f"The Bosphorus Bridge opened in {year}." for year in YEARS]
    rows.write_text("".join(json.dumps({"id": c[-5:-1], "claim": c}) + "\n" for c in claims), encoding="utf-8")
    down, held, repaired = {"1932", "1934"}, threading.Event(), output.with_name("out.jsonl.repaired")

    def respond(request: Request) -> Answer:
        if any(year in request.path for year in down):
            return Answer(403, b"Forbidden", {"content-type": "text/plain"})
        if "1934" in request.path:
            held.wait(30)
        return speaks_searxng(request)

    with searxng_server(respond) as (engine, paths):
        command = ["check", "--model", "embedded:rules", "--input", str(rows), "--output", str(output), "--web", engine]
        first = vouch(*command, "--web", "queries=1")
        assert first.exit_code == 3
        assert "could not verify 2 rows because of temporary failures: retry with --resume" in first.stderr
        before = output.read_bytes()
        assert [line.get("reason") for line in lines_of(output)] == [None, "backend", None, "backend"]

        down.clear()
        paths.clear()
        command += ["--web", "queries=1", "--resume"]
        with subprocess.Popen([sys.executable, "-m", "vouching", *command]) as program:
            for _ in range(3_000):
                if repaired.exists() and repaired.read_bytes().count(b"\n") == 2:
                    break
                held.wait(0.01)
            program.kill()
        held.set()
        assert output.read_bytes() == before

        paths.clear()
        last = vouch(*command)
        assert last.exit_code == 0, last.stderr
        assert "retried 1 row from an earlier run" in last.stderr
        # The second row was done before the kill, the first and the third before that.
        assert [[year for year in YEARS if year in path] for path in paths] == [["1934"]]
    assert [line["claim"]["id"] for line in lines_of(output)] == [*YEARS]
    assert {line["kind"] for line in lines_of(output)} == {"verdict"}
    assert lines_of(output)[0] == json.loads(before.splitlines()[0])
    assert not repaired.exists()


@pytest.mark.parametrize(
    ("finding", "again"),
    [
        ({"kind": "verdict", "label": "Not Attributable"}, False),
        ({"kind": "unverified", "reason": "backend"}, True),
        ({"kind": "unverified", "reason": "unparsable"}, True),
        ({"kind": "unverified", "reason": "truncated"}, False),  # --max-tokens mends it, and is another setting
        (
            {"kind": "unverified", "reason": "undecided"},
            False,
        ),  # until the votes agree: that would be luck
        ({"kind": "unverified", "reason": "input"}, False),
        ({"kind": "unverified", "reason": "no_evidence", "warnings": [{"kind": "search"}]}, False),
        ({"kind": "unverified", "reason": "no_evidence", "warnings": [{"kind": "engine"}]}, True),
    ],
)
def test_what_is_asked_again_is_what_may_pass(finding: dict[str, Any], again: bool) -> None:
    assert count_retryable([{"kind": "verdict"}, finding]) == again


def test_a_reply_that_is_no_record_is_asked_for_again_and_the_other_lines_stay_byte_for_byte(tmp_path: Path) -> None:
    rows, output, garbled = tmp_path / "rows.jsonl", tmp_path / "out.jsonl", [True]
    made = [{"id": f"r{n}", "claim": f"The bridge opened, page {n}.", "source": SOURCE} for n in range(3)]
    rows.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")

    def answer(asked: str) -> str:
        # Where a reply is no record, its second try is asked for without the claim.
        meant = "page 1." in asked or "page" not in asked
        return "I would rather not say." if garbled[0] and meant else reply(RIGHT)

    with chat_server(answer) as model:
        command = ["check", "--input", str(rows), "--output", str(output), "--model", model]
        assert "could not verify 1 row because of temporary failures" in vouch(*command).stderr
        before = output.read_bytes().splitlines()
        garbled[0] = False
        assert vouch(*command, "--resume").exit_code == 0
    after = output.read_bytes().splitlines()
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True]
    assert [line["claim"]["id"] for line in lines_of(output)] == ["r0", "r1", "r2"]
