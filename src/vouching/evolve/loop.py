"""The loop: verify, reflect, probe, refine, and a gate that accepts or refuses (SEVA, Algorithm 2); then the test.

    OUT/run.json                 settings, data, versions
    OUT/round-K/student/         the verifier of the round
    OUT/round-K/judged.jsonl     its answers to the rows of dev
    OUT/round-K/reflection.json  its strengths and weaknesses by these answers
    OUT/round-K/probes.jsonl     what it was trained on (not in round 0); probes.json counts them
    OUT/round-K/replay.jsonl     training rows that were replayed
    OUT/round-K/gate.json        comparison with the verifier that it started from
    OUT/round-K/round.json       the finished round: which round it started from and whether it was accepted
    OUT/test/rows.jsonl          rows of test sets, which nothing before has read
    OUT/test/round-K.jsonl       the answers of each round
    OUT/test/fingerprint.json    changes of each set against round 0; fingerprint.html shows them

Each file is written atomically, in this order, and an existing one is not made again: a loop that was killed and
resumed ends like one that was not, within a round as far as the student's own training does. Every round starts from
the last accepted one; without a gate all are accepted. A finished test is not run again unless asked, since looking at
test sets twice means selecting by them. Not supported: several students at once; whole responses as test rows.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from vouching.bench.catalog import chosen, data_folder
from vouching.errors import ConfigError, InputError
from vouching.evolve.config import (
    EvolveConfig,
    Open,
    Start,
    Verify,
    probes_of,
    replay_in,
    second_verifier,
    start_of,
)
from vouching.evolve.fingerprint import Fingerprint, fingerprint_of
from vouching.evolve.gate import ALL, gate
from vouching.evolve.page import FINGERPRINT, PAGE, write_fingerprint
from vouching.evolve.probe import ProbePlan, make_probes
from vouching.evolve.records import (
    GateDecision,
    Judged,
    Probe,
    Reflection,
    Row,
    Student,
    read_record,
    read_records,
    to_json,
    write_record,
    write_records,
)
from vouching.evolve.reflect import reflect
from vouching.evolve.rows import disjoint_rows, keys_of, read_rows, refuse_shared, rows_of_sets
from vouching.evolve.structured import open_student
from vouching.settings import recorded_settings, refuse_missing
from vouching.text.json_values import parse_json
from vouching.train.run_folder import RUN, digest_of_lines, open_run

STUDENT, JUDGED, REFLECTION, PROBES, DROPPED, REPLAY, GATE, ROUND = (
    "student",
    "judged.jsonl",
    "reflection.json",
    "probes.jsonl",
    "dropped.jsonl",
    "replay.jsonl",
    "gate.json",
    "round.json",
)
PROBE_REPORT = "probes.json"


@dataclass(frozen=True, slots=True)
class Round:
    """A finished round."""

    number: int
    """0 for the start."""
    base: int | None
    """The round that it started from; None for the start."""
    stays: bool
    """Whether later rounds may start from it."""
    probes: int
    """How many probes it was trained on."""
    replay: int
    """How many rows were replayed."""
    seconds: float
    """CPU time since it was started or resumed."""


@dataclass(frozen=True, slots=True)
class Data:
    """The rows of an evolution: probes and replay come from ``train``, ``dev`` is verified in every round."""

    train: Sequence[Row]
    dev: Sequence[Row]

    @property
    def counts(self) -> dict[str, int]:
        """Rows by use and set."""
        parts = {"train": self.train, "dev": self.dev}
        return dict(Counter(f"{use}/{row.data_set}" for use, rows in parts.items() for row in rows))

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of the rows of each use."""
        return {
            name: digest_of_lines(map(to_json, rows)) for name, rows in (("train", self.train), ("held_out", self.dev))
        }


def evolve(
    config: EvolveConfig,
    out: Path,
    start: Start,
    *,
    check: Verify | None = None,
    resume: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> list[Round]:
    """Run an evolution in a new or empty folder, or ``resume`` one. Returns the rounds, including the start.

    ``check`` is a second verifier that every probe has to pass; ``report`` gets lines of progress. Raises InputError if
    rows cannot be used, train and dev are not disjoint, or ``out`` is of another evolution.
    """
    data = read_data(config)
    names = {row.data_set for row in data.dev}
    if unknown := {*config.watched} - {ALL, *names}:
        raise InputError(f"unknown set {min(unknown)!r} in watched; expected one of {', '.join([ALL, *sorted(names)])}")
    refuse_shared(data.train, keys_of(data.dev))
    open_run(out, config, data.counts, data.digests, resume)
    began = process_time()
    student = start(folder_of(out, 0) / STUDENT, data.dev)
    first = _verified(out, 0, student, data.dev)
    _closed(out, Round(0, None, True, 0, 0, round(process_time() - began, 1)), first, report)
    students: dict[int, Student] = {0: student}
    rounds = [read_record(folder_of(out, 0) / ROUND, Round)]
    for number in range(1, config.rounds + 1):
        base = max(one.number for one in rounds if one.stays)
        students[number] = _do_round(config, out, number, students, base, data, check, report)
        rounds.append(read_record(folder_of(out, number) / ROUND, Round))
    return rounds


def evolve_by(
    config: EvolveConfig, out: Path, resume: bool, report: Callable[[str], None], start: Start | None = None
) -> Path:
    """Run an evolution, by default of a language model, with its second verifier. Returns the fingerprint's page."""
    start = start or start_of(config, report)
    evolve(config, out, start, check=second_verifier(config), resume=resume, report=report)
    title = f"Evolution with {config.source} probes, on the dev rows"
    return write_fingerprint(out, fingerprint(out, config.resamples), title)


def read_data(config: EvolveConfig) -> Data:
    """The rows that the settings name. Raises InputError if a file cannot be used or there are no rows."""
    try:
        refuse_missing(config, "train", "dev")
    except InputError as error:
        raise InputError(f"{error}; recipes/evolve/rows.py writes the files of the recipes") from None
    train, dev = ([row for name in files for row in read_rows(Path(name))] for files in (config.train, config.dev))
    if not train or not dev:
        raise InputError(f"got {len(train)} rows in train and {len(dev)} in dev: choose files that contain rows")
    return Data(train, dev)


def config_of(out: Path, kind: type[EvolveConfig] = EvolveConfig) -> EvolveConfig:
    """The settings of an evolution, from its folder. Raises InputError if there is none."""
    try:
        return recorded_settings(kind, parse_json((out / RUN).read_bytes())["settings"])
    except ConfigError as error:
        raise InputError(f"{out / RUN}: {error}; rename the setting in that file") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {out / RUN} ({reason}): choose a folder written by vouch evolve run") from None


def refuse_other_data(out: Path, data: Data) -> None:
    """Raise InputError if an evolution was trained on, or guided by, other rows than these."""
    recorded = parse_json((out / RUN).read_bytes())["split"]
    if differing := sorted(name for name, digest in data.digests.items() if recorded.get(name) != digest):
        raise InputError(f"the rows of {out} have changed since the run ({', '.join(differing)}): restore the files")


def folder_of(out: Path, number: int) -> Path:
    """The folder of a round."""
    return out / f"round-{number}"


def rounds_of(out: Path) -> list[Round]:
    """The finished rounds of an evolution, in order. Raises InputError if there is none."""
    paths = [folder_of(out, number) / ROUND for number in range(len([*out.glob("round-*")]))]
    found = [read_record(path, Round) for path in paths if path.is_file()]
    if not found:
        raise InputError(f"{out} contains no finished round: choose a folder written by vouch evolve run")
    return found


def read_judged(out: Path, number: int) -> list[Judged]:
    """The answers of a round to the rows of dev. Raises InputError if there are none."""
    return read_records(folder_of(out, number) / JUDGED, Judged)


def fingerprint(out: Path, resamples: int = 2_000) -> Fingerprint:
    """The fingerprint of an evolution on the rows of dev. Raises InputError if no round is finished."""
    rounds = rounds_of(out)
    return _fingerprint_of([read_judged(out, one.number) for one in rounds], rounds, resamples)


def _fingerprint_of(answers: Sequence[Sequence[Judged]], rounds: Sequence[Round], resamples: int) -> Fingerprint:
    return fingerprint_of(answers, [one.base for one in rounds], [one.stays for one in rounds], resamples)


def replay_of(train: Sequence[Row], limit: int, seed: str) -> list[Row]:
    """A random sample of rows."""
    return random.Random(seed).sample(train, min(limit, len(train)))


def _do_round(
    config: EvolveConfig,
    out: Path,
    number: int,
    students: dict[int, Student],
    base: int,
    data: Data,
    check: Verify | None,
    report: Callable[[str], None],
) -> Student:
    """One round, or the rest of it."""
    folder, before, began = folder_of(out, number), folder_of(out, base), process_time()
    if not (before / REFLECTION).exists():
        raise InputError(
            f"round {base} answered no dev row, so round {number} cannot start from it: see {before / JUDGED}"
        )
    reflection = read_record(before / REFLECTION, Reflection)
    probes = _probes(config, folder, number, reflection, data, check)
    if not (folder / REPLAY).exists():
        write_records(
            folder / REPLAY, replay_of(data.train, replay_in(config, number), f"{config.seed} replay {number}")
        )
    replay = read_records(folder / REPLAY, Row)
    student = students[base].refine(number, probes, replay, reflection.rules, folder / STUDENT)
    judged = _verified(out, number, student, data.dev)
    if not (folder / GATE).exists():
        rule = "harm" if config.gate == "off" else config.gate
        decision = gate(
            read_judged(out, base),
            judged,
            max_loss=config.max_loss,
            watched=config.watched,
            rule=rule,
            resamples=config.resamples,
        )
        write_record(folder / GATE, decision)
    stays = config.gate == "off" or read_record(folder / GATE, GateDecision).accepted
    _closed(out, Round(number, base, stays, len(probes), len(replay), round(process_time() - began, 1)), judged, report)
    return student


def _probes(
    config: EvolveConfig, folder: Path, number: int, reflection: Reflection, data: Data, check: Verify | None
) -> list[Probe]:
    """The probes of a round, made if there are none yet."""
    if not (folder / PROBES).exists():
        plan = ProbePlan(
            probes_of(config, number),
            config.source,
            config.safe_share,
            config.sets,
            config.check_types,
            seed=config.seed * 1_000 + number,
        )
        made = make_probes(data.train, reflection.weights(config.smoothed), plan, data.dev, check=check)
        write_record(folder / PROBE_REPORT, made.report)
        write_records(folder / DROPPED, made.dropped)
        write_records(folder / PROBES, made.kept)
    return read_records(folder / PROBES, Probe)


def _verified(out: Path, number: int, student: Student, dev: Sequence[Row]) -> list[Judged]:
    """A round's answers to the rows of dev, made and reflected on if there are none yet."""
    folder = folder_of(out, number)
    if not (folder / JUDGED).exists():
        write_records(folder / JUDGED, student.verify(dev))
    judged = read_records(folder / JUDGED, Judged)
    answered = any(one.unverified is None for one in judged)  # else a gate has to refuse it
    if answered and not (folder / REFLECTION).exists():
        write_record(folder / REFLECTION, reflect(judged))
    return judged


def _closed(out: Path, done: Round, judged: Sequence[Judged], report: Callable[[str], None]) -> None:
    """Record and report that a round is finished."""
    path = folder_of(out, done.number) / ROUND
    if not path.exists():
        write_record(path, done)
        answered = [one for one in judged if one.right is not None]
        share = sum(bool(one.right) for one in answered) / max(1, len(answered))
        stays = "" if done.stays else "; the gate rejects the round"
        report(f"round {done.number}: correct on {share:.1%} of {len(answered):,} dev rows{stays}")


TEST, ROWS = "test", "rows.jsonl"


def run_test(
    out: Path,
    rows: Sequence[Row],
    data: Data,
    opened: Open,
    *,
    again: bool = False,
    resamples: int = 10_000,
    report: Callable[[str], None] = lambda _: None,
) -> Fingerprint:
    """Score all rounds of an evolution on test rows.

    Rows that share a claim, source or document with ``data``, its train and dev, are excluded. Raises InputError
    if there is a test already (without ``again``), the evolution is not finished or of other data, or no row is left.
    """
    folder = out / TEST
    if (folder / FINGERPRINT).exists() and not again:
        raise InputError(
            f"{folder} already contains test results; testing twice risks tuning to the test sets: to test "
            "again anyway, add --again"
        )
    rounds, planned = rounds_of(out), parse_json((out / RUN).read_bytes())["settings"]["rounds"]
    if len(rounds) <= planned:
        raise InputError(f"{out} has finished {len(rounds) - 1} of {planned} rounds: resume vouch evolve run first")
    refuse_other_data(out, data)
    disjoint = disjoint_rows(rows, [*data.train, *data.dev])
    if shared := len(rows) - len(disjoint):
        report(f"test rows excluded because they share a claim, source or document with train or dev: {shared}")
    if not disjoint:
        raise InputError(f"got {len(rows)} test rows, but none is disjoint from train and dev: choose other test sets")
    if again:
        shutil.rmtree(folder, ignore_errors=True)
    if (folder / ROWS).exists() and read_records(folder / ROWS, Row) != disjoint:
        raise InputError(f"{folder} contains an unfinished test on other rows: use the same rows, or add --again")
    write_records(folder / ROWS, disjoint)
    answers: list[list[Judged]] = []
    for one in rounds:
        path = folder / f"round-{one.number}.jsonl"
        if not path.exists():
            write_records(path, opened(folder_of(out, one.number) / STUDENT).verify(disjoint))
        answers.append(read_records(path, Judged))
        right = [bool(judged.right) for judged in answers[-1] if judged.right is not None]
        report(f"round {one.number}: correct on {sum(right) / max(1, len(right)):.1%} of {len(right):,} test rows")
    found = _fingerprint_of(answers, rounds, resamples)
    write_fingerprint(folder, found, f"{out.name}, on test sets")
    return found


def score_by(
    config: EvolveConfig,
    out: Path,
    sets: Sequence[str],
    limit: int,
    again: bool,
    report: Callable[[str], None],
    opened: Open = open_student,
) -> Path:
    """Score the rounds of an evolution on test sets by name, see :func:`run_test`. Returns the page."""
    data = data_folder()
    rows = rows_of_sets(chosen(sets, data, "test"), data, limit)
    run_test(out, rows, read_data(config), opened, again=again, report=report)
    return out / TEST / PAGE
