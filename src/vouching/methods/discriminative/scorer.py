"""The protocol of scorers, the scorer that ships, and scorers for claims.

A scorer gives numbers that rank; a calibration makes them probabilities. What could not be scored is Unverified, never
a low score. Not supported: scorers that compare answers with each other, as a language model that ranks does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from vouching.embedded.calibrated import digest
from vouching.embedded.verify import EmbeddedVerifier
from vouching.errors import ConfigError, ModelError
from vouching.judging.verifier import failed
from vouching.methods.discriminative.input import Compress, ScorerInput, Shown, evidence_text, given, scorer_input
from vouching.types import (
    Claim,
    Compression,
    Relation,
    Scale,
    Source,
    Trajectory,
    Unverified,
    Usage,
    Verdict,
    VerdictWarning,
)

Reads: TypeAlias = Literal["text", "passages"]
"""What a scorer reads: the prepared text, or the passages."""
NO_EVIDENCE = "no evidence was found to check the answer against: pass a source, an index or a web engine"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer to be scored, in every form that scorers read."""

    question: str
    """Empty for a claim on its own."""
    answer: str
    claim: Claim
    """The answer as a statement; its id names the answer in a failure."""
    read: ScorerInput
    """Question, answer and evidence as one text."""
    sources: tuple[Source, ...]
    """The passages."""


@dataclass(frozen=True, slots=True)
class Marked:
    """Words of an answer that a scorer found unsupported."""

    start: int
    """In characters of the answer."""
    end: int
    """Exclusive."""
    probability: float
    """That they are unsupported, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The score of a candidate."""

    value: float
    """Higher is better."""
    warnings: tuple[VerdictWarning, ...] = ()
    verdict: Verdict | None = None
    """The embedded verdict, if the scorer made one."""
    usage: Usage = field(default_factory=Usage)
    marked: tuple[Marked, ...] = ()
    """Words of the answer that the scorer itself found unsupported, if it finds any words."""
    reason: str = ""
    """The scorer's own reason; empty if it gives none."""
    relation: Relation | None = None
    """How the evidence relates to an answer that it does not support, if the scorer says that."""
    answered_by: str = ""
    """The version of the model that answered, as its server names it."""


ScoreOutcome: TypeAlias = Scored | Unverified
"""A score, or Unverified without one."""


class Closable(Protocol):
    """Something to be closed."""

    async def aclose(self) -> None:
        """Close it; closing twice is fine."""
        ...


class Scorer(Protocol):
    """Scores answers by the evidence."""

    @property
    def name(self) -> str:
        """As in ``provenance``."""
        ...

    @property
    def scale(self) -> Scale:
        """What its numbers are."""
        ...

    @property
    def reads(self) -> Reads:
        """Whether it reads the text or the passages of a candidate."""
        ...

    @property
    def shown(self) -> Shown | None:
        """What of a search it was shown in training; None for one that reads passages."""
        ...

    def digest(self, shown: Shown, question: bool = True) -> str:
        """SHA-256 of the form of its input, with or without a question; a calibration belongs to it."""
        ...

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """One outcome per candidate, in order.

        Raises ModelError if a model is out of reach, and the same call may succeed later.
        """
        ...

    async def aclose(self) -> None:
        """Close models and threads."""
        ...


class EmbeddedScorer:
    """The embedded verifier's score of question and answer over the passages: offline, no torch.

    Its number is calibrated for claims against their sources, not for answers to questions, so it only ranks.
    """

    scale: Scale = "unit"
    reads: Reads = "passages"
    shown: Shown | None = None

    def __init__(self, verifier: EmbeddedVerifier) -> None:
        self.verifier = verifier

    @property
    def name(self) -> str:
        """As in the embedded verifier's own provenance."""
        return self.verifier.name

    def digest(self, shown: Shown, question: bool = True) -> str:
        """With or without a question; other weights than the shipped ones are distinguished."""
        return digest(self.verifier, question)

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """The score of each; Unverified without passages."""
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
        """Nothing to close."""


class ClaimScorer:
    """Scores claims against sources.

    Args:
        scorer: what scores.
        shown: what a scorer that reads text is shown of the sources; one that reads passages gets them all.
        compress: shortens the sources for a claim, if they are shown compressed.
    """

    def __init__(self, scorer: Scorer, shown: Shown = "compressed", compress: Compress | None = None) -> None:
        self.scorer = scorer
        self.shown: Shown = shown if scorer.reads == "text" else "full"
        if self.shown in ("compressed", "facts") and compress is None:
            raise ConfigError(f"a scorer that reads the sources as {shown} requires a compressor")
        self._compress = compress
        self.one_request: bool = getattr(scorer, "one_request", False)
        """Whether the scorer asks all about the same sources in one request."""

    def digest(self, question: bool = False) -> str:
        """SHA-256 of the form of its input, with or without a question."""
        return self.scorer.digest(self.shown, question)

    async def score(self, claims: Sequence[Claim], sources: Sequence[Source], question: str = "") -> list[ScoreOutcome]:
        """One outcome per claim, in order; the scorer gets all of them at once.

        Raises ModelError if a model is out of reach, and the same call may succeed later.
        """
        searched = given(question, [claim.text for claim in claims], sources)
        made = [await self._candidate(claim, tuple(sources), searched) for claim in claims]
        scored = iter(await self.scorer.score([one for one in made if isinstance(one, Candidate)]))
        return [one if isinstance(one, Unverified) else next(scored) for one in made]

    async def aclose(self) -> None:
        """Close the scorer."""
        await self.scorer.aclose()

    async def _candidate(
        self, claim: Claim, sources: tuple[Source, ...], searched: Trajectory
    ) -> Candidate | Unverified:
        part: Compression | None = None
        if self._compress is not None and self.shown in ("compressed", "facts"):
            try:
                part = await self._compress(searched, claim.text)
            except ModelError as error:
                return failed(error, claim)
        read = scorer_input(searched.question, claim.text, evidence_text(self.shown, searched, part))
        return Candidate(searched.question, claim.text, claim, read, sources)
