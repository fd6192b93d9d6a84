"""A file of JSON lines that calls are added to, and the reading of one: what every kind of recording shares."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from io import RawIOBase
from pathlib import Path
from typing import Any

from vouching.errors import InputError


class Lines:
    """A file that records are added to, whole lines at a time; threads and processes may add to the same one.

    Args:
        path: the file; made if it is not there.

    Raises:
        InputError: the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = Lines(f"{folder}/calls.jsonl")
    ...     lines.add({"said": "Yes."})
    ...     lines.close()
    ...     [record for _, record in read_lines(f"{folder}/calls.jsonl")]
    [{'said': 'Yes.'}]
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._file = self._open()
        self._lock = threading.Lock()

    def add(self, record: Mapping[str, Any]) -> None:
        """Write one line."""
        with self._lock:
            if self._file.closed:
                self._file = self._open()
            self._file.write(json.dumps(record).encode() + b"\n")

    def close(self) -> None:
        """Close the file; twice is fine, and the next line opens it again."""
        self._file.close()

    def _open(self) -> RawIOBase:
        try:
            return self._path.open("ab", buffering=0)
        except OSError as error:
            raise InputError(f"{self._path} cannot be written ({error}): name another file") from error


def read_lines(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Each line's place, for messages, and what it holds; None for a line that is no JSON.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error}): name a file that was recorded") from error
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        yield f"{path}, line {number}", record
