"""Every rule of SEVA's alignment and chain scores, each against a sum done by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.structured.reward import alignment_quality, chain_quality
from vouching.types import NOT_FOUND

ENTRY: dict[str, Any] = {"claim_span": "12 countries", "source_span": "8 nations", "status": "mismatch"}
STEP: dict[str, Any] = {
    "claim_part": "12 countries",
    "source_evidence": "8 nations",
    "judgment": "not_supported",
    "explanation": "The source says 8.",
}


@pytest.mark.parametrize("status", ["match", "mismatch", "not_found"])
def test_a_complete_entry_scores_1(status: str) -> None:
    # .3 + .3 + .2 + .1 + .1
    assert alignment_quality([{**ENTRY, "status": status}]) == 1.0


@pytest.mark.parametrize(
    ("change", "score"),
    [
        ({"claim_span": ""}, 0.6),  # loses .3 for being empty and .1 for being short
        ({"source_span": ""}, 0.6),
        ({"status": "Match"}, 0.8),  # the word as it is spelled: loses .2
        ({"status": ""}, 0.8),
        ({"claim_span": "12"}, 0.9),  # 2 characters: loses .1
        ({"claim_span": "x" * 200}, 1.0),
        ({"claim_span": "x" * 201}, 0.9),
        ({"claim_span": "   "}, 1.0),  # three blanks are three characters
        ({"source_span": "x" * 500}, 1.0),
        ({"source_span": "x" * 501}, 0.9),
        ({"source_span": "8"}, 0.9),
        ({"source_span": NOT_FOUND}, 1.0),
        ({"source_span": None}, 0.6),  # null is no text: loses .3 and .1
        ({"claim_span": ["12 countries"]}, 0.6),
        ({"status": ["match"]}, 0.8),
    ],
)
def test_each_rule_of_an_entry_has_its_price(change: dict[str, Any], score: float) -> None:
    assert alignment_quality([{**ENTRY, **change}]) == pytest.approx(score)


def test_a_field_that_is_missing_costs_as_much_as_an_empty_one() -> None:
    assert alignment_quality([{}]) == 0.0
    assert alignment_quality([{"status": "match"}]) == pytest.approx(0.2)


def test_an_entry_that_is_no_object_scores_0_and_counts() -> None:
    # (1 + 0 + 0) / 3
    assert alignment_quality([ENTRY, "12 countries", None]) == pytest.approx(1 / 3)


def test_without_entries_or_steps_there_is_nothing_to_score() -> None:
    assert alignment_quality([]) == 0.0
    assert chain_quality([]) == 0.0


@pytest.mark.parametrize("judgment", ["supported", "not_supported", "partially_supported"])
def test_one_complete_step_already_reaches_the_cap(judgment: str) -> None:
    # .3 + .3 + .2 + .2 = 1, and .2 / 3 for the length goes over it.
    assert chain_quality([{**STEP, "judgment": judgment}]) == 1.0


@pytest.mark.parametrize(
    ("change", "score"),
    [
        ({"judgment": "refuted"}, 0.7),
        ({"explanation": "123456789"}, 0.7),  # 9 characters
        ({"explanation": "1234567890"}, 1.0),
        ({"explanation": 1234567890}, 0.7),  # a number is no explanation
        ({"source_evidence": "1234"}, 0.8),
        ({"source_evidence": "12345"}, 1.0),
        ({"source_evidence": NOT_FOUND}, 1.0),
        ({"source_evidence": None}, 0.8),
        ({"claim_part": ""}, 0.8),
    ],
)
def test_each_rule_of_a_step_has_its_price(change: dict[str, Any], score: float) -> None:
    # One step of three adds 1/3 of .2.
    assert chain_quality([{**STEP, **change}]) == pytest.approx(min(1.0, score + 0.2 / 3))


def test_a_longer_chain_lifts_weak_steps_up_to_three() -> None:
    weak = {**STEP, "judgment": "refuted"}  # .7
    assert chain_quality([weak] * 2) == pytest.approx(0.7 + 0.2 * 2 / 3)
    assert chain_quality([weak] * 3) == pytest.approx(0.9)
    assert chain_quality([weak] * 9) == pytest.approx(0.9)


def test_a_step_that_is_no_object_scores_0_and_counts() -> None:
    # (1 + 0) / 2 + .2 * 2 / 3
    assert chain_quality([STEP, 7]) == pytest.approx(0.5 + 0.4 / 3)
    assert chain_quality(["no step"]) == pytest.approx(0.2 / 3)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20) | st.sampled_from([*ENTRY.values(), *STEP.values()]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*ENTRY, *STEP]), inner, max_size=4),
    max_leaves=8,
)


def test_what_is_no_list_scores_0() -> None:
    assert [alignment_quality(written) for written in (None, "entries", ENTRY, 3)] == [0.0] * 4
    assert [chain_quality(written) for written in (None, "steps", STEP, 3)] == [0.0] * 4


@given(ANYTHING)
def test_whatever_a_model_writes_the_scores_stay_between_0_and_1(written: object) -> None:
    assert 0.0 <= alignment_quality(written) <= 1.0
    assert 0.0 <= chain_quality(written) <= 1.0
