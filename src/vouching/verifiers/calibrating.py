"""From labelled rows and finished verdicts or scores to a calibration, and what it gains on rows it was not fitted on.

Left out: choosing between the kinds; compare the figures of both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vouching.errors import InputError
from vouching.metrics import brier, ece
from vouching.metrics.calibrators import CalibratorKind, fit_calibrator, held_out_scores
from vouching.types import Label, Verdict
from vouching.verifiers.calibration import Calibration

FOLDS = 5
"""Parts of the rows, each measured with a calibrator that was fitted on the others."""


@dataclass(frozen=True, slots=True)
class LabelledVerdict:
    """A verdict and what is right."""

    gold: Label
    """The label that an annotator gave."""
    verdict: Verdict
    """What the language model made of the claim, not calibrated."""
    group: str
    """Rows of one group share a document; they are never on both sides of a measurement."""


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """A scorer's own number and what is right."""

    gold: Label
    """The label that an annotator gave."""
    score: float
    """Higher is better; any number."""
    group: str
    """Rows of one group share a document; they are never on both sides of a measurement."""


def calibrate(rows: Sequence[LabelledVerdict], kind: CalibratorKind = "temperature") -> Calibration:
    """Fit a calibration on labelled verdicts of one model.

    Returns:
        The calibration, fitted on all rows. ``measured`` has rows, ece and brier, and, by five folds of whole groups,
        ece_held_out and brier_held_out; these two are left out where a fold leaves too little to fit.

    Raises:
        InputError: no rows, too few or with one label only, verdicts of several models, prompts or numbers of votes,
            or verdicts that are calibrated already (the embedded verifier's always are).
    """
    made = {(r.verdict.provenance.model, r.verdict.provenance.prompt_hash, r.verdict.provenance.votes) for r in rows}
    if len(made) != 1:
        names = "; ".join(f"{name}, prompt {str(prompt)[:8]}, {votes} votes" for name, prompt, votes in sorted(made))
        raise InputError(f"wanted verdicts of one model with one prompt, got {names or 'none'}: fit each on its own")
    [(model, prompt_hash, votes)] = made
    done = next((r.verdict.provenance.calibrator for r in rows if r.verdict.provenance.calibrator), None)
    if done is not None or prompt_hash is None:
        remedy = "take those of a language model" if prompt_hash is None else "check without VOUCH_CALIBRATION"
        raise InputError(f"the verdicts of {model} are calibrated already ({done}): {remedy}")
    plain = [LabelledScore(row.gold, row.verdict.score, row.group) for row in rows]
    fitted = calibrate_scores(model, prompt_hash, plain, kind, votes)
    truth, scores = [row.gold == "Attributable" for row in rows], [row.score for row in plain]
    before = {"ece": float(ece(truth, scores)), "brier": float(brier(truth, scores))}
    return replace(fitted, measured={"rows": float(len(rows)), **before, **fitted.measured})


def calibrate_scores(
    model: str, prompt_hash: str, rows: Sequence[LabelledScore], kind: CalibratorKind = "platt", votes: int = 1
) -> Calibration:
    """Fit a calibration on the numbers of one scorer.

    Args:
        model: its name.
        prompt_hash: of the form of its input.
        rows: its numbers, with labels.
        kind: "platt" or "isotonic"; "temperature" where the numbers lie in [0, 1].
        votes: answers per number.

    Returns:
        The calibration, fitted on all rows. ``measured`` has rows and, by five folds of whole groups, ece_held_out and
        brier_held_out; these two are left out where a fold leaves too little to fit.

    Raises:
        InputError: no rows, too few or with one label only, numbers that are not finite.

    >>> rows = [LabelledScore("Attributable" if n % 4 else "Not Attributable", n % 4, str(n)) for n in range(40)]
    >>> fitted = calibrate_scores("discriminative:/m", "abc", rows)
    >>> fitted.calibrator(0.0) < 0.5 < fitted.calibrator(3.0)
    True
    """
    truth, scores = [row.gold == "Attributable" for row in rows], [row.score for row in rows]
    calibrator = fit_calibrator(kind, truth, scores)
    measured = {"rows": float(len(rows))}
    try:
        better = held_out_scores(kind, truth, scores, np.array([_fold(row.group) for row in rows]))
    except InputError:
        pass
    else:
        measured |= {"ece_held_out": float(ece(truth, better)), "brier_held_out": float(brier(truth, better))}
    return Calibration(model, prompt_hash, votes, calibrator, measured)


def _fold(group: str) -> int:
    return int.from_bytes(hashlib.sha256(group.encode()).digest()[:4]) % FOLDS
