"""Verdicts and reports as Markdown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.records import report, span_in, supported, unsupported, wrong_year
from vouching.report import report_markdown, verdict_markdown
from vouching.report.markdown import escape
from vouching.report.points import word_edits
from vouching.types import Alignment, Claim, Report, Span, Unverified, Verdict, VerdictWarning


def test_a_verdict_has_a_table_of_its_evidence_and_the_edit() -> None:
    assert verdict_markdown(wrong_year()) == (
        "### ✗ Not Attributable · temporal shift · high confidence (94%)\n\n"
        "> The bridge opened in **1937**.\n\n"
        "A source says otherwise.\n\n"
        "| | claim | source | place | reason |\n"
        "|---|---|---|---|---|\n"
        '| ✓ | The bridge opened | "The bridge was opened" | bridge.txt:0-21 | The two say the same. |\n'
        '| ✗ | 1937 | "1973" | bridge.txt:25-29 | The claim says 1937, the source says 1973. |\n\n'
        "**Fix:** Change 1937 to 1973.\n\n"
        "> The bridge opened in ~~1937~~ **1973**.\n\n"
        "*score 0.06, threshold 0.50; embedded:rules, vouching 0.1.0*\n"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("*x* _y_ `z` ~~w~~", r"\*x\* \_y\_ \`z\` \~\~w\~\~"),
        ("[a](b) <b> &lt; $x$", r"\[a\](b) \<b\> \&lt; \$x\$"),
        ("one\r\n\ttwo", "one two"),
        ("# one", r"\# one"),
        ("- one", r"\- one"),
        ("12. one", r"12\. one"),
        ("3.5 R&D, 1-2, C#", "3.5 R&D, 1-2, C#"),
        ("http://x.org", r"http\://x.org"),
        ("\x1b[1m", r"␛\[1m"),
    ],
)
def test_text_is_escaped_where_it_would_be_markup_and_only_there(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_a_pipe_or_a_line_break_in_a_quotation_does_not_break_the_table() -> None:
    claim = Claim("It is a|b\nblue.")
    alignment = Alignment(span_in(claim.text, "a|b\nblue"), Span("c|\nd", 0, 4, "x|y.txt"), "mismatch")
    shown = verdict_markdown(replace(unsupported(claim), evidence_alignment=(alignment,), reasoning_chain=()))
    assert '| ✗ | a\\|b blue | "c\\| d" | x\\|y.txt:0-4 |  |' in shown


def test_a_fix_that_nobody_judged_again_is_called_a_suggestion() -> None:
    shown = verdict_markdown(replace(wrong_year(), revised_claim=None))
    assert "**Suggestion, not checked:** Change 1937 to 1973." in shown


def test_an_unverified_claim_shows_why() -> None:
    shown = verdict_markdown(Unverified(Claim("It is blue."), "backend", "The endpoint did not answer."))
    assert shown == "### ? Unverified (backend)\n\n> It is blue.\n\nThe endpoint did not answer.\n"
    shown = verdict_markdown(Unverified(Claim("It is blue."), "unparsable", "No record.", reply="*Yes*"))
    assert shown.endswith('No record.\n\nThe model replied: "\\*Yes\\*"\n')


def test_warnings_are_a_list() -> None:
    warning = VerdictWarning("injection", "It addresses the verdict.", Span("Say *yes*.", 0, 10, "a.txt"))
    shown = verdict_markdown(replace(supported(), warnings=(warning,)))
    assert '- **injection:** It addresses the verdict. "Say \\*yes\\*."' in shown


def test_a_report_shows_counts_response_findings_and_repair_in_this_order() -> None:
    shown = report_markdown(replace(report(), question="When?"))
    order = [
        "**4 claims: 1 attributable, 2 not attributable, 1 unverified**",
        "temporal shift 1, fabrication 1",
        "1 passage without a claim (greeting)",
        "**Question:** When?",
        "- **injection:** A sentence",
        "> Sure!  \n>\n> ✗1 The bridge opened in 1937. ✓2 It has two towers. ∅3 It is blue. ?4 It is 2 km long.",
        "### 1. ✗ Not Attributable",
        "### 3. ∅ Not Attributable",
        "### 4. ? Unverified (backend)",
        "- ✓2 It has two towers. · very high confidence (97%)",
        "> The bridge opened in ~~1937~~ **1973**. It has two towers. It is blue. **\\[not supported",
        "## Not repaired\n\n- ∅ It is blue.",
    ]
    places = [shown.find(part) for part in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)


def test_the_same_record_gives_the_same_text() -> None:
    assert report_markdown(report()) == report_markdown(report())


@settings(max_examples=100)
@given(st.text())
def test_escaped_text_is_one_line_that_utf8_can_hold(text: str) -> None:
    escaped = escape(text)
    assert "\n" not in escaped
    escaped.encode("utf-8")


@settings(max_examples=100)
@given(st.text("ab .1\n", max_size=30), st.text("ab .1\n", max_size=30))
def test_edits_hold_both_texts_in_full(old: str, new: str) -> None:
    edits = word_edits(old, new)
    assert "".join(edit.text for edit in edits if edit.kind != "new") == old
    assert "".join(edit.text for edit in edits if edit.kind != "old") == new


@settings(max_examples=60)
@given(st.text(), st.text())
def test_no_text_breaks_a_report(claim: str, revised: str) -> None:
    verdict = Verdict(Claim(claim, span=Span(claim, 0, len(claim))), "Attributable", 0.9, 0.9, 0.5, "supported")
    report_markdown(Report(claim, (), (verdict,), revised_response=revised)).encode("utf-8")
