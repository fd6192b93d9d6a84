# pyright: basic
"""The folder of a training run: its settings and its log.

    OUT/metrics.jsonl       {"step": 7, "reward/verifier/total": .61, ...}
    OUT/transcripts.jsonl   {"step": 7, "role": "verifier", "text": "...", ...}

A line is appended when its step is done and never changed. A run that resumes from a checkpoint first removes later
lines, so that the log has every step once. Names of the numbers, where a run has them:

    loss, learning_rate, grad_norm, entropy, kl            of the update
    reward/ROLE/total, reward/ROLE/PART                    means of the reward and of every part
    reward/ROLE/std                                        mean standard deviation inside groups that are compared
    advantage/ROLE/least, advantage/ROLE/greatest          range of the advantages
    groups/ROLE/count, groups/ROLE/flat, groups/dropped    groups; share with equal rewards; groups without two rewards
    groups/ROLE/top, groups/ROLE/stuck                     share with equal rewards that are (nearly) the highest, and
                                                           that are lower; where a game states its highest reward
    length/ROLE/mean, length/ROLE/cut                      tokens of a completion; share truncated at the limit
    length/ROLE/thought                                    share whose thought was cut off: not trained on
    positions/computed                                     share of prompt and completion columns that pieces keep
    pairs/stopped                                          share of pairs that a margin stops
    judge/failed                                           rollouts whose judge failed: without a reward, never 0
    readable, not_attributable/said, not_attributable/gold shares of the replies
    yes/gold_negative, yes/gold_positive, yes/rule_negative share of yes on items whose answer is known
    gap/rules, replay/size, blank                          credit beyond the rules of a row; examples kept for replay;
                                                           share of responses without a word
    gradient/POLICY                                        norm of the gradient, where there are several policies
    case/NAME, said/ACTION, readable/ROLE, quality, tokens of units of work: see methods.assurance.game.measures_of
    oracle/NAME                                            what an oracle measures; higher is better
    dev/NAME                                               on held-out rows; not in every step
    time/step, time/all                                    seconds of the update; since the last step, scoring included
    energy/device_hours, energy/kwh, energy/kg_co2e        since the run began

Energy is an estimate: thermal design power x hours x devices x PUE x carbon intensity, as if every device ran at full
power all the time; the factors are among the run's settings. Time lost by an interrupted run is not counted. Only the
first process writes.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.errors import InputError
from vouching.methods.training import PowerSettings
from vouching.text.json_values import parse_json

RUN, LOG = "run.json", "log.jsonl"
_WHERE = {"device", "threads"}
"""Settings that may differ when a run resumes; ``max_steps`` may grow, which extends the run."""
_PARTS = {"settings": "settings", "units": "numbers of rows", "split": "data"}
"""Parts of ``run.json`` in messages."""
_PACKAGES = (
    "vouching",
    "torch",
    "transformers",
    "tokenizers",
    "trl",
    "peft",
    "accelerate",
    "onnx",
    "onnxruntime",
    "numpy",
)


def open_run(out: Path, config: Any, units: Mapping[str, int], split: Mapping[str, str], resume: bool) -> None:
    """Make the folder of a run, or check that it holds the run to resume.

    Args:
        out: the folder.
        config: the dataclass of its settings.
        units: training units per set.
        split: digests of what is trained on and held out; added to a run that has not recorded them.
        resume: whether to resume a run that is there.

    Raises:
        InputError: the folder holds a run and ``resume`` is false, a run with other settings or data, or something
            else; or it cannot be written.
    """
    asked = parse_json(json.dumps({"settings": asdict(config), "units": dict(units), "split": dict(split)}))
    note, kind = out / RUN, type(config).__name__.removesuffix("Config").removesuffix("Run").lower()
    try:
        # The remains of a run that ended before its first step, for example for lack of rows, are not a run.
        if note.exists() and (resume or any(path.is_file() for path in out.rglob("*") if path != note)):
            if not resume:
                raise InputError(f"{out} contains a run: continue it with --resume, or choose another folder")
            kept = parse_json(note.read_text(encoding="utf-8"))
            if kept.get("kind", kind) != kind:
                raise InputError(f"{out} contains a run of another kind ({kept['kind']}): choose another folder")
            found = {"split": asked["split"], **kept}
            if 0 < found["settings"].get("max_steps", 0) < asked["settings"].get("max_steps", 0):
                found["settings"] = {**found["settings"], "max_steps": asked["settings"]["max_steps"]}
            for part, wanted in asked.items():
                if differing := [*_differing(wanted, found[part])]:
                    raise InputError(
                        f"{out} contains a run with different {_PARTS[part]} ({', '.join(differing)}): use the same "
                        f"{_PARTS[part]}, or choose another folder"
                    )
            if found != kept:
                note.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            return
        if not note.exists() and out.is_dir() and (others := sorted(out.iterdir())):
            raise InputError(f"{out} is not empty (it contains {others[0].name}): choose a new folder for the run")
        out.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps({"kind": kind, **asked, **surroundings()}, indent=1) + "\n", encoding="utf-8")
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{out} cannot be used ({error}): choose another folder") from error


def log_to(report: Callable[[str], None] | None, first: bool = True) -> Callable[[str], None]:
    """Where lines of progress go: ``report``, else standard error; nowhere except in the first process."""
    if not first:
        return lambda line: None
    return report or (lambda line: print(line, file=sys.stderr, flush=True))  # noqa: T201


def digest_of_lines(lines: Iterable[str]) -> str:
    """SHA-256 of lines, in whatever order they come.

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


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _differing(wanted: Mapping[str, Any], found: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Names of the settings that differ, those in tables with the table's name."""
    for key in sorted({**wanted, **found}.keys() - (set() if place else _WHERE)):
        one, other = wanted.get(key), found.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differing(one, other, f"{place}{key}.")
        elif one != other:
            yield place + key


METRICS, TRANSCRIPTS = "metrics.jsonl", "transcripts.jsonl"
Record: TypeAlias = Mapping[str, float]
"""The numbers of one step by name; NaN where a number is undefined."""
Columns: TypeAlias = Mapping[str, NDArray[np.float64]]
"""The numbers of a run by name, one per step; NaN where a step has none."""


class RunLog:
    """Writes the log of a run.

    Args:
        folder: the folder of the run.
        done: steps that the checkpoint has done; lines of later steps are removed.
        power: for the estimate of energy.
        devices: how many run at once.
        device: their type, as torch names it.
        writes: whether this process writes; the others only keep the numbers.

    Raises:
        InputError: the log lacks steps that the checkpoint has done, or cannot be read or written.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> log = RunLog(folder)
    >>> _ = log.write({"loss": 0.5, "time/step": 36.0}, [{"role": "verifier", "text": "..."}])
    >>> read_records(folder)[0]["energy/kwh"]  # 300 W for .01 h with a PUE of 1.4
    0.0042
    >>> log = RunLog(folder, done=0)  # the run was killed before its first checkpoint
    >>> read_records(folder)
    []
    """

    def __init__(
        self,
        folder: Path,
        done: int = 0,
        power: PowerSettings | None = None,
        devices: int = 1,
        writes: bool = True,
        device: str = "cuda",
    ) -> None:
        self._folder, self._power, self._devices, self._writes = folder, power or PowerSettings(), devices, writes
        self._device = device
        try:
            for name in (METRICS, TRANSCRIPTS) if writes else ():
                _cut(folder / name, done)
            self.records: list[Record] = [one for one in read_records(folder) if one["step"] <= done]
            """What is in the log."""
        except OSError as error:
            raise InputError(f"cannot open the log in {folder} ({error}): check that the folder is writable") from error
        steps = [int(record["step"]) for record in self.records]
        if steps != [*range(1, done + 1)]:
            raise InputError(
                f"{folder / METRICS} has {len(steps):,} steps, but the checkpoint has {done:,}: start the run again"
            )

    def write(self, record: Record, transcripts: Sequence[Mapping[str, Any]] = ()) -> Record:
        """Append the next step, with the energy so far if the record has its time, and return the record as written.

        Args:
            record: numbers by name; ``step``, if present, must be the next. Energy is that of ``time/all``, or of
                ``time/step`` without it.
            transcripts: texts of some rollouts, with what is known about them.

        Raises:
            InputError: another step, or the log cannot be written and is then unchanged.
        """
        step = len(self.records) + 1
        if (given := int(record.get("step", step))) != step:
            raise InputError(f"step {given} cannot be logged after step {step - 1}")
        before = self.records[-1].get("energy/device_hours", 0.0) if self.records else 0.0
        hours = before + record.get("time/all", record.get("time/step", 0.0)) * self._devices / 3600
        kwh = self._power.kwh(hours, self._device)
        energy = {"energy/device_hours": hours, "energy/kwh": kwh, "energy/kg_co2e": kwh * self._power.intensity}
        whole = {"step": step} | {
            name: _rounded(value) for name, value in {**record, **energy}.items() if name != "step"
        }
        if self._writes:
            # The metrics last: they make the step count as logged.
            self._append(TRANSCRIPTS, [{"step": step, **one} for one in transcripts])
            self._append(METRICS, [{name: _defined(value) for name, value in whole.items()}])
        self.records.append(whole)
        return whole

    def _append(self, name: str, lines: Sequence[Mapping[str, Any]]) -> None:
        if not lines:
            return
        path = self._folder / name
        whole = path.stat().st_size if path.exists() else 0
        try:
            with path.open("ab") as file:
                file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())
        except OSError as error:
            _truncate(path, whole)
            raise InputError(f"cannot write {path} ({error}): free some space and continue with --resume") from error


def read_records(folder: Path) -> list[Record]:
    """The numbers of a run, step by step; an incomplete last line, which an interrupted run may leave, is ignored.

    Runs that keep ``log.jsonl`` instead (``recipes/rank``, ``recipes/encoder``) are read too: a step's losses are
    ``loss`` and ``loss/NAME``.

    Raises:
        InputError: a line does not belong to a log.
    """
    if (folder / METRICS).exists():
        return [
            {name: math.nan if value is None else value for name, value in line.items()}
            for line in read_lines(folder / METRICS)
        ]
    return [
        {
            ("loss" if name == "total" else f"loss/{name}" if name != "step" else name): value
            for name, value in line.items()
        }
        for line in read_lines(folder / LOG)
        if "scores" not in line
    ]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The complete lines of a log; none if there is no file. Raises InputError for a line that is not an object."""
    if not path.exists():
        return []
    lines: list[dict[str, Any]] = []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                lines.append({**parse_json(line)})
            except (ValueError, TypeError):
                raise InputError(
                    f"{path}, line {number} must be a JSON object, got {line[:80].decode(errors='replace')!r}"
                ) from None
    return lines


def columns_of(records: Sequence[Record]) -> dict[str, NDArray[np.float64]]:
    """The same numbers by name.

    >>> {name: column.tolist() for name, column in columns_of([{"step": 1, "kl": 0.0}, {"step": 2}]).items()}
    {'step': [1.0, 2.0], 'kl': [0.0, nan]}
    """
    names = dict.fromkeys(name for record in records for name in record)
    return {name: np.array([record.get(name, math.nan) for record in records], dtype=float) for name in names}


def _cut(path: Path, done: int) -> None:
    """Remove what came after step ``done``, and an incomplete last line."""
    if not path.exists():
        return
    kept = 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n") or parse_json(line)["step"] > done:
                break
            kept += len(line)
    _truncate(path, kept)


def _truncate(path: Path, size: int) -> None:
    if path.exists() and path.stat().st_size > size:
        with path.open("r+b") as file:
            file.truncate(size)


def _rounded(value: float) -> float:
    """Seven digits: more are noise, and lines should be short."""
    return float(f"{value:.7g}")


def _defined(value: float) -> float | None:
    return value if math.isfinite(value) else None
