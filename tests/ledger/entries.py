"""Entries for tests, as the checks make them."""

from __future__ import annotations

import json

from vouching import check
from vouching.ledger import Entry
from vouching.types import Verdict
from vouching.types.serial import to_json

SOURCE = "The bridge opened in 1973."


def checked(claim: str, stream: str = "s", caller: str = "tests", **more: object) -> Entry:
    """A real verdict by the rules, as an entry."""
    verdict = check(claim, SOURCE, model="embedded:rules")
    assert isinstance(verdict, Verdict)
    inputs = {"claim": claim, "sources": [{"text": SOURCE}]}
    return Entry(stream, "check", inputs, json.loads(to_json(verdict)), caller, **more)  # type: ignore[arg-type]


def small(number: int, stream: str = "s") -> Entry:
    """An entry that costs nothing to make."""
    return Entry(stream, "check", {"claim": f"Claim {number}."}, {"kind": "verdict", "label": "Attributable"})
