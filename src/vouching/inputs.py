"""Turn what callers pass into claims and sources; errors say what was found, what was expected and what to do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, TypeAlias, cast, overload

from vouching.errors import InputError
from vouching.models.base import spoken, thoughts
from vouching.rows.documents import Document, as_document
from vouching.rows.read import Row, RowReader
from vouching.rows.shapes import SOURCE_KEYS, as_row, read_label
from vouching.text.json_values import MOST_LEVELS
from vouching.types import Claim, Example, Label, Passage, Source, Span
from vouching.types.visible import shown_json, shown_keys, value_fault

SourceLike: TypeAlias = str | Source | Passage | Mapping[str, object] | Document
SourcesLike: TypeAlias = SourceLike | Sequence[SourceLike]
ClaimLike: TypeAlias = str | Claim

LONGEST_CLAIM = 50_000
"""Characters; anything longer is a response, to be split into claims first."""
MOST_NUMBERS = 500
"""Numbers of a claim, each of which is compared with the others and with those of the sources."""
_TEXT_KEYS = ("text", "content", "page_content", "source")
_DIGITS = re.compile(r"\d+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def as_claim(value: ClaimLike, number: int = 1) -> Claim:
    """A claim from a string or a Claim, without the thoughts of a model.

    Raises InputError if it is empty, too long, of another type or invalid text, or has too many numbers.
    """
    claim = value if isinstance(value, Claim) else Claim(value, id=f"claim-{number}")
    if claim.span is None and thoughts(check_text(claim.text, "the claim")):
        claim = replace(claim, text=spoken(claim.text).strip())
    check_text(claim.id, "the id of the claim")
    if not any(c.isalnum() for c in claim.text):
        raise InputError(f"the claim must contain at least one word or number, got {shown_json(claim.text)}")
    if len(claim.text) > LONGEST_CLAIM:
        raise InputError(
            f"the claim must have at most {LONGEST_CLAIM:,} characters, got {len(claim.text):,}: "
            "check it as a response (check_response, or --response on the command line)"
        )
    if (numbers := len(_DIGITS.findall(claim.text))) > MOST_NUMBERS:
        raise InputError(f"the claim must have at most {MOST_NUMBERS} numbers, got {numbers:,}: split it into claims")
    return claim


def as_sources(value: SourcesLike) -> tuple[Source, ...]:
    """Sources from a string, a Source, a Passage, a mapping with "text", or a sequence of these, with unique ids.

    The id of a mapping is its "id" or "doc_id".

    Documents of LangChain, LlamaIndex and Haystack are sources too, as objects or as JSON: text, id, and from their
    metadata the file, the page and the title.

    The id of a passage names its document and its offset there: character 4 of "bridge.txt#char=100,180" is character
    104 of bridge.txt.

    Raises:
        InputError: no source, a source of another type, or invalid text. An empty text is accepted: nothing can be
            attributed to it.

    >>> [source.id for source in as_sources(["one", {"text": "two", "id": "wiki"}])]
    ['source-1', 'wiki']
    """
    values = each_of(value)
    if not values:
        raise InputError("no source was given: pass at least one")
    sources: list[Source] = []
    taken: set[str] = set()
    following: dict[str, int] = {}
    for number, item in enumerate(values, 1):
        source = _as_source(item, number)
        if source.id in taken:
            name, n = source.id, following.get(source.id, 2)
            while f"{name}-{n}" in taken:
                n += 1
            source, following[name] = replace(source, id=f"{name}-{n}"), n + 1
        taken.add(source.id)
        sources.append(source)
    return tuple(sources)


def _as_source(item: object, number: int) -> Source:
    name = f"source {number}"
    if isinstance(item, Source):
        check_text(item.text, name)
        check_text(item.id, f"the id of {name}")
        check_text(item.title, f"the title of {name}")
        check_text(item.url, f"the url of {name}")
        return item
    if isinstance(item, Passage):
        return _as_source(Source(item.span.text, _passage_name(item.span, number), item.title, item.url), number)
    if isinstance(item, str):
        return Source(check_text(item, name), id=f"source-{number}")
    document = as_document(item)
    if isinstance(item, Mapping) or document is not None:
        row = cast("Mapping[str, object]", item) if document is None else document
        key = next((k for k in _TEXT_KEYS if k in row), None)
        if key is None:
            raise InputError(f'{name} has no "text"; {shown_keys(row)} (optional keys: id or doc_id, title, url)')
        title, url, given = row.get("title"), row.get("url"), row.get("id", row.get("doc_id"))
        source = Source(
            check_text(row[key], name),
            id=str(given) if given is not None else f"source-{number}",
            title=check_text(title, f"the title of {name}") if title is not None else "",
            url=str(url) if url is not None else "",
        )
        return _as_source(source, number)
    if isinstance(item, PurePath):
        raise InputError(f"{name} must be a string, got the path {str(item)!r}: read the file with path.read_text()")
    raise InputError(f'{name} must be a string, a Source, or an object with "text", got {shown_json(item)}')


def _passage_name(span: Span, number: int) -> str:
    """The document's name and, unless the passage is at its start, its characters (as in RFC 5147)."""
    document = span.source_id or f"source-{number}"
    return f"{document}#char={span.start},{span.end}" if span.start else document


def each_of(value: object) -> list[Any]:
    """The members of ``value``, or ``[value]`` if it is a single thing (a text, a record, a mapping)."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return [value]
    return [*cast("Iterable[object]", value)]


def check_text(value: object, name: str) -> str:
    """``value`` if it is valid text. Raises InputError otherwise."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be a string, got {shown_json(value)}")
    broken = _SURROGATE.search(value)
    if broken:
        raise InputError(
            f"{name} contains a lone surrogate, U+{ord(broken.group()):04X}, at offset {broken.start()}, which is not "
            "a valid character: decode the text again, e.g. raw.decode('utf-8', errors='replace')"
        )
    return value


def check_texts(value: object, name: str) -> None:
    """Raises InputError if any text of a nested value, keys included, is not valid text, or it is nested too deeply."""
    level = [value]
    for _ in range(MOST_LEVELS + 1):
        below: list[object] = []
        for one in level:
            if isinstance(one, str):
                check_text(one, name)
            elif isinstance(one, Mapping):
                below += [*cast("Mapping[object, object]", one), *cast("Mapping[object, object]", one).values()]
            elif isinstance(one, list | tuple):
                below += cast("list[object]", one)
        level = below
    if level:
        raise InputError(f"{name} is nested more than {MOST_LEVELS} levels deep: send the part that has the texts")


OR_SEARCH = ", or search for sources with --index or --web"
"""The alternative to a row's sources, for commands that can search."""


@overload
def row_sources(row: Mapping[str, object], *, otherwise: str = "") -> SourcesLike: ...
@overload
def row_sources(row: Mapping[str, object], needed: bool, otherwise: str = "") -> SourcesLike | None: ...
def row_sources(row: Mapping[str, object], needed: bool = True, otherwise: str = "") -> SourcesLike | None:
    """The sources of a row, under one of the accepted names; None if there are none and none are ``needed``.

    ``otherwise`` ends the message about a row without sources; it names the alternatives.

    Raises:
        InputError: there are none, or under two names.

    >>> row_sources({"claim": "It opened.", "context": "It opened in 1973."})
    'It opened in 1973.'
    """
    given = [key for key in SOURCE_KEYS if row.get(key) is not None]
    if not given and needed:
        empty = next((key for key in SOURCE_KEYS if key in row), None)
        lacks = f'the row has no "sources"; {shown_keys(row)}; pass "source" or "sources",'
        lacks = f'"{empty}" is null: pass' if empty else lacks
        raise InputError(f"{lacks} a string or a list of strings{otherwise}")
    if len(given) > 1:
        raise InputError(f'the row has both "{given[0]}" and "{given[1]}": put all texts into "sources"')
    return cast("SourcesLike", row[given[0]]) if given else None


LABEL_KEYS = ("label", "gold")
"""Names under which a row may have its label; the first present counts."""


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A usable row; its claim has the row's id."""

    claim: Claim
    sources: tuple[Source, ...]
    gold: Label | None
    group: str | None


def labelled_row(row: Row) -> LabelledRow:
    """A row with its label. Raises InputError if it cannot be used."""
    if row.fields is None:
        raise InputError(str(row.problem))
    fields = as_row(row.fields)
    if fields.get("claim") is None:
        raise InputError(value_fault(fields, "claim"))
    gold = gold_of(fields)
    group = fields.get("group")
    claim = Claim(as_claim(fields["claim"]).text, id=row.name)
    return LabelledRow(claim, as_sources(row_sources(fields)), gold, None if group is None else str(group))


def gold_of(fields: Mapping[str, Any]) -> Label | None:
    """The label of a row, of which 1 is Attributable and 0 is not; None without one. Raises InputError for another."""
    key = next((key for key in LABEL_KEYS if fields.get(key) is not None), None)
    return read_label(fields[key], key) if key else None


@dataclass(slots=True)
class SeenRows:
    """Counts of the rows read."""

    counts: Counter[str] = field(default_factory=Counter[str])
    """Rows by label; "none" for rows without one."""
    broken: int = 0
    """Rows that cannot be used."""


def labelled_examples(
    reader: RowReader, seen: SeenRows, advance: Callable[[], object], report: Callable[[str], object]
) -> Iterator[Example]:
    """The rows as examples, counted in ``seen``; those without a label count as Attributable.

    ``advance`` is called for each row, ``report`` with a message for each row that cannot be used.
    """
    for row in reader:
        advance()
        try:
            found = labelled_row(row)
            gold = found.gold or "Attributable"
            example = Example(row.name, found.claim.text, found.sources, gold, group=found.group)
        except InputError as error:
            seen.broken += 1
            report(f"{reader.name}, {row.place}: {error}")
            continue
        seen.counts[found.gold or "none"] += 1
        yield example
