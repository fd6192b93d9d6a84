"""The log of a run: one line of numbers per step, and the texts of a few rollouts beside it.

    OUT/metrics.jsonl       {"step": 7, "reward/verifier/total": .61, ...}
    OUT/transcripts.jsonl   {"step": 7, "role": "verifier", "text": "...", ...}

A line is appended when its step is done and never changed. A run that goes on from a checkpoint cuts off what came
after it, so that the log has every step once. Names, where a run has such a thing:

    loss, learning_rate, grad_norm, entropy, kl            of the update
    reward/ROLE/total, reward/ROLE/PART                    means of the reward and of every part
    reward/ROLE/deviation                                  mean standard deviation inside groups that are compared
    advantage/ROLE/least, advantage/ROLE/greatest          ends of the advantages
    groups/ROLE/count, groups/ROLE/flat, groups/dropped    groups; share with equal rewards; groups without two rewards
    groups/ROLE/top, groups/ROLE/stuck                     share with the highest rewards, or nearly; share with equal
                                                           ones that are lower; where a game says what the highest is
    length/ROLE/mean, length/ROLE/cut                      tokens of a completion; share cut off at the limit
    judge/failed                                           rollouts whose judge failed: without a reward, never 0
    readable, not_attributable/said, not_attributable/gold shares of the replies
    yes/gold_negative, yes/gold_positive, yes/rule_negative answers of yes to items whose answer is known
    gap/rules, replay/size, blank                          credit beyond the rules of a row; examples kept for replay;
                                                           share of responses without a word
    gradient/POLICY                                        norm of the gradient, where there are several policies
    case/NAME, said/ACTION, readable/ROLE, quality, tokens of units of work: see games.assurance_unit.measures_of
    oracle/NAME                                            what an oracle measures, the higher the better
    dev/NAME                                               on rows that are only scored; not in every step
    time/step, time/all                                    seconds of the update; since the step before, scoring too
    energy/device_hours, energy/kwh, energy/kg_co2e        since the run began

Energy is an estimate: thermal design power x hours x devices x PUE x carbon intensity, as if every device ran at full
power all the time; the factors are among the run's settings. Time that a killed run lost is not in it. Left out: a
log that several processes write; the first one does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.errors import InputError
from vouching.train.run_config import PowerSettings

METRICS, TRANSCRIPTS = "metrics.jsonl", "transcripts.jsonl"
Record: TypeAlias = Mapping[str, float]
"""The numbers of one step by name; NaN where a number is undefined."""
Columns: TypeAlias = Mapping[str, NDArray[np.float64]]
"""The numbers of a run by name, one per step; NaN where a step has none."""


class RunLog:
    """Writes the log of a run.

    Args:
        folder: the folder of the run.
        done: steps that the checkpoint has done; lines of later steps are cut off.
        power: what energy is estimated from.
        devices: how many run at once.
        writes: whether this process writes; the others keep the numbers only.

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
        self, folder: Path, done: int = 0, power: PowerSettings | None = None, devices: int = 1, writes: bool = True
    ) -> None:
        self._folder, self._power, self._devices, self._writes = folder, power or PowerSettings(), devices, writes
        try:
            for name in (METRICS, TRANSCRIPTS) if writes else ():
                _cut(folder / name, done)
            self.records: list[Record] = [one for one in read_records(folder) if one["step"] <= done]
            """What is in the log."""
        except OSError as error:
            raise InputError(f"the log in {folder} cannot be used ({error}): see that it can be written") from error
        steps = [int(record["step"]) for record in self.records]
        if steps != [*range(1, done + 1)]:
            raise InputError(
                f"{folder / METRICS} has {len(steps):,} steps and the checkpoint {done:,}: begin the run again"
            )

    def write(self, record: Record, transcripts: Sequence[Mapping[str, Any]] = ()) -> Record:
        """Append the next step, with the energy so far where the record says how long it took.

        Args:
            record: numbers by name; ``step`` may be among them, and then must be the next. Energy is that of
                ``time/all``, of ``time/step`` without it.
            transcripts: texts of some rollouts, with what is known of them.

        Returns:
            The record as it was written.

        Raises:
            InputError: another step, or the log cannot be written; it then holds what it held before.
        """
        step = len(self.records) + 1
        if (given := int(record.get("step", step))) != step:
            raise InputError(f"step {given} was to be logged after step {step - 1}")
        before = self.records[-1].get("energy/device_hours", 0.0) if self.records else 0.0
        hours = before + record.get("time/all", record.get("time/step", 0.0)) * self._devices / 3600
        kwh = self._power.kwh(hours)
        energy = {"energy/device_hours": hours, "energy/kwh": kwh, "energy/kg_co2e": kwh * self._power.intensity}
        whole = {"step": step} | {
            name: _rounded(value) for name, value in {**record, **energy}.items() if name != "step"
        }
        if self._writes:
            # The metrics last: a step is in the log once they are.
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
            raise InputError(f"cannot write {path} ({error}): make room and go on with --resume") from error


def read_records(folder: Path) -> list[Record]:
    """The numbers of a run, step by step; half a last line, which a killed run may leave, is no step.

    Runs that keep ``log.jsonl`` instead (``vouch train encoder`` and ``rank``) are read too: a step's losses are
    ``loss`` and ``loss/NAME``.

    Raises:
        InputError: a line is none of a log.
    """
    if (folder / METRICS).exists():
        return [{name: math.nan if value is None else value for name, value in line.items()}
                for line in read_lines(folder / METRICS)]  # fmt: skip
    return [
        {("loss" if name == "total" else f"loss/{name}" if name != "step" else name): value
         for name, value in line.items()}
        for line in read_lines(folder / "log.jsonl") if "scores" not in line
    ]  # fmt: skip


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a log; none if there is no file. Raises InputError for a line that is no object."""
    if not path.exists():
        return []
    lines: list[dict[str, Any]] = []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                lines.append({**json.loads(line)})
            except (ValueError, TypeError):
                raise InputError(f"{path}, line {number} is no line of a log: {line[:80]!r}") from None
    return lines


def columns_of(records: Sequence[Record]) -> dict[str, NDArray[np.float64]]:
    """The same numbers by name.

    >>> {name: column.tolist() for name, column in columns_of([{"step": 1, "kl": 0.0}, {"step": 2}]).items()}
    {'step': [1.0, 2.0], 'kl': [0.0, nan]}
    """
    names = dict.fromkeys(name for record in records for name in record)
    return {name: np.array([record.get(name, math.nan) for record in records], dtype=float) for name in names}


def _cut(path: Path, done: int) -> None:
    """Cut off what came after the last step that counts, and half a line at the end."""
    if not path.exists():
        return
    kept = 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n") or json.loads(line)["step"] > done:
                break
            kept += len(line)
    _truncate(path, kept)


def _truncate(path: Path, size: int) -> None:
    if path.exists() and path.stat().st_size > size:
        with path.open("r+b") as file:
            file.truncate(size)


def _rounded(value: float) -> float:
    """Seven digits: more are noise, and lines shall be short."""
    return float(f"{value:.7g}")


def _defined(value: float) -> float | None:
    return value if math.isfinite(value) else None
