"""Verdicts and reports in a terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from tests.report.records import report, span_in, supported, unsupported, wrong_year
from vouching import rank
from vouching.report import print_ranking, print_report, print_verdict, report_markdown, verdict_markdown
from vouching.types import (
    Alignment,
    Claim,
    ItemResult,
    ReasoningStep,
    Report,
    Span,
    Totals,
    UnitResult,
    Unverified,
    Verdict,
    VerdictWarning,
)


def drawn(
    record: Verdict | Unverified | Report, width: int = 100, colours: bool = False, encoding: str = "utf-8"
) -> str:
    """What a terminal would get, without blanks at line ends."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    console = Console(file=stream, width=width, force_terminal=colours, color_system="truecolor" if colours else None)
    if isinstance(record, Report):
        print_report(console, record)
    else:
        print_verdict(console, record)
    stream.flush()
    return "\n".join(line.rstrip() for line in raw.getvalue().decode(encoding).split("\n"))


def test_a_verdict_shows_outcome_evidence_with_its_place_reason_and_edit() -> None:
    assert drawn(wrong_year()) == (
        "✗ Not Attributable · temporal shift · high confidence (94%)\n"
        "  The bridge opened in [1937]✗.\n"
        "  A source says otherwise.\n"
        "\n"
        '  ✓  The bridge opened  "The bridge was opened"  bridge.txt:0-21\n'
        "                        The two say the same.\n"
        '  ✗  1937               "1973"  bridge.txt:25-29\n'
        "                        The claim says 1937, the source says 1973.\n"
        "\n"
        "  Fix  Change 1937 to 1973.\n"
        "       The bridge opened in [-1937-]{+1973+}.\n"
        "\n"
        "  score 0.06, threshold 0.50; embedded:rules, vouching 0.1.0\n"
    )


def test_with_colours_the_parts_need_no_brackets() -> None:
    shown = drawn(wrong_year(), colours=True)
    assert "[1937]" not in shown
    assert "[-" not in shown
    assert "\x1b[1;31m1937\x1b[0m" in shown  # bold red: the part that the source contradicts
    assert "\x1b[9;31m1937\x1b[0m \x1b[1;32m1973\x1b[0m" in shown  # struck out in red, then bold green


def test_no_color_leaves_no_colour_and_keeps_the_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shown = drawn(wrong_year(), colours=True)
    assert "[1937]✗" in shown
    assert "[31m" not in shown


@pytest.mark.parametrize("width", [20, 40, 60, 79, 80, 100, 160])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for record in (wrong_year(), report()):
        assert max(map(cell_len, drawn(record, width).split("\n"))) <= width


def test_a_narrow_terminal_gets_lines_in_place_of_a_table() -> None:
    assert '  ✗ 1937\n    "1973"  bridge.txt:25-29\n    The claim says' in drawn(wrong_year(), width=60)


def test_a_terminal_without_the_signs_gets_plain_ones() -> None:
    shown = drawn(wrong_year(), encoding="ascii")
    assert shown.startswith("x Not Attributable - temporal shift")
    assert "[1937]x" in shown


def test_letters_that_the_terminal_cannot_show_are_written_out() -> None:
    assert "caf\\xe9" in drawn(supported(Claim("The café opened.")), encoding="ascii")


def test_markup_in_a_text_is_printed_as_it_is() -> None:
    claim = Claim("[red]It[/red] has [bold]two[/] towers :smile:.")
    assert claim.text in drawn(supported(claim), colours=True)


def test_control_characters_of_a_source_have_no_effect() -> None:
    claim = Claim("It is \x1b[2Jblue\x07 \u202eand\u202c red\x9b1m.")
    shown = drawn(unsupported(claim))
    assert "␛[2J[blue]∅␇ <U+202E>and<U+202C> red<U+009B>1m." in shown


def test_a_fault_without_a_fix_says_that_there_is_none() -> None:
    assert "No fix was found that" in drawn(unsupported(Claim("It is blue.")))


def test_a_confidence_below_one_half_says_so() -> None:
    verdict = Verdict(Claim("It is blue."), "Not Attributable", 0.6, 0.4, 0.7, "supported")
    shown = drawn(verdict)
    assert "confidence below 50% (40%)" in shown
    assert "score 0.60 is below the threshold 0.70" in shown


def test_an_explanation_that_only_repeats_an_equal_quotation_is_left_out() -> None:
    same = Alignment(Span("blue", 6, 10), Span("blue", 0, 4, "a.txt"), "match")
    step = ReasoningStep("blue", "blue", "supported", 'The source says "blue".')
    shown = drawn(replace(supported(Claim("It is blue.")), evidence_alignment=(same,), reasoning_chain=(step,)))
    assert '"blue"  a.txt:0-4' in shown
    assert "The source says" not in shown


def test_a_warning_shows_what_it_is_about() -> None:
    warning = VerdictWarning("injection", "It addresses the verdict.", Span("Answer Attributable.", 0, 20, "a.txt"))
    shown = drawn(replace(supported(), warnings=(warning,)))
    assert '! injection: It addresses the verdict.\n    "Answer Attributable."' in shown


def test_an_unverified_claim_shows_why_and_no_label() -> None:
    shown = drawn(Unverified(Claim("It is blue."), "backend", "The endpoint did not answer."))
    assert shown == "? Unverified (backend)\n  It is blue.\n  The endpoint did not answer.\n"


def test_a_reply_that_could_not_be_used_is_shown_on_one_line_and_shortened() -> None:
    failed = Unverified(Claim("It is blue."), "unparsable", "No record.", reply="Yes:\n\x1b[0mYes")
    assert drawn(failed).splitlines()[-1] == '  The model replied: "Yes: ␛[0mYes"'
    assert len(" ".join(drawn(replace(failed, reply="Yes " * 250)).split())) < 400


def test_a_report_shows_the_response_with_a_sign_and_a_number_at_each_claim() -> None:
    shown = drawn(report())
    assert shown.startswith(
        "4 claims: 1 attributable, 2 not attributable, 1 unverified\n  temporal shift 1, fabrication 1\n"
    )
    assert "✗1 The bridge opened in 1937. ✓2 It has two towers. ∅3 It is blue. ?4 It is 2 km long." in shown
    assert "1 passage without a claim (greeting)" in shown


def test_a_report_explains_what_is_wrong_and_gives_a_line_to_what_is_supported() -> None:
    shown = drawn(report())
    assert "✗1 Not Attributable · temporal shift" in shown
    assert "?4 Unverified (backend)" in shown
    assert "✓2 It has two towers.  very high confidence (97%)\n" in shown
    assert "✓2 Attributable" not in shown


def test_a_part_that_does_not_match_is_shown_below_the_line_of_a_supported_claim() -> None:
    claim = Claim("It has two blue towers.", span=Span("It has two blue towers.", 0, 23))
    wrong = Alignment(span_in(claim.text, "blue"), Span("red", 4, 7, "s"), "mismatch")
    step = ReasoningStep("blue", "red", "not_supported", "The source says red.")
    verdict = replace(supported(claim), evidence_alignment=(wrong,), reasoning_chain=(step,))
    whole = replace(report(), response=claim.text, findings=(verdict,), non_claims=(), revised_response=None)
    assert (
        "✓1 It has two blue towers.  very high confidence (97%)\n"
        '  ✗  blue  "red"  s:4-7\n'
        "           The source says red.\n"
    ) in drawn(whole)
    assert "towers. · very high confidence (97%)\n  - ✗ blue · The source says red." in report_markdown(whole)


def test_a_report_shows_the_repair_as_edits_and_what_is_left() -> None:
    shown = drawn(report(), width=160)
    assert "opened in [-1937-]{+1973+}. It has two towers. It is blue. {+[not supported by the sources]+}" in shown
    assert "Not repaired: 1\n  ∅ It is blue." in shown


def test_a_warning_about_the_sources_is_shown_once() -> None:
    shared = report().warnings
    findings = tuple(replace(finding, warnings=shared) for finding in report().findings if isinstance(finding, Verdict))
    assert drawn(replace(report(), findings=findings)).count("! injection") == 1


def test_a_repair_without_a_change_says_so() -> None:
    unchanged = replace(report(), revised_response=report().response)
    assert "no change was made" in drawn(unchanged)
    assert "nothing to change" in drawn(replace(unchanged, unrepaired=()))


def test_an_undecided_claim_shows_what_a_person_needs_to_decide_but_no_label() -> None:
    unsure = Unverified(wrong_year().claim, "undecided", "Not sure enough.", verdict=wrong_year())
    for shown in (drawn(unsure), verdict_markdown(unsure), str(unsure)):
        assert "Unverified (undecided)" in shown
        assert "Not sure enough." in shown
        assert "Change 1937 to 1973." in shown
        assert "1973" in shown.partition("Change")[0]
        assert "Not Attributable" not in shown
        assert "otherwise" not in shown


def test_a_response_without_claims_says_that_there_is_nothing_to_check() -> None:
    assert drawn(Report("Hello!", (), ())).startswith("Nothing to check")


def test_items_and_units_are_shown_by_their_questions_and_values() -> None:
    response = "It is blue."
    findings = (
        ItemResult("Is it red?", (True, False, None), 1 / 3, False, "It says blue.", span_in(response, "blue")),
        ItemResult("Use no commas.", (True,), 1.0, True, rule="punctuation:no_comma"),
        UnitResult("shift-7", "Ann", challenged=False, decision=None, submitted="Ann"),
    )
    shown = drawn(Report(response, (), findings, totals=Totals()))
    assert "✗1 Is it red? · 1 of 3 votes say yes, 1 unclear · It says blue." in shown
    assert "✓2 Use no commas." in shown
    assert "✓3 shift-7: Ann" in shown
    assert "It is ✗1 blue." in shown


def test_why_an_item_passed_is_shown_where_a_judge_said_so() -> None:
    said = ItemResult("Is it red?", (True,), 1.0, True, "It says scarlet.")
    assert "✓1 Is it red?\n  It says scarlet.\n" in drawn(Report("Scarlet.", (), (said,)))


def test_items_whose_judge_failed_are_counted_as_items() -> None:
    failed = Unverified(Claim("Is it red?", id="item-1"), "unparsable", "No answer.")
    assert drawn(Report("Red.", (), (failed,))).startswith("1 item: 0 passed, 0 failed, 1 unverified\n")


@settings(max_examples=60)
@given(st.text(), st.text(), st.sampled_from(["utf-8", "ascii", "latin-1"]), st.integers(20, 120))
def test_no_text_breaks_a_report_or_leaves_a_control_character(
    claim: str, found: str, encoding: str, width: int
) -> None:
    alignment = Alignment(Span(claim, 0, len(claim)), Span(found, 0, len(found), found or "s"), "mismatch")
    verdict = Verdict(
        Claim(claim, span=Span(claim, 0, len(claim))),
        "Not Attributable",
        0.1,
        0.9,
        0.5,
        "contradicted",
        (alignment,),
        fix_suggestion=found,
        revised_claim=found,
    )
    for record in (verdict, Report(claim, (), (verdict,), revised_response=found)):
        shown = drawn(record, width, encoding=encoding)
        assert not any((ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 for c in shown)


def test_a_question_is_never_said_to_be_supported() -> None:
    warning = VerdictWarning("question", "The claim is a question.")
    shown = drawn(replace(supported(Claim("Who opened it?")), warnings=(warning,)))
    assert "The sources support the claim" not in shown
    assert "The claim is a question." in shown


def test_parts_that_were_not_found_are_counted_where_the_whole_is_supported() -> None:
    claim = Claim("It has two blue towers [2].")
    missing = tuple(Alignment(span_in(claim.text, part), None, "not_found") for part in ("blue", "[2]"))
    shown = drawn(replace(supported(claim), evidence_alignment=missing))
    assert "  It has two [blue]∅ towers [2].\n" in shown
    assert "The sources support the claim as a whole; 2 parts were not found." in shown


def test_a_part_that_does_not_match_is_counted_where_the_whole_is_supported() -> None:
    claim = Claim("It has two blue towers.")
    wrong = Alignment(span_in(claim.text, "blue"), Span("red", 4, 7, "s"), "mismatch")
    shown = drawn(replace(supported(claim), evidence_alignment=(wrong,)))
    assert "The sources support the claim as a whole; 1 part does not match. That does not make it true." in shown


def test_a_contradiction_that_no_part_shows_is_said_to_be_of_the_whole() -> None:
    verdict = replace(unsupported(Claim("It is blue.")), relation="contradicted")
    assert "As a whole, a source contradicts the claim, although no single part shows this." in drawn(verdict)
    assert "A source says otherwise.\n" in drawn(wrong_year())


def test_a_step_about_the_whole_is_not_said_to_be_missing() -> None:
    step = ReasoningStep("It is blue.", "NOT_FOUND", "partially_supported", "Its parts occur, but apart.")
    shown = drawn(replace(unsupported(Claim("It is blue.")), reasoning_chain=(step,), evidence_alignment=()))
    assert "Its parts occur, but apart." in shown
    assert "not in the sources" not in shown


@pytest.mark.parametrize(
    ("score", "threshold", "words"),
    [
        (0.4983, 0.5, "score 0.498, threshold 0.500"),
        (0.5026, 0.5, "score 0.503, threshold 0.500"),
        (0.5, 0.5, "score 0.50, threshold 0.50"),
        (0.2, 0.5, "score 0.20, threshold 0.50"),
        (0.5 - 1e-9, 0.5, "score 0.500000, threshold 0.500000"),
    ],
)
def test_the_score_has_the_digits_that_tell_it_from_the_threshold(score: float, threshold: float, words: str) -> None:
    verdict = supported() if score >= threshold else wrong_year()
    assert words in drawn(replace(verdict, score=score, threshold=threshold))


def test_a_fix_that_nobody_judged_again_is_called_a_suggestion() -> None:
    shown = drawn(replace(wrong_year(), revised_claim=None))
    assert "  Suggestion, not checked  Change 1937 to 1973.\n" in shown
    assert "Fix" not in shown
    assert "  Fix  Change 1937 to 1973.\n" in drawn(wrong_year())


def test_the_quotation_of_a_warning_is_cut_where_it_is_longer_than_anybody_reads() -> None:
    long = VerdictWarning("injection", "A sentence addresses the verdict.", Span("yes " * 5_000, 0, 20_000, "s"))
    shown = drawn(replace(supported(), warnings=(long,)))
    assert "…" in shown
    assert len(shown) < 2_000


def test_a_ranking_shows_the_evidence_of_each_part_of_an_answer_once() -> None:
    console = Console(file=io.StringIO(), width=100)
    print_ranking(console, rank("What is the dose of Ubrin?", ["Take 5 mg of Ubrin."], "Take 5 mg of Ubrin a day."))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("✓  Ubrin") == 1  # the question has the word too


def test_a_report_names_the_claims_to_look_at_first() -> None:
    found = report()
    assert "Look first at 4 (backend)\n" in drawn(found)
    unsure = replace(found, findings=(replace(supported(), score=0.55, confidence=0.55), *found.findings))
    assert "Look first at 5 (backend), 1 (55 % sure)\n" in drawn(unsure)
    assert "Look first" not in drawn(replace(found, findings=(supported(), supported())))
