"""The embedded verifier: offline, deterministic, no model download, every quote taken from the text.

``embedded:rules`` cuts the claim into parts, compares each with the sources by exact comparators (numbers with units,
dates, names, negation, qualifiers) and scores the comparison with a small calibrated logistic model. Left out:
paraphrase beyond the shipped synonym table, inference over several sentences, languages other than English (warned
about).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from vouching.text.sentences import sentence_spans
from vouching.types import Claim, Provenance, ReasoningStep, Source, Usage, Verdict
from vouching.verifiers.base import Outcome
from vouching.verifiers.embedded.correction import propose
from vouching.verifiers.embedded.decisive import decisive, is_verbatim
from vouching.verifiers.embedded.diagnosis import diagnose, error_of, relation_of
from vouching.verifiers.embedded.evidence import KeptIndexes, SourceIndex
from vouching.verifiers.embedded.explanation import NOT_FOUND, align, explain
from vouching.verifiers.embedded.features import Segment, compare_claim, measure
from vouching.verifiers.embedded.scoring import ScoreModel, load_score_model
from vouching.verifiers.embedded.warnings import claim_warnings, conflict_warnings, source_warnings
from vouching.version import __version__

MODEL_NAME = "embedded:rules"
_LONG_SOURCES = 50_000
"""Characters."""


class EmbeddedVerifier:
    """Verifies claims with rules and a shipped score model.

    Args:
        threshold: score from which a claim counts as Attributable, in [0, 1].
        score_model: weights to use instead of the shipped ones.

    >>> from vouching.types import Claim, Source
    >>> verdict = EmbeddedVerifier().judge(Claim("It opened in 1937."), [Source("The bridge opened in 1973.")])
    >>> verdict.label, verdict.error_type, verdict.fix_suggestion
    ('Not Attributable', 'temporal_shift', 'Change 1937 to 1973.')
    """

    def __init__(self, threshold: float = 0.5, score_model: ScoreModel | None = None) -> None:
        self.threshold = threshold
        self._model = score_model or load_score_model()
        self._indexes = KeptIndexes()

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One verdict per claim, in order. Long sources are read in a thread, so that the event loop stays free."""
        if sum(len(source.text) for source in sources) < _LONG_SOURCES:
            return [self.judge(claim, sources) for claim in claims]
        return await asyncio.to_thread(lambda: [self.judge(claim, sources) for claim in claims])

    async def support(self, text: str, sources: Sequence[Source]) -> float:
        """How much of a text the sources have, in [0, 1]: the score of its features, without ceilings.

        >>> asyncio.run(EmbeddedVerifier().support("It rained.", [Source("Not a word of it.")])) < 0.5
        True
        """
        if sum(len(source.text) for source in sources) < _LONG_SOURCES:
            return self._support(text, sources)
        return await asyncio.to_thread(self._support, text, sources)

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def _support(self, text: str, sources: Sequence[Source]) -> float:
        index = self._indexes.index(tuple(sources))
        segments = compare_claim(text, index)
        return self._model.probability(measure(segments, index)) if segments and index.sentences else 0.0

    def judge(self, claim: Claim, sources: Sequence[Source]) -> Verdict:
        """Judge one claim now, without an event loop."""
        started = time.perf_counter()
        index = self._indexes.index(tuple(sources))
        segments = compare_claim(claim.text, index)
        score = self._score(segments, index)
        attributable = score >= self.threshold
        comparisons = [c for segment in segments for c in segment.comparisons]
        chain = [step for segment in segments for step in explain(segment, index)]
        error = fix = revised = None
        if not attributable:
            error = diagnose(comparisons)
            fix, revised = self._correct(claim.text, segments, index)
            if all(error_of(c) is None for c in comparisons):
                chain.append(_parts_without_whole(claim))
        return Verdict(
            claim=claim,
            label="Attributable" if attributable else "Not Attributable",
            score=score,
            confidence=score if attributable else 1.0 - score,
            threshold=self.threshold,
            relation=relation_of(attributable, comparisons),
            evidence_alignment=tuple(entry for segment in segments for entry in align(segment, index)),
            reasoning_chain=tuple(chain),
            error_type=error,
            fix_suggestion=fix,
            revised_claim=revised,
            warnings=(
                *source_warnings(index),
                *conflict_warnings(comparisons, index),
                *claim_warnings(claim.text, attributable, comparisons),
            ),
            provenance=Provenance(MODEL_NAME, __version__, f"logistic:{self._model.digest}"),
            usage=Usage(seconds=time.perf_counter() - started),
        )

    def _score(self, segments: Sequence[Segment], index: SourceIndex) -> float:
        """P(Attributable). With no evidence left to compare, nothing can be attributed: 0."""
        if not segments or not index.sentences:
            return 0.0
        comparisons = [comparison for segment in segments for comparison in segment.comparisons]
        return self._model.probability(measure(segments, index), decisive(comparisons), is_verbatim(segments, index))

    def _correct(self, claim: str, segments: Sequence[Segment], index: SourceIndex) -> tuple[str | None, str | None]:
        """The first proposed edit whose result comes out Attributable."""
        for fix, revised in propose(claim, segments, index):
            if sentence_spans(revised) and self._score(compare_claim(revised, index), index) >= self.threshold:
                return fix, revised
        return None, None


def _parts_without_whole(claim: Claim) -> ReasoningStep:
    return ReasoningStep(
        claim.text,
        NOT_FOUND,
        "partially_supported",
        "Its parts occur in the source, but the source does not put them together as the claim does.",
    )
