"""One question through a ranker: what is kept of its ranking is one JSON object, enough for every figure.

Answers that people took apart into facts are scored fact by fact, and have the mean score of their facts (FActScore's
protocol with given facts, DiVA, section 5.4); a language model that writes a ranking is shown whole answers. Left out:
the ranking itself; ``vouch rank`` shows it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from vouching.bench.baselines import overlap
from vouching.bench.rankings import RankingRow
from vouching.errors import InputError
from vouching.inputs import as_sources
from vouching.methods.discriminative.input import statement
from vouching.methods.discriminative.rank import Ranker
from vouching.metrics import token_f1
from vouching.rows.pool import AsyncWork
from vouching.rows.read import Row
from vouching.text.words import lower_words
from vouching.types import Claim, Passage, Ranking, Source, Unverified, Verdict

ScoredRanking: TypeAlias = dict[str, Any]
"""A line of ``rows/<set>.jsonl``; its keys are those that :func:`score_ranking` gives."""
Judge: TypeAlias = Callable[[Sequence[Claim], Sequence[Source]], Awaitable[Sequence[Verdict | Unverified]]]
"""Judges claims against sources, as ``ClaimVerifier.verify`` does."""
LISTWISE = ("generative", "agentic")
"""Modes in which a language model writes the ranking."""
_YES_NO = {"yes", "no"}


def ranking_work(ranker: Ranker, judge: Judge | None = None) -> AsyncWork:
    """The function from a row of :mod:`vouching.rows` to its line; see :func:`score_ranking`."""

    async def work(row: Row) -> str:
        if row.fields is None:
            line = _line(RankingRow(row.name, "", ()), None, f"broken: {row.place}: {row.problem}")
        else:
            line = await score_ranking(RankingRow(**row.fields), ranker, judge)
        return json.dumps(line, ensure_ascii=False)

    return work


async def score_ranking(row: RankingRow, ranker: Ranker, judge: Judge | None = None) -> ScoredRanking:
    """Rank the answers of a row and keep what the figures need.

    Args:
        row: the question and its answers.
        ranker: ranks.
        judge: says which answers the search supports; None measures no relevance.

    Returns:
        id, part, worth and labels (gold, or None), scores (one per answer; None if the ranking failed), failed (why it
        did, else None), found (passages; and whether one is titled after something in the question, and whether one
        holds a reference: None where that says nothing; None where nothing was searched), supported (answers that the
        search supports, by the judge; None without one or where it failed), longest and overlap (scores of these
        baselines), token_f1 (of each answer, or None), seconds, keys (what ties the row to others).

    Raises:
        ModelError: a model is out of reach, and the same row may be scored later.

    >>> import asyncio
    >>> from vouching.types import Span
    >>> from vouching.methods.discriminative.open import open_ranker
    >>> class Shelf:
    ...     name, kind = "index:shelf", "local"
    ...     async def search(self, query, most):
    ...         text = "It opened in 1973."
    ...         return [Passage(Span(text, 0, len(text), "bridge"), 1.0, "Bridge (Oslo)")]
    ...     async def aclose(self): ...
    >>> row = RankingRow("q", "When did the bridge open?", ("In 1937.", "In 1973."), (1.0, 2.0), references=("1973",))
    >>> line = asyncio.run(score_ranking(row, open_ranker(engines=[Shelf()])))
    >>> line["scores"][0] < line["scores"][1], line["found"]
    (True, {'passages': 1, 'titled': True, 'reference': True})
    """
    started = time.perf_counter()
    apart = bool(row.facts) and ranker.mode not in LISTWISE
    units = (
        [facts or (answer,) for answer, facts in zip(row.answers, row.facts, strict=True)]
        if apart
        else [(answer,) for answer in row.answers]
    )
    try:
        ranking = await ranker.rank(row.question, [unit for group in units for unit in group])
    except InputError as error:
        return _line(row, None, f"input: {error}")
    scores, failed = scores_of(ranking, [len(group) for group in units])
    seconds = time.perf_counter() - started
    line = _line(row, scores, failed, seconds)
    if ranking.trajectory is not None:
        line["found"] = found_words(row, ranking.trajectory.passages)
        if judge is not None:
            line["supported"] = await supported_answers(row, ranking.trajectory.passages, judge)
    return line


def scores_of(ranking: Ranking, sizes: Sequence[int]) -> tuple[list[float] | None, str | None]:
    """The score of each answer, the mean over its parts; or why there is none: then the ranking failed.

    Args:
        ranking: of the parts of all answers, one after the other.
        sizes: parts of each answer.

    >>> from vouching import rank
    >>> ranking = rank("When did it open?", ["In 1937.", "In 1973."], "The bridge opened in 1973.")
    >>> one, other = scores_of(ranking, [1, 1])[0]
    >>> one < other, scores_of(ranking, [2])[0] == [(one + other) / 2]
    (True, True)
    """
    if ranking.invalid is not None:
        return None, f"invalid: {ranking.invalid}"
    if ranking.unverified:
        first = ranking.unverified[0]
        return None, f"{first.reason}: {first.message}"
    known = {answer.number: answer.score for answer in ranking.answers}
    parts = iter(known[number] for number in range(1, sum(sizes) + 1))
    return [sum(next(parts) for _ in range(size)) / size for size in sizes], None


def found_words(row: RankingRow, passages: Sequence[Passage]) -> dict[str, Any]:
    """How far what was found bears on the question, by words alone.

    A passage is titled after something in the question if the words of its title stand there in order, what is in
    brackets at its end aside; it holds a reference if the reference's words stand in it. "Yes" and "no" are in any
    text, so such references say nothing.
    """
    question = _key(row.question)
    titles = {_key(passage.title.partition(" (")[0]) for passage in passages} - {""}
    references = {_key(reference) for reference in row.references} - _YES_NO - {""}
    texts = [_key(f"{passage.title} {passage.span.text}") for passage in passages]
    held = any(f" {reference} " in f" {text} " for reference in references for text in texts)
    return {
        "passages": len(passages),
        "titled": any(f" {title} " in f" {question} " for title in titles),
        "reference": held if references else None,
    }


async def supported_answers(row: RankingRow, passages: Sequence[Passage], judge: Judge) -> int | None:
    """How many answers the passages support, by a judge (DiVA, Fig. 6); None if it failed on one."""
    if not passages:
        return 0
    claims = [statement(row.question, answer, number) for number, answer in enumerate(row.answers, 1)]
    outcomes = await judge(claims, as_sources(passages))
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    return sum(verdict.attributable for verdict in verdicts) if len(verdicts) == len(claims) else None


def _line(row: RankingRow, scores: list[float] | None, failed: str | None, seconds: float = 0.0) -> ScoredRanking:
    return {
        "id": row.id,
        "part": row.part,
        "worth": row.worth,
        "labels": row.labels,
        "scores": scores,
        "failed": failed,
        "found": None,
        "supported": None,
        "longest": [len(answer) for answer in row.answers],
        "overlap": [overlap(row.question, answer) for answer in row.answers],
        "token_f1": [token_f1(answer, row.references) for answer in row.answers] if row.references else None,
        "seconds": round(seconds, 4),
        "keys": [hashlib.sha256(" ".join(row.question.casefold().split()).encode()).hexdigest()[:16]],
    }


def _key(text: str) -> str:
    return " ".join(lower_words(text))
