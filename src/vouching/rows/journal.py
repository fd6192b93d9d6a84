"""New lines in place of finished ones, in an output that is never half changed.

The new lines and those that stay go, in order, to a file beside the output, ``<output>.mended``, which takes its place
as a whole. Killed at any moment, the output is as it was, and that file is the beginning of what it is to become: the
next run puts behind it what it lacks. Left out: lines that come or go; each new one stands for an old one.

The output of a batch: finished lines, appended one by one, and a note beside them of what made them.

A line is finished when it ends in a newline. Killed at any moment, the file holds finished lines and at most the
beginning of one more, which is cut off on resumption. The note, ``<output>.run.json``, holds the settings and a digest
of the rows that were done when it was last written, at most a second ago; it stays when the batch is finished, so that
resuming then finds nothing to do. A finished line may be replaced by another for the same row (``mending``). Left out:
compressed output, and comparing rows that were done after the last note.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from vouching.errors import InputError
from vouching.rows.read import Row


class LineRepair:
    r"""A change of some lines that is under way.

    Args:
        output: the file with the finished lines; it is left alone.

    >>> import tempfile
    >>> output = Path(tempfile.mkdtemp()) / "out.jsonl"
    >>> _ = output.write_bytes(b"1\n2\n3\n")
    >>> with LineRepair(output) as repair:
    ...     repair.put(2, "two")
    b'2\n'
    >>> take_repaired(output)
    >>> output.read_bytes()
    b'1\ntwo\n3\n'
    """

    def __init__(self, output: Path) -> None:
        self._old = output.open("rb")
        self._new = repaired_path(output).open("wb")
        shutil.copymode(output, repaired_path(output))
        self._lines = 0

    def __enter__(self) -> LineRepair:
        return self

    def __exit__(self, *_: object) -> None:
        self._old.close()
        self._new.close()

    def put(self, number: int, line: str) -> bytes:
        """Write ``line`` in place of the line ``number``, from 1 and greater than the last one; return the old line."""
        while self._lines < number - 1:
            self._new.write(self._old.readline())
            self._lines += 1
        self._new.write(line.encode() + b"\n")
        self._new.flush()
        self._lines += 1
        return self._old.readline()


def repaired_path(output: Path) -> Path:
    """Where the new lines of an output stand until they take its place; beside the file itself, if that is a link."""
    place = output.resolve()
    return place.with_name(f"{place.name}.repaired")


def take_repaired(output: Path) -> None:
    """Let the new lines take the place of the old ones, however many there are.

    Raises:
        OSError: it cannot be written; both files stay, and a later call can do it.
    """
    fresh = repaired_path(output)
    with fresh.open("rb+") as new, output.open("rb") as old:
        end = 0
        for line in new:
            if not line.endswith(b"\n"):  # killed in the midst of it
                break
            end += len(line)
            old.readline()
        new.seek(end)
        new.truncate()
        shutil.copyfileobj(old, new)
        new.flush()
        os.fsync(new.fileno())
    fresh.replace(output.resolve())


NOTE_SECONDS = 1.0
"""How old the note may grow."""
OUTPUT_ENDING = ".jsonl"
"""How the name of a regular output ends."""
Settings = Mapping[str, str | float | bool | None]


@dataclass(frozen=True, slots=True)
class Note:
    """What stands beside an output, so that another run can tell whether it may resume it."""

    settings: Settings
    """What made the lines; it must be the same again."""
    rows: int = 0
    """How many rows were finished when the note was written; the output may have more, never fewer."""
    digest: str = ""
    """Digest of these rows of the input."""

    def write(self, path: Path) -> None:
        """Replace the note at ``path`` as a whole, so that it is never half written."""
        fresh = path.with_name(f"{path.name}.new")
        fresh.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        fresh.replace(path)


class Journal:
    r"""Finished lines of output, each belonging to the input row of the same number.

    Args:
        file: where lines go.
        path: the path of ``file`` if it is a regular file; None for a stream, which cannot be resumed.
        note: the note that was found or made beside it.

    >>> import io
    >>> stream = io.BytesIO()
    >>> with Journal(stream) as journal:
    ...     journal.append(Row(1, "line 1", {"id": "a"}), '{"id": "a"}')
    >>> stream.getvalue()
    b'{"id": "a"}\n'
    """

    def __init__(self, file: IO[bytes], path: Path | None = None, note: Note | None = None) -> None:
        self.rows = 0
        """How many rows are finished, as far as they were confirmed or appended."""
        self._file = file
        self._path = path
        self._note = note or Note({})
        self._digest = hashlib.blake2b(digest_size=16)
        self._noted_at = -math.inf
        self._unnoted = False
        self._repair: LineRepair | None = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._path is None:
            return
        try:
            self._apply_repairs()
            if self._unnoted:
                self._write_note(self._path)
        finally:
            self._file.close()

    def finished(self) -> Iterator[bytes]:
        """The lines that an earlier run finished, in order; at their end, what follows the last of them is cut off.

        Raises:
            InputError: there are fewer than the note counts.
        """
        if self._path is None:
            return
        lines = end = 0
        with self._path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                lines, end = lines + 1, end + len(line)
                yield line
        if lines < self._note.rows:
            raise InputError(
                f"{self._path} has only {lines:,} of the {self._note.rows:,} lines that were written to it, so "
                "the rows cannot be compared: name another output"
            )
        self._file.truncate(end)

    def confirm(self, row: Row) -> None:
        """Count ``row`` as the one that the next finished line belongs to.

        Raises:
            InputError: the rows so far are not those that the output was made from.
        """
        self._count(row)
        if self.rows == self._note.rows and self._digest.hexdigest() != self._note.digest:
            raise InputError(
                f"{self._path} was made from other rows, as the first {self.rows:,} of this input show: take the "
                "same input again, or another output"
            )

    def append(self, row: Row, line: str) -> None:
        """Write the finished line of ``row``; it has left this process when this returns.

        Raises:
            OSError: the disk is full, or nobody reads the stream; what was finished before stays.
        """
        self._apply_repairs()
        start = os.fstat(self._file.fileno()).st_size if self._path else 0
        try:
            _write_all(self._file, line.encode() + b"\n")
        except OSError:
            if self._path is not None:
                self._file.truncate(start)
            raise
        self._count(row)
        self._unnoted = True
        if self._path is not None and time.monotonic() - self._noted_at > NOTE_SECONDS:
            self._write_note(self._path)

    def replace(self, number: int, line: str) -> bytes:
        """Replace a finished line that was confirmed; it takes effect when a row is appended, or at the end.

        Args:
            number: which line, from 1; greater than in the last call.
            line: the new one.

        Returns:
            The line that stood there.

        Raises:
            OSError: the disk is full; the output stays as it was, what was mended is taken over on resumption.
        """
        assert self._path is not None
        self._repair = self._repair or LineRepair(self._path)
        return self._repair.put(number, line)

    def _apply_repairs(self) -> None:
        """Let the mended lines take effect."""
        if self._repair is None:
            return
        assert self._path is not None
        with self._repair:
            self._repair = None
        self._file = _with_repaired(self._file, self._path)

    def _count(self, row: Row) -> None:
        self.rows += 1
        self._digest.update(json.dumps([row.fields, row.problem], default=str).encode())

    def _write_note(self, path: Path) -> None:
        # A power cut must not leave a note that counts lines which never reached the disk.
        os.fsync(self._file.fileno())
        self._note = Note(self._note.settings, self.rows, self._digest.hexdigest())
        self._note.write(_note_path(path))
        self._noted_at, self._unnoted = time.monotonic(), False


def open_journal(path: str, settings: Settings, resume: bool = False) -> Journal:
    """Open an output, a new one or one to resume. A device or a named pipe is a plain stream.

    Args:
        path: the file.
        settings: what makes the lines; an output that was made by others is not resumed.
        resume: whether to keep the lines that are there and add the rest; read them all with
            :meth:`Journal.finished` before that.

    Raises:
        InputError: a folder, another ending than .jsonl, a file that may not be written or is being written, finished
            lines without ``resume``, lines that were made otherwise or that have no note.

    >>> import tempfile
    >>> path = str(Path(tempfile.mkdtemp()) / "out.jsonl")
    >>> with open_journal(path, {"threshold": 0.5}) as journal:
    ...     journal.append(Row(1, "line 1", {}), "{}")
    >>> open_journal(path, {"threshold": 0.7}, resume=True)
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: ...out.jsonl was made with threshold 0.5, now it is 0.7: take the same settings ...
    """
    place = Path(path)
    if _is_stream(place):
        if resume:
            raise InputError(f"{path} is no regular file, so it cannot be resumed: leave out --resume")
        return Journal(_opened(place, "wb"))
    if not path.lower().endswith(OUTPUT_ENDING):
        raise InputError(f"{path}: wanted an output that ends in {OUTPUT_ENDING}; pack or convert it afterwards")
    file = _opened(place, "ab+")
    try:
        _lock(file, path)
        if file.seek(0, os.SEEK_END) == 0:
            note = Note(settings)
            note.write(_note_path(place))
            repaired_path(place).unlink(missing_ok=True)
        elif resume:
            note = _same_note(place, settings)
            file = _with_repaired(file, place)
        else:
            raise InputError(f"{path} is not empty: finish it with --resume, or name another output")
    except OSError as error:
        file.close()
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    except InputError:
        file.close()
        raise
    return Journal(file, place, note)


def _is_stream(path: Path) -> bool:
    """Whether there is something that is neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _note_path(output: Path) -> Path:
    return output.with_name(f"{output.name}.run.json")


def _opened(path: Path, mode: str) -> IO[bytes]:
    """The file without a buffer: a line that was written is out of reach of whatever ends this process."""
    try:
        return path.open(mode, buffering=0)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no folder {path.parent}; make it first") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be written: {reason}; name an output in a folder of yours") from None


def _lock(file: IO[bytes], path: str) -> None:
    """Refuse an output that another process writes, where the system has locks for that (Windows has others)."""
    try:
        import fcntl
    except ImportError:
        return
    taken = InputError(f"{path} is being written by another process: wait for its end, or end it")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise taken from None
    except OSError:
        return  # a file system that knows no locks
    if not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
        raise taken


def _with_repaired(file: IO[bytes], path: Path) -> IO[bytes]:
    """The output, opened anew and locked if mended lines have taken their place in it."""
    if not repaired_path(path).exists():
        return file
    if os.name == "nt":  # there an open file cannot be replaced, and nothing is locked
        file.close()
    with file:  # the lock of the old file is held until the new one has its own
        take_repaired(path)
        fresh = _opened(path, "ab+")
        _lock(fresh, str(path))
    return fresh


def _same_note(path: Path, settings: Settings) -> Note:
    """The note of an output, if the lines were made with these settings."""
    try:
        found: dict[str, Any] = json.loads(_note_path(path).read_text(encoding="utf-8"))
        note = Note(**found)
        old = dict(note.settings)
    except (OSError, ValueError, TypeError) as error:
        state = "missing" if isinstance(error, FileNotFoundError) else "damaged"
        raise InputError(
            f"{path} cannot be resumed, as what made it is not known: {_note_path(path)} is {state}; name another "
            "output"
        ) from None
    for key in {**old, **settings}:
        if old.get(key) != settings.get(key):
            was, now = ("none" if value in (None, "") else value for value in (old.get(key), settings.get(key)))
            raise InputError(
                f"{path} was made with {key} {was}, now it is {now}: take the same settings again, or another output"
            )
    return note


def _write_all(file: IO[bytes], data: bytes) -> None:
    """Write all of ``data``; a file without a buffer may take only part of it at a time."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
    file.flush()
