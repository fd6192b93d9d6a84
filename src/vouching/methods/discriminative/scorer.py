"""The seam of everything that scores an answer by the evidence, and the scorer that ships.

A scorer gives numbers that rank; none of them is a probability until a calibration makes it one. What it could not
score is Unverified, never a low score. Left out: scorers that compare answers with each other; a language model that
ranks does (``discriminative_generative``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from vouching.methods.discriminative.input import ScorerInput, Shown
from vouching.methods.embedded.verify import EmbeddedVerifier
from vouching.types import Claim, Scale, Source, Unverified, Usage, Verdict, VerdictWarning

Reads: TypeAlias = Literal["text", "passages"]
"""What a scorer takes: the prepared text, or the passages themselves."""
NO_EVIDENCE = "nothing was found to hold the answer against: name a source, an index or a web engine"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer to be scored, in every form that scorers read."""

    question: str
    """What it answers; empty for a claim that stands alone."""
    answer: str
    """The answer, as given."""
    claim: Claim
    """The answer as a statement; its id names the answer in a failure."""
    read: ScorerInput
    """Question, answer and evidence as one text."""
    sources: tuple[Source, ...]
    """The passages."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What a scorer made of a candidate."""

    value: float
    """Higher is better."""
    warnings: tuple[VerdictWarning, ...] = ()
    """What to know before trusting it, such as truncation."""
    verdict: Verdict | None = None
    """The embedded verdict, where the scorer made one on the way."""
    usage: Usage = field(default_factory=Usage)
    """What it cost."""


ScoreOutcome: TypeAlias = Scored | Unverified
"""A score, or Unverified where there is none."""


class Closable(Protocol):
    """Something to be let go of."""

    async def aclose(self) -> None:
        """Let go of it; closing twice is fine."""
        ...


class Scorer(Protocol):
    """Scores answers by the evidence."""

    @property
    def name(self) -> str:
        """What scores, as in ``provenance``."""
        ...

    @property
    def scale(self) -> Scale:
        """What its numbers are."""
        ...

    @property
    def reads(self) -> Reads:
        """Whether it takes the text or the passages of a candidate."""
        ...

    @property
    def shown(self) -> Shown | None:
        """What of a search it was trained to be shown; None for one that reads passages."""
        ...

    def digest(self, shown: Shown, question: bool = True) -> str:
        """SHA-256 of the form of what it reads, with or without a question; a calibration belongs to it."""
        ...

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """One outcome per candidate, in order.

        Raises:
            ModelError: a model is out of reach, and the same call may succeed later.
        """
        ...

    async def aclose(self) -> None:
        """Let go of models and threads."""
        ...


class EmbeddedScorer:
    """The embedded verifier's score of question and answer over the passages: offline, no torch.

    Its number is calibrated for claims against their sources, not for answers to questions, so it ranks and no more.

    Args:
        verifier: what scores.

    >>> import asyncio
    >>> from vouching.methods.discriminative.input import scorer_input
    >>> def candidate(answer):
    ...     sources = (Source("The bridge opened in 1973."),)
    ...     return Candidate("", answer, Claim(answer), scorer_input("", answer), sources)
    >>> scorer = EmbeddedScorer(EmbeddedVerifier())
    >>> low, high = asyncio.run(scorer.score([candidate("It opened in 1937."), candidate("It opened in 1973.")]))
    >>> low.value < high.value
    True
    """

    scale: Scale = "unit"
    reads: Reads = "passages"
    shown: Shown | None = None

    def __init__(self, verifier: EmbeddedVerifier) -> None:
        self.verifier = verifier
        """What scores, and aligns."""

    @property
    def name(self) -> str:
        """As in the embedded verifier's own provenance."""
        return self.verifier.name

    def digest(self, shown: Shown, question: bool = True) -> str:
        """The embedded verifier has one form; weights that do not ship are told apart."""
        learnt = self.verifier.decoding
        return "embedded" if learnt is None else f"embedded {learnt['weights']}"

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """The score of each; Unverified where there is no passage."""
        outcomes: list[ScoreOutcome] = []
        for candidate in candidates:
            if not candidate.sources:
                outcomes.append(Unverified(candidate.claim, "no_evidence", NO_EVIDENCE))
                continue
            [verdict] = await self.verifier.verify([candidate.claim], candidate.sources)
            assert isinstance(verdict, Verdict)
            outcomes.append(Scored(verdict.score, (), verdict, verdict.usage))
        return outcomes

    async def aclose(self) -> None:
        """Nothing to let go of."""
