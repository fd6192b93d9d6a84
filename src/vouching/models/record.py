"""Calls kept for later: written to a file that a model can answer from, or cached in SQLite so that each is paid once.

A line of a recording is a JSON object with the model's name, the key of the request, its messages for the reader, and
the completions; several processes may write to one file. In a cache the same request, to the last setting, gets the
same completions, at a temperature above 0 too: ask with another seed for another draw. A damaged entry is asked anew
and replaced. Not supported: failures (a call that failed is not kept), a limit on the cache's size (delete it), and
waiting for the same question under way.
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


def request_key(name: str, messages: Sequence[Message], sampling: Sampling) -> str:
    """A digest of everything that an answer depends on: the model's name, the messages and the whole sampling.

    Raises:
        ConfigError: the sampling holds something that is no JSON.

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
    """Completions as what ``json`` can write."""
    return [asdict(completion) for completion in completions]


def completions_from_json(found: Any, place: str) -> list[Completion]:
    """Completions as they were. Raises InputError, which names the place, if they are none.

    >>> said = [Completion("Yes.", "stop", Usage(calls=1), (-0.5,))]
    >>> completions_from_json(json.loads(json.dumps(completions_to_json(said))), "here") == said
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
    """Appends every call that succeeds to a file, whole lines at a time.

    Args:
        model: the model inside.
        path: the file, JSON lines; made if it is not there.

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
        """What the model inside says, kept."""
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
    """Answers from a recording. A request that was made several times gets its answers in the order of the file.

    Args:
        path: a file that ``Recording`` wrote.

    Raises:
        InputError: the file cannot be read, holds a broken line or calls to several models.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._answers: defaultdict[str, deque[list[Completion]]] = defaultdict(deque)
        self.name = self._read()
        """The name of the model that was recorded."""

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """What was said then. Raises ConfigError if this was not asked, or less often."""
        answers = self._answers.get(request_key(self.name, messages, sampling))
        if not answers:
            last = messages[-1].content[:80] if messages else ""
            raise ConfigError(f"{self._path} has no answer left for the call that ends with {last!r}: record it again")
        return answers.popleft()

    async def aclose(self) -> None:
        """Nothing is open."""

    def _read(self) -> str:
        names: set[str] = set()
        for place, record in read_lines(self._path):
            try:
                name, key, said = record["model"], record["key"], record["completions"]
            except (TypeError, KeyError):
                raise InputError(f"{place}: no recorded call; remove the line") from None
            names.add(name)
            self._answers[key].append(completions_from_json(said, place))
        if len(names) != 1:
            raise InputError(f"{self._path} has calls to {len(names)} models {sorted(names)}, wanted one")
        return names.pop()


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
