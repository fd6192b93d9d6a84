"""A ranking: the answers to one question, best first, with what was found about each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vouching.types.search import Trajectory
from vouching.types.spans import Claim
from vouching.types.verdict import (
    VERDICT_VERSION,
    Alignment,
    Provenance,
    ReasoningStep,
    Unverified,
    Usage,
    VerdictWarning,
)

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
        from vouching.types.display import ranking_text

        return ranking_text(self)

    def _repr_html_(self) -> str:
        from vouching.types.display import ranking_html

        return ranking_html(self)
