"""Verdicts that are not sure enough to act on: they become Unverified, which keeps them, and a person decides."""

from __future__ import annotations

from collections.abc import Iterable

from vouching.claims.fixes import with_safe_fixes
from vouching.errors import ConfigError
from vouching.judging.verifier import Outcome
from vouching.types import Unverified, Verdict


def check_min_confidence(min_confidence: object) -> float:
    """The minimum confidence. Raises ConfigError outside [0, 1]."""
    if not isinstance(min_confidence, (int, float)) or not 0.0 <= min_confidence <= 1.0:
        raise ConfigError(f"min_confidence must be in [0, 1], got {min_confidence!r}")
    return float(min_confidence)


def decided(outcomes: Iterable[Outcome], min_confidence: float) -> list[Outcome]:
    """The outcomes with safe fixes, and Unverified(reason="undecided") for verdicts below the minimum confidence.

    >>> from vouching.types import Claim
    >>> [outcome] = decided([Verdict(Claim("It rained."), "Attributable", 0.55, 0.55, 0.5, "supported")], 0.7)
    >>> outcome.reason, outcome.message
    ('undecided', 'Attributable with a confidence of 0.55, below the minimum of 0.7: compare it with its sources.')
    >>> outcome.verdict.label
    'Attributable'
    """
    fixed = with_safe_fixes(outcomes)
    return [_undecided(one, min_confidence) if _is_unsure(one, min_confidence) else one for one in fixed]


def _is_unsure(outcome: Outcome, min_confidence: float) -> bool:
    return isinstance(outcome, Verdict) and outcome.confidence < min_confidence


def _undecided(outcome: Outcome, min_confidence: float) -> Unverified:
    assert isinstance(outcome, Verdict)
    message = (
        f"{outcome.label} with a confidence of {outcome.confidence:.2g}, below the minimum of {min_confidence:g}: "
        "compare it with its sources."
    )
    return Unverified(outcome.claim, "undecided", message, outcome.warnings, outcome.usage, outcome)
