"""How a value of a claim relates to those of a sentence: agreement, numbers, distance, and their cells in a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from vouching.embedded.parts import Part, Value
from vouching.embedded.scene import Lookup, Scene
from vouching.reading.parsed import ParsedSentence
from vouching.text.comparison import compare_dates, compare_quantities
from vouching.text.mentions import DateMention, Quantity
from vouching.text.quantities import find_quantities

_SPACE = re.compile(r"\s*(?:about\s+)?")


def weight_of(words: Iterable[Lookup]) -> float:
    """The rarity of words, added up."""
    return sum(word.weight for word in words)


def compares_things(reading: ParsedSentence) -> bool:
    """Whether a sentence compares two things: a "than" that is not the bound of a number."""
    bounds = {m.start for m in (*reading.quantities, *reading.dates)}
    return any(
        w.lower == "than" and not any(_SPACE.fullmatch(reading.text, w.end, start) for start in bounds)
        for w in reading.words
    )


def may_be_a_year(text: str, value: Value | None) -> bool:
    """Whether a bare number may be a year."""
    return isinstance(value, Quantity) and re.fullmatch(r"(?:1[5-9]|20)\d\d", text[value.start : value.end]) is not None


def distance(text: str, one: int, other: int) -> int:
    """The distance of two places in characters; commas and semicolons count more."""
    between = text[min(one, other) : max(one, other)]
    return len(between) + 40 * between.count(", ") + 200 * between.count(";")


def mentions_like(reading: ParsedSentence, value: Value | None) -> Iterator[Quantity | DateMention]:
    """The numbers of a sentence for a number, its dates for a date."""
    if isinstance(value, (Quantity, DateMention)):
        yield from reading.quantities if isinstance(value, Quantity) else reading.dates


def compare_values(one: Value | None, other: Value | None) -> str:
    """How two values agree, as ``text/comparison.py`` says; "incomparable" for values of two kinds."""
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return compare_quantities(one, other)
    if isinstance(one, DateMention) and isinstance(other, DateMention):
        return compare_dates(one, other)
    return "incomparable"


def same_number(claim: ParsedSentence, part: Part, reading: ParsedSentence, rival: Quantity | DateMention) -> bool:
    """Whether two values that cannot be compared have the same number, in other units or without one."""
    if compare_values(part.value, rival) != "incomparable":
        return False
    ours = _first_number(claim.text[part.value_start : part.value_end])
    theirs = _first_number(reading.text[rival.start : rival.end])
    return theirs is not None and theirs in (ours, number_of(part.value))


def is_head(scene: Scene, sentence: int) -> bool:
    """Whether a sentence is the row of a table that names its columns, so that nothing in it is a value."""
    row = scene.index.sentences[sentence].row
    return row is not None and row.is_head


def side_by_side(scene: Scene, sentence: int, one: int, other: int) -> bool:
    """Whether two offsets are in running text or in one cell: the order of cells is no order of words."""
    stretch = scene.index.sentences[sentence]
    if stretch.row is None:
        return True
    cell = None if stretch.row.is_head else stretch.row.cell_at(stretch.start + one)
    return cell is not None and cell is stretch.row.cell_at(stretch.start + other)


def number_of(value: Value | None) -> float | None:
    """The number of a value in its unit; None for a date."""
    return value.low if isinstance(value, Quantity) else value.days if isinstance(value, DateMention) else None


@lru_cache(maxsize=4_000)
def _first_number(text: str) -> float | None:
    found = find_quantities(re.split(r"[\s-]", text.lstrip("£$€"))[0], [])
    return found[0].low if found else None
