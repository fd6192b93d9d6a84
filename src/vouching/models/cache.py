"""Answers cached in SQLite, so that each is paid for once.

A cache answers a request that is equal in every setting with the same completions, also at temperatures above 0: use
another seed to draw again. Damaged entries are asked again and replaced. The first eviction of a process is preceded by
a ``CacheWarning``, unless the caller chose the size and the file is within it. Not supported: caching failures, and
waiting for an equal request that is under way.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from vouching.errors import ConfigError, InputError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.record import completions_from_json, completions_to_json, request_key
from vouching.models.wrappers import Wrapper
from vouching.text.json_values import parse_json
from vouching.types import Usage

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""
MAX_BYTES = 2 << 30
"""Size of a cache, unless the caller or the file has another."""
_NOTED, _NOTED_SECONDS = 1000, 60
"""Uses and seconds after which uses are written to the file, so that most hits write nothing."""
_EVICTED = 20
"""One entry in so many is evicted at a time."""
_EMPTY_PAGES = 8
"""More pages than a cache without entries has."""
_COLUMNS = {"key", "completions"}
_warned: set[Path] = set()


class CacheWarning(UserWarning):
    """Answers of a cache are evicted, or will be with the next new answer."""


class Cached(Wrapper):
    """Looks answers up in a file before the model is asked; known ones have a usage of zero.

    Where the file would grow beyond its size, the entries that were not used for longest are evicted. A process
    writes when it used entries after 1,000 uses or about a minute, and at the end; others do not know before.

    Args:
        model: the model inside.
        path: the file, shared by processes; created if missing.
        weights: tells the model's weights from others of the same name; empty where the name does.
        max_bytes: size of the file, its write-ahead log aside; None means ``MAX_BYTES``, or the size that a larger file
            of an earlier version had. A file that is larger already does not shrink. A single answer that is larger is
            not cached.

    Raises:
        ConfigError: the file cannot be opened or is no cache, or a size of 0.

    >>> import tempfile
    >>> from vouching.models.scripted import ScriptedModel
    >>> folder = tempfile.TemporaryDirectory()
    >>> script = ScriptedModel(["Yes.", "No."])
    >>> model = Cached(script, Path(folder.name) / "answers.sqlite")
    >>> async def twice():
    ...     texts = [(await model.generate([Message("user", "Is it?")], Sampling()))[0].text for _ in range(2)]
    ...     await model.aclose()
    ...     return texts
    >>> asyncio.run(twice()), len(script.asked)
    (['Yes.', 'Yes.'], 1)
    >>> folder.cleanup()
    """

    def __init__(self, model: Model, path: str | Path, weights: str = "", max_bytes: int | None = None) -> None:
        if max_bytes is not None and max_bytes < 1:
            raise ConfigError(f"max_bytes must be at least 1, got {max_bytes}")
        super().__init__(model)
        self._path, self._weights, self._max_bytes = Path(path), weights, max_bytes
        self._limit = max_bytes or MAX_BYTES
        self._file: sqlite3.Connection | None = None
        self._uses: dict[str, float] = {}
        self._written = time.monotonic()
        self._start()

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The cached completions, or new ones. Raises ConfigError if the file has become unusable."""
        key = request_key(self.name + self._weights, messages, sampling)
        if found := _known(await self._run(lambda file: self._use(file, key))):
            return [replace(completion, usage=Usage()) for completion in found]
        completions = await self.model.generate(messages, sampling)
        kept = json.dumps(completions_to_json(completions))
        await self._run(lambda file: self._keep(file, key, kept))
        return completions

    async def aclose(self) -> None:
        """Close the file and the model inside; the next call opens them again."""
        if self._file is not None:
            if self._uses:
                with suppress(ConfigError):  # the order of evictions is not worth an error
                    await self._run(self._write_uses)
            await asyncio.to_thread(self._thread.shutdown)
            self._file.close()
            self._file = None
        await super().aclose()

    def _start(self) -> sqlite3.Connection:
        # One thread owns the connection, so that waiting for another process does not block the event loop.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vouching-cache")
        self._file, used = self._thread.submit(self._open).result()
        if used > self._limit:
            self._warn(used)
        return self._file

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        file = self._file or self._start()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, file)
        except sqlite3.Error as error:
            raise ConfigError(
                f"the cache {self._path} cannot be used ({error}): free disk space, or run without a cache"
            ) from error

    def _open(self) -> tuple[sqlite3.Connection, int]:
        """The file and its size in bytes; 0 if it holds no answers."""
        file: sqlite3.Connection | None = None
        try:
            file = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            _check_columns(file)
            _use_write_ahead_log(file)
            file.execute("PRAGMA synchronous = NORMAL")
            _make_table(file)
            self._limit = self._max_bytes or _own_limit(file) or MAX_BYTES
            holds_any = file.execute("SELECT 1 FROM answers LIMIT 1").fetchone()
            return file, _used_bytes(file) if holds_any else 0
        except sqlite3.Error as error:
            if file:
                file.close()
            raise ConfigError(
                f"{self._path} cannot be used as a cache ({error}): choose a new file or one that vouch created"
            ) from error

    def _use(self, file: sqlite3.Connection, key: str) -> str | None:
        """An entry, whose use is noted; None if there is none."""
        found = _find(file, key)
        if found is not None:
            self._uses[key] = time.time()
            if len(self._uses) >= _NOTED or time.monotonic() > self._written + _NOTED_SECONDS:
                self._write_uses(file)
        return found

    def _write_uses(self, file: sqlite3.Connection) -> None:
        """Write when entries were used."""
        with _transaction(file):
            self._add_uses(file)

    def _add_uses(self, file: sqlite3.Connection) -> None:
        uses = [(used, key) for key, used in self._uses.items()]
        file.executemany("UPDATE answers SET used = max(used, ?) WHERE key = ?", uses)
        self._uses.clear()
        self._written = time.monotonic()

    def _keep(self, file: sqlite3.Connection, key: str, completions: str) -> None:
        """Write an answer, then evict others; what another process wrote meanwhile stays, unless it is damaged."""
        if not _fits(file, len(key) + len(completions), self._limit):
            return
        with _transaction(file):
            if not _known(_find(file, key)):
                answer = (key, completions, time.time())
                file.execute("INSERT OR REPLACE INTO answers (key, completions, used) VALUES (?, ?, ?)", answer)
                if (used := _used_bytes(file)) > self._limit:
                    if self._max_bytes is None:
                        self._warn(used)
                    self._add_uses(file)
                    _evict_some(file)
        # The rest in transactions of their own, so that other processes do not wait for all of it.
        while _used_bytes(file) > self._limit and _evict_some(file):
            pass

    def _warn(self, used: int) -> None:
        """Warn of evictions, once per file and process."""
        if (path := self._path.resolve()) in _warned:
            return
        _warned.add(path)
        size, limit = (f"{number / (1 << 20):,.1f}" for number in (used, self._limit))
        warnings.warn(
            f"the cache {self._path} has {size} MiB, more than its limit of {limit} MiB: each new answer evicts the "
            "least recently used ones; set VOUCH_CACHE_MB to a larger number of MiB to keep them",
            CacheWarning,
            stacklevel=2,
        )


@contextmanager
def _transaction(file: sqlite3.Connection) -> Generator[None]:
    """Write all or nothing."""
    file.execute("BEGIN IMMEDIATE")
    try:
        yield
        file.execute("COMMIT")
    except BaseException:
        if file.in_transaction:
            file.execute("ROLLBACK")
        raise


def _check_columns(file: sqlite3.Connection) -> None:
    """Raises sqlite3.DatabaseError, with the file unchanged, if it holds something that is not a cache."""
    columns = {name: is_key for _, name, _, _, _, is_key in file.execute("PRAGMA table_info(answers)")}
    if not columns and not file.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
        return
    if columns.keys() - {"used"} != _COLUMNS or not columns["key"]:
        found = f"the columns {', '.join(sorted(columns))}" if columns else "no table of this name"
        raise sqlite3.DatabaseError(
            f'expected a table "answers" with the columns {", ".join(sorted(_COLUMNS))}, got {found}'
        )


def _make_table(file: sqlite3.Connection) -> None:
    """The table of answers and when each was used; files of earlier versions lack the time and keep their size."""
    file.execute("BEGIN IMMEDIATE")
    file.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, completions TEXT NOT NULL)")
    is_earlier = not any(column[1] == "used" for column in file.execute("PRAGMA table_info(answers)"))
    if is_earlier:
        file.execute("ALTER TABLE answers ADD COLUMN used INTEGER NOT NULL DEFAULT 0")
    file.execute("CREATE INDEX IF NOT EXISTS answers_used ON answers (used)")
    if is_earlier and (used := _used_bytes(file)) > MAX_BYTES:
        file.execute(f"PRAGMA user_version = {used // 1024 + 1}")
    file.execute("COMMIT")


def _own_limit(file: sqlite3.Connection) -> int:
    """The limit in bytes that the file itself holds, in KiB; 0 if it holds none."""
    return max(0, file.execute("PRAGMA user_version").fetchone()[0]) * 1024


def _find(file: sqlite3.Connection, key: str) -> str | None:
    row = file.execute("SELECT completions FROM answers WHERE key = ?", (key,)).fetchone()
    return row and row[0]


def _fits(file: sqlite3.Connection, size: int, limit: int) -> bool:
    """Whether a file within the limit can hold an entry of this size, if it holds no other."""
    [page] = file.execute("PRAGMA page_size").fetchone()
    return (size // (page - 4) + 1 + _EMPTY_PAGES) * page <= limit


def _evict_some(file: sqlite3.Connection) -> bool:
    """Delete some of the entries that were not used for longest; whether there were any."""
    [entries] = file.execute("SELECT COUNT(*) FROM answers").fetchone()
    oldest = "SELECT rowid FROM answers ORDER BY used, rowid LIMIT ?"
    evicted = file.execute(f"DELETE FROM answers WHERE rowid IN ({oldest})", (entries // _EVICTED + 1,))
    return evicted.rowcount > 0


def _used_bytes(file: sqlite3.Connection) -> int:
    """Bytes of the file that hold something; evicted entries leave room that the next ones take."""
    pages, free, size = (
        file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _known(kept: str | None) -> list[Completion]:
    """The completions of an entry; none if there is no entry or if it is damaged."""
    try:
        return completions_from_json(parse_json(kept), "the cache") if kept else []
    except (InputError, ValueError, TypeError):
        return []


def _use_write_ahead_log(file: sqlite3.Connection) -> None:
    """So that readers and the one writer do not wait for each other. SQLite's own timeout does not cover this step."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            file.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
