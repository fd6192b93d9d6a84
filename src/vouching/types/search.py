"""What a search leaves behind: who was asked, what was found, and the way from a question to its evidence.

A ranking: the answers to one question, best first, with what was found about each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vouching.types.notebook import framed, notes, shown
from vouching.types.spans import Claim, Passage
from vouching.types.verdict import (
    VERDICT_VERSION,
    Alignment,
    Provenance,
    ReasoningStep,
    Unverified,
    Usage,
    VerdictWarning,
)
from vouching.types.visible import score_words, visible, visible_line

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


RankMode: TypeAlias = Literal["compressed", "facts", "full", "no-search", "generative", "agentic", "points"]
"""How answers are ranked (DiVA, section 3.3): by a scorer that is shown the compressed search, its facts alone, all of
it or nothing; or by a language model that ranks from memory, ranks after the search, or then gives 1 to 10 points."""
Scale: TypeAlias = Literal["logit", "unit", "share", "points", "places"]
"""What a score is: any number; a model's own [0, 1]; a share of facts; 1 to 10; or how many answers it stands above.
None of them is a calibrated probability."""


@dataclass(frozen=True, slots=True)
class RankedAnswer:
    """One answer, with its place and why it has it."""

    number: int
    """Which answer it was in the call, from 1."""
    text: str
    """The answer, as given."""
    place: int
    """1 is best; answers that are level share a place, and the next place counts them all."""
    score: float
    """Higher is better; see the ranking's ``scale``."""
    claim: Claim
    """What was held against the evidence: the answer, or question and answer as one statement."""
    probability: float | None = None
    """Calibrated probability that the evidence supports it, in [0, 1]; None without a calibration."""
    facts: tuple[str, ...] = ()
    """What the search brought that bears on it, as the scorer was shown it."""
    reasoning: str = ""
    """What a language model said about it; empty where none did."""
    evidence_alignment: tuple[Alignment, ...] = ()
    """The parts of ``claim`` beside their places in what was found."""
    reasoning_chain: tuple[ReasoningStep, ...] = ()
    """What follows from each of these places."""
    warnings: tuple[VerdictWarning, ...] = ()
    """Truncated input, injected instructions, and so on."""

    @property
    def label(self) -> str:
        """Its place, in words."""
        return f"Place {self.place}"

    @property
    def passed(self) -> None:
        """None: answers are compared with each other and not judged."""
        return None

    @property
    def span(self) -> None:
        """None: it is an answer of its own."""
        return None

    def __post_init__(self) -> None:
        if self.number < 1 or self.place < 1:
            raise ValueError(f"number and place count from 1, got {self.number} and {self.place}")
        if self.probability is not None and not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"probability must be None or lie in [0, 1], got {self.probability!r}")


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answers to one question, ranked by how well what was found supports them.

    >>> from vouching import rank
    >>> ranking = rank("When did the bridge open?", ["In 1937.", "In 1973."], "The bridge opened in 1973.")
    >>> [(answer.place, answer.text) for answer in ranking.answers]
    [(1, 'In 1973.'), (2, 'In 1937.')]
    """

    question: str
    """What was asked."""
    answers: tuple[RankedAnswer, ...]
    """Best first; answers that are level stand in the order in which they were given."""
    unverified: tuple[Unverified, ...]
    """Answers without a score, whose claim has the id "answer-N"; they are ranked nowhere, least of all last."""
    mode: RankMode
    """How they were ranked."""
    scale: Scale
    """What the scores are."""
    trajectory: Trajectory | None = None
    """The search, which all answers share; None where nothing was searched."""
    invalid: str | None = None
    """Why what a language model wrote is no ranking of these answers; None if it is one, or no model ranked."""
    explanation: str = ""
    """What a language model said before its ranking."""
    warnings: tuple[VerdictWarning, ...] = ()
    """About the search or the ranking as a whole."""
    provenance: Provenance = field(default_factory=lambda: Provenance(model="unknown", version="unknown"))
    """What scored; what searched stands in ``trajectory``."""
    usage: Usage = field(default_factory=Usage)
    """What it all cost."""
    id: str | None = None
    """Name of the row it belongs to, if it came from a file."""
    kind: Literal["ranking"] = "ranking"
    """Tells records apart in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def best(self) -> tuple[RankedAnswer, ...]:
        """The answers in the first place: one, several that are level, or none."""
        return tuple(answer for answer in self.answers if answer.place == 1)

    def __str__(self) -> str:
        """A line for each answer, then those without a score."""
        lines = [f"  {a.place}  {score_words(a.score):>8}  {visible_line(a.text)}" for a in self.answers]
        lines += [visible(str(failed)) for failed in self.unverified]
        if self.invalid is not None:
            lines.insert(0, f"? No ranking: {visible_line(self.invalid)}")
        return "\n".join([visible_line(self.question), *lines])

    def _repr_html_(self) -> str:
        first, _, rest = str(self).partition("\n")
        warnings = notes(warning.message for warning in self.warnings)
        return framed(f"<div class='head'>{shown(first)}</div>{warnings}<pre>{shown(rest)}</pre>")
