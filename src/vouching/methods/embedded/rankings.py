"""Comparisons of a claim against two values of the sources: "A is cheaper than B" where A costs 49 and B 10.

The two values are in one column of a table, in one row, or in one sentence, each nearer to the words of its side.
Not supported: values of different sentences, and sums.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import fsum

from vouching.methods.embedded.comparatives import Compared, Extreme, find_comparison, find_extreme
from vouching.methods.embedded.findings import Finding
from vouching.methods.embedded.scene import Scene
from vouching.methods.embedded.turned import turned_round
from vouching.reading.evidence import rarity
from vouching.reading.parsed import ParsedSentence
from vouching.text.layout import Cell, Row
from vouching.text.mentions import Quantity

_MOST = 0.6
"""Share of the words of a side, or of what is compared, that must be around a value."""
_HALF = 0.5
"""Share of the label of a row that a claim must have to name it."""
_BARRIER = 5.0
"""Distance, in words, that a bracket, comma or semicolon between a value and a word counts."""
_CLEARLY = 1.0
"""How much nearer, in words, the two values must be to their own sides than to each other's."""
_UNIT = 12
"""Characters of a unit that may be between a number and a comparative ("9 tonnes an hour more")."""
_MORE = re.compile(r" (?:more|fewer|less|higher|lower|longer|shorter|cheaper|dearer|earlier|later)\b")
_MAX_SENTENCES = 40
_FEWEST = 3
"""Values among which one is called the highest."""
_MAX_VALUES = 3
"""Values of one sentence; among more, which one belongs to which side is a guess."""
_DIMENSIONS = {
    "currency": ("currency",),
    "extent": ("length", "time"),
    "width": ("length",),
    "depth": ("length",),
    "mass": ("mass",),
    "temperature": ("temperature",),
    "date": ("date", "day of a year"),
    "count": ("count",),
}


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity, duration or date of a sentence, as numbers that can be compared with those of its dimension."""

    start: int
    end: int
    low: float
    high: float
    dimension: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Two values of the sources, that of the first side and that of the second, with the sentence of the first."""

    sentence: int
    first: Amount
    second: Amount


def find_ranking(scene: Scene, compared: Compared) -> Ranking | None:
    """The two values of the sources that decide a comparison."""
    for sentence in _sentences(scene, compared):
        found = _ranked(scene, sentence, compared)
        if found is not None:
            return found
    return _in_two_sentences(scene, compared)


def _ranked_in_table(scene: Scene, compared: Compared) -> Ranking | None:
    sentences = (at for at in _sentences(scene, compared) if scene.index.sentences[at].row is not None)
    return next((found for at in sentences if (found := _ranked(scene, at, compared))), None)


def misranked(scene: Scene) -> Iterator[Finding]:
    """What a sentence compares otherwise than the claim, or the comparative if the sources' values contradict it."""
    turned = list(turned_round(scene))
    yield from turned
    compared = find_comparison(scene.claim.text)
    if turned or compared is None or compared.factor != 1 or _has_amount(scene.claim, compared):
        return
    if compared.measure and compared.measure not in _DIMENSIONS:
        return
    start, end = scene.claim.span(compared.word)
    ranking = find_ranking(scene, compared)
    if ranking is None and compared.counted and compared.first and not compared.before:
        # "The cake has more sugar than salt" compares sugar with salt.
        compared = replace(compared, first=compared.counted, attribute=compared.first)
        ranking = _ranked_in_table(scene, compared)
    if ranking is not None and holds(compared, ranking) is False:
        yield Finding(start, end, "opposite", ranking.sentence, ranking.first.start, ranking.first.end)


def mistaken_extreme(scene: Scene) -> Iterator[Finding]:
    """The superlative of the claim if another row or column of the table has more."""
    extreme = find_extreme(scene.claim.text)
    if extreme is None:
        return
    wanted = frozenset(scene.claim.words[at].stem for at in scene.claim.content() if at != extreme.word)
    start, end = scene.claim.span(extreme.word)
    for sentence in scene.focus.sentences:
        row = scene.index.sentences[sentence].row
        if row is None or row.is_head:
            continue
        readings = [_column_of(scene, sentence, row, extreme, wanted), _row_of(scene, sentence, row, extreme, wanted)]
        readings = [v for v in readings if len(v) >= _FEWEST and len({value.dimension for value in v}) == 1]
        if not readings:
            continue
        stated = {(quantity.base_low, quantity.dimension) for quantity in scene.claim.quantities}
        own = readings[0][0]
        if (own.low, own.dimension) not in stated and not any(_is_extreme(values, extreme.up) for values in readings):
            yield Finding(start, end, "opposite", sentence, own.start, own.end)
        return


def _is_extreme(values: Sequence[Amount], up: bool) -> bool:
    """Whether no value is beyond the first one."""
    own, *others = values
    return all(own.low >= other.high if up else own.high <= other.low for other in others)


def _column_of(scene: Scene, sentence: int, row: Row, extreme: Extreme, wanted: frozenset[str]) -> list[Amount]:
    """The value of the row that the claim names, and those of the other rows in the column that it names."""
    if not _is_named(scene, sentence, row, wanted):
        return []
    rest = wanted - _labels(scene, sentence, row)
    rows = [(sentence, row), *((at, scene.index.sentences[at].row) for at in _rows_of(scene, sentence, row))]
    heads = [_share(scene.index.stems(sentence, *cell.column) & rest, rest) for cell in row.cells]
    found = [
        [_values(scene, at, other.cells[column], extreme) for at, other in rows if other]
        for column in range(1, len(row.cells)) if heads[column] == max(heads) > 0 or extreme.measure == "currency"
    ]  # fmt: skip
    columns = [column for column in found if all(len(values) == 1 for values in column)]
    return [values[0] for values in columns[0]] if len(columns) == 1 else []


def _row_of(scene: Scene, sentence: int, row: Row, extreme: Extreme, wanted: frozenset[str]) -> list[Amount]:
    """The value under the head that the claim names, and the others of the row that it names."""
    if _share(_labels(scene, sentence, row), wanted) < _MOST:
        return []
    heads = [scene.index.stems(sentence, *cell.column) for cell in row.cells]
    named = [at for at, head in enumerate(heads) if at and head and head <= wanted]
    values = [_values(scene, sentence, cell, extreme) for cell in row.cells[1:]]
    if len(named) != 1 or any(len(inside) > 1 for inside in values) or not values[named[0] - 1]:
        return []
    own = values.pop(named[0] - 1)
    return own + [value for inside in values for value in inside]


def holds(compared: Compared, ranking: Ranking) -> bool | None:
    """Whether the values are in the order that the claim says; None if they overlap."""
    one, other = ranking.first, ranking.second
    if (one.low, one.high) == (other.low, other.high):
        return False
    if one.low > other.high:
        return compared.up
    return not compared.up if one.high < other.low else None


def _sentences(scene: Scene, compared: Compared) -> Iterator[int]:
    """The focused sentences, then others that have a word of both sides or of what is compared."""
    seen = set(scene.focus.sentences)
    yield from scene.focus.sentences
    index = scene.index
    for stem in sorted(compared.first | compared.second, key=rarity, reverse=True):
        for sentence in index.postings.get(stem, ())[:_MAX_SENTENCES]:
            if sentence not in seen:
                seen.add(sentence)
                yield sentence


def _ranked(scene: Scene, sentence: int, compared: Compared) -> Ranking | None:
    row = scene.index.sentences[sentence].row
    if row is None:
        return _in_prose(scene, sentence, compared)
    if row.is_head:
        return None
    return _in_row(scene, sentence, row, compared) or _in_column(scene, sentence, row, compared)


def _has_amount(claim: ParsedSentence, compared: Compared) -> bool:
    """Whether the claim says by how much, or compares with an amount ("4 km more than", "more than half of them")."""
    comparative = claim.words[compared.word]
    than = next((word for word in claim.words if word.lower == "than"), comparative)
    return any(
        0 <= comparative.start - value.end <= _UNIT or 0 <= value.start - than.end <= 1
        for value in (*claim.quantities, *(date for date in claim.dates if date.days))
    )


def _in_row(scene: Scene, sentence: int, row: Row, compared: Compared) -> Ranking | None:
    """The values of a row under the heads that the sides name."""
    if compared.before or not compared.first or not _is_named(scene, sentence, row, compared.attribute):
        return None
    heads = [(cell, scene.index.stems(sentence, *cell.column)) for cell in row.cells]
    found = [
        [value for cell, head in heads if _share(side, head) == 1 for value in _values(scene, sentence, cell, compared)]
        for side in (compared.first, compared.second)
    ]
    return Ranking(sentence, found[0][0], found[1][0]) if len(found[0]) == len(found[1]) == 1 else None


def _in_column(scene: Scene, sentence: int, row: Row, compared: Compared) -> Ranking | None:
    """The values of a column in the rows that the sides name."""
    if not compared.first or not compared.second or _share(compared.first, _labels(scene, sentence, row)) < 1:
        return None
    others = [
        other for other in _rows_of(scene, sentence, row)
        if other != sentence and _share(compared.second, _labels(scene, other, scene.index.sentences[other].row)) == 1
    ]  # fmt: skip
    columns = [
        at for at, cell in enumerate(row.cells)
        if _values(scene, sentence, cell, compared) and _names(scene, sentence, cell, compared)
    ]  # fmt: skip
    if len(others) != 1 or len(columns) != 1:
        return None
    theirs = scene.index.sentences[others[0]].row
    assert theirs is not None
    ours = _values(scene, sentence, row.cells[columns[0]], compared)
    rival = _values(scene, others[0], theirs.cells[columns[0]], compared)
    return Ranking(sentence, ours[0], rival[0]) if len(ours) == len(rival) == 1 else None


def _names(scene: Scene, sentence: int, cell: Cell, compared: Compared) -> bool:
    """Whether the head of a column names what is compared, or the comparative's measure leaves no choice."""
    wanted = compared.attribute or compared.counted
    head = scene.index.stems(sentence, *cell.column)
    return _share(wanted, head) >= _MOST if wanted else compared.measure in ("currency", "mass", "temperature")


def _labels(scene: Scene, sentence: int, row: Row | None) -> frozenset[str]:
    """The stems of the first cell of a row."""
    return scene.index.stems(sentence, row.cells[0].start, row.cells[0].end) if row else frozenset()


def _is_named(scene: Scene, sentence: int, row: Row, wanted: frozenset[str]) -> bool:
    """Whether some words name a row: they have most of its label, and more than of any other row's."""
    labels = [_labels(scene, sentence, row)]
    labels.extend(_labels(scene, at, scene.index.sentences[at].row) for at in _rows_of(scene, sentence, row))
    own, *others = (len(label & wanted) / len(label) if label else 0.0 for label in labels)
    return own >= _HALF and own > max(others, default=0.0)


def _rows_of(scene: Scene, sentence: int, row: Row) -> Iterator[int]:
    """The other rows of a table."""
    sentences = scene.index.sentences
    for step in (-1, 1):
        at = sentence + step
        while 0 <= at < len(sentences):
            other = sentences[at].row
            if other is None or [cell.column for cell in other.cells] != [cell.column for cell in row.cells]:
                break
            if not other.is_head:
                yield at
            at += step


def _values(scene: Scene, sentence: int, cell: Cell, compared: Compared | Extreme) -> list[Amount]:
    """The values of a cell that can be compared."""
    offset = scene.index.sentences[sentence].start
    reading = scene.index.read(sentence)
    return [value for value in _amounts(reading, compared) if cell.start <= offset + value.start < cell.end]


def _share(wanted: frozenset[str], found: frozenset[str]) -> float:
    """Share of some stems that are found, weighted by rarity; 0 without any."""
    total = fsum(map(rarity, wanted))
    return fsum(rarity(stem) for stem in wanted & found) / total if total else 0.0


def _amounts(reading: ParsedSentence, compared: Compared | Extreme) -> list[Amount]:
    """The values of a sentence that the comparative can be about."""
    found = [
        Amount(q.start, q.end, q.base_low, q.base_high, q.dimension)
        for q in reading.quantities
        if q.kind not in ("ordinal", "multiple") and not _in_name(reading, q) and not _MORE.match(reading.text, q.end)
    ]  # fmt: skip
    for date in reading.dates:
        days = date.days
        if days is not None:
            found.append(Amount(date.start, date.end, date.first_days or days, date.last_days or days, "time"))
        elif compared.measure == "date" and date.month and date.day:
            day = (date.year or 0) * 372.0 + date.month * 31 + date.day
            found.append(Amount(date.start, date.end, day, day, "date" if date.year else "day of a year"))
    wanted = _DIMENSIONS.get(compared.measure)
    return [amount for amount in found if wanted is None or amount.dimension in wanted]


def _in_prose(scene: Scene, sentence: int, compared: Compared) -> Ranking | None:
    """The two values of a sentence that are nearest to the two sides."""
    reading = scene.index.read(sentence)
    groups: dict[str, list[Amount]] = {}
    for amount in _amounts(reading, compared):
        groups.setdefault(amount.dimension, []).append(amount)
    groups = {dimension: group for dimension, group in groups.items() if 2 <= len(group) <= _MAX_VALUES}
    if not groups or not _has_attribute(scene, sentence, reading, compared):
        return None
    sides = [_places(reading, side) for side in (compared.first, compared.second)]
    if compared.before:
        sides[1] = sides[1] or _brackets(reading)
    if not sides[0] and (not compared.first or compared.before or all(len(group) == 2 for group in groups.values())):
        sides[0] = _places(reading, compared.counted) or _places(reading, compared.attribute)
    if not sides[0] or not sides[1]:
        return None
    pairs = [pair for group in groups.values() for pair in permutations(group, 2)]
    costs = sorted(
        (_distance(reading, one, sides[0]) + _distance(reading, other, sides[1]), at)
        for at, (one, other) in enumerate(pairs)
    )
    if len(costs) > 1 and costs[1][0] - costs[0][0] < _CLEARLY:
        return None
    return Ranking(sentence, *pairs[costs[0][1]])


def _in_two_sentences(scene: Scene, compared: Compared) -> Ranking | None:
    """The only values of the sentences that have one side each."""
    if compared.before or not compared.first or not compared.second:
        return None
    found: list[dict[str, list[tuple[int, Amount]]]] = []
    for side, other in ((compared.first, compared.second), (compared.second, compared.first)):
        by_dimension: dict[str, list[tuple[int, Amount]]] = {}
        having = [set(scene.index.postings.get(stem, ())) for stem in side]
        for at in sorted(having[0].intersection(*having[1:])):
            reading = scene.index.read(at)
            if not other & reading.positions.keys() and _has_attribute(scene, at, reading, compared):
                for amount in _amounts(reading, compared):
                    by_dimension.setdefault(amount.dimension, []).append((at, amount))
        found.append(by_dimension)
    shared = found[0].keys() & found[1].keys() - {"count"}
    if len(shared) != 1:
        return None
    ours, theirs = (by_dimension[min(shared)] for by_dimension in found)
    return Ranking(ours[0][0], ours[0][1], theirs[0][1]) if len(ours) == len(theirs) == 1 else None


def _in_name(reading: ParsedSentence, value: Quantity) -> bool:
    """Whether a number belongs to a name ("Cosy 400")."""
    before = reading.text[: value.start].rstrip().rpartition(" ")[2]
    return value.kind == "number" and not value.unit and before[:1].isupper() and before.isalpha() and len(before) > 2


def _has_attribute(scene: Scene, sentence: int, reading: ParsedSentence, compared: Compared) -> bool:
    """Whether a sentence, with its heading, has what is compared."""
    near = {stem for stem in compared.attribute if sentence in scene.index.around.get(stem, ())}
    found = frozenset(near | (compared.attribute & reading.positions.keys()))
    return len(found) >= _MOST * len(compared.attribute)


def _places(reading: ParsedSentence, side: frozenset[str]) -> list[int]:
    """Where a sentence has the words of a side; empty unless it has most of them."""
    found = side & reading.positions.keys()
    if _share(side, found) < _MOST:
        return []
    return [place for stem in found for place in reading.positions[stem]]


def _brackets(reading: ParsedSentence) -> list[int]:
    """The first word of each bracket: "186 (2023: 172)" gives the value of the year before there."""
    return [at for at, word in enumerate(reading.words) if reading.text[word.start - 1 : word.start] == "("]


def _distance(reading: ParsedSentence, value: Amount, places: Sequence[int]) -> float:
    """Distance in words between a value and the nearest word of a side."""
    if not places:
        return 0.0
    at = next((i for i, word in enumerate(reading.words) if word.end > value.start), 0)
    return min(abs(at - place) + _BARRIER * _barriers(reading, at, place) for place in places)


def _barriers(reading: ParsedSentence, one: int, other: int) -> int:
    first, last = sorted((one, other))
    between = reading.text[reading.words[first].end : reading.words[last].start]
    return sum(between.count(mark) for mark in "(),;")
