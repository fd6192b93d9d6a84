"""The nouns of self-evolution, and how they lie on disk: one JSON object each, or one per line.

A file is written whole or not at all. A ``Row`` on disk has the keys of this project's own rows, and so has a
``Probe``: files of probes are read by ``vouch train encoder`` as pairs, and by whatever reads labelled claims. Left
out: several sources of a claim; they are joined by a blank line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from vouching.bench.intervals import Figure
from vouching.bench.rows import BenchRow, group_keys
from vouching.errors import InputError
from vouching.methods.base import Outcome
from vouching.types import Example, Source, Span
from vouching.types.spans import ErrorType, Label

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Made = TypeVar("Made")
Basis: TypeAlias = Literal["known", "predicted", "none"]
"""Where the type of the rows of an accuracy comes from: said by the data, said by the verifier, or there are none."""
CrossCheck: TypeAlias = Literal["agreed", "label", "type", "unverified", "unchecked"]
"""What a second verifier said of a probe: the same; another label; another type; it failed; it was not asked."""
TYPED = "typed"
"""Name of the set of rows that were made to be of known type. Their group names the set that they were made from."""


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled claim of a data set.

    >>> Row("1", "It opened in 1937.", "It opened in 1973.", "Not Attributable", "wice").attributable
    False
    """

    id: str
    """Name of the row, unique in its set."""
    claim: str
    """The statement."""
    source: str
    """What it is to be checked against."""
    label: Label
    """Gold label."""
    data_set: str = ""
    """Name of the set, e.g. "wice"."""
    group: str | None = None
    """Document, where the set names one. Rows of a group must not be split."""
    error_type: ErrorType | None = None
    """Gold type of the error; None where there is no error or nobody said which."""
    spans: tuple[Span, ...] = ()
    """Where in the claim the error is; empty where nobody marked it."""

    @property
    def attributable(self) -> bool:
        """Whether the gold label is Attributable."""
        return self.label == "Attributable"

    @property
    def example(self) -> Example:
        """The same as what ``vouching.perturb`` takes."""
        return Example(
            self.id, self.claim, (Source(self.source),), self.label, group=self.group, error_type=self.error_type
        )

    @property
    def keys(self) -> list[str]:
        """What ties it to other rows: hashes of its claim, its source and its document."""
        document = self.group if self.group is None or self.data_set == TYPED else f"{self.data_set}/{self.group}"
        return group_keys(BenchRow(self.id, self.claim, (self.source,), None, document=document))


@dataclass(frozen=True, slots=True)
class Judged:
    """One verifier's answer to one row. Where it failed there is no score and no label.

    Raises:
        ValueError: neither or both of an answer and a failure.
    """

    row: Row
    """What was judged."""
    score: float | None = None
    """Probability that the claim is Attributable, in [0, 1]."""
    label: Label | None = None
    """The verifier's label."""
    error_type: ErrorType | None = None
    """The verifier's error type; None for Attributable."""
    unverified: str | None = None
    """Why there is no answer; None if there is one."""

    def __post_init__(self) -> None:
        if (self.unverified is None) == (self.label is None) or (self.label is None) != (self.score is None):
            raise ValueError(f"row {self.row.id} has to have a score and a label, or the reason why it has none")

    @property
    def right(self) -> bool | None:
        """Whether the label is the gold one; None if the verifier failed."""
        return None if self.label is None else self.label == self.row.label


@dataclass(frozen=True, slots=True)
class Probe:
    """A row made to be learned from: an Attributable claim with an error put in, or written another way, or as it was.

    It has the keys of ``perturb.Perturbation`` on disk, with what follows from being a probe.
    """

    id: str
    """Name: that of its parent, the strategy and a number."""
    claim: str
    """The claim as it is now."""
    source: str
    """Text that supports the original."""
    label: Label
    """Gold label against ``source``."""
    error_type: ErrorType | None
    """The error that was put in; None for a claim that stays Attributable."""
    strategy: str
    """How it was made: one of ``perturb.STRATEGIES``, or "unchanged"."""
    original: str
    """The claim before."""
    spans: tuple[Span, ...]
    """Where the claim was changed."""
    group: str
    """Document, or else row, it was made from."""
    parent: str
    """Id of the row it was made from."""
    data_set: str = ""
    """Name of the set that the row is of."""
    check: CrossCheck = "unchecked"
    """What a second verifier said; only "agreed" and "unchecked" ones are learned from."""

    @property
    def row(self) -> Row:
        """The same as a row of the set of its parent."""
        return Row(self.id, self.claim, self.source, self.label, self.data_set, self.group, self.error_type, self.spans)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often labels are right on some rows."""

    rows: int
    """Rows that were answered."""
    right: int
    """Those whose label is the gold one."""
    unverified: int
    """Rows that the verifier failed on, counted nowhere else."""
    accuracy: Figure
    """Share that is right with its interval, as ``bench.intervals.figure`` gives it; estimate None without rows."""


@dataclass(frozen=True, slots=True)
class TypeAccuracy:
    """How well the errors of one type are found, and how much the next probes should be of it."""

    error_type: ErrorType
    """The type."""
    basis: Basis
    """Whether the rows are of known type, or of the type that the verifier gave them."""
    found: Accuracy
    """Label accuracy on the rows of this type."""
    weight: float
    """(1 - a_t) / sum of (1 - a_t'), in [0, 1]; all weights sum to 1. A type without rows counts as the mean type."""
    smoothed: float
    """The same with every a_t drawn to the accuracy over all types, the more the fewer rows there are."""


@dataclass(frozen=True, slots=True)
class Reflection:
    """What a verifier is good and bad at."""

    types: tuple[TypeAccuracy, ...]
    """By error type, all six in the order of ``ERROR_TYPES``."""
    sets: Mapping[str, Accuracy]
    """By data set."""
    confusion: Mapping[str, Mapping[str, int]]
    """Rows by gold type, or "Attributable" or "untyped", and by what the verifier said: a type, "Attributable",
    "no type" or "unverified"."""
    rules: tuple[str, ...]
    """What follows from the failures, as sentences for a verifier's prompt; most frequent failure first."""
    notes: tuple[str, ...] = ()
    """What a reader has to know: which types are predicted, which have no rows."""

    def weights(self, smoothed: bool = True) -> dict[ErrorType, float]:
        """The weakness weights by type."""
        return {one.error_type: one.smoothed if smoothed else one.weight for one in self.types}


@dataclass(frozen=True, slots=True)
class SetChange:
    """What a round did to one set."""

    data_set: str
    """Name of the set."""
    metric: str
    """"macro_f1", or "accuracy" where the set has one class only."""
    rows: int
    """Rows that both rounds answered."""
    lost: int
    """Rows that were answered before and are not now, less those the other way round."""
    before: float | None
    """The metric before, on the rows that both answered."""
    after: float | None
    """The metric after."""
    difference: Figure
    """After less before, with its paired interval."""
    answered: Figure
    """Share of rows answered, after less before, with its paired interval."""
    refused: str | None
    """Why the round is refused for it; None if it is not."""


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether a round may stay."""

    accepted: bool
    """Whether no watched set refuses it."""
    max_loss: float
    """The loss x that was allowed."""
    rule: Literal["harm", "safety"]
    """"harm": refused if the interval shows a loss above x. "safety": refused unless it rules one out."""
    changes: tuple[SetChange, ...]
    """What became of each set, watched or not."""
    watched: tuple[str, ...]
    """Names of the sets that can refuse."""


class Student(Protocol):
    """A verifier that can be refined: a new one comes out, the old one stays as it is."""

    @property
    def folder(self) -> Path:
        """Where it lies."""
        ...

    def verify(self, rows: Sequence[Row]) -> list[Judged]:
        """One answer per row, in order."""
        ...

    def refine(
        self, round: int, probes: Sequence[Probe], replay: Sequence[Row], rules: Sequence[str], out: Path
    ) -> Student:
        """The verifier of the next round, written to ``out``; called again after a kill, it goes on from there.

        Args:
            round: which round it is, from 1.
            probes: what to learn from.
            replay: rows of the data that it learned from before.
            rules: what reflection found.
            out: a folder of its own.
        """
        ...


def judged_as(row: Row, outcome: Outcome) -> Judged:
    """A verifier's outcome on a row.

    >>> from vouching import check
    >>> row = Row("1", "It opened in 1937.", "It opened in 1973.", "Not Attributable")
    >>> judged = judged_as(row, check(row.claim, row.source))
    >>> judged.right, judged.error_type
    (True, 'temporal_shift')
    """
    if outcome.kind == "unverified":
        return Judged(row, unverified=f"{outcome.reason}: {outcome.message}")
    return Judged(row, outcome.score, outcome.label, outcome.error_type)


def to_json(record: object, indent: int | None = None) -> str:
    """A record of this module as JSON. Raises InputError for a text with a lone surrogate."""
    from pydantic_core import PydanticSerializationError

    try:
        return _adapter(type(record)).dump_json(record, indent=indent).decode()
    except PydanticSerializationError as error:
        raise InputError(f"cannot be written as JSON, wanted text without surrogates: {error}") from None


def from_json(kind: type[Made], text: str, place: str) -> Made:
    """A record of this module from JSON. Raises InputError, which names the place, if it is none of this kind."""
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole text"
        raise InputError(f'{place}: not a {kind.__name__}: "{where}": {first["msg"]}') from None


def write_record(path: Path, record: object) -> None:
    """Write one record as a file, whole or not at all."""
    write_text(path, to_json(record, indent=1) + "\n")


def write_records(path: Path, records: Iterable[object]) -> None:
    r"""Write records as JSONL, whole or not at all.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.jsonl"
    >>> rows = [Row("1", "It opened.", "The bridge opened.", "Attributable")]
    >>> write_records(path, rows)
    >>> read_records(path, Row) == rows
    True
    """
    write_text(path, "".join(to_json(record) + "\n" for record in records))


def read_record(path: Path, kind: type[Made]) -> Made:
    """Read a file of one record. Raises InputError if it cannot be read or holds something else."""
    return from_json(kind, _text(path), str(path))


def read_records(path: Path, kind: type[Made]) -> list[Made]:
    """Read a file of JSONL. Raises InputError, with the line, if it cannot be read or holds something else."""
    lines = _text(path).split("\n")
    return [from_json(kind, line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]


def read_answers(path: Path, rows: str = "") -> list[Judged]:
    """The answers in a file of ``vouch evolve run`` or ``reflect``, which also names rows that it could not use.

    Args:
        path: the file.
        rows: what it answers; if that is named, there has to be an answer.

    Raises:
        InputError: it cannot be read or holds something else; the message has the line.
    """
    lines = enumerate(_text(path).split("\n"), 1)
    wanted = [(number, line) for number, line in lines if line.strip() and not _is_problem(line)]
    if rows and not wanted:
        raise InputError(f"{rows} has no row that can be used: wanted a claim, a source and a label in each line")
    return [from_json(Judged, line, f"{path}, line {number}") for number, line in wanted]


def _is_problem(line: str) -> bool:
    """Whether ``vouch evolve reflect`` wrote the line of a row that it could not use."""
    try:
        return "problem" in json.loads(line)
    except ValueError:
        return False


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all; its folder is made. Raises InputError if it cannot be written."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
