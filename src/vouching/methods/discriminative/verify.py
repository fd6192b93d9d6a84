"""DiVA's discriminative verifier, and every other scorer, as a verifier of claims.

A scorer gives one number for a claim and its evidence. A raw logit becomes a verdict only with a calibration; the
explanation (alignment, chain, error type, fix) is written by the embedded aligner over the same evidence. Departures
from DiVA, which only ranks answers: verdicts, their probability, and their explanation. Not supported: searching;
sources come with the claims.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vouching.embedded.verify import EmbeddedVerifier
from vouching.errors import ConfigError
from vouching.judging.calibration import VARIABLE, Calibration, find_calibration
from vouching.judging.verifier import Outcome
from vouching.methods.discriminative.scorer import ClaimScorer, EmbeddedScorer, Scored, ScoreOutcome
from vouching.types import (
    NOT_FOUND,
    Alignment,
    Claim,
    Judgment,
    Provenance,
    ReasoningStep,
    Relation,
    Source,
    Span,
    Unverified,
    Verdict,
    VerdictWarning,
    total_usage,
)
from vouching.version import __version__

UNCALIBRATED = "The score is the model's own, not a calibrated probability: see vouch calibrate."
"""The warning of a verdict without a calibration."""


class DiscriminativeVerifier:
    """Verifies claims by the numbers of a scorer.

    Args:
        scorer: what scores claims.
        threshold: probability from which a claim is Attributable, in [0, 1]; .5 means that of the calibration, if any.
        calibration: maps numbers to probabilities; used only if it was made for this scorer and form.
        aligner: explains; None for the rules.

    Raises:
        ConfigError: raw logits without a calibration that fits, or a share of facts.

    >>> import asyncio
    >>> verifier = DiscriminativeVerifier(ClaimScorer(EmbeddedScorer(EmbeddedVerifier())))
    >>> [verdict] = asyncio.run(verifier.verify([Claim("It opened in 1937.")], [Source("It opened in 1973.")]))
    >>> verdict.label, verdict.revised_claim
    ('Not Attributable', 'It opened in 1973.')
    """

    def __init__(
        self,
        scorer: ClaimScorer,
        threshold: float = 0.5,
        *,
        calibration: Calibration | None = None,
        aligner: EmbeddedVerifier | None = None,
    ) -> None:
        self.scorer = scorer
        self._calibration, self._note = _fitting(scorer, calibration)
        chosen = self._calibration.threshold if self._calibration else None
        self.threshold = threshold if chosen is None or threshold != 0.5 else chosen
        inner = scorer.scorer
        self._aligner = aligner or (inner.verifier if isinstance(inner, EmbeddedScorer) else EmbeddedVerifier())

    @property
    def calibrator(self) -> str | None:
        """Name of the calibration in use; None without one."""
        return self._calibration.name if self._calibration else None

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One outcome per claim, in order; the scorer gets all of them at once.

        Raises ModelError if a model is out of reach, and the same call may succeed later.
        """
        started = time.perf_counter()
        if self.scorer.one_request:  # questions about the fixes cost little more in it
            explained = await self._aligner.verify(claims, sources)
            fixes = _fixes(claims, explained)
            scored = await self.scorer.score([*claims, *fixes.values()], sources)
        else:
            scored = await self.scorer.score(claims, sources)
            explained = await self._explained(claims, scored, sources)
            fixes = {
                place: fix for place, fix in _fixes(claims, explained).items() if self._passes(scored[place]) is False
            }
            scored += await self.scorer.score([*fixes.values()], sources) if fixes else []
        fixed = dict(zip(fixes, scored[len(claims) :], strict=True))
        seconds = (time.perf_counter() - started) / max(1, len(claims))
        verdicts: list[Outcome] = []
        for place, (one, why) in enumerate(zip(scored, explained, strict=False)):
            if isinstance(one, Unverified):
                verdicts.append(one)
            elif isinstance(why, Unverified):
                verdicts.append(replace(why, usage=one.usage))
            else:
                fix = fixed.get(place)
                verdict = self._verdict(one, why, fix is not None and self._passes(fix) is True)
                used = total_usage([one, fix] if fix else [one])
                verdicts.append(replace(verdict, usage=replace(used, seconds=seconds)))
        return verdicts

    async def support(self, text: str, sources: Sequence[Source]) -> float | None:
        """None: not measured."""
        return None

    async def aclose(self) -> None:
        """Close the scorer."""
        await self.scorer.aclose()

    async def _explained(
        self, claims: Sequence[Claim], scored: Sequence[ScoreOutcome], sources: Sequence[Source]
    ) -> list[Outcome]:
        """The scorer's own explanation of each claim, else the aligner's; a claim without a score needs none."""
        own: list[Outcome | None] = [one if isinstance(one, Unverified) else one.verdict for one in scored]
        rest = [claim for claim, one in zip(claims, own, strict=True) if one is None]
        more = iter(await self._aligner.verify(rest, sources) if rest else [])
        return [next(more) if one is None else one for one in own]

    def _probability(self, scored: Scored) -> float:
        return self._calibration.calibrator(scored.value) if self._calibration else scored.value

    def _passes(self, scored: ScoreOutcome) -> bool | None:
        """Whether a score reaches the threshold; None without one."""
        return self._probability(scored) >= self.threshold if isinstance(scored, Scored) else None

    def _verdict(self, scored: Scored, explained: Verdict, fits: bool) -> Verdict:
        """The scorer's number with the aligner's explanation, and its fix if it fits."""
        score = self._probability(scored)
        attributable = score >= self.threshold
        fix = not attributable and (fits or explained.revised_claim is None)
        notes = self._note
        if attributable != explained.attributable:
            message = f"Judged by its parts, the claim is {explained.label}; the score and the threshold say otherwise."
            notes = (*notes, VerdictWarning("inconsistency", message))
        return replace(
            explained,
            label="Attributable" if attributable else "Not Attributable",
            score=score,
            confidence=score if attributable else 1.0 - score,
            threshold=self.threshold,
            relation=_relation(attributable, scored.relation or explained.relation),
            error_type=None if attributable else explained.error_type,
            fix_suggestion=explained.fix_suggestion if fix else None,
            revised_claim=explained.revised_claim if fix else None,
            warnings=(*explained.warnings, *scored.warnings, *notes),
            evidence_alignment=_with_marked(explained, scored),
            reasoning_chain=(*explained.reasoning_chain, *self._own_steps(explained.claim, scored, attributable)),
            provenance=Provenance(
                self.scorer.scorer.name,
                __version__,
                self.calibrator,
                self.scorer.digest(),
                explained_by=None if scored.verdict is not None else self._aligner.name,
                answered_by=scored.answered_by or None,
            ),
        )

    def _own_steps(self, claim: Claim, scored: Scored, attributable: bool) -> Iterator[ReasoningStep]:
        """What the scorer itself says of the claim and its parts."""
        name = self.scorer.scorer.name
        for one in scored.marked:
            why = f"{name} marks these words as unsupported, with probability {one.probability:.2f}."
            yield ReasoningStep(claim.text[one.start : one.end], NOT_FOUND, "not_supported", why)
        if scored.reason:
            judgment: Judgment = "supported" if attributable else "not_supported"
            yield ReasoningStep(claim.text, NOT_FOUND, judgment, f"{name}: {scored.reason}")


def _fixes(claims: Sequence[Claim], explained: Sequence[Outcome]) -> dict[int, Claim]:
    """The claims as the explanations correct them, by place."""
    return {
        place: replace(claim, text=one.revised_claim)
        for place, (claim, one) in enumerate(zip(claims, explained, strict=True))
        if isinstance(one, Verdict) and one.revised_claim is not None
    }


def _fitting(
    scorer: ClaimScorer, calibration: Calibration | None
) -> tuple[Calibration | None, tuple[VerdictWarning, ...]]:
    """The calibration if it fits, and warnings otherwise. Raises ConfigError if the scorer requires one."""
    name, scale = scorer.scorer.name, scorer.scorer.scale
    if scale == "share":
        raise ConfigError(f"{name} scores whole answers and cannot judge claims: use vouch rank")
    calibration = calibration or find_calibration(name)
    why_not = calibration.why_not(name, scorer.digest(), 1) if calibration else None
    if scale == "logit" and (calibration is None or why_not):
        raise ConfigError(
            f"{name} gives raw scores, not probabilities ({why_not or 'no calibration'}): create a calibration with  "
            f"vouch calibrate --model {name}  and set {VARIABLE} to it, or rank answers with vouch rank"
        )
    if why_not:
        return None, (VerdictWarning("uncalibrated", f"The score is not calibrated: {why_not}."),)
    if calibration is None and not isinstance(scorer.scorer, EmbeddedScorer):
        return None, (VerdictWarning("uncalibrated", UNCALIBRATED),)
    return calibration, ()


def _with_marked(explained: Verdict, scored: Scored) -> tuple[Alignment, ...]:
    """The alignment, with the words that the scorer itself found unsupported, in the claim's order."""
    text = explained.claim.text
    marked = (Alignment(Span(text[m.start : m.end], m.start, m.end), None, "not_found") for m in scored.marked)
    return tuple(sorted((*explained.evidence_alignment, *marked), key=lambda entry: entry.claim_span.start))


def _relation(attributable: bool, found: Relation) -> Relation:
    if attributable:
        return "supported"
    against: dict[Relation, Relation] = {"supported": "not_found", "conflicting": "contradicted"}
    return against.get(found, found)
