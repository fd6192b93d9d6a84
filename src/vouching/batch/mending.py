"""New lines in place of finished ones, in an output that is never half changed.

The new lines and those that stay go, in order, to a file beside the output, ``<output>.mended``, which takes its place
as a whole. Killed at any moment, the output is as it was, and that file is the beginning of what it is to become: the
next run puts behind it what it lacks. Left out: lines that come or go; each new one stands for an old one.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path


class Mending:
    r"""A change of some lines that is under way.

    Args:
        output: the file with the finished lines; it is left alone.

    >>> import tempfile
    >>> output = Path(tempfile.mkdtemp()) / "out.jsonl"
    >>> _ = output.write_bytes(b"1\n2\n3\n")
    >>> with Mending(output) as mending:
    ...     mending.put(2, "two")
    b'2\n'
    >>> take_mended(output)
    >>> output.read_bytes()
    b'1\ntwo\n3\n'
    """

    def __init__(self, output: Path) -> None:
        self._old = output.open("rb")
        self._new = mended_path(output).open("wb")
        shutil.copymode(output, mended_path(output))
        self._lines = 0

    def __enter__(self) -> Mending:
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


def mended_path(output: Path) -> Path:
    """Where the new lines of an output stand until they take its place; beside the file itself, if that is a link."""
    place = output.resolve()
    return place.with_name(f"{place.name}.mended")


def take_mended(output: Path) -> None:
    """Let the new lines take the place of the old ones, however many there are.

    Raises:
        OSError: it cannot be written; both files stay, and a later call can do it.
    """
    fresh = mended_path(output)
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
