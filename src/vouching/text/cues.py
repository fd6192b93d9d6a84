"""Words that negate or qualify a statement: negation cues with their scope, and qualifiers with their strength.

A cue negates the words after it up to the end of its clause. A qualifier has a strength on a scale; a claim inflates
its source if its qualifier is stronger on that scale, or if it drops a hedge of the source. Not supported: negation
that only world knowledge shows, cues whose scope precedes them, and comparatives and superlatives, which are content
words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from vouching.text.words import Word

_CUES = frozenset(
    str.split("""not no never none nobody nothing nowhere neither nor without cannot can't isn't aren't wasn't
        weren't don't doesn't didn't won't wouldn't couldn't shouldn't hasn't haven't hadn't mustn't ain't lacks
        lacked lack lacking isnt wasnt didnt doesnt dont cant wont absence hardly barely""")
)
_CUES_BEFORE_TO = frozenset(
    "yet unable fails failed fail failing refuses refused refuse declines declined decline".split()
)
"""Cues only before "to": in "it failed", nothing is negated."""
# "not only", "no doubt", "no less than" assert rather than deny.
_ASSERTING_AFTER = frozenset({"only", "doubt", "less", "fewer", "more", "matter", "merely", "just", "later"})
# Points, colons and dashes inside a number or an abbreviation ("3.5", "10:30", "1990–95", "U.S") do not end a clause.
_CLAUSE_END = re.compile(
    r"\.(?!\w)|[:–](?!\d)|[;!?()—]|,\s+(?:but|and|which|who|while|although|though)\b|\b(?:but|although|though|however|because|whereas|while)\b"
)
_FARTHEST = 3
"""Content words a cue reaches, at most."""
_NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "mis")


@dataclass(frozen=True, slots=True)
class Negation:
    """A negation cue with its scope."""

    start: int
    end: int
    scope_end: int
    """The scope is ``end..scope_end``."""


def find_negations(text: str, words: Sequence[Word]) -> list[Negation]:
    """Negation cues among the ``words`` of ``text``, each with its scope.

    >>> from vouching.text.words import find_words
    >>> text = "It did not lower costs, but it helped."
    >>> [(text[n.start : n.end], text[n.end : n.scope_end]) for n in find_negations(text, find_words(text))]
    [('not', ' lower costs')]
    """
    found: list[Negation] = []
    if not any(word.lower in _CUES or word.lower in _CUES_BEFORE_TO for word in words):
        return found
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
    """True if the word at offset ``start`` is in the scope of an odd number of cues.

    >>> from vouching.text.words import find_words
    >>> text = "It did not lower costs"
    >>> is_negated(text.index("lower"), find_negations(text, find_words(text)))
    True
    """
    # In the order of the text, so that neither cues nor ends of scopes go back.
    begun = bisect_right(negations, start, key=lambda one: one.end)
    ended = bisect_right(negations, start, key=lambda one: one.scope_end)
    return (begun - ended) % 2 == 1


@lru_cache(maxsize=2_000)
def negative_forms(stem: str) -> frozenset[str]:
    """The stem with each negative prefix, and without the prefix it has if at least four letters remain.

    >>> sorted(form for form in negative_forms("unsafe") if len(form) < 7)
    ['safe']
    >>> "unsafe" in negative_forms("safe"), "under" in negative_forms("der")
    (True, False)
    """
    longer = {prefix + stem for prefix in _NEGATIVE_PREFIXES if len(stem) >= 4}
    return frozenset(
        longer | {stem[len(p) :] for p in _NEGATIVE_PREFIXES if stem.startswith(p) and len(stem) >= len(p) + 4}
    )


Scale = Literal["quantity", "frequency", "certainty", "degree", "exclusivity"]

_LEXICON: dict[Scale, dict[float, str]] = {
    "quantity": {
        1.0: "all every everyone everybody everything entire whole each",
        0.8: "most majority mostly mainly largely predominantly primarily",
        0.6: "many numerous countless",
        0.4: "some several various certain partly partially",
        0.2: "few",
    },
    "frequency": {
        1.0: "always constantly invariably continuously permanently",
        0.8: "usually typically generally normally commonly",
        0.6: "often frequently regularly",
        0.4: "sometimes occasionally",
        0.2: "rarely seldom hardly",
    },
    "certainty": {
        1.0: "definitely certainly undoubtedly surely clearly conclusively proven guaranteed must",
        0.6: "likely probably presumably expected",
        0.4: "may might could possibly perhaps maybe potentially suggests suggest appears appear seems seem reportedly "
        "allegedly purportedly supposedly",
    },
    "degree": {
        1.0: "completely entirely totally fully absolutely utterly",
        0.8: "significantly substantially dramatically considerably greatly strongly sharply severely massively vastly "
        "extremely drastically tremendously heavily highly markedly notably radically overwhelmingly hugely enormously "
        "remarkably exceptionally extraordinarily incredibly immensely exceedingly profoundly",
        0.4: "moderately somewhat fairly relatively rather quite",
        0.2: "slightly marginally barely minimally modestly",
    },
    "exclusivity": {1.0: "only solely exclusively merely uniquely"},
}
QUALIFIERS: dict[str, tuple[Scale, float]] = {
    word: (scale, strength)
    for scale, levels in _LEXICON.items()
    for strength, words in levels.items()
    for word in words.split()
}
"""Every qualifier with its scale and strength in (0, 1]."""
_BEFORE_MONTH = frozenset(str.split("in on of by since until till during early mid late last next"))


@dataclass(frozen=True, slots=True)
class Qualifier:
    """A qualifier in a text."""

    start: int
    end: int
    word: str
    """In lower case."""
    scale: Scale
    """What it strengthens or weakens."""
    strength: float
    """In (0, 1]."""

    @property
    def is_hedge(self) -> bool:
        """True for qualifiers that weaken what they modify ("may", "some", "slightly").

        >>> from vouching.text.words import find_words
        >>> [q.is_hedge for q in find_qualifiers(find_words("It may significantly help"))]
        [True, False]
        """
        return self.strength <= 0.6


def find_qualifiers(words: Sequence[Word]) -> list[Qualifier]:
    """Qualifiers among ``words``, in order.

    >>> from vouching.text.words import find_words
    >>> [(q.word, q.scale, q.strength) for q in find_qualifiers(find_words("All of them improved significantly"))]
    [('all', 'quantity', 1.0), ('significantly', 'degree', 0.8)]
    """
    found: list[Qualifier] = []
    for position, word in enumerate(words):
        entry = QUALIFIERS.get(word.lower)
        if entry is not None and not (word.lower == "may" and _is_month(words, position)):
            found.append(Qualifier(word.start, word.end, word.lower, *entry))
    return found


def _is_month(words: Sequence[Word], position: int) -> bool:
    """Whether the "may" at ``position`` is the month: next to a number, or after a word that no verb follows."""
    before = words[position - 1].lower if position else ""
    after = words[position + 1].lower if position + 1 < len(words) else ""
    return before in _BEFORE_MONTH or before[:1].isdigit() or after[:1].isdigit()


def compare_qualifiers(
    claim: Qualifier, source: Sequence[Qualifier]
) -> Literal["equal", "weaker", "stronger", "absent"]:
    """Compare a claim's qualifier with those of the source's sentence.

    Returns "equal" or "weaker" (both harmless) if the source has one at least as strong on the same scale, "stronger"
    if the source has only weaker ones, "absent" if it has none on that scale.

    >>> from vouching.text.words import find_words
    >>> read = lambda text: find_qualifiers(find_words(text))
    >>> compare_qualifiers(read("all patients")[0], read("most patients"))
    'stronger'
    >>> compare_qualifiers(read("some patients")[0], read("most patients"))
    'weaker'
    >>> compare_qualifiers(read("only patients")[0], read("patients"))
    'absent'
    """
    rivals = [q.strength for q in source if q.scale == claim.scale]
    if not rivals:
        return "absent"
    best = max(rivals)
    if best == claim.strength:
        return "equal"
    return "weaker" if best > claim.strength else "stronger"
