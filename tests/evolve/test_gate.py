"""The gate: which rounds are refused, by which sets, and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.evolve.boats import failed, right, row, wrong
from vouching.errors import ConfigError, InputError
from vouching.evolve.gate import ALL, gate
from vouching.evolve.records import GateDecision, SetChange, read_record, write_record

MIXED = [row(n, "Attributable" if n % 2 else "Not Attributable") for n in range(60)]
OTHER = [row(n, "Attributable" if n % 2 else "Not Attributable", "b") for n in range(60)]


def change(decision: GateDecision, name: str = "a") -> SetChange:
    """What became of one set."""
    return next(one for one in decision.changes if one.data_set == name)


def test_a_shown_loss_refuses_a_round() -> None:
    worse = [*wrong(MIXED[:20]), *right(MIXED[20:])]
    decision = gate(right(MIXED), worse)
    # 20 of 60 wrong, 10 of each class: precision and recall of both are 2/3, and so is macro F1.
    assert (change(decision).before, change(decision).after) == (1.0, pytest.approx(2 / 3, abs=1e-4))
    assert not decision.accepted
    assert "more than 0.020" in str(change(decision).refused)


def test_equal_answers_pass_by_either_rule_however_few_they_are() -> None:
    for rule in ("harm", "safety"):
        assert gate(right(MIXED[:4]), right(MIXED[:4]), rule=rule).accepted


def test_a_loss_that_may_be_chance_passes_harm_and_not_safety() -> None:
    # 3 rows lost and 2 gained: the interval lies on both sides of 0 and reaches below -0.02.
    before = [*wrong(MIXED[:2]), *right(MIXED[2:])]
    after = [*right(MIXED[:2]), *wrong(MIXED[2:5]), *right(MIXED[5:])]
    assert gate(before, after, rule="harm").accepted
    refused = gate(before, after, rule="safety")
    assert not refused.accepted
    assert "does not rule out" in str(change(refused).refused)


def test_the_interval_is_compared_with_the_allowed_loss() -> None:
    # The loss is 1/3, its interval about 0.21 to 0.45: above 0.1 for certain, perhaps above 0.3, not above 0.6.
    before, after = right(MIXED), [*wrong(MIXED[:20]), *right(MIXED[20:])]
    accepted = {
        (rule, loss): gate(before, after, max_loss=loss, rule=rule).accepted
        for rule in ("harm", "safety")
        for loss in (0.1, 0.3, 0.6)
    }
    assert accepted == {
        ("harm", 0.1): False,
        ("harm", 0.3): True,
        ("harm", 0.6): True,
        ("safety", 0.1): False,
        ("safety", 0.3): False,
        ("safety", 0.6): True,
    }


def test_a_shown_gain_passes_safety() -> None:
    assert gate([*wrong(MIXED[:20]), *right(MIXED[20:])], right(MIXED), rule="safety").accepted


def test_a_round_that_stops_answering_is_refused_although_what_it_answers_is_right() -> None:
    decision = gate(right(MIXED), [*failed(MIXED[:30]), *right(MIXED[30:])])
    assert change(decision).lost == 30
    assert change(decision).difference["estimate"] == 0.0
    assert "the share of answered rows" in str(change(decision).refused)


def test_a_round_that_answers_nothing_is_refused() -> None:
    decision = gate(right(MIXED), failed(MIXED))
    assert not decision.accepted
    assert change(decision).after is None


def test_a_failure_is_neither_right_nor_wrong() -> None:
    # Both fail on other rows; on the 20 rows that both answered nothing differs.
    before = [*failed(MIXED[:20]), *right(MIXED[20:])]
    after = [*right(MIXED[:40]), *failed(MIXED[40:])]
    found = change(gate(before, after))
    assert (found.rows, found.lost, found.before, found.after) == (20, 0, 1.0, 1.0)


def test_only_watched_sets_refuse() -> None:
    before, after = right([*MIXED, *OTHER]), [*wrong(MIXED), *right(OTHER)]
    assert not gate(before, after).accepted
    assert gate(before, after, watched=["b"]).accepted
    assert not gate(before, after, watched=[ALL]).accepted
    assert gate(before, after, watched=["b"]).watched == ("b",)


def test_a_set_of_one_class_is_measured_by_accuracy() -> None:
    one_class = [row(n, "Not Attributable") for n in range(40)]
    found = change(gate(right(one_class), [*wrong(one_class[:10]), *right(one_class[10:])]))
    assert (found.metric, found.after) == ("accuracy", 0.75)


def test_rows_of_one_document_are_no_proof_of_harm() -> None:
    # All 60 rows share a source: there is one group, an interval is refused, and the estimate decides under "harm".
    rows = [replace(one, source="One source.") for one in MIXED]
    decision = gate(right(rows), [*wrong(rows[:20]), *right(rows[20:])])
    assert change(decision).difference["low"] is None
    assert "has no interval" in str(change(decision).refused)
    # Of 60 rows 10 changed hands, 5 each way: the estimate is 0, which is no loss under "harm" and no proof of safety.
    before, after = [*wrong(rows[:2]), *right(rows[2:])], [*right(rows[:2]), *wrong(rows[2:4]), *right(rows[4:])]
    assert gate(before, after, rule="harm").accepted
    assert not gate(before, after, rule="safety").accepted


def test_answers_to_other_rows_are_refused() -> None:
    with pytest.raises(InputError, match="judge the same rows"):
        gate(right(MIXED), right(MIXED[1:]))
    with pytest.raises(InputError, match="the answers are to different rows"):
        gate(right(MIXED), right(MIXED[::-1]))
    with pytest.raises(InputError, match="no rows"):
        gate([], [])


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(InputError, match="unknown set 'c' in watched"):
        gate(right(MIXED), right(MIXED), watched=["c"])
    with pytest.raises(ConfigError, match="max_loss"):
        gate(right(MIXED), right(MIXED), max_loss=1.5)
    with pytest.raises(ConfigError, match=r"resamples at least 100, got 0\.02 and 0"):
        gate(right(MIXED), right(MIXED), resamples=0)


def test_a_decision_comes_back_from_disk_as_it_was(tmp_path: Path) -> None:
    decision = gate(right(MIXED), [*wrong(MIXED[:20]), *right(MIXED[20:])])
    write_record(tmp_path / "gate.json", decision)
    assert read_record(tmp_path / "gate.json", GateDecision) == decision
