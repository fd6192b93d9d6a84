"""Answers to one question, ranked by a scorer: gather evidence, compress it for each answer, score, align, place.

DiVA's three steps (section 3.1), with every part passed in: what finds, what compresses, what scores. Tied answers
share a place; one that could not be scored has none. Departure: equal inputs are scored once, so that rounding within a
batch cannot rank an answer above its duplicate. Not supported: pairwise comparison of answers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, cast

from vouching.embedded.verify import EmbeddedVerifier
from vouching.errors import ConfigError, InputError, ModelError
from vouching.inputs import OR_SEARCH, as_sources, check_text, row_sources
from vouching.judging.calibration import Calibration, fitting
from vouching.judging.verifier import failed
from vouching.methods.discriminative.input import (
    Compress,
    Find,
    Shown,
    evidence_text,
    gather,
    scorer_input,
    search_failed,
    search_warnings,
    sources_of,
    statement,
)
from vouching.methods.discriminative.scorer import Candidate, Closable, EmbeddedScorer, Scored, ScoreOutcome, Scorer
from vouching.models.running import all_of
from vouching.rows import ROWS_AT_ONCE, AsyncWorkFactory, Line, Row, Seen, count_retryable, fields_of, record_work
from vouching.types import (
    Claim,
    Compression,
    Costing,
    Provenance,
    RankedAnswer,
    Ranking,
    RankMode,
    Source,
    Trajectory,
    Unverified,
    Usage,
    Verdict,
    VerdictWarning,
    total_usage,
)
from vouching.types.visible import shown_json, shown_keys
from vouching.version import __version__

SHOWN: dict[RankMode, Shown] = {"compressed": "compressed", "facts": "facts", "full": "full", "no-search": "none"}
"""What a scorer is shown in its modes; the other modes use a language model."""
MODE_OF: dict[Shown, RankMode] = {shown: mode for mode, shown in SHOWN.items()}
"""The reverse."""


class Ranker(Protocol):
    """Ranks the answers to a question."""

    mode: RankMode
    calibrator: str | None
    """Name of the calibration in use; None without one."""

    async def rank(self, question: str, answers: Sequence[str], sources: Sequence[Source] = ()) -> Ranking:
        """The answers, best first, by the given sources and those that are found.

        Raises:
            InputError: no question, no answer, or an empty one.
            ModelError: a model is out of reach, and the same call may succeed later.
        """
        ...

    async def aclose(self) -> None:
        """Close models and engines."""
        ...


class ScoringRanker:
    """Ranks by the scores of a scorer.

    Args:
        scorer: what scores.
        mode: what the scorer is shown of the search; None for that of its training, or all for one that reads passages.
        find: searches; None if sources come with every call, or without a search.
        compress: shortens the search for an answer; required if the scorer reads compressed text.
        calibration: maps scores to probabilities, if it was made for this scorer and form.
        aligner: locates the parts of an answer in the evidence; None for the rules.
        owned: closed together with it.

    >>> import asyncio
    >>> ranker = ScoringRanker(EmbeddedScorer(EmbeddedVerifier()))
    >>> sources = [Source("The bridge opened in 1973.")]
    >>> ranking = asyncio.run(ranker.rank("When did it open?", ["In 1937.", "In 1973.", "In 1937."], sources))
    >>> [(answer.place, answer.number) for answer in ranking.answers]
    [(1, 2), (2, 1), (2, 3)]
    """

    def __init__(
        self,
        scorer: Scorer,
        mode: RankMode | None = None,
        *,
        find: Find | None = None,
        compress: Compress | None = None,
        calibration: Calibration | None = None,
        aligner: EmbeddedVerifier | None = None,
        owned: Sequence[Closable] = (),
    ) -> None:
        self.scorer = scorer
        self.mode: RankMode = mode or MODE_OF[scorer.shown or ("compressed" if scorer.reads == "text" else "full")]
        if self.mode not in SHOWN:
            raise ConfigError(
                f"mode {self.mode} requires a language model, got the scorer {scorer.name}: pass a language model to "
                f"open_ranker, or one of the modes {', '.join(SHOWN)}"
            )
        if scorer.reads == "passages" and self.mode != "full":
            raise ConfigError(
                f"{scorer.name} reads the passages themselves, got mode {self.mode}: omit the mode, or use a trained "
                "scorer"
            )
        self.shown: Shown = SHOWN[self.mode]
        if self.shown in ("compressed", "facts") and compress is None:
            raise ConfigError(f"mode {self.mode} requires a compressor, got none")
        self._find, self._compress = find, compress
        own = scorer.verifier if isinstance(scorer, EmbeddedScorer) else None
        self._aligner = aligner or own or EmbeddedVerifier()
        digest = scorer.digest(self.shown)
        self._calibration, notes = fitting(calibration, scorer.name, digest, what="The scores are")
        self.calibrator = self._calibration.name if self._calibration else None
        self._owned = owned
        self._notes = (*notes, *_untrained(scorer, self.shown))

    async def rank(self, question: str, answers: Sequence[str], sources: Sequence[Source] = ()) -> Ranking:
        """The answers, best first; see :meth:`Ranker.rank`."""
        started = time.perf_counter()
        check_asked(question, answers)
        searched = None if self.shown == "none" else await gather(question, answers, sources, self._find)
        claims = [statement(question, answer, number) for number, answer in enumerate(answers, 1)]
        found = sources_of(searched)
        made = await all_of(self._compressed(searched, *pair) for pair in zip(claims, answers, strict=True))
        candidates: list[Candidate | Unverified] = []
        for claim, answer, part in zip(claims, answers, made, strict=True):
            if isinstance(part, Unverified):
                candidates.append(part)
                continue
            read = scorer_input(question, answer, evidence_text(self.shown, searched, part))
            candidates.append(Candidate(question, answer, claim, read, found))
        outcomes, spent = await self._score(candidates)
        ranked: list[RankedAnswer] = []
        for number, (answer, claim, part, outcome) in enumerate(zip(answers, claims, made, outcomes, strict=True), 1):
            if isinstance(outcome, Scored):
                compression = part if isinstance(part, Compression) else None
                ranked.append(await self._ranked(number, answer, claim, compression, outcome, found))
        return Ranking(
            question=question,
            answers=placed(ranked),
            unverified=tuple(outcome for outcome in outcomes if isinstance(outcome, Unverified)),
            mode=self.mode,
            scale=self.scorer.scale,
            trajectory=searched,
            warnings=(*(search_warnings(searched) if searched else ()), *self._notes),
            provenance=Provenance(self.scorer.name, __version__, self.calibrator, self.scorer.digest(self.shown)),
            usage=usage_since(started, searched, *made, *spent),
        )

    async def aclose(self) -> None:
        """Close the scorer and everything owned."""
        await all_of(one.aclose() for one in (self.scorer, *self._owned))

    async def _compressed(
        self, searched: Trajectory | None, claim: Claim, answer: str
    ) -> Compression | Unverified | None:
        if searched is not None and (failure := search_failed(searched)):
            return Unverified(claim, "backend", failure)
        if self._compress is None or searched is None or self.shown not in ("compressed", "facts"):
            return None
        try:
            return await self._compress(searched, answer)
        except ModelError as error:
            return failed(error, claim)

    async def _score(
        self, candidates: Sequence[Candidate | Unverified]
    ) -> tuple[list[ScoreOutcome], list[ScoreOutcome]]:
        """Each candidate's outcome, and the distinct outcomes, since equal candidates are scored once."""
        distinct = {self._key(one): one for one in candidates if isinstance(one, Candidate)}
        scored = dict(zip(distinct, await self.scorer.score([*distinct.values()]), strict=True)) if distinct else {}
        outcomes: list[ScoreOutcome] = []
        for one in candidates:
            outcome = one if isinstance(one, Unverified) else scored[self._key(one)]
            if isinstance(one, Candidate) and isinstance(outcome, Unverified):
                outcome = replace(outcome, claim=one.claim)
            outcomes.append(outcome)
        return outcomes, [*scored.values()]

    def _key(self, candidate: Candidate) -> str:
        return candidate.answer if self.scorer.reads == "passages" else candidate.read.text

    async def _ranked(
        self,
        number: int,
        answer: str,
        claim: Claim,
        part: Compression | None,
        scored: Scored,
        found: tuple[Source, ...],
    ) -> RankedAnswer:
        answered = RankedAnswer(
            number=number,
            text=answer,
            place=1,
            score=scored.value,
            claim=claim,
            probability=self._calibration.calibrator(scored.value) if self._calibration else None,
            facts=part.facts if part else (),
            reasoning=part.reasoning if part else "",
            warnings=(*_unread(part), *scored.warnings),
        )
        return await explained(answered, found, self._aligner, scored.verdict)


async def explained(
    answer: RankedAnswer, found: Sequence[Source], aligner: EmbeddedVerifier, verdict: Verdict | None = None
) -> RankedAnswer:
    """The answer with its parts located in the evidence, by the given verdict on it or a new one."""
    if verdict is None and found:
        [outcome] = await aligner.verify([answer.claim], found)
        verdict = outcome if isinstance(outcome, Verdict) else None
    if verdict is None:
        return answer
    alignment, chain = verdict.evidence_alignment, verdict.reasoning_chain
    warnings = (*answer.warnings, *verdict.warnings)
    return replace(answer, evidence_alignment=alignment, reasoning_chain=chain, warnings=warnings)


def _unread(part: Compression | None) -> tuple[VerdictWarning, ...]:
    """A warning if a search was too long for the model that compressed it."""
    if part is None or not part.unread:
        return ()
    message = f"The last {part.unread:,} characters of the search were not shown to the model that compressed it."
    return (VerdictWarning("truncated", message),)


def _untrained(scorer: Scorer, shown: Shown) -> tuple[VerdictWarning, ...]:
    """A warning if a scorer is shown something else than in training."""
    if scorer.shown in (None, shown):
        return ()
    message = f"The scorer was trained in mode {MODE_OF[scorer.shown]}, with a different form of input."
    return (VerdictWarning("inconsistency", message),)


def placed(answers: Sequence[RankedAnswer]) -> tuple[RankedAnswer, ...]:
    """The answers by descending score, with their places; tied answers share a place and keep their order."""
    order = sorted(answers, key=lambda answer: -answer.score)
    return tuple(replace(a, place=1 + sum(other.score > a.score for other in answers)) for a in order)


def check_asked(question: str, answers: Sequence[str]) -> None:
    """Raise InputError unless there is a question, and answers with at least one letter or digit each."""
    if not question.strip():
        raise InputError("the question is empty: expected the question that the answers reply to")
    if not answers:
        raise InputError("there are no answers: expected at least one to score, or two to rank")
    for number, answer in enumerate(answers, 1):
        if not any(c.isalnum() for c in answer):
            raise InputError(f"answer {number} is empty: got {answer[:40]!r}, expected at least one word or number")


def usage_since(started: float, *spent: Costing | None) -> Usage:
    """The total usage, with the seconds since ``started`` instead of theirs, which may overlap."""
    return replace(total_usage(one for one in spent if one is not None), seconds=time.perf_counter() - started)


def rank_work(ranker: Ranker, needed: bool, at_once: int = ROWS_AT_ONCE) -> AsyncWorkFactory:
    """The work of ranking the rows of a file, each with its own question, answers and sources.

    Sources are ``needed`` without a search.
    """

    async def rank(row: Row) -> Ranking:
        return replace(await ranker.rank(*ranked_row(row, needed)), id=row.name)

    return AsyncWorkFactory(lambda: record_work(rank), ranker.aclose, at_once)


def ranked_row(row: Row, needed: bool = True) -> tuple[str, list[str], tuple[Source, ...]]:
    """Question, answers and sources of a row. Raises InputError if it cannot be used."""
    fields = fields_of(row)
    check_text(str(fields.get("id", "")), "the id")
    for key in ("question", "answers"):
        if fields.get(key) is None:
            raise InputError(
                f'the row has no value for "{key}"; expected "question" and "answers" (a list of strings); '
                + shown_keys(fields)
            )
    given = fields["answers"]
    if not isinstance(given, list):
        raise InputError(f'"answers" must be a list of strings, got {shown_json(given)}')
    answers = [check_text(text, f"answer {n}") for n, text in enumerate(cast("list[object]", given), 1)]
    sources = row_sources(fields, needed, OR_SEARCH)
    return check_text(fields["question"], "the question"), answers, () if sources is None else as_sources(sources)


def seen_ranking(input_name: str, line: Line) -> Seen:
    """The counts of a line for a run of rows."""
    if line["kind"] == "unverified":
        return Seen(line["claim"]["id"], f"{input_name}, {line['message']}", again=count_retryable([line]))
    missing, invalid = len(line["unverified"]), line["invalid"] is not None
    counts = {"answers": len(line["answers"]) + missing, "without a score": missing, "no ranking": int(invalid)}
    return Seen(line["id"], counts=counts, again=count_retryable(line["unverified"]) + invalid)
