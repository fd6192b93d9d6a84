"""The edit that would make a claim Attributable, taken word for word from the source.

Values and names are exchanged, overstating qualifiers removed, negation copied from the source, and an unsupported tail
cut off. Every proposal is read again by the verifier before it is offered; left out is any rewording beyond that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vouching.text.dates import DateMention
from vouching.types import ERROR_TYPES
from vouching.verifiers.embedded.diagnosis import error_of
from vouching.verifiers.embedded.evidence import SourceIndex
from vouching.verifiers.embedded.features import Segment
from vouching.verifiers.embedded.reading import Reading
from vouching.verifiers.embedded.scene import Comparison

_MOST_SINGLE_EDITS = 4
_TAIL_STARTS = re.compile(r"[,;]\s+|\s+(?=(?:and|but|in|on|at|by|with|for|from|which|who|to|of|during|after|before)\b)")
_AUXILIARY = frozenset(
    "do does did is are was were has have had will would can could should may might must be been".split()
)


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement in the claim. Offsets are relative to the claim's text."""

    start: int
    """Offset of the first character to replace."""
    end: int
    """Offset after the last one."""
    replacement: str
    """What to put there; empty to remove."""
    instruction: str
    """The edit in words, e.g. 'Change 12 to 8.'"""


def propose(claim: str, segments: Sequence[Segment], index: SourceIndex) -> Iterator[tuple[str, str]]:
    """Candidate (fix suggestion, revised claim) pairs, the smallest and most exact first."""
    edits: list[tuple[int, Edit]] = []
    for segment in segments:
        for comparison in segment.comparisons:
            error = error_of(comparison)
            edit = _edit(claim, segment.reading, comparison, index) if error else None
            if edit is not None and error is not None:
                edits.append((ERROR_TYPES.index(error), edit))
    edits.sort(key=lambda ranked: ranked[0])
    chosen = [edit for _, edit in edits]
    singles = chosen[:_MOST_SINGLE_EDITS]
    tails = [tail for segment in segments[-1:] if (tail := _cut_tail(claim, segment))]
    groups = [[edit] for edit in singles]
    if len(chosen) > 1:
        groups.append(chosen)
    groups.extend([tail] for tail in tails)
    groups.extend([*chosen, tail] for tail in tails if chosen)
    for group in groups:
        revised = apply_edits(claim, group)
        if revised.strip() and revised != claim:
            yield " ".join(edit.instruction for edit in group), revised


def apply_edits(claim: str, edits: Sequence[Edit]) -> str:
    """The claim with ``edits`` applied; an edit that overlaps an earlier one is skipped.

    >>> apply_edits("It had 12 seats", [Edit(7, 9, "8", "Change 12 to 8.")])
    'It had 8 seats'
    """
    done: list[tuple[int, int]] = []
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        if any(start < edit.end and edit.start < end for start, end in done):
            continue
        done.append((edit.start, edit.end))
        claim = claim[: edit.start] + edit.replacement + claim[edit.end :]
    claim = claim.strip()
    return claim[:1].upper() + claim[1:] if edits and min(e.start for e in edits) == 0 else claim


def _edit(claim: str, reading: Reading, comparison: Comparison, index: SourceIndex) -> Edit | None:
    start, end = reading.offset + comparison.part.value_start, reading.offset + comparison.part.value_end
    if comparison.outcome == "overstated":
        return _soften(claim, start, end, comparison, index)
    if comparison.sentence is None or comparison.value_end == 0:
        return None
    source = index.read(comparison.sentence)
    if comparison.outcome == "negated":
        return _copy_polarity(claim, reading, comparison, source)
    replacement = source.text[comparison.value_start : comparison.value_end]
    if isinstance(comparison.part.value, DateMention):
        replacement = _at_same_detail(claim[start:end], replacement)
    if not replacement or replacement == claim[start:end]:
        return None
    return Edit(start, end, replacement, f"Change {_shown(claim[start:end])} to {_shown(replacement)}.")


def _shown(words: str) -> str:
    """Numbers and names as they are, other words in quotation marks."""
    return words if words[:1].isupper() or any(c.isdigit() for c in words) else f'"{words}"'


def _at_same_detail(claimed: str, found: str) -> str:
    """The year alone where the claim gives only a year."""
    years = re.findall(r"\b\d{4}\b", found)
    return years[0] if re.fullmatch(r"\d{4}", claimed) and len(years) == 1 else found


def _soften(claim: str, start: int, end: int, comparison: Comparison, index: SourceIndex) -> Edit:
    """Replace an overstating qualifier by the source's weaker one, or remove it."""
    word = claim[start:end]
    if comparison.sentence is not None and comparison.value_end:
        weaker = index.read(comparison.sentence).text[comparison.value_start : comparison.value_end].lower()
        return Edit(start, end, weaker, f'Change "{word}" to "{weaker}".')
    if end < len(claim) and claim[end] == " ":
        end += 1
    elif start and claim[start - 1] == " ":
        start -= 1
    return Edit(start, end, "", f'Remove "{word}".')


def _copy_polarity(claim: str, reading: Reading, comparison: Comparison, source: Reading) -> Edit | None:
    """Exchange the claim's verb with its negation, if any, for the source's verb with or without one."""
    ours = _verb_group(reading, comparison.part.start)
    theirs = _verb_group(source, comparison.start)
    if ours is None or theirs is None:
        return None
    start, end = reading.offset + ours[0], reading.offset + ours[1]
    replacement = source.text[theirs[0] : theirs[1]]
    return Edit(start, end, replacement, f'Change "{claim[start:end]}" to "{replacement}".')


def _verb_group(reading: Reading, offset: int) -> tuple[int, int] | None:
    """The word at ``offset`` with the auxiliaries and the negation right before it."""
    last = reading.word_at(offset)
    if last is None:
        return None
    cues = {n.start for n in reading.negations}
    first = last
    while first > 0 and (reading.words[first - 1].lower in _AUXILIARY or reading.words[first - 1].start in cues):
        first -= 1
    return reading.words[first].start, reading.words[last].end


def _cut_tail(claim: str, segment: Segment) -> Edit | None:
    """Remove the end of the claim if nothing in it was found and something before it was."""
    reading = segment.reading
    supported = [c for c in segment.comparisons if error_of(c) is None]
    if not supported:
        return None
    last = max(c.part.end for c in supported)
    if not any(c.part.start >= last for c in segment.comparisons):
        return None
    boundary = next((m for m in _TAIL_STARTS.finditer(reading.text, last)), None)
    body = reading.text.rstrip()
    stop = len(body) - (len(body) - len(body.rstrip(".!?\"'”’)")))
    if boundary is None or boundary.start() >= stop or boundary.start() < len(body) // 3:
        return None
    start, end = reading.offset + boundary.start(), reading.offset + stop
    removed = claim[start:end].strip(" ,;")
    return Edit(start, end, "", f'Remove "{removed}": the source does not say it.')
