"""A text cut at the ends of its marks, and around them where it is too long to be shown whole.

Offsets are counted here, in characters as Python counts them, so that a browser, which counts UTF-16 units, never has
to. Left out: what a mark looks like.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a text that something is said about."""

    start: int
    """Offset of its first character."""
    end: int
    """Offset after its last character."""
    status: str
    """What is said about it, e.g. "match"."""
    finding: int = 0
    """Number of the finding that says it; 0 if it holds for all."""
    note: str = ""
    """A word to show behind it; empty for none."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text under the same marks from end to end, or a gap."""

    start: int
    """Offset of its first character."""
    text: str
    """The characters; empty for a gap."""
    marks: tuple[Mark, ...] = ()
    """The marks that cover it, in the order they were given."""
    hidden: int = 0
    """How many characters are left out here; 0 unless this is a gap."""

    @property
    def findings_by_status(self) -> dict[str, list[int]]:
        """The findings that mark it, by what they say.

        >>> Piece(0, "60%", (Mark(0, 3, "match", 2), Mark(0, 9, "match", 5))).findings_by_status
        {'match': [2, 5]}
        """
        found: dict[str, dict[int, None]] = defaultdict(dict)
        for mark in self.marks:
            found[mark.status][mark.finding] = None
        return {status: [*numbers] for status, numbers in found.items()}


def pieces_of(text: str, marks: Iterable[Mark], reach: int | None = None) -> list[Piece]:
    """``text`` cut at the ends of ``marks``; marks that are empty or lie outside the text are passed over.

    Args:
        text: the text.
        marks: in any order; they may overlap.
        reach: how many characters around each mark to keep; None keeps everything. Without a mark, the beginning is
            kept.

    >>> pieces = pieces_of("It opened in 1973 or so.", [Mark(13, 17, "match")], reach=3)
    >>> [(piece.text, piece.hidden) for piece in pieces]
    [('', 10), ('in ', 0), ('1973', 0), (' or', 0), ('', 4)]
    """
    inside = [mark for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    windows = list(_windows(len(text), inside, reach))
    opening: dict[int, list[int]] = defaultdict(list)
    closing: dict[int, list[int]] = defaultdict(list)
    for place, mark in enumerate(inside):
        opening[mark.start].append(place)
        closing[mark.end].append(place)
    starts, ends = {start for start, _ in windows}, {end for _, end in windows}
    pieces: list[Piece] = []
    open_marks: dict[int, None] = {}
    for at, after in pairwise(sorted({0, len(text), *starts, *ends, *opening, *closing})):
        for place in closing.get(at, ()):
            del open_marks[place]
        open_marks |= dict.fromkeys(opening.get(at, ()))
        if at in ends or (at == 0 and at not in starts):
            pieces.append(Piece(at, "", hidden=after - at))
        else:
            pieces.append(Piece(at, text[at:after], tuple(inside[place] for place in sorted(open_marks))))
    return pieces


def shown_length(length: int, marks: Iterable[Mark], reach: int | None) -> int:
    """How many of ``length`` characters are kept around ``marks``.

    >>> shown_length(1000, [Mark(500, 510, "match")], reach=20)
    50
    """
    return sum(end - start for start, end in _windows(length, marks, reach))


def _windows(length: int, marks: Iterable[Mark], reach: int | None) -> Iterator[tuple[int, int]]:
    """The stretches to keep, in order and apart from each other."""
    if reach is None:
        yield 0, length
        return
    around = sorted((max(0, mark.start - reach), min(length, mark.end + reach)) for mark in marks)
    start, end = around[0] if around else (0, min(length, 2 * reach))
    for following, last in around[1:]:
        if following > end:
            yield start, end
            start = following
        end = max(end, last)
    yield start, end
