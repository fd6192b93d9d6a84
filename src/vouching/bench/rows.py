"""Labelled rows of benchmarks, and the conversion of file records to rows.

A record without the fields of its set becomes a ``Fault`` with its place. Rows in this project's own format have
``id, claim, source, label`` and, in some sets, a group, spans or tokens. RAGTruth labels whole responses and marks
hallucinated characters, WiCE's token sets mark unsupported tokens, SEVA's probes name the strategy that made them. Not
supported: guessing what a changed field means; the question, which claim verifiers do not use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast

from vouching.errors import InputError
from vouching.rows.read import Row, open_rows
from vouching.types.visible import shown_json, value_fault

Split: TypeAlias = Literal["train", "dev", "test"]
Offsets: TypeAlias = tuple[tuple[int, int], ...]
Record: TypeAlias = Mapping[str, Any]
BROKEN = "broken: "
"""Prefix of the failure of a row that cannot be read."""
UNANSWERED = "no answer: "
"""Prefix of the failure of a row that a resumed run asks again."""


@dataclass(frozen=True, slots=True)
class BenchRow:
    """A claim or a whole response with its sources and its gold labels."""

    id: str
    """Unique in its set."""
    text: str
    """The claim, or the response."""
    sources: tuple[str, ...]
    attributable: bool | None
    """Gold label; None if the set has none."""
    is_response: bool = False
    """Whether ``text`` is split into claims; it is Attributable if all of them are."""
    part: str | None = None
    """Part of the set that is reported separately: a task, an error type, a fine label."""
    document: str | None = None
    """Name of the document, if the set has one."""
    spans: Offsets | None = None
    """Gold offsets in ``text`` of unsupported parts; None if the set marks none."""
    tokens: Offsets | None = None
    """Offsets of the tokens in which ``spans`` are counted; None counts characters."""
    pair: str | None = None
    """Name shared by the two rows of a preference pair."""
    preferred: bool | None = None
    """Whether the row is the preferred one of its pair."""


def group_keys(row: BenchRow) -> list[str]:
    """Hashes of the row's claim, sources and document, ignoring case and spacing. Rows that share one are dependent.

    >>> row = BenchRow("1", "It opened in 1937.", ("It opened in 1973.",), False)
    >>> other = BenchRow("2", "It  opened in 1973.", ("it opened in 1973.",), True)
    >>> len(group_keys(row)), len({*group_keys(row)} & {*group_keys(other)})
    (2, 1)
    """
    texts = [("claim", row.text), *(("source", source) for source in row.sources), ("document", row.document or "")]
    keys = {f"{kind} {words}" for kind, text in texts if (words := " ".join(text.casefold().split()))}
    return sorted(hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16] for key in keys)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in a data set."""

    place: str
    """File and line, or the name of the row."""
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


Made = TypeVar("Made")
Convert: TypeAlias = Callable[[Record, str], Iterable[Made]]
"""Converts a record and its name to rows. Raises InputError for a record that cannot be used."""


def converted(path: Path, convert: Convert[Made]) -> Iterator[Made | Fault]:
    r"""The rows of a file, each record converted; records that cannot be read or used become faults.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "set.jsonl"
    >>> _ = path.write_text('{"id": 1, "claim": "It opened."}\n{"id": 2}\n', encoding="utf-8")
    >>> for row in converted(path, lambda record, name: [BenchRow(name, text_of(record, "claim"), (), True)]):
    ...     print(row if isinstance(row, Fault) else row.text)
    It opened.
    set.jsonl, line 2: the row has no "claim"; its keys are id
    """
    with open_rows(str(path)) as reader:
        for row in reader:
            place = f"{reader.name}, {row.place}"
            if row.fields is None:
                yield Fault(place, row.problem or "the row cannot be read")
                continue
            try:
                yield from convert(row.fields, row.name)
            except InputError as error:
                yield Fault(place, str(error))


def records(path: Path) -> Iterator[tuple[str, Record]]:
    """The readable records of a file, each with its id or number."""
    with open_rows(str(path)) as reader:
        yield from ((row.name, row.fields) for row in reader if row.fields is not None)


def responses_of(path: str, key: str) -> Iterator[tuple[str, str, str]]:
    """The rows of a file of responses: place, the text under ``key``, and the response. Raises InputError."""
    with open_rows(path, ("response",)) as reader:
        for row in reader:
            place, fields = f"{reader.name}, {row.place}", row.fields or {}
            for name in (key, "response"):
                if not isinstance(fields.get(name), str):
                    raise InputError(f"{place}: {row.problem or value_fault(fields, name)}")
            yield place, fields[key], fields["response"]


def unread(row: Row) -> str:
    """Why a row has no result, for its line: it cannot be read, or it got no answer for now."""
    return f"{UNANSWERED if row.again else BROKEN}{row.place}: {row.problem}"


def is_broken(line: Record) -> bool:
    """Whether a line belongs to a row that could not be read."""
    return (line["failed"] or "").startswith(BROKEN)


def text_of(record: Record, key: str) -> str:
    """A required text field that is not blank. Raises InputError."""
    value = record.get(key)
    if not isinstance(value, str):
        raise InputError(value_fault(record, key))
    if not value.strip():
        raise InputError(f'"{key}" must not be empty')
    return value


def list_of(record: Record, key: str) -> list[Any]:
    """A required list field. Raises InputError."""
    value = record.get(key)
    if not isinstance(value, list):
        raise InputError(value_fault(record, key, "a list"))
    return cast("list[Any]", value)


def texts_of(record: Record, key: str) -> tuple[str, ...]:
    """A text or a list of texts, at least one. Raises InputError."""
    if not isinstance(record.get(key), list):
        return (text_of(record, key),)
    texts = list_of(record, key)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(f'"{key}" must be a string or a list of at least one string')
    return tuple(texts)


def label_of(record: Record, key: str, meanings: Mapping[Any, bool]) -> bool:
    """A gold label, True for Attributable, from the set's own labels. Raises InputError."""
    value = record.get(key)
    if not isinstance(value, str | int) or value not in meanings:
        raise InputError(value_fault(record, key, f"one of {', '.join(map(shown_json, meanings))}"))
    return meanings[value]


def offsets_of(text: str, tokens: Iterable[str]) -> Offsets:
    """The offsets of tokens in a text, in order. Raises InputError if one does not occur.

    >>> offsets_of("It opened.", ["It", "opened", "."])
    ((0, 2), (3, 9), (9, 10))
    """
    found: list[tuple[int, int]] = []
    for token in tokens:
        start = text.find(token, found[-1][1] if found else 0)
        if start < 0:
            raise InputError(f"the token {token!r} does not occur in the text after the previous token")
        found.append((start, start + len(token)))
    return tuple(found)


def spans_of(record: Record, key: str, text: str) -> Offsets:
    """Marked spans of ``text``: objects with start, end and, optionally, the text there. Raises InputError.

    >>> spans_of({"spans": [{"start": 3, "end": 9, "text": "opened"}]}, "spans", "It opened.")
    ((3, 9),)
    """
    spans: list[tuple[int, int]] = []
    for given in list_of(record, key):
        span: Record = cast("Record", given) if isinstance(given, Mapping) else {}
        start, end = span.get("start"), span.get("end")
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)):
            place = f"{shown_json(start)} to {shown_json(end)}"
            raise InputError(f'"{key}" has an invalid span, {place}, in a text of {len(text)} characters')
        if span.get("text", text[start:end]) != text[start:end]:
            marked, there = shown_json(span["text"]), shown_json(text[start:end])
            raise InputError(f'"{key}" has {marked} at {start} to {end}, where the text has {there}')
        spans.append((start, end))
    return tuple(spans)


LABELS = {"Attributable": True, "Not Attributable": False}
_PROBE_LABELS = {"S": True, "C": False, "N": False}
"""Supported, contradicted, no information."""


def claim_rows(
    paths: Sequence[Path], split: Split, *, part: str | None = None, document: str | None = None
) -> Iterator[BenchRow | Fault]:
    """Labelled claims; ``part`` and ``document`` name the fields with the part of the set and the document."""
    return converted(paths[0], partial(_claim, part=part, document=document))


def responses(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """Whole responses with hallucinated spans (RAGTruth); a response with any span is Not Attributable."""
    return converted(paths[0], _response)


def token_claims(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """Claims whose unsupported tokens are marked (WiCE)."""
    return converted(paths[0], _token_claim)


def probes(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """Perturbed claims by strategy (SEVA); those without evidence, most of them, yield no row."""
    return converted(paths[0], _probe)


def _claim(record: Record, name: str, *, part: str | None, document: str | None) -> Iterator[BenchRow]:
    yield BenchRow(
        id=name,
        text=text_of(record, "claim"),
        sources=texts_of(record, "source"),
        attributable=label_of(record, "label", LABELS),
        part=_name(record, part),
        document=_name(record, document),
    )


def _response(record: Record, name: str) -> Iterator[BenchRow]:
    response, attributable = text_of(record, "response"), label_of(record, "label", LABELS)
    spans = spans_of(record, "spans", response)
    if attributable == bool(spans):
        must = "Not Attributable" if spans else "Attributable"
        raise InputError(f'a response with {len(spans)} spans must be {must}, got the label "{record["label"]}"')
    yield BenchRow(
        id=name,
        text=response,
        sources=texts_of(record, "source"),
        attributable=attributable,
        is_response=True,
        part=text_of(record, "task"),
        document=_name(record, "source_id"),
        spans=spans,
    )


def _token_claim(record: Record, name: str) -> Iterator[BenchRow]:
    [row] = _claim(record, name, part=None, document=None)
    tokens, marks = list_of(record, "claim_tokens"), list_of(record, "non_supported_spans")
    if len(tokens) != len(marks):
        raise InputError(
            f'"claim_tokens" and "non_supported_spans" must have equal lengths, got {len(tokens)} and {len(marks)}'
        )
    offsets = offsets_of(row.text, tokens)
    spans = tuple(place for place, unsupported in zip(offsets, marks, strict=True) if unsupported)
    yield BenchRow(row.id, row.text, row.sources, row.attributable, spans=spans, tokens=offsets)


def _probe(record: Record, name: str) -> Iterator[BenchRow]:
    if record.get("evidence") != []:
        yield BenchRow(
            id=name,
            text=text_of(record, "claim"),
            sources=texts_of(record, "evidence"),
            attributable=label_of(record, "gold_label", _PROBE_LABELS),
            part=text_of(record, "strategy"),
            document=_name(record, "original_id"),
        )


def _name(record: Record, key: str | None) -> str | None:
    """A field as a name, if given."""
    value = None if key is None else record.get(key)
    # BUMP writes some error types both with and without the last word.
    return None if value is None else str(value).removesuffix(" Error")
