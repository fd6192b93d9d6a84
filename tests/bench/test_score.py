"""One row through the verifier: what is kept of it, and what happens when there is no verdict."""

from __future__ import annotations

import json

import pytest

from vouching.bench.rows import BenchRow
from vouching.bench.score import NO_CLAIM, Scored, ScoreRows, overlap, record_of, score_row, structure_of
from vouching.checker import Checker, run
from vouching.rows.read import Row
from vouching.types import Alignment, Claim, Span, Verdict

CHECKER = Checker("embedded:rules")
SOURCE = ("The bridge opened in 1973. It has two towers.",)


def scored_row(row: BenchRow) -> Scored:
    """What is kept of a row."""
    return run(score_row(row, CHECKER))


def test_a_claim_gets_the_score_and_the_label_of_its_verdict() -> None:
    scored = scored_row(BenchRow("a", "The bridge opened in 1937.", SOURCE, False, part="x"))
    verdict = CHECKER.check("The bridge opened in 1937.", SOURCE[0])
    assert isinstance(verdict, Verdict)
    assert (scored["score"], scored["label"]) == (verdict.score, False)
    assert (scored["error_types"], scored["part"], scored["unverified"]) == (["temporal_shift"], "x", None)


def test_a_response_is_attributable_if_every_claim_is_and_its_spans_count_in_the_response() -> None:
    text = "It has two towers. The bridge opened in 1937."
    # What is wrong: "opened in 1937", characters 30 to 44; the gold marks "1937", 40 to 44: 4 in both, 14 predicted.
    scored = scored_row(BenchRow("a", text, SOURCE, False, is_response=True, spans=((40, 44),)))
    assert (scored["label"], scored["is_response"]) == (False, True)
    assert scored["spans"] == [4, 14, 4, len(text)]
    right = scored_row(BenchRow("b", "It has two towers.", SOURCE, True, is_response=True, spans=()))
    assert (right["label"], right["spans"]) == (True, [0, 0, 0, 18])


def test_tokens_are_counted_instead_of_characters_where_the_set_has_them() -> None:
    tokens = ((0, 3), (4, 10), (11, 17), (18, 20), (21, 25), (25, 26))
    row = BenchRow("a", "The bridge opened in 1937.", SOURCE, False, spans=((21, 25),), tokens=tokens)
    # Predicted is "opened in 1937": three of six tokens, one of them gold.
    assert scored_row(row)["spans"] == [1, 3, 1, 6]


def test_a_row_the_verifier_cannot_take_has_no_score_no_label_and_no_share_in_anything() -> None:
    scored = scored_row(BenchRow("a", "?!", SOURCE, False, spans=()))
    assert scored["unverified"].startswith("input: the claim must contain at least one word or number")
    assert [scored[key] for key in ("score", "label", "spans", "structure")] == [None] * 4
    assert scored["error_types"] == []


def test_a_response_without_a_claim_is_neither_failed_nor_scored() -> None:
    scored = scored_row(BenchRow("a", "Hello! How are you?", SOURCE, True, is_response=True))
    assert (scored["unverified"], scored["score"], scored["label"]) == (NO_CLAIM, None, None)


def test_a_broken_row_is_told_with_its_place() -> None:
    line = json.loads(ScoreRows("embedded:rules")()(Row(3, "wice, line 3", None, "it has no label")))
    assert (line["id"], line["unverified"]) == ("row-3", "broken: wice, line 3: it has no label")


def test_overlap_counts_distinct_words_without_function_words() -> None:
    # bridge, opened, 1937 of which the source has two; "the" and "in" do not count, nor how often a word occurs.
    assert overlap("The bridge, the bridge opened in 1937.", SOURCE[0]) == pytest.approx(2 / 3)
    assert overlap("in the", SOURCE[0]) == 0.0


def verdict_with(label: str, *statuses: str) -> Verdict:
    """A verdict whose parts have these statuses."""
    parts = tuple(
        Alignment(Span("two", 0, 3), None if status == "not_found" else Span("two", 0, 3), status)  # type: ignore[arg-type]
        for status in statuses
    )
    score = 0.9 if label == "Attributable" else 0.1
    return Verdict(Claim("two"), label, score, 0.9, 0.5, "supported", parts)  # type: ignore[arg-type]


def test_a_missing_source_span_is_written_as_seva_does() -> None:
    entry = record_of(verdict_with("Not Attributable", "not_found"))["evidence_alignment"]
    assert entry == [{"claim_span": "two", "source_span": "NOT_FOUND", "status": "not_found"}]


@pytest.mark.parametrize(
    ("label", "statuses", "consistent"),
    [
        ("Attributable", ("match", "match"), 1.0),
        ("Attributable", ("match", "not_found"), 0.0),
        ("Not Attributable", ("match", "mismatch"), 1.0),
        ("Not Attributable", ("match",), 0.0),
        ("Not Attributable", (), 1.0),
        ("Attributable", (), 0.0),
    ],
)
def test_a_label_is_consistent_if_it_is_attributable_exactly_when_all_parts_match(
    label: str, statuses: tuple[str, ...], consistent: float
) -> None:
    assert structure_of(verdict_with(label, *statuses))["consistent"] == consistent


def test_a_record_without_a_chain_is_not_in_the_format() -> None:
    assert structure_of(verdict_with("Attributable", "match"))["format"] == 0.0
    assert structure_of(verdict_with("Attributable", "match"))["chain"] == 0.0
