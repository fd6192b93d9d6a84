"""Calls written to a file, and a model that answers from such a file: tests and reruns without a network.

A line of the file is a JSON object with the model's name, the key of the request, its messages for the reader, and the
completions. Left out: failures; a call that failed is not in the file.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path

from vouching.errors import ConfigError, InputError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.lines import Lines, read_lines
from vouching.models.records import completions_from_json, completions_to_json, request_key
from vouching.models.wrapper import Wrapper


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
