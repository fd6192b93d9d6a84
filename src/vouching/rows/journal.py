"""The output of a run: finished lines, appended one by one, and a note about the settings that produced them.

A line is finished when it ends in a newline. If the process is killed, the file holds finished lines and at most part
of one more, which is cut off on resumption. The note, ``<output>.run.json``, holds the settings and a digest of the
rows that were finished when it was last written, at most a second ago. It stays when the run is complete, so that
resuming a complete run is a no-op.

Finished lines can be replaced (:class:`LineRepair`): new and unchanged lines are written, in order, to
``<output>.repaired``, which then replaces the output atomically. If the process is killed, the output is unchanged, and
the next run completes that file. Lines that wait for those before them are in :mod:`vouching.rows.ahead`.

Not supported: compressed output; adding or removing lines within an output; comparing rows that were finished after the
last note.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from os.path import realpath
from pathlib import Path
from typing import IO, Any

from vouching.errors import InputError, OutputBusyError
from vouching.rows.ahead import AheadLines, ahead_path, write_all
from vouching.rows.read import Row
from vouching.rows.row import RowDigest
from vouching.text.json_values import parse_json


class LineRepair:
    """Replaces some lines of an output, in a copy."""

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
        """Replace the line ``number`` (from 1, increasing from call to call); returns the old line."""
        while self._lines < number - 1:
            self._new.write(self._old.readline())
            self._lines += 1
        self._new.write(line.encode() + b"\n")
        self._new.flush()
        self._lines += 1
        return self._old.readline()


def repaired_path(output: Path) -> Path:
    """Path of the repaired copy of an output; next to the file itself if the output is a link."""
    place = Path(realpath(output))
    return place.with_name(f"{place.name}.repaired")


def take_repaired(output: Path) -> None:
    """Complete the repaired copy with the remaining old lines and let it replace the output.

    Raises OSError if it cannot be written; both files then stay for a later attempt.
    """
    fresh = repaired_path(output)
    with fresh.open("rb+") as new, output.open("rb") as old:
        end = 0
        for line in new:
            if not line.endswith(b"\n"):  # killed while writing it
                break
            end += len(line)
            old.readline()
        new.seek(end)
        new.truncate()
        shutil.copyfileobj(old, new)
        new.flush()
        os.fsync(new.fileno())
    fresh.replace(realpath(output))


NOTE_SECONDS = 1.0
"""Maximum age of the note."""
OUTPUT_ENDING = ".jsonl"
Settings = Mapping[str, str | float | bool | None]


@dataclass(frozen=True, slots=True)
class Note:
    """The note next to an output, which says whether a run may resume it."""

    settings: Settings
    """The settings that produced the lines; must be the same on resumption."""
    rows: int = 0
    """How many rows were finished when the note was written; the output may have more, never fewer."""
    digest: str = ""
    """Digest of these input rows."""

    def write(self, path: Path) -> None:
        """Replace the note at ``path`` atomically."""
        fresh = path.with_name(f"{path.name}.new")
        fresh.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        fresh.replace(path)


class Journal:
    """Finished output lines, each belonging to the input row of the same number.

    Args:
        file: where lines are written.
        path: the path of ``file``; None for a stream, which cannot be resumed.
        note: the note next to the output.
    """

    def __init__(self, file: IO[bytes], path: Path | None = None, note: Note | None = None) -> None:
        self.rows = 0
        """Number of finished rows confirmed or appended so far."""
        self.ahead = AheadLines(path)
        """Lines of later rows."""
        self._file = file
        self._path = path
        self._note = note or Note({})
        self._digest = RowDigest()
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
            self.ahead.close()
            self._file.close()

    def finished(self) -> Iterator[bytes]:
        """The lines that an earlier run finished, in order; then truncates an unfinished last line.

        Raises InputError if there are fewer than the note counts.
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
                "the rows cannot be compared: choose another output"
            )
        self._file.truncate(end)

    def confirm(self, row: Row) -> None:
        """Count ``row`` as that of the next finished line. Raises InputError if the output was made from other rows."""
        self._count(row)
        if self.rows == self._note.rows and self._digest.hexdigest() != self._note.digest:
            raise InputError(
                f"{self._path} was made from different rows: the first {self.rows:,} rows of this input differ; "
                "use the same input, or choose another output"
            )

    def append(self, row: Row, line: str) -> None:
        """Write and flush the finished line of ``row``. Raises OSError if that fails; earlier lines are kept."""
        self._apply_repairs()
        start = os.fstat(self._file.fileno()).st_size if self._path else 0
        try:
            write_all(self._file, line.encode() + b"\n")
        except OSError:
            if self._path is not None:
                self._file.truncate(start)
            raise
        self._count(row)
        self._unnoted = True
        if self._path is not None and time.monotonic() - self._noted_at > NOTE_SECONDS:
            self._write_note(self._path)

    def replace(self, number: int, line: str) -> bytes:
        """Replace a confirmed line and return the old one; takes effect with the next append, or at the end.

        ``number`` starts at 1 and increases from call to call. After an OSError the output is unchanged, and the
        replacements made so far are applied on resumption.
        """
        assert self._path is not None
        self._repair = self._repair or LineRepair(self._path)
        return self._repair.put(number, line)

    def _apply_repairs(self) -> None:
        """Let the replaced lines take effect."""
        if self._repair is None:
            return
        assert self._path is not None
        with self._repair:
            self._repair = None
        self._file = _with_repaired(self._file, self._path)

    def _count(self, row: Row) -> None:
        self.rows += 1
        self._digest.add(row)

    def _write_note(self, path: Path) -> None:
        # After a power cut the note must not count lines that never reached the disk.
        os.fsync(self._file.fileno())
        self._note = Note(self._note.settings, self.rows, self._digest.hexdigest())
        self._note.write(_note_path(path))
        self._noted_at, self._unnoted = time.monotonic(), False


def open_journal(path: str, settings: Settings, resume: bool = False) -> Journal:
    """Open a new output, or an existing one to resume. A device or a named pipe is a plain stream.

    Args:
        path: the file.
        settings: the settings that determine the lines; an output made with others is not resumed.
        resume: whether to keep the existing lines and add the rest; read them all with :meth:`Journal.finished` first.

    Raises:
        InputError: a folder, an ending other than .jsonl, a file that cannot be written or that another process is
            writing, existing lines without ``resume``, lines made with other settings or without a note.

    >>> import tempfile
    >>> path = str(Path(tempfile.mkdtemp()) / "out.jsonl")
    >>> with open_journal(path, {"threshold": 0.5}) as journal:
    ...     journal.append(Row(1, "line 1", {}), "{}")
    >>> open_journal(path, {"threshold": 0.7}, resume=True)
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: ...out.jsonl was made with threshold 0.5, but threshold is now 0.7: use the same ...
    """
    place = Path(path)
    if _is_stream(place):
        if resume:
            raise InputError(f"{path} is not a regular file and cannot be resumed: omit --resume")
        return Journal(_opened(place, "wb"))
    if not path.lower().endswith(OUTPUT_ENDING):
        raise InputError(f"{path}: the output file must end in {OUTPUT_ENDING}; compress or convert it afterwards")
    file = _opened(place, "ab+")
    try:
        _lock(file, path)
        written = [one for one in (place, ahead_path(place)) if one.exists() and one.stat().st_size]
        if not written:
            note = Note(settings)
            note.write(_note_path(place))
            repaired_path(place).unlink(missing_ok=True)
        elif resume:
            note = _same_note(place, settings)
            file = _with_repaired(file, place)
        else:
            raise InputError(f"{written[0]} is not empty: continue it with --resume, or choose another output")
    except OSError as error:
        file.close()
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    except InputError:
        file.close()
        raise
    return Journal(file, place, note)


def _is_stream(path: Path) -> bool:
    """Whether the path exists and is neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _note_path(output: Path) -> Path:
    return output.with_name(f"{output.name}.run.json")


def _opened(path: Path, mode: str) -> IO[bytes]:
    """Open the file unbuffered: a line once written survives the end of this process."""
    try:
        return path.open(mode, buffering=0)
    except FileNotFoundError:
        raise InputError(f"{path}: the folder {path.parent} does not exist; create it first") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: pass the path of a file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{path} cannot be written: {reason}; choose an output in a folder that you can write to"
        ) from None


def _lock(file: IO[bytes], path: str) -> None:
    """Raise OutputBusyError if another process is writing the output, on systems with ``fcntl`` (not on Windows)."""
    try:
        import fcntl
    except ImportError:
        return
    taken = OutputBusyError(f"{path} is being written by another process: wait for that process to finish, or stop it")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise taken from None
    except OSError:
        return  # a file system without locks
    if not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
        raise taken


def _with_repaired(file: IO[bytes], path: Path) -> IO[bytes]:
    """The output, reopened and locked if a repaired copy has replaced it."""
    if not repaired_path(path).exists():
        return file
    if os.name == "nt":  # Windows cannot replace an open file, and nothing is locked there
        file.close()
    with file:  # the lock of the old file is held until the new one is locked
        take_repaired(path)
        fresh = _opened(path, "ab+")
        _lock(fresh, str(path))
    return fresh


def _same_note(path: Path, settings: Settings) -> Note:
    """The note of an output. Raises InputError if its settings differ from these."""
    try:
        found: dict[str, Any] = parse_json(_note_path(path).read_text(encoding="utf-8"))
        note = Note(**found)
        old = dict(note.settings)
    except (OSError, ValueError, TypeError) as error:
        state = "missing" if isinstance(error, FileNotFoundError) else "damaged"
        raise InputError(
            f"{path} cannot be resumed, because its settings are unknown ({_note_path(path)} is {state}): choose "
            "another output"
        ) from None
    refuse_other_settings(path, old, settings)
    return note


def refuse_other_settings(path: str | Path, old: Settings, settings: Settings) -> None:
    """Raise InputError if an output was made with other settings than these."""
    for key in {**old, **settings}:
        if old.get(key) != settings.get(key):
            was, now = ("none" if value in (None, "") else value for value in (old.get(key), settings.get(key)))
            raise InputError(
                f"{path} was made with {key} {was}, but {key} is now {now}: use the same settings, or choose another "
                "output"
            )
