"""A response asked about blind: questions, what they were proposed to answer, and what came back (MARCH, section 3).

A checklist, the items it consists of, and one item judged (Soft-RLVR, section 3: items, votes, share of yes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from vouching.types.spans import SIGNS, FindingStatus, Span
from vouching.types.verdict import VERDICT_VERSION, VerdictWarning
from vouching.types.visible import visible_line

BlindOutcome: TypeAlias = Literal["same", "different", "not_found", "contradictory", "leaked"]
"""same: the documents give the response's answer; different: they give another, or the checkers do not agree on one;
not_found: they do not say; contradictory: they give it, and others that exclude it; leaked: the question contained its
own answer, so that nobody was asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a checker sees beside the documents. It holds neither the response nor the answer.

    >>> Question("How long is the bridge?", "length").wanted
    'length'
    """

    text: str
    """The question in words, or a statement with a gap, "____", where the answer stood."""
    wanted: str = ""
    """What sort of value is asked for, e.g. "length", "currency" or "date"; "" leaves it to the words."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with the answer that the response gives to it."""

    question: Question
    """What is asked."""
    answer: str
    """What the response says, with its unit."""
    span: Span | None = None
    """Where in the response it says so, where known."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What one checker found in the documents, blind to the response.

    >>> Checked().answers
    ()
    """

    answers: tuple[str, ...] = ()
    """The answer; none if the documents do not say; several if they contradict each other."""
    places: tuple[Span, ...] = ()
    """Where in the sources the answers stand, as far as known."""
    evidence: str = ""
    """The words of the documents that were relied on, as the checker has them."""
    any_of: bool = False
    """Whether each of several answers is right by itself, as the ratings of several customers are to "a customer gave
    it ____ stars": then they contradict nothing."""
    directions: tuple[Span | None, ...] = ()
    """Beside each answer the stretch from it to the word that says which way it went ("rose by 10 %"), as far as read;
    None where the documents do not say, or not in one voice."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """One question about a response, answered blind by J checkers and compared."""

    question: str
    """What was asked."""
    answer: str
    """The response's answer."""
    outcome: BlindOutcome
    """How the answers compare."""
    found: tuple[str, ...] = ()
    """What the documents say: one value, or all where they or the checkers disagree; none if they do not say."""
    places: tuple[Span, ...] = ()
    """Where in the sources that stands, as far as known."""
    votes: tuple[str | None, ...] = ()
    """One per checker: its answer, None where it found none or gave none that could be read."""
    reason: str = ""
    """Why, in a sentence."""
    span: Span | None = None
    """Where in the response the answer stands, where known."""
    kind: Literal["pair"] = "pair"
    """Tells the findings of a report apart in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def attributable(self) -> bool:
        """True if the documents give the same answer."""
        return self.outcome == "same"

    @property
    def passed(self) -> bool | None:
        """Whether the documents give the same answer; None for a question that was put to nobody."""
        return None if self.outcome == "leaked" else self.attributable

    @property
    def label(self) -> str:
        """How the answers compare, as people read it.

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
        """What it is about: the question."""
        return self.question

    @property
    def warnings(self) -> tuple[VerdictWarning, ...]:
        """None of its own."""
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
    """One yes/no question about a response: put to a judge, or decided by a rule.

    >>> ChecklistItem("Does the response use a friendly tone?").rule is None
    True
    """

    text: str
    """The question; for an item that a rule decides, the requirement in words."""
    rule: str | None = None
    """Name of the exact checker that decides the item, e.g. "punctuation:no_comma"; None if a judge is to be asked."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """What the checker is called with, e.g. ``{"num_words": 300, "relation": "at least"}``; empty without a rule."""
    span: Span | None = None
    """The words of the instruction that ask for it, where known."""

    def __post_init__(self) -> None:
        if self.rule is None and self.arguments:
            raise ValueError(f"an item without a rule takes no arguments, got {dict(self.arguments)!r}")


@dataclass(frozen=True, slots=True)
class Checklist:
    """What a good response to one instruction must fulfil, in order.

    >>> checklist = Checklist("Write a short poem.", (ChecklistItem("Is the response a poem?"),))
    >>> [item.text for item in checklist.items]
    ['Is the response a poem?']
    """

    instruction: str
    """The instruction, or the conversation, it was made for."""
    items: tuple[ChecklistItem, ...]
    """The essential questions; K of them."""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One yes/no question about a response, answered by J votes or by a rule."""

    question: str
    """The item."""
    votes: tuple[bool | None, ...]
    """One per vote: yes, no, or None where the answer was unclear; a rule gives a single one."""
    score: float
    """Share of yes among all J votes, in [0, 1]; an unclear vote counts as no."""
    passed: bool
    """Whether ``score`` reached the item threshold."""
    reason: str = ""
    """Why, in a sentence, where the judge was asked or the rule says so."""
    span: Span | None = None
    """The words of the response that decide it, where known."""
    rule: str | None = None
    """Name of the exact checker that decided; None if a judge voted."""
    kind: Literal["item"] = "item"
    """Tells the findings of a report apart in JSON."""
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
        """What it is about: the question."""
        return self.question

    @property
    def warnings(self) -> tuple[VerdictWarning, ...]:
        """None of its own."""
        return ()

    @property
    def decided_by(self) -> str:
        """Who decided: a rule by its name, or so many votes.

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
