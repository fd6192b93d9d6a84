"""The sources of each claim when evidence is searched for: the given ones, and those found for the claim.

A claim for which nothing is found gets no verdict: an unsuccessful search does not mean that the claim is false. Each
claim gets notes with the queries, the numbers of passages and the failures, of the kind "search", or "engine" if an
engine failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from vouching.inputs import as_sources
from vouching.search.base import Finder
from vouching.text.framing import statement_of
from vouching.types import Asked, Claim, SearchTurn, Source, Trajectory, Unverified, VerdictWarning

_SHOWN = 160
"""Characters of a query in a warning."""


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """The evidence for one claim."""

    sources: tuple[Source, ...]
    warnings: tuple[VerdictWarning, ...]
    """Queries, engines, and what they found."""
    missing: Unverified | None = None
    """The outcome if there are no sources; None otherwise."""


class Searches:
    """The searches of one call; equal claims are searched for once."""

    def __init__(self, finder: Finder, question: str | None = None) -> None:
        self._finder = finder
        self._question = question
        self._known: dict[str, Trajectory] = {}

    async def gather(
        self, claims: Sequence[Claim], given: tuple[Source, ...]
    ) -> tuple[list[ClaimEvidence], tuple[Source, ...]]:
        """The evidence for each claim, and all sources once: the given ones first, ids as in the claims' evidence."""
        words = [_words(claim) for claim in claims]
        fresh = [text for text in dict.fromkeys(words) if text not in self._known]
        searched = await asyncio.gather(*(self._finder.find(self._question, text) for text in fresh))
        self._known.update(zip(fresh, searched, strict=True))
        found = {text: [as_sources(passage)[0] for passage in self._known[text].passages] for text in words}
        union = [*dict.fromkeys((*given, *(source for text in words for source in found[text])))]
        named = dict(zip(union, as_sources(union) if union else (), strict=True))
        evidence = [
            _evidence(claim, self._known[text], tuple(named[s] for s in dict.fromkeys((*given, *found[text]))))
            for claim, text in zip(claims, words, strict=True)
        ]
        return evidence, tuple(named.values())


def _words(claim: Claim) -> str:
    """What the claim states, preceded by its context unless the claim contains it or has additions."""
    statement = statement_of(claim.text)
    if statement != claim.text:
        return " ".join(statement.split())
    return claim.text if claim.context in claim.text else f"{claim.context} {claim.text}"


def _evidence(claim: Claim, trajectory: Trajectory, sources: tuple[Source, ...]) -> ClaimEvidence:
    warnings = tuple(
        VerdictWarning("engine" if turn.error or (turn.result and turn.result.errors) else "search", turn_text(turn))
        for turn in trajectory.turns
        if turn.result or turn.error
    )
    if sources:
        return ClaimEvidence(sources, warnings)
    if trajectory.ended == "failed":
        missing = Unverified(
            claim,
            "backend",
            failed_search(trajectory),
            warnings,
        )
    else:
        message = "No evidence was found, which does not make the claim false: provide sources, or search elsewhere."
        missing = Unverified(claim, "no_evidence", message, warnings)
    return ClaimEvidence((), warnings, missing)


def failed_search(trajectory: Trajectory) -> str:
    """The message about a search in which every engine failed."""
    return f"The search for evidence failed: {next(iter(trajectory.errors), 'try again later')}"


def turn_text(turn: SearchTurn) -> str:
    """A turn as a sentence.

    >>> from vouching.types import SearchResult
    >>> asked = (Asked("web:a", 2), Asked("web:b", 0), Asked("web:c", 0, "c answered 503"))
    >>> turn_text(SearchTurn("", "all", "bridge", SearchResult("bridge", (), asked)))
    'Searched for "bridge": web:a found 2 passages, web:b found nothing, web:c failed (c answered 503).'
    """
    if turn.result is None:
        return f"The search ended: {turn.error}" if turn.error else "The search ended without another query."
    query = turn.query if len(turn.query) <= _SHOWN else f"{turn.query[:_SHOWN]}..."
    return f'Searched for "{query}": {", ".join(map(_answered, turn.result.asked))}.'


def _answered(asked: Asked) -> str:
    if asked.error is not None:
        return f"{asked.engine} failed ({asked.error})"
    passages = f"{asked.found} passage{'s' * (asked.found != 1)}" if asked.found else "nothing"
    return f"{asked.engine} found {passages}"
