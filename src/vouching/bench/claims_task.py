"""Claims and responses through a verifier: the task of most sets. A language model is asked about many rows at once.

Left out: everything that is the same for all tasks (``run.py``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vouching.bench.catalog import DataSet
from vouching.bench.evaluate import pooled_figures, set_curves, set_figures
from vouching.bench.report import write_report
from vouching.bench.rows import BenchRow
from vouching.bench.score import NO_CLAIM, ScoreRows
from vouching.bench.task import Line, Listener, RunOptions, Task, set_by_set
from vouching.checker import Checker
from vouching.errors import ConfigError
from vouching.rows.pool import ROWS_AT_ONCE


def claims_task(options: RunOptions) -> Task[BenchRow]:
    """What a verifier is measured by.

    Args:
        options: its name, and in how many processes it works.

    Raises:
        ConfigError: an unknown model, several processes for a language model, or one that cannot be used.

    >>> claims_task(RunOptions("embedded:rules")).arguments
    '--model embedded:rules'
    """
    checker = Checker(options.model)  # a wrong setting shows before any file is made
    if not checker.embedded and options.jobs != 1:
        raise ConfigError(
            f"got {options.jobs} processes for a language model, which is waited for: leave them out, one has "
            f"{ROWS_AT_ONCE} rows under way at once"
        )
    work = ScoreRows(options.model) if checker.embedded else ScoreRows(options.model).waiting(checker)
    return Task(
        arguments=f"--model {options.model}",
        settings=checker.decoding or {},
        work=lambda: work,
        fields=_fields,
        share_of=lambda fields: str(fields["attributable"]),
        problem=_problem,
        figures=_figures,
        report=_report,
    )


def _fields(name: str, row: BenchRow) -> dict[str, Any]:
    # Documents of different sets are different ones even if they have the same name.
    document = None if row.document is None else f"{name} {row.document}"
    return dataclasses.asdict(dataclasses.replace(row, document=document))


def _problem(line: Line) -> str | None:
    return None if line["unverified"] in (None, NO_CLAIM) else line["unverified"]


def _figures(
    scored: Mapping[str, Sequence[Line]], sets: Sequence[DataSet[BenchRow]], resamples: int, listener: Listener
) -> dict[str, Any]:
    figures = set_by_set(set_figures, scored, sets, resamples, listener)
    sound = {data_set.name: scored[data_set.name] for data_set in sets if not data_set.remark}
    listener.phase("all sets together")
    return {"sets": figures, "pooled": pooled_figures(sound, resamples)}


def _report(path: Path, results: Mapping[str, Any], scored: Mapping[str, Sequence[Line]]) -> None:
    write_report(path, results, {name: set_curves(lines) for name, lines in scored.items()})
