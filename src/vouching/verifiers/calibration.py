"""Calibrations on disk: which model, prompt and number of votes a calibrator was fitted for, and finding it again.

``VOUCH_CALIBRATION`` names a file, or a folder of them; the one for the model is applied, by the model's name. Where
the prompt or the number of votes differs it is not, and the verdict says why. Left out: choosing among several for one
model; that is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError
from vouching.metrics.calibrators import Calibrator

VARIABLE = "VOUCH_CALIBRATION"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """A calibrator and what it belongs to.

    >>> made = Calibration("http://host/v1#m", "abc", 1, Calibrator("temperature", (2.0,)))
    >>> made.why_not("http://host/v1#m", "abc", 5)
    'the calibration for http://host/v1#m was made with votes 1, now it is 5'
    """

    model: str
    """Name of the model, as in provenance."""
    prompt_hash: str
    """SHA-256 of the prompt."""
    votes: int
    """Answers per question."""
    calibrator: Calibrator
    """From its score to P(Attributable)."""
    measured: Mapping[str, float] = field(default_factory=dict[str, float])
    """What was measured when it was made: rows, ECE and Brier score before and, on held-out rows, after."""

    @property
    def name(self) -> str:
        """Name for provenance."""
        return self.calibrator.name

    def why_not(self, model: str, prompt_hash: str, votes: int) -> str | None:
        """Why it does not fit, in words; None if it does."""
        pairs = {
            "model": (self.model, model), "prompt": (self.prompt_hash[:8], prompt_hash[:8]),
            "votes": (self.votes, votes),
        }  # fmt: skip
        for what, (made, now) in pairs.items():
            if made != now:
                return f"the calibration for {self.model} was made with {what} {made}, now it is {now}"
        return None

    def save(self, path: Path) -> None:
        """Write it as JSON. Raises OSError."""
        path.write_text(json.dumps({"format": _FORMAT, **asdict(self)}, indent=1) + "\n", encoding="utf-8")


def load_calibration(path: Path) -> Calibration:
    """Read a calibration. Raises ConfigError if the file is not there or is none."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found.pop("format") != _FORMAT:
            raise ValueError(f"wanted format {_FORMAT}")
        curve: dict[str, Any] = found.pop("calibrator")
        calibrator = Calibrator(curve["kind"], tuple(curve["at"]), tuple(curve["values"]))
        return Calibration(**found, calibrator=calibrator)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ConfigError(f"{path} is no calibration ({reason}): make one with vouch calibrate") from None


def find_calibration(model: str, place: str | None = None) -> Calibration | None:
    """The calibration for a model, by its name.

    Args:
        model: the name.
        place: a file or a folder of .json files; None for what VOUCH_CALIBRATION says. The notes of runs that
            ``vouch calibrate`` leaves in the folder (.run.json) are passed over.

    Returns:
        None if nothing is named, or nothing there is for this model.

    Raises:
        ConfigError: there is no such place, a file of it is no calibration, or two are for this model.
    """
    place = place or os.environ.get(VARIABLE) or None
    if place is None:
        return None
    path = Path(place)
    there = (file for file in path.glob("*.json") if not file.name.endswith(".run.json"))
    files = sorted(there) if path.is_dir() else [path]
    found = {file: calibration for file in files if (calibration := load_calibration(file)).model == model}
    if len(found) > 1:
        names = " and ".join(map(str, found))
        raise ConfigError(f"{names} are both for {model}: keep one of them in {place}")
    return next(iter(found.values()), None)
