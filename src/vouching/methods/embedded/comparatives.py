"""Comparisons in a sentence: "A is cheaper than B", "more visitors in 2024 than the year before", "twice as long as B".

The words of a comparison are sorted into those that only one side has, and those that say what is compared. "North of",
"above" and "after" compare two things as "more than" does. Not supported: comparisons without "than" except those,
negated comparisons, and adjectives without an amount ("better") unless "than" follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from vouching.methods.embedded.verb_groups import AUXILIARY, PREPOSITIONS, Tokens, VerbGroup, find_verbs
from vouching.text.cues import find_negations
from vouching.text.words import find_words

# Measure: the words that say that the first has more of it | those that say that it has less.
_SCALES = """: more greater higher larger bigger above | fewer less lower smaller below
currency: dearer costlier pricier | cheaper
extent: longer taller | shorter
width: wider broader | narrower
depth: deeper | shallower
mass: heavier | lighter
date: later | earlier sooner
temperature: warmer hotter | cooler colder
age: older elder | younger newer
speed: faster quicker | slower
volume: louder noisier | quieter
strength: stronger tougher | weaker
wealth: richer wealthier | poorer
quality: better | worse
thickness: thicker denser | thinner
difficulty: harder | easier
latitude: north | south
longitude: east | west
time: after | before"""
_WORDS = {
    word: (measure.strip(), up)
    for measure, _, rest in (row.partition(":") for row in _SCALES.splitlines())
    for up, words in zip((True, False), rest.split("|"), strict=True)
    for word in words.split()
}
_ADJECTIVES = {"expensive": "currency", "costly": "currency"}
_NO_COMPARATIVES = frozenset("other rather either whether neither never over under after number order larger".split())
_PLACED = frozenset(("above", "below"))
_BESIDE_OF = frozenset("north south east west".split())
_EVENTS = frozenset(("before", "after"))
_FACTORS = {"twice": 2.0, "double": 2.0, "triple": 3.0, "treble": 3.0, "half": 0.5, "thrice": 3.0}
_TIMES = {"two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "seven": 7.0, "eight": 8.0, "ten": 10.0}
_CUE = re.compile(r"than|above|below|\bof\b|before|after|twice|double|half|times|tr[ie][pb]le|thrice", re.IGNORECASE)
_HIGHEST = frozenset("most highest largest biggest greatest longest dearest costliest heaviest tallest latest".split())
_LOWEST = frozenset("least fewest lowest smallest shortest cheapest lightest earliest".split())
_MEASURES = {
    **dict.fromkeys("dearest costliest cheapest expensive costly".split(), "currency"),
    **dict.fromkeys("longest shortest".split(), "extent"),
    **dict.fromkeys("heaviest lightest".split(), "mass"),
    **dict.fromkeys("latest earliest".split(), "date"),
    "fewest": "count",
}
_BEFORE_WORDS = frozenset("before previous last earlier previously prior preceding predecessor former".split())
_OTHERS = re.compile(r"\bthan\b.{0,20}\b(?:any|all|every)(?: the)? others?\b", re.IGNORECASE)
_CACHED = 4_000
_REACH = 10
"""Words between a comparative and "than"."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison of two things; positions are those of the words of the sentence."""

    word: int
    """The comparative."""
    up: bool
    """Whether the first is said to have more than the second."""
    measure: str
    """What kind of amount the comparative tells ("currency"); "" if any."""
    first: frozenset[str]
    """Stems that only the first side has; empty if it is not named."""
    second: frozenset[str]
    """Stems that only the second side has."""
    before: bool
    """Whether the second is what was before ("the previous year")."""
    attribute: frozenset[str]
    """Stems of what is compared."""
    counted: frozenset[str]
    """Those of them between the comparative and "than" ("seats"); in "more sugar than salt", the first side."""
    factor: float = 1.0
    """How many times the smaller the larger is ("twice", "half": 2); 1 if that is not said."""


@lru_cache(maxsize=_CACHED)
def find_comparison(text: str) -> Compared | None:
    """The first comparison of a sentence.

    >>> found = find_comparison("Basic has fewer seats than Pro.")
    >>> found and (found.up, sorted(found.first), sorted(found.second), sorted(found.attribute))
    (False, ['basic'], ['pro'], ['seat'])
    """
    if not _CUE.search(text):
        return None
    tokens = Tokens(text)
    words = tokens.words
    if find_negations(text, words) or any(word.lower in ("not", "no") for word in words):
        return None
    places = range(len(words))
    found = next((pair for at in places if (pair := _multiple(tokens, at))), None)
    if found is not None:
        return _read(tokens, *found)
    than = next((pair for at in places if (pair := _than(tokens, at))), None)
    than = than or next(((at, at) for at in places[1:] if words[at].lower in _EVENTS and _is_event(tokens, at)), None)
    return _read(tokens, *than) if than else None


def _than(tokens: Tokens, at: int) -> tuple[int, int] | None:
    """A comparative with the place after which the second side begins."""
    words = tokens.words
    word = words[at].lower
    if word in _PLACED:
        return None if tokens.is_number(at + 1) else (at, at)
    following = words[at + 1].lower if at + 1 < len(words) else ""
    if word in _BESIDE_OF:
        inside = at > 0 and words[at - 1].lower == "the" and words[at - 2].lower != "to"
        return (at, at + 1) if following == "of" and not inside else None
    known = word in _WORDS and word not in _EVENTS
    if not known and not (following == "than" and word.endswith("er") and word not in _NO_COMPARATIVES):
        return None
    than = next((t for t in range(at + 1, min(len(words), at + _REACH)) if words[t].lower == "than"), None)
    return None if than is None or tokens.is_number(than + 1) else (at, than)


def _is_event(tokens: Tokens, at: int) -> bool:
    """Whether "before" or "after" has an event before it and one after it, not beside a date or at the end."""
    if at + 1 >= len(tokens.words) or tokens.breaks[at] or tokens.breaks[at + 1]:
        return False
    return not tokens.is_number(at + 1) and not tokens.is_gerund(at + 1)


def _multiple(tokens: Tokens, at: int) -> tuple[int, int, float] | None:
    """A multiple ("twice", "three times") with the place after which the second side begins, and its factor."""
    words = [word.lower for word in tokens.words[at : at + _REACH]]
    factor = _FACTORS.get(words[0])
    begin = 1
    if factor is None and words[1:2] == ["times"]:
        factor = float(words[0]) if words[0].isdigit() else _TIMES.get(words[0])
        begin = 2
    if not factor or not words[begin:]:
        return None
    if words[begin] == "as" and "as" in words[begin + 2 :]:
        return at, at + words.index("as", begin + 2), factor
    if words[begin] == "the" and len(words) > begin + 1:
        of = words[begin + 2 : begin + 3] == ["of"]
        return at, at + begin + 2 * of, factor
    return None


@dataclass(frozen=True, slots=True)
class Extreme:
    """A superlative of an amount: "the highest", "the most expensive"."""

    word: int
    """Its position among the words of the sentence."""
    up: bool
    measure: str


@lru_cache(maxsize=_CACHED)
def find_extreme(text: str) -> Extreme | None:
    """The superlative of a sentence that has exactly one, after "the" or a possessive.

    >>> find_extreme("Pro is the most expensive plan.")
    Extreme(word=3, up=True, measure='currency')
    """
    words = find_words(text)
    found = [
        at for at, word in enumerate(words)
        if at and word.lower in _HIGHEST | _LOWEST
        and (words[at - 1].lower in ("the", "its", "their") or words[at - 1].lower.endswith("'s"))
    ]  # fmt: skip
    beyond = find_comparison(text)
    if beyond is not None and _OTHERS.search(text, words[beyond.word].end):
        return Extreme(beyond.word, beyond.up, beyond.measure)
    if len(found) != 1 or find_negations(text, words):
        return None
    following = words[found[0] + 1].lower if found[0] + 1 < len(words) else ""
    word = words[found[0]].lower
    return Extreme(found[0], word in _HIGHEST, _MEASURES.get(word) or _MEASURES.get(following, ""))


def same_scale(one: Compared, other: Compared) -> bool:
    """Whether two comparisons are of the same amount: "more seats" and "fewer seats", "cheaper" and "dearer"."""
    if one.factor != other.factor:
        return False
    if one.measure != other.measure:
        return bool(one.counted & other.counted)
    return not one.counted or not other.counted or bool(one.counted & other.counted)


def _read(tokens: Tokens, at: int, than: int, factor: float = 0.0) -> Compared | None:
    words = tokens.words
    word, following = words[at].lower, words[min(at + 1, len(words) - 1)].lower
    measure, up = _WORDS.get(word, ("" if factor else word, True))
    measure = "count" if word == "fewer" else measure or _ADJECTIVES.get(following, "")
    adjective = at + 1 if following in _ADJECTIVES else at
    verbs = find_verbs(tokens)
    end = _end(tokens, than, verbs)
    right = list(range(than + 1, end))
    middle = [] if than == at else list(range(adjective + 1, than))
    before = [verb for verb in verbs if verb.main <= at + 1 and not verb.reduced]
    verb = before[-1] if before else None
    limit = verb.first if verb else at
    opening = max(
        (place for place in range(limit) if tokens.breaks[place] or words[place - 1].lower == "that"), default=0
    )
    subject = list(range(opening, limit))
    after_verb = list(range(verb.last + 1, at)) if verb else []
    preposition = words[right[0]].lower if right else ""
    left = subject
    if preposition in PREPOSITIONS:
        left = _phrase(tokens, middle, preposition) or _phrase(tokens, list(range(limit)), preposition)
        left = left or (middle if middle and words[middle[0]].lower in PREPOSITIONS else [])
    first, second = _stems(tokens, left), _stems(tokens, right)
    rest = [place for place in (*range(limit), *after_verb, *middle) if place not in left]
    prior = any(words[place].lower in _BEFORE_WORDS for place in right)
    shared = first & second
    counted = _stems(tokens, [place for place in middle if place not in left])
    attribute = _stems(tokens, rest) - shared or shared
    if factor and not first:
        return None  # "half the members came"
    if factor:
        up, factor = factor > 1, max(factor, 1 / factor)
    return Compared(at, up, measure, first - shared, second - shared, prior, attribute, counted, factor or 1.0)


def _end(tokens: Tokens, than: int, verbs: list[VerbGroup]) -> int:
    """Where what is compared with ends: at a break or a verb."""
    starts = {verb.first for verb in verbs if not verb.reduced}
    for at in range(than + 1, len(tokens.words)):
        if at > than + 1 and (tokens.breaks[at] or at in starts or tokens.words[at].lower in AUXILIARY):
            return at
    return len(tokens.words)


def _phrase(tokens: Tokens, places: list[int], preposition: str) -> list[int]:
    """The places from a preposition to the next one."""
    starts = [at for at in places if tokens.words[at].lower == preposition]
    if not starts:
        return []
    following = (at for at in places if at > starts[-1] and tokens.words[at].lower in PREPOSITIONS - {"of"})
    return [at for at in places if starts[-1] <= at < next(following, places[-1] + 1)]


def _stems(tokens: Tokens, places: list[int]) -> frozenset[str]:
    """The stems of content words and of letters that name something ("lot A")."""
    words = tokens.words
    return frozenset(
        words[at].stem for at in places
        if words[at].is_content or (at and words[at].end - words[at].start == 1 and tokens.is_capital(at))
    )  # fmt: skip
