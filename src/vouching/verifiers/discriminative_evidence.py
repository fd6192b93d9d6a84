"""Evidence for the answers to one question: given sources and a search, joined, and what each reader makes of them.

All answers share one trajectory, as in DiVA; only its compression is an answer's own. Left out: searching for every
answer apart, which would favour the answers that are easy to search for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from vouching.types import (
    Claim,
    Compression,
    Passage,
    SearchResult,
    SearchTurn,
    Source,
    Span,
    Trajectory,
    VerdictWarning,
)
from vouching.verifiers.discriminative_input import Shown, compressed_text, history_text

Find: TypeAlias = Callable[[str, Sequence[str]], Awaitable[Trajectory]]
"""Searches for a question and its answers; a failed search is a trajectory that says so."""
Compress: TypeAlias = Callable[[Trajectory, str], Awaitable[Compression]]
"""Makes a trajectory short for one answer. Raises ModelError where a model fails."""
GIVEN = "given"
"""The searcher of a trajectory, and the origin of its passages, that holds given sources alone."""


def given(question: str, answers: Sequence[str], sources: Sequence[Source]) -> Trajectory:
    """Given sources as a search that found them.

    >>> trajectory = given("When?", ["In 1973."], [Source("It opened in 1973.", title="Bridge")])
    >>> [(passage.title, passage.span.source_id, passage.origin) for passage in trajectory.passages]
    [('Bridge', 'source-1', 'given')]
    """
    passages = tuple(
        Passage(Span(s.text, 0, len(s.text), s.id), 1.0, title=s.title, url=s.url, origin=GIVEN) for s in sources
    )
    turn = SearchTurn("", "local", "", SearchResult("", passages, ()))
    return Trajectory(question, tuple(answers), (turn,), "exhausted", GIVEN)


async def gather(question: str, answers: Sequence[str], sources: Sequence[Source], find: Find | None) -> Trajectory:
    """The given sources, if any, and what a search finds beside them."""
    known = given(question, answers, sources) if sources else None
    if find is None:
        return known or Trajectory(question, tuple(answers), (), "exhausted", GIVEN)
    found = await find(question, answers)
    return found if known is None else replace(found, turns=(*known.turns, *found.turns))


def passage_sources(passages: Sequence[Passage]) -> tuple[Source, ...]:
    """The passages as sources, each by the id of its document; several of one document are numbered.

    >>> piece = Passage(Span("It opened.", 40, 50, "bridge.txt"), 1.0)
    >>> [source.id for source in passage_sources([piece, piece])]
    ['bridge.txt', 'bridge.txt-2']
    """
    sources: list[Source] = []
    taken: set[str] = set()
    for number, passage in enumerate(passages, 1):
        name = passage.span.source_id or f"passage-{number}"
        free = name if name not in taken else next(n for k in range(2, number + 2) if (n := f"{name}-{k}") not in taken)
        taken.add(free)
        sources.append(Source(passage.span.text, free, passage.title, passage.url))
    return tuple(sources)


def evidence_text(shown: Shown, trajectory: Trajectory | None, compression: Compression | None) -> str:
    """What a scorer is shown of a search; see ``Shown``."""
    if shown == "full" and trajectory is not None:
        return history_text(trajectory)
    if shown in ("compressed", "facts") and compression is not None:
        return compressed_text(compression, reasoning=shown == "compressed")
    return ""


def search_warnings(trajectory: Trajectory) -> Iterator[VerdictWarning]:
    """Engines that failed, calls that could not be read, and a search that found nothing."""
    seen: set[tuple[str, str]] = set()
    for turn in trajectory.turns:
        if turn.error is not None:
            yield VerdictWarning("engine", f"A turn of the search failed: {turn.error}")
        for asked in turn.result.asked if turn.result else ():
            if asked.error is not None and (asked.engine, asked.error) not in seen:
                seen.add((asked.engine, asked.error))
                yield VerdictWarning("engine", f"{asked.engine} gave no answer: {asked.error}")
    if not trajectory.passages:
        yield VerdictWarning("engine", "The search found nothing.")


def statement(question: str, answer: str, number: int = 1) -> Claim:
    """Question and answer as one statement to hold against the evidence; its id is "answer-N".

    >>> statement("When did the bridge open?", "In 1973.", 2)
    Claim(text='When did the bridge open: In 1973.', id='answer-2', span=None, context='')
    """
    asked = " ".join(question.split()).rstrip("?？ ")
    return Claim(f"{asked}: {answer.strip()}" if asked else answer.strip(), id=f"answer-{number}")
