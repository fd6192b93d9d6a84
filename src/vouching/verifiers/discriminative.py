"""DiVA's discriminative verifier, and every other scorer, as a verifier of claims.

A scorer gives one number for a claim and its evidence. A raw logit becomes a verdict only through a calibration; what
the verdict explains (alignment, chain, error type, fix) is written by the embedded aligner over the same evidence.
Departures from DiVA, which ranks answers and judges none: verdicts at all, their probability, and their explanation.
Left out: searching; sources come with the claims.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vouching.errors import ConfigError, ModelError
from vouching.types import (
    Claim,
    Compression,
    Provenance,
    Relation,
    Source,
    Trajectory,
    Unverified,
    Verdict,
    VerdictWarning,
)
from vouching.verifiers.base import Outcome
from vouching.verifiers.calibration import VARIABLE, Calibration, find_calibration
from vouching.verifiers.discriminative_evidence import Compress, evidence_text, given
from vouching.verifiers.discriminative_input import Shown, scorer_input
from vouching.verifiers.discriminative_rank import failed
from vouching.verifiers.discriminative_scorer import Candidate, EmbeddedScorer, Scored, ScoreOutcome, Scorer
from vouching.verifiers.embedded.soft_reading import load_soft_reader
from vouching.verifiers.embedded.verifier import EmbeddedVerifier
from vouching.version import __version__

SCORERS = """
  embedded, embedded:rules        the verifier that ships
  discriminative:PATH[#ADAPTER]   what vouch train rank saved
  minicheck:PATH                  weights of MiniCheck (flan-t5, roberta, deberta)
  hhem:PATH[#TOKENIZER]           weights of HHEM-2.1-Open, with the tokenizer of flan-t5-base
  factscore:MODEL                 the FActScore protocol on a language model, or on embedded"""
"""What a scorer's name can look like."""
UNCALIBRATED = "The score is the model's own, no calibrated probability: see vouch calibrate."
"""The warning of a verdict without a calibration."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What claims are read against: the sources, and the same as a search."""

    sources: tuple[Source, ...]
    trajectory: Trajectory


class DiscriminativeVerifier:
    """Verifies claims by the numbers of a scorer.

    Args:
        scorer: what scores.
        threshold: probability from which a claim counts as Attributable, in [0, 1].
        shown: what a scorer that reads text is shown of the sources.
        compress: makes the sources short for a claim, where they are shown in a compressed form.
        calibration: turns numbers to probabilities; used only if it was made for this scorer and form.
        aligner: explains; None takes the rules.

    Raises:
        ConfigError: raw logits without a calibration that fits, a share of facts, or nothing to compress with.

    >>> import asyncio
    >>> verifier = DiscriminativeVerifier(EmbeddedScorer(EmbeddedVerifier()))
    >>> [verdict] = asyncio.run(verifier.verify([Claim("It opened in 1937.")], [Source("It opened in 1973.")]))
    >>> verdict.label, verdict.revised_claim
    ('Not Attributable', 'It opened in 1973.')
    """

    def __init__(
        self,
        scorer: Scorer,
        threshold: float = 0.5,
        *,
        shown: Shown = "compressed",
        compress: Compress | None = None,
        calibration: Calibration | None = None,
        aligner: EmbeddedVerifier | None = None,
    ) -> None:
        self.scorer, self.threshold = scorer, threshold
        self._shown: Shown = shown if scorer.reads == "text" else "full"
        if self._shown in ("compressed", "facts") and compress is None:
            raise ConfigError(f"a scorer that is shown the sources as {shown} needs something that compresses them")
        self._compress = compress
        self._digest = scorer.digest(self._shown, question=False)
        self._calibration, self._note = _fitting(scorer, self._digest, calibration)
        own = scorer.verifier if isinstance(scorer, EmbeddedScorer) else None
        self._aligner = aligner or own or EmbeddedVerifier()

    @property
    def calibrator(self) -> str | None:
        """Name of the calibration in use; None without one."""
        return self._calibration.name if self._calibration else None

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One outcome per claim, in order; the scorer gets all of them at once.

        Raises:
            ModelError: a model is out of reach, and the same call may succeed later.
        """
        started = time.perf_counter()
        read = _Read(tuple(sources), given("", [], sources))
        outcomes = await self._score(claims, read)
        verdicts: list[Outcome] = []
        for claim, outcome in zip(claims, outcomes, strict=True):
            verdicts.append(outcome if isinstance(outcome, Unverified) else await self._verdict(claim, outcome, read))
        verdicts = await self._rechecked(verdicts, read)
        seconds = (time.perf_counter() - started) / max(1, len(claims))
        return [replace(v, usage=replace(v.usage, seconds=seconds)) if isinstance(v, Verdict) else v for v in verdicts]

    async def support(self, text: str, sources: Sequence[Source]) -> float | None:
        """None: a scorer is asked about claims, not about how much of a text there is."""
        return None

    async def aclose(self) -> None:
        """Let go of the scorer."""
        await self.scorer.aclose()

    async def raw(self, claim: Claim, question: str, sources: Sequence[Source]) -> ScoreOutcome:
        """The scorer's own number for a claim, before any calibration; what a calibration is fitted on."""
        read = _Read(tuple(sources), given(question, [claim.text], sources))
        [outcome] = await self._score([claim], read, question)
        return outcome

    async def _score(self, claims: Sequence[Claim], read: _Read, question: str = "") -> list[ScoreOutcome]:
        made = [await self._candidate(claim, read, question) for claim in claims]
        scored = iter(await self.scorer.score([one for one in made if isinstance(one, Candidate)]))
        return [one if isinstance(one, Unverified) else next(scored) for one in made]

    async def _candidate(self, claim: Claim, read: _Read, question: str) -> Candidate | Unverified:
        part: Compression | None = None
        if self._compress is not None and self._shown in ("compressed", "facts"):
            try:
                part = await self._compress(read.trajectory, claim.text)
            except ModelError as error:
                return failed(error, claim)
        evidence = evidence_text(self._shown, read.trajectory, part)
        return Candidate(question, claim.text, claim, scorer_input(question, claim.text, evidence), read.sources)

    def _probability(self, scored: Scored) -> float:
        return self._calibration.calibrator(scored.value) if self._calibration else scored.value

    async def _verdict(self, claim: Claim, scored: Scored, read: _Read) -> Outcome:
        """The scorer's number with the aligner's explanation."""
        explained = scored.verdict
        if explained is None:
            [outcome] = await self._aligner.verify([claim], read.sources)
            if isinstance(outcome, Unverified):
                return outcome
            explained = outcome
        score = self._probability(scored)
        attributable = score >= self.threshold
        notes = self._note
        if attributable != explained.attributable:
            message = f"Part by part the claim reads as {explained.label}; the score and the threshold say otherwise."
            notes = (*notes, VerdictWarning("inconsistency", message))
        return replace(
            explained,
            label="Attributable" if attributable else "Not Attributable",
            score=score,
            confidence=score if attributable else 1.0 - score,
            threshold=self.threshold,
            relation=_relation(attributable, explained),
            error_type=None if attributable else explained.error_type,
            fix_suggestion=None if attributable else explained.fix_suggestion,
            revised_claim=None if attributable else explained.revised_claim,
            warnings=(*explained.warnings, *scored.warnings, *notes),
            provenance=Provenance(self.scorer.name, __version__, self.calibrator, self._digest),
            usage=scored.usage,
        )

    async def _rechecked(self, verdicts: Sequence[Outcome], read: _Read) -> list[Outcome]:
        """The verdicts, each with its revised claim only if the same scorer finds that Attributable."""
        revised = {
            place: replace(verdict.claim, text=verdict.revised_claim)
            for place, verdict in enumerate(verdicts)
            if isinstance(verdict, Verdict) and verdict.revised_claim is not None
        }
        outcomes = await self._score([*revised.values()], read) if revised else []
        fit = {
            place
            for place, outcome in zip(revised, outcomes, strict=True)
            if isinstance(outcome, Scored) and self._probability(outcome) >= self.threshold
        }
        return [
            replace(verdict, revised_claim=None, fix_suggestion=None)
            if isinstance(verdict, Verdict) and place in revised and place not in fit
            else verdict
            for place, verdict in enumerate(verdicts)
        ]


def is_scorer(name: str) -> bool:
    """Whether a name is that of a scorer which does not ship; see ``SCORERS``.

    >>> is_scorer("minicheck:/weights"), is_scorer("embedded"), is_scorer("http://host/v1#m")
    (True, False, False)
    """
    return name.partition(":")[0] in ("discriminative", "minicheck", "hhem", "factscore")


def open_scorer(name: str) -> Scorer:
    """A scorer by its name.

    Args:
        name: see ``SCORERS``.

    Raises:
        ConfigError: a name of no known form, or a folder without such weights.
        MissingExtraError: what it runs on is not installed.

    >>> open_scorer("embedded:rules").name
    'embedded:rules'
    """
    kind, _, rest = name.partition(":")
    path, _, second = rest.partition("#")
    if name in ("embedded", "embedded:rules"):
        return EmbeddedScorer(embedded_verifier(name))
    if not path or not is_scorer(name):
        raise ConfigError(f"no scorer is called {name!r}; a scorer is named like this:{SCORERS}")
    if kind == "discriminative":
        from vouching.verifiers.discriminative_model import TrainedScorer

        return TrainedScorer(path, second or None)
    if kind == "hhem":
        from vouching.verifiers.hhem import Hhem

        return Hhem(path, second or None)
    if kind == "minicheck":
        from vouching.verifiers.minicheck import MiniCheck

        return MiniCheck(path)
    return _fact_score(rest)


def open_discriminative(name: str, threshold: float = 0.5, compress: Compress | None = None) -> DiscriminativeVerifier:
    """The verifier on a scorer, with the calibration that ``VOUCH_CALIBRATION`` has for it.

    Args:
        name: see :func:`open_scorer`.
        threshold: probability from which a claim counts as Attributable.
        compress: makes the sources short for a scorer that is shown them so.

    Raises:
        ConfigError: a wrong name, or a scorer that gives no probabilities and has no calibration.

    >>> open_discriminative("embedded:rules").scorer.name
    'embedded:rules'
    """
    scorer = open_scorer(name)
    return DiscriminativeVerifier(
        scorer, threshold, shown=shown_by_training(scorer), compress=compress, aligner=embedded_verifier()
    )


def shown_by_training(scorer: Scorer) -> Shown:
    """What a scorer was trained to be shown of a search; "full" for one that reads passages."""
    note = getattr(scorer, "note", None)
    return note.shown if note is not None else "full" if scorer.reads == "passages" else "compressed"


def embedded_verifier(name: str = "embedded", threshold: float = 0.5) -> EmbeddedVerifier:
    """The embedded verifier by its name, "embedded" or "embedded:rules".

    >>> embedded_verifier("embedded:rules").name
    'embedded:rules'
    """
    return EmbeddedVerifier(threshold, soft_reader=load_soft_reader() if name == "embedded" else None)


def _fact_score(rest: str) -> Scorer:
    from vouching.verifiers.factscore import FactScore, split_by_model, split_sentences

    if rest in ("embedded", "embedded:rules"):
        return FactScore(split_sentences, embedded_verifier(rest), rest)
    from vouching.models.open import open_model
    from vouching.verifiers.structured import StructuredConfig, open_verifier

    model = open_model(rest)
    return FactScore(split_by_model(model), open_verifier(model, StructuredConfig(style="label")), model.name)


def _fitting(
    scorer: Scorer, digest: str, calibration: Calibration | None
) -> tuple[Calibration | None, tuple[VerdictWarning, ...]]:
    """The calibration if it fits, and what a verdict says where none does.

    Raises:
        ConfigError: the scorer's numbers make no verdict without one.
    """
    calibration = calibration or find_calibration(scorer.name)
    why_not = calibration.why_not(scorer.name, digest, 1) if calibration else None
    if scorer.scale == "share":
        raise ConfigError(f"{scorer.name} scores whole answers by a share of facts and judges no claim: use vouch rank")
    if scorer.scale == "logit" and (calibration is None or why_not):
        raise ConfigError(
            f"{scorer.name} gives raw numbers that rank, no probabilities ({why_not or 'no calibration'}): fit one "
            f"with  vouch calibrate --model {scorer.name}  and name it in {VARIABLE}, or rank answers with vouch rank"
        )
    if why_not:
        return None, (VerdictWarning("uncalibrated", f"The score is not calibrated: {why_not}."),)
    if calibration is None and not isinstance(scorer, EmbeddedScorer):
        return None, (VerdictWarning("uncalibrated", UNCALIBRATED),)
    return calibration, ()


def _relation(attributable: bool, explained: Verdict) -> Relation:
    if attributable:
        return "supported"
    return "not_found" if explained.relation == "supported" else explained.relation
