"""The embedded verifier: offline, deterministic, no model download, every quotation taken from the text.

``embedded:rules`` splits the claim into parts, compares each with the sources by exact comparators (numbers with units,
dates, names, negation, qualifiers) and scores the comparison with a small calibrated logistic model. ``embedded:small``
weighs what a small encoder reads and which parts differ; ``embedded`` adds a large encoder that reads a text once for
all claims about it. A differing number or date is a veto. Not supported: inference over several windows of a source;
languages other than English (a warning says so, and the rules decide alone).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from vouching.embedded.compared import Compared, compare, denies_clause
from vouching.embedded.conflicts import Conflict, find_conflict
from vouching.embedded.correction import propose
from vouching.embedded.denial import turned
from vouching.embedded.diagnosis import (
    claim_warnings,
    diagnose,
    diagnose_softly,
    error_of,
    reading_warnings,
    relation_of,
    source_warnings,
)
from vouching.embedded.explanation import align, doubt, explain, presentable, softened
from vouching.embedded.features import Segment, comparisons_of, measure
from vouching.embedded.preference import EmbeddedConfig, Preference, outranked
from vouching.embedded.scoring import ScoreModel, load_score_model
from vouching.embedded.soft_reading import (
    SoftReader,
    combined_features,
    load_soft_reader,
    open_soft_reader,
    with_counterparts,
)
from vouching.embedded.voice import (
    ERROR_OF_MENTION,
    denies_too,
    main_mention,
    mention_place,
    mention_step,
    mention_warnings,
)
from vouching.encoder.reading import SoftReading
from vouching.errors import ConfigError
from vouching.judging.verifier import Outcome, ThresholdConfig
from vouching.models.running import in_thread
from vouching.reading.evidence import SourceIndex
from vouching.reading.index_cache import IndexCache
from vouching.text.sentences import sentence_spans
from vouching.types import (
    Claim,
    ErrorType,
    Provenance,
    Source,
    Span,
    Usage,
    Verdict,
    VerdictWarning,
)
from vouching.version import __version__

_T = TypeVar("_T")

MODELS = ("embedded", "embedded:small", "embedded:rules")
"""Names of the shipped verifiers: both encoders and rules, the small encoder and rules, rules alone."""
_TRUST_ABROAD = 0.5
"""How far the score of a comparison across or outside English departs from 0.5, as a share of the usual."""
_DISPUTED = 0.9
"""Highest score of a claim on which the sources disagree, as a share of the threshold, or of one half."""
_LONG_SOURCES = 50_000
"""In characters."""


@dataclass(frozen=True, slots=True)
class Read:
    """A claim as it was read, with its score."""

    index: SourceIndex
    segments: list[Segment]
    soft: SoftReading | None
    """The encoder's reading; None where it was not used."""
    score: float
    """P(Attributable), or an upper bound for a claim that was given up early."""
    conflict: Conflict | None = None
    """Where the sources disagree about it."""


class EmbeddedVerifier:
    """Verifies claims with rules, a score model (the shipped one by default) and, if given, an encoder.

    >>> from vouching.types import Claim, Source
    >>> verdict = EmbeddedVerifier().judge(Claim("It opened in 1937."), [Source("The bridge opened in 1973.")])
    >>> verdict.label, verdict.error_type, verdict.fix_suggestion
    ('Not Attributable', 'temporal_shift', 'Change 1937 to 1973.')
    """

    def __init__(
        self,
        threshold: float = 0.5,
        score_model: ScoreModel | None = None,
        soft_reader: SoftReader | None = None,
        prefer: Preference | None = None,
    ) -> None:
        self.threshold = threshold
        self.prefer: Preference | None = prefer
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
        return await _read(sources, lambda: [*self.judge_all(claims, sources)])

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
        index = self._indexes.of(tuple(sources))
        segments = compare(text, index).segments
        return self._rules.probability(measure(segments, index)) if segments and index.sentences else 0.0

    def judge(self, claim: Claim, sources: Sequence[Source]) -> Verdict:
        """Judge one claim synchronously."""
        return self.judge_all([claim], sources)[0]

    def judge_all(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Verdict]:
        """Judge claims about the same sources; a reader of texts reads them together."""
        started = time.perf_counter()
        index = self._indexes.of(tuple(sources))
        compared = [compare(claim.text, index) for claim in claims]
        soft = self._read_together(compared)
        share = (time.perf_counter() - started) / max(1, len(claims))
        given = zip(claims, compared, soft, strict=True)
        return [self._judge(claim, tuple(sources), one, read, share) for claim, one, read in given]

    def _read_together(self, compared: Sequence[Compared]) -> list[SoftReading | None]:
        """The encoder's readings, together for claims with the same evidence; None for what the rules judge alone."""
        alike: dict[int, list[int]] = {}
        for number, one in enumerate(compared):
            if self._soft is not None and not one.is_empty and one.is_english:
                alike.setdefault(id(one.index), []).append(number)
        found: dict[int, SoftReading] = {}
        for numbers in alike.values():
            asked = [compared[number] for number in numbers]
            soft = self._soft.read_all(asked, self.threshold) if self._soft else []
            found |= dict(zip(numbers, soft, strict=True))
        return [found.get(number) for number in range(len(compared))]

    def _judge(
        self, claim: Claim, sources: tuple[Source, ...], compared: Compared, soft: SoftReading | None, seconds: float
    ) -> Verdict:
        started = time.perf_counter()
        compared, read, notes = self._settle(claim.text, sources, compared, soft)
        verdict = self._verdict(claim, compared, read, notes)
        if read.conflict is None:
            denied = denies_too(compared.claim.text, compared.mentioned, compared.whole)
            opposite = denied and not verdict.attributable and denies_clause(compared, denied)
            if compared.denies or opposite:
                if denied is None and main_mention(compared.mentioned):
                    verdict = replace(verdict, relation="not_found")
                verdict = turned(verdict, denied, denied and mention_place(denied, compared.index))
        return replace(verdict, usage=Usage(seconds=seconds + time.perf_counter() - started))

    def _verdict(self, claim: Claim, compared: Compared, read: Read, notes: Sequence[VerdictWarning]) -> Verdict:
        index, conflict = compared.index, read.conflict
        attributable = read.score >= self.threshold
        mention = None if attributable or conflict else main_mention(compared.mentioned)
        segments = softened(read.segments) if attributable else read.segments
        comparisons = comparisons_of(segments)
        aligned = [(segment, align(segment, index)) for segment in (presentable(one, index) for one in segments)]
        alignment = [entry for _, entries in aligned for entry in entries]
        chain = [step for segment, entries in aligned for step in explain(segment, entries, index)]
        alignment += [conflict.entry] if conflict else []
        chain += [conflict.step] if conflict else []
        if compared.claim.text != claim.text:
            alignment = [
                replace(entry, claim_span=_as_written(entry.claim_span, compared, claim)) for entry in alignment
            ]
            parts = [entry.claim_span.text for entry in alignment]
            chain = [replace(step, claim_part=part) for step, part in zip(chain, parts, strict=True)]
        fix = revised = None
        if not attributable and conflict is None:
            fix, revised = self._correct(compared, read.segments, index)
            if mention:
                chain.append(mention_step(claim.text, mention, index))
            elif all(error_of(c) is None for c in comparisons):
                chain.append(doubt(compared.claim, claim.text, read.soft))
        relation = relation_of(attributable, comparisons, read.soft)
        if conflict or (mention and mention.mention.attitude == "denied"):
            relation = "conflicting" if conflict else "contradicted"
        return Verdict(
            claim=claim,
            label="Attributable" if attributable else "Not Attributable",
            score=read.score,
            confidence=read.score if attributable or conflict else 1.0 - read.score,
            threshold=self.threshold,
            relation=relation,
            evidence_alignment=tuple(alignment),
            reasoning_chain=tuple(chain),
            error_type=ERROR_OF_MENTION[mention.mention.attitude] if mention else self.error_type(read),
            fix_suggestion=fix,
            revised_claim=revised,
            warnings=(
                *source_warnings(index),
                *mention_warnings(compared.mentioned, index),
                *notes,
                *([conflict.warning] if conflict else ()),
                *claim_warnings(claim.text, attributable, comparisons),
                *(reading_warnings(compared.claim, claim.text, read.soft) if self._soft else ()),
            ),
            provenance=self._provenance(read),
        )

    def _settle(
        self, claim: str, sources: tuple[Source, ...], compared: Compared, soft: SoftReading | None
    ) -> tuple[Compared, Read, list[VerdictWarning]]:
        """Read a claim without the sources that are outranked by others that they disagree with."""
        notes: list[VerdictWarning] = []
        while True:
            read = self.weigh(compared, soft=soft)
            decided = outranked(read.conflict, sources, self.prefer)
            if decided is None:
                return compared, read, notes
            notes.append(decided[1])
            sources = (*sources[: decided[0]], *sources[decided[0] + 1 :])
            compared, soft = compare(claim, self._indexes.of(sources)), None

    def weigh(self, compared: Compared, give_up_below: float = 0.0, soft: SoftReading | None = None) -> Read:
        """Read and score a claim, unless it was read. Without evidence to compare, the score is 0.

        A claim whose ceiling is below ``give_up_below`` skips the encoder. A conflict keeps the score below the
        threshold; so does a denial of a part of the claim, unless a source has the claim word for word.
        """
        read = self._weighed(compared, give_up_below, soft)
        conflict = find_conflict(compared.segments, compared.index)
        if conflict is None:
            undecided = compared.mixed and not compared.verbatim
            return replace(read, score=min(read.score, _DISPUTED * self.threshold)) if undecided else read
        return replace(read, score=min(read.score, _DISPUTED * min(self.threshold, 0.5)), conflict=conflict)

    def _weighed(self, compared: Compared, give_up_below: float, soft: SoftReading | None) -> Read:
        segments, index = compared.segments, compared.index
        if compared.is_empty:
            return Read(index, segments, None, 0.0)
        kinds, verbatim = compared.kinds, compared.verbatim
        if self._soft is None or not compared.is_english:
            score = self._rules.probability(compared.features, kinds, verbatim)
            if not (verbatim or compared.is_english):
                score = 0.5 + _TRUST_ABROAD * (score - 0.5)
            return Read(index, segments, None, score)
        model = self._soft.model
        if model.ceiling(kinds) < give_up_below:
            return Read(index, segments, None, model.ceiling(kinds))
        soft = soft or self._soft.read_all([compared], self.threshold)[0]
        score = model.probability(combined_features(kinds, soft), kinds, verbatim)
        return Read(index, [with_counterparts(segment, soft, index) for segment in segments], soft, score)

    def error_type(self, read: Read) -> ErrorType | None:
        """The error type of a claim that was read; None if it counts as Attributable or is disputed."""
        if read.score >= self.threshold or read.conflict is not None:
            return None
        if read.soft is None:
            return diagnose(read.segments, read.index)
        return diagnose_softly(read.segments, read.index, read.soft)

    def _correct(
        self, compared: Compared, segments: Sequence[Segment], index: SourceIndex
    ) -> tuple[str | None, str | None]:
        for fix, stated in propose(compared.claim.text, segments, index):
            revised = compared.with_edit(stated)
            if (
                revised
                and sentence_spans(revised)
                and self.weigh(compare(revised, index), self.threshold).score >= self.threshold
            ):
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
    return isinstance(model, str) and model.partition(":")[0] == "embedded" and "," not in model


def open_embedded(name: str = "embedded", config: ThresholdConfig | None = None) -> EmbeddedVerifier:
    """Open an embedded verifier by name: one of ``MODELS``, or "embedded:FOLDER" for one made by ``recipes/evolve``.

    Raises ConfigError for another name or folder, WeightsError if a file of weights is missing or altered.

    >>> open_embedded("embedded:rules").name
    'embedded:rules'
    """
    if not is_embedded(name):
        raise ConfigError(f"unknown embedded verifier {name!r}; expected one of {', '.join(MODELS)}, embedded:FOLDER")
    threshold, prefer = (config or EmbeddedConfig()).threshold, getattr(config, "prefer", None)
    if name == "embedded:rules":
        return EmbeddedVerifier(threshold, prefer=prefer)
    _, named, folder = name.partition(":")
    reader = open_soft_reader(Path(folder)) if named and name not in MODELS else load_soft_reader(name)
    return EmbeddedVerifier(threshold, soft_reader=reader, prefer=prefer)


def _as_written(span: Span, compared: Compared, claim: Claim) -> Span:
    start, end = compared.claim.origin(span.start, span.end)
    return Span(claim.text[start:end], start, end)
