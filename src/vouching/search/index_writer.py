"""Building and changing an index: documents are added and removed, and no incomplete state is ever visible.

A change is written into a new state, which begins with links to the files of the current one; tantivy never changes a
file in place. Words and vectors change at once, when the manifest is replaced. One process writes at a time. Not
supported: several writers, and resuming a build that was stopped.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from tantivy import FieldType, Index, Occur, Query

from vouching.errors import ConfigError, InputError
from vouching.search.base import index_folder
from vouching.search.index import open_state, query_encoder
from vouching.search.passages import MIN_WORDS, PASSAGE_WORDS, cut_passages, pages_of
from vouching.search.store import (
    MANIFEST,
    Manifest,
    Store,
    damaged,
    entry,
    file_of,
    name_hash,
    read_manifest,
    reading,
    schema,
    state_path,
    write_manifest,
)
from vouching.search.terms import Stems
from vouching.search.vectors import DENSE_FILES, DenseWriter, SentenceEncoder, copy_live
from vouching.types import Source

LOCK = "lock"
MAX_REMOVED = 0.1
"""Share of removed passages above which an index is rewritten, so that its statistics are exact again."""
_MEMORY = 128_000_000
"""Bytes of memory after which tantivy writes a segment."""
_OWN = ("state-*", "*.new")


class IndexWriter:
    """Changes an index; made by :func:`create_index` and :func:`change_index`, which commit the changes at their end.

    tantivy counts removed passages in its statistics. Once they exceed a tenth, the index is rewritten. ``old`` are the
    passages of an existing index; ``encoder`` computes vectors, if there are any.
    """

    def __init__(self, folder: Path, manifest: Manifest, old: Store | None, encoder: SentenceEncoder | None) -> None:
        self._folder, self._manifest, self._old = folder, manifest, old
        before = state_path(folder, manifest.state)
        self._state = manifest.state + 1
        path = state_path(folder, self._state)
        path.mkdir()
        if old is not None:
            for file in before.iterdir():
                if file.suffix != ".lock" and file.name not in DENSE_FILES:
                    _link(file, path / file.name)
        self._dense = DenseWriter(path, encoder, before if old is not None else None) if encoder is not None else None
        with _tantivy_errors(folder):
            self._words = Index(schema(), str(path)).writer(_MEMORY, 1)
        self._number = manifest.numbers
        self._stems = Stems()
        self._added: set[int] = set()
        self._removed: set[int] = set()

    def __len__(self) -> int:
        """Number of added passages."""
        return self._number - self._manifest.numbers

    def add(self, source: Source) -> int:
        """Add a document, or replace the earlier one with the same id.

        Returns:
            Its number of passages; 0 for a document without words, which is not stored.

        Raises:
            InputError: its id was already added, it contains a lone surrogate, or the index is damaged.
            OSError: the disk is full.
        """
        name = name_hash(source.id)
        if name in self._added:
            raise InputError(f"the id {source.id!r} occurs twice: every document needs its own id")
        cuts = cut_passages(source.text, self._manifest.max_words)
        paged = file_of(source.id) == source.id and source.url.lower().endswith(".pdf")
        pages = pages_of(source.text, [start for start, _ in cuts]) if paged else [0] * len(cuts)
        try:
            entries = [
                entry(
                    self._number + at,
                    not at,
                    [
                        source.id,
                        source.title,
                        f"{source.url}#page={page}" if page else source.url,
                        start,
                        end,
                        source.text[start:end],
                    ],
                    self._stems,
                )
                for at, ((start, end), page) in enumerate(zip(cuts, pages, strict=True))
            ]
        except UnicodeEncodeError as error:
            raise InputError(
                f"document {source.id!r} contains a lone surrogate, which is not a character ({error})"
            ) from None
        with _tantivy_errors(self._folder):
            if self._old is not None:
                # Not by term: tantivy 0.27 deletes nothing if the field is a number.
                self._words.delete_documents_by_query(Query.term_query(schema(), "document", name, "basic"))
            for document in entries:
                self._words.add_document(document)
        for at, (start, end) in enumerate(cuts if self._dense is not None else ()):
            assert self._dense is not None
            lead = f"{source.title}. " if source.title else ""
            self._dense.add(self._number + at, lead + source.text[start:end])
        self._number += len(entries)
        self._added.add(name)
        return len(entries)

    def remove(self, names: Iterable[str]) -> int:
        """Remove documents that existed before: by id, or all rows of a file by its path. Returns how many.

        Unknown names are ignored. Raises InputError if the index is damaged.
        """
        hashes = [*map(name_hash, names)]
        if self._old is None or not hashes:
            return 0
        with reading(self._folder):
            query, found = self._old.named(hashes)
        earlier = Query.range_query(
            schema(), "number", FieldType.Unsigned, upper_bound=self._manifest.numbers, include_upper=False
        )
        with _tantivy_errors(self._folder):
            self._words.delete_documents_by_query(Query.boolean_query([(Occur.Must, query), (Occur.Must, earlier)]))
        gone = found - self._removed
        self._removed |= gone
        return len(gone)

    @cached_property
    def names(self) -> list[str]:
        """The ids of the documents that existed before. Raises InputError if the index is damaged."""
        with reading(self._folder):
            return self._old.names() if self._old is not None else []

    def commit(self) -> None:
        """Commit the changes, or raise and leave the index unchanged: OSError on a full disk, InputError on damage."""
        with _tantivy_errors(self._folder):
            self._words.commit()
            self._words.wait_merging_threads()
            store = Store(state_path(self._folder, self._state))
            live = [number for number, *_ in store.everything()] if self._dense is not None else []
        if self._dense is not None:
            self._dense.finish(np.array(live, np.int64))
        if store.removed > MAX_REMOVED * len(store):
            self._rewrite(store)
        write_manifest(self._folder, replace(self._manifest, state=self._state, numbers=self._number))

    def close(self) -> None:
        """Stop the threads of tantivy; changes that were not committed are lost."""
        with suppress(Exception), _tantivy_errors(self._folder):
            self._words.wait_merging_threads()

    def _rewrite(self, store: Store) -> None:
        """Write the remaining passages into a new state."""
        before = state_path(self._folder, self._state)
        self._state += 1
        path = state_path(self._folder, self._state)
        path.mkdir()
        with _tantivy_errors(self._folder):
            words = Index(schema(), str(path)).writer(_MEMORY, 1)
            for number, _, place in store.everything():
                words.add_document(entry(number, store.is_first(place), store.record(place), self._stems))
            words.commit()
            words.wait_merging_threads()
        if self._dense is not None:
            copy_live(before, path)


@contextmanager
def create_index(
    path: str | Path, max_words: int = PASSAGE_WORDS, encoder: SentenceEncoder | None = None
) -> Generator[IndexWriter]:
    """Build an index, as a context manager: it exists once the block has ended without an error.

    Args:
        path: its folder, which must be new, empty, or left by a build that was stopped.
        max_words: words per passage, at least 64.
        encoder: computes a vector for each passage; None to search by words alone.

    Raises:
        InputError: the folder is in use or cannot be created, or no document with words was added.
        ConfigError: ``max_words`` is too small.
        OSError: the disk is full.

    >>> import tempfile
    >>> with create_index(Path(tempfile.mkdtemp()) / "towns") as writer:
    ...     writer.add(Source("The mill is in Oslo.", id="mill.txt"))
    1
    """
    folder = index_folder(path)
    if max_words < MIN_WORDS:
        raise ConfigError(f"passages must have at least {MIN_WORDS} words (twice the overlap), got {max_words}")
    with _explained(folder):
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        _require_empty(folder)
    try:
        with _locked(folder):
            _require_empty(folder)
            manifest = Manifest(max_words, encoder.name if encoder else None, encoder.digest if encoder else None)
            writer = IndexWriter(folder, manifest, None, encoder)
            with closing(writer):
                yield writer
                if not len(writer):
                    raise InputError(f"no document with words was added: the index {folder} would be empty")
                writer.commit()
    finally:
        if fresh and not (folder / MANIFEST).exists():
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def change_index(path: str | Path, encoder: SentenceEncoder | None = None) -> Generator[IndexWriter]:
    """Change an index, as a context manager: all changes are committed once the block has ended without an error.

    Args:
        path: its folder.
        encoder: computes the vectors of new passages; None to open the one of the index, if any.

    Raises:
        InputError: there is no index, it is damaged or in use, or cannot be written.
        ConfigError: it has another format, or was built with another encoder.
        OSError: the disk is full.
    """
    folder = index_folder(path)
    read_manifest(folder)  # so that no lock is left in a folder without an index
    with _locked(folder):
        manifest, store, _ = open_state(folder)
        writer = IndexWriter(folder, manifest, store, query_encoder(folder, manifest, encoder))
        with closing(writer):
            yield writer
            writer.commit()


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Exclude other writers, if the system has locks, and delete leftovers."""
    with _explained(folder):
        file = (folder / LOCK).open("ab")
    with file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.fstat(file.fileno()).st_nlink:
                raise BlockingIOError  # the previous writer deleted it, and others may lock a new one
        except ImportError:
            pass
        except BlockingIOError:
            raise InputError(
                f"{folder} is being written by another process: wait for that process to finish, or stop it"
            ) from None
        except OSError:
            pass  # a file system without locks
        _sweep(folder)
        try:
            yield
        finally:
            _sweep(folder)
            if not (folder / MANIFEST).exists():
                with suppress(OSError):
                    (folder / LOCK).unlink()


def _sweep(folder: Path) -> None:
    """Delete the states and files that the manifest does not name; open files of readers stay readable."""
    with suppress(OSError, InputError, ConfigError):
        named = state_path(folder, read_manifest(folder).state).name if (folder / MANIFEST).exists() else None
        for path in (path for pattern in _OWN for path in folder.glob(pattern) if path.name != named):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _require_empty(folder: Path) -> None:
    """Refuse a folder with an index, or with files that are not those of a stopped writer."""
    if (folder / MANIFEST).exists():
        raise InputError(f"{folder} already contains an index: add to it, delete it, or choose another folder")
    foreign = next((path.name for path in folder.iterdir() if not any(map(path.match, (LOCK, *_OWN)))), None)
    if foreign is not None:
        raise InputError(f"{folder} is not empty (it contains {foreign}): choose a new folder for the index")


@contextmanager
def _explained(folder: Path) -> Generator[None]:
    """Raise InputError with a reason if a folder cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{error.filename or folder} cannot be written ({reason}): choose another folder") from error


def _of_tantivy(folder: str | Path, error: BaseException) -> Exception:
    """OSError for an error of the operating system, InputError for any other: the index is damaged."""
    text = str(error)
    if isinstance(error, OSError):
        return error
    if found := re.search(r"\(os error (\d+)\)", text):
        return OSError(int(found[1]), os.strerror(int(found[1])), str(folder))
    if "index writer was killed" in text:  # mostly by a full disk, in a thread
        return OSError(None, text, str(folder))
    return damaged(folder, error)


_tantivy_errors = partial(reading, classify=_of_tantivy)


def _link(file: Path, to: Path) -> None:
    """Link a file, or copy it if the file system has no links."""
    try:
        os.link(file, to)
    except OSError:
        shutil.copy2(file, to)
