"""Rows from records and files, answers to them, and rows of known type."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.evolve.boats import boats, row
from vouching.errors import InputError
from vouching.evolve.probe import typed_rows
from vouching.evolve.records import TYPED, Judged, Row, judged_as, read_records, to_json, write_records
from vouching.evolve.rows import disjoint_rows, read_rows, row_of
from vouching.types import Claim, Span, Unverified
from vouching.types.spans import ERROR_TYPES

RECORD: dict[str, Any] = {"claim": "It opened in 1937.", "source": "It opened in 1973.", "label": "Not Attributable"}


def test_a_record_of_this_projects_own_format_is_a_row() -> None:
    spans = [{"text": "1937", "start": 13, "end": 17}, {"text": "", "start": 3, "end": 3}]
    found = row_of({**RECORD, "error_type": "temporal_shift", "spans": spans, "group": 7, "set": "x"}, "1", "y")
    assert found == Row(
        "1",
        "It opened in 1937.",
        "It opened in 1973.",
        "Not Attributable",
        "x",
        "7",
        "temporal_shift",
        (Span("1937", 13, 17),),
    )


def test_a_row_on_disk_is_a_record_again(tmp_path: Path) -> None:
    rows = [row_of({**RECORD, "error_type": "temporal_shift"}, "1", "x"), row(1, "Attributable")]
    write_records(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl") == rows == read_records(tmp_path / "rows.jsonl", Row)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": "maybe"}, "must be one of 'Attributable', 'Not Attributable', got 'maybe'"),
        ({"error_type": "typo"}, "unknown error_type 'typo'; expected one of numerical_exaggeration"),
        ({"label": "Attributable", "error_type": "fabrication"}, "must not have an error_type, got 'fabrication'"),
        ({"claim": None}, '"claim" is null: expected a string'),
        ({"claim": " "}, "the claim must contain at least one word or number"),
        ({"source": None}, '"source" is null: pass a string or a list of strings'),
        ({"spans": [{"start": 3, "end": 99}]}, "an invalid span, 3 to 99, in a text of"),
    ],
)
def test_a_record_that_cannot_be_used_says_why(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        row_of({**RECORD, **changes}, "1")


def test_a_file_names_the_set_of_its_rows_and_the_line_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "wice.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps({"id": "a", **RECORD}) + "\n")
    assert [(one.id, one.data_set) for one in read_rows(path)] == [("a", "wice")]
    with gzip.open(path, "at", encoding="utf-8") as file:
        file.write(json.dumps({"id": "b", **RECORD, "label": 1}) + "\n")
    with pytest.raises(InputError, match=r"wice.jsonl.gz, line 2: \"label\" must be one of .*, got 1"):
        read_rows(path)


def test_typed_rows_have_as_many_of_each_type_and_stay_with_what_they_are_made_of() -> None:
    held = boats()
    found = typed_rows(held, 5)
    assert Counter(one.error_type for one in found) == dict.fromkeys(ERROR_TYPES, 5)
    assert {one.data_set for one in found} == {TYPED}
    assert {one.source for one in found} <= {one.source for one in held}
    assert all(not one.attributable and one.spans for one in found if one.error_type != "negation_flip")


def test_rows_are_related_by_claim_source_or_document_and_documents_only_within_a_set() -> None:
    one = Row("1", "Claim one.", "Source one.", "Attributable", "a", "7")
    same_page = Row("2", "Claim two.", "Source two.", "Attributable", "a", "7")
    other_set = Row("3", "Claim three.", "Source three.", "Attributable", "b", "7")
    assert disjoint_rows([same_page, other_set], [one]) == [other_set]


def test_a_failure_is_an_answer_without_score_and_label() -> None:
    failed = judged_as(row(1, "Attributable"), Unverified(Claim("Claim 1."), "backend", "out of reach"))
    assert (failed.score, failed.label, failed.right, failed.unverified) == (None, None, None, "backend: out of reach")
    for fields in (
        {},
        {"score": 0.5},
        {"label": "Attributable"},
        {"score": 1.0, "label": "Attributable", "unverified": "backend: busy"},
    ):
        with pytest.raises(ValueError, match="must have a score and a label, or the reason"):
            Judged(row(1, "Attributable"), **fields)  # pyright: ignore[reportArgumentType]


def test_a_file_is_never_half_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_records(path, [row(1, "Attributable")])
    before = path.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="surrogates"):
        write_records(path, [row(2, "Attributable"), Row("\ud800", "c", "s", "Attributable")])
    assert path.read_text(encoding="utf-8") == before
    assert to_json(row(1, "Attributable")) + "\n" == before


def test_a_row_of_known_type_stays_in_the_document_of_what_it_was_made_from() -> None:
    held = boats(small=0)[:30]
    made = typed_rows(held, 2)
    sister = [
        Row(f"{one.id}-b", f"Else {n}.", f"Else {n}.", "Attributable", one.data_set, one.group)
        for n, one in enumerate(held)
    ]
    pages = {str(one.group).removeprefix("boats/") for one in made}
    assert {one.group for one in sister} - {one.group for one in disjoint_rows(sister, made)} == pages
    assert disjoint_rows([Row("x", "c", "s", "Attributable", "ferries", pages.pop())], made)
