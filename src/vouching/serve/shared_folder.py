"""What the workers of a server share, in a folder: uploaded sources and how much of its limit each key has used."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import tempfile
import time
from collections import OrderedDict
from fcntl import LOCK_EX, flock
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from vouching.errors import InputError, ServerUnavailableError

_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEY = re.compile(r"[0-9a-z]{1,32}")
_BUCKET = struct.Struct("<dd")
"""Requests that may be made at once, and the time of the last one."""


class KeptSources:
    """Texts by their digest, on disk for all workers and in the memory of each; both hold at most ``limit`` bytes.

    The least recently used are dropped. A text keeps its identity in memory, so that a verifier's index of it is found
    without comparing texts.

    >>> kept = KeptSources(Path(tempfile.mkdtemp()), limit=1_000)
    >>> kept.text(kept.keep("It opened in 1973."))
    'It opened in 1973.'
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.limit = limit
        self._folder = folder / "sources"
        self._folder.mkdir(exist_ok=True)
        self._memory: OrderedDict[str, tuple[str, int]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __reduce__(self) -> Any:
        """In another process, the texts of the same folder, with one memory for all that name it."""
        return _same_sources, (self._folder.parent, self.limit)

    def keep(self, text: str) -> str:
        """The digest under which the text can be named. Raises InputError if it alone exceeds the limit."""
        raw = text.encode()
        if len(raw) > self.limit:
            raise InputError(
                f"the source has {len(raw):,} bytes, but {self.limit:,} are kept: send it with the request"
            )
        digest = hashlib.sha256(raw).hexdigest()
        path = self._folder / digest
        if not path.exists():
            try:
                number, name = tempfile.mkstemp(dir=self._folder, prefix="new-")
                with os.fdopen(number, "wb") as file:
                    file.write(raw)
                Path(name).replace(path)
                self._drop_files()
            except OSError as error:
                raise ServerUnavailableError(
                    f"the source cannot be kept: {error.strerror}; send it with the request", 60, 507
                ) from None
        self._remember(digest, text, len(raw))
        return digest

    def text(self, digest: str) -> str:
        """The text of a digest. Raises InputError for one that is unknown or was dropped."""
        with self._lock:
            if digest in self._memory:
                self._memory.move_to_end(digest)
                return self._memory[digest][0]
        path = self._folder / digest
        try:
            if not _DIGEST.fullmatch(digest):
                raise FileNotFoundError
            raw = path.read_bytes()
            os.utime(path)
        except FileNotFoundError:
            raise InputError(f"there is no source {digest[:64]}: upload it again to /v1/sources") from None
        text = raw.decode()
        self._remember(digest, text, len(raw))
        return text

    def _remember(self, digest: str, text: str, size: int) -> None:
        with self._lock:
            if digest not in self._memory:
                self._memory[digest] = text, size
                self._bytes += size
            self._memory.move_to_end(digest)
            while self._bytes > self.limit:
                _, (_, dropped) = self._memory.popitem(last=False)
                self._bytes -= dropped

    def _drop_files(self) -> None:
        with (self._folder.parent / "sources.lock").open("w", encoding="utf-8") as lock:
            flock(lock, LOCK_EX)
            files = [(one.stat(), one.path) for one in os.scandir(self._folder) if _DIGEST.fullmatch(one.name)]
            total = sum(found.st_size for found, _ in files)
            for found, path in sorted(files, key=lambda one: one[0].st_mtime_ns):
                if total <= self.limit:
                    break
                Path(path).unlink(missing_ok=True)
                total -= found.st_size


@lru_cache(maxsize=1)
def _same_sources(folder: Path, limit: int) -> KeptSources:
    return KeptSources(folder, limit)


class Rates:
    """The requests of each key in all workers: a bucket that holds a minute's requests and fills evenly.

    >>> rates = Rates(Path(tempfile.mkdtemp()))
    >>> [rates.wait("team", per_minute=2) for _ in range(2)], round(rates.wait("team", per_minute=2))
    ([0.0, 0.0], 30)
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "rates"
        self._folder.mkdir(exist_ok=True)

    def wait(self, key: str, per_minute: int) -> float:
        """Take one request; seconds to wait if none is left, and 0 otherwise."""
        if not per_minute:
            return 0.0
        if not _KEY.fullmatch(key):
            raise ValueError(f"expected the id of a key, got {key!r}")
        now = time.time()
        number = os.open(self._folder / key, os.O_RDWR | os.O_CREAT, 0o600)
        with os.fdopen(number, "r+b") as file:
            flock(file, LOCK_EX)
            raw = file.read()
            left, last = _BUCKET.unpack(raw) if len(raw) == _BUCKET.size else (float(per_minute), now)
            left = min(float(per_minute), left + max(0.0, now - last) * per_minute / 60)
            taken = left >= 1
            file.seek(0)
            file.write(_BUCKET.pack(left - taken, now))
        return 0.0 if taken else (1 - left) * 60 / per_minute
