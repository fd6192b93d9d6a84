"""Reviewed verdicts: what a ledger exports is read back, is a row of its own, and becomes gold where people agree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vouching import check
from vouching.errors import InputError
from vouching.evolve.reviewed import gold_rows, read_reviewed
from vouching.inputs import labelled_row
from vouching.rows.read import open_rows
from vouching.types import Claim, ErrorType, Label, ReviewedVerdict, Source, Unverified
from vouching.types.serial import from_json, to_json

CLAIM, SOURCES = "The bridge opened in 1937.", (Source("The bridge opened in 1973."), Source("It is long.", "source-2"))
VERDICT = check(CLAIM, list(SOURCES))


def review(
    label: Label | None, who: str = "ann", hour: int = 9, error: ErrorType | None = None, **changed: Any
) -> ReviewedVerdict:
    when = f"2026-05-04T{hour:02}:00:00+00:00"
    return replace(ReviewedVerdict("v1", CLAIM, SOURCES, label, VERDICT, who, when, error), **changed)


def test_a_line_of_an_export_is_read_back_whole_and_is_a_labelled_row_to_every_command(tmp_path: Path) -> None:
    said = review("Not Attributable", error="temporal_shift", note="Off by years.", group="doc-7")
    assert from_json(ReviewedVerdict, to_json(said)) == said
    path = tmp_path / "reviewed.jsonl"
    path.write_text(to_json(said) + "\n", encoding="utf-8")
    with open_rows(str(path)) as reader:
        [row] = map(labelled_row, reader)
    assert (row.claim.text, row.sources, row.gold, row.group) == (CLAIM, SOURCES, "Not Attributable", "doc-7")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"claim": "Another claim."}, "but the verdict is about"),
        ({"label": "Attributable", "error_type": "fabrication"}, "must be Not Attributable"),
        ({"reviewed_at": "2026-05-04T09:00:00"}, "must have a zone"),
        ({"reviewed_at": "yesterday"}, "Invalid isoformat"),
    ],
)
def test_a_review_that_contradicts_itself_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(review("Not Attributable"), **changed)
    with pytest.raises(InputError, match=message):
        from_json(ReviewedVerdict, json.dumps(json.loads(to_json(review("Not Attributable"))) | changed))


def test_what_could_not_be_verified_can_be_reviewed_and_nothing_is_overruled_by_that() -> None:
    failed = Unverified(Claim(CLAIM), "refused", "No.")
    said = review("Attributable", verdict=failed)
    assert from_json(ReviewedVerdict, to_json(said)).verdict == failed
    assert not said.overruled
    assert not review(None).overruled
    assert review("Attributable").overruled  # the verdict is Not Attributable


def test_the_last_word_of_a_person_counts_and_agreement_makes_a_gold_row() -> None:
    first, last = review("Attributable", hour=9), review("Not Attributable", hour=11, error="temporal_shift")
    other = review("Not Attributable", "bob", 10)
    found = gold_rows([last, first, other])
    [row] = found.rows
    assert (row.label, row.error_type, row.claim) == ("Not Attributable", "temporal_shift", CLAIM)
    assert row.source == "The bridge opened in 1973.\n\nIt is long."
    assert (found.reviews, found.contested, found.undecided, found.overruled) == (3, 0, 0, 0)


def test_no_gold_is_made_of_disagreement_or_doubt_and_both_are_counted() -> None:
    elsewhere = (Source("Nothing of it."),)
    reviews = [
        review("Attributable"), review("Not Attributable", "bob"),
        review(None, sources=elsewhere), review(None, "bob", sources=elsewhere),
    ]  # fmt: skip
    found = gold_rows(reviews)
    assert (found.rows, found.contested, found.undecided) == ((), 1, 1)
    # One who could not tell does not stand against one who could; two types of error leave none.
    types = gold_rows([review("Not Attributable", error="temporal_shift"), review(None, "eve"),
                       review("Not Attributable", "bob", error="fabrication")])  # fmt: skip
    assert [(row.label, row.error_type) for row in types.rows] == [("Not Attributable", None)]


def test_a_line_that_is_no_review_is_named(tmp_path: Path) -> None:
    path = tmp_path / "reviewed.jsonl"
    path.write_text(to_json(review("Attributable")) + "\n\n{}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 3: not a ReviewedVerdict"):
        read_reviewed(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_reviewed(tmp_path / "none.jsonl")
