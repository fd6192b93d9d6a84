"""The seam between reading and judging: what a reader is asked, and what it says of a claim; plain records.

``Reader.read(sources, claims)`` takes all claims about the same sources at once, so that a reader may read each text
once. ``LargeReader`` is the one of the large encoder; ``ScriptedReader`` is for tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from vouching.reading.facts import Fact
from vouching.reading.windows import Window
from vouching.types import Relation


@dataclass(frozen=True, slots=True)
class Asked:
    """A claim with what it depends on."""

    text: str
    question: str = ""
    """The question that it answers."""
    before: str = ""
    """The sentence before it."""

    @property
    def looked_for(self) -> str:
        """What tells where in the sources to look."""
        return " ".join(filter(None, (self.question, self.before, self.text)))

    def notes(self, facts: Sequence[Fact]) -> list[str]:
        """What is read behind the claim, in training too: the question, the sentence before, the computed facts."""
        given = (("question", self.question), ("before", self.before), *(("computed", fact.text) for fact in facts))
        return [f"{name}: {text}" for name, text in given if text]


@dataclass(frozen=True, slots=True)
class TokenReading:
    """A token of a claim, and the stretch of the sources that is most like it."""

    start: int
    end: int
    support: float
    """P(the sources support it), in [0, 1]."""
    source: int
    """Number of the source; -1 without one."""
    source_start: int
    source_end: int
    similarity: float
    """Cosine of the two, in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the sources say about a claim, as a reader sees it; uncalibrated."""

    relation: Mapping[Relation, float]
    """P of supported, contradicted and not found; they sum to 1."""
    tokens: tuple[TokenReading, ...]
    facts: tuple[Fact, ...]
    """What was computed beside it; operands are offsets in the sources joined by empty lines, or in the window where
    the sources are long."""
    window: Window
    """What was read of the sources."""
    claim_read: int
    """Characters of the claim that were read."""


class Reader(Protocol):
    """Reads claims beside their sources."""

    @property
    def digest(self) -> str:
        """What identifies its weights."""
        ...

    def fits(self, sources: Sequence[str]) -> bool:
        """Whether all claims about the sources are read with one text, so that a further one costs little."""
        ...

    def read(self, sources: Sequence[str], claims: Sequence[Asked]) -> list[Reading]:
        """One reading per claim, in order."""
        ...


class ScriptedReader:
    """Returns what its script says: P of supported, contradicted and not found by the text of the claim.

    >>> reader = ScriptedReader({"It rained.": (0.9, 0.0, 0.1)})
    >>> reader.read(["It rained."], [Asked("It rained.")])[0].relation["supported"]
    0.9
    """

    digest = "scripted"

    def __init__(self, script: Mapping[str, tuple[float, float, float]]) -> None:
        self._script = script

    def fits(self, sources: Sequence[str]) -> bool:
        """Always."""
        return True

    def read(self, sources: Sequence[str], claims: Sequence[Asked]) -> list[Reading]:
        """One reading per claim; the whole sources count as read."""
        window = Window("\n\n".join(sources), (), whole=True)
        names: tuple[Relation, ...] = ("supported", "contradicted", "not_found")
        return [
            Reading(dict(zip(names, self._script[claim.text], strict=True)), (), (), window, len(claim.text))
            for claim in claims
        ]
