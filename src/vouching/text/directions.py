"""Which way the words next to a number say that it went: up or down, a profit or a loss; by it, to it or from it.

Read in the clause of the number: a verb or noun before it ("rose by 10 %", "a loss of $5m"), or one right after it ("a
10 % increase", "10 % less"). Not supported: negated words, directions that only the subject states ("the losses were
$5m"), and changes of a change ("the decline rose to 5 %", "growth slowed to 2 %").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from vouching.text.cues import find_negations, is_negated
from vouching.text.words import Word, antonyms, find_words, stem

_MORE_UP, _MORE_DOWN = "jump soar", "slump plunge sink slip lose shrank"
"""Besides the antonyms of "increase" and "decrease" in the shipped table."""
_BALANCE = {
    **dict.fromkeys(map(stem, ("profit", "surplus", "gain")), 1),
    **dict.fromkeys(map(stem, ("loss", "lose", "deficit")), -1),
}
_AFTER_ONLY = {**dict.fromkeys(("more", "higher", "above"), 1), **dict.fromkeys("less fewer lower below".split(), -1)}
"""Read only after a number: before it, they are bounds or something else."""
_PARTICLES = frozenset(("up", "down"))
_MOVING = frozenset("is are was were be been being went goes go gone moved ticked edged".split())
"""Words that "up" and "down" follow where they are not part of a phrasal verb ("made up")."""
_LINKS = frozenset("to by from of".split())
_NEAR = frozenset(("almost", "nearly"))
"""Content words that may be between a change and its number."""
_STOPS = frozenset(
    "and but or while whereas although because when where which who that than in of to by from on at for".split()
)
"""Words that separate a number from a noun after it."""
_VERBS = frozenset("is are was were be been has have had".split())
"""A direction word before one of these is ignored: "Lost in Alaska is a 1952 film"."""
_CLAUSE = re.compile(
    r"[;:()!?—]|,\s|\.\s|\b(?:and|but|or|while|whereas|although|because|which|who|than)\b", re.IGNORECASE
)
_END = re.compile(r"[;:()!?—]|,\s|\.(?:\s|\Z)")
"""End of what something is compared with, which "than" introduces."""
_BEFORE, _AFTER = 7, 3
"""Words before and after a number that are searched."""
_REACH = 160
"""The same, in characters."""


@dataclass(frozen=True, slots=True)
class Direction:
    """A word that says which way a number went."""

    start: int
    end: int
    change: int = 0
    """1 for up or more, -1 for down or less, 0 if neither."""
    balance: int = 0
    """1 for a profit, -1 for a loss, 0 if neither."""


def opposed(one: str, other: str) -> bool:
    """Whether two stretches that begin or end with such a word contradict each other about one number.

    >>> opposed("fell 10 %", "rose by 10 %"), opposed("fell 10 %", "10 % decline"), opposed("a loss of $5", "$5 profit")
    (True, False, True)
    """
    (change, balance), (its, own) = _way(one), _way(other)
    return change * its < 0 or balance * own < 0


Side = Literal["by", "to", "from"]
_SIDE = re.compile(
    r" (?P<side>by|from|(?<!due )(?<!according )(?<!up )(?<!close )(?<!next )(?<!prior )(?<!thanks )(?<!owing )"
    r"(?<![\d%] )to)"
    r"(?: (?:about|almost|around|exactly|just|more than|nearly|only|over|roughly|some|under))?[ \u00a0][^\s\d]{0,3}\Z",
    re.IGNORECASE,
)


_WORD_BEFORE = re.compile(r"\b([A-Za-z]{3,})[ \u00a0]\Z")
_BESIDE = 24
"""Characters before a number in which its preposition, or a verb without one, is looked for."""


def side_of_change(text: str, start: int) -> Side | None:
    """Whether something changes by the number at ``start``, to it, or from it; None if the words do not say.

    >>> side_of_change("Costs rose to 40.", 14), side_of_change("Costs fell 40 %.", 11), side_of_change("due to 40", 7)
    ('to', 'by', None)
    """
    found = _SIDE.search(text, max(0, start - _BESIDE), start)
    if found:
        side: Side = found["side"].lower()  # pyright: ignore[reportAssignmentType]
        return side
    before = _WORD_BEFORE.search(text, max(0, start - _BESIDE), start)
    return "by" if before and stem(before[1].lower()) in _changes() else None


def swapped(text: str, place: tuple[int, int], other: str, its: tuple[int, int]) -> bool:
    """Whether two stretches compare the same two things in opposite order, so that opposite words mean the same.

    Args:
        text: contains the first stretch.
        place: offsets of the first stretch.
        other: contains the second stretch.
        its: offsets of the second stretch.

    >>> one, other = "The lake lies 5 m below the sea.", "The sea lies 5 m above the lake."
    >>> swapped(one, (14, 23), other, (13, 22)), swapped(one, (14, 23), one.replace("below", "above"), (14, 23))
    (True, False)
    """
    (ahead, behind), (before, after) = _sides(text, *place), _sides(other, *its)
    return not ahead.isdisjoint(after) and not behind.isdisjoint(before)


def find_direction(text: str, start: int, end: int) -> Direction | None:
    """The word that says which way the number at ``start..end`` went; None if there is none, or if it is negated.

    >>> text = "Sales rose by 10 %, costs by a 5 % cut."
    >>> [text[one.start : one.end] for one in (find_direction(text, 14, 18), find_direction(text, 31, 34)) if one]
    ['rose', 'cut']
    """
    first, last = max(0, start - _REACH), min(len(text), end + _REACH)
    clause = _beginning(text, start)
    stop = _CLAUSE.search(text, end, last)
    found = _before(find_words(text, clause, start)) or _after(find_words(text, end, stop.start() if stop else last))
    if found is None:
        return None
    around, at = text[first:last], found.start - first
    return None if is_negated(at, find_negations(around, find_words(around))) else found


def _beginning(text: str, start: int) -> int:
    """Offset at which the clause of a place begins."""
    first = max(0, start - _REACH)
    return max((found.end() for found in _CLAUSE.finditer(text, first, start)), default=first)


def _sides(text: str, start: int, end: int) -> tuple[set[str], set[str]]:
    """Content stems of a clause before a stretch and after it."""
    last = min(len(text), end + _REACH)
    stop = _END.search(text, end, last)
    ends = stop.start() if stop else last
    around = find_words(text, _beginning(text, start), start), find_words(text, end, ends)
    ahead, behind = ({word.stem for word in words if word.is_content} for words in around)
    return ahead, behind


def _way(stretch: str) -> tuple[int, int]:
    """Change and balance of the first word that has either."""
    first = next((direction for word in find_words(stretch) if (direction := _direction(word))), None)
    return (first.change, first.balance) if first else (0, 0)


def _before(words: list[Word]) -> Direction | None:
    for number in range(len(words) - 1, max(-1, len(words) - 1 - _BEFORE), -1):
        word, between = words[number], words[number + 1 :]
        if word.lower in _VERBS:
            return None
        direction = _direction(word)
        if direction is None or word.lower in _AFTER_ONLY:
            continue
        changed = any(_changes().get(other.stem) and other.lower not in _PARTICLES for other in words[:number])
        if word.lower in _PARTICLES and not changed:
            moved = number == 0 or words[number - 1].lower in _MOVING
            return direction if moved and (not between or between[0].lower in _LINKS) else None
        if word.lower == "lost" and number and words[number - 1].lower in ("a", "the"):
            return None  # "a lost 1915 film"
        if direction.balance and not direction.change:
            return direction if between and between[0].lower == "of" else None
        return None if changed or not _leads(between) else direction
    return None


def _leads(between: list[Word]) -> bool:
    """Whether the words after a change lead to a number: none of them governs it or separates it from the change."""
    if not between:
        return True
    last = between[-1]
    if last.lower == "from":  # the starting value, not the change
        return False
    numbers = any(any(map(str.isdigit, word.lower)) for word in between)
    near = not last.is_content or last.lower in _NEAR or last.lower.endswith("ly")
    return (
        near
        and not any(word.lower.endswith(("ed", "ing")) for word in between)
        and (not numbers or last.lower in _LINKS)
    )


def _after(words: list[Word]) -> Direction | None:
    for number, word in enumerate(words[:_AFTER]):
        direction = _direction(word)
        if direction is not None:
            return direction if number <= 1 or word.lower not in {*_AFTER_ONLY, *_PARTICLES} else None
        if word.lower in _STOPS:
            return None
    return None


def _direction(word: Word) -> Direction | None:
    change = _AFTER_ONLY.get(word.lower, 0) or _changes().get(word.stem, 0)
    balance = _BALANCE.get(word.stem, 0)
    return Direction(word.start, word.end, change, balance) if change or balance else None


@cache
def _changes() -> dict[str, int]:
    up = {*antonyms()[stem("decrease")], *map(stem, _MORE_UP.split())}
    down = {*antonyms()[stem("increase")], *map(stem, _MORE_DOWN.split())}
    return {**dict.fromkeys(up, 1), **dict.fromkeys(down, -1)}
