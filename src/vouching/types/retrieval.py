"""Findings about what was retrieved for a question, and whether an answer addresses it; support is another matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from vouching.types.spans import Source
from vouching.types.verdict import VERDICT_VERSION, Provenance, Usage
from vouching.types.visible import percent, visible_line


@dataclass(frozen=True, slots=True)
class ContextFinding:
    """The answer to one of the three questions."""

    holds: bool
    """Yes or no."""
    probability: float | None
    """P(yes) in [0, 1], of a logistic model; None from a language model, which says yes or no. How well it is
    calibrated is in docs/figures.md."""
    reasons: tuple[str, ...] = ()
    """What was seen, in words."""

    @property
    def word(self) -> str:
        """Yes or no."""
        return "yes" if self.holds else "no"

    def __str__(self) -> str:
        sure = "" if self.probability is None else f" ({percent(self.probability)})"
        reasons = f": {visible_line('; '.join(self.reasons))}" if self.reasons else ""
        return f"{self.word}{sure}{reasons}"


@dataclass(frozen=True, slots=True)
class ContextReport:
    """Whether sources are enough to answer a question, which are about it, and whether an answer addresses it.

    None of this says that the answer is supported; :func:`vouching.check_response` does.

    >>> from vouching import check_context
    >>> passages = ["The Elbe Bridge opened in 1973.", "Roe Castle has two towers."]
    >>> found = check_context("When did the Elbe Bridge open?", passages, "Roe Castle has two towers.")
    >>> found.sufficient.holds, [one.holds for one in found.relevant], found.addresses.holds
    (True, [True, False], False)
    """

    question: str
    """What was asked."""
    sources: tuple[Source, ...]
    """The passages, in the order given."""
    sufficient: ContextFinding
    """Are the sources together enough to answer the question?"""
    relevant: tuple[ContextFinding, ...]
    """For each source: does it contribute to the answer?"""
    answer: str | None = None
    """The answer, if given."""
    addresses: ContextFinding | None = None
    """Does the answer address the question, right or wrong? None without an answer."""
    provenance: Provenance = field(default_factory=lambda: Provenance(model="unknown", version="unknown"))
    """What judged."""
    usage: Usage = field(default_factory=Usage)
    """What it cost."""
    id: str | None = None
    """Name of its row, if it came from a file."""
    kind: Literal["context"] = "context"
    """Distinguishes records in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def passed(self) -> bool:
        """Whether the sources are enough, and the answer, if there is one, addresses the question."""
        return self.sufficient.holds and (self.addresses is None or self.addresses.holds)

    @property
    def relevant_sources(self) -> int:
        """How many sources contribute to the answer."""
        return sum(one.holds for one in self.relevant)

    def __str__(self) -> str:
        lines = [f"Sufficient: {self.sufficient}"]
        lines += [f"Addresses the question: {self.addresses}"] if self.addresses else []
        lines += [f"Relevant: {self.relevant_sources} of {len(self.relevant)} sources"]
        lines += [
            f"  {visible_line(source.title or source.id)}: {one}"
            for source, one in zip(self.sources, self.relevant, strict=True)
        ]
        return "\n".join(lines)
