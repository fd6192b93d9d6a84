"""The embedded verifier with a calibration made on one's own labels, by ``vouch calibrate --model embedded``.

A calibration keeps the order of the scores, so that the verifier decides by the threshold on its own scale, and its
reasons and fixes stay as they are; score, threshold and confidence are given on the calibrated scale. Not supported: a
calibration for answers to questions; ``vouch rank`` uses those.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vouching.embedded.preference import EmbeddedConfig
from vouching.embedded.verify import EmbeddedVerifier, open_embedded
from vouching.judging.verifier import Outcome, ThresholdConfig
from vouching.types import Claim, Source, Unverified, VerdictWarning

if TYPE_CHECKING:
    from vouching.judging.calibration import Calibration

_HALVINGS = 60


class CalibratedVerifier:
    """An embedded verifier whose scores are calibrated.

    Args:
        verifier: the verifier; its threshold is replaced.
        calibration: maps its scores; None keeps them.
        threshold: calibrated score from which a claim is Attributable.
        notes: warnings for every verdict.
    """

    def __init__(
        self,
        verifier: EmbeddedVerifier,
        calibration: Calibration | None,
        threshold: float,
        notes: Sequence[VerdictWarning] = (),
    ) -> None:
        self.threshold = threshold
        self._verifier, self._calibration, self._notes = verifier, calibration, tuple(notes)
        verifier.threshold = threshold if calibration is None else _raw_threshold(calibration, threshold)

    @property
    def name(self) -> str:
        """As in provenance."""
        return self._verifier.name

    @property
    def decoding(self) -> dict[str, str | float | None]:
        """The digest of weights that do not ship, and the name of the calibration."""
        name = self._calibration.name if self._calibration else None
        return {**(self._verifier.decoding or {}), "calibrator": name}

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One verdict per claim, in order."""
        return [self._calibrated(outcome) for outcome in await self._verifier.verify(claims, sources)]

    async def support(self, text: str, sources: Sequence[Source]) -> float:
        """How much of a text the sources have, in [0, 1]; not calibrated."""
        return await self._verifier.support(text, sources)

    async def aclose(self) -> None:
        """Nothing to release."""

    def _calibrated(self, verdict: Outcome) -> Outcome:
        if isinstance(verdict, Unverified) or self._calibration is None:
            return replace(verdict, warnings=(*verdict.warnings, *self._notes))
        score = self._calibration.calibrator(verdict.score)
        if verdict.attributable and score < self.threshold:  # the calibration never reaches the threshold
            verdict = replace(verdict, label="Not Attributable", score=0.0, relation="not_found")
        elif not verdict.attributable and score >= self.threshold:  # rounding
            score = math.nextafter(self.threshold, 0.0)
        confidence = score if verdict.attributable else 1.0 - score
        if verdict.relation == "conflicting":
            confidence = min(confidence, verdict.confidence)
        names = (verdict.provenance.calibrator, self._calibration.name)
        return replace(
            verdict,
            score=score,
            threshold=self.threshold,
            confidence=confidence,
            warnings=(*verdict.warnings, *self._notes),
            provenance=replace(verdict.provenance, calibrator=", ".join(name for name in names if name)),
        )


def open_calibrated(
    name: str = "embedded", config: ThresholdConfig | None = None
) -> EmbeddedVerifier | CalibratedVerifier:
    """The embedded verifier, with its calibration from ``VOUCH_CALIBRATION`` if there is one.

    The threshold of the calibration replaces the default of .5. Raises as
    :func:`~vouching.embedded.verify.open_embedded`, and ConfigError for an unreadable calibration.
    """
    verifier, settings = open_embedded(name, config), config or EmbeddedConfig()
    if not os.environ.get("VOUCH_CALIBRATION"):
        return verifier  # without loading numpy
    from vouching.judging.calibration import find_calibration, fitting

    found = find_calibration(verifier.name)
    if found is None:
        return verifier
    calibration, notes = fitting(found, verifier.name, digest(verifier))
    chosen = calibration.threshold if calibration else None
    threshold = settings.threshold if chosen is None or settings.threshold != 0.5 else chosen
    return CalibratedVerifier(verifier, calibration, threshold, notes)


def digest(verifier: EmbeddedVerifier, question: bool = False) -> str:
    """What a calibration of an embedded verifier belongs to besides its name: a question, and weights not shipped."""
    learnt = verifier.decoding
    asked = " question" if question else ""
    return f"embedded{asked}" if learnt is None else f"embedded{asked} {learnt['weights']}"


def _raw_threshold(calibration: Calibration, threshold: float) -> float:
    """The lowest score that the calibration maps to ``threshold`` or more; 1 if there is none."""
    low, high = 0.0, 1.0
    if calibration.calibrator(low) >= threshold:
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if calibration.calibrator(middle) >= threshold else (middle, high)
    return high
