"""The files of an index: its manifest, and its passages in tantivy.

    index.json        the manifest: settings, and the number of the current state
    state-000002/     the passages in a tantivy index, and vectors, see vectors.py
    lock              locked by the process that writes

A change takes effect when the manifest is replaced. Any other state was left by a writer that was stopped; the next
writer deletes it.

tantivy ranks by BM25 with k1 = 1.2 and b = 0.75. It gets the stems of a passage as words between spaces, those of the
title twice, and stores the passage as it is returned. Its statistics count removed passages until they are dropped, see
:class:`~vouching.search.index_writer.IndexWriter`. Not supported: words longer than 65,530 bytes, which it ignores.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, cast

from tantivy import DocAddress, Document, Index, Occur, Order, Query, Schema, SchemaBuilder

from vouching.errors import ConfigError, InputError, VouchError
from vouching.rows.read import FORMATS
from vouching.search.terms import Stems, scripts
from vouching.text.json_values import parse_json
from vouching.types import Passage, Span
from vouching.types.visible import shorten, shown_json
from vouching.version import __version__

MANIFEST = "index.json"
FORMAT = 2
"""Incremented when older versions cannot read what this one writes."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Settings and current state of an index."""

    max_words: int
    """Words per passage."""
    encoder: str | None = None
    """Name of the encoder of its vectors; None if it has none."""
    digest: str | None = None
    """First digits of the SHA-256 of the encoder's weights."""
    state: int = 0
    numbers: int = 0
    """How many passage numbers were assigned; none is reused."""
    format: int = FORMAT
    written_by: str = field(default=f"vouching {__version__}")


def state_path(folder: Path, number: int) -> Path:
    """The folder of a state."""
    return folder / f"state-{number:06}"


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the index in a folder. Raises InputError if it is missing or damaged, ConfigError if too old."""
    path = folder / MANIFEST
    try:
        record: Any = parse_json(path.read_bytes())
        found = int(record["format"])
        if found == FORMAT:
            return _checked(Manifest(**record))
    except (FileNotFoundError, NotADirectoryError):
        begun = folder.is_dir() and any(folder.glob("state-*"))
        problem = f"the index in {folder} is unfinished" if begun else f"there is no index in {folder}"
        raise InputError(f"{problem}: build one with  vouch index build {folder} FILE...") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; check its permissions") from None
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        reason = shorten(str(error), _MAX_REASON)
        raise InputError(f"{path} is damaged ({reason}): delete {folder}, and build the index again") from None
    raise ConfigError(
        f"the index in {folder} has format {found} (written by {record.get('written_by')}), but this version "
        f"reads format {FORMAT}: delete {folder}, and build the index again"
    )


def _checked(manifest: Manifest) -> Manifest:
    """The manifest. Raises ValueError if a field is of another type, or a number is negative."""
    for name, value in asdict(manifest).items():
        if name in ("encoder", "digest", "written_by"):
            right = isinstance(value, str) or (value is None and name != "written_by")
        else:
            right = type(value) is int and value >= 0
        if not right:
            raise ValueError(f"{name} is {shown_json(value)}")
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step, once its state is on disk. Raises OSError."""
    _sync_folder(state_path(folder, manifest.state))
    fresh = folder / f"{MANIFEST}.new"
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / MANIFEST)
    # Before the previous state is deleted: a power failure must not bring back the manifest that names it.
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    """Write the entries of a folder to disk, if the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def damaged(name: str | Path, error: BaseException) -> InputError:
    """The error of an index that is damaged."""
    reason = shorten(" ".join(str(error).split()), _MAX_REASON)
    return InputError(f"the index in {name} cannot be read ({reason}): build the index again")


@contextmanager
def reading(name: str | Path, classify: Callable[[str | Path, BaseException], Exception] = damaged) -> Generator[None]:
    """Raise what ``classify`` makes of an error that a damaged file can cause, which includes panics inside tantivy."""
    try:
        yield
    except VouchError:
        raise
    except BaseException as error:
        known = isinstance(error, (OSError, ValueError, LookupError, TypeError, EOFError))
        # tantivy does not export the class of its panics, which is not an Exception.
        if not known and type(error).__name__ != "PanicException":
            raise
        if (found := classify(name, error)) is error:
            raise
        raise found from error


TITLE_WEIGHT = 2
"""How often a word of the title counts in each passage; chosen on training questions (benchmarks/search.py)."""
Record: TypeAlias = list[Any]
"""A stored passage: id and title of its document, address, start, end, text."""
Hit: TypeAlias = tuple[int, float, DocAddress]
"""Number of a passage, its score, and where it is stored."""
_MAX_REASON = 300
"""Characters of an error's message that are repeated."""
_TIES = 16
"""Additional passages to fetch, so that equal scores at the limit can be ordered."""
_ROW = re.compile(rf"(.*?(?:{'|'.join(map(re.escape, FORMATS))}))#", re.IGNORECASE | re.DOTALL)


@cache
def schema() -> Schema:
    """The fields of a passage."""
    builder = SchemaBuilder()
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("script", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("number", indexed=True, fast=True)
    builder.add_unsigned_field("document", indexed=True, fast=True)
    builder.add_unsigned_field("file", indexed=True)
    builder.add_boolean_field("first", indexed=True, fast=True)
    builder.add_bytes_field("passage", stored=True)
    return builder.build()


def entry(number: int, first: bool, record: Record, stems: Stems) -> Document:
    """A passage as a tantivy document; ``number`` orders passages with equal scores.

    Raises UnicodeEncodeError if it contains a lone surrogate.
    """
    name, title, *_, text = record
    words = stems.of(text)
    document = Document()
    document.add_bytes("passage", json.dumps(record, ensure_ascii=False).encode())
    document.add_text("terms", " ".join(stems.of(title) * TITLE_WEIGHT + words))
    document.add_text("script", max(found, key=found.__getitem__) if (found := scripts(words)) else "")
    document.add_unsigned("number", number)
    document.add_unsigned("document", name_hash(name))
    document.add_unsigned("file", name_hash(file_of(name)))
    document.add_boolean("first", first)
    return document


class Store:
    """A snapshot of the passages of one state. Raises ValueError if tantivy cannot read it."""

    def __init__(self, path: Path) -> None:
        index = Index.open(str(path))
        index.config_reader("manual")
        self._searcher = index.searcher()
        self.segments: int = self._searcher.num_segments
        self._scripts: dict[str, int] = dict(self._searcher.terms_with_prefix("script", ""))

    def __len__(self) -> int:
        """Number of passages, without removed ones."""
        return self._searcher.num_docs

    @property
    def removed(self) -> int:
        """Number of removed passages that the statistics still count."""
        return sum(self._scripts.values()) - len(self)

    @property
    def documents(self) -> int:
        """Number of documents."""
        found: Any = self._searcher.search(self._is_first(), 1, count=True)
        return found.count

    def names(self, limit: int | None = None) -> list[str]:
        """The ids of all documents, or of the first ``limit``, in the order in which they were added."""
        kept = max(1, len(self) if limit is None else min(limit, len(self)))
        found = self._searcher.search(self._is_first(), kept, count=False, order_by_field="number", order=Order.Asc)
        return [self.record(place)[0] for _, place in found.hits]

    def counted(self, names: Iterable[str]) -> Mapping[str, int]:
        """How many passages each of these documents has."""
        hashes = {name: name_hash(name) for name in names}
        query = Query.term_set_query(schema(), "document", [*hashes.values()])
        places = [place for _, place in self._searcher.search(query, max(1, len(self)), count=False).hits]
        counts = Counter(self._values("document", places))
        return {name: counts[number] for name, number in hashes.items()}

    @property
    def scripts(self) -> dict[str, int]:
        """Number of passages per main script."""
        return {script: count for script, count in self._scripts.items() if script}

    def ranked(self, stems: Iterable[str], limit: int) -> list[Hit]:
        """The passages with the highest BM25 scores for distinct stems; equal scores in order of their numbers."""
        clauses = [(Occur.Should, Query.term_query(schema(), "terms", stem, "freq")) for stem in stems]
        limit = min(limit, len(self))
        if not clauses or limit < 1:
            return []
        # tantivy allocates memory for as many passages as it is asked for.
        query, count = Query.boolean_query(clauses), min(limit + _TIES, len(self))
        while True:
            hits = self._searcher.search(query, count, count=False).hits
            # tantivy returns any of the passages that are tied at the limit, so all of these are needed.
            if len(hits) < count or count == len(self) or _rounded(hits[-1][0]) < _rounded(hits[limit - 1][0]):
                break
            count = min(4 * count, len(self))
        return sorted(self._numbered(hits), key=lambda hit: (-_rounded(hit[1]), hit[0]))[:limit]

    def numbered(self, numbers: Sequence[int]) -> dict[int, DocAddress]:
        """Addresses of the passages with these numbers, if they exist."""
        query = Query.term_set_query(schema(), "number", numbers)
        hits = self._searcher.search(query, max(1, len(numbers)), count=False).hits
        return {number: place for number, _, place in self._numbered(hits)}

    def everything(self) -> list[Hit]:
        """All passages in order of their numbers."""
        hits = self._searcher.search(Query.all_query(), max(1, len(self)), count=False).hits
        return sorted(self._numbered(hits), key=lambda hit: hit[0])

    def record(self, place: DocAddress) -> Record:
        """A passage as it was stored."""
        return parse_json(self._searcher.doc(place)["passage"][0])

    def is_first(self, place: DocAddress) -> bool:
        """Whether a passage is the first of its document."""
        return bool(self._values("first", [place])[0])

    def passage(self, place: DocAddress, score: float, origin: str) -> Passage:
        """A passage as a search returns it."""
        name, title, url, start, end, text = self.record(place)
        return Passage(Span(text, start, end, name), score, title, url, origin)

    def named(self, hashes: Sequence[int]) -> tuple[Query, set[int]]:
        """The query for documents by the hashes of their ids or files, and the hashes of those that exist."""
        fields = ((Occur.Should, Query.term_set_query(schema(), name, hashes)) for name in ("document", "file"))
        query = Query.boolean_query([*fields])
        firsts = Query.boolean_query([(Occur.Must, query), (Occur.Must, self._is_first())])
        places = [place for _, place in self._searcher.search(firsts, max(1, len(self)), count=False).hits]
        return query, set(self._values("document", places))

    def _is_first(self) -> Query:
        return Query.term_query(schema(), "first", True, "basic")

    def _values(self, field: str, places: list[DocAddress]) -> list[int]:
        return cast("list[int]", self._searcher.fast_field_values(field, places))

    def _numbered(self, hits: Sequence[tuple[float, DocAddress]]) -> list[Hit]:
        numbers = self._values("number", [place for _, place in hits])
        return [(number, score, place) for number, (score, place) in zip(numbers, hits, strict=True)]


def _rounded(score: float) -> float:
    """A score without the digits that depend on the order in which tantivy adds single-precision numbers."""
    return float(f"{score:.5g}")


def name_hash(name: str) -> int:
    """A 64-bit hash of a name, the same in every process."""
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def file_of(name: str) -> str:
    """The file of a document that is a row, by its id; the id itself for any other document.

    >>> file_of("rows.jsonl#17"), file_of("rows.jsonl#C#"), file_of("mill#2.txt")
    ('rows.jsonl', 'rows.jsonl', 'mill#2.txt')
    """
    found = _ROW.match(name)
    return found[1] if found else name


def named_by(pattern: str, names: Iterable[str]) -> list[str]:
    """The ids of documents in a folder, or whose files or folders match a pattern with ``*``, ``?`` or ``[...]``.

    >>> names = ["docs/mill.md", "docs/old/rows.jsonl#7", "docs.md"]
    >>> named_by("docs", names), named_by("docs/*.md", names), named_by("docs/*/*.jsonl", names)
    (['docs/mill.md', 'docs/old/rows.jsonl#7'], ['docs/mill.md'], ['docs/old/rows.jsonl#7'])
    """
    sought = pattern.split("/")

    def is_inside(parts: list[str]) -> bool:
        pairs = zip(parts, sought, strict=False)
        return len(parts) >= len(sought) and all(part == one or fnmatchcase(part, one) for part, one in pairs)

    return [name for name in names if is_inside(file_of(name).split("/"))]
