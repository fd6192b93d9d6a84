# pyright: basic
"""The folder of a training run: what was asked for, and the log that grows beside the checkpoint.

Lines of the log are written just before a checkpoint is: a killed run goes on without a gap or a doubled line. What
happened since then is told as progress. Left out: comparing and plotting runs.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from vouching.errors import InputError

RUN, LOG = "run.json", "log.jsonl"
_WHERE = {"device", "threads"}
"""Settings that say where a run goes on, not what it is."""
_PACKAGES = ("vouching", "torch", "transformers", "tokenizers", "trl", "peft", "accelerate", "onnx", "onnxruntime",
             "numpy")  # fmt: skip


def open_run(out: Path, config: Any, units: Mapping[str, int], split: Mapping[str, str], resume: bool) -> None:
    """Make the folder of a run, or see that it is the one to go on with.

    Args:
        out: the folder.
        config: the dataclass of its settings.
        units: what it learns from, counted by set.
        split: digests of what is trained on and held out. A run of a version that did not record them gets them now.
        resume: whether to go on with a run that is there.

    Raises:
        InputError: it holds a run and ``resume`` is not wanted, or a run with other settings or data, or something
            else; or it cannot be written.
    """
    asked = json.loads(json.dumps({"settings": asdict(config), "units": dict(units), "split": dict(split)}))
    note, kind = out / RUN, type(config).__name__.removesuffix("Config").removesuffix("Run").lower()
    try:
        # What a run left that ended before its first step, for want of rows perhaps, is no run.
        if note.exists() and (resume or any(path.is_file() for path in out.rglob("*") if path != note)):
            if not resume:
                raise InputError(f"{out} holds a run: go on with it by --resume, or name another folder")
            kept = json.loads(note.read_text(encoding="utf-8"))
            if kept.get("kind", kind) != kind:
                raise InputError(f"{out} holds a run of another kind ({kept['kind']}): name another folder")
            found = {"split": asked["split"], **kept}
            for part, wanted in asked.items():
                if differing := [*_differing(wanted, found[part])]:
                    raise InputError(
                        f"{out} holds a run with other {part} ({', '.join(differing)}): ask for the same, or name "
                        "another folder"
                    )
            if found != kept:
                note.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            return
        if not note.exists() and out.is_dir() and (others := sorted(out.iterdir())):
            raise InputError(f"{out} is not empty (it holds {others[0].name}): name a new folder for the run")
        out.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps({"kind": kind, **asked, **surroundings()}, indent=1) + "\n", encoding="utf-8")
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{out} cannot be used ({error}): name another folder") from error


def digest_of_lines(lines: Iterable[str]) -> str:
    """SHA-256 of what a run learns from, a line for each piece, in whatever order they come.

    >>> digest_of_lines(["a", "b"]) == digest_of_lines(["b", "a"]) != digest_of_lines(["a"])
    True
    """
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def surroundings() -> dict[str, Any]:
    """Revision of the code, versions of packages, and the machine."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        revision = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        revision = "unknown"
    return {
        "revision": revision,
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}},
        "machine": f"{platform.system()} {platform.machine()}",
        "command": sys.argv[1:],
    }


class Progress:
    """Tells how a run goes and keeps its log.

    Args:
        out: the folder of the run.
        done: steps that were done before; lines of the log after them are dropped.
        steps: steps in all.
        say: takes a line of progress.
    """

    def __init__(self, out: Path, done: int, steps: int, say: Callable[[str], None]) -> None:
        self._path, self._steps, self._say = out / LOG, steps, say
        self._step = self._first = done
        self._lines: list[str] = []
        self._untold: list[Mapping[str, float]] = []
        self._pairs = 0
        self._started = self._since = time.monotonic()
        kept = [line for line in self._read() if json.loads(line)["step"] <= done]
        self._path.write_text("".join(kept), encoding="utf-8")

    def count(self, step: int, pairs: int, losses: Mapping[str, float]) -> None:
        """Log one step, over so many pairs: of claim and window, or of answers."""
        self._step, self._pairs = step, self._pairs + pairs
        self._lines.append(json.dumps({"step": step, **{name: round(x, 6) for name, x in losses.items()}}) + "\n")
        self._untold.append(losses)

    def tell_losses(self) -> None:
        """Tell the mean losses since the last time, with speed and time left."""
        means = {name: sum(step[name] for step in self._untold) / len(self._untold) for name in self._untold[0]}
        parts = " ".join(f"{name} {value:.3f}" for name, value in means.items() if value or name == "total")
        now = time.monotonic()
        speed = self._pairs / max(1e-9, now - self._since)
        left = (now - self._started) / (self._step - self._first) * (self._steps - self._step)
        self._untold.clear()
        self._pairs, self._since = 0, now
        self._say(f"step {self._step:,} of {self._steps:,}: {parts}; {speed:.3g} pairs/s, {left / 60:.0f} min left")

    def log_scores(self, step: int, scores: Mapping[str, Mapping[str, float]], shown: str) -> None:
        """Log an evaluation, and tell what is ``shown`` of it."""
        self._lines.append(json.dumps({"step": step, "scores": scores}) + "\n")
        self._say(f"step {step:,}: {shown}")
        self._since = time.monotonic()

    def flush(self) -> None:
        """Append what was logged to the file. Raises InputError if it cannot be written."""
        try:
            with self._path.open("a", encoding="utf-8") as log:
                log.writelines(self._lines)
        except OSError as error:
            raise InputError(f"cannot write {self._path} ({error}): make room and go on with --resume") from error
        self._lines.clear()

    def _read(self) -> list[str]:
        """Whole lines of the log so far."""
        if not self._path.exists():
            return []
        with self._path.open(encoding="utf-8") as log:
            return [line for line in log if line.endswith("\n")]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _differing(wanted: Mapping[str, Any], found: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """The names of what is not the same, those in tables with the table's."""
    for key in sorted({**wanted, **found}.keys() - (set() if place else _WHERE)):
        one, other = wanted.get(key), found.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differing(one, other, f"{place}{key}.")
        elif one != other:
            yield place + key
