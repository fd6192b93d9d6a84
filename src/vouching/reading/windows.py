"""What of the sources is read with a claim: all where it fits, else the passages that share the claim's words.

A window is made of whole sentences and table rows in the order of the sources, each below its heading and the head of
its table, with an empty line where text is omitted. Every character of it but those lines has its place in a source.
Not supported: choosing passages by meaning.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vouching.reading.values import stems
from vouching.text.layout import as_markdown, headings, table_rows
from vouching.text.sentences import sentence_spans

_AGAIN = 0.3
"""What a word of the claim counts for in a further passage, once a passage has it."""
_LEAST = 0.1
"""Share of the best passage's score that a further one must have."""
_BESIDE = 0.3
"""Share of its neighbours' score that a sentence gets."""
_GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a source in a window."""

    at: int
    """Offset in the window."""
    source: int
    """Number of the source."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Window:
    """A text to read, and where its stretches come from."""

    text: str
    pieces: tuple[Piece, ...]
    whole: bool
    """Whether it is all there is."""

    def place(self, start: int, end: int) -> tuple[int, int, int] | None:
        """The source and the offsets there of a stretch of the window; None for a stretch that crosses pieces.

        >>> Window("One. Two.", (Piece(0, 0, 100, 109),), True).place(5, 9)
        (0, 105, 109)
        """
        number = bisect_right([piece.at for piece in self.pieces], start) - 1
        if number < 0:
            return None
        piece = self.pieces[number]
        inside = piece.start + end - piece.at <= piece.end
        return (piece.source, piece.start + start - piece.at, piece.start + end - piece.at) if inside else None


@dataclass(frozen=True, slots=True)
class _Passage:
    source: int
    start: int
    end: int
    tokens: int
    stems: frozenset[str]
    above: tuple[int, ...]
    """Numbers of its heading and of the head of its table."""
    table: tuple[int, int] | None
    """The source and the place of the table that it is a row of."""


class Passages:
    """Sources cut into passages, once for all claims.

    Args:
        sources: their texts.
        count: returns the number of tokens of each of several texts.
    """

    def __init__(self, sources: Sequence[str], count: Callable[[Sequence[str]], Sequence[int]]) -> None:
        self.sources = tuple(sources)
        cut = [(number, *entry) for number, text in enumerate(sources) for entry in _cut(text)]
        tokens = count([sources[number][start:end] for number, start, end, *_ in cut])
        first = {number: at for at, (number, *_) in reversed([*enumerate(cut)])}
        self._passages = [
            _Passage(
                number,
                start,
                end,
                size + 1,
                stems(sources[number][start:end]),
                tuple(first[number] + n for n in above),
                None if table is None else (number, table),
            )
            for (number, start, end, above, table), size in zip(cut, tokens, strict=True)
        ]
        seen = Counter(word for passage in self._passages for word in passage.stems)
        total = len(self._passages)
        self._weight = {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in seen.items()}
        self.tokens = sum(passage.tokens for passage in self._passages)

    def windows(self, claims: Sequence[str], budget: int, own: int) -> list[tuple[Window, list[int]]]:
        """Windows of at most about ``budget`` tokens, each with the numbers of the claims that are read with it.

        Where the sources do not fit, each claim names the passages that it needs, of up to ``own`` tokens, and claims
        whose passages fit together share a window.

        Args:
            claims: their texts, with what else tells where to look (a question, the sentence before).
            budget: tokens of a window.
            own: tokens of the passages of one claim.

        >>> text = "Cats purr. Dogs bark at night. Birds sing."
        >>> passages = Passages([text], lambda texts: [len(t.split()) for t in texts])
        >>> [(window.text, numbers) for window, numbers in passages.windows(["A dog barks.", "Birds sing."], 6, 6)]
        [('Dogs bark at night.', [0]), ('Birds sing.', [1])]
        """
        if self.tokens <= budget:
            return [(self._joined(range(len(self._passages)), whole=True), [*range(len(claims))])]
        shared: list[tuple[set[int], list[int], list[int]]] = []
        for number, claim in enumerate(claims):
            firm, further = self._needed(claim, own)
            fits = [(self._size(chosen | firm), at) for at, (chosen, _, _) in enumerate(shared)]
            size, at = min(fits, default=(budget + 1, 0), key=lambda fit: fit[0] - self._size(shared[fit[1]][0]))
            if size <= budget:
                chosen, useful, numbers = shared[at]
                shared[at] = (chosen | firm, [*useful, *further], [*numbers, number])
            else:
                shared.append((firm, further, [number]))
        return [
            (self._joined(sorted(self._filled(chosen, useful, budget)), whole=False), numbers)
            for chosen, useful, numbers in shared
        ]

    def _size(self, chosen: set[int]) -> int:
        return sum(self._passages[n].tokens for n in chosen)

    def _needed(self, claim: str, budget: int) -> tuple[set[int], list[int]]:
        """The passages that have most of a claim's words, each below its heading, and further ones that may help.

        A word counts less once a passage has it.
        """
        weight = {word: self._weight[word] for word in stems(claim) if word in self._weight}
        firm: set[int] = set()
        chosen: set[int] = set()
        further: list[int] = []
        order = self._ranked(weight)
        least = _LEAST * order[0][0] if order else 0.0
        while order:
            score, at = order.pop(0)
            new = {at, *self._passages[at].above}
            if chosen and self._size(chosen | new) > budget:
                continue
            chosen |= new
            if score >= least:
                firm |= new
            else:
                further += new
            weight = {w: v * (_AGAIN if w in self._passages[at].stems else 1.0) for w, v in weight.items()}
            left = {n for _, n in order}
            order = [(score, n) for score, n in self._ranked(weight) if n in left and n not in chosen]
        return firm, further

    def _filled(self, chosen: set[int], useful: Sequence[int], budget: int) -> set[int]:
        """Passages with what fits of the useful ones, of the rest of their tables, and of their neighbours."""
        left = budget - self._size(chosen)
        tables = {self._passages[n].table for n in chosen} - {None}
        rows = [n for n, passage in enumerate(self._passages) if passage.table in tables]
        beside = [n for at in sorted(chosen) for n in (at + 1, at - 1) if self._beside(at, n)]
        for n in (*useful, *rows, *beside):
            size = 0 if n in chosen else self._passages[n].tokens
            if 0 < size <= left:
                chosen = chosen | {n}
                left -= size
        return chosen

    def _ranked(self, weight: dict[str, float]) -> list[tuple[float, int]]:
        """Passages that have words of the claim, with the words' weight, best first; neighbours count."""
        own = [sum(weight[word] for word in passage.stems if word in weight) for passage in self._passages]
        near = [
            score + _BESIDE * max((own[n] for n in (at - 1, at + 1) if self._beside(at, n)), default=0.0)
            for at, score in enumerate(own)
        ]
        ranked = sorted(
            ((score, at) for at, score in enumerate(near) if score > 0), key=lambda entry: (-entry[0], entry[1])
        )
        return ranked or [(0.0, at) for at in range(len(near))]

    def _beside(self, one: int, other: int) -> bool:
        return 0 <= other < len(self._passages) and self._passages[one].source == self._passages[other].source

    def _joined(self, chosen: Sequence[int], whole: bool) -> Window:
        text, pieces, last = "", list[Piece](), None
        for at in chosen:
            passage = self._passages[at]
            source = self.sources[passage.source]
            if last is not None and last.source == passage.source and at - 1 in chosen:
                text += source[last.end : passage.start]
                merged = pieces.pop()
                pieces.append(Piece(merged.at, merged.source, merged.start, passage.end))
            else:
                text += _GAP if text else ""
                pieces.append(Piece(len(text), passage.source, passage.start, passage.end))
            text += source[passage.start : passage.end]
            last = passage
        return Window(text, tuple(pieces), whole)


def _cut(text: str) -> list[tuple[int, int, tuple[int, ...], int | None]]:
    """Sentences and table rows of a text: offsets, the numbers of its heading and its table's head, the table."""
    plain = as_markdown(text)
    titles = {start for start, _ in headings(plain)}
    rows = [row for row in table_rows(plain) if row.cells[0].column != (0, 0)]
    heads = {row.cells[0].column: row.start for row in rows if row.is_head}
    cut: list[tuple[int, int, tuple[int, ...], int | None]] = []
    heading: int | None = None
    number_at: dict[int, int] = {}
    for number, (start, end) in enumerate(sentence_spans(plain)):
        number_at[start] = number
        is_title = any(start <= title < end for title in titles) if text[start] == "#" else _is_title(text, start, end)
        row = next((row for row in rows if start <= row.start < end), None)
        head = number_at.get(heads.get(row.cells[0].column, -1)) if row and not row.is_head else None
        above = tuple(n for n in (None if is_title else heading, head) if n is not None)
        cut.append((start, end, above, row.cells[0].column[0] if row else None))
        if is_title:
            heading = number
    return cut


def _is_title(text: str, start: int, end: int) -> bool:
    """Whether a stretch is a short line of its own without a stop, which reads as a heading."""
    alone = (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end] == "\n")
    line = text[start:end]
    return (
        alone
        and len(line) <= 60
        and line[-1] not in ".;,|"
        and "|" not in line
        and line[0] not in "-*+•"
        and (line.isupper() or line.endswith(":") or text[end : end + 2] == "\n\n")
    )
