"""``--ledger`` keeps what the commands print, and ``vouch ledger`` finds, checks and erases it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vouching.ledger import open_ledger

SOURCE = "The bridge opened in 1973."
RULES = ("--model", "embedded:rules")


def vouch(*arguments: str, expected: int = 0, **environment: str) -> tuple[str, str]:
    given = {**os.environ, **environment}
    done = subprocess.run([sys.executable, "-m", "vouching", *arguments], capture_output=True, text=True, env=given)
    assert done.returncode == expected, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("VOUCH_LEDGER_KEY", "a key only for these tests")
    return str(tmp_path / "ledger.db")


def test_every_checking_command_keeps_its_result(target: str, tmp_path: Path) -> None:
    to = ("--ledger", target)
    given = ("--source-text", SOURCE)
    printed, _ = vouch("check", "It opened in 1937.", *given, *RULES, "--json", *to)
    answer = tmp_path / "answer.txt"
    answer.write_text("Sure! It opened in 1973.")
    vouch("check", "--response", str(answer), *given, *RULES, *to)
    vouch("follow", "So be it.", "--instruction", "Use no commas.", *to)
    vouch("audit", "It has 2 towers.", "--source-text", "It has 2 towers.", *to, VOUCH_LEDGER_CALLER="ada")
    vouch("rank", "--question", "When?", "--answer", "In 1937.", "--answer", "In 1973.", *given, *to)
    vouch("challenge", "--task", "examples/expenses.yaml", "--proposal", "examples/expenses_proposal.yaml", *to)
    rewards = tmp_path / "rewards.jsonl"
    vouch("reward", "structured", "--input", "examples/replies.jsonl", "--output", str(rewards), *to)
    with open_ledger(target) as ledger:
        rows = list(ledger.rows())
        assert ledger.verify().intact
    kinds = [row.kind for row in rows]
    lines = rewards.read_text().splitlines()
    usable = [line for line in map(json.loads, lines) if "problem" not in line]
    assert kinds == ["check", "check-response", "follow", "audit", "rank", "challenge"] + ["reward"] * len(usable)
    assert usable
    assert rows[0].record == json.loads(printed)
    assert rows[0].inputs is not None
    assert rows[0].inputs["claim"] == "It opened in 1937."
    assert rows[0].inputs["sources"][0]["text"] == SOURCE
    assert [row.caller for row in rows[2:4]] == ["", "ada"]
    assert rows[2].inputs == {"response": "So be it.", "instruction": "Use no commas."}
    assert [row.record for row in rows[6:]] == usable


def test_gates_keep_their_results_too(target: str, tmp_path: Path) -> None:
    to, given = ("--ledger", target), ("--source-text", SOURCE)
    page = tmp_path / "page.md"
    page.write_text("The bridge opened in 1937.")
    vouch("gate", "docs", str(page), *given, *RULES, *to, expected=1)
    stopped = json.dumps({"response": "It opened in 1937.", "sources": [SOURCE]})
    done = subprocess.run(
        [sys.executable, "-m", "vouching", "gate", "stop", *RULES, *to], input=stopped, capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    with open_ledger(target) as ledger:
        rows = list(ledger.rows())
        assert ledger.verify().intact
    assert [(row.kind, row.label) for row in rows] == [("check-response", "failed")] * 2


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_every_row_of_a_file_is_kept_by_every_process(target: str, tmp_path: Path, jobs: str) -> None:
    output = tmp_path / "verdicts.jsonl"
    vouch(
        "check", "--input", "examples/claims.jsonl", "--output", str(output), "--jobs", jobs, *RULES, "--ledger", target
    )
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    with open_ledger(target) as ledger:
        kept = [row.record for row in ledger.rows()]
        assert ledger.verify().intact
    assert sorted(lines, key=lambda line: line["id"]) == sorted(kept, key=lambda line: line["id"])  # type: ignore[index]


def test_nothing_is_checked_for_a_ledger_that_cannot_be_used(tmp_path: Path) -> None:
    output = tmp_path / "verdicts.jsonl"
    rows = ("--input", "examples/claims.jsonl", "--output", str(output))
    _, error = vouch("check", *rows, *RULES, "--ledger", str(tmp_path / "no" / "ledger.db"), expected=2)
    assert "cannot be made" in error
    assert not output.exists()
    down = "postgresql://vouch:secret-word@127.0.0.1:9/none"
    _, error = vouch("check", "It rained.", "--source-text", "It rained.", *RULES, "--ledger", down, expected=3)
    assert "not available" in error
    assert "secret-word" not in error


def test_the_commands_find_check_export_and_erase(target: str, tmp_path: Path) -> None:
    vouch("check", "It opened in 1937.", "--source-text", SOURCE, *RULES, "--ledger", target)
    of = {"VOUCH_LEDGER": target}
    assert (
        "It opened in 1937." in vouch("ledger", "list", "OPENED", "--label", "Not Attributable", COLUMNS="120", **of)[0]
    )
    assert vouch("ledger", "list", "sank", **of)[0] == "no row matches\n"
    assert json.loads(vouch("ledger", "show", "1", **of)[0])["label"] == "Not Attributable"
    heads = tmp_path / "heads.json"
    heads.write_text(vouch("ledger", "heads", **of)[0])
    policy = tmp_path / "retention.toml"
    policy.write_text('reason = "retention"\n[rules.old]\nkind = "check"\nolder_than_days = 0\n')
    assert "would erase the texts of 1" in vouch("ledger", "erase", "--policy", str(policy), "--dry-run", **of)[1]
    assert "erased the texts of 1" in vouch("ledger", "erase", "--policy", str(policy), **of)[1]
    policy.write_text('reason = "retention"\n[rules.old]\nkinds = "check"\nolder_than_days = 0\n')
    assert "kinds" in vouch("ledger", "erase", "--policy", str(policy), expected=2, **of)[1]
    vouch("ledger", "erase", "--stream", "vouch", expected=2, **of)  # no reason
    assert "(erased)" in vouch("ledger", "list", **of)[0]
    vouch("ledger", "export", str(tmp_path / "rows.jsonl"), **of)
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 2
    assert vouch("ledger", "verify", "--heads", str(heads), **of)[0].endswith("2 rows in 1 chains, 1 erased: intact\n")
    heads.write_text(heads.read_text().replace('"seq": 1', '"seq": 7'))
    found, _ = vouch("ledger", "verify", "--heads", str(heads), expected=1, **of)
    assert "vouch: anchor: the chain ends at row 2, the kept head is row 7" in found
    vouch("ledger", "migrate", "--to", "base", expected=2, **of)
    assert "no tables" in vouch("ledger", "migrate", "--to", "base", "--drop", **of)[1]
    assert "has no tables" in vouch("ledger", "info", expected=2, **of)[1]
    assert "there is no ledger" in vouch("ledger", "info", "--ledger", str(tmp_path / "typo.db"), expected=2)[1]
    assert not (tmp_path / "typo.db").exists()
