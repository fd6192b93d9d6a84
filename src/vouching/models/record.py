"""Calls recorded in a file that a model can answer from later, without a network.

A line of a recording is a JSON object with the model's name, the key of the request, its messages for the reader, and
the completions; several processes may write to one file. Not supported: recording failures.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from io import RawIOBase
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError, InputError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.tools import ToolCall
from vouching.models.wrappers import Wrapper
from vouching.text.json_values import parse_json
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
            raise InputError(f"{self._path} cannot be written ({error}): choose another file") from error


def read_lines(path: str | Path) -> Iterator[tuple[str, Any]]:
    """The place of each line, for messages, and its JSON; None where it is not valid.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error}): choose a recorded file") from error
    for number, line in enumerate(lines, start=1):
        try:
            record = parse_json(line)
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
    for newer in ("tools", "top_logprobs"):  # an absent one keeps the key that the request had before there was one
        if not asked[newer]:
            del asked[newer]
    request = {"model": name, "messages": [message.json for message in messages], "sampling": asked}
    try:
        text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"json_schema and extra must be valid JSON: {error}") from None
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
                tuple(one.get("alternatives", ())),
            )
            for one in found
        ]
    except (TypeError, KeyError) as error:
        raise InputError(
            f"{place} contains no completions ({type(error).__name__}: {error}): remove the line"
        ) from None


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
            raise ConfigError(
                f"{self._path} has no answer left for the call that ends with {last!r}: record the calls again"
            )
        return answers.popleft()

    async def aclose(self) -> None:
        """Nothing to close."""

    def _read(self) -> str:
        names: set[str] = set()
        for place, record in read_lines(self._path):
            try:
                name, key, found = record["model"], record["key"], record["completions"]
            except (TypeError, KeyError):
                raise InputError(f"{place} is not a recorded call: remove the line") from None
            if not (isinstance(name, str) and isinstance(key, str)):
                raise InputError(f"{place} is not a recorded call: remove the line")
            names.add(name)
            self._answers[key].append(completions_from_json(found, place))
        if len(names) != 1:
            raise InputError(
                f"{self._path} must contain calls to exactly one model, got {', '.join(sorted(names)) or 'no calls'}"
            )
        return names.pop()
