"""Reads claims with the large encoder: passages of the sources, computed facts, each text once for all claims."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock

from vouching.reading.asked import Asked, Reading, TokenReading
from vouching.reading.facts import computed_facts
from vouching.reading.growing import GrowingCache
from vouching.reading.sequence import WINDOW, Tokens
from vouching.reading.text_encoder import ClaimRead, Kept, TextEncoder
from vouching.reading.values import MOST_READ, Values, kept_values, read_values
from vouching.reading.windows import Passages, Window
from vouching.types import Relation

BUDGET = WINDOW - 10
"""Tokens of the passages of a window, which are counted one by one."""
OWN = 200
"""Tokens of the passages that one claim needs, where the sources do not fit into a window."""
_KEPT_BYTES = 256_000_000
"""Memory for texts that were read."""
_KEPT_SOURCES = 64
_RELATIONS: tuple[Relation, ...] = ("supported", "contradicted", "not_found")


class LargeReader:
    """Reads with the large encoder; sources and texts that were read are kept for further claims."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder
        self._texts: OrderedDict[str, Kept] = OrderedDict()
        self._passages = GrowingCache[str, Passages](self._cut, len, _KEPT_SOURCES)
        self._lock = Lock()

    @property
    def digest(self) -> str:
        """First digits of the SHA-256 of the model."""
        return self._encoder.digest

    def fits(self, sources: Sequence[str]) -> bool:
        """Whether the sources fit into one window."""
        return self._passages.of(tuple(sources)).tokens <= BUDGET

    def read(self, sources: Sequence[str], claims: Sequence[Asked]) -> list[Reading]:
        """One reading per claim, in order."""
        passages = self._passages.of(tuple(sources))
        # Of long sources the values of a window are read.
        all_values = kept_values(sources) if sum(map(len, sources)) <= MOST_READ else None
        found: dict[int, Reading] = {}
        for window, numbers in passages.windows([claim.looked_for for claim in claims], BUDGET, OWN):
            values = all_values or read_values(window.text)
            read = self._read(window, [claims[number] for number in numbers], values)
            found |= dict(zip(numbers, read, strict=True))
        return [found[number] for number in range(len(claims))]

    def _read(self, window: Window, claims: Sequence[Asked], values: Values) -> Iterator[Reading]:
        kept = self._kept(window.text)
        facts = [computed_facts(claim.text, values) for claim in claims]
        block_of = self._encoder.tokenizer.block
        blocks = [block_of(claim.text, claim.notes(own)) for claim, own in zip(claims, facts, strict=True)]
        for claim, own, block, read in zip(claims, facts, blocks, self._encoder.read(kept, blocks), strict=True):
            relation = dict(zip(_RELATIONS, read.relation.tolist(), strict=True))
            end = int(block.ends[-1]) if block.cut else len(claim.text)
            yield Reading(relation, tuple(_tokens(block, read, kept, window)), tuple(own), window, end)

    def _cut(self, before: Passages | None, sources: Sequence[str]) -> Passages:
        return Passages(sources, self._encoder.tokenizer.count, before)

    def _kept(self, text: str) -> Kept:
        with self._lock:
            entry = self._texts.pop(text, None)
        entry = entry or self._encoder.keep(text)
        with self._lock:
            self._texts[text] = entry
            while len(self._texts) > 1 and sum(kept.size for kept in self._texts.values()) > _KEPT_BYTES:
                self._texts.popitem(last=False)
        return entry


def _tokens(block: Tokens, read: ClaimRead, kept: Kept, window: Window) -> Iterator[TokenReading]:
    for number, (start, end) in enumerate(zip(block.starts.tolist(), block.ends.tolist(), strict=True)):
        at = int(read.match[number])
        has_match = at < len(kept.tokens.starts)
        place = window.place(int(kept.tokens.starts[at]), int(kept.tokens.ends[at])) if has_match else None
        yield TokenReading(
            start, end, float(read.support[number]), *(place or (-1, 0, 0)), float(read.similarity[number])
        )
