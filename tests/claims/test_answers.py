"""Answers as language models write them: tables of cases, half of which no repair has looked at."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vouching import Checker

CASES = Path(__file__).parents[1] / "data" / "answers"
CHECKER = Checker("embedded:rules")


def wrong_cases(table: str, part: str, is_right: Callable[[dict[str, Any]], bool]) -> list[str]:
    """The cases of a part of a table that come out wrong; raises AssertionError for an empty part."""
    rows = [json.loads(line) for line in (CASES / f"{table}.jsonl").read_text().splitlines()]
    cases = [row for row in rows if row["part"] == part]
    assert len(cases) >= 10
    wrong = [row["id"] for row in cases if not is_right(row)]
    return wrong if len(wrong) > len(cases) // 10 else []


def abstains(row: dict[str, Any]) -> bool:
    report = CHECKER.check_response(row["answer"], row["source"])
    said = [passage.span.text for passage in report.abstained]
    has = report.abstained[0].in_sources if report.abstained else None
    return (said, [f.subject for f in report.findings], has) == (row["abstained"], row["claims"], row["in_sources"])


@pytest.mark.parametrize("part", ["dev", "test"])
def test_an_abstention_is_no_claim_and_what_it_misses_is_looked_up(part: str) -> None:
    assert wrong_cases("abstentions", part, abstains) == []
