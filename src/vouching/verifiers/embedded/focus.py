"""The sentences that speak of a claim, and how much of the claim each of them covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vouching.verifiers.embedded.evidence import CLOSE_SENTENCES, SYNONYM_WEIGHT, SourceIndex, rarity
from vouching.verifiers.embedded.reading import Reading


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where one content word of the claim occurs in the sources."""

    position: int
    """Position of the word in the claim."""
    stem: str
    """Its stem."""
    groups: tuple[int, ...]
    """Its synonym groups."""
    weight: float
    """Its rarity."""
    exact: frozenset[int]
    """Sentences that have the word."""
    close: frozenset[int]
    """Sentences that have only a synonym."""

    def found_in(self, sentences: Sequence[int]) -> float:
        """1 if one of ``sentences`` has the word, less if only a synonym, 0 if none has either."""
        if not self.exact.isdisjoint(sentences):
            return 1.0
        return 0.0 if self.close.isdisjoint(sentences) else SYNONYM_WEIGHT


@dataclass(frozen=True, slots=True)
class Focus:
    """The part of the sources that a claim is compared with."""

    lookups: tuple[Lookup, ...]
    """One per content word of the claim."""
    sentences: tuple[int, ...]
    """Sentences to read closely, best first; empty if no word of the claim was found anywhere."""

    def coverage(self, sentences: Sequence[int], known: Mapping[int, float] | None = None) -> float:
        """Share of the claim's content, weighted by rarity, that ``sentences`` cover together; in [0, 1].

        ``known`` gives the share for words (by position in the claim) that were compared by value, not by spelling.
        """
        total = covered = 0.0
        known = known or {}
        for word in self.lookups:
            share = known.get(word.position)
            covered += word.weight * (word.found_in(sentences) if share is None else share)
            total += word.weight
        return covered / total if total else 0.0


def focus_on(claim: Reading, index: SourceIndex, within: tuple[int, int] | None = None) -> Focus:
    """Find the sentences that speak of ``claim`` (of its words inside ``within``, if given).

    The first sentence is the one that covers most; then come those that add most to it, then the next best ones.
    """
    start, end = within or (0, len(claim.text))
    lookups: list[Lookup] = []
    seen: set[str] = set()
    scores: dict[int, float] = {}
    for position in claim.content(start, end):
        word = claim.words[position]
        groups = claim.meanings[position]
        exact, close = index.having(word.stem, groups)
        lookup = Lookup(position, word.stem, groups, rarity(word.stem), frozenset(exact), frozenset(close))
        lookups.append(lookup)
        if word.stem in seen:
            continue
        seen.add(word.stem)
        for sentence in exact:
            scores[sentence] = scores.get(sentence, 0.0) + lookup.weight
        for sentence in close:
            scores[sentence] = scores.get(sentence, 0.0) + lookup.weight * SYNONYM_WEIGHT
    ranked = sorted(scores, key=lambda s: (-scores[s], s))[: 4 * CLOSE_SENTENCES]
    return Focus(tuple(lookups), _complementary(lookups, ranked))


def _complementary(lookups: Sequence[Lookup], ranked: Sequence[int]) -> tuple[int, ...]:
    """The best sentence, then up to two that cover most of what is still missing, then the rest by rank."""
    if not ranked:
        return ()
    chosen = [ranked[0]]
    for _ in range(2):
        missing = [word for word in lookups if not word.found_in(chosen)]
        gains = {s: sum(w.weight * w.found_in([s]) for w in missing) for s in ranked if s not in chosen}
        if not gains or max(gains.values()) <= 0:
            break
        chosen.append(max(gains, key=lambda s: (gains[s], -ranked.index(s))))
    rest = [s for s in ranked if s not in chosen]
    return (*chosen, *rest[: max(0, CLOSE_SENTENCES - len(chosen))])
