"""Negation cues and how far they reach.

A cue negates the words after it up to the end of its clause. Left out: negation that only world knowledge shows, and
cues that reach backwards.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vouching.text.words import Word

_CUES = frozenset(
    str.split("""not no never none nobody nothing nowhere neither nor without cannot can't isn't aren't wasn't
        weren't don't doesn't didn't won't wouldn't couldn't shouldn't hasn't haven't hadn't mustn't ain't lacks
        lacked lack lacking isnt wasnt didnt doesnt dont cant wont absence hardly barely""")
)
_CUES_BEFORE_TO = frozenset("yet unable fails failed fail failing refuses refused refuse".split())
"""Cues only before "to": what failed alone is not denied."""
# "not only", "no doubt", "no less than" assert rather than deny.
_ASSERTING_AFTER = frozenset({"only", "doubt", "less", "fewer", "more", "matter", "merely", "just", "later"})
# Points, colons and dashes inside a number or an abbreviation ("3.5", "10:30", "1990–95", "U.S") end nothing.
_CLAUSE_END = re.compile(
    r"\.(?!\w)|[:–](?!\d)|[;!?()—]|,\s+(?:but|and|which|who|while|although|though)\b|\b(?:but|although|though|however|because|whereas|while)\b"
)
_FARTHEST = 3
"""Content words a cue reaches, at most."""
_NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "mis")


@dataclass(frozen=True, slots=True)
class Negation:
    """A negation cue with the stretch of text it reaches."""

    start: int
    """Offset of the cue."""
    end: int
    """Offset after the cue."""
    scope_end: int
    """Offset at which its reach ends; the scope is ``end..scope_end``."""


def find_negations(text: str, words: Sequence[Word]) -> list[Negation]:
    """Negation cues of ``text`` among its ``words``, each with its scope.

    >>> from vouching.text.words import find_words
    >>> text = "It did not lower costs, but it helped."
    >>> [(text[n.start : n.end], text[n.end : n.scope_end]) for n in find_negations(text, find_words(text))]
    [('not', ' lower costs')]
    """
    found: list[Negation] = []
    clause_ends = [match.start() for match in _CLAUSE_END.finditer(text)]
    content = [position for position, word in enumerate(words) if word.is_content]
    for position, word in enumerate(words):
        following = words[position + 1].lower if position + 1 < len(words) else ""
        if word.lower not in _CUES and not (word.lower in _CUES_BEFORE_TO and following == "to"):
            continue
        if following in _ASSERTING_AFTER and word.lower in ("not", "no"):
            continue
        stop = bisect_left(clause_ends, word.end)
        limit = clause_ends[stop] if stop < len(clause_ends) else words[-1].end
        first = bisect_right(content, position)
        reached = content[first : first + _FARTHEST]
        limit = min(limit, words[reached[-1]].end) if reached else limit
        found.append(Negation(word.start, word.end, limit))
    return found


def is_negated(start: int, negations: Sequence[Negation]) -> bool:
    """True if the word at offset ``start`` stands in the scope of an odd number of cues.

    >>> from vouching.text.words import find_words
    >>> text = "It did not lower costs"
    >>> is_negated(text.index("lower"), find_negations(text, find_words(text)))
    True
    """
    return sum(n.end <= start < n.scope_end for n in negations) % 2 == 1


@lru_cache(maxsize=2_000)
def negative_forms(stem: str) -> frozenset[str]:
    """The stem with a negative prefix, and without the one it has; of what remains at least four letters.

    >>> sorted(form for form in negative_forms("unsafe") if len(form) < 7)
    ['safe']
    >>> "unsafe" in negative_forms("safe"), "under" in negative_forms("der")
    (True, False)
    """
    longer = {prefix + stem for prefix in _NEGATIVE_PREFIXES if len(stem) >= 4}
    return frozenset(
        longer | {stem[len(p) :] for p in _NEGATIVE_PREFIXES if stem.startswith(p) and len(stem) >= len(p) + 4}
    )
