"""Lines of rows that are answered before their turn: kept on disk until the rows before them are finished.

A run writes its lines in the order of the rows. Until its turn, a line is in ``<output>.ahead``, so that a run that
stops, or is killed, loses no answer; a resumed run takes it from there. The file has space in reserve for the answers
that are under way when a disk becomes full. It is deleted when nothing waits.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeAlias

from vouching.rows.row import Row, RowDigest
from vouching.text.json_values import parse_json

RESERVE = 1 << 20
"""Bytes in reserve, on systems that can allocate them: 4 kB for each of 256 rows."""
_Key: TypeAlias = tuple[int, str]


def ahead_path(output: Path) -> Path:
    """Path of the lines that wait for their turn."""
    return output.with_name(f"{output.name}.ahead")


class AheadLines:
    """The lines that wait for their turn; without a path, none is kept.

    Args:
        output: path of the output, which this process has locked; None for a stream.

    >>> import tempfile
    >>> output = Path(tempfile.mkdtemp()) / "out.jsonl"
    >>> lines = AheadLines(output)
    >>> lines.keep(Row(2, "line 2", {"id": "b"}), '{"id": "b"}')
    >>> lines.close()
    >>> AheadLines(output).get(Row(2, "line 2", {"id": "b"}))
    '{"id": "b"}'
    """

    def __init__(self, output: Path | None) -> None:
        self._path = None if output is None else ahead_path(output)
        self._lines: dict[_Key, str] = {}
        self.tell: Callable[[int], None] = lambda lines: None
        """Called with the number of lines whenever it changes."""
        self._file: IO[bytes] | None = None
        self._end = 0
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def __len__(self) -> int:
        return len(self._lines)

    def open(self) -> None:
        """Open the file and reserve space. Raises OSError."""
        if self._path is not None and self._file is None:
            self._path.touch()
            self._file = self._path.open("r+b", buffering=0)
            self._reserve(self._file)

    def get(self, row: Row) -> str | None:
        """The line of a row; None if it has none, or if the row has changed since."""
        return self._lines.get(_key(row)) if self._lines else None

    def keep(self, row: Row, line: str) -> None:
        """Write the line of a row. Raises OSError if the reserve is used up, or used from now on."""
        if self._path is None or (key := _key(row)) in self._lines:
            return
        self.open()
        assert self._file is not None
        # The newline before it ends a line that a full disk has cut off.
        data = b"\n" + json.dumps([*key, line]).encode() + b"\n"
        self._file.seek(self._end)
        write_all(self._file, data)
        self._end += len(data)
        self._lines[key] = line
        self._reserve(self._file)
        self.tell(len(self._lines))

    def drop(self, row: Row) -> None:
        """Forget the line of a row that is in the output."""
        if self._lines:
            self._lines.pop(_key(row), None)
            self.tell(len(self._lines))
        if not self._lines and self._file is not None and self._end > RESERVE:
            self._file.truncate(0)
            self._end = 0
            self._reserve(self._file)

    def close(self) -> None:
        """Close the file, and delete it if no line waits."""
        if self._file is not None:
            self._file.close()
        if self._path is not None and not self._lines:
            self._path.unlink(missing_ok=True)

    def _reserve(self, file: IO[bytes]) -> None:
        if hasattr(os, "posix_fallocate") and os.fstat(file.fileno()).st_size < self._end + RESERVE:
            try:
                os.posix_fallocate(file.fileno(), self._end, 2 * RESERVE)
            except OSError as error:
                if error.errno not in {errno.EINVAL, errno.EOPNOTSUPP}:  # a file system without reserves
                    raise

    def _read(self, path: Path) -> None:
        content = path.read_bytes().rstrip(b"\0")
        self._end = len(content)
        for found in content.splitlines():
            try:
                number, digest, line = parse_json(found)
            except ValueError:  # an empty line, or one that was cut off
                continue
            self._lines[number, digest] = line


def write_all(file: IO[bytes], data: bytes) -> None:
    """Write all of ``data``; an unbuffered file may accept only part of it at a time."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
    file.flush()


def _key(row: Row) -> _Key:
    digest = RowDigest()
    digest.add(row)
    return row.number, digest.hexdigest()
