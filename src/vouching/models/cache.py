"""Answers kept in a SQLite file, so that the same question is paid for once; several processes may share the file.

The same request, to the last setting, gets the same completions, at a temperature above 0 too: ask with another seed
for another draw. An entry that is damaged is asked anew and replaced. Left out: an end to the file's growth (delete
it), and waiting for the same question under way.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from vouching.errors import ConfigError, InputError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.record import completions_from_json, completions_to_json, request_key
from vouching.models.wrappers import Wrapper
from vouching.types import Usage

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""


class Cached(Wrapper):
    """Looks an answer up before the model is asked. Its usage is zero then: it cost nothing.

    Args:
        model: the model inside.
        path: the file; made if it is not there.
        weights: what tells its weights from others by the same name; empty where the name does.

    Raises:
        ConfigError: the file cannot be opened, or is no cache.

    >>> import tempfile
    >>> from vouching.models.scripted import ScriptedModel
    >>> folder = tempfile.TemporaryDirectory()
    >>> script = ScriptedModel(["Yes.", "No."])
    >>> model = Cached(script, Path(folder.name) / "answers.sqlite")
    >>> async def twice():
    ...     said = [(await model.generate([Message("user", "Is it?")], Sampling()))[0].text for _ in range(2)]
    ...     await model.aclose()
    ...     return said
    >>> asyncio.run(twice()), len(script.asked)
    (['Yes.', 'Yes.'], 1)
    >>> folder.cleanup()
    """

    def __init__(self, model: Model, path: str | Path, weights: str = "") -> None:
        super().__init__(model)
        self._path, self._weights = Path(path), weights
        self._file: sqlite3.Connection | None = None
        self._start()

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """What the model inside said to this before, else what it says now. Raises ConfigError if the file is lost."""
        key = request_key(self.name + self._weights, messages, sampling)
        if found := _known(await self._run(lambda file: _find(file, key))):
            return [replace(completion, usage=Usage()) for completion in found]
        completions = await self.model.generate(messages, sampling)
        kept = json.dumps(completions_to_json(completions))
        await self._run(lambda file: _keep(file, key, kept))
        return completions

    async def aclose(self) -> None:
        """Close the file and the model inside; the next call opens them again."""
        if self._file is not None:
            await asyncio.to_thread(self._thread.shutdown)
            self._file.close()
            self._file = None
        await super().aclose()

    def _start(self) -> sqlite3.Connection:
        # One thread owns the connection, so that a wait for another process does not hold up the event loop.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vouching-cache")
        self._file = self._thread.submit(self._open).result()
        return self._file

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        file = self._file or self._start()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, file)
        except sqlite3.Error as error:
            raise ConfigError(f"the cache {self._path} cannot be used ({error}): make room, or do without") from error

    def _open(self) -> sqlite3.Connection:
        try:
            file = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            _use_write_ahead_log(file)
            file.execute("PRAGMA synchronous = NORMAL")
            file.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, completions TEXT NOT NULL)")
            file.execute("SELECT key, completions FROM answers LIMIT 1")
        except sqlite3.Error as error:
            raise ConfigError(
                f"{self._path} cannot be used as a cache ({error}): name a new file or one that vouch made"
            ) from error
        return file


def _find(file: sqlite3.Connection, key: str) -> str | None:
    row = file.execute("SELECT completions FROM answers WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def _keep(file: sqlite3.Connection, key: str, completions: str) -> None:
    """Write an answer; what another process wrote meanwhile stays, unless it is damaged."""
    if not _known(_find(file, key)):
        file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, completions))


def _known(kept: str | None) -> list[Completion]:
    """The completions of an entry; none if there is no entry or if it is damaged."""
    try:
        return completions_from_json(json.loads(kept), "the cache") if kept else []
    except (InputError, ValueError, TypeError):
        return []


def _use_write_ahead_log(file: sqlite3.Connection) -> None:
    """Readers and the one writer need not wait for each other then. SQLite's own patience does not cover this step."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            file.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
