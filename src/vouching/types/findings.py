"""Findings about a response: blind questions with their answers (MARCH, section 3), and checklists.

A checklist has items, each judged by votes or a rule (Soft-RLVR, section 3: items, votes, share of yes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from vouching.types.spans import SIGNS, FindingStatus, Span
from vouching.types.verdict import VERDICT_VERSION, VerdictWarning
from vouching.types.visible import visible_line

BlindOutcome: TypeAlias = Literal["same", "different", "not_found", "contradictory", "leaked"]
"""same: the documents give the response's answer; different: they give another, or the checkers disagree; not_found:
they do not give one; contradictory: they give it, and others that exclude it; leaked: the question contained its own
answer, so it was not asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a checker gets with the documents: neither the response nor the answer."""

    text: str
    """The question in words, or a statement with a gap, "____", in place of the answer."""
    wanted: str = ""
    """Kind of value asked for, e.g. "length", "currency" or "date"; "" if the words decide."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with the response's answer."""

    question: Question
    """What is asked."""
    answer: str
    """The response's answer, with its unit."""
    span: Span | None = None
    """Where in the response it is, if known."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One checker's answers from the documents, blind to the response."""

    answers: tuple[str, ...] = ()
    """The answer; none if the documents do not have it; several if they contradict each other."""
    places: tuple[Span, ...] = ()
    """Where in the sources the answers are, as far as known."""
    evidence: str = ""
    """The words of the documents that support them, as quoted by the checker."""
    any_of: bool = False
    """Whether each of several answers is right, such as the ratings of several customers for "a customer gave it
    ____ stars"; then they do not contradict each other."""
    directions: tuple[Span | None, ...] = ()
    """For each answer, the stretch from it to the word with its direction ("rose by 10 %"), where found and
    unanimous."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """One question about a response, answered blind by J checkers and compared."""

    question: str
    """The question."""
    answer: str
    """The response's answer."""
    outcome: BlindOutcome
    """How the answers compare."""
    found: tuple[str, ...] = ()
    """The answer of the documents; all where they or the checkers disagree; none if not found."""
    places: tuple[Span, ...] = ()
    """Where in the sources these are, as far as known."""
    votes: tuple[str | None, ...] = ()
    """The answer of each checker, None where it found none or its reply could not be read."""
    reason: str = ""
    """Why, in a sentence."""
    span: Span | None = None
    """Where in the response the answer is, if known."""
    kind: Literal["pair"] = "pair"
    """Distinguishes the findings of a report in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def attributable(self) -> bool:
        """True if the documents give the same answer."""
        return self.outcome == "same"

    @property
    def passed(self) -> bool | None:
        """Whether the documents give the same answer; None for a question that was not asked."""
        return None if self.outcome == "leaked" else self.attributable

    @property
    def label(self) -> str:
        """How the answers compare, in words.

        >>> PairResult("Q", "1", "not_found").label
        'Not in the documents'
        """
        words = {"not_found": "not in the documents", "contradictory": "contradictory documents"}
        return words.get(self.outcome, self.outcome).capitalize()

    @property
    def status(self) -> FindingStatus:
        """Good, bad, not in the documents, or not asked."""
        if self.passed is None:
            return "unverified"
        return "match" if self.passed else "not_found" if self.outcome == "not_found" else "mismatch"

    @property
    def subject(self) -> str:
        """The question."""
        return self.question

    @property
    def warnings(self) -> tuple[VerdictWarning, ...]:
        """None."""
        return ()

    def __str__(self) -> str:
        """The outcome, the question, both values and the reason.

        >>> print(PairResult("It opened in ____.", "1937", "different", ("1973",), reason="Another year."))
        ✗ Different: It opened in ____.
          response: 1937
          documents: 1973
          Another year.
        """
        places = [f" ({place.source_id}, character {place.start})" for place in self.places]
        places += [""] * (len(self.found) - len(places))
        found = " | ".join(visible_line(f"{value}{place}") for value, place in zip(self.found, places, strict=False))
        lines = [f"response: {visible_line(self.answer)}", f"documents: {found}" if found else ""]
        title = f"{SIGNS[self.status]} {self.label}: {visible_line(self.question)}"
        return "\n".join([title, *(f"  {line}" for line in (*lines, visible_line(self.reason)) if line)])


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One yes/no question about a response, for a judge or an exact rule."""

    text: str
    """The question; for an item with a rule, the requirement in words."""
    rule: str | None = None
    """Name of the exact checker, e.g. "punctuation:no_comma"; None for a judge."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """Arguments of the checker, e.g. ``{"num_words": 300, "relation": "at least"}``; empty without a rule."""
    span: Span | None = None
    """The words of the instruction that ask for it, if known."""

    def __post_init__(self) -> None:
        if self.rule is None and self.arguments:
            raise ValueError(f"an item without a rule must have no arguments, got {dict(self.arguments)!r}")


@dataclass(frozen=True, slots=True)
class Checklist:
    """What a good response to one instruction must fulfil, in order."""

    instruction: str
    """The instruction, or conversation, that it was made for."""
    items: tuple[ChecklistItem, ...]
    """The essential questions; K of them."""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One yes/no question about a response, answered by J votes or by a rule."""

    question: str
    """The item."""
    votes: tuple[bool | None, ...]
    """Yes, no, or None where the answer was unclear; a rule gives a single vote."""
    score: float
    """Share of yes among all J votes, in [0, 1]; an unclear vote counts as no."""
    passed: bool
    """Whether ``score`` reached the item threshold."""
    reason: str = ""
    """Why, in a sentence, if given."""
    span: Span | None = None
    """The words of the response that decide it, if known."""
    rule: str | None = None
    """Name of the exact checker that decided; None if a judge voted."""
    kind: Literal["item"] = "item"
    """Distinguishes the findings of a report in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def label(self) -> str:
        """Whether it passed, in a word."""
        return "Passed" if self.passed else "Failed"

    @property
    def status(self) -> FindingStatus:
        """Good or bad."""
        return "match" if self.passed else "mismatch"

    @property
    def subject(self) -> str:
        """The question."""
        return self.question

    @property
    def warnings(self) -> tuple[VerdictWarning, ...]:
        """None."""
        return ()

    @property
    def decided_by(self) -> str:
        """The rule, or the number of votes.

        >>> ItemResult("Use no commas.", (True,), 1.0, True, rule="punctuation:no_comma").decided_by
        'rule punctuation:no_comma'
        """
        if self.rule is not None:
            return f"rule {self.rule}"
        unclear = sum(vote is None for vote in self.votes)
        doubts = f", {unclear} unclear" if unclear else ""
        return f"{sum(vote is True for vote in self.votes)} of {len(self.votes)} votes say yes{doubts}"

    def __str__(self) -> str:
        """Its sign, the item, who decided, and why.

        >>> print(ItemResult("Is it red?", (True, None, False), 1 / 3, False, "It is blue."))
        ✗ Is it red? (1 of 3 votes say yes, 1 unclear): It is blue.
        """
        reason = f": {visible_line(self.reason)}" if self.reason else ""
        return f"{SIGNS[self.status]} {visible_line(self.question)} ({visible_line(self.decided_by)}){reason}"
