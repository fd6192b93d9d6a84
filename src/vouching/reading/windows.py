"""What of the sources is read with a claim: all where it fits, else the passages that share the claim's words.

A window is made of whole sentences and table rows in the order of the sources, each below its heading and the head of
its table, with an empty line where text is omitted. Every character of it but those lines has its place in a source.
Not supported: choosing passages by meaning.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
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
_CANDIDATES = 100
"""Passages that are ranked again after each choice."""
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
        before: the passages of the sources before these, which are not cut again.
    """

    def __init__(
        self,
        sources: Sequence[str],
        count: Callable[[Sequence[str]], Sequence[int]],
        before: Passages | None = None,
    ) -> None:
        self.sources = (*(before.sources if before else ()), *sources)
        known = before._passages if before else list[_Passage]()
        cut = [
            (number, *entry)
            for number, text in enumerate(sources, len(self.sources) - len(sources))
            for entry in _cut(text)
        ]
        tokens = count([self.sources[number][start:end] for number, start, end, *_ in cut])
        first = {number: at for at, (number, *_) in reversed([*enumerate(cut, len(known))])}
        self._passages = known + [
            _Passage(
                number,
                start,
                end,
                size + 1,
                stems(self.sources[number][start:end]),
                tuple(first[number] + n for n in above),
                None if table is None else (number, table),
            )
            for (number, start, end, above, table), size in zip(cut, tokens, strict=True)
        ]
        self._having: dict[str, list[int]] = {}
        for at, passage in enumerate(self._passages):
            for word in passage.stems:
                self._having.setdefault(word, []).append(at)
        total = len(self._passages)
        self._weight = {
            word: math.log(1 + (total - len(at) + 0.5) / (len(at) + 0.5)) for word, at in self._having.items()
        }
        self.tokens = sum(passage.tokens for passage in self._passages)
        self._stretches_of: dict[int, list[set[int]]] = {}

    def windows(self, claims: Sequence[str], budget: int, own: int) -> list[tuple[Window, list[int]]]:
        """Windows of at most about ``budget`` tokens, each with the numbers of the claims that are read with it.

        Where the sources do not fit, each claim names the passages that it needs, of up to ``own`` tokens. It is read
        with the first stretch of the sources that has them all, else with these passages and what may help. So its
        window does not depend on the other claims, and claims share windows.

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
        if budget not in self._stretches_of:
            self._stretches_of[budget] = [*self._stretches(budget)]
        read_with: dict[tuple[int, ...], list[int]] = {}
        for number, claim in enumerate(claims):
            firm, further = self._needed(claim, own)
            chosen = next((stretch for stretch in self._stretches_of[budget] if firm <= stretch), None)
            chosen = chosen or self._filled(firm, further, budget)
            read_with.setdefault(tuple(sorted(chosen)), []).append(number)
        return [(self._joined(chosen, whole=False), numbers) for chosen, numbers in read_with.items()]

    def _stretches(self, budget: int) -> Iterator[set[int]]:
        """The sources in stretches of neighbours, each below its heading, that overlap by half."""
        first, total = 0, len(self._passages)
        while first < total:
            chosen = set(self._passages[first].above)
            after, size = first, self._size(chosen)
            while after < total and (after == first or size + self._passages[after].tokens <= budget):
                chosen.add(after)
                size += self._passages[after].tokens
                after += 1
            yield chosen
            if after == total:
                return
            first += max(1, (after - first) // 2)

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
        having = {at for word in weight for at in self._having[word]}
        beside = {n for at in having for n in (at - 1, at + 1) if self._beside(at, n)}
        near = {at: [n for n in (at - 1, at + 1) if self._beside(at, n)] for at in having | beside}
        words = {
            at: [word for word in self._passages[at].stems if word in weight] for at in {*near}.union(*near.values())
        }
        order = _ranked(weight, near, words)[:_CANDIDATES]
        order = order or [(0.0, at) for at in range(min(_CANDIDATES, len(self._passages)))]
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
            order = _ranked(weight, {n: near[n] for _, n in order if n in near and n not in chosen}, words)
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


def _ranked(
    weight: Mapping[str, float], near: Mapping[int, Sequence[int]], words: Mapping[int, Sequence[str]]
) -> list[tuple[float, int]]:
    """Passages by the weight of their words, best first; the words of those that are ``near`` count a little."""
    own = {at: sum(map(weight.__getitem__, words[at])) for at in {*near}.union(*near.values())}
    scores = [(own[at] + _BESIDE * max(map(own.__getitem__, beside), default=0.0), at) for at, beside in near.items()]
    return sorted((entry for entry in scores if entry[0] > 0), key=lambda entry: (-entry[0], entry[1]))


def _cut(text: str) -> list[tuple[int, int, tuple[int, ...], int | None]]:
    """Sentences and table rows of a text: offsets, the numbers of its heading and its table's head, the table."""
    plain = as_markdown(text)
    titles = sorted(start for start, _ in headings(plain))
    rows = sorted((row for row in table_rows(plain) if row.cells[0].column != (0, 0)), key=lambda row: row.start)
    row_starts = [row.start for row in rows]
    heads = {row.cells[0].column: row.start for row in rows if row.is_head}
    cut: list[tuple[int, int, tuple[int, ...], int | None]] = []
    heading: int | None = None
    number_at: dict[int, int] = {}
    for number, (start, end) in enumerate(sentence_spans(plain)):
        number_at[start] = number
        is_title = _first_in(titles, start, end) >= 0 if text[start] == "#" else _is_title(text, start, end)
        at = _first_in(row_starts, start, end)
        row = rows[at] if at >= 0 else None
        head = number_at.get(heads.get(row.cells[0].column, -1)) if row and not row.is_head else None
        above = tuple(n for n in (None if is_title else heading, head) if n is not None)
        cut.append((start, end, above, row.cells[0].column[0] if row else None))
        if is_title:
            heading = number
    return cut


def _first_in(places: Sequence[int], start: int, end: int) -> int:
    """The position of the first of sorted places in a stretch; -1 if there is none."""
    at = bisect_left(places, start)
    return at if at < len(places) and places[at] < end else -1


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
