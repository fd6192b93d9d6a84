"""Ranking sets: questions with several answers that people ranked, and how a ranker orders them.

FGVeriBench (DiVA, section 4) has three answers per question: correct, intermediate and incorrect. Its rows call some
answers "irrelevant", which the paper does not mention; they count as intermediate. FActScore's biographies are ranked
by the share of their facts that people found supported. Best-of-N needs only the right answer.

Answers that people split into facts get the mean score of their facts (FActScore's protocol with given facts, DiVA,
section 5.4); a language model that writes a ranking sees whole answers.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

from vouching.bench.rows import Fault, Record, Split, converted, list_of, records, text_of, texts_of, unread
from vouching.bench.score import overlap
from vouching.errors import InputError
from vouching.inputs import as_sources
from vouching.methods.discriminative.input import statement
from vouching.methods.discriminative.rank import Ranker
from vouching.metrics import token_f1
from vouching.rows.pool import AsyncWork
from vouching.rows.read import Row
from vouching.text.words import lower_words
from vouching.types import Claim, Passage, Ranking, Source, Unverified, Verdict
from vouching.types.visible import shown_json

GENERAL, MULTI_HOP = ("nq", "triviaqa", "popqa"), ("hotpotqa", "musique", "2wiki")
PARTS = (*GENERAL, *MULTI_HOP)
"""The parts of FGVeriBench, which are its files, in the paper's order."""
LABELS = ("incorrect", "intermediate", "correct")
"""Worst first."""
ScoredRanking: TypeAlias = dict[str, Any]
"""A line of ``rows/<set>.jsonl``; see :func:`score_ranking`."""
Judge: TypeAlias = Callable[[Sequence[Claim], Sequence[Source]], Awaitable[Sequence[Verdict | Unverified]]]
"""Judges claims against sources, like ``ClaimVerifier.verify``."""
LISTWISE = ("generative", "agentic")
"""Modes in which a language model writes the ranking."""
_YES_NO = {"yes", "no"}
_MERGED = {**{label: label for label in LABELS}, "irrelevant": "intermediate"}


@dataclass(frozen=True, slots=True)
class RankingRow:
    """A question with answers to rank."""

    id: str
    """Unique in its set."""
    question: str
    answers: tuple[str, ...]
    """At least two."""
    worth: tuple[float, ...] | None = None
    """Gold worth of each answer, higher is better; only the order counts. None if only ``references`` are known."""
    labels: tuple[str, ...] | None = None
    """Gold label of each answer, of ``LABELS``; None if the set has none."""
    references: tuple[str, ...] = ()
    """The right answer and its variants, if known."""
    facts: tuple[tuple[str, ...], ...] = ()
    """The facts of each answer, as split by people; empty if not split."""
    part: str | None = None
    """Part of the set that is reported separately."""


Read: TypeAlias = Iterator[RankingRow | Fault]


def fgveribench(paths: Sequence[Path], split: Split) -> Read:
    """The rows of FGVeriBench; each file is a part."""
    for path in paths:
        part = path.name.partition(".")[0]
        yield from converted(path, partial(fgveribench_row, part=part))


def fgveribench_row(record: Record, name: str, part: str | None = None) -> Iterator[RankingRow]:
    """A row of FGVeriBench, checked. Raises InputError for missing fields, or a ranking that contradicts the labels."""
    answers: list[Any] = list_of(record, "answers")
    given = [text_of(_answer(answer), "label") for answer in answers]
    if unknown := next((label for label in given if label not in _MERGED), None):
        raise InputError(f"unknown label {unknown!r}; expected one of {', '.join(_MERGED)}")
    labels = tuple(_MERGED[label] for label in given)
    if sorted(labels) != sorted(LABELS):
        raise InputError(
            f"expected answers labelled correct, intermediate and incorrect, got the labels {', '.join(labels)}"
        )
    worth = worth_of(list_of(record, "ranking"), len(answers))
    if [label for _, label in sorted(zip(worth, labels, strict=True))] != [*LABELS]:
        raise InputError(f"the ranking {record['ranking']} contradicts the labels {', '.join(labels)}")
    texts = tuple(text_of(_answer(answer), "text") for answer in answers)
    yield RankingRow(name, text_of(record, "question"), texts, worth, labels, texts_of(record, "reference"), part=part)


def worth_of(ranking: Sequence[object], count: int) -> tuple[float, ...]:
    """The worth of each answer by a ranking: numbers of answers from 1, best first. Raises InputError."""
    places = [number for number in ranking if isinstance(number, int)]
    if len(ranking) != count or sorted(places) != [*range(1, count + 1)]:
        raise InputError(f"the ranking must contain each number from 1 to {count} once, got {shown_json([*ranking])}")
    return tuple(float(count - places.index(number)) for number in range(1, count + 1))


def biographies(paths: Sequence[Path], split: Split) -> Read:
    """FActScore's biographies as DiVA ranks them, with the facts that people found in them; skips empty answers."""
    facts = {found: stated for path in paths[1:] for found, stated in _stated(path)}

    def convert(record: Record, name: str) -> Iterator[RankingRow]:
        answers = [_answer(answer) for answer in list_of(record, "answers")]
        if any(answer.get("answer") == "" for answer in answers):
            return
        texts = tuple(text_of(answer, "answer") for answer in answers)
        worth = worth_of(list_of(record, "verify_result"), len(texts))
        shares = [answer.get("factuality_score") for answer in answers]
        if not all(isinstance(share, int | float) for share in shares):
            raise InputError(f"the factuality scores of the answers must be numbers, got {shown_json(shares)}")
        order = [sorted(range(len(texts)), key=values.__getitem__) for values in (worth, cast("list[float]", shares))]
        if order[0] != order[1]:
            raise InputError(f"the ranking {record['verify_result']} contradicts the factuality scores {shares}")
        question = text_of(record, "question").removeprefix("Question: ")
        yield RankingRow(question, question, texts, worth, facts=tuple(facts.get(text, ()) for text in texts))

    yield from converted(paths[0], convert)


def _stated(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The answers in a file of FActScore's labels, with the relevant facts of each that has any."""
    for _, record in records(path):
        stated = (fact for part in record.get("annotations") or () for fact in part.get("human-atomic-facts") or ())
        relevant = tuple(fact["text"] for fact in stated if fact["label"] != "IR")
        if relevant:
            yield str(record["output"]), relevant


def samples(paths: Sequence[Path], split: Split) -> Read:
    """Questions with a reference and your answers, of which one is chosen."""
    for path in paths:
        yield from converted(path, sample_row)


def sample_row(record: Record, name: str) -> Iterator[RankingRow]:
    """A row with ``question``, ``reference`` (a text or several) and ``answers`` (texts). Raises InputError."""
    answers = texts_of(record, "answers")
    if len(answers) < 2:
        raise InputError("expected at least two answers to choose from, got one")
    yield RankingRow(name, text_of(record, "question"), answers, references=texts_of(record, "reference"))


def _answer(answer: object) -> Record:
    if not isinstance(answer, dict):
        raise InputError(f"an answer must be an object with its text, got {shown_json(answer)}")
    return cast("Record", answer)


def ranking_work(ranker: Ranker, judge: Judge | None = None) -> AsyncWork:
    """The function from a row to its line; see :func:`score_ranking`."""

    async def work(row: Row) -> str:
        if row.fields is None:
            line = _line(RankingRow(row.name, "", ()), None, unread(row))
        else:
            line = await score_ranking(RankingRow(**row.fields), ranker, judge)
        return json.dumps(line, ensure_ascii=False)

    return work


async def score_ranking(row: RankingRow, ranker: Ranker, judge: Judge | None = None) -> ScoredRanking:
    """Rank the answers of a row and keep what the figures need.

    Args:
        row: the question and its answers.
        ranker: the ranker.
        judge: decides which answers the evidence supports; None measures no relevance.

    Returns:
        id, part, worth and labels (gold, or None), scores (per answer; None if the ranking failed), failed (the reason,
        or None), found (number of passages; whether one is titled after something in the question; whether one contains
        a reference, None if undecidable; None without a search), supported (number of answers that the evidence
        supports; None without a judge or if it failed), longest and overlap (scores of these baselines), token_f1 (per
        answer, or None), seconds, keys.

    Raises:
        ModelError: a model cannot be reached; the row can be retried.

    >>> import asyncio
    >>> from vouching.types import Span
    >>> from vouching.methods.discriminative.open import open_ranker
    >>> class Shelf:
    ...     name, kind = "index:shelf", "local"
    ...     async def search(self, query, limit):
    ...         text = "It opened in 1973."
    ...         return [Passage(Span(text, 0, len(text), "bridge"), 1.0, "Bridge (Oslo)")]
    ...     async def aclose(self): ...
    >>> row = RankingRow("q", "When did the bridge open?", ("In 1937.", "In 1973."), (1.0, 2.0), references=("1973",))
    >>> line = asyncio.run(score_ranking(row, open_ranker(engines=[Shelf()])))
    >>> line["scores"][0] < line["scores"][1], line["found"]
    (True, {'passages': 1, 'titled': True, 'reference': True})
    """
    started = time.perf_counter()
    by_fact = bool(row.facts) and ranker.mode not in LISTWISE
    units = (
        [facts or (answer,) for answer, facts in zip(row.answers, row.facts, strict=True)]
        if by_fact
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
    """The score of each answer, the mean over its ``sizes`` parts, or the reason why the ranking failed.

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
    """How the passages relate to the question, by words.

    A passage is titled after something in the question if the words of its title, without a suffix in brackets, occur
    there in order. It contains a reference if the reference's words occur in it; "yes" and "no" are ignored.
    """
    question = _words(row.question)
    titles = {_words(passage.title.partition(" (")[0]) for passage in passages} - {""}
    references = {_words(reference) for reference in row.references} - _YES_NO - {""}
    texts = [_words(f"{passage.title} {passage.span.text}") for passage in passages]
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


def _words(text: str) -> str:
    return " ".join(lower_words(text))
