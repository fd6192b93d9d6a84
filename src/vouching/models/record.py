"""Calls kept for later: recorded in a file that a model can answer from, or cached in SQLite so that each is paid once.

A line of a recording is a JSON object with the model's name, the key of the request, its messages for the reader, and
the completions; several processes may write to one file. A cache answers a request that is equal in every setting with
the same completions, also at temperatures above 0: use another seed to draw again. Damaged entries are asked again and
replaced. Not supported: caching failures, and waiting for an equal request that is under way.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from io import RawIOBase
from pathlib import Path
from typing import Any, TypeVar

from vouching.errors import ConfigError, InputError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.tools import ToolCall
from vouching.models.wrappers import Wrapper
from vouching.types import Usage


class Lines:
    """A file of JSON lines that threads and processes may append to; created if missing.

    Raises:
        InputError: the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = Lines(f"{folder}/calls.jsonl")
    ...     lines.add({"reply": "Yes."})
    ...     lines.close()
    ...     [record for _, record in read_lines(f"{folder}/calls.jsonl")]
    [{'reply': 'Yes.'}]
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._file = self._open()
        self._lock = threading.Lock()

    def add(self, record: Mapping[str, Any]) -> None:
        """Append one line."""
        with self._lock:
            if self._file.closed:
                self._file = self._open()
            self._file.write(json.dumps(record).encode() + b"\n")

    def close(self) -> None:
        """Close the file; the next line opens it again."""
        self._file.close()

    def _open(self) -> RawIOBase:
        try:
            return self._path.open("ab", buffering=0)
        except OSError as error:
            raise InputError(f"{self._path} cannot be written ({error}): name another file") from error


def read_lines(path: str | Path) -> Iterator[tuple[str, Any]]:
    """The place of each line, for messages, and its JSON; None where it is not valid.

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


def request_key(name: str, messages: Sequence[Message], sampling: Sampling) -> str:
    """A digest of everything that an answer depends on: the model's name, the messages and the sampling.

    Raises:
        ConfigError: the sampling holds something that is not JSON.

    >>> ask = [Message("user", "Is it?")]
    >>> request_key("m", ask, Sampling(seed=1)) == request_key("m", ask, Sampling(seed=2))
    False
    """
    asked = asdict(sampling)
    if not sampling.tools:
        del asked["tools"]
    request = {"model": name, "messages": [message.json for message in messages], "sampling": asked}
    try:
        text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"json_schema and extra must be JSON: {error}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def completions_to_json(completions: Sequence[Completion]) -> list[dict[str, Any]]:
    """Completions in a form that ``json`` can write."""
    return [asdict(completion) for completion in completions]


def completions_from_json(found: Any, place: str) -> list[Completion]:
    """The inverse of ``completions_to_json``. Raises InputError, which names the place, if these are not completions.

    >>> given = [Completion("Yes.", "stop", Usage(calls=1), (-0.5,))]
    >>> completions_from_json(json.loads(json.dumps(completions_to_json(given))), "here") == given
    True
    """
    try:
        return [
            Completion(
                one["text"],
                one["finish_reason"],
                Usage(**one["usage"]),
                None if one["logprobs"] is None else tuple(one["logprobs"]),
                tuple(ToolCall(**call) for call in one.get("tool_calls", ())),
            )
            for one in found
        ]
    except (TypeError, KeyError) as error:
        raise InputError(f"{place} holds no completions ({type(error).__name__}: {error}): remove it") from None


class Recording(Wrapper):
    """Appends every call that succeeds to a file of JSON lines.

    Raises:
        InputError: the file cannot be written.

    >>> import asyncio, tempfile
    >>> from vouching.models.scripted import ScriptedModel
    >>> folder = tempfile.TemporaryDirectory()
    >>> model = Recording(ScriptedModel(["Yes."]), f"{folder.name}/calls.jsonl")
    >>> ask = [Message("user", "Is it?")]
    >>> first = asyncio.run(model.generate(ask, Sampling()))
    >>> asyncio.run(model.aclose())
    >>> asyncio.run(Replay(f"{folder.name}/calls.jsonl").generate(ask, Sampling())) == first
    True
    >>> folder.cleanup()
    """

    def __init__(self, model: Model, path: str | Path) -> None:
        super().__init__(model)
        self._lines = Lines(path)

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The completions of the model inside, recorded."""
        key = request_key(self.name, messages, sampling)
        completions = await self.model.generate(messages, sampling)
        record = {
            "model": self.name,
            "key": key,
            "messages": [message.json for message in messages],
            "completions": completions_to_json(completions),
        }
        self._lines.add(record)
        return completions

    async def aclose(self) -> None:
        """Close the file and the model inside; the next call opens them again."""
        self._lines.close()
        await super().aclose()


class Replay:
    """Answers from a file that ``Recording`` wrote; repeated requests get their answers in the order of the file.

    Raises:
        InputError: the file cannot be read, has a broken line or calls to several models.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._answers: defaultdict[str, deque[list[Completion]]] = defaultdict(deque)
        self.name = self._read()
        """The name of the model that was recorded."""

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The recorded completions. Raises ConfigError if there are none, or none left, for this request."""
        answers = self._answers.get(request_key(self.name, messages, sampling))
        if not answers:
            last = messages[-1].content[:80] if messages else ""
            raise ConfigError(f"{self._path} has no answer left for the call that ends with {last!r}: record it again")
        return answers.popleft()

    async def aclose(self) -> None:
        """Nothing to close."""

    def _read(self) -> str:
        names: set[str] = set()
        for place, record in read_lines(self._path):
            try:
                name, key, found = record["model"], record["key"], record["completions"]
            except (TypeError, KeyError):
                raise InputError(f"{place}: no recorded call; remove the line") from None
            names.add(name)
            self._answers[key].append(completions_from_json(found, place))
        if len(names) != 1:
            raise InputError(f"{self._path} has calls to {len(names)} models {sorted(names)}, expected one")
        return names.pop()


T = TypeVar("T")
PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""
MAX_BYTES = 2 << 30
"""Size of a cache, if nothing else is asked for."""
_FRESH = 60
"""Seconds in which a use is not noted again, so that most hits write nothing."""
_EVICTED = 20
"""One entry in so many is evicted at a time."""


class Cached(Wrapper):
    """Looks answers up in a file before the model is asked; known ones have a usage of zero.

    Where the file would grow beyond its size, the entries that were not used for longest are evicted.

    Args:
        model: the model inside.
        path: the file, shared by processes; created if missing.
        weights: tells the model's weights from others of the same name; empty where the name does.
        max_bytes: size of the file, its write-ahead log aside. A file that is larger already does not shrink.

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

    def __init__(self, model: Model, path: str | Path, weights: str = "", max_bytes: int = MAX_BYTES) -> None:
        if max_bytes < 1:
            raise ConfigError(f"the size of a cache must be above 0 bytes, got {max_bytes}")
        super().__init__(model)
        self._path, self._weights, self._max_bytes = Path(path), weights, max_bytes
        self._file: sqlite3.Connection | None = None
        self._start()

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The cached completions, or new ones. Raises ConfigError if the file has become unusable."""
        key = request_key(self.name + self._weights, messages, sampling)
        if found := _known(await self._run(lambda file: _find(file, key))):
            return [replace(completion, usage=Usage()) for completion in found]
        completions = await self.model.generate(messages, sampling)
        kept = json.dumps(completions_to_json(completions))
        await self._run(lambda file: _keep(file, key, kept, self._max_bytes))
        return completions

    async def aclose(self) -> None:
        """Close the file and the model inside; the next call opens them again."""
        if self._file is not None:
            await asyncio.to_thread(self._thread.shutdown)
            self._file.close()
            self._file = None
        await super().aclose()

    def _start(self) -> sqlite3.Connection:
        # One thread owns the connection, so that waiting for another process does not block the event loop.
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
            _make_table(file)
            file.execute("SELECT key, completions, used FROM answers LIMIT 1")
        except sqlite3.Error as error:
            raise ConfigError(
                f"{self._path} cannot be used as a cache ({error}): name a new file or one that vouch made"
            ) from error
        return file


def _make_table(file: sqlite3.Connection) -> None:
    """The table of answers and when each was used; files of earlier versions lack the time."""
    file.execute("BEGIN IMMEDIATE")
    file.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, completions TEXT NOT NULL)")
    if not any(column[1] == "used" for column in file.execute("PRAGMA table_info(answers)")):
        file.execute("ALTER TABLE answers ADD COLUMN used INTEGER NOT NULL DEFAULT 0")
    file.execute("CREATE INDEX IF NOT EXISTS answers_used ON answers (used)")
    file.execute("COMMIT")


def _find(file: sqlite3.Connection, key: str) -> str | None:
    row = file.execute("SELECT completions, used FROM answers WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    if row[1] < (now := int(time.time())) - _FRESH:
        file.execute("UPDATE answers SET used = ? WHERE key = ?", (now, key))
    return row[0]


def _keep(file: sqlite3.Connection, key: str, completions: str, max_bytes: int) -> None:
    """Write an answer, then evict others; what another process wrote meanwhile stays, unless it is damaged."""
    if _known(_find(file, key)):
        return
    answer = (key, completions, int(time.time()))
    file.execute("INSERT OR REPLACE INTO answers (key, completions, used) VALUES (?, ?, ?)", answer)
    while _used_bytes(file) > max_bytes:
        [entries] = file.execute("SELECT COUNT(*) FROM answers").fetchone()
        oldest = "SELECT rowid FROM answers ORDER BY used, rowid LIMIT ?"
        evicted = file.execute(f"DELETE FROM answers WHERE rowid IN ({oldest})", (entries // _EVICTED + 1,))
        if not evicted.rowcount:
            return


def _used_bytes(file: sqlite3.Connection) -> int:
    """Bytes of the file that hold something; evicted entries leave room that the next ones take."""
    pages, free, size = (
        file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _known(kept: str | None) -> list[Completion]:
    """The completions of an entry; none if there is no entry or if it is damaged."""
    try:
        return completions_from_json(json.loads(kept), "the cache") if kept else []
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
