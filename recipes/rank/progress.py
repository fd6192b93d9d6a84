"""The progress and the log of a training run that is no game: lines of losses and evaluations in ``log.jsonl``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from vouching.errors import InputError
from vouching.text.json_values import parse_json
from vouching.train.run_folder import LOG


class Progress:
    """Reports the progress of a run and keeps its log.

    Args:
        out: the folder of the run.
        done: steps already done; later lines of the log are dropped.
        steps: steps in all.
        say: takes a line of progress.
    """

    def __init__(self, out: Path, done: int, steps: int, say: Callable[[str], None]) -> None:
        self._path, self._steps, self._say = out / LOG, steps, say
        self._step = self._first = done
        self._lines: list[str] = []
        self._unlogged: list[Mapping[str, float]] = []
        self._pairs = 0
        self._started = self._since = time.monotonic()
        kept = [line for line in self._read() if parse_json(line)["step"] <= done]
        self._path.write_text("".join(kept), encoding="utf-8")

    def count(self, step: int, pairs: int, losses: Mapping[str, float]) -> None:
        """Log one step over ``pairs`` pairs (of claim and window, or of answers)."""
        self._step, self._pairs = step, self._pairs + pairs
        self._lines.append(json.dumps({"step": step, **{name: round(x, 6) for name, x in losses.items()}}) + "\n")
        self._unlogged.append(losses)

    def report_losses(self) -> None:
        """Report the mean losses since the last report, with speed and time left."""
        means = {name: sum(step[name] for step in self._unlogged) / len(self._unlogged) for name in self._unlogged[0]}
        parts = " ".join(f"{name} {value:.3f}" for name, value in means.items() if value or name == "total")
        now = time.monotonic()
        speed = self._pairs / max(1e-9, now - self._since)
        left = (now - self._started) / (self._step - self._first) * (self._steps - self._step)
        self._unlogged.clear()
        self._pairs, self._since = 0, now
        self._say(f"step {self._step:,} of {self._steps:,}: {parts}; {speed:.3g} pairs/s, {left / 60:.0f} min left")

    def log_scores(self, step: int, scores: Mapping[str, Mapping[str, float]], shown: str) -> None:
        """Log an evaluation, and report ``shown``."""
        self._lines.append(json.dumps({"step": step, "scores": scores}) + "\n")
        self._say(f"step {step:,}: {shown}")
        self._since = time.monotonic()

    def flush(self) -> None:
        """Append what was logged to the file. Raises InputError if it cannot be written."""
        try:
            with self._path.open("a", encoding="utf-8") as log:
                log.writelines(self._lines)
        except OSError as error:
            raise InputError(
                f"cannot write {self._path} ({error}): free some space and continue with --resume"
            ) from error
        self._lines.clear()

    def _read(self) -> list[str]:
        """Complete lines of the log so far."""
        if not self._path.exists():
            return []
        with self._path.open(encoding="utf-8") as log:
            return [line for line in log if line.endswith("\n")]
