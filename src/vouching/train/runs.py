"""Training runs: found in their folders, read, summarised and compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from vouching.errors import InputError
from vouching.text.json_values import parse_json
from vouching.train.checkpoint import MODEL
from vouching.train.monitor import STILL_STEPS, UNITS_WINDOW, WINDOW, Alarm, alarms
from vouching.train.run_folder import RUN, columns_of, read_records
from vouching.types.visible import shorten

EVOLUTION = "evolve"
"""Kind of the folder of ``vouch evolve run``, which has rounds instead of steps."""
_NO_PART = {"total", "std"}
_SUMS = ("energy/", "epoch")
"""Cumulative numbers, by the start of their name: a mean of them has no meaning."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run, as far as it got."""

    name: str
    """Its folder, as it was named."""
    note: Mapping[str, Any]
    """What run.json says: kind, settings, units, split, revision, versions, machine, command."""
    columns: Mapping[str, NDArray[np.float64]]
    """Its numbers by name, one per step."""
    finished: bool
    """Whether there is a model."""

    @property
    def steps(self) -> int:
        """Steps in the log."""
        return len(self.columns["step"]) if "step" in self.columns else 0

    @property
    def settings(self) -> dict[str, Any]:
        """The settings by name; those of a table as ``table.name``."""
        return _flat(self.note.get("settings", {}))

    def alarms(self) -> list[Alarm]:
        """Alarms of all monitors."""
        return alarms(self.columns)

    def watched_from(self) -> dict[int, str]:
        """From which steps on monitors can raise an alarm in this run, and which ones."""
        two = sum(name.startswith("gradient/") for name in self.columns) > 1
        games = any(name == "said/SAC" or name.startswith("case/") for name in self.columns)
        return {
            **({STILL_STEPS: "policy_still"} if two else {}),
            **({2 * UNITS_WINDOW: "challenge_collapse and case_drift"} if games else {}),
            2 * WINDOW: "the others" if two or games else "all",
        }

    def ends(self) -> dict[str, tuple[float, float]]:
        """The mean of each number over the first and over the last steps.

        Means are over twenty steps that have it, in a short run over half of them, so that no step is in both.
        For cumulative numbers: the first and the last value.

        >>> Run("run", {}, {"step": np.arange(1.0, 5.0), "loss": np.array([8.0, 6.0, 4.0, 2.0])}, True).ends()
        {'loss': (7.0, 3.0)}
        """
        found: dict[str, tuple[float, float]] = {}
        for name, series in self.columns.items():
            there = series[np.isfinite(series)]
            if name != "step" and len(there):
                wide = 1 if name.startswith(_SUMS) else max(1, min(WINDOW, len(there) // 2))
                found[name] = (float(there[:wide].mean()), float(there[-wide:].mean()))
        return found

    def summary(self) -> dict[str, Any]:
        """The run as JSON."""
        about = {key: self.note.get(key) for key in ("kind", "revision", "units")}
        ends = {name: {"first": first, "last": last} for name, (first, last) in self.ends().items()}
        found = [asdict(alarm) for alarm in self.alarms()]
        return {
            "run": self.name,
            **about,
            "steps": self.steps,
            "finished": self.finished,
            "alarms": found,
            "numbers": ends,
        }


@dataclass(frozen=True, slots=True)
class Improvement:
    """How a part of the reward improved over a run."""

    part: str
    """``ROLE/PART``."""
    first: float
    """Its mean at first."""
    last: float
    """Its mean at last."""
    half: int | None
    """The step with half of the improvement; None if there is none."""


def read_run(folder: Path) -> Run:
    """Read a run. Raises InputError if there is none, or its files are damaged."""
    note = _note(folder)
    if "kind" not in note:
        command = shorten(str(note.get("command", "another command")), 80)
        raise InputError(f"{folder} contains no run of vouch train: it was written by {command}")
    if note["kind"] == EVOLUTION:
        raise InputError(
            f"{folder} contains a run of vouch evolve: open its fingerprint.html, or list the training runs of its "
            f"rounds with vouch runs list {folder}"
        )
    return _run(folder, note)


def find_runs(root: Path) -> list[Run]:
    """The training runs in a folder and below it, by name. Raises InputError if there is no such folder.

    A ``run.json`` that names no kind of training is skipped, and so is an evolution, which trains in subfolders.
    """
    if not root.is_dir():
        raise InputError(f"the folder {root} does not exist")
    notes = ((path.parent, _note(path.parent)) for path in sorted(root.rglob(RUN)))
    return [_run(folder, note) for folder, note in notes if note.get("kind", EVOLUTION) != EVOLUTION]


def _note(folder: Path) -> dict[str, Any]:
    try:
        note: Any = parse_json((folder / RUN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder} contains no run: choose a folder written by vouch train ... --out") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {folder / RUN} ({error})") from None
    if not isinstance(note, dict):
        raise InputError(f"{folder / RUN} must contain a JSON object that describes a run")
    return cast("dict[str, Any]", note)


def _run(folder: Path, note: dict[str, Any]) -> Run:
    return Run(str(folder), note, columns_of(read_records(folder)), (folder / MODEL).is_dir())


def improvements(run: Run) -> list[Improvement]:
    """The implicit curriculum: which part of the reward improves when, earliest first (SEVA, Fig. 5).

    A part improves if its mean over the last steps exceeds that over the first by two standard errors of the difference
    and by .01. Steps are smoothed over a tenth of the run, at most ``WINDOW``.

    >>> steps = np.arange(1.0, 101.0)
    >>> run = Run("run", {}, {"step": steps, "reward/v/format": steps > 20, "reward/v/chain": steps > 60}, True)
    >>> [(improvement.part, improvement.half) for improvement in improvements(run)]
    [('v/format', 21), ('v/chain', 61)]
    """
    wide = max(1, min(WINDOW, run.steps // 10))
    found: list[Improvement] = []
    for name, series in run.columns.items():
        table, _, part = name.partition("/")
        if table != "reward" or part.rpartition("/")[2] in _NO_PART or not np.isfinite(series).any():
            continue
        known = np.interp(np.arange(run.steps), np.flatnonzero(np.isfinite(series)), series[np.isfinite(series)])
        start, end = known[:wide], known[-wide:]
        first, last = float(start.mean()), float(end.mean())
        error = math.sqrt((start.var() + end.var()) / wide)
        if last - first <= max(0.01, 2 * error):
            found.append(Improvement(part, first, last, None))
            continue
        # Means around each step, over fewer steps at the ends.
        kernel = np.ones(2 * (wide // 2) + 1)
        smooth = np.convolve(known, kernel, "same") / np.convolve(np.ones(run.steps), kernel, "same")
        half = int(run.columns["step"][int(np.argmax(smooth >= (first + last) / 2))])
        found.append(Improvement(part, first, last, half))
    return sorted(found, key=lambda improvement: (improvement.half is None, improvement.half or 0, improvement.part))


def differing(runs: Sequence[Run]) -> dict[str, tuple[Any, ...]]:
    """The settings in which runs differ, with the value of each run; None where a run lacks the setting.

    >>> one, other = Run("a", {"settings": {"kl": 0.0}}, {}, True), Run("b", {"settings": {"kl": 0.1}}, {}, True)
    >>> differing([one, other])
    {'kl': (0.0, 0.1)}
    """
    settings = [run.settings for run in runs]
    names = dict.fromkeys(name for one in settings for name in one)
    values = {name: tuple(one.get(name) for one in settings) for name in names}
    return {name: found for name, found in values.items() if any(value != found[0] for value in found)}


def _flat(settings: Any, place: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in cast("dict[str, Any]", settings).items() if isinstance(settings, dict) else ():
        if isinstance(value, dict):
            found |= _flat(value, f"{place}{name}.")
        else:
            found[f"{place}{name}"] = value
    return found
