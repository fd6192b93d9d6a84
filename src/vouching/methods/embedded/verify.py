"""The embedded verifier: offline, deterministic, no model download, every quotation taken from the text.

``embedded:rules`` splits the claim into parts, compares each with the sources by exact comparators (numbers with units,
dates, names, negation, qualifiers) and scores the comparison with a small calibrated logistic model. ``embedded`` adds
a small encoder trained on entailment: a second logistic model weighs both, and where arithmetic or dates decide, the
rules prevail. Not supported: inference over several windows of a source; languages other than English (a warning says
so, and the rules decide alone).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from vouching.encoder.reading import SoftReading
from vouching.errors import ConfigError
from vouching.methods.base import Outcome, ThresholdConfig
from vouching.methods.embedded.correction import propose
from vouching.methods.embedded.diagnosis import (
    NOT_FOUND,
    align,
    claim_warnings,
    conflict_warnings,
    decisive,
    diagnose,
    diagnose_softly,
    error_of,
    explain,
    is_verbatim,
    reading_warnings,
    relation_of,
    source_warnings,
)
from vouching.methods.embedded.evidence import IndexCache, SourceIndex
from vouching.methods.embedded.features import Segment, compare_claim, comparisons_of, measure
from vouching.methods.embedded.language import looks_english
from vouching.methods.embedded.scoring import ScoreModel, load_score_model
from vouching.methods.embedded.soft_reading import (
    SoftReader,
    combined_features,
    is_too_long,
    load_soft_reader,
    open_soft_reader,
    with_counterparts,
)
from vouching.models.running import in_thread
from vouching.text.sentences import sentence_spans
from vouching.types import Claim, ErrorType, Provenance, ReasoningStep, Source, Usage, Verdict
from vouching.version import __version__

_T = TypeVar("_T")

MODELS = ("embedded", "embedded:rules")
"""Names of the shipped verifiers; "embedded" is rules and encoder."""
_LONG_SOURCES = 50_000
"""In characters."""


@dataclass(frozen=True)
class Compared:
    """A claim compared with its sources by the rules; independent of the encoder."""

    claim: str
    index: SourceIndex
    segments: list[Segment]
    """One per sentence of the claim."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not self.segments or not self.index.sentences

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of decisive difference."""
        return tuple(decisive(comparisons_of(self.segments)))

    @cached_property
    def verbatim(self) -> bool:
        """Whether a source has it word for word."""
        return is_verbatim(self.segments, self.index)

    @cached_property
    def features(self) -> Mapping[str, float]:
        """Features for the rules' score model."""
        return measure(self.segments, self.index)


def compare(claim: str, index: SourceIndex) -> Compared:
    """Compare a claim with the sources of an index."""
    return Compared(claim, index, compare_claim(claim, index))


@dataclass(frozen=True, slots=True)
class Read:
    """A claim as it was read, with its score."""

    segments: list[Segment]
    soft: SoftReading | None
    """The encoder's reading; None where it was not used."""
    score: float
    """P(Attributable), or an upper bound for a claim that was given up early."""


class EmbeddedVerifier:
    """Verifies claims with rules, a score model (the shipped one by default) and, if given, an encoder.

    >>> from vouching.types import Claim, Source
    >>> verdict = EmbeddedVerifier().judge(Claim("It opened in 1937."), [Source("The bridge opened in 1973.")])
    >>> verdict.label, verdict.error_type, verdict.fix_suggestion
    ('Not Attributable', 'temporal_shift', 'Change 1937 to 1973.')
    """

    def __init__(
        self, threshold: float = 0.5, score_model: ScoreModel | None = None, soft_reader: SoftReader | None = None
    ) -> None:
        self.threshold = threshold
        self._rules = score_model or load_score_model()
        self._soft = soft_reader
        self._indexes = IndexCache()

    @property
    def name(self) -> str:
        """The model's name in ``provenance``.

        >>> EmbeddedVerifier().name
        'embedded:rules'
        """
        return self._soft.name if self._soft else "embedded:rules"

    @property
    def decoding(self) -> dict[str, str] | None:
        """The digest of a score model that does not ship; None for the shipped ones."""
        return None if self._soft is None or self._soft.name in MODELS else {"weights": self._soft.model.digest}

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One verdict per claim, in order. Long sources are read in a thread, to keep the event loop free."""
        return await _read(sources, lambda: [self.judge(claim, sources) for claim in claims])

    async def support(self, text: str, sources: Sequence[Source]) -> float:
        """How much of a text the sources have, in [0, 1]: the score of its features, without ceilings.

        >>> import asyncio
        >>> asyncio.run(EmbeddedVerifier().support("It rained.", [Source("Not a word of it.")])) < 0.5
        True
        """
        return await _read(sources, lambda: self._support(text, sources))

    async def aclose(self) -> None:
        """Nothing to release."""

    def _support(self, text: str, sources: Sequence[Source]) -> float:
        index = self._indexes.index(tuple(sources))
        segments = compare_claim(text, index)
        return self._rules.probability(measure(segments, index)) if segments and index.sentences else 0.0

    def judge(self, claim: Claim, sources: Sequence[Source]) -> Verdict:
        """Judge one claim synchronously."""
        started = time.perf_counter()
        index = self._indexes.index(tuple(sources))
        read = self.weigh(compare(claim.text, index))
        attributable = read.score >= self.threshold
        comparisons = comparisons_of(read.segments)
        chain = [step for segment in read.segments for step in explain(segment, index)]
        fix = revised = None
        if not attributable:
            fix, revised = self._correct(claim.text, read.segments, index)
            if all(error_of(c) is None for c in comparisons):
                chain.append(_parts_without_whole(claim))
        return Verdict(
            claim=claim,
            label="Attributable" if attributable else "Not Attributable",
            score=read.score,
            confidence=read.score if attributable else 1.0 - read.score,
            threshold=self.threshold,
            relation=relation_of(attributable, comparisons, read.soft),
            evidence_alignment=tuple(entry for segment in read.segments for entry in align(segment, index)),
            reasoning_chain=tuple(chain),
            error_type=self.error_type(read),
            fix_suggestion=fix,
            revised_claim=revised,
            warnings=(
                *source_warnings(index),
                *conflict_warnings(comparisons, index),
                *claim_warnings(claim.text, attributable, comparisons),
                *(reading_warnings(claim.text, read.soft, index) if self._soft else ()),
            ),
            provenance=self._provenance(read),
            usage=Usage(seconds=time.perf_counter() - started),
        )

    def weigh(self, compared: Compared, give_up_below: float = 0.0) -> Read:
        """Read and score a claim. Without evidence to compare, the score is 0.

        A claim whose ceiling is below ``give_up_below`` skips the encoder.
        """
        segments, index = compared.segments, compared.index
        if compared.is_empty:
            return Read(segments, None, 0.0)
        kinds, verbatim = compared.kinds, compared.verbatim
        if self._soft is None or is_too_long(index) or not looks_english(compared.claim):
            return Read(segments, None, self._rules.probability(compared.features, kinds, verbatim))
        model = self._soft.model
        if model.ceiling(kinds) < give_up_below:
            return Read(segments, None, model.ceiling(kinds))
        soft = self._soft.read(compared.claim, segments, index)
        score = model.probability(combined_features(self._rules.logit(compared.features), soft), kinds, verbatim)
        return Read([with_counterparts(segment, soft, index) for segment in segments], soft, score)

    def error_type(self, read: Read) -> ErrorType | None:
        """The error type of a claim that was read; None if it counts as Attributable."""
        if read.score >= self.threshold:
            return None
        if read.soft is None:
            return diagnose(comparisons_of(read.segments))
        return diagnose_softly(read.segments, read.soft)

    def _correct(self, claim: str, segments: Sequence[Segment], index: SourceIndex) -> tuple[str | None, str | None]:
        for fix, revised in propose(claim, segments, index):
            if sentence_spans(revised) and self.weigh(compare(revised, index), self.threshold).score >= self.threshold:
                return fix, revised
        return None, None

    def _provenance(self, read: Read) -> Provenance:
        if self._soft is None:
            return Provenance("embedded:rules", __version__, f"logistic:{self._rules.digest}")
        model = self._rules if read.soft is None else self._soft.model
        return Provenance(self._soft.name, __version__, f"logistic:{model.digest}")


async def _read(sources: Sequence[Source], work: Callable[[], _T]) -> _T:
    return await in_thread(work) if sum(len(source.text) for source in sources) >= _LONG_SOURCES else work()


def is_embedded(model: object) -> bool:
    """Whether this is the name of an embedded verifier: one of ``MODELS``, or "embedded:FOLDER".

    >>> is_embedded("embedded:rules"), is_embedded("embedded:runs/weakness/round-2/student"), is_embedded("hhem:PATH")
    (True, True, False)
    """
    return isinstance(model, str) and model.partition(":")[0] == "embedded"


def open_embedded(name: str = "embedded", config: ThresholdConfig | None = None) -> EmbeddedVerifier:
    """Open an embedded verifier by name: one of ``MODELS``, or "embedded:FOLDER" for a student of ``vouch evolve run``.

    Raises ConfigError for another name or folder, WeightsError if a file of weights is missing or altered.

    >>> open_embedded("embedded:rules").name
    'embedded:rules'
    """
    if not is_embedded(name):
        raise ConfigError(f"unknown embedded verifier {name!r}; expected one of {', '.join(MODELS)}, embedded:FOLDER")
    threshold = (config or ThresholdConfig()).threshold
    if name == "embedded:rules":
        return EmbeddedVerifier(threshold)
    _, named, folder = name.partition(":")
    return EmbeddedVerifier(threshold, soft_reader=open_soft_reader(Path(folder)) if named else load_soft_reader())


def _parts_without_whole(claim: Claim) -> ReasoningStep:
    return ReasoningStep(
        claim.text,
        NOT_FOUND,
        "partially_supported",
        "The source has the parts of the claim, but does not combine them as the claim does.",
    )
