"""Split a claim into the parts that are compared one by one.

Values, names and qualifiers each make a part together with the words they belong to ("12 countries", "founded in
2004"); the remaining content words make predicate parts. Every content word is in exactly one part. There is no parse:
word order, function words and punctuation decide which words belong together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vouching.reading.evidence import is_common
from vouching.reading.parsed import ParsedSentence
from vouching.text.cues import Qualifier
from vouching.text.entities import Entity
from vouching.text.mentions import DateMention, Quantity
from vouching.text.words import stem

PartKind = Literal["quantity", "date", "entity", "qualifier", "predicate"]
Value: TypeAlias = Quantity | DateMention | Entity | Qualifier

_LONGEST_PREDICATE = 4
_PREPOSITIONS = frozenset("in on at by from to into of for with since until during near through under over as".split())
_BREAK = re.compile(r"[,;:()\[\]—–\n]|\.\s")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a claim with the words it belongs to. Offsets are relative to the claim's text."""

    kind: PartKind
    start: int
    end: int
    value_start: int
    """Where the value itself starts ("12" of "12 countries"); equal to ``start`` for predicates."""
    value_end: int
    value: Value | None
    """None for predicates."""
    words: tuple[int, ...]
    """Positions of the content words that go with the value, or that make the predicate."""


def split_claim(reading: ParsedSentence) -> list[Part]:
    """Split a claim into parts, in order."""
    values = list(_values(reading))
    cues = {n.start for n in reading.negations}
    hedges = [stretch for value in (*reading.quantities, *reading.dates) for stretch in value.hedges]
    stretches = [*((value.start, value.end) for _, value in values), *hedges]
    taken = {i for start, end in stretches for i in range(reading.first_word(start), reading.first_word(end))}
    taken |= {i for i, w in enumerate(reading.words) if w.start in cues}
    parts: list[Part] = []
    for kind, value in values:
        start, end, words = value.start, value.end, ()
        if kind == "quantity":
            end, words = counted_words(reading, value.end, taken)
        elif kind in ("date", "entity"):
            start, words = _words_before(reading, value.start, taken)
        taken.update(words)
        parts.append(Part(kind, start, end, value.start, value.end, value, words))
    parts.extend(_predicates(reading, taken))
    parts.sort(key=lambda part: (part.start, part.end))
    return parts


def _values(reading: ParsedSentence) -> Iterator[tuple[PartKind, Value]]:
    """Dates, quantities, names and qualifiers, without overlaps; the first kinds win."""
    covered: list[tuple[int, int]] = []
    kinds: tuple[tuple[PartKind, list[Value]], ...] = (
        ("date", [*reading.dates]),
        ("entity", [e for e in reading.entities if is_name(e) and not _holds_number(reading, e)]),
        ("quantity", [*reading.quantities]),
        ("qualifier", [*reading.qualifiers]),
    )
    for kind, values in kinds:
        for value in values:
            if not any(start < value.end and value.start < end for start, end in covered):
                covered.append((value.start, value.end))
                yield kind, value


def is_name(entity: Entity) -> bool:
    """At the start of a sentence, only an uncommon capitalised word is a name."""
    return entity.certain or not is_common(stem(entity.text.lower()))


def _holds_number(reading: ParsedSentence, entity: Entity) -> bool:
    """A capitalised number word ("Three", "First") is a quantity, not a name."""
    return any(q.start <= entity.start and entity.end <= q.end for q in reading.quantities)


def counted_words(reading: ParsedSentence, after: int, taken: set[int]) -> tuple[int, tuple[int, ...]]:
    """The noun that a quantity counts: "of" and up to two content words, ending at the first plural."""
    words: list[int] = []
    end = after
    through_of = False
    for position in range(reading.first_word(after), len(reading.words)):
        word = reading.words[position]
        if _BREAK.search(reading.text, end, word.start) or position in taken:
            break
        if not word.is_content:
            if word.lower in ("of", "the") and not words:
                through_of = True
                continue
            break
        words.append(position)
        end = word.end
        if len(words) == 2 or (word.lower.endswith("s") and not word.lower.endswith("ss")) or through_of:
            break
    return (end, tuple(words)) if words else (after, ())


def _words_before(reading: ParsedSentence, before: int, taken: set[int]) -> tuple[int, tuple[int, ...]]:
    """The preposition before a date or name, and the free content word before that ("founded in")."""
    index = reading.words_before(before) - 1
    while index >= 0 and reading.words[index].lower in ("the", "a", "an"):
        index -= 1
    if index < 1 or reading.words[index].lower not in _PREPOSITIONS:
        return before, ()
    head = reading.words[index - 1]
    if not head.is_content or index - 1 in taken or _BREAK.search(reading.text, head.end, before):
        return before, ()
    return head.start, (index - 1,)


def _predicates(reading: ParsedSentence, taken: set[int]) -> Iterator[Part]:
    run: list[int] = []
    for position, word in enumerate(reading.words):
        free = word.is_content and position not in taken
        if run and (
            position in taken
            or len(run) == _LONGEST_PREDICATE
            or _BREAK.search(reading.text, reading.words[run[-1]].end, word.start)
        ):
            yield _predicate(reading, run)
            run = []
        if free:
            run.append(position)
    if run:
        yield _predicate(reading, run)


def _predicate(reading: ParsedSentence, run: list[int]) -> Part:
    start, end = reading.words[run[0]].start, reading.words[run[-1]].end
    return Part("predicate", start, end, start, end, None, tuple(run))
