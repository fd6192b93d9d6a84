from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest

from vouching import Checker, Verdict
from vouching.embedded.diagnosis import diagnose, error_of, relation_of
from vouching.embedded.features import Segment
from vouching.embedded.parts import Part, PartKind, Value
from vouching.embedded.scene import Comparison, Focus, Outcome
from vouching.reading.evidence import index_sources
from vouching.reading.parsed import read
from vouching.text.dates import find_dates
from vouching.text.quantities import find_quantities
from vouching.types import ERROR_TYPES, ErrorType

VALUES: dict[PartKind, Value] = {"quantity": find_quantities("5 km")[0], "date": find_dates("in 1937")[0]}
NOTHING = index_sources([])


def compared(outcome: Outcome, kind: PartKind = "predicate", value: Value | None = None) -> Comparison:
    """A part of a kind with an outcome; which words it has does not matter here."""
    return Comparison(Part(kind, 0, 1, 0, 1, value or VALUES.get(kind), (0,)), outcome)


def diagnosed(*comparisons: Comparison) -> ErrorType:
    """The error type of a claim with these comparisons."""
    return diagnose([Segment(read(""), Focus((), ()), comparisons)], NOTHING)


ONE_OF_EACH: dict[ErrorType, Comparison] = {
    "numerical_exaggeration": compared("differs", "quantity"),
    "temporal_shift": compared("differs", "date"),
    "negation_flip": compared("negated"),
    "entity_substitution": compared("differs", "entity"),
    "scope_inflation": compared("overstated", "qualifier"),
    "fabrication": compared("absent"),
}
"""In the order of precedence: number, date, negation, name, overstatement, nothing found."""


def test_there_is_a_comparison_for_every_error_type() -> None:
    assert set(ONE_OF_EACH) == set(ERROR_TYPES)


@pytest.mark.parametrize(("error", "comparison"), ONE_OF_EACH.items(), ids=ONE_OF_EACH)
def test_a_single_difference_gives_its_own_error_type(error: ErrorType, comparison: Comparison) -> None:
    assert error_of(comparison) == error
    assert diagnosed(compared("equal"), comparison) == error


@pytest.mark.parametrize(("first", "second"), list(combinations(ONE_OF_EACH, 2)))
def test_of_two_errors_the_one_with_precedence_is_reported_in_either_order(first: ErrorType, second: ErrorType) -> None:
    assert diagnosed(ONE_OF_EACH[first], ONE_OF_EACH[second]) == first
    assert diagnosed(ONE_OF_EACH[second], ONE_OF_EACH[first]) == first


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        ("equal", None),
        ("elsewhere", None),
        ("paraphrased", None),
        ("opposite", "negation_flip"),
        ("reordered", "temporal_shift"),
        ("negated", "negation_flip"),
        ("replaced", "entity_substitution"),
        ("overstated", "scope_inflation"),
        ("unhedged", "scope_inflation"),
    ],
)
@pytest.mark.parametrize("kind", get_args(PartKind))
def test_only_a_differing_or_unknown_value_is_judged_by_the_kind_of_the_part(
    outcome: Outcome, error: ErrorType | None, kind: PartKind
) -> None:
    assert error_of(compared(outcome, kind)) == error


@pytest.mark.parametrize("outcome", ["differs", "absent"])
def test_a_wrong_or_unknown_value_has_the_error_type_of_what_it_measures(outcome: Outcome) -> None:
    assert error_of(compared(outcome, "quantity")) == "numerical_exaggeration"
    assert error_of(compared(outcome, "quantity", find_quantities("at 10:30")[0])) == "temporal_shift"
    assert error_of(compared(outcome, "date")) == "temporal_shift"
    assert error_of(compared(outcome, "date", find_dates("for 5 days")[0])) == "numerical_exaggeration"
    assert error_of(compared(outcome, "entity")) == "entity_substitution"


def test_unknown_words_are_a_fabrication() -> None:
    assert error_of(compared("absent", "predicate")) == "fabrication"


def test_what_a_source_contradicts_goes_before_what_it_does_not_have() -> None:
    assert diagnosed(compared("absent", "quantity"), compared("differs", "entity")) == "entity_substitution"
    assert diagnosed(compared("absent", "quantity"), compared("absent")) == "numerical_exaggeration"


def test_a_rejected_claim_whose_parts_all_match_is_a_fabrication() -> None:
    assert diagnosed() == diagnosed(compared("equal"), compared("elsewhere")) == "fabrication"


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_a_supported_claim_is_supported_whatever_its_parts(outcome: Outcome) -> None:
    assert relation_of(True, [compared(outcome)]) == "supported"


@pytest.mark.parametrize(
    ("outcome", "relation"),
    [
        ("differs", "contradicted"),
        ("opposite", "contradicted"),
        ("negated", "contradicted"),
        ("replaced", "contradicted"),
        ("equal", "not_found"),
        ("elsewhere", "not_found"),
        ("overstated", "not_found"),
        ("unhedged", "not_found"),
        ("absent", "not_found"),
    ],
)
def test_a_claim_is_contradicted_if_a_source_says_otherwise_and_else_not_found(outcome: Outcome, relation: str) -> None:
    assert relation_of(False, [compared(outcome)]) == relation
    assert relation_of(False, [compared("absent"), compared(outcome), compared("equal")]) == relation


def test_a_claim_without_parts_is_not_found() -> None:
    assert relation_of(False, []) == "not_found"


def test_no_part_of_an_attributable_claim_disagrees_with_the_sources() -> None:
    corpus = Path(__file__).parents[1] / "data/contrast/dev"
    documents = {path.stem: path.read_text("utf-8") for path in (corpus / "documents").iterdir()}
    checker = Checker("embedded:rules")
    rows = [json.loads(line) for line in (corpus / "claims.jsonl").read_text("utf-8").splitlines()]
    for row in rows[::4]:
        found = checker.check(row["claim"], documents[row["document"]])
        if isinstance(found, Verdict) and found.label == "Attributable":
            assert "mismatch" not in [entry.status for entry in found.evidence_alignment], row["id"]
            assert "inconsistency" not in [warning.kind for warning in found.warnings], row["id"]
