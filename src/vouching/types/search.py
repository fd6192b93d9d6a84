"""What a search leaves behind: who was asked, what was found, and the way from a question to its evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vouching.types.spans import Passage
from vouching.types.verdict import Usage

EngineKind: TypeAlias = Literal["local", "web"]
"""Where an engine looks: in an index of one's own documents, or on the web."""
SearchEnd: TypeAlias = Literal["ready", "no_call", "unparsed", "turns", "failed", "decided", "exhausted"]
"""Why a search ended: a stop word; a turn without a call; a call that does not parse; the last allowed turn; the model
or every engine failed. A search without a language model ends when a verifier has found every answer supported or
contradicted, or when no query is left."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One engine that was asked one query."""

    engine: str
    """Its name, e.g. "index:wiki" or "web:searxng"."""
    found: int
    """How many passages it returned."""
    error: str | None = None
    """What went wrong; None if it answered, also with nothing."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What one query brought."""

    query: str
    """The query, as it was asked."""
    passages: tuple[Passage, ...]
    """Best first; each says where it comes from."""
    asked: tuple[Asked, ...]
    """Every engine, whether it answered or not."""

    @property
    def errors(self) -> tuple[str, ...]:
        """What went wrong, engine by engine."""
        return tuple(asked.error for asked in self.asked if asked.error is not None)

    @property
    def failed(self) -> bool:
        """Whether engines were asked and none answered."""
        return bool(self.asked) and len(self.errors) == len(self.asked)


@dataclass(frozen=True, slots=True)
class SearchTurn:
    """One turn of a search: think, call at most one tool, observe."""

    thought: str
    """What the model said before its call; for a search without a model, why this query."""
    tool: EngineKind | Literal["all"] | None = None
    """Which search was called, "all" for every engine at once; None where the turn calls none."""
    query: str = ""
    """What was asked for; empty without a call."""
    result: SearchResult | None = None
    """What came back; None without a call."""
    error: str | None = None
    """Why the call could not be read or answered; None if it could."""
    ignored: int = 0
    """Further calls in the same turn; only the first is made."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A whole search for one question; its answers share it."""

    question: str
    """The question, or the claim that is searched for."""
    answers: tuple[str, ...]
    """The answers that were shown with it."""
    turns: tuple[SearchTurn, ...]
    """In order."""
    ended: SearchEnd
    """Why it ended."""
    searcher: str
    """What searched: a model's name, or "deterministic"."""
    usage: Usage = field(default_factory=Usage)
    """What it cost."""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Every passage found, once, in the order of first sight."""
        found: dict[tuple[str | None, int, int, str], Passage] = {}
        for passage in (passage for turn in self.turns if turn.result for passage in turn.result.passages):
            span = passage.span
            found.setdefault((span.source_id, span.start, span.end, span.text), passage)
        return tuple(found.values())

    @property
    def errors(self) -> tuple[str, ...]:
        """What went wrong, turn by turn; of a turn that searched, in its engines."""
        return tuple(
            error
            for turn in self.turns
            for error in ((turn.error,) if turn.error is not None else turn.result.errors if turn.result else ())
        )


@dataclass(frozen=True, slots=True)
class Compression:
    """A trajectory made short for one answer. A verdict of the model is kept apart, so that no scorer can read it."""

    facts: tuple[str, ...]
    """What was found that bears on the answer."""
    reasoning: str
    """How the facts bear on it; empty where no model wrote one."""
    how: Literal["model", "deterministic", "none"]
    """What made it."""
    verdict: Literal["Correct", "Incorrect", "Intermediate"] | None = None
    """What the model concluded; never part of what is scored."""
    usage: Usage = field(default_factory=Usage)
    """What it cost."""
    unread: int = 0
    """Characters of the search that the model was not shown, since they were too many."""
