"""Search results, trajectories from a question to its evidence, and rankings of answers."""

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
"""Where an engine searches: an index of local documents, or the web."""
SearchEnd: TypeAlias = Literal["ready", "no_call", "unparsed", "turns", "failed", "decided", "exhausted"]
"""Why a search ended: the model wrote READY_FOR_EVALUATION or READY_FOR_ANSWERING ("ready"), or neither that nor a
call ("no_call"); its call cannot be parsed: an unknown tool, no query, invalid arguments ("unparsed"; ``error`` of the
turn says which); the last allowed turn ("turns"); the model failed or no engine answered, and earlier results are kept
("failed"). A search without a language model ends when a verifier has found every answer supported or contradicted
("decided"), or when no query is left ("exhausted")."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One engine asked one query."""

    engine: str
    """Its name, e.g. "index:wiki" or "web:searxng"."""
    found: int
    """How many passages it returned."""
    error: str | None = None
    """None if it answered, even without results."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The results of one query."""

    query: str
    """As it was asked."""
    passages: tuple[Passage, ...]
    """Best first."""
    asked: tuple[Asked, ...]
    """Every engine, whether it answered or not."""

    @property
    def errors(self) -> tuple[str, ...]:
        """Errors, engine by engine."""
        return tuple(asked.error for asked in self.asked if asked.error is not None)

    @property
    def failed(self) -> bool:
        """Whether engines were asked and none answered."""
        return bool(self.asked) and len(self.errors) == len(self.asked)


@dataclass(frozen=True, slots=True)
class SearchTurn:
    """One turn of a search: think, call at most one tool, observe."""

    thought: str
    """The model's text before its call; for a search without a model, why this query."""
    tool: EngineKind | Literal["all"] | None = None
    """Which search was called, "all" for every engine at once; None without a call."""
    query: str = ""
    """Empty without a call."""
    result: SearchResult | None = None
    """None without a call."""
    error: str | None = None
    """Why the call could not be read or answered, if so."""
    ignored: int = 0
    """Further calls in the same turn; only the first is made."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A whole search for one question; its answers share it."""

    question: str
    """The question, or the claim."""
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
        """Every distinct passage, in the order of first occurrence."""
        found: dict[tuple[str | None, int, int, str], Passage] = {}
        for passage in (passage for turn in self.turns if turn.result for passage in turn.result.passages):
            span = passage.span
            found.setdefault((span.source_id, span.start, span.end, span.text), passage)
        return tuple(found.values())

    @property
    def errors(self) -> tuple[str, ...]:
        """Errors, turn by turn; for a turn that searched, those of its engines."""
        return tuple(
            error
            for turn in self.turns
            for error in ((turn.error,) if turn.error is not None else turn.result.errors if turn.result else ())
        )


@dataclass(frozen=True, slots=True)
class Compression:
    """A trajectory shortened for one answer. The model's verdict is separate, so that no scorer can read it."""

    facts: tuple[str, ...]
    """Relevant facts that were found."""
    reasoning: str
    """What the facts mean for the answer; empty if no model wrote it."""
    how: Literal["model", "deterministic", "none"]
    """What produced it."""
    verdict: Literal["Correct", "Incorrect", "Intermediate"] | None = None
    """The model's conclusion; never part of what is scored."""
    usage: Usage = field(default_factory=Usage)
    """What it cost."""
    unread: int = 0
    """Characters of the search that exceeded the limit of the model."""


RankMode: TypeAlias = Literal["compressed", "facts", "full", "no-search", "generative", "agentic", "points"]
"""How answers are ranked (DiVA, section 3.3): by a scorer that gets the compressed search, its facts only, all of it
or nothing; or by a language model that ranks from memory, ranks after the search, or gives 1 to 10 points."""
Scale: TypeAlias = Literal["logit", "unit", "share", "points", "places"]
"""Scale of a score: any number; a model's own [0, 1]; a share of facts; 1 to 10; or how many answers it outranks.
None of them is a calibrated probability."""


@dataclass(frozen=True, slots=True)
class RankedAnswer:
    """One answer, with its place and the reasons."""

    number: int
    """Its position in the call, from 1."""
    text: str
    """The answer, as given."""
    place: int
    """1 is best; tied answers share a place, and the next place counts them all."""
    score: float
    """Higher is better; see the ranking's ``scale``."""
    claim: Claim
    """What was compared with the evidence: the answer, or question and answer as one statement."""
    probability: float | None = None
    """Calibrated probability that the evidence supports it, in [0, 1]; None without a calibration."""
    facts: tuple[str, ...] = ()
    """Relevant facts from the search, as the scorer got them."""
    reasoning: str = ""
    """A language model's explanation; may be empty."""
    evidence_alignment: tuple[Alignment, ...] = ()
    """The parts of ``claim`` with their counterparts in the evidence."""
    reasoning_chain: tuple[ReasoningStep, ...] = ()
    """The conclusion from each counterpart."""
    warnings: tuple[VerdictWarning, ...] = ()
    """Truncated input, injected instructions, and so on."""

    @property
    def label(self) -> str:
        """Its place, in words."""
        return f"Place {self.place}"

    @property
    def passed(self) -> None:
        """None: answers are compared with each other, not judged."""
        return None

    @property
    def span(self) -> None:
        """None: an answer is not part of a text."""
        return None

    def __post_init__(self) -> None:
        if self.number < 1 or self.place < 1:
            raise ValueError(f"number and place must be at least 1, got {self.number} and {self.place}")
        if self.probability is not None and not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"probability must be None or in [0, 1], got {self.probability!r}")


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answers to one question, ranked by how well the evidence supports them.

    >>> from vouching import rank
    >>> ranking = rank("When did the bridge open?", ["In 1937.", "In 1973."], "The bridge opened in 1973.")
    >>> [(answer.place, answer.text) for answer in ranking.answers]
    [(1, 'In 1973.'), (2, 'In 1937.')]
    """

    question: str
    """The question."""
    answers: tuple[RankedAnswer, ...]
    """Best first; tied answers in the order given."""
    unverified: tuple[Unverified, ...]
    """Answers without a score and a place, whose claim has the id "answer-N"."""
    mode: RankMode
    """How they were ranked."""
    scale: Scale
    """Scale of the scores."""
    trajectory: Trajectory | None = None
    """The shared search; None without a search."""
    invalid: str | None = None
    """Why a language model's reply is not a ranking of these answers; None if it is, or if no model ranked."""
    explanation: str = ""
    """A language model's text before its ranking."""
    warnings: tuple[VerdictWarning, ...] = ()
    """About the search or the ranking as a whole."""
    provenance: Provenance = field(default_factory=lambda: Provenance(model="unknown", version="unknown"))
    """What scored; ``trajectory`` has what searched."""
    usage: Usage = field(default_factory=Usage)
    """Total cost."""
    id: str | None = None
    """Name of its row, if it came from a file."""
    kind: Literal["ranking"] = "ranking"
    """Distinguishes records in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def best(self) -> tuple[RankedAnswer, ...]:
        """The answers in the first place: one, several that are tied, or none."""
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
