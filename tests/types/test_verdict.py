from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given

from tests.types.record_strategies import verdicts
from vouching.types import Claim, Group, Report, Rollout, Span, Unverified, Verdict

GOOD = Verdict(Claim("It rains."), "Attributable", 0.8, 0.8, 0.5, "supported")
BAD = Verdict(Claim("It snows."), "Not Attributable", 0.2, 0.8, 0.5, "not_found", error_type="fabrication")


@pytest.mark.parametrize("field", ["score", "confidence", "threshold", "grounded", "stated_confidence"])
@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_probability_outside_its_range_is_rejected_by_name(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=field):
        replace(GOOD, **{field: value})


@pytest.mark.parametrize(
    ("label", "score", "threshold"), [("Attributable", 0.49, 0.5), ("Not Attributable", 0.5, 0.5), ("Maybe", 0.9, 0.5)]
)
def test_a_label_that_does_not_follow_from_score_and_threshold_is_rejected(
    label: str, score: float, threshold: float
) -> None:
    with pytest.raises(ValueError, match="label must be Attributable exactly when"):
        replace(GOOD, label=label, score=score, threshold=threshold)


def test_a_score_that_just_reaches_the_threshold_is_attributable() -> None:
    assert replace(GOOD, score=0.5, confidence=0.5).attributable


def test_an_attributable_claim_has_no_error_type() -> None:
    with pytest.raises(ValueError, match="no error type"):
        replace(GOOD, error_type="fabrication")


@given(verdicts())
def test_confidence_is_the_probability_of_the_label_whatever_the_threshold(verdict: Verdict) -> None:
    assert verdict.confidence == (verdict.score if verdict.attributable else 1 - verdict.score)


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        GOOD.score = 0.9  # type: ignore[misc]


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2)])
def test_a_span_that_ends_before_it_starts_is_rejected(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="0 <= start <= end"):
        Span("x", start, end)


def test_a_report_is_attributable_only_if_every_finding_is_a_supported_claim() -> None:
    failed = Unverified(Claim("x"), "backend", "No answer.")
    findings = {"good": (GOOD, GOOD), "bad": (GOOD, BAD), "failed": (GOOD, failed), "none": ()}
    attributable = {name: Report("", (), found).attributable for name, found in findings.items()}
    assert attributable == {"good": True, "bad": False, "failed": False, "none": False}


def _rollout(mask: tuple[int, ...] = (1, 1), group: str = "g") -> Rollout:
    return Rollout("verifier", (1,), (2, 3), mask, None, "stop", group=group)


def test_a_completion_mask_of_another_length_is_rejected() -> None:
    with pytest.raises(ValueError, match="got 1 and 2"):
        _rollout(mask=(1,))


def test_a_group_with_a_rollout_of_another_group_is_rejected() -> None:
    assert Group("g", "verifier", "group", (_rollout(),)).key == "g"
    for stranger in (_rollout(group="h"), replace(_rollout(), role="solver"), replace(_rollout(), estimator="pair")):
        with pytest.raises(ValueError, match="other groups"):
            Group("g", "verifier", "group", (_rollout(), stranger))


def test_advantages_per_token_are_as_many_as_the_tokens() -> None:
    assert replace(_rollout(), advantage=(0.5, -0.5)).advantage == (0.5, -0.5)
    with pytest.raises(ValueError, match="advantage must be as long as completion_ids, got 1 and 2"):
        replace(_rollout(), advantage=(0.5,))
