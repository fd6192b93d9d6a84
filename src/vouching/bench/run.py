"""``vouch bench run``: rows of some sets through what is measured, then figures and a report, into a folder.

Killed at any moment, a run goes on with ``resume`` where it stopped. What is done with the rows of a set, claims or
answers to be ranked, is its task's (``task.py``). Left out: scoring on several machines.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vouching.batch.journal import open_journal
from vouching.batch.rows import Row
from vouching.batch.run import Seen, run_batch
from vouching.bench.catalog import ALL, DataSet, RowT, chosen
from vouching.bench.claims_task import claims_task
from vouching.bench.folder import REPORT, RESULTS, open_folder, read_scored, rows_path, write_json
from vouching.bench.rows import BenchRow, Fault
from vouching.bench.task import Line, Listener, RunOptions, Task
from vouching.errors import InputError
from vouching.metrics import stratified_slice
from vouching.version import __version__

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What became of a run."""

    results: dict[str, Any] | None
    """What results.json holds; None if the run was stopped before."""
    unverified: int
    """Rows that what is measured failed on, or that are broken."""
    stopped: str | None = None
    """Why the run ended early; it can be resumed."""


def run_benchmark(
    sets: Sequence[DataSet[BenchRow]], data: Path, out: Path, options: RunOptions, listener: Listener
) -> RunOutcome:
    """Judge the claims and responses of some sets. Arguments, files and errors as in :func:`run_task`."""
    return run_task(claims_task(options), sets, data, out, options, listener)


def run_task(
    task: Task[RowT], sets: Sequence[DataSet[RowT]], data: Path, out: Path, options: RunOptions, listener: Listener
) -> RunOutcome:
    """Score the rows of some sets and write rows, figures and report into a folder.

    Args:
        task: what is done with the rows.
        sets: what to run, at least one.
        data: the folder with the data sets.
        out: the folder to write; made if it is not there.
        options: split, limit, jobs.
        listener: told how far it is.

    Raises:
        InputError: a set is not here or not one row of it can be used, or the folder is that of another run, of a run
            that is not to be resumed, or cannot be written.
        ConfigError: what is measured cannot be opened.
        OSError: the disk is full; what was finished is kept.
    """
    rows = {data_set.name: _limited(_rows(task, data_set, data, options), task, options.limit) for data_set in sets}
    run = _run_record(task, sets, data, rows, options)
    open_folder(out, run, options.resume)
    total, done = sum(map(len, rows.values())), 0
    for name, set_rows in rows.items():

        def tell(finished: int, problem: str | None, before: int = done) -> None:
            listener.row((before + finished) / total, problem)

        stopped = _score(name, set_rows, task, out, run, options.jobs, tell)
        if stopped is not None:
            return RunOutcome(None, 0, stopped)
        done += len(set_rows)
    scored = {name: read_scored(out, name) for name in rows}
    results = {**run, **task.figures(scored, sets, options.resamples, listener)}
    write_json(out / RESULTS, results)
    listener.phase("writing the report")
    task.report(out / REPORT, results, scored)
    return RunOutcome(results, sum(task.problem(line) is not None for lines in scored.values() for line in lines))


def _rows(task: Task[RowT], data_set: DataSet[RowT], data: Path, options: RunOptions) -> list[Row]:
    """The rows of a set as a batch reads them; a broken one is a row with a problem.

    Raises:
        InputError: the set is not here, or not one of its rows can be used: then its format has changed.
    """
    found = [*data_set.rows(data, options.split)]
    if all(isinstance(row, Fault) for row in found):
        first = f"; the first: {found[0]}" if found else ""
        raise InputError(f"{data_set.name} has no row that can be used of {len(found)}: has its format changed?{first}")
    return [
        Row(number, f"{data_set.name}, {row.place}", None, row.problem)
        if isinstance(row, Fault)
        else Row(number, data_set.name, task.fields(data_set.name, row))
        for number, row in enumerate(found, 1)
    ]


def _score(
    name: str,
    rows: Sequence[Row],
    task: Task[RowT],
    out: Path,
    run: dict[str, Any],
    jobs: int,
    tell: Callable[[int, str | None], None],
) -> str | None:
    """Score the rows of a set that are not scored yet. Returns why it was stopped, if it was."""
    settings = {**run["settings"], "data": run["data"][name]["fingerprint"]}

    def seen(line: Line) -> Seen:
        problem = task.problem(line)
        return Seen(line["id"], None if problem is None else f"{line['id']}: {problem}")

    with ExitStack() as stack:
        journal = stack.enter_context(open_journal(str(rows_path(out, name)), settings, resume=True))
        summary = run_batch(
            rows,
            journal,
            task.work(),
            seen,
            jobs=jobs,
            watch=lambda row, seen: tell(journal.rows, seen.problem),
        )
    return summary.stopped


def _run_record(
    task: Task[RowT], sets: Sequence[DataSet[RowT]], data: Path, rows: Mapping[str, Sequence[Row]], options: RunOptions
) -> dict[str, Any]:
    names = ALL if [*sets] == _all(data, options) else " ".join(rows)
    limit = f" --limit {options.limit}" if options.limit else ""
    return {
        "command": f"vouch bench run {names} {task.arguments} --split {options.split}{limit}",
        "settings": {
            "model": options.model,
            "vouching": __version__,
            "split": options.split,
            "limit": options.limit,
            **task.settings,
        },
        "data": {
            data_set.name: {
                "rows": len(rows[data_set.name]),
                "fingerprint": fingerprint(data_set.paths(data, options.split) or ()),
            }
            for data_set in sets
        },
        "decoding": {**task.settings} or None,
        "bootstrap": {"method": "BCa", "level": 0.95, "resamples": options.resamples, "seed": 0, "unit": "group"},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "date": datetime.date.today().isoformat(),
    }


def fingerprint(paths: Iterable[Path]) -> str:
    """The first 16 digits of the SHA-256 of files, one after the other.

    >>> fingerprint([])
    'e3b0c44298fc1c14'
    """
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()[:16]


def _all(data: Path, options: RunOptions) -> list[DataSet[BenchRow]]:
    """What "all" stands for; nothing where there is no set of claims."""
    try:
        return chosen([ALL], data, options.split)
    except InputError:
        return []


def _limited(rows: list[Row], task: Task[RowT], limit: int | None) -> list[Row]:
    """Rows drawn so that labels, or parts, keep their share, and every row that cannot be used, as these are told."""
    usable = [(place, task.share_of(row.fields)) for place, row in enumerate(rows) if row.fields]
    if limit is None or limit >= len(usable):
        return rows
    places: list[int] = stratified_slice([label for _, label in usable], limit, seed=0).tolist()
    drawn = {usable[place][0] for place in places}
    return [row for place, row in enumerate(rows) if place in drawn or row.fields is None]
