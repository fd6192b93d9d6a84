"""Runs of ``vouch bench run``: score the rows of some sets, then compute figures and write a report, into a folder.

    run.json            settings, data, machine and date; written first
    rows/<set>.jsonl    a line per row, appended as it is scored, with a note for resuming
    results.json        run.json and all figures
    report.html         the report

An interrupted run resumes where it stopped. Not supported: scoring on several machines.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from vouching.bench.catalog import ALL, chosen
from vouching.bench.claims import ClaimsTask
from vouching.bench.ifeval import IfevalTask
from vouching.bench.own import OWN
from vouching.bench.ranking_task import RankingsTask
from vouching.bench.rows import UNANSWERED, Fault, Split, records
from vouching.bench.task import DataSet, Kind, Line, Listener, RowT, RunOptions, Task, id_faults
from vouching.errors import InputError
from vouching.metrics import stratified_slice
from vouching.rows import Row, RowJob, RowReader, Seen, run_rows
from vouching.rows.hub import HUB
from vouching.text.json_values import parse_json
from vouching.types.visible import shown_json
from vouching.version import __version__

RUN, RESULTS, REPORT = "run.json", "results.json", "report.html"
Record = dict[str, Any]
"""The content of run.json or results.json."""
TASKS: Mapping[Kind, type[Task[Any]]] = {
    "claims": ClaimsTask,
    "rankings": RankingsTask,
    "ifeval": IfevalTask,
}
_BLOCK = 1 << 20


def validate(
    data_set: DataSet[Any], folder: Path, split: Split, task: type[Task[Any]] | None = None
) -> Iterator[Fault]:
    """Faults of one split of a set, without a model: rows, then ids, then the checks of its task (or of ``task``)."""
    rows: list[Any] = []
    found = data_set.rows(folder, split)
    valid = True
    try:
        for row in found:
            if isinstance(row, Fault):
                valid = False
                yield row
            else:
                rows.append(row)
    except InputError as error:
        valid = False
        yield Fault("the whole set", str(error))
    yield from id_faults(rows)
    if rows or valid:
        yield from (task or TASKS[data_set.kind]).validate(data_set, rows)


def open_folder(out: Path, run: Record, resume: bool) -> None:
    """Create the folder of a run, or confirm that it holds the run to resume.

    Raises InputError if it holds another run, a run that should not be resumed, or anything else.
    """
    note = out / RUN
    try:
        if note.exists():
            _same_run(note, run, resume)
        elif out.is_dir() and (others := sorted(out.iterdir())):
            raise InputError(f"{out} is not empty (it contains {others[0].name}): choose a new folder for the run")
        (out / "rows").mkdir(parents=True, exist_ok=True)
        if not note.exists():
            write_json(note, run)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror or error}; choose a writable folder") from None


def _same_run(note: Path, run: Record, resume: bool) -> None:
    if not resume:
        raise InputError(f"{note.parent} already contains a run: resume it with --resume, or choose another folder")
    found = read_record(note.parent, note.name)
    try:
        old = {**found["settings"], "sets": found["data"]}
    except (KeyError, TypeError):
        raise InputError(f"{note} is damaged, so its run cannot be resumed: choose another folder") from None
    for key, value in {**run["settings"], "sets": run["data"]}.items():
        if old.get(key) != value:
            was, now = _words(old.get(key)), _words(value)
            same = " with different data" if was == now else ""
            raise InputError(
                f"the run in {note.parent} has {key} {was}, but this one has {key} {now}{same}: use the same settings, "
                "or choose another folder"
            )


def _words(value: object) -> str:
    names = cast("Record", value) if isinstance(value, dict) else (value,)
    return ", ".join(name if isinstance(name, str) else shown_json(name) for name in names)


def write_json(path: Path, record: Record) -> None:
    """Write a file atomically."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    fresh.replace(path)


def read_scored(out: Path, name: str) -> list[Line]:
    """The scored rows of a set in a run's folder. Raises InputError if they are missing or damaged."""
    path = rows_path(out, name)
    try:
        with path.open(encoding="utf-8", newline="\n") as lines:
            return [parse_json(line) for line in lines]
    except OSError as error:
        if (out / RUN).exists() and not path.exists():
            raise InputError(f"the run in {out} is unfinished ({name} is missing): resume it with --resume") from None
        raise InputError(f"{path} cannot be read: {error.strerror or error}; is {out} the folder of a run?") from None
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}; run the set again") from None


def read_record(out: Path, name: str) -> Record:
    """run.json or results.json of a run. Raises InputError if it is missing or damaged."""
    path = out / name
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}; is {out} the folder of a run?") from None
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}") from None


def rows_path(out: Path, name: str) -> Path:
    """Path of the scored rows of a set."""
    return out / "rows" / f"{name}.jsonl"


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The result of a run."""

    results: dict[str, Any] | None
    """The content of results.json; None if the run stopped early."""
    unverified: int
    """Number of rows that failed or are broken."""
    stopped: str | None = None
    """Why the run stopped early; it can be resumed."""


def run_task(
    task: Task[RowT], sets: Sequence[DataSet[RowT]], data: Path, out: Path, options: RunOptions, listener: Listener
) -> RunOutcome:
    """Score the rows of some sets; write rows, figures and report to a folder.

    Args:
        task: the task of the sets.
        sets: the sets to run, at least one.
        data: the folder with the data sets.
        out: the folder to write; created if necessary.
        options: split, limit, jobs.
        listener: gets the progress.

    Raises:
        InputError: a set is missing or has no usable row, or the folder cannot be used.
        ConfigError: the model cannot be opened.
        OSError: the disk is full; finished rows are kept.
    """
    drawn = {data_set.name: _limited(_rows(task, data_set, data, options), task, options) for data_set in sets}
    rows = {name: kept for name, (kept, _) in drawn.items()}
    run = _run_record(task, sets, data, rows, options)
    if len(options.seeds) > 1:
        run["data"] = {name: {**about, "samples": drawn[name][1]} for name, about in run["data"].items()}
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
    if len(options.seeds) > 1:
        for name, lines in scored.items():
            results["sets"][name]["seeds"] = _spreads(task, lines, drawn[name][1])
    write_json(out / RESULTS, results)
    listener.phase("writing the report")
    task.report(out / REPORT, results, scored)
    return RunOutcome(results, sum(task.problem(line) is not None for lines in scored.values() for line in lines))


def _rows(task: Task[RowT], data_set: DataSet[RowT], data: Path, options: RunOptions) -> list[Row]:
    """The rows of a set; a broken one becomes a row with a problem. Raises InputError if no row is usable."""
    found = [*task.rows(data_set, data, options.split)]
    if all(isinstance(row, Fault) for row in found):
        first = f"; first problem: {found[0]}" if found else ""
        raise InputError(f"none of the {len(found)} rows of {data_set.name} is usable: check their format{first}")
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
    run: Record,
    jobs: int,
    tell: Callable[[int, str | None], None],
) -> str | None:
    """Score the rows of a set that are not scored yet; returns why that stopped, if it did."""
    settings = {**run["settings"], "data": run["data"][name]["fingerprint"]}

    def seen(_: str, line: Line) -> Seen:
        problem = task.problem(line)
        shown = None if problem is None else f"{line['id']}: {problem}"
        return Seen(line["id"], shown, again=int((problem or "").startswith(UNANSWERED)))

    reader, output = RowReader(name, iter(rows)), str(rows_path(out, name))
    job = RowJob(reader, output, task.work(), seen, settings, resume=True, jobs=jobs)
    return run_rows(job, lambda done: tell(done.rows, done.seen.problem)).stopped


def _run_record(
    task: Task[RowT], sets: Sequence[DataSet[RowT]], data: Path, rows: Mapping[str, Sequence[Row]], options: RunOptions
) -> dict[str, Any]:
    names = ALL if [*sets] == _all(data, options) else " ".join(rows)
    names = f"--input {sets[0].files[options.split][0]}" if sets[0].licence == OWN else names
    limit = f" --limit {options.limit}" if options.limit else ""
    limit += f" --seeds {','.join(map(str, options.seeds))}" if len(options.seeds) > 1 else ""
    return {
        "command": f"{task.command} {names} {task.arguments} --split {options.split}{limit}",
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
    """The first 16 digits of the SHA-256 of the concatenated files, or of the rows of a data set on the hub."""
    digest = hashlib.sha256()
    for path in paths:
        if str(path).startswith(HUB):
            for _, fields in records(path):
                digest.update(json.dumps(fields, sort_keys=True, default=str).encode())
            continue
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()[:16]


def _all(data: Path, options: RunOptions) -> list[DataSet[Any]]:
    """The sets that "all" stands for."""
    try:
        return chosen([ALL], data, options.split)
    except InputError:
        return []


def _limited(rows: list[Row], task: Task[RowT], options: RunOptions) -> tuple[list[Row], dict[str, list[str]]]:
    """A sample stratified by label or part, plus every row that cannot be used; and the ids of the sample of each seed.

    With several seeds, the rows of all their samples.
    """
    usable = [(place, task.share_of(row.fields)) for place, row in enumerate(rows) if row.fields]
    if options.limit is None or options.limit >= len(usable):
        if len(options.seeds) > 1:
            raise InputError("--seeds draws samples, so it requires --limit N with fewer rows than the set has")
        return rows, {}
    samples: dict[str, list[int]] = {}
    for seed in options.seeds:
        places: list[int] = stratified_slice([label for _, label in usable], options.limit, seed).tolist()
        samples[str(seed)] = [usable[place][0] for place in places]
    drawn = {place for places in samples.values() for place in places}
    kept = [row for place, row in enumerate(rows) if place in drawn or row.fields is None]
    return kept, {seed: [rows[place].name for place in places] for seed, places in samples.items()}


def _spreads(task: Task[RowT], lines: Sequence[Line], samples: Mapping[str, Sequence[str]]) -> Record:
    """Mean and standard deviation of the figures of the samples, by metric."""
    by_id = {line["id"]: line for line in lines}
    each = [task.slice_figures([by_id[name] for name in names if name in by_id]) for names in samples.values()]
    shared = [metric for metric in each[0] if all(metric in one for one in each)]
    return {
        metric: {
            "mean": round(statistics.fmean(values), 4),
            "standard_deviation": round(statistics.stdev(values), 4),
            "values": [round(value, 4) for value in values],
        }
        for metric in shared
        if (values := [one[metric] for one in each])
    }
