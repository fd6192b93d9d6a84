"""What a run does with the rows of a set: how they are read, scored, counted and shown. One for each kind of set.

``run.py`` does the rest for all of them: the folder, what is there already, the order, the record of the run. Left out:
sets of different kinds in one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, Protocol

from vouching.bench.catalog import DataSet, RowT
from vouching.bench.intervals import RESAMPLES
from vouching.bench.rows import Split
from vouching.rows.pool import Waiting
from vouching.rows.worker import WorkFactory

Line = dict[str, Any]
"""A scored row, as it stands in ``rows/<set>.jsonl``."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run is to do."""

    model: str = "embedded"
    """Name of the verifier, or of what scores answers."""
    split: Split = "test"
    """Which part of each set."""
    limit: int | None = None
    """Rows per set, drawn with seed 0 so that labels, or parts, keep their share; None for all."""
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
class Task(Generic[RowT]):
    """What is done with the rows of one kind of set."""

    arguments: str
    """How it is asked for on the command line, after the names of the sets."""
    settings: Mapping[str, Any]
    """What makes the lines, beside version, split and limit."""
    work: Callable[[], WorkFactory | Waiting]
    """The work on the rows of a set; asked for once for each set."""
    fields: Callable[[str, RowT], dict[str, Any]]
    """From the name of a set and a row of it to what the work takes."""
    share_of: Callable[[Mapping[str, Any]], str]
    """What keeps its share when rows are drawn, of the fields of a row."""
    problem: Callable[[Line], str | None]
    """What failed in a line; None if nothing did."""
    figures: Callable[[Mapping[str, Sequence[Line]], Sequence[DataSet[RowT]], int, Listener], dict[str, Any]]
    """What results.json holds beside the record of the run: of the lines of each set, with so many resamples."""
    report: Callable[[Path, Mapping[str, Any], Mapping[str, Sequence[Line]]], None]
    """Writes the report, of results.json and the lines of each set."""


def set_by_set(
    figures: Callable[[Sequence[Line], int], Mapping[str, Any]], scored: Mapping[str, Sequence[Line]],
    sets: Sequence[DataSet[Any]], resamples: int, listener: Listener,
) -> dict[str, Any]:  # fmt: skip
    """The figures of each set by its name, with what it is and what others report on it.

    Args:
        figures: of the lines of one set, with so many resamples.
        scored: the lines of each set.
        sets: the sets.
        resamples: of the bootstrap.
        listener: told which set is next.
    """
    found: dict[str, Any] = {}
    for data_set in sets:
        listener.phase(f"{data_set.name}: intervals by {resamples:,} resamples")
        found[data_set.name] = {
            "what": data_set.what,
            "remark": data_set.remark,
            "published": [asdict(figure) for figure in data_set.published],
            **figures(scored[data_set.name], resamples),
        }
    return found
