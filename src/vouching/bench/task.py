"""Data sets and the task of each kind of set: how rows are read, scored, counted, shown and checked.

    rows(set) -> score -> figures(lines) -> show(figures)        validate(rows) needs no model

``catalog.py`` names the sets, ``run.py`` does what is the same for all kinds: the folder, resuming, the order, the
record of the run. Not supported: sets of different kinds in one run.
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
from vouching.rows.pool import AsyncWorkFactory
from vouching.rows.worker import WorkFactory

if TYPE_CHECKING:
    from rich.console import RenderableType

Kind: TypeAlias = Literal["claims", "rankings", "answers", "judges", "ifeval", "math", "taxes"]
"""What is done with the rows of a set; decides which options of ``vouch bench run`` apply."""
ROWS: Mapping[Kind, str] = {
    "claims": "claims to be judged",
    "rankings": "answers to be ranked",
    "answers": "questions to be answered",
    "judges": "responses that language models judge",
    "ifeval": "instructions with responses of yours",
    "math": "problems with responses of yours",
    "taxes": "returns with answers of yours",
}
"""What the rows of each kind of set are."""
RowT = TypeVar("RowT")
Read: TypeAlias = Callable[[Sequence[Path], Split], Iterator[RowT | Fault]]
Line: TypeAlias = dict[str, Any]
"""A scored row, as it stands in ``rows/<set>.jsonl``."""
SPOILED = 10
"""Where a set checks itself, one of so many answers is made wrong."""


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """What a publisher reports of one system on one set, in per cent as printed."""

    system: str
    """The model, as its publisher calls it."""
    metric: str
    """Name of the metric as in our results, with the part of the set before it where it is of one: "general p_at_1"."""
    percent: float
    """The value."""
    where: str
    """Where it is printed."""
    remark: str = ""
    """What to know before comparing."""


@dataclass(frozen=True, slots=True)
class DataSet(Generic[RowT]):
    """A data set and where to find it."""

    name: str
    """What it is called on the command line."""
    what: str
    """What its rows are, in a few words."""
    origin: str
    """Whose it is: authors and year, or an address."""
    licence: str
    """Terms, as its authors state them; "none stated" if they state none."""
    files: Mapping[Split, tuple[str, ...]]
    """For each split it has, its files below the data folder; patterns for several of a kind."""
    read: Read[RowT]
    """Reads these files, in this order."""
    get: str = (
        "convert the authors' rows: id, claim, source, label (Attributable | Not Attributable), see docs/bench.md"
    )
    """How to obtain it."""
    remark: str = ""
    """What must be said wherever a figure of it is shown."""
    published: tuple[PublishedFigure, ...] = field(default=())
    """Figures that others report on it."""
    kind: Kind = "claims"
    """Which task it is for."""

    def paths(self, folder: Path, split: Split) -> list[Path] | None:
        """Its files in the data folder, in order; None if any is missing."""
        found = [sorted(folder.glob(pattern)) for pattern in self.files.get(split, ())]
        return [path for paths in found for path in paths] if found and all(found) else None

    def rows(self, folder: Path, split: Split) -> Iterator[RowT | Fault]:
        """Its rows, and what is wrong with those that cannot be used.

        Raises:
            InputError: it has no such split, or its files are not there; the message says how to get them.
        """
        if split not in self.files:
            raise InputError(f"{self.name} has no {split} split, it has {', '.join(self.files)}: add --split")
        paths = self.paths(folder, split)
        if paths is None:
            wanted = " and ".join(self.files[split])
            raise InputError(f"{self.name} is not here: wanted {wanted} in {folder}; to get it: {self.get}")
        return self.read(paths, split)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run is to do."""

    model: str = "embedded"
    """Name of what is measured."""
    split: Split = "test"
    """Which part of each set."""
    limit: int | None = None
    """Rows per set, drawn with seed 0 so that labels, or parts, keep their share; None for all."""
    jobs: int = 1
    """Processes that score rows; 1 with a language model."""
    resume: bool = False
    """Whether to resume a run that is in the folder."""
    resamples: int = RESAMPLES
    """Of the bootstrap behind the intervals."""


class Listener(Protocol):
    """Told how far a run is."""

    def row(self, share: float, problem: str | None) -> None:
        """A row was scored, or could not be (``problem``); ``share`` of all rows is done."""

    def phase(self, words: str) -> None:
        """What is done next, after the rows."""


class Task(Generic[RowT]):
    """What is done with the rows of one kind of set.

    The defaults suit sets that are shown as tables, whose lines tell by ``failed`` why there is no score.
    """

    headings: ClassVar[tuple[str, ...]] = ()
    """Of the tables; one that ends in > is that of a column of numbers."""
    narrow: ClassVar[int | None] = None
    """Columns of the tables on a terminal of fewer than ``WIDE``; None for all."""
    failed_words: ClassVar[str] = "rows that failed: {}"
    """Says how many rows failed."""
    arguments: str = ""
    """How it is asked for on the command line, after the names of the sets."""
    settings: Mapping[str, Any] = {}
    """What makes the lines, beside version, split and limit."""

    def rows(self, data_set: DataSet[RowT], folder: Path, split: Split) -> Iterable[RowT | Fault]:
        """The rows of a set. Raises InputError if it is not here."""
        return data_set.rows(folder, split)

    @abstractmethod
    def work(self) -> WorkFactory | AsyncWorkFactory:
        """What scores rows, for :func:`~vouching.rows.run_rows`; asked for once for each set."""
        raise NotImplementedError

    def fields(self, name: str, row: RowT) -> dict[str, Any]:
        """From the name of a set and a row of it to what the work takes."""
        known: Any = row
        return {"id": known.id, "part": getattr(known, "part", None), "row": row}

    def share_of(self, fields: Mapping[str, Any]) -> str:
        """What keeps its share when rows are drawn."""
        return str(fields["part"])

    def problem(self, line: Line) -> str | None:
        """What failed in a line; None if nothing did."""
        return line["failed"]

    def set_figures(self, lines: Sequence[Line], resamples: int) -> Mapping[str, Any]:
        """The figures of one set."""
        raise NotImplementedError

    def figures(
        self, scored: Mapping[str, Sequence[Line]], sets: Sequence[DataSet[RowT]], resamples: int, listener: Listener
    ) -> dict[str, Any]:
        """What results.json holds beside the record of the run: the figures of each set, and what others report."""
        found: dict[str, Any] = {}
        for data_set in sets:
            listener.phase(f"{data_set.name}: intervals by {resamples:,} resamples")
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
        """The figures of a set as rows below ``headings``."""
        raise NotImplementedError

    def notes(self, found: Mapping[str, Any]) -> Iterator[str]:
        """What else is to be known of a set, a sentence each."""
        yield from ()

    def report(self, path: Path, results: Mapping[str, Any], scored: Mapping[str, Sequence[Line]]) -> None:
        """Write the HTML report. Raises InputError if the file cannot be written."""
        sets: Mapping[str, Mapping[str, Any]] = results["sets"]
        title, lead = self.title(results, sum(map(len, scored.values())))
        write_tables(
            path, results, title=title, lead=f"{lead}; {results['date']}, {results['machine']}",
            headings=self.headings, tables={name: [*self.table(found)] for name, found in sets.items()},
            notes={name: [*self.notes(found)] for name, found in sets.items()},
        )  # fmt: skip

    def show(self, results: Mapping[str, Any], width: int) -> Iterator[RenderableType]:
        """The figures for a terminal of so many columns."""
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
        """What is to be said of rows without figures, of which so many failed; None if there are none."""
        return self.failed_words.format(f"{failed:,}") if failed else None

    @staticmethod
    def counted(rows: Sequence[RowT]) -> Sequence[str]:
        """How many rows there are, and what else ``vouch bench list`` says about them."""
        return (f"{len(rows):,} rows",)

    @staticmethod
    def validate(data_set: DataSet[RowT], rows: Sequence[RowT]) -> Iterator[Fault]:
        """What is wrong with the rows of a set beyond their ids, without a model."""
        yield from ()


def id_faults(rows: Iterable[Any]) -> Iterator[Fault]:
    """Ids that several rows have."""
    for name, count in Counter(row.id for row in rows).items():
        if count > 1:
            yield Fault(f"row {name}", f"{count} rows have this id, wanted one")
