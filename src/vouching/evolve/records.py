"""The types of self-evolution and their files: one JSON object each, or one per line.

Files are written atomically. A ``Row`` on disk has the keys of this project's own rows, and so has a ``Probe``:
``recipes/encoder`` reads files of probes as pairs. Not supported: several sources of a claim; they are joined by a
blank line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from vouching.bench.intervals import Figure
from vouching.bench.rows import BenchRow, group_keys
from vouching.errors import InputError
from vouching.judging.verifier import Outcome
from vouching.text.json_values import parse_json
from vouching.types import Example, Source, Span
from vouching.types.spans import ErrorType, Label

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Made = TypeVar("Made")
Basis: TypeAlias = Literal["known", "predicted", "none"]
"""Where the error type of rows comes from: the data, the verifier's answer, or there are no such rows."""
CrossCheck: TypeAlias = Literal["agreed", "label", "type", "unverified", "unchecked"]
"""A second verifier's answer to a probe: the same; another label; another type; it failed; it was not asked."""
TYPED = "typed"
"""Name of the set of perturbed rows with known error type. Their group names the set that they were made from."""


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled claim of a data set."""

    id: str
    """Unique in its set."""
    claim: str
    source: str
    label: Label
    """Gold label."""
    data_set: str = ""
    """Name of the set, e.g. "wice"."""
    group: str | None = None
    """Document, if the set names one. Rows of a group must not be split."""
    error_type: ErrorType | None = None
    """Gold error type; None if there is no error or its type is unknown."""
    spans: tuple[Span, ...] = ()
    """Where in the claim the error is, if it was marked."""

    @property
    def attributable(self) -> bool:
        """Whether the gold label is Attributable."""
        return self.label == "Attributable"

    @property
    def example(self) -> Example:
        """The row as ``vouching.perturb`` takes it."""
        return Example(
            self.id, self.claim, (Source(self.source),), self.label, group=self.group, error_type=self.error_type
        )

    @property
    def keys(self) -> list[str]:
        """Hashes of its claim, its source and its document; rows that share one are related."""
        document = self.group if self.group is None or self.data_set == TYPED else f"{self.data_set}/{self.group}"
        return group_keys(BenchRow(self.id, self.claim, (self.source,), None, document=document))


@dataclass(frozen=True, slots=True)
class Judged:
    """One verifier's answer to one row: a score and a label, or why there is none."""

    row: Row
    score: float | None = None
    """Probability that the claim is Attributable, in [0, 1]."""
    label: Label | None = None
    error_type: ErrorType | None = None
    """The verifier's error type; None for Attributable."""
    unverified: str | None = None
    """Why there is no answer."""

    def __post_init__(self) -> None:
        if (self.unverified is None) == (self.label is None) or (self.label is None) != (self.score is None):
            raise ValueError(f"row {self.row.id} must have a score and a label, or the reason why it has neither")

    @property
    def right(self) -> bool | None:
        """Whether the label is the gold one; None if the verifier failed."""
        return None if self.label is None else self.label == self.row.label


@dataclass(frozen=True, slots=True)
class Probe:
    """A training row made from an Attributable claim: perturbed, rewritten or unchanged.

    On disk it has the keys of ``perturb.Perturbation`` and those below.
    """

    id: str
    """Id of its parent, strategy and a number."""
    claim: str
    """The claim after the change."""
    source: str
    """Text that supports the original."""
    label: Label
    """Gold label against ``source``."""
    error_type: ErrorType | None
    """The error that was inserted; None for a claim that is still Attributable."""
    strategy: str
    """How it was made: one of ``perturb.STRATEGIES``, or "unchanged"."""
    original: str
    """The claim before."""
    spans: tuple[Span, ...]
    """Where the claim was changed."""
    group: str
    """Document, or else row, that it was made from."""
    parent: str
    """Id of the row that it was made from."""
    data_set: str = ""
    """Set of its parent."""
    check: CrossCheck = "unchecked"
    """The second verifier's answer; only "agreed" and "unchecked" probes are trained on."""

    @property
    def row(self) -> Row:
        """The probe as a row of the set of its parent."""
        return Row(self.id, self.claim, self.source, self.label, self.data_set, self.group, self.error_type, self.spans)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy of labels on some rows."""

    rows: int
    """Rows that were answered."""
    right: int
    unverified: int
    """Rows that the verifier failed on, counted nowhere else."""
    accuracy: Figure
    """With its interval; the estimate is None without rows."""


@dataclass(frozen=True, slots=True)
class TypeAccuracy:
    """How well the errors of one type are found, and its weight among the next probes."""

    error_type: ErrorType
    basis: Basis
    """Whether the type of the rows is known, or the one that the verifier gave them."""
    found: Accuracy
    """Label accuracy on the rows of this type."""
    weight: float
    """(1 - a_t) / sum of (1 - a_t'), in [0, 1]; all weights sum to 1. A type without rows counts as the mean type."""
    smoothed: float
    """The same with every a_t shrunk to the accuracy over all types, the more the fewer rows there are."""


@dataclass(frozen=True, slots=True)
class Reflection:
    """A verifier's strengths and weaknesses."""

    types: tuple[TypeAccuracy, ...]
    """All six, in the order of ``ERROR_TYPES``."""
    sets: Mapping[str, Accuracy]
    confusion: Mapping[str, Mapping[str, int]]
    """Rows by gold type, or "Attributable" or "untyped", and by the verifier's answer: a type, "Attributable",
    "no type" or "unverified"."""
    rules: tuple[str, ...]
    """Sentences for a verifier's prompt, made from its failures, the most frequent first."""
    notes: tuple[str, ...] = ()
    """Caveats: which types are predicted, which have no rows."""

    def weights(self, smoothed: bool = True) -> dict[ErrorType, float]:
        """The weakness weights by type."""
        return {one.error_type: one.smoothed if smoothed else one.weight for one in self.types}


@dataclass(frozen=True, slots=True)
class SetChange:
    """What a round did to one set."""

    data_set: str
    metric: str
    """"macro_f1", or "accuracy" for a set with one class."""
    rows: int
    """Rows that both rounds answered."""
    lost: int
    """Rows that were answered before and not after, minus those the other way round."""
    before: float | None
    """The metric before, on the rows that both answered."""
    after: float | None
    difference: Figure
    """After minus before, with its paired interval."""
    answered: Figure
    """Share of rows answered, after minus before, with its paired interval."""
    refused: str | None
    """Why the set refuses the round; None if it does not."""


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether a round is accepted."""

    accepted: bool
    max_loss: float
    """The allowed loss x."""
    rule: Literal["harm", "safety"]
    """"harm": refused if the interval shows a loss above x. "safety": refused unless it rules one out."""
    changes: tuple[SetChange, ...]
    """Of all sets, watched or not."""
    watched: tuple[str, ...]
    """Sets that can refuse."""


class Student(Protocol):
    """A verifier that can be refined into a new one; the old one does not change."""

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        ...

    def verify(self, rows: Sequence[Row]) -> list[Judged]:
        """One answer per row, in order."""
        ...

    def refine(
        self, round: int, probes: Sequence[Probe], replay: Sequence[Row], rules: Sequence[str], out: Path
    ) -> Student:
        """The verifier of the next round, from 1, written to ``out``; called again after a kill, it resumes.

        It is trained on probes and on replayed rows of the training data; ``rules`` are those of the reflection.
        """
        ...


def judged_as(row: Row, outcome: Outcome) -> Judged:
    """A verifier's outcome on a row."""
    if outcome.kind == "unverified":
        return Judged(row, unverified=f"{outcome.reason}: {outcome.message}")
    return Judged(row, outcome.score, outcome.label, outcome.error_type)


def to_json(record: object, indent: int | None = None) -> str:
    """A record as JSON. Raises InputError for a text with a lone surrogate."""
    from pydantic_core import PydanticSerializationError

    try:
        return _adapter(type(record)).dump_json(record, indent=indent).decode()
    except PydanticSerializationError as error:
        raise InputError(
            f"the record cannot be written as JSON ({error}): remove lone surrogates from its text"
        ) from None


def from_json(kind: type[Made], text: str, place: str) -> Made:
    """A record from JSON. Raises InputError, which names the place, if it is not of this kind."""
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole text"
        raise InputError(f"{place} is not a valid record ({where}: {first['msg']})") from None


def write_record(path: Path, record: object) -> None:
    """Write one record to a file, atomically."""
    write_text(path, to_json(record, indent=1) + "\n")


def write_records(path: Path, records: Iterable[object]) -> None:
    """Write records to a JSONL file, atomically."""
    write_text(path, "".join(to_json(record) + "\n" for record in records))


def read_record(path: Path, kind: type[Made]) -> Made:
    """Read a file of one record. Raises InputError if it cannot be read or has other content."""
    return from_json(kind, _text(path), str(path))


def read_records(path: Path, kind: type[Made]) -> list[Made]:
    """Read a JSONL file. Raises InputError, with the line, if it cannot be read or has other content."""
    lines = _text(path).split("\n")
    return [from_json(kind, line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]


def read_answers(path: Path, rows: str = "") -> list[Judged]:
    """The answers in a file of ``vouch evolve run`` or ``reflect``, without its lines for rows that could not be used.

    Raises InputError, with the line, if it cannot be read, or has no answer although ``rows`` names what it answers.
    """
    lines = enumerate(_text(path).split("\n"), 1)
    expected = [(number, line) for number, line in lines if line.strip() and not _is_problem(line)]
    if rows and not expected:
        raise InputError(f"{rows} has no usable row: expected a claim, a source and a label in each line")
    return [from_json(Judged, line, f"{path}, line {number}") for number, line in expected]


def _is_problem(line: str) -> bool:
    """Whether ``vouch evolve reflect`` wrote the line for a row that it could not use."""
    try:
        return "problem" in parse_json(line)
    except (ValueError, TypeError):
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
    """Write a file atomically and create its folder. Raises InputError if it cannot be written."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
