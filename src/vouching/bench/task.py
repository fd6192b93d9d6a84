"""Data sets, and the task of each kind of set: how rows are read, scored, evaluated, shown and validated.

    rows(set) -> score -> figures(lines) -> show(figures)        validate(rows) needs no model

``catalog.py`` lists the sets; ``run.py`` has what all kinds share. Not supported: sets of different kinds in one run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

from vouching.bench.intervals import RESAMPLES
from vouching.bench.report import WIDE, plain_table, write_tables
from vouching.bench.rows import Fault, Split
from vouching.errors import InputError
from vouching.rows.hub import HUB
from vouching.rows.pool import AsyncWorkFactory
from vouching.rows.worker import WorkFactory

if TYPE_CHECKING:
    from rich.console import RenderableType

Kind: TypeAlias = Literal["claims", "rankings", "ifeval"]
"""Decides which options of ``vouch bench run`` apply."""
ROWS: Mapping[Kind, str] = {
    "claims": "claims to judge",
    "rankings": "answers to rank",
    "ifeval": "instructions with your responses",
}
"""Descriptions of the rows of each kind."""
RowT = TypeVar("RowT")
Read: TypeAlias = Callable[[Sequence[Path], Split], Iterator[RowT | Fault]]
Line: TypeAlias = dict[str, Any]
"""A scored row of ``rows/<set>.jsonl``."""
SPOILED = 10
"""In self-checks, one of so many answers is made wrong."""


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A published figure of one system on one set, in per cent as printed."""

    system: str
    """The model, as its publisher calls it."""
    metric: str
    """Name of the metric in our results, prefixed with the part of the set if it covers only one: "general p_at_1"."""
    percent: float
    where: str
    """Where it is printed."""
    remark: str = ""
    """What to know before comparing."""


@dataclass(frozen=True, slots=True)
class DataSet(Generic[RowT]):
    """A data set and where to find it."""

    name: str
    what: str
    """A short description of its rows."""
    origin: str
    """Authors and year, or a URL."""
    licence: str
    """As its authors state it; "none stated" if they do not."""
    files: Mapping[Split, tuple[str, ...]]
    """For each split, its files: patterns below the data folder, whole paths, or names on the hub (hf:...)."""
    read: Read[RowT]
    """Reads these files, in this order."""
    get: str = (
        "convert the authors' rows to id, claim, source, label (Attributable | Not Attributable); see docs/bench.md"
    )
    """How to obtain it."""
    remark: str = ""
    """What must be mentioned with every figure of it."""
    published: tuple[PublishedFigure, ...] = field(default=())
    """Figures that others report on it."""
    kind: Kind = "claims"

    def paths(self, folder: Path, split: Split) -> list[Path] | None:
        """Its files in the data folder, in order; None if any is missing."""
        names = self.files.get(split, ())
        found = [
            [path] if name.startswith(HUB) or path.is_absolute() else sorted(folder.glob(name))
            for name, path in zip(names, map(Path, names), strict=True)
        ]
        return [path for paths in found for path in paths] if found and all(found) else None

    def rows(self, folder: Path, split: Split) -> Iterator[RowT | Fault]:
        """Its rows, and faults in place of unusable ones. Raises InputError if the split or the files are missing."""
        if split not in self.files:
            raise InputError(f"{self.name} has no {split} split: pass --split {' or '.join(self.files)}")
        paths = self.paths(folder, split)
        if paths is None:
            files = " and ".join(self.files[split])
            raise InputError(f"{self.name} is missing: expected {files} in {folder}; to get it, {self.get}")
        return self.read(paths, split)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run."""

    model: str = "embedded"
    """Name of the model that is measured."""
    split: Split = "test"
    limit: int | None = None
    """Rows per set, in a sample stratified by label or part; None for all."""
    seeds: tuple[int, ...] = (0,)
    """A sample for each seed; the figures are those of all their rows, with the spread over the samples."""
    jobs: int = 1
    """Processes that score rows; 1 with a language model."""
    resume: bool = False
    """Whether to resume the run in the folder."""
    resamples: int = RESAMPLES
    """Bootstrap resamples of the intervals."""


class Listener(Protocol):
    """Gets the progress of a run."""

    def row(self, share: float, problem: str | None) -> None:
        """A row was scored, or failed with ``problem``; ``share`` of all rows is done."""

    def phase(self, words: str) -> None:
        """What is computed next, after the rows."""


class Task(Generic[RowT]):
    """What is done with the rows of one kind of set; the defaults suit sets that are shown as tables."""

    headings: ClassVar[tuple[str, ...]] = ()
    """Of the tables; one that ends in > is that of a column of numbers."""
    narrow: ClassVar[int | None] = None
    """Number of table columns on a terminal with fewer than ``WIDE`` columns; None for all."""
    failed_words: ClassVar[str] = "rows that failed: {}"
    command: ClassVar[str] = "vouch bench run"
    """The command that runs it, for the record of a run."""
    arguments: str = ""
    """Its options on the command line."""
    settings: Mapping[str, Any] = {}
    """The settings that determine the lines, besides version, split and limit."""

    def rows(self, data_set: DataSet[RowT], folder: Path, split: Split) -> Iterable[RowT | Fault]:
        """The rows of a set. Raises InputError if it is missing."""
        return data_set.rows(folder, split)

    @abstractmethod
    def work(self) -> WorkFactory | AsyncWorkFactory:
        """The work that scores rows, for :func:`~vouching.rows.run_rows`; called once per set."""
        raise NotImplementedError

    def fields(self, name: str, row: RowT) -> dict[str, Any]:
        """The input of the work for a row of the set ``name``."""
        known: Any = row
        return {"id": known.id, "part": getattr(known, "part", None), "row": row}

    def share_of(self, fields: Mapping[str, Any]) -> str:
        """The stratum of a row in a sample."""
        return str(fields["part"])

    def problem(self, line: Line) -> str | None:
        """Why a line failed; None if it did not."""
        return line["failed"]

    def set_figures(self, lines: Sequence[Line], resamples: int) -> Mapping[str, Any]:
        """The figures of one set."""
        raise NotImplementedError

    def slice_figures(self, lines: Sequence[Line]) -> Mapping[str, float]:
        """The figures of one sample of several; empty if the kind of sets has none."""
        return {}

    def figures(
        self, scored: Mapping[str, Sequence[Line]], sets: Sequence[DataSet[RowT]], resamples: int, listener: Listener
    ) -> dict[str, Any]:
        """The figures of each set, and the published ones."""
        found: dict[str, Any] = {}
        for data_set in sets:
            listener.phase(f"{data_set.name}: computing intervals from {resamples:,} resamples")
            found[data_set.name] = {
                "what": data_set.what,
                "remark": data_set.remark,
                "published": [asdict(figure) for figure in data_set.published],
                **self.set_figures(scored[data_set.name], resamples),
            }
        return {"sets": found}

    def title(self, results: Mapping[str, Any], rows: int) -> tuple[str, str]:
        """The title of the report, and the line below it."""
        raise NotImplementedError

    def table(self, found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
        """The figures of a set as table rows."""
        raise NotImplementedError

    def notes(self, found: Mapping[str, Any]) -> Iterator[str]:
        """Sentences about a set, below its table."""
        yield from ()

    def report(self, path: Path, results: Mapping[str, Any], scored: Mapping[str, Sequence[Line]]) -> None:
        """Write the HTML report. Raises InputError if the file cannot be written."""
        sets: Mapping[str, Mapping[str, Any]] = results["sets"]
        title, lead = self.title(results, sum(map(len, scored.values())))
        write_tables(
            path,
            results,
            title=title,
            lead=f"{lead}; {results['date']}, {results['machine']}",
            headings=self.headings,
            tables={name: [*self.table(found)] for name, found in sets.items()},
            notes={name: [*self.notes(found)] for name, found in sets.items()},
        )

    def show(self, results: Mapping[str, Any], width: int) -> Iterator[RenderableType]:
        """The figures for a terminal of ``width`` columns."""
        for name, found in results["sets"].items():
            yield f"{name}: {found['what']}{f' ({remark})' if (remark := found['remark']) else ''}\n"
            columns = slice(None if width >= WIDE else self.narrow)
            table = plain_table(*self.headings[columns])
            for row in self.table(found):
                table.add_row(*row[columns])
            yield table
            yield from self.notes(found)
            yield ""

    def incomplete(self, results: Mapping[str, Any], failed: int) -> str | None:
        """A message about the number of ``failed`` rows; None if there are none."""
        return self.failed_words.format(f"{failed:,}") if failed else None

    @staticmethod
    def counted(rows: Sequence[RowT]) -> Sequence[str]:
        """The counts that ``vouch bench list`` shows."""
        return (f"{len(rows):,} rows",)

    @staticmethod
    def validate(data_set: DataSet[RowT], rows: Sequence[RowT]) -> Iterator[Fault]:
        """Faults beyond duplicate ids, without a model."""
        yield from ()


def id_faults(rows: Iterable[Any]) -> Iterator[Fault]:
    """Ids that several rows share."""
    for name, count in Counter(row.id for row in rows).items():
        if count > 1:
            yield Fault(f"row {name}", f"{count} rows have this id, expected one")
