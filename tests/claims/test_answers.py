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


def drops_thoughts(row: dict[str, Any]) -> bool:
    report = CHECKER.check_response(row["answer"], "The bridge opened in 1973.", repair_rest="keep")
    thoughts = [passage for passage in report.non_claims if passage.reason == "thought"]
    kept = [thought.span.text for thought in thoughts if thought.span.text in (report.revised_response or "")]
    return ([f.subject for f in report.findings], len(thoughts), kept) == (row["claims"], row["thoughts"], [])


@pytest.mark.parametrize("part", ["dev", "test"])
def test_what_a_model_thought_before_it_answered_is_not_judged_and_not_kept(part: str) -> None:
    assert wrong_cases("thoughts", part, drops_thoughts) == []


def test_a_claim_and_an_answer_that_other_methods_judge_lose_their_thoughts() -> None:
    assert CHECKER.check("<think>1937?</think>It opened in 1973.", "It opened in 1973.").subject == (
        "It opened in 1973."
    )
    answer = "<think>One, two, three.</think>So it is."
    report = Checker(method="rules").check_instruction("Use no commas.", answer)
    assert (report.score, report.response) == (1.0, answer)
