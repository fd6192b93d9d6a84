"""A checker with a ledger keeps every result once, with what was judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ledger.conftest import KEY
from vouching import Checker
from vouching.errors import InputError
from vouching.ledger import Ledger, open_ledger
from vouching.ledger.store import LedgerError
from vouching.types.serial import to_json

SOURCE = "The bridge opened in 1973."


@pytest.fixture
def kept(tmp_path: Path) -> Ledger:
    return open_ledger(tmp_path / "ledger.db", key=KEY, stream="bot", caller="ada")


def test_a_checker_keeps_every_kind_of_result_once(kept: Ledger) -> None:
    checker = Checker("embedded:rules", ledger=kept)
    verdict = checker.check("It opened in 1937.", SOURCE)
    report = checker.check_response("Sure! It opened in 1973.", SOURCE, "When did it open?")
    checker.check(["It opened in 1973.", "It sank."], SOURCE)
    list(checker.check_many([{"claim": "It opened in 1973.", "source": SOURCE}, {"claim": "No source."}]))
    Checker(method="rules", ledger=kept).check_instruction("Use no commas.", "So be it.")
    Checker(method="rules", ledger=kept).check_response("So be it.", question="Use no commas.")
    Checker(method="blinded", ledger=kept).check_response("It has 2 towers.", "It has 2 towers.")
    task = {
        "task": "t",
        "data": {"paid": [40, 2]},
        "rules": [{"id": "R", "text": "Add.", "value": "sum(data.paid)"}],
        "units": [{"id": "total", "type": "amount", "rules": ["R"]}],
    }
    Checker(method="assurance", ledger=kept).check_task(task, {"values": {"total": 41}})
    rows = list(kept.rows())
    kinds = ["check", "check-response", "check", "check", "check", "follow", "follow", "audit", "challenge"]
    assert [row.kind for row in rows] == kinds
    assert {(row.stream, row.caller) for row in rows} == {("bot", "ada")}
    assert rows[0].record == json.loads(to_json(verdict))  # type: ignore[arg-type]
    assert rows[1].record == json.loads(to_json(report))
    assert rows[1].inputs is not None
    assert (rows[1].inputs["response"], rows[1].inputs["question"]) == (report.response, "When did it open?")
    assert rows[1].inputs["sources"][0]["text"] == SOURCE
    assert rows[5].inputs == rows[6].inputs == {"response": "So be it.", "instruction": "Use no commas.", "sources": []}
    assert rows[8].inputs == {"task": task, "proposal": {"values": {"total": 41}}}
    assert all(row.timing["seconds"] >= 0 for row in rows)
    assert kept.verify().intact


def test_a_result_that_cannot_be_kept_is_not_returned(kept: Ledger) -> None:
    from sqlalchemy import text

    checker = Checker("embedded:rules", ledger=kept)
    with pytest.raises(InputError):
        checker.check("", SOURCE)
    with kept.store.write() as connection:
        connection.execute(text("DROP TABLE ledger_contents"))
    with pytest.raises(LedgerError):
        checker.check("It opened in 1937.", SOURCE)
    assert kept.count() == 0
