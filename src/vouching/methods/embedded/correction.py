"""The edit that would make a claim Attributable, with words copied from the source.

Values, dates and names are replaced with the source's, overstating adverbs removed, negation copied with its verb, and
an unsupported tail cut off. A proposal must read as a sentence; the verifier offers it only after judging it again. Not
supported: any other rewording, so many claims get no fix.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vouching.methods.embedded.diagnosis import decisive, error_of
from vouching.methods.embedded.evidence import SourceIndex
from vouching.methods.embedded.features import Segment
from vouching.methods.embedded.reading import ParsedSentence
from vouching.methods.embedded.scene import Comparison
from vouching.text.clauses import finite_verb
from vouching.text.cues import Qualifier
from vouching.text.mentions import DateMention, Quantity
from vouching.text.words import find_words
from vouching.types import ERROR_TYPES

_MAX_SINGLE_EDITS = 3
_TAIL_STARTS = re.compile(r"[,;]\s+|\s+(?=(?:and|but|in|on|at|by|with|for|from|which|who|during|after|before)\b)")
_AUXILIARY = frozenset("do does did is are was were has have had will would can could should must been".split())
_CANNOT_END = _AUXILIARY | frozenset("the a an of in on at by to for from with and or but as than be may might".split())
_GLUED_VALUE = re.compile(r"\s*(?:±|:\d|/|%|-?(?:year|month|day|fold)|in \d|out of)", re.IGNORECASE)
_SWAPPABLE = frozenset("all most many some several few".split())
_PLAIN_CUE = re.compile(r"not|never|cannot|.*n['’]t", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement; offsets are relative to the claim's text."""

    start: int
    end: int
    replacement: str
    instruction: str


def propose(claim: str, segments: Sequence[Segment], index: SourceIndex) -> Iterator[tuple[str, str]]:
    """Yield candidate (fix suggestion, revised claim) pairs, the smallest and most exact first."""
    edits: list[tuple[int, Edit]] = []
    for segment in segments:
        for comparison in segment.comparisons:
            error = error_of(comparison)
            edit = _edit(claim, segment.reading, comparison, index) if error else None
            if edit is not None and error is not None:
                edits.append((ERROR_TYPES.index(error), edit))
    edits.sort(key=lambda ranked: ranked[0])
    chosen = [edit for _, edit in edits]
    tail = _cut_tail(segments[-1]) if segments else None
    groups = [[edit] for edit in chosen[:_MAX_SINGLE_EDITS]]
    if len(chosen) > 1:
        groups.append(chosen)
    if tail is not None:
        groups.extend(([tail], [*chosen, tail]) if chosen else ([tail],))
    fatal = [
        segment.reading.offset + comparison.part.value_start
        for segment in segments
        for comparison in segment.comparisons
        if any(decisive([comparison]))
    ]
    for group in groups:
        # A remaining decisive difference would keep the score down: not worth judging again.
        if not all(any(edit.start <= start < edit.end for edit in group) for start in fatal):
            continue
        revised = apply_edits(claim, group)
        if reads_well(claim, revised):
            yield " ".join(edit.instruction for edit in group), revised


def apply_edits(claim: str, edits: Sequence[Edit]) -> str:
    """The claim with ``edits`` applied; an edit that overlaps a later one is skipped.

    >>> apply_edits("It had 12 seats", [Edit(7, 9, "8", "Change 12 to 8.")])
    'It had 8 seats'
    """
    starts_anew = any(edit.start == 0 for edit in edits)
    done = len(claim) + 1
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        if edit.end <= done:
            done = edit.start
            claim = claim[: edit.start] + edit.replacement + claim[edit.end :]
    claim = claim.strip()
    return claim[:1].upper() + claim[1:] if starts_anew else claim


def reads_well(claim: str, revised: str) -> bool:
    """Whether an edited claim still reads as a sentence.

    It has a finite verb, no function word at the end, no repeated word or value, and balanced brackets and quotation
    marks.

    >>> reads_well("The meeting is at noon.", "The meeting is.")
    False
    >>> reads_well("It opened in 1937.", "It opened in 1973.")
    True
    """
    words = [word.lower for word in find_words(revised)]
    if not words or revised == claim or words[-1] in _CANNOT_END:
        return False
    if finite_verb(claim) and not finite_verb(revised):
        return False
    if any(one == other for one, other in pairwise(words)):
        return False
    if any(claim.count(mark) % 2 != revised.count(mark) % 2 for mark in '()[]<>"“”'):
        return False
    values = Counter(word for word in words if any(c.isdigit() for c in word))
    before = Counter(word.lower for word in find_words(claim))
    return not any(count > max(1, before[value]) for value, count in values.items())


def _edit(claim: str, reading: ParsedSentence, comparison: Comparison, index: SourceIndex) -> Edit | None:
    start, end = reading.offset + comparison.part.value_start, reading.offset + comparison.part.value_end
    if comparison.outcome == "overstated":
        return _soften(claim, start, end, comparison, index)
    if comparison.sentence is None or comparison.value_end == 0 or comparison.outcome in ("replaced", "unhedged"):
        return None
    source = index.read(comparison.sentence)
    if comparison.outcome == "negated":
        return _copy_polarity(claim, reading, comparison, source)
    replacement = _counterpart(claim, end, comparison, source)
    if not replacement or replacement == claim[start:end]:
        return None
    start, replacement = _article(claim, start, replacement) or (start, replacement)
    return Edit(start, end, replacement, f"Change {_shown(claim[start:end])} to {_shown(replacement)}.")


def _counterpart(claim: str, end: int, comparison: Comparison, source: ParsedSentence) -> str | None:
    """The source's words for the value if they fit in its place, else None."""
    found = source.text[comparison.value_start : comparison.value_end]
    value = comparison.part.value
    if isinstance(value, Quantity):
        rival = next((q for q in source.quantities if q.start == comparison.value_start), None)
        if rival is None or _GLUED_VALUE.match(claim, end) or _GLUED_VALUE.match(source.text, comparison.value_end):
            return None
        alike = (
            rival.kind == value.kind
            and rival.bound == value.bound
            and (rival.low == rival.high) == (value.low == value.high)
        )
        # "one office", "three offices": the noun would have to change with the number.
        agrees = (value.low == 1) == (rival.low == 1) or bool(value.unit)
        return found if alike and agrees else None
    if isinstance(value, DateMention):
        rival_date = next((d for d in source.dates if d.start == comparison.value_start), None)
        if rival_date is None or rival_date.kind != value.kind:
            return None
        fields = [(d.year is None, d.month is None, d.day is None) for d in (value, rival_date)]
        if fields[0] == fields[1]:
            return found
        years = re.findall(r"\b\d{4}\b", found)
        return years[0] if fields[0] == (False, True, True) and len(years) == 1 else None
    return found


def _article(claim: str, start: int, replacement: str) -> tuple[int, str] | None:
    """New start and replacement where "a" before the value must become "an" or vice versa."""
    before = re.search(r"\b(an?) $", claim[:start], re.IGNORECASE)
    if before is None or not replacement[:1].isalpha():
        return None
    article = "an" if replacement[0].lower() in "aeiou" else "a"
    if before.group(1).lower() == article:
        return None
    return before.start(1), f"{article} {replacement}"


def _shown(words: str) -> str:
    """Numbers and names unchanged, other words in quotation marks."""
    return words if words[:1].isupper() or any(c.isdigit() for c in words) else f'"{words}"'


def _soften(claim: str, start: int, end: int, comparison: Comparison, index: SourceIndex) -> Edit | None:
    word = claim[start:end]
    if comparison.sentence is not None and comparison.value_end:
        weaker = index.read(comparison.sentence).text[comparison.value_start : comparison.value_end].lower()
        if {word.lower(), weaker} <= _SWAPPABLE:
            replacement = weaker.capitalize() if word[0].isupper() else weaker
            return Edit(start, end, replacement, f'Change "{word}" to "{weaker}".')
        return None
    value = comparison.part.value
    if not isinstance(value, Qualifier) or value.scale not in ("degree", "frequency"):
        return None
    if end < len(claim) and claim[end] == " ":
        end += 1
    elif start and claim[start - 1] == " ":
        start -= 1
    return Edit(start, end, "", f'Remove "{word}".')


def _copy_polarity(claim: str, reading: ParsedSentence, comparison: Comparison, source: ParsedSentence) -> Edit | None:
    """Replace the claim's verb and its negation with the source's."""
    ours = _verb_group(reading, comparison.part.start)
    theirs = _verb_group(source, comparison.start)
    if ours is None or theirs is None:
        return None
    start, end = reading.offset + ours[0], reading.offset + ours[1]
    replacement = source.text[theirs[0] : theirs[1]]
    return Edit(start, end, replacement, f'Change "{claim[start:end]}" to "{replacement}".')


def _verb_group(reading: ParsedSentence, offset: int) -> tuple[int, int] | None:
    """The word at ``offset`` with its auxiliaries and negation; None for any other negation."""
    last = reading.word_at(offset)
    if last is None:
        return None
    cues = {n.start for n in reading.negations}
    first = last
    while first > 0 and (reading.words[first - 1].lower in _AUXILIARY or reading.words[first - 1].start in cues):
        first -= 1
    group = reading.words[first:last]
    inside = [word for word in group if word.start in cues]
    if len(inside) != len(cues) or not all(_PLAIN_CUE.fullmatch(word.lower) for word in inside):
        return None
    return reading.words[first].start, reading.words[last].end


def _cut_tail(segment: Segment) -> Edit | None:
    """Remove the end of the claim if nothing in it was found but something before it was."""
    reading = segment.reading
    supported = [c for c in segment.comparisons if error_of(c) is None]
    if not supported:
        return None
    last = max(c.part.end for c in supported)
    if not any(c.part.start >= last for c in segment.comparisons):
        return None
    boundary = next((m for m in _TAIL_STARTS.finditer(reading.text, last)), None)
    body = reading.text.rstrip()
    stop = len(body.rstrip(".!?"))
    if boundary is None or boundary.start() >= stop or boundary.start() < len(body) // 3:
        return None
    start, end = reading.offset + boundary.start(), reading.offset + stop
    removed = reading.text[boundary.start() : stop].strip(" ,;")
    return Edit(start, end, "", f'Remove "{removed}": the source does not say it.')
