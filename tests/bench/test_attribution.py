"""This project's own format of labelled rows, and what is said of rows that do not have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.bench.samples import claim_rows, write_rows
from vouching.bench.catalog import DATA_SETS
from vouching.bench.rows import BenchRow, Fault

RESPONSE = {
    "id": "r-1",
    "task": "qa",
    "source_id": 7,
    "response": "It opened in 1937.",
    "source": "It opened in 1973.",
    "spans": [{"start": 13, "end": 17, "text": "1937"}],
    "label": "Not Attributable",
}
TOKENS = {
    "id": "t-1",
    "claim": "It opened in 1937.",
    "source": "It opened in 1973.",
    "label": "Not Attributable",
    "claim_tokens": ["It", "opened", "in", "1937", "."],
    "non_supported_spans": [False, False, False, True, False],
}
PROBE = {
    "id": "p-1",
    "claim": "It opened in 1937.",
    "gold_label": "C",
    "strategy": "numerical_perturb",
    "original_id": "o-1",
    "evidence": ["It opened in 1973."],
}


def read(name: str, folder: Path, *records: dict[str, Any]) -> list[BenchRow | Fault]:
    """What is read of a set that holds these records."""
    [pattern] = DATA_SETS[name].files["test"]
    write_rows(folder / pattern, records)
    return [*DATA_SETS[name].rows(folder, "test")]


def fault(name: str, folder: Path, record: dict[str, Any]) -> str:
    """What is said of a record that cannot be used."""
    [found] = read(name, folder, record)
    assert isinstance(found, Fault)
    return str(found)


def test_a_claim_row_has_its_part_and_document(tmp_path: Path) -> None:
    [row] = read("bump", tmp_path, {**claim_rows(1)[0], "group": "7", "bump_error_type": "Intrinsic Entity Error"})
    assert isinstance(row, BenchRow)
    assert (row.attributable, row.part, row.document) == (True, "Intrinsic Entity", "7")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": None}, "\"label\" is null: expected one of 'Attributable', 'Not Attributable'"),
        ({"label": "supported"}, "\"label\" must be one of 'Attributable', 'Not Attributable', got 'supported'"),
        ({"claim": ""}, '"claim" must not be empty'),
        ({"claim": 7}, '"claim" must be a string, got 7'),
        ({"source": None}, '"source" is null: expected a string'),
        ({"source": []}, '"source" must be a string or a list of at least one string'),
    ],
)
def test_a_row_that_lacks_what_it_needs_is_a_fault_with_its_place(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    told = fault("wice", tmp_path, {**claim_rows(1)[0], **change})
    assert told.startswith("wice.jsonl.gz, line 1: ")
    assert said in told


def test_ragtruth_rows_are_responses_with_spans(tmp_path: Path) -> None:
    [row] = read("ragtruth", tmp_path, RESPONSE)
    assert isinstance(row, BenchRow)
    assert (row.is_response, row.part, row.document, row.spans) == (True, "qa", "7", ((13, 17),))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": "Attributable"}, 'a response with 1 spans must be Not Attributable, got the label "Attributable"'),
        ({"spans": []}, 'a response with 0 spans must be Attributable, got the label "Not Attributable"'),
        ({"spans": [{"start": 13, "end": 19}]}, '"spans" has an invalid span, 13 to 19, in a text of 18 characters'),
        ({"spans": [{"start": 3, "end": 9, "text": "1937"}]}, "'1937' at 3 to 9, where the text has 'opened'"),
        ({"spans": ["1937"]}, "an invalid span, null to null"),
        ({"spans": None}, '"spans" is null: expected a list'),
    ],
)
def test_spans_must_lie_in_the_response_and_agree_with_the_label(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    assert said in fault("ragtruth", tmp_path, {**RESPONSE, **change})


def test_tokens_are_found_in_the_claim(tmp_path: Path) -> None:
    [row] = read("wice_spans", tmp_path, TOKENS)
    assert isinstance(row, BenchRow)
    assert row.tokens == ((0, 2), (3, 9), (10, 12), (13, 17), (17, 18))
    assert row.spans == ((13, 17),)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"claim_tokens": ["It", "closed"], "non_supported_spans": [False, True]}, "'closed' does not occur"),
        ({"non_supported_spans": [True]}, '"non_supported_spans" must have equal lengths, got 5 and 1'),
    ],
)
def test_tokens_that_do_not_fit_are_faults(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    assert said in fault("wice_spans", tmp_path, {**TOKENS, **change})


def test_probes_without_evidence_make_no_row(tmp_path: Path) -> None:
    [row] = read("seva_v3", tmp_path, PROBE, {**PROBE, "id": "p-2", "evidence": []})
    assert isinstance(row, BenchRow)
    assert (row.id, row.part, row.attributable) == ("p-1", "numerical_perturb", False)
