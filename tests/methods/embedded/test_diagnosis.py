from __future__ import annotations

from itertools import combinations
from typing import get_args

import pytest

from vouching.methods.embedded.diagnosis import diagnose, error_of, relation_of
from vouching.methods.embedded.parts import Part, PartKind
from vouching.methods.embedded.scene import Comparison, Outcome
from vouching.types import ERROR_TYPES, ErrorType


def compared(outcome: Outcome, kind: PartKind = "predicate") -> Comparison:
    """A part of a kind with an outcome; what it says does not matter here."""
    return Comparison(Part(kind, 0, 1, 0, 1, None, (0,)), outcome)


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
    assert diagnose([compared("equal"), comparison]) == error


@pytest.mark.parametrize(("first", "second"), list(combinations(ONE_OF_EACH, 2)))
def test_of_two_errors_the_one_with_precedence_is_reported_in_either_order(first: ErrorType, second: ErrorType) -> None:
    assert diagnose([ONE_OF_EACH[first], ONE_OF_EACH[second]]) == first
    assert diagnose([ONE_OF_EACH[second], ONE_OF_EACH[first]]) == first


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
        ("absent", "fabrication"),
    ],
)
@pytest.mark.parametrize("kind", get_args(PartKind))
def test_only_a_differing_value_is_judged_by_the_kind_of_the_part(
    outcome: Outcome, error: ErrorType | None, kind: PartKind
) -> None:
    assert error_of(compared(outcome, kind)) == error


def test_a_rejected_claim_whose_parts_all_match_is_a_fabrication() -> None:
    assert diagnose([]) == diagnose([compared("equal"), compared("elsewhere")]) == "fabrication"


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
