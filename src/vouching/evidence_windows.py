"""Which passage of the sources says it: a claim judged against each window of its sources, best first.

The interface of peers that score ``(documents, claims)`` pairs: MiniCheck's ``score(docs, claims)`` returns a label, a
probability and a probability per chunk of the document. Here the label and the score of a pair are those of the whole
document, because two halves of a claim may have their evidence in different windows; a window's score says how far that
window alone supports the claim. Not supported: windows of tokens; they are passages of whole sentences.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vouching.checker import Checker, run
from vouching.errors import ConfigError, InputError
from vouching.inputs import ClaimLike, SourceLike, SourcesLike, as_claim, as_sources
from vouching.judging.verifier import Outcome
from vouching.search.passages import MIN_WORDS, PASSAGE_WORDS, cut_passages
from vouching.types import Source, Span


@dataclass(frozen=True, slots=True)
class JudgedWindow:
    """A window of a source and the outcome of the claim against it alone."""

    span: Span
    """The window, with offsets in the source it names."""
    outcome: Outcome
    """The verdict, or Unverified."""
    title: str = ""
    """Title of the source, if any."""
    url: str = ""
    """Where the source is, if known."""

    @property
    def score(self) -> float | None:
        """How far the window alone supports the claim, in [0, 1]; None where the judge failed."""
        return None if self.outcome.kind == "unverified" else self.outcome.score


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A claim against its document."""

    outcome: Outcome
    """The verdict against the whole document, or Unverified."""
    windows: tuple[JudgedWindow, ...]
    """The windows in the document's order."""

    @property
    def label(self) -> int | None:
        """1 for Attributable, 0 for Not Attributable, None where the judge failed."""
        return None if self.outcome.kind == "unverified" else int(self.outcome.attributable)

    @property
    def score(self) -> float | None:
        """Probability that the claim is Attributable; None where the judge failed."""
        return None if self.outcome.kind == "unverified" else self.outcome.score

    @property
    def window_scores(self) -> tuple[float | None, ...]:
        """The score of each window, in the document's order; None where the judge failed."""
        return tuple(one.score for one in self.windows)

    @property
    def best(self) -> JudgedWindow | None:
        """The first window with the highest score; None for a document without words, or if no window was judged."""
        judged = [one for one in self.windows if one.score is not None]
        return max(judged, key=lambda one: one.score or 0.0, default=None)


@lru_cache(maxsize=8)
def _checker(model: str, threshold: float) -> Checker:
    return Checker(model, threshold)


def score_pairs(
    docs: Sequence[SourceLike],
    claims: Sequence[ClaimLike],
    *,
    model: str = "embedded",
    threshold: float = 0.5,
    max_words: int = PASSAGE_WORDS,
) -> list[ScoredPair]:
    """Judge each claim against the document at the same place, as a whole and window by window.

    Args:
        docs: one per claim: a text, a mapping such as ``{"doc_id": ..., "text": ...}``, or a Source.
        claims: the statements.
        model: the verifier, as for :func:`vouching.check`.
        threshold: score from which a claim is Attributable, in [0, 1].
        max_words: maximal number of words of a window, at least 64.

    Raises:
        InputError: lists of different length, an empty claim, or a document without text.
        ConfigError: an unknown model or a number out of range.

    >>> [pair] = score_pairs([{"doc_id": "a", "text": "The bridge opened in 1973."}], ["It opened in 1937."])
    >>> pair.label, len(pair.window_scores), pair.best.span.source_id
    (0, 1, 'a')
    """
    check_pairs(docs, claims)
    checker = _checker(model, threshold)
    pairs = zip(docs, claims, strict=True)
    return [run(judge_pair(checker, doc, claim, max_words)) for doc, claim in pairs]


def check_pairs(docs: Sequence[object], claims: Sequence[object]) -> None:
    """Raise InputError unless there are as many documents as claims."""
    if isinstance(docs, str) or isinstance(claims, str) or len(docs) != len(claims):
        raise InputError(
            "docs and claims must be lists of the same length, one document per claim: got "
            f"{_length(docs)} and {_length(claims)}"
        )


async def judge_pair(checker: Checker, doc: SourceLike, claim: ClaimLike, max_words: int = PASSAGE_WORDS) -> ScoredPair:
    """Judge a claim against a document, as a whole and window by window. Raises as :func:`score_pairs`."""
    sources = as_sources(doc)
    outcome = await checker.acheck(claim, sources)
    return ScoredPair(outcome, tuple(await judge_windows(checker, claim, sources, max_words)))


async def judge_windows(
    checker: Checker, claim: ClaimLike, sources: SourcesLike, max_words: int = PASSAGE_WORDS
) -> list[JudgedWindow]:
    """Judge a claim against each window of its sources, in their order.

    Raises InputError and ConfigError as :func:`score_pairs`.
    """
    if max_words < MIN_WORDS:
        raise ConfigError(f"max_words must be at least {MIN_WORDS}, got {max_words}")
    asked = as_claim(claim)
    places = [
        (source, start, end) for source in as_sources(sources) for start, end in cut_passages(source.text, max_words)
    ]
    outcomes = await asyncio.gather(*(checker.acheck(asked, _window(*place)) for place in places))
    return [
        JudgedWindow(Span(source.text[start:end], start, end, source.id), outcome, source.title, source.url)
        for (source, start, end), outcome in zip(places, outcomes, strict=True)
    ]


def _window(source: Source, start: int, end: int) -> Source:
    return Source(source.text[start:end], source.id, source.title, source.url)


def _length(value: Sequence[object]) -> str:
    return "a single text" if isinstance(value, str) else str(len(value))
