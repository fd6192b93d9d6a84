"""Records the answers of search engines in a file and replays them, so that a search can be repeated offline.

A line of the file is a JSON object with the engine's name, the query, the requested number of passages, and the
passages, or the error if the engine failed. Fetched pages are not stored, only the passages taken from them.
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
    """One answer of an engine; the names of the fields are those of the file."""

    engine: str
    query: str
    most: int
    """The requested number of passages."""
    passages: tuple[Passage, ...] = ()
    error: str | None = None


class Recording:
    """Appends every answer of an engine to a file of JSON lines, which several engines may share.

    An existing recording is continued. Raises InputError if the file cannot be written, or is not a recording.
    """

    def __init__(self, engine: SearchEngine, path: str | Path) -> None:
        self.name = engine.name
        self.kind: EngineKind = engine.kind
        self._engine = engine
        if Path(path).is_file():
            for place, record in islice(read_lines(path), 1):
                if _answer(record) is None:
                    raise InputError(f"{place} is not a recorded search: record to a new file")
        self._lines = Lines(path)

    async def search(self, query: str, limit: int) -> list[Passage]:
        """Search with the engine inside and record what it finds, or its SearchError."""
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
    """Answers as the recorded engine did. A query that was asked several times gets its answers in order.

    Raises InputError if the file cannot be read, or contains a broken line.
    """

    def __init__(self, path: str | Path, name: str, kind: EngineKind = "web") -> None:
        self.name = name
        self.kind: EngineKind = kind
        self._path = path
        self._answers: defaultdict[tuple[str, int], deque[RecordedAnswer]] = defaultdict(deque)
        for place, record in read_lines(path):
            answer = _answer(record)
            if answer is None:
                raise InputError(f"{place} is not a recorded search: remove the line")
            if answer.engine == name:
                self._answers[answer.query, answer.most].append(answer)

    async def search(self, query: str, limit: int) -> list[Passage]:
        """The recorded passages. Raises the recorded SearchError, or ConfigError if there is no record."""
        answers = self._answers.get((query, limit))
        if not answers:
            raise ConfigError(
                f"{self._path} has no answer from {self.name} for the query {query[:80]!r} with {limit} passages: "
                "record the search again"
            )
        answer = answers.popleft() if len(answers) > 1 else answers[0]
        if answer.error is not None:
            raise SearchError(answer.error)
        return [*answer.passages]

    async def aclose(self) -> None:
        """Nothing to close."""


def _answer(record: object) -> RecordedAnswer | None:
    """The answer in a line; None if it is not an answer."""
    try:
        return _answers().validate_python(record)
    except ValueError:
        return None


@cache
def _answers() -> TypeAdapter[RecordedAnswer]:
    from pydantic import TypeAdapter

    return TypeAdapter(RecordedAnswer)
