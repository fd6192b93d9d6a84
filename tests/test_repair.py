from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from vouching.claims import decompose
from vouching.repair import MARK, Rest, repair
from vouching.types import BlindOutcome, Claim, Finding, PairResult, Report, Span, Unverified, Verdict


def judged(response: str, wrong: dict[str, str | None]) -> Report:
    """A report in which the claims of ``wrong`` are Not Attributable, each with its revised claim or None."""

    def verdict(claim: Claim) -> Finding:
        if claim.text in wrong:
            return Verdict(
                claim,
                "Not Attributable",
                0.1,
                0.9,
                0.5,
                "not_found",
                fix_suggestion="An edit." if wrong[claim.text] else None,
                revised_claim=wrong[claim.text],
            )
        return Verdict(claim, "Attributable", 0.9, 0.9, 0.5, "supported")

    return Report(response, (), tuple(verdict(claim) for claim in decompose(response).claims))


def judge(wrong: dict[str, str | None]) -> Callable[[str], Awaitable[Report]]:
    async def check_again(response: str) -> Report:
        return judged(response, wrong)

    return check_again


def repaired(response: str, wrong: dict[str, str | None], rest: Rest = "mark") -> Report:
    return asyncio.run(repair(judged(response, wrong), judge(wrong), rest))


def test_several_fixes_of_other_lengths_all_land_in_their_places() -> None:
    wrong = {"It has 3 arms.": "It has three hundred arms.", "It is in Rome, Italy.": "It is in Oslo."}
    report = repaired("Sure!\n\nIt has 3 arms. It is red. It is in Rome, Italy. It is old.", wrong)
    assert report.revised_response == "Sure!\n\nIt has three hundred arms. It is red. It is in Oslo. It is old."
    assert report.unrepaired == ()


def test_the_response_itself_stays_as_it_was() -> None:
    report = repaired("It is red.", {"It is red.": "It is blue."})
    assert (report.response, report.revised_response) == ("It is red.", "It is blue.")


def test_a_subject_put_in_front_for_checking_does_not_enter_the_response() -> None:
    wrong = {"Ann Lee moved to Paris in 1930.": "Ann Lee moved to Paris in 1931."}
    report = repaired("Ann Lee was born in 1912 and moved to Paris in 1930.", wrong)
    assert report.revised_response == "Ann Lee was born in 1912 and moved to Paris in 1931."


def test_a_fix_that_changes_the_subject_put_in_front_is_not_applied() -> None:
    wrong = {"Ann Lee moved to Paris in 1930.": "Bob Ray moved to Paris in 1930."}
    report = repaired("Ann Lee was born in 1912 and moved to Paris in 1930.", wrong, "keep")
    assert report.revised_response == "Ann Lee was born in 1912 and moved to Paris in 1930."
    assert [finding.claim.text for finding in report.unrepaired if isinstance(finding, Verdict)] == [*wrong]


def test_a_fix_in_the_middle_of_a_sentence_brings_no_capital() -> None:
    wrong = {"the red towers were built in 1980.": "Towers were built in 1980."}
    report = repaired("The bridge opened in 1973, and the red towers were built in 1980.", wrong)
    assert report.revised_response == "The bridge opened in 1973, and towers were built in 1980."


def test_a_name_put_in_the_middle_of_a_sentence_keeps_its_capital() -> None:
    wrong = {"he was born in Rome.": "Bob was born in Rome."}
    report = repaired("Ann was born in Oslo and he was born in Rome.", wrong)
    assert report.revised_response == "Ann was born in Oslo and Bob was born in Rome."


def test_of_two_fixes_for_overlapping_claims_only_one_is_applied() -> None:
    report = judged("It is red. It is old.", {"It is red.": "It is blue.", "It is old.": "It is new."})
    first = report.findings[0]
    assert isinstance(first, Verdict)
    wide = replace(first, claim=Claim(report.response, span=replace(first.claim.span, end=21, text=report.response)))  # type: ignore[type-var]
    overlapping = replace(report, findings=(wide, report.findings[1]))
    assert asyncio.run(repair(overlapping, judge({}))).revised_response == "It is red. It is new."


@pytest.mark.parametrize(
    ("rest", "revised"),
    [
        ("mark", f"It is red.{MARK} It is old."),
        ("remove", "It is old."),
        ("keep", "It is red. It is old."),
    ],
)
def test_a_claim_without_a_fix_is_marked_removed_or_kept(rest: Rest, revised: str) -> None:
    report = repaired("It is red. It is old.", {"It is red.": None}, rest)
    assert report.revised_response == revised
    assert len(report.unrepaired) == 1


@pytest.mark.parametrize(
    ("wrong", "revised"),
    [
        (["Ann Lee moved to Paris in 1930."], "Ann Lee was born in 1912. It rained."),
        (["Ann Lee was born in 1912"], "Ann Lee moved to Paris in 1930. It rained."),
        (["Ann Lee was born in 1912", "Ann Lee moved to Paris in 1930."], "It rained."),
        (["It rained."], "Ann Lee was born in 1912 and moved to Paris in 1930."),
    ],
)
def test_a_sentence_that_loses_a_clause_is_still_a_sentence(wrong: list[str], revised: str) -> None:
    response = "Ann Lee was born in 1912 and moved to Paris in 1930. It rained."
    assert repaired(response, dict.fromkeys(wrong), "remove").revised_response == revised


def test_a_clause_with_a_subject_of_its_own_gets_a_capital_when_it_becomes_the_sentence() -> None:
    response = "The bridge opened in 1973, and the red towers were built in 1980."
    report = repaired(response, {"The bridge opened in 1973": None}, "remove")
    assert report.revised_response == "The red towers were built in 1980."


@pytest.mark.parametrize(
    ("response", "revised"),
    [
        ("Facts:\n- It is red.\n- It is old.\n", "Facts:\n- It is old.\n"),
        ("Facts:\n- It is old.\n- It is red.", "Facts:\n- It is old.\n"),
        ("  1. It is red.\r\n  2. It is old.", "  2. It is old."),
        ("It is old. It is red.\nIt rained.", "It is old.\nIt rained."),
        ("It is red.", ""),
    ],
)
def test_a_removed_claim_leaves_no_blanks_and_no_empty_list_item(response: str, revised: str) -> None:
    assert repaired(response, {"It is red.": None}, "remove").revised_response == revised


def test_a_fix_that_fails_in_its_new_surroundings_is_listed_and_marked() -> None:
    report = repaired("It is red.", {"It is red.": "It is blue.", "It is blue.": None})
    assert report.revised_response == f"It is blue.{MARK}"
    assert [finding.claim.text for finding in report.unrepaired if isinstance(finding, Verdict)] == ["It is blue."]


@pytest.mark.parametrize(
    ("response", "claim", "revised"),
    [
        ("It is old.\n\nIt is red.\n\nIt rained.", "It is red.", "It is old.\n\nIt rained."),
        ("It is red.\n\nIt rained.", "It is red.", "It rained."),
        ("| A | B |\n|---|---|\n| c | 1 |\n| d | 2 |\n", "| c | [B:] 1 |", "| A | B |\n|---|---|\n| d | 2 |\n"),
        ("- **Colour:** It is red.\n- It is old.", "It is red.", "- It is old."),
    ],
)
def test_a_removed_claim_leaves_no_run_of_blank_lines_and_no_empty_row(response: str, claim: str, revised: str) -> None:
    assert repaired(response, {claim: None}, "remove").revised_response == revised


def test_a_mark_stands_neither_in_code_nor_behind_a_definition_and_within_a_row() -> None:
    code = "```\nx = 1\n```"
    response = f"| A | B |\n|---|---|\n| c | 1 |\n\n{code}\n\n[1]: https://example.org"
    claims = {claim.text: None for claim in decompose(response).claims}
    expected = response.replace("| c | 1 |", f"| c | 1{MARK} |")
    assert repaired(response, dict(claims)).revised_response == expected


def pair(text: str, answer: str, outcome: BlindOutcome, found: tuple[str, ...] = ()) -> PairResult:
    start = text.index(answer)
    return PairResult("What is it?", answer, outcome, found, span=Span(answer, start, start + len(answer)))


def audited(text: str, *pairs: PairResult, again: tuple[PairResult, ...] = (), rest: Rest = "mark") -> Report:
    async def check_again(repaired: str) -> Report:
        return Report(repaired, (), again)

    return asyncio.run(repair(Report(text, (), pairs), check_again, rest))


def test_a_blind_answer_takes_the_place_of_the_one_that_differs() -> None:
    text = "It has 3 towers and opened in 1937."
    report = audited(text, pair(text, "3", "same", ("3",)), pair(text, "1937", "different", ("1973",)))
    assert report.revised_response == "It has 3 towers and opened in 1973."
    assert report.unrepaired == ()


def test_values_that_checkers_or_documents_do_not_agree_on_are_no_fix() -> None:
    text = "It is 9 m wide and 5 km long."
    torn = (pair(text, "9 m", "contradictory", ("8 m", "7 m")), pair(text, "5 km", "different", ("4 km", "6 km")))
    assert audited(text, *torn, rest="keep").revised_response == text


def test_a_value_with_words_beside_it_is_no_fix() -> None:
    text = "It is open until 9 PM."
    several = pair(text, "9 PM", "different", ("23:00 (Saturday), 20:00 (Sunday)",))
    assert audited(text, several, rest="keep").revised_response == text


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("mark", "It opened in 1937. [not supported by the sources] It has 3 towers."),
        ("remove", "It has 3 towers."),
        ("keep", "It opened in 1937. It has 3 towers."),
    ],
)
def test_the_sentence_of_a_blind_answer_without_a_fix_is_treated_as_the_rest(rest: Rest, expected: str) -> None:
    text = "It opened in 1937. It has 3 towers."
    lost, kept = pair(text, "1937", "not_found"), pair(text, "3", "same", ("3",))
    report = audited(text, lost, kept, again=(lost, kept), rest=rest)
    assert report.revised_response == expected
    assert report.unrepaired == (lost,)


def test_a_claim_that_a_judge_failed_on_is_marked_and_never_removed() -> None:
    text = "The mill has 4 floors. The roof is slate."
    whole = judged(text, {"The roof is slate.": None})
    failed = Unverified(decompose(text).claims[0], "backend", "No answer.")

    async def again(_: str) -> Report:
        return replace(whole, findings=(failed, whole.findings[1]))

    report = asyncio.run(repair(whole, again, "remove"))
    assert report.revised_response == "The mill has 4 floors. [not verified]"
    assert report.unrepaired == (failed, whole.findings[1])


def test_an_antecedent_put_in_for_checking_does_not_enter_the_response() -> None:
    wrong = {"It [the bridge] opened in 1937.": "It [the bridge] opened in 1973."}
    report = repaired("The bridge is red. It opened in 1937.", wrong)
    assert report.revised_response == "The bridge is red. It opened in 1973."


def test_a_fix_that_changes_an_antecedent_is_not_applied() -> None:
    wrong = {"It [the bridge] opened in 1937.": "It [the tower] opened in 1937."}
    report = repaired("The bridge is red. It opened in 1937.", wrong, "keep")
    assert report.revised_response == report.response


def test_a_sentence_that_loses_its_first_clause_gets_the_pronoun_back_without_its_antecedent() -> None:
    wrong = {"She [Ann Lee] was born in 1912": None}
    report = repaired("Ann Lee was a poet. She was born in 1912 and moved to Paris.", wrong, "remove")
    assert report.revised_response == "Ann Lee was a poet. She moved to Paris."
