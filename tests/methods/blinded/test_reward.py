"""MARCH's rewards by hand: zero tolerance on both scales, both error rates, the question guard, every part."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import ConfigError, InputError
from vouching.judging.matching import asked_about
from vouching.judging.values import find_numbers
from vouching.methods.blinded.reward import (
    PAPER,
    PARTS,
    BlindedRules,
    Scale,
    outcome_reward,
    report_reward,
    reward_of_row,
)
from vouching.types import Claim, Report, Reward, Unverified
from vouching.types.findings import BlindOutcome, PairResult

OUTCOMES: tuple[BlindOutcome, ...] = ("same", "different", "not_found", "contradictory", "leaked")
SCALES: tuple[Scale, ...] = ("-1/0", "0/1", "error-rate", "released-error-rate")
FAILED = Unverified(Claim("How many?"), "backend", "the server is gone")
RESPONSE = "The bridge has two towers, opened in 1937, cost $5, is 3 km long and 9 m wide."


def pair(question: str, answer: str, *checked: str | None) -> dict[str, Any]:
    return {"question": question, "answer": answer, "checked": [*checked]}


RIGHT = pair("How many towers has it?", "two", "2", "2", "3")
WRONG = pair("When did it open?", "1937", "1973", "1973", "1937")
SILENT = pair("What did it cost?", "$5", None, "Cannot answer", "$5")
TIE = pair("How long is it?", "3 km", "3 km", "4 km")
LEAK = pair("Is it 9 m wide?", "9 m", "9 m")


FAULTS: list[BlindOutcome] = ["different"] * 20


def total(*outcomes: BlindOutcome, numbers: int = 3, scale: Scale = "-1/0", k: int = 3) -> float:
    asked_for = sum(outcome != "leaked" for outcome in outcomes)
    return outcome_reward(outcomes, numbers, asked_for, BlindedRules(scale, min_questions=k)).total


@pytest.mark.parametrize(
    ("scale", "clean", "one_of_four_wrong"),
    [
        ("-1/0", 0.0, -1.0),  # eq. 7
        ("0/1", 1.0, 0.0),
        ("error-rate", 0.0, -0.25),  # 1 / 4
        ("released-error-rate", 0.0, -0.1),  # .1 for one fault
    ],
)
def test_each_scale_by_hand(scale: Scale, clean: float, one_of_four_wrong: float) -> None:
    assert total("same", "same", "same", scale=scale) == clean
    assert total("same", "same", "same", "different", scale=scale) == one_of_four_wrong


@pytest.mark.parametrize("fault", ["different", "not_found", "contradictory"])
def test_every_kind_of_fault_costs_the_whole_reward(fault: BlindOutcome) -> None:
    assert total("same", "same", "same", fault) == -1.0


def test_the_parts_count_what_became_of_each_question() -> None:
    parts = reward_of_row({"response": RESPONSE, "pairs": [RIGHT, WRONG, SILENT, TIE, LEAK]})["parts"]
    assert tuple(parts) == PARTS
    # Four questions were put, the leaked one was not; a tie is a difference; 4 of 5 numbers were asked about.
    assert parts == {
        "questions": 4,
        "matches": 1,
        "different": 2,
        "unanswered": 1,
        "contradictory": 0,
        "leaks": 1,
        "missing": 0,
        "coverage": 0.8,
    }


def test_asking_nothing_does_not_pay() -> None:
    # Released: no pairs, best reward. Here three questions are due, or as many as there are numbers.
    assert total(numbers=12) == -1.0
    assert total("same", numbers=12) == -1.0
    assert total("same", numbers=12, scale="error-rate") == pytest.approx(-2 / 3)
    assert total("same", "same", numbers=12, scale="released-error-rate") == pytest.approx(-0.1)
    assert total("same", "same", "same", numbers=12) == 0.0


def test_no_more_questions_are_due_than_there_are_numbers() -> None:
    assert total("same", numbers=1) == 0.0
    assert total(numbers=0) == 0.0
    assert total(numbers=0, scale="error-rate") == 0.0


def test_the_guard_can_be_turned_off() -> None:
    assert total(numbers=12, k=0) == 0.0


def test_a_question_that_holds_its_answer_counts_as_not_asked() -> None:
    assert total("same", "same", "leaked", numbers=3) == -1.0
    assert total("same", "same", "same", "leaked", numbers=3) == 0.0


def test_the_released_error_rate_stops_at_thirteen_faults() -> None:
    assert total(*FAULTS[:13], scale="released-error-rate") == pytest.approx(-1.3)
    assert total(*FAULTS, scale="released-error-rate") == pytest.approx(-1.3)


def test_the_released_comparison_knows_no_units() -> None:
    row = {"response": "It cost 10k.", "pairs": [pair("What did it cost?", "10k", "10")]}
    assert [reward_of_row(row, match=match)["total"] for match in ("units", "released")] == [-1.0, 0.0]


def test_a_judge_that_failed_gives_no_reward() -> None:
    found = PairResult("How many?", "2", "same", ("2",))
    assert report_reward(Report("It has 2.", (), (found, FAILED))) is FAILED


def test_a_report_earns_what_its_questions_earn() -> None:
    # "2 towers" and "1973" are two numbers, so two questions are due.
    both = (PairResult("How many?", "2", "same", ("2",)), PairResult("When?", "1973", "same", ("1973",)))
    response = "It has 2 towers and opened in 1973."
    whole, half = (report_reward(Report(response, (), pairs, coverage=len(pairs) / 2)) for pairs in (both, both[:1]))
    assert isinstance(whole, Reward)
    assert isinstance(half, Reward)
    assert (whole.total, half.total, half.parts["coverage"]) == (0.0, -1.0, 0.5)


def test_a_date_is_no_number_that_a_question_is_due_for() -> None:
    # Asked about numbers alone, an audit has no question about the two dates, and needs none.
    pair = PairResult("How many?", "2", "same", ("2",))
    reward = report_reward(Report("From 3 May 1937 to 4 June 1938 it had 2 towers.", (), (pair,)))
    assert isinstance(reward, Reward)
    assert (reward.total, reward.parts["missing"]) == (0.0, 0.0)


def test_questions_of_a_report_about_other_things_are_not_those_that_are_due() -> None:
    # Two numbers are stated. Names and values from elsewhere are no numbers of the response, and one was never put.
    others = (
        PairResult("Where?", "Oslo", "same"),
        PairResult("Days of a week?", "7", "same"),
        PairResult("Is it 1973?", "1973", "leaked"),
    )
    reward = report_reward(Report("It has 2 towers and opened in 1973.", (), others, coverage=0.0))
    assert isinstance(reward, Reward)
    assert (reward.total, reward.parts["questions"], reward.parts["missing"]) == (-1.0, 2.0, 2.0)


def test_two_hours_that_are_asked_about_as_one_are_both_asked_about() -> None:
    report = Report(
        "Open from 5 pm to 9 pm, with 40 seats.",
        (),
        (
            PairResult("When is it open?", "5 pm to 9 pm", "same"),
            PairResult("How many seats?", "40", "same"),
        ),
    )
    reward = report_reward(report)
    assert isinstance(reward, Reward)
    assert (reward.total, reward.parts["missing"]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("response", "answers", "asked_for"),
    [
        ("Two towers and 2 gates.", ["2", "two", "2"], 2),  # no number is asked for twice
        ("It grew by 10 % to 3.5 million.", ["10", "3.5"], 2),  # the paper's answers are numbers alone
        ("It takes 10-15 minutes.", ["10", "15"], 1),  # one range, asked for by its ends
        ("It grew from 5 to 10 %.", ["5 to 10 %"], 2),  # two numbers, asked for as one range
        ("5 people rate it 4 out of 5.", ["5", "4"], 2),
        ("5 people rate it 4 out of 5.", ["6", "Oslo", ""], 0),
        ("It cost $1.2M.", ["1,200,000 dollars"], 1),
    ],
)
def test_which_numbers_are_asked_for_by_hand(response: str, answers: list[str], asked_for: int) -> None:
    assert asked_about(find_numbers(response), answers) == asked_for


@given(st.lists(st.sampled_from(["5 km", "two", "1973", "10 %", "$4", "5", "about 500"]), max_size=6), st.randoms())
def test_questions_for_all_numbers_ask_for_all_and_others_for_none(stated: list[str], dice: Random) -> None:
    numbers = find_numbers("; ".join(stated))
    answers = [number.text for number in numbers]
    dice.shuffle(answers)
    assert asked_about(numbers, answers) == len(numbers)
    assert asked_about(numbers, [*answers[1:], "77 kg"]) == max(0, len(numbers) - 1)
    assert asked_about(numbers, ["77 kg"]) == 0


def test_a_report_of_another_method_is_refused() -> None:
    from vouching import check_response

    with pytest.raises(InputError, match="not questions of a blinded audit"):
        report_reward(check_response("It opened in 1937.", "It opened in 1973."))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: BlindedRules("1/0"), "unknown scale '1/0'; expected one of -1/0, 0/1"),  # type: ignore[arg-type]
        (lambda: BlindedRules(match="loose"), "unknown match 'loose'; expected one of units, released"),  # type: ignore[arg-type]
        (lambda: BlindedRules(min_questions=-1), "min_questions must be at least 0, got -1"),
        (lambda: BlindedRules(min_numbers=-1), "min_numbers must be at least 0, got -1"),
    ],
)
def test_wrong_rules_are_refused(made: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made()  # type: ignore[operator]


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(InputError, match='"checked" of question 1 must not be empty'):
        reward_of_row({"response": "It has 2.", "pairs": [pair("How many?", "2")]})
    with pytest.raises(InputError, match=r"^.pairs. must be a list of questions with answers, got 'x'"):
        reward_of_row({"response": "It has 2.", "pairs": "x"})
    with pytest.raises(InputError, match=r"^.answer. of question 1 must be a string, got 2"):
        reward_of_row({"response": "It has 2.", "pairs": [{"question": "How many?", "answer": 2}]})
    with pytest.raises(InputError, match='"response" must be the audited text, got null: only questions'):
        reward_of_row({"num_numbers": 1, "pairs": [RIGHT]})


CHANGE = "By how much did sales change in May?"


@pytest.mark.parametrize("documents", [{}, {"sources": []}, {"source": None}])
def test_a_direction_that_neither_checkers_nor_documents_tell_is_refused(documents: dict[str, Any]) -> None:
    row = {"response": "In May sales fell by 10 %.", "pairs": [pair(CHANGE, "10 %", "10 %")], **documents}
    with pytest.raises(
        InputError, match=r'the row has no "source" or "sources" .* the response says "fell by 10 %", and'
    ):
        reward_of_row(row)
    assert reward_of_row({**row, "sources": ["In May sales rose by 10 %."]})["total"] == -1.0
    assert reward_of_row({**row, "sources": ["In May sales fell by 10 %."]})["total"] == 0.0


@pytest.mark.parametrize(
    ("response", "checked", "earned"),
    [
        ("In May sales fell by 10 %.", "rose by 10 %", -1.0),
        ("In May sales fell by 10 %.", "fell by 10 %", 0.0),
        ("In May sales fell by 10 %.", "11 %", -1.0),  # a fault whichever way it went
        ("In May sales fell by 10 %.", None, -1.0),
        ("In May sales changed by 10 %.", "10 %", 0.0),
    ],
)
def test_a_row_without_documents_counts_where_nothing_depends_on_them(
    response: str, checked: str | None, earned: float
) -> None:
    assert reward_of_row({"response": response, "pairs": [pair(CHANGE, "10 %", checked)]})["total"] == earned


def test_a_quote_says_which_of_two_directions_a_checker_found() -> None:
    row = {"response": "Sales fell by 38.", "sources": ["Costs fell by 38, but sales increased by 38."]}
    for quote, earned in (("sales increased by 38", -1.0), ("Costs fell by 38", 0.0), (None, 0.0)):
        quoted = {**pair(CHANGE, "38", "38"), "evidence": [quote]}
        assert reward_of_row({**row, "pairs": [quoted]})["total"] == earned


@pytest.mark.parametrize("evidence", ["a quote", [], ["one", "two"], [7]])
def test_evidence_is_a_quote_or_null_for_each_checker(evidence: object) -> None:
    with pytest.raises(
        InputError, match='"evidence" of question 1 must have a string or null for each of the 1 entries of "checked"'
    ):
        reward_of_row({"response": "It has 2.", "pairs": [{**pair("How many?", "2", "2"), "evidence": evidence}]})


@given(st.lists(st.sampled_from(OUTCOMES), max_size=20), st.integers(0, 30), st.sampled_from(SCALES), st.integers(0, 5))
def test_a_reward_stays_in_its_range_and_its_parts_add_up(
    outcomes: list[BlindOutcome], numbers: int, scale: Scale, k: int
) -> None:
    asked_for = sum(outcome != "leaked" for outcome in outcomes)
    reward = outcome_reward(outcomes, numbers, asked_for, BlindedRules(scale, min_questions=k))
    low, high = {"-1/0": (-1, 0), "0/1": (0, 1), "error-rate": (-1, 0), "released-error-rate": (-1.3, 0)}[scale]
    assert low <= reward.total <= high
    parts = reward.parts
    kinds = ("matches", "different", "unanswered", "contradictory")
    assert parts["questions"] == sum(parts[name] for name in kinds)
    assert parts["questions"] + parts["leaks"] == len(outcomes)
    clean = parts["questions"] == parts["matches"] and not parts["missing"]
    assert (reward.total == high) == clean


@given(st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=9), st.integers(0, 9))
def test_a_match_instead_of_a_fault_never_costs(outcomes: list[BlindOutcome], numbers: int) -> None:
    for scale in SCALES:
        repaired = total("same", *outcomes[1:], numbers=numbers, scale=scale)
        assert repaired >= total(*outcomes, numbers=numbers, scale=scale) - 1e-12


def test_the_default_is_the_papers_scale_with_units() -> None:
    assert (PAPER.scale, PAPER.match, PAPER.min_questions) == ("-1/0", "units", 3)
