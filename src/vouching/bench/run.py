"""``vouch bench run``: rows of some sets through a verifier, then figures and a report, into a folder.

Killed at any moment, a run goes on with ``resume`` where it stopped. A language model is asked about many rows at once.
Left out: scoring on several machines.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from vouching.batch.journal import open_journal
from vouching.batch.rows import Row
from vouching.batch.run import Seen, run_batch
from vouching.batch.waiting import ROWS_AT_ONCE, Waiting
from vouching.bench.catalog import ALL, DataSet, chosen
from vouching.bench.evaluate import pooled_figures, set_curves, set_figures
from vouching.bench.folder import REPORT, RESULTS, open_folder, read_scored, rows_path, write_json
from vouching.bench.intervals import RESAMPLES
from vouching.bench.report import write_report
from vouching.bench.rows import BenchRow, Fault, Split
from vouching.bench.score import NO_CLAIM, Scored, ScoreRows
from vouching.checker import Checker
from vouching.errors import ConfigError, InputError
from vouching.metrics import stratified_slice
from vouching.version import __version__

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run is to do."""

    model: str = "embedded"
    """Name of the verifier."""
    split: Split = "test"
    """Which part of each set."""
    limit: int | None = None
    """Rows per set, drawn with seed 0 so that both labels keep their share; None for all."""
    jobs: int = 1
    """Processes that score rows; 1 with a language model."""
    resume: bool = False
    """Whether to go on with a run that is in the folder."""
    resamples: int = RESAMPLES
    """Of the bootstrap behind the intervals."""


class Listener(Protocol):
    """Told how far a run is."""

    def row(self, share: float, problem: str | None) -> None:
        """A row was scored, or could not be (``problem``); ``share`` of all rows is done."""

    def phase(self, words: str) -> None:
        """What is done next, after the rows."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What became of a run."""

    results: dict[str, Any] | None
    """What results.json holds; None if the run was stopped before."""
    unverified: int
    """Rows that the verifier failed on, or that are broken."""
    stopped: str | None = None
    """Why the run ended early; it can be resumed."""


def run_benchmark(
    sets: Sequence[DataSet], data: Path, out: Path, options: RunOptions, listener: Listener
) -> RunOutcome:
    """Score the rows of some sets and write rows, figures and report into a folder.

    Args:
        sets: what to run, at least one.
        data: the folder with the data sets.
        out: the folder to write; made if it is not there.
        options: model, split, limit, jobs.
        listener: told how far it is.

    Raises:
        InputError: a set is not here or not one row of it can be used, or the folder is that of another run, of a run
            that is not to be resumed, or cannot be written.
        ConfigError: an unknown model, several processes for a language model, or one that cannot be used.
        OSError: the disk is full; what was finished is kept.
    """
    checker = Checker(options.model)  # a wrong setting shows before any file is made
    if not checker.embedded and options.jobs != 1:
        raise ConfigError(
            f"got {options.jobs} processes for a language model, which is waited for: leave them out, one has "
            f"{ROWS_AT_ONCE} rows under way at once"
        )
    work = ScoreRows(options.model) if checker.embedded else ScoreRows(options.model).waiting(checker)
    rows = {data_set.name: bench_rows(data_set, data, options) for data_set in sets}
    run = _run_record(sets, data, rows, options, checker.decoding)
    open_folder(out, run, options.resume)
    total, done = sum(map(len, rows.values())), 0
    for name, set_rows in rows.items():

        def tell(finished: int, problem: str | None, before: int = done) -> None:
            listener.row((before + finished) / total, problem)

        stopped = _score(name, set_rows, work, out, run, options.jobs, tell)
        if stopped is not None:
            return RunOutcome(None, 0, stopped)
        done += len(set_rows)
    scored = {name: read_scored(out, name) for name in rows}
    results = {**run, **_figures(scored, sets, options, listener)}
    write_json(out / RESULTS, results)
    listener.phase("writing the report")
    curves = {name: set_curves(lines) for name, lines in scored.items()}
    write_report(out / REPORT, results, curves)
    failed = (row for lines in scored.values() for row in lines if row["score"] is None)
    return RunOutcome(results, sum(row["unverified"] != NO_CLAIM for row in failed))


def bench_rows(data_set: DataSet, data: Path, options: RunOptions) -> list[Row]:
    """The rows of a set as a batch reads them; a broken one is a row with a problem.

    Raises:
        InputError: the set is not here, or not one of its rows can be used: then its format has changed.
    """
    found = [*data_set.rows(data, options.split)]
    if not any(isinstance(row, BenchRow) for row in found):
        first = f"; the first: {found[0]}" if found else ""
        raise InputError(f"{data_set.name} has no row that can be used of {len(found)}: has its format changed?{first}")
    batch: list[Row] = []
    for number, row in enumerate(found, 1):
        if isinstance(row, Fault):
            batch.append(Row(number, f"{data_set.name}, {row.place}", None, row.problem))
        else:
            # Documents of different sets are different ones even if they have the same name.
            document = None if row.document is None else f"{data_set.name} {row.document}"
            batch.append(Row(number, data_set.name, dataclasses.asdict(dataclasses.replace(row, document=document))))
    return _limited(batch, options.limit)


def _score(
    name: str,
    rows: Sequence[Row],
    work: ScoreRows | Waiting,
    out: Path,
    run: dict[str, Any],
    jobs: int,
    tell: Callable[[int, str | None], None],
) -> str | None:
    """Score the rows of a set that are not scored yet. Returns why it was stopped, if it was."""
    settings = {**run["settings"], "data": run["data"][name]["fingerprint"]}
    with ExitStack() as stack:
        journal = stack.enter_context(open_journal(str(rows_path(out, name)), settings, resume=True))
        summary = run_batch(
            rows,
            journal,
            work,
            _seen,
            jobs=jobs,
            watch=lambda row, seen: tell(journal.rows, seen.problem),
        )
    return summary.stopped


def _seen(line: Scored) -> Seen:
    unverified = line["unverified"]
    problem = None if unverified in (None, NO_CLAIM) else f"{line['id']}: {unverified}"
    return Seen(line["id"], problem)


def _figures(
    scored: dict[str, list[Scored]], sets: Sequence[DataSet], options: RunOptions, listener: Listener
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for data_set in sets:
        listener.phase(f"{data_set.name}: intervals by {options.resamples:,} resamples")
        figures[data_set.name] = {
            "what": data_set.what,
            "remark": data_set.remark,
            "published": [dataclasses.asdict(figure) for figure in data_set.published],
            **set_figures(scored[data_set.name], options.resamples),
        }
    sound = {data_set.name: scored[data_set.name] for data_set in sets if not data_set.remark}
    listener.phase("all sets together")
    return {"sets": figures, "pooled": pooled_figures(sound, options.resamples)}


def _run_record(
    sets: Sequence[DataSet],
    data: Path,
    rows: dict[str, list[Row]],
    options: RunOptions,
    decoding: Mapping[str, str | float | None] | None,
) -> dict[str, Any]:
    names = ALL if [*sets] == chosen([ALL], data, options.split) else " ".join(rows)
    limit = f" --limit {options.limit}" if options.limit else ""
    return {
        "command": f"vouch bench run {names} --model {options.model} --split {options.split}{limit}",
        "settings": {
            "model": options.model,
            "vouching": __version__,
            "split": options.split,
            "limit": options.limit,
            **(decoding or {}),
        },
        "data": {
            data_set.name: {
                "rows": len(rows[data_set.name]),
                "fingerprint": fingerprint(data_set.paths(data, options.split) or ()),
            }
            for data_set in sets
        },
        "decoding": decoding and {**decoding},
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


def _limited(rows: list[Row], limit: int | None) -> list[Row]:
    """Rows drawn so that both labels keep their share, and every row that cannot be used: these are to be told."""
    usable = [(place, str(row.fields["attributable"])) for place, row in enumerate(rows) if row.fields]
    if limit is None or limit >= len(usable):
        return rows
    places: list[int] = stratified_slice([label for _, label in usable], limit, seed=0).tolist()
    drawn = {usable[place][0] for place in places}
    return [row for place, row in enumerate(rows) if place in drawn or row.fields is None]
