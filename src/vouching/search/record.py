"""What engines answered, written to a file, and engines that answer from such a file: a search repeated offline.

A line of the file is a JSON object with the engine's name, the query, how many passages were wanted, and the passages,
or the error: a failure is part of what happened. Fetched pages are not kept; the passages hold what was taken from
them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from vouching.errors import ConfigError, InputError, SearchError
from vouching.models.record import Lines, read_lines
from vouching.search.base import SearchEngine
from vouching.types import EngineKind, Passage

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """What an engine answered once."""

    engine: str
    """Its name."""
    query: str
    """What it was asked for."""
    limit: int
    """How many passages were wanted."""
    passages: tuple[Passage, ...] = ()
    """What it found."""
    error: str | None = None
    """Why it failed; None if it answered."""


class Recording:
    """Appends every answer of an engine to a file, which several engines may share.

    Args:
        engine: the engine inside.
        path: the file, JSON lines; made if it is not there, and gone on with if it is a recording.

    Raises:
        InputError: the file cannot be written, or holds something else.

    >>> import asyncio, tempfile
    >>> from vouching.types import Span
    >>> class Shelf:
    ...     name, kind = "web:shelf", "web"
    ...     async def search(self, query, limit):
    ...         return [Passage(Span("It opened in 1973.", 0, 18, "http://a"), 1.0)]
    ...     async def aclose(self): ...
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/answers.jsonl"
    ...     found = asyncio.run(Recording(Shelf(), path).search("bridge", 5))
    ...     asyncio.run(Replay(path, "web:shelf").search("bridge", 5)) == found
    True
    """

    def __init__(self, engine: SearchEngine, path: str | Path) -> None:
        self.name = engine.name
        """The name of the engine inside."""
        self.kind: EngineKind = engine.kind
        """Where the engine inside looks."""
        self._engine = engine
        if Path(path).is_file():
            for place, record in islice(read_lines(path), 1):
                if _answer(record) is None:
                    raise InputError(f"{place}: no recorded search; record to a new file")
        self._lines = Lines(path)

    async def search(self, query: str, limit: int) -> list[Passage]:
        """What the engine inside finds, kept. Raises its SearchError, which is kept too."""
        try:
            found = await self._engine.search(query, limit)
        except SearchError as error:
            self._lines.add(asdict(RecordedAnswer(self.name, query, limit, error=str(error))))
            raise
        self._lines.add(asdict(RecordedAnswer(self.name, query, limit, tuple(found))))
        return found

    async def aclose(self) -> None:
        """Close the file and the engine inside."""
        self._lines.close()
        await self._engine.aclose()


class Replay:
    """Answers as one engine did. A query that was put several times gets its answers in order, then the last again.

    Args:
        path: a file that ``Recording`` wrote.
        name: of the engine, e.g. "web:searxng".
        kind: where that engine looked.

    Raises:
        InputError: the file cannot be read, or holds a broken line.
    """

    def __init__(self, path: str | Path, name: str, kind: EngineKind = "web") -> None:
        self.name = name
        """The name of the engine that was recorded."""
        self.kind: EngineKind = kind
        """Where it looked."""
        self._path = path
        self._answers: defaultdict[tuple[str, int], deque[RecordedAnswer]] = defaultdict(deque)
        for place, record in read_lines(path):
            answer = _answer(record)
            if answer is None:
                raise InputError(f"{place}: no recorded search; remove the line")
            if answer.engine == name:
                self._answers[answer.query, answer.limit].append(answer)

    async def search(self, query: str, limit: int) -> list[Passage]:
        """What was found then. Raises the SearchError of then, and ConfigError if this was not asked."""
        answers = self._answers.get((query, limit))
        if not answers:
            raise ConfigError(
                f"{self._path} has no answer of {self.name} for {limit} passages on {query[:80]!r}: record it again"
            )
        answer = answers.popleft() if len(answers) > 1 else answers[0]
        if answer.error is not None:
            raise SearchError(answer.error)
        return [*answer.passages]

    async def aclose(self) -> None:
        """Nothing is open."""


def _answer(record: object) -> RecordedAnswer | None:
    """The answer that a line holds; None if it holds none."""
    try:
        return _answers().validate_python(record)
    except ValueError:
        return None


@cache
def _answers() -> TypeAdapter[RecordedAnswer]:
    from pydantic import TypeAdapter

    return TypeAdapter(RecordedAnswer)
