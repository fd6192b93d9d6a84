"""Calibrations: fitted on labelled rows, saved with the model, prompt and votes they belong to, and looked up later.

``VOUCH_CALIBRATION`` names a file or a folder of them; the one with the model's name is applied. If the prompt or the
number of votes differs, it is not applied, and the verdict says why. The improvement is measured on held-out rows. Not
supported: several calibrations for one model, which is an error, and selecting the kind; compare the figures of both.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vouching.errors import ConfigError, InputError
from vouching.metrics import auroc, brier, ece
from vouching.metrics.calibrators import MIN_ROWS, Calibrator, CalibratorKind, fit_calibrator, held_out_scores
from vouching.text.json_values import parse_json
from vouching.types import Label, Verdict, VerdictWarning
from vouching.types.visible import shorten

VARIABLE = "VOUCH_CALIBRATION"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """A calibrator and what it belongs to."""

    model: str
    """Name of the model, as in provenance."""
    prompt_hash: str
    """SHA-256 of the prompt."""
    votes: int
    """Answers per question."""
    calibrator: Calibrator
    """From its score to P(Attributable)."""
    measured: Mapping[str, float] = field(default_factory=dict[str, float])
    """Number of rows; ECE and Brier score before, and on held-out rows after calibration; ``confident_from``."""
    threshold: float | None = None
    """Calibrated score from which a claim is Attributable, unless another one than .5 is given; None for .5."""

    @property
    def name(self) -> str:
        """Name for provenance."""
        return self.calibrator.name

    def why_not(self, model: str, prompt_hash: str, votes: int) -> str | None:
        """Why it does not fit, in words; None if it does."""
        if (self.model, self.votes) == (model, votes) and by_token(self.prompt_hash) == prompt_hash:
            return f"the calibration for {model} is for what it states, but here the tokens of its labels were reported"
        if (self.model, self.votes) == (model, votes) and self.prompt_hash == by_token(prompt_hash):
            return f"the calibration for {model} is for the tokens of its labels, which were not reported here"
        pairs = {
            "model": (self.model, model),
            "prompt": (self.prompt_hash[:8], prompt_hash[:8]),
            "votes": (self.votes, votes),
        }
        for what, (made, now) in pairs.items():
            if made != now:
                return f"the calibration for {self.model} was fitted with {what}={made}, but this run uses {what}={now}"
        return None

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps({"format": _FORMAT, **asdict(self)}, indent=1) + "\n", encoding="utf-8")


def by_token(prompt_hash: str) -> str:
    """The hash of a prompt for scores that are the probability of the token that begins a label, in place of stated."""
    return hashlib.sha256(f"{prompt_hash} by token".encode()).hexdigest()


def fitting(
    found: Calibration | None, model: str, prompt_hash: str, votes: int = 1, what: str = "The score is"
) -> tuple[Calibration | None, tuple[VerdictWarning, ...]]:
    """The calibration if it fits, else None and the warning that says why."""
    why_not = found.why_not(model, prompt_hash, votes) if found else None
    if why_not is None:
        return found, ()
    return None, (VerdictWarning("uncalibrated", f"{what} not calibrated: {why_not}."),)


def load_calibration(path: Path) -> Calibration:
    """Read a calibration. Raises ConfigError if the file is missing or is not a calibration."""
    try:
        found: dict[str, Any] = parse_json(path.read_text(encoding="utf-8"))
        if found.pop("format") != _FORMAT:
            raise ValueError(f"expected format {_FORMAT}")
        curve: dict[str, Any] = found.pop("calibrator")
        calibrator = Calibrator(curve["kind"], tuple(curve["at"]), tuple(curve["values"]))
        return Calibration(**found, calibrator=calibrator)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or shorten(str(error), 300) or type(error).__name__
        raise ConfigError(f"{path} is not a calibration file ({reason}): create one with vouch calibrate") from None


def find_calibration(model: str, place: str | None = None) -> Calibration | None:
    """The calibration for a model, by its name; None if there is none.

    ``place`` is a file or a folder of .json files; None for VOUCH_CALIBRATION. Run records of ``vouch calibrate`` in
    the folder (.run.json) are skipped. Raises ConfigError if the place does not exist, a file in it is not a
    calibration, or two are for this model.
    """
    place = place or os.environ.get(VARIABLE) or None
    if place is None:
        return None
    path = Path(place)
    inside = (file for file in path.glob("*.json") if not file.name.endswith(".run.json"))
    files = sorted(inside) if path.is_dir() else [path]
    found = {file: calibration for file in files if (calibration := load_calibration(file)).model == model}
    if len(found) > 1:
        names = " and ".join(map(str, found))
        raise ConfigError(f"{names} are calibrations of the same model, {model}: keep only one of them in {place}")
    return next(iter(found.values()), None)


FOLDS = 5
"""Parts of the rows, each measured with a calibrator fitted on the others."""


@dataclass(frozen=True, slots=True)
class LabelledVerdict:
    """A verdict and the gold label."""

    gold: Label
    verdict: Verdict
    """Uncalibrated."""
    group: str
    """Rows of one group share a document; they are never on both sides of a split."""


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """A scorer's number and the gold label."""

    gold: Label
    score: float
    """Higher is better; any number."""
    group: str
    """Rows of one group share a document; they are never on both sides of a split."""


def calibrate(rows: Sequence[LabelledVerdict], kind: CalibratorKind | None = None) -> Calibration:
    """Fit a calibration on labelled verdicts of one model.

    ``kind`` is "temperature" by default, which changes no label, and "platt" where all verdicts have the same label: a
    line moves the threshold too. Where only some verdicts are scored by the tokens of their labels, the kind of score
    that more of them have is used, and the others are left out.

    ``measured`` is that of :func:`calibrate_scores`. Raises InputError also for verdicts of several models, prompts or
    numbers of votes, and for calibrated ones (the embedded verifier's always are).
    """
    rows = _of_one_kind(rows)
    made = {(r.verdict.provenance.model, r.verdict.provenance.prompt_hash, r.verdict.provenance.votes) for r in rows}
    if len(made) != 1:
        names = "; ".join(f"{name}, prompt {str(prompt)[:8]}, {votes} votes" for name, prompt, votes in sorted(made))
        raise InputError(
            f"expected verdicts of one model with one prompt, got {names or 'no verdicts'}: fit each model separately"
        )
    [(model, prompt_hash, votes)] = made
    done = next((r.verdict.provenance.calibrator for r in rows if r.verdict.provenance.calibrator), None)
    if done is not None or prompt_hash is None:
        remedy = (
            "use verdicts of a language model" if prompt_hash is None else "unset VOUCH_CALIBRATION and check again"
        )
        raise InputError(f"the verdicts of {model} are already calibrated ({done}): {remedy}")
    plain = [LabelledScore(row.gold, row.verdict.score, row.group) for row in rows]
    fitted: CalibratorKind = kind or ("platt" if len({row.verdict.label for row in rows}) == 1 else "temperature")
    return replace(calibrate_scores(model, prompt_hash, plain, fitted, votes), threshold=None)


def _of_one_kind(rows: Sequence[LabelledVerdict]) -> Sequence[LabelledVerdict]:
    """Without the fewer rows, of those with stated scores and those by token for the same prompt."""
    counts = Counter(row.verdict.provenance.prompt_hash or "" for row in rows)
    for prompt in counts:
        if (token := by_token(prompt)) in counts:
            fewer = min(prompt, token, key=counts.__getitem__)
            return [row for row in rows if row.verdict.provenance.prompt_hash != fewer]
    return rows


def calibrate_scores(
    model: str, prompt_hash: str, rows: Sequence[LabelledScore], kind: CalibratorKind = "platt", votes: int = 1
) -> Calibration:
    """Fit a calibration on the numbers of one scorer; "temperature" requires numbers in [0, 1].

    ``measured`` has rows; ece and brier of the numbers as they are, if all are in [0, 1]; by five folds of whole groups
    ece_held_out and brier_held_out, unless a fold leaves too little to fit; and confident_from, see
    :func:`confident_from`. ``threshold`` gives the best balanced accuracy.
    Raises InputError for no rows, too few or with one label only, numbers that are not finite, and numbers that rank
    claims no better than chance (AUROC .5 or less), such as equal ones.
    """
    truth, scores = [row.gold == "Attributable" for row in rows], [row.score for row in rows]
    calibrator = fit_calibrator(kind, truth, scores)
    if (ranked := float(auroc(truth, scores))) <= 0.5:
        equal = f"all {scores[0]:g}" if np.ptp(scores) == 0 else f"not higher for supported claims (AUROC {ranked:.3f})"
        raise InputError(
            f"the {len(rows):,} scores of {model} are {equal}: no calibration can be fitted; use a model whose scores "
            "differ with the label, or look at its verdicts"
        )
    measured = {"rows": float(len(rows))}
    if min(scores) >= 0 and max(scores) <= 1:
        measured |= {"ece": float(ece(truth, scores)), "brier": float(brier(truth, scores))}
    better = calibrator.apply(scores)
    try:
        folds = [int.from_bytes(hashlib.sha256(row.group.encode()).digest()[:4]) % FOLDS for row in rows]
        better = held_out_scores(kind, truth, scores, np.array(folds))
    except InputError:
        pass
    else:
        measured |= {"ece_held_out": float(ece(truth, better)), "brier_held_out": float(brier(truth, better))}
    measured["confident_from"] = confident_from(truth, better)
    return Calibration(model, prompt_hash, votes, calibrator, measured, best_threshold(truth, better))


MAX_ERROR = 0.05
"""Share of wrong labels that a cascade accepts from a model before the last."""


def confident_from(truth: ArrayLike, probabilities: ArrayLike) -> float:
    """The lowest confidence from which at most ``MAX_ERROR`` of the labels are wrong, among 20 rows or more.

    1.0 if there is none.

    >>> confident_from([True] * 40 + [False] * 20, [0.9] * 40 + [0.6] * 20)
    0.9
    """
    probability = np.asarray(probabilities, np.float64)
    right = (probability >= 0.5) == np.asarray(truth, bool)
    confidence = np.maximum(probability, 1.0 - probability)
    for lowest in np.unique(confidence):
        kept = right[confidence >= lowest]
        if len(kept) >= MIN_ROWS and 1.0 - kept.mean() <= MAX_ERROR:
            return float(lowest)
    return 1.0


def best_threshold(truth: ArrayLike, probabilities: ArrayLike) -> float:
    """The threshold with the highest balanced accuracy; of several, the one nearest to one half.

    >>> best_threshold([True, True, False, False], [0.4, 0.3, 0.2, 0.1])
    0.25
    """
    gold, probability = np.asarray(truth, bool), np.asarray(probabilities, np.float64)
    levels = np.unique(probability)
    tried = np.unique([0.5, *((levels[1:] + levels[:-1]) / 2)])
    accuracy = [((probability >= t)[gold].mean() + (probability < t)[~gold].mean()) / 2 for t in tried]
    best = tried[np.asarray(accuracy) >= max(accuracy) - 1e-12]
    return float(best[np.abs(best - 0.5).argmin()])
