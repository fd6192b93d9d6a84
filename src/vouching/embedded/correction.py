"""The edit that would make a claim Attributable, with words copied from the source.

A value, date or name is replaced with the one that the source gives to the same subject, a word with its opposite, a
negation of the source is copied, an overstating adverb or an unsupported addition is removed. No edit deletes a
negation or changes a unit. The verifier offers a proposal only after judging it again. Not supported: any other
rewording, so most claims get no fix.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from vouching.embedded.counterparts import compares_things
from vouching.embedded.diagnosis import decisive, error_of
from vouching.embedded.features import Segment
from vouching.embedded.fitting import denied, fitting_value, fitting_word, with_article
from vouching.embedded.grounds import Grounds
from vouching.embedded.scene import Comparison, Scene
from vouching.reading.evidence import SourceIndex
from vouching.text.clauses import finite_verb
from vouching.text.cues import Qualifier, find_negations
from vouching.text.entities import Entity
from vouching.text.mentions import DateMention, Quantity
from vouching.text.numerals import parse_number
from vouching.text.words import find_words, word_after
from vouching.types import ERROR_TYPES

_ADDITION = re.compile(r"(?:,|;)?\s+(?:and|as well as)\s+|,\s+(?:which|who)\s+|;\s+")
_CANNOT_END = frozenset(
    str.split("""the a an of in on at by to for from with and or but as than be may might do does did is are was were
        has have had will would can could should must been not no never""")
)
_COMPARED = re.compile(r"\b(?:more|less|most|least|as|so|too|how|very)\s+\Z", re.IGNORECASE)
_SWAPPABLE = frozenset("all most many some several few".split())


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement; offsets are relative to the claim's text."""

    start: int
    end: int
    replacement: str
    instruction: str


def propose(claim: str, segments: Sequence[Segment], index: SourceIndex) -> Iterator[tuple[str, str]]:
    """Yield candidate (fix suggestion, revised claim) pairs, the most exact first."""
    edits: list[tuple[int, Edit]] = []
    fatal: list[tuple[int, int]] = []
    for segment in segments:
        grounds = Grounds(Scene(segment.reading, index, segment.focus), segment.comparisons)
        for comparison in segment.comparisons:
            error = error_of(comparison)
            if error is None:
                continue
            if any(decisive([comparison])):
                part, offset = comparison.part, segment.reading.offset
                fatal.append((offset + part.value_start, offset + part.value_end))
            edit = _edit(claim, grounds, comparison)
            if edit is not None:
                edits.append((ERROR_TYPES.index(error), edit))
    edits.sort(key=lambda ranked: ranked[0])
    candidates = [edit for _, edit in edits]
    tail = _cut_tail(claim, segments[-1]) if segments else None
    for edit in [*candidates, *([tail] if tail else [])]:
        # A remaining decisive difference would keep the score down: not worth judging again.
        if all(edit.start < end and start < edit.end for start, end in fatal):
            revised = apply_edit(claim, edit)
            if reads_well(claim, revised) and keeps_negations(claim, revised):
                yield edit.instruction, revised


def apply_edit(claim: str, edit: Edit) -> str:
    """The claim with an edit applied.

    >>> apply_edit("It had 12 seats", Edit(7, 9, "8", "Change 12 to 8."))
    'It had 8 seats'
    """
    revised = (claim[: edit.start] + edit.replacement + claim[edit.end :]).strip()
    return revised[:1].upper() + revised[1:] if edit.start == 0 else revised


def keeps_negations(claim: str, revised: str) -> bool:
    """Whether an edited claim denies at least as often as before.

    >>> keeps_negations("It is not open.", "It is open."), keeps_negations("It is open.", "It is not open.")
    (False, True)
    """
    return len(find_negations(revised, find_words(revised))) >= len(find_negations(claim, find_words(claim)))


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


def _edit(claim: str, grounds: Grounds, comparison: Comparison) -> Edit | None:
    part, offset = comparison.part, grounds.scene.claim.offset
    start, end = offset + part.value_start, offset + part.value_end
    if comparison.outcome == "overstated":
        return _soften(claim, start, end, grounds, comparison)
    if comparison.outcome == "negated":
        return _deny(claim, grounds, comparison)
    if isinstance(part.value, (Quantity, DateMention)):
        shown = grounds.value(part)
        fitted = shown and fitting_value(claim, start, end, part.value, shown[0].text, shown[1], shown[2])
        return _exchange(claim, *fitted) if fitted else None
    if comparison.sentence is None or comparison.value_end == 0 or comparison.outcome not in ("differs", "opposite"):
        return None
    if isinstance(part.value, Entity):
        name = grounds.name(part, part.value)
        return _exchange(claim, start, end, name) if name else None
    if comparison.outcome == "opposite" and grounds.covers(part, comparison.sentence, comparison.value_start):
        return _opposite(claim, start, end, grounds, comparison, comparison.sentence)
    return None


def _opposite(claim: str, start: int, end: int, grounds: Grounds, comparison: Comparison, sentence: int) -> Edit | None:
    """Replace a word with its opposite in the source, unless one of them is denied or has another construction."""
    source, first, last = grounds.scene.index.read(sentence).text, comparison.value_start, comparison.value_end
    if any(character.isdigit() for character in source[first:last]):
        return None  # a value refutes the word, but does not replace it
    word = None if " " in claim[start:end] + source[first:last] else fitting_word(claim[start:end], source[first:last])
    if compares_things(grounds.scene.claim) or not finite_verb(claim[:start]):
        return None  # the opposite of a comparison may be exchanged as well, and a word of the subject names it
    if (
        word is None
        or grounds.is_denied(comparison.part, sentence, first)
        or not grounds.only_there(comparison.part, sentence)
    ):
        return None
    if not word.endswith("ed") and not grounds.stands_among(comparison.part, sentence, first):
        return None
    same = (word_after(claim, end) == "to") == (word_after(source, last) == "to")
    return _exchange(claim, start, end, word) if same else None


def _exchange(claim: str, start: int, end: int, replacement: str) -> Edit:
    first = re.match(r"[A-Z][a-z]+", replacement)
    if start and first and parse_number(first.group().lower()) is not None:
        replacement = replacement[:1].lower() + replacement[1:]  # a number that opens its sentence in the source
    start, replacement = with_article(claim, start, replacement)
    return Edit(start, end, replacement, f"Change {_shown(claim[start:end])} to {_shown(replacement)}.")


def _shown(words: str) -> str:
    """Numbers and names unchanged, other words in quotation marks."""
    return words if words[:1].isupper() or any(c.isdigit() for c in words) else f'"{words}"'


def _soften(claim: str, start: int, end: int, grounds: Grounds, comparison: Comparison) -> Edit | None:
    word, sentence = claim[start:end], comparison.sentence
    if sentence is not None and comparison.value_end:
        weaker = grounds.scene.index.read(sentence).text[comparison.value_start : comparison.value_end].lower()
        if {word.lower(), weaker} <= _SWAPPABLE and grounds.covers(comparison.part, sentence, comparison.value_start):
            return _exchange(claim, start, end, weaker.capitalize() if word[0].isupper() else weaker)
        return None
    value = comparison.part.value
    home = grounds.scene.home
    if not isinstance(value, Qualifier) or value.scale != "degree" or home is None:
        return None
    if _COMPARED.search(claim, 0, start) or not grounds.same_statement(comparison.part, home, 0):
        return None
    if end < len(claim) and claim[end] == " ":
        end += 1
    elif start and claim[start - 1] == " ":
        start -= 1
    return Edit(start, end, "", f'Remove "{word}".')


def _deny(claim: str, grounds: Grounds, comparison: Comparison) -> Edit | None:
    """Copy a negation of the source, where the rest of the clause is the same."""
    scene, part, sentence = grounds.scene, comparison.part, comparison.sentence
    at = scene.claim.word_at(part.start)
    if sentence is None or at is None or scene.claim.negations:
        return None
    verb = replace(part, value_end=scene.claim.words[at].end)
    fitted = denied(scene.claim, part.start, scene.index.read(sentence), comparison.start)
    if fitted is None or not grounds.covers(verb, sentence, comparison.start, denied=True):
        return None
    start, end, replacement = fitted[0] + scene.claim.offset, fitted[1] + scene.claim.offset, fitted[2]
    return Edit(start, end, replacement, f'Change "{claim[start:end]}" to "{replacement}".')


def _cut_tail(claim: str, segment: Segment) -> Edit | None:
    """Remove an addition at the end of the claim if nothing in it was found but everything before it was."""
    reading = segment.reading
    supported = [c for c in segment.comparisons if error_of(c) is None]
    if not supported:
        return None
    last = max(c.part.end for c in supported)
    if not any(c.part.start >= last for c in segment.comparisons):
        return None
    boundary = next((m for m in _ADDITION.finditer(reading.text, last)), None)
    body = reading.text.rstrip()
    stop = len(body.rstrip(".!?"))
    if boundary is None or boundary.start() >= stop or boundary.start() < len(body) // 3:
        return None
    if any(c.part.start < boundary.start() and error_of(c) for c in segment.comparisons):
        return None
    if not finite_verb(reading.text[boundary.end() : stop]):
        return None
    start, end = reading.offset + boundary.start(), reading.offset + stop
    removed = reading.text[boundary.start() : stop].strip(" ,;")
    return Edit(start, end, "", f'Remove "{removed}": the source does not say it.')
