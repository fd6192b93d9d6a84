"""Making and changing an index: documents come and go, and nobody sees a half-made state.

New documents become new segments, removed ones are marked; both count when the manifest is replaced at the end, or not
at all. A segment is merged with those before it that are not much larger, so that there are few however many steps
were taken. One process writes at a time. Left out: several writers, and going on with a build that was stopped.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vouching.errors import ConfigError, InputError
from vouching.search.arrays import write_arrays
from vouching.search.dense import EXACT_MOST, graph_path, write_graph
from vouching.search.index import open_segments, query_encoder
from vouching.search.manifest import MANIFEST, Manifest, SegmentNote, read_manifest, write_manifest
from vouching.search.passages import MIN_WORDS, PASSAGE_WORDS
from vouching.search.segment import Segment, name_hash
from vouching.search.segment_writer import MAX_PASSAGES, SegmentBuilder
from vouching.search.vectors import SentenceEncoder
from vouching.types import Source

LOCK = "lock"
"""A file that the process which writes has locked."""
_OWN = ("segment-*", "graph-*", "removed-*", "*.new")


@dataclass(slots=True)
class _Part:
    """A segment as the manifest will name it."""

    segment: Segment
    note: SegmentNote
    left: NDArray[np.bool_]
    """(P,) which passages are left."""

    def __len__(self) -> int:
        return int(self.left.sum())


class IndexWriter:
    """Changes an index; made by :func:`create_index` and :func:`change_index`, at whose end the changes count.

    Args:
        folder: the index.
        manifest: what it consists of.
        segments: its segments, open.
        encoder: makes the vectors of passages; None if it has none.
    """

    def __init__(
        self, folder: Path, manifest: Manifest, segments: Sequence[Segment], encoder: SentenceEncoder | None
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._encoder = encoder
        self._number = manifest.number
        self._parts = [_Part(*pair, pair[0].left) for pair in zip(segments, manifest.segments, strict=True)]
        self._old = tuple(self._parts)
        self._builder = SegmentBuilder(manifest.max_words, encoder)
        self._added: set[int] = set()

    def __len__(self) -> int:
        """How many passages the index has with the changes so far, the replaced ones among them."""
        return sum(map(len, self._parts)) + len(self._builder)

    def add(self, source: Source) -> int:
        """Add a document; it replaces one with its id that was there before.

        Returns:
            How many passages it has; 0 for one without words, which is not kept.

        Raises:
            InputError: its id was added already, or it has characters that no file can hold.
            OSError: the disk takes no more.
        """
        name = name_hash(source.id)
        if name in self._added:
            raise InputError(f"the id {source.id!r} came twice: every document needs an id of its own")
        passages = self._builder.add(source)
        self._added.add(name)
        if self._builder.full:
            self.flush()
        return passages

    def remove(self, names: Iterable[str]) -> int:
        """Remove documents that were there before: by id, or all rows of a file by its path. Unknown names do nothing.

        Returns:
            How many documents were removed.
        """
        wanted = np.array([*map(name_hash, names)], np.uint64)
        return sum(_mark(part, np.asarray(np.isin(part.segment.names, wanted).any(axis=1))) for part in self._old)

    def flush(self) -> None:
        """Write what was added so far as a segment, which frees its memory; it counts at the end, with all the rest.

        Raises:
            OSError: the disk takes no more.
        """
        if len(self._builder):
            builder, self._builder = self._builder, SegmentBuilder(self._manifest.max_words, self._encoder)
            self._parts.append(self._written(builder))

    def commit(self) -> None:
        """Let the changes count. Raises OSError if the disk takes no more; the index then is as it was."""
        self.flush()
        added = np.array([*self._added], np.uint64)
        for part in self._old:
            _mark(part, np.isin(part.segment.names[:, 0], added))
        self._parts = self._compacted([part for part in self._parts if len(part)])
        if self._encoder is not None and sum(map(len, self._parts)) > EXACT_MOST:
            for part in self._parts:
                if not graph_path(part.segment).exists():
                    write_graph(part.segment)
        notes = tuple(self._noted(part) for part in self._parts)
        write_manifest(self._folder, replace(self._manifest, segments=notes, number=self._number))

    def _written(self, builder: SegmentBuilder) -> _Part:
        path = self._folder / self._fresh_name("segment")
        found = builder.write(path)
        segment = Segment(path)
        note = SegmentNote(path.name, len(segment), len(segment.names), found)
        return _Part(segment, note, segment.left)

    def _compacted(self, parts: list[_Part]) -> list[_Part]:
        """The segments with the last ones merged, and those rewritten of which more than half was removed."""
        size, tail = 0, len(parts)
        while tail and len(parts[tail - 1]) <= min(2 * size or MAX_PASSAGES, MAX_PASSAGES - size):
            tail -= 1
            size += len(parts[tail])
        kept = [self._merged([part]) if 2 * len(part) < len(part.left) else part for part in parts[:tail]]
        ending = parts[tail:]
        whole = len(ending) == 1 and len(ending[0]) == len(ending[0].left)
        return kept + (ending if whole or not ending else [self._merged(ending)])

    def _merged(self, parts: Sequence[_Part]) -> _Part:
        """One segment of the documents that are left of several."""
        builder = SegmentBuilder(self._manifest.max_words, self._encoder)
        for part in parts:
            places, vectors = part.segment.places, part.segment.vectors
            for number in np.unique(places[part.left, 0]).tolist():
                source, own = part.segment.document(number)
                cuts = [(start, end) for start, end in places[own, 1:3].tolist()]
                builder.add(source, cuts, None if vectors is None else np.asarray(vectors[own]))
        return self._written(builder)

    def _noted(self, part: _Part) -> SegmentNote:
        """The segment's entry in the manifest; what was removed of it is written if that is new."""
        if np.array_equal(part.left, part.segment.left):
            return part.note
        name = self._fresh_name("removed")
        write_arrays(self._folder / name, {"removed": ~part.left})
        return replace(part.note, removed=name)

    def _fresh_name(self, kind: str) -> str:
        self._number += 1
        return f"{kind}-{self._number:06}"


def _mark(part: _Part, documents: NDArray[np.bool_]) -> int:
    """Mark documents of a segment as removed; how many of them were still there."""
    going = part.left & documents[part.segment.places[:, 0]]
    part.left = part.left & ~going
    return len(np.unique(part.segment.places[going, 0]))


@contextmanager
def create_index(
    path: str | Path, max_words: int = PASSAGE_WORDS, encoder: SentenceEncoder | None = None
) -> Generator[IndexWriter]:
    """Make an index, as a context: it is there when the block has ended well.

    Args:
        path: its folder, which must be new, empty, or left from a build that was stopped.
        max_words: words of a passage, at least 64.
        encoder: makes a vector of each passage; None to search by words alone.

    Raises:
        InputError: the folder is in use or cannot be made, or no document with words was added.
        ConfigError: ``max_words`` is too small.
        OSError: the disk takes no more.

    >>> import tempfile
    >>> with create_index(Path(tempfile.mkdtemp()) / "towns") as writer:
    ...     writer.add(Source("The mill stands in Oslo.", id="mill.txt"))
    1
    """
    folder = Path(path)
    if max_words < MIN_WORDS:
        raise ConfigError(f"got passages of {max_words} words, wanted at least {MIN_WORDS}: they overlap by half that")
    with _written(folder):
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_full(folder)
    try:
        with _locked(folder):
            _refuse_full(folder)
            manifest = Manifest(max_words, encoder.name if encoder else None, encoder.digest if encoder else None)
            writer = IndexWriter(folder, manifest, (), encoder)
            yield writer
            if not len(writer):
                raise InputError(f"no document with words was added: there is nothing to make the index {folder} of")
            writer.commit()
    finally:
        if fresh and not (folder / MANIFEST).exists():
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def change_index(path: str | Path, encoder: SentenceEncoder | None = None) -> Generator[IndexWriter]:
    """Change an index, as a context: the changes count together when the block has ended well.

    Args:
        path: its folder.
        encoder: makes the vectors of new passages; None to open the one that the index was built with, if any.

    Raises:
        InputError: there is no index, it is damaged or in use, or may not be written.
        ConfigError: it has another format, or was built with another encoder.
        OSError: the disk takes no more.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "towns"
    >>> with create_index(folder) as writer:
    ...     _ = [writer.add(Source(f"Mill {number}.", id=f"{number}.txt")) for number in range(3)]
    >>> with change_index(folder) as writer:
    ...     writer.remove(["1.txt", "9.txt"])
    1
    """
    folder = Path(path)
    open_segments(folder)
    with _locked(folder):
        manifest, segments = open_segments(folder)
        writer = IndexWriter(folder, manifest, segments, query_encoder(folder, manifest, encoder))
        yield writer
        writer.commit()


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Keep others from writing, where the system has locks for that, and leave nothing that the index does not name."""
    with _written(folder):
        file = (folder / LOCK).open("ab")
    with file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.fstat(file.fileno()).st_nlink:
                raise BlockingIOError  # the writer before removed it in the meantime, and others lock a new one
        except ImportError:
            pass
        except BlockingIOError:
            raise InputError(f"{folder} is being written by another process: wait for its end, or end it") from None
        except OSError:
            pass  # a file system that knows no locks
        _sweep(folder)
        try:
            yield
        finally:
            _sweep(folder)
            if not (folder / MANIFEST).exists():
                with suppress(OSError):
                    (folder / LOCK).unlink()


def _sweep(folder: Path) -> None:
    """Delete what a writer made and the index does not name; what a reader has open stays readable to it."""
    with suppress(OSError, InputError, ConfigError):
        named = {LOCK}
        if (folder / MANIFEST).exists():
            for note in read_manifest(folder).segments:
                named |= {note.name, note.name.replace("segment", "graph"), note.removed or note.name}
        for path in (path for pattern in _OWN for path in folder.glob(pattern)):
            if path.name not in named:
                path.unlink()


def _refuse_full(folder: Path) -> None:
    """Refuse a folder that holds an index, or anything that no writer left there."""
    if (folder / MANIFEST).exists():
        raise InputError(f"{folder} holds an index: add to it, or name another folder")
    foreign = next((path.name for path in folder.iterdir() if not any(map(path.match, (LOCK, *_OWN)))), None)
    if foreign is not None:
        raise InputError(f"{folder} is not empty (it holds {foreign}): name a new folder for the index")


@contextmanager
def _written(folder: Path) -> Generator[None]:
    """Say what is wrong with a folder that cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{error.filename or folder} cannot be written ({reason}): name a folder of yours") from error
