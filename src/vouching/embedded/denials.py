"""Claims that deny a statement as a whole: "It is false that X", "The rumour that X is unfounded"."""

from __future__ import annotations

import re

from vouching.embedded.commitment import FALSE, LONGEST, NOT_SO, SCOPE_END, find_mentions
from vouching.text.sentences import sentence_spans
from vouching.text.words import FUNCTION_WORDS

_OPENS = re.compile(r"\s*(?:it (?:is|was|isn't|wasn't)|it's)\b", re.I)
_INTRODUCED = re.compile(r"\s*(?:(?:the )?\w+ that|that)\b\s*|[\s\"'`]+", re.I)
_OF_DENIAL = FUNCTION_WORDS | frozenset(
    """false untrue wrong incorrect mistaken inaccurate unfounded baseless nonsense bogus fake fabricated invented
    retracted withdrawn debunked refuted disproved disproven discredited rejected myth misconception hoax fallacy
    falsehood lie fiction legend fabrication mistake error misunderstanding rumour rumor canard not isn wasn t no case
    fact true correct accurate right truth common popular widespread widely persistent old urban simply just plain
    plainly completely entirely totally report claim claims statement assertion story idea belief notion theory
    suggestion allegation say think believe assume suppose call""".split()
)
"""The words of a sentence that only denies another."""


def denied_clause(claim: str) -> tuple[int, int] | None:
    """The clause that a claim as a whole denies: "It is false that ..."; None for other claims.

    >>> text = "It is a common myth that bats are blind."
    >>> start, end = denied_clause(text)
    >>> text[start:end]
    'bats are blind'
    """
    if not _may_deny(claim) or len(sentence_spans(claim)) > 1:
        return None
    for mention in find_mentions(claim):
        end = mention.end
        if mention.start > 0 and _OPENS.match(claim):
            scope = SCOPE_END.search(claim, mention.start)
            end = scope.start() if scope else len(claim)
        frame = f"{claim[: mention.start]} {claim[end:]}".lower()
        if mention.attitude == "denied" and _OF_DENIAL.issuperset(re.findall(r"[^\W_]+", frame)):
            start = mention.start
            while opening := _INTRODUCED.match(claim, start, end):
                start = opening.end()
            return start, len(claim[:end].rstrip(" .,\"'"))
    return None


def denies_in_part(claim: str) -> bool:
    """Whether a part of a claim denies a clause, and the rest asserts something.

    >>> denies_in_part("It is false that it rained, but it snowed."), denies_in_part("It is false that it rained.")
    (True, False)
    """
    if not _may_deny(claim) or denied_clause(claim):
        return False
    sentences = (claim[start:end] for start, end in sentence_spans(claim))
    parts = [part for sentence in sentences for part in SCOPE_END.split(sentence) if part.strip()]
    return len(parts) > 1 and any(map(denied_clause, parts))


def _may_deny(claim: str) -> bool:
    """Whether a claim is not too long and has words that deny a statement."""
    return len(claim) <= LONGEST and bool(FALSE.search(claim) or NOT_SO.search(claim))
