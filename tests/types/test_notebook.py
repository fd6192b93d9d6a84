from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.types.record_strategies import REPORTS, UNVERIFIED, verdicts
from vouching.types import (
    Alignment,
    Claim,
    ItemResult,
    Judgment,
    ReasoningStep,
    Report,
    Span,
    Totals,
    UnitResult,
    Unverified,
    Verdict,
    VerdictWarning,
)
from vouching.types.notebook import marked
from vouching.types.verdict import ELSEWHERE
from vouching.types.visible import percent, shorten, visible

CLAIM = "The bridge opened in 1937."
WRONG = Verdict(
    Claim(CLAIM),
    "Not Attributable",
    0.06,
    0.94,
    0.5,
    "contradicted",
    (
        Alignment(Span("1937", 21, 25), Span("1973", 29, 33, "s"), "mismatch"),
        Alignment(Span("bridge", 4, 10), None, "not_found"),
    ),
    (ReasoningStep("1937", "1973", "not_supported", "The claim says 1937 & the source 1973."),),
    error_type="temporal_shift",
    fix_suggestion="Change 1937 to 1973.",
    revised_claim=CLAIM.replace("1937", "1973"),
    warnings=(VerdictWarning("unread", "source-2 is empty."),),
)


class Page(HTMLParser):
    """Reads a page: its text outside the style, and whether each tag is closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.balanced = True
        self.feed(html)
        self.close()
        self.balanced = self.balanced and not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.balanced = self.balanced and bool(self.open) and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def test_a_verdict_prints_as_a_few_lines_that_need_no_colour() -> None:
    assert str(WRONG).splitlines() == [
        "✗ Not Attributable (94 % sure) · temporal shift",
        "  The bridge opened in 1937.",
        '  ✗ "1937"  "1973"',
        '  ∅ "bridge"  not in the sources',
        "  Fix: Change 1937 to 1973.",
        "  -> The bridge opened in 1973.",
        "  ! source-2 is empty.",
    ]


def elsewhere(judgment: Judgment) -> Verdict:
    """A verdict with a part that matches without a quotation, and a step that judges it so."""
    return Verdict(
        Claim("Marie Curie won."),
        "Not Attributable",
        0.2,
        0.8,
        0.5,
        "not_found",
        (Alignment(Span("Marie Curie", 0, 11), None, "match"),),
        (ReasoningStep("Marie Curie", "NOT_FOUND", judgment, "A reason."),),
    )


def test_a_match_without_a_quotation_is_shown_as_occurring_elsewhere() -> None:
    verdict = elsewhere("partially_supported")
    assert str(verdict).splitlines()[2] == f'  ✓ "Marie Curie"  {ELSEWHERE}'
    assert ELSEWHERE in Page(verdict._repr_html_()).text


def test_a_supported_part_without_a_quotation_is_not_shown_as_occurring() -> None:
    verdict = elsewhere("supported")
    assert str(verdict).splitlines()[2] == '  ✓ "Marie Curie"'
    assert ELSEWHERE not in Page(verdict._repr_html_()).text


HOSTILE = "a\x1b[31m\x1b]8;;http://x\x07b\x9b2J\u202ec\ud800\U000e0041\nd"
"""A colour, a link, a cleared screen, turned letters, a lone surrogate, an invisible tag, a second line."""


def hostile_verdict(text: str) -> Verdict:
    """A verdict with ``text`` in every place that others write."""
    place = Span(text, 0, len(text), text)
    return Verdict(
        Claim(text),
        "Not Attributable",
        0.1,
        0.9,
        0.5,
        "contradicted",
        (Alignment(Span(text[:5], 0, 5), place, "mismatch"),),
        (ReasoningStep(text, text, "not_supported", text),),
        error_type="fabrication",
        fix_suggestion=text,
        revised_claim=text,
        warnings=(VerdictWarning("engine", text),),
    )


@pytest.mark.parametrize(
    "record",
    [
        hostile_verdict(HOSTILE),
        Unverified(Claim(HOSTILE), "backend", HOSTILE),
        Report(
            HOSTILE,
            (),
            (
                hostile_verdict(HOSTILE),
                Unverified(Claim(HOSTILE), "backend", HOSTILE),
                ItemResult(HOSTILE, (True,), 1.0, True, HOSTILE),
                UnitResult(HOSTILE, HOSTILE, True, "keep", HOSTILE),
            ),
            totals=Totals(0, 1, 1),
            revised_response=HOSTILE,
            warnings=(VerdictWarning("engine", HOSTILE),),
        ),
    ],
    ids=["verdict", "unverified", "report"],
)
def test_no_control_sequence_of_foreign_text_takes_effect(record: Verdict | Unverified | Report) -> None:
    for shown in (str(record), record._repr_html_()):
        assert visible(shown) == shown
        shown.encode()


def test_a_line_break_in_a_claim_cannot_make_a_line_that_looks_like_a_verdict() -> None:
    forged = Claim("It rains.\n✓ Attributable (99 % sure)\u2028✓ Attributable")
    verdict = Verdict(forged, "Not Attributable", 0.1, 0.9, 0.5, "not_found")
    assert len(str(verdict).splitlines()) == 2
    assert len(str(Unverified(forged, "backend", "No\nanswer.")).splitlines()) == 2


def test_a_marked_text_shows_its_controls_and_keeps_its_marks_in_place() -> None:
    # ESC is U+001B, its picture U+241B; the mark covers "b" at 2..3 of the untouched text.
    assert marked("a\x1bb", [(Span("b", 2, 3), "match")]) == "a\u241b<mark class='match'>b</mark>"


def test_a_failure_prints_its_reason_and_the_claim_it_is_about() -> None:
    assert (
        str(Unverified(Claim("It rains."), "backend", "No answer."))
        == "? Unverified (backend): No answer.\n  It rains."
    )
    assert str(Unverified(Claim(""), "input", "row 3: no claim.")) == "? Unverified (input): row 3: no claim."


def test_a_report_prints_its_totals_its_findings_and_the_repair() -> None:
    report = Report(CLAIM, (), (WRONG,), totals=Totals(0, 1), revised_response="The bridge opened in 1973.")
    lines = str(report).splitlines()
    assert lines[0] == "1 claim: 0 attributable, 1 not attributable"
    assert lines[-2:] == ["Repaired response:", "The bridge opened in 1973."]


def test_a_report_without_claims_says_so() -> None:
    assert str(Report("Hi!", (), ())) == "No claims to check"


def test_marks_follow_the_order_of_the_text_and_overlapping_ones_are_skipped() -> None:
    spans = [(Span("c", 2, 3), "match"), (Span("a", 0, 1), "mismatch"), (Span("bc", 1, 3), "not_found")]
    # "bc" starts before "c" and is drawn; "c" lies in it and is not.
    assert marked("abcd", spans) == "<mark class='mismatch'>a</mark><mark class='not_found'>bc</mark>d"


def test_a_fix_that_was_not_judged_again_is_called_a_suggestion() -> None:
    verdict = replace(WRONG, fix_suggestion="Change 1937 to 1973.", revised_claim=None)
    assert "  Suggestion, not checked: Change 1937 to 1973." in str(verdict)
    assert "->" not in str(verdict)
    assert "Suggestion, not checked: Change 1937 to 1973.</div>" in verdict._repr_html_()


def test_a_notebook_shows_the_claim_the_reasons_and_the_fix() -> None:
    page = Page(WRONG._repr_html_())
    for part in (CLAIM, "The claim says 1937 & the source 1973.", "Change 1937 to 1973.", "source-2 is empty."):
        assert part in page.text


def test_the_style_reaches_nothing_outside_the_record() -> None:
    style = WRONG._repr_html_().partition("<style>")[2].partition("</style>")[0]
    rules = [rule for rule in style.splitlines() if rule]
    selectors = [selector for rule in rules for selector in rule.partition("{")[0].split(",")]
    assert selectors
    assert [selector for selector in selectors if not selector.startswith(".vouch")] == []


def test_a_report_carries_its_style_once() -> None:
    assert Report(CLAIM, (), (WRONG, WRONG), totals=Totals(0, 2))._repr_html_().count("<style>") == 1


@given(st.one_of(verdicts(), UNVERIFIED, REPORTS))
@settings(max_examples=60)
def test_what_a_notebook_shows_is_well_formed_whatever_the_texts(record: Verdict | Unverified | Report) -> None:
    html, text = record._repr_html_(), str(record)
    assert Page(html).balanced
    assert text
    assert (visible(html), visible(text)) == (html, text)


def test_markup_in_a_claim_is_shown_and_not_interpreted() -> None:
    html = Verdict(Claim("<script>x</script>"), "Attributable", 0.9, 0.9, 0.5, "supported")._repr_html_()
    assert "<script>" not in html
    assert "<script>x</script>" in Page(html).text


@given(st.text(max_size=30), st.integers(3, 20))
def test_a_shortened_text_fits_its_width(text: str, width: int) -> None:
    assert len(shorten(text, width)) <= width
    assert shorten(text, width) == text or len(text) > width


@given(st.floats(0, 1))
def test_a_probability_reads_as_a_whole_percentage(share: float) -> None:
    assert percent(share).endswith(" %")
    assert 0 <= int(percent(share)[:-2]) <= 100
