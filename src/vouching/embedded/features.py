"""Compare each sentence of a claim with the sources, part by part, and compute the features of the score model.

The sentence that covers most of the claim is its home; a difference counts only if the home sentence is on the same
topic. A claim of several sentences is measured sentence by sentence, and the weakest one counts besides the mean. Not
supported: coreference beyond a name occurring anywhere in the sources, and inference over several sentences. No feature
uses the label, the data set or the length of the source alone.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rapidfuzz.distance import LCSseq

from vouching.embedded.compare_names import compare_name
from vouching.embedded.compare_values import compare_date, compare_quantity
from vouching.embedded.compare_words import compare_counted, compare_predicate, compare_qualifier
from vouching.embedded.exclusions import with_exclusions
from vouching.embedded.parts import Part
from vouching.embedded.scene import Comparison, Focus, Outcome, Scene, focus_on, opposition
from vouching.reading.evidence import SYNONYM_WEIGHT, SourceIndex
from vouching.reading.parsed import ParsedSentence, read
from vouching.text.cues import Qualifier
from vouching.text.entities import Entity
from vouching.text.mentions import DateMention, Quantity
from vouching.text.sentences import sentence_spans


def compare_parts(scene: Scene) -> Iterator[Comparison]:
    """Compare every part of the claim, in order.

    A sentence that has the claim word for word agrees with all of it.
    """
    if (same := _same_words(scene)) is not None:
        yield from same
        return
    for comparison in _compare(scene):
        opposite = _opposition(scene, comparison)
        yield comparison if opposite is None else replace(comparison, outcome=opposite)


def _same_words(scene: Scene) -> list[Comparison] | None:
    """All parts as equal to a sentence that has the words of the claim in order and no others; None without one."""
    if scene.home is None:
        return None
    ours, theirs = scene.claim.words, scene.index.read(scene.home).words
    if [word.lower for word in ours] != [word.lower for word in theirs]:
        return None
    starts = [word.start for word in ours]

    def place(offset: int) -> int:
        at = max(0, bisect_right(starts, offset) - 1)
        return max(0, offset - ours[at].start + theirs[at].start)

    return [
        Comparison(
            part,
            "equal",
            scene.home,
            place(part.start),
            place(part.end),
            place(part.value_start),
            place(part.value_end),
        )
        for part in scene.parts
    ]


def _opposition(scene: Scene, comparison: Comparison) -> Outcome | None:
    """The outcome that opposite prepositions before the same value or name in claim and source imply, or None."""
    if comparison.part.kind == "predicate" or comparison.outcome != "equal" or comparison.sentence is None:
        return None
    source = scene.index.read(comparison.sentence)
    return opposition(scene.claim, comparison.part.value_start, source, comparison.value_start)


def _compare(scene: Scene) -> Iterator[Comparison]:
    for whole in scene.parts:
        part = whole
        if part.kind == "predicate":
            yield from compare_predicate(scene, part)
            continue
        if part.kind in ("date", "entity") and part.words:
            # The word before a value ("rejected by the Senate") is shown with it only if the source has it too.
            heads = [c for c in compare_predicate(scene, _head(scene, part)) if c.outcome != "equal"]
            yield from heads
            part = replace(part, start=part.value_start) if heads else part
        counted = list(compare_counted(scene, part)) if part.kind == "quantity" else []
        yield _compare_value(scene, replace(part, end=part.value_end) if counted else part)
        yield from counted


def _head(scene: Scene, part: Part) -> Part:
    """The words before a value ("founded in") as a predicate."""
    first, last = scene.claim.words[part.words[0]], scene.claim.words[part.words[-1]]
    return Part("predicate", first.start, last.end, first.start, last.end, None, part.words)


def _compare_value(scene: Scene, part: Part) -> Comparison:
    if scene.home is None or part.value is None:
        return Comparison(part, "absent")
    if isinstance(part.value, Quantity):
        return compare_quantity(scene, part, part.value)
    if isinstance(part.value, Entity):
        return compare_name(scene, part, part.value)
    if isinstance(part.value, Qualifier):
        return compare_qualifier(scene, part, part.value)
    return compare_date(scene, part, part.value)


@dataclass(frozen=True, slots=True)
class Segment:
    """One sentence of a claim with its comparisons. Offsets are relative to ``reading.text``."""

    reading: ParsedSentence
    focus: Focus
    """Where the sources mention it."""
    comparisons: tuple[Comparison, ...]


def compare_claim(text: str, index: SourceIndex) -> list[Segment]:
    """Read ``text`` and compare each of its sentences with the sources."""
    segments: list[Segment] = []
    for start, end in sentence_spans(text):
        reading = read(text[start:end], start)
        focus = focus_on(reading, index)
        comparisons = [*compare_parts(Scene(reading, index, focus))]
        segments.append(Segment(reading, focus, with_exclusions(reading, comparisons, index)))
    return segments


def comparisons_of(segments: Sequence[Segment]) -> list[Comparison]:
    """The comparisons of all parts of a claim, in order."""
    return [comparison for segment in segments for comparison in segment.comparisons]


def measure(segments: Sequence[Segment], index: SourceIndex) -> dict[str, float]:
    """Features of a claim, by name: shares as the mean over its sentences (and the weakest), counts as totals."""
    known_values = [_known_values(segment) for segment in segments]
    shares = [_shares(segment, index, known) for segment, known in zip(segments, known_values, strict=True)]
    features: dict[str, float] = {}
    for name in shares[0]:
        values = [row[name] for row in shares]
        features[name] = sum(values) / len(values)
        if name in _WEAKEST:
            features[f"{name}_weakest"] = min(values)
    words = {w.lower for segment in segments for w in segment.reading.words}
    features["word_overlap"] = len(words & index.vocabulary) / max(1, len(words))
    missing = [
        weight for segment, known in zip(segments, known_values, strict=True) for weight in _missing(segment, known)
    ]
    features["found_words"] = math.log1p(sum(len(segment.focus.lookups) for segment in segments) - len(missing))
    features["missing_words"] = math.log1p(len(missing))
    features["rarest_missing"] = max(missing, default=0.0)
    comparisons = comparisons_of(segments)
    by_kind = Counter((c.part.kind, c.outcome) for c in comparisons)
    for kind in _KINDS:
        for outcome in ("equal", "differs", "absent") if kind != "predicate" else ("equal",):
            features[f"{kind}_{outcome}"] = math.log1p(by_kind[kind, outcome])
    by_outcome = Counter(_PLAIN_OUTCOME.get(c.outcome, c.outcome) for c in comparisons)
    for outcome in ("opposite", "negated", "overstated", "unhedged"):
        features[outcome] = math.log1p(by_outcome[outcome])
    return features


_WEAKEST = frozenset({"coverage", "home_coverage", "resolved"})
_CREDIT = {"equal": 1.0, "elsewhere": 0.5, "unhedged": 0.5}
_PLAIN_OUTCOME = {"reordered": "opposite"}
_KINDS = ("quantity", "date", "entity", "predicate")


def _shares(segment: Segment, index: SourceIndex, known: Mapping[int, float]) -> dict[str, float]:
    """Features in [0, 1] of one sentence: how much of it the sources have."""
    focus, home = segment.focus, segment.focus.sentences[:1]
    return {
        "stem_coverage": sum(1.0 for w in focus.lookups if w.exact) / max(1, len(focus.lookups)),
        "coverage": _coverage_anywhere(focus, known),
        "home_coverage": focus.coverage(home, known),
        "neighbour_coverage": focus.coverage([h + d for h in home for d in (-1, 0, 1)], known),
        "top3_coverage": focus.coverage(focus.sentences[:3], known),
        "resolved": _resolved(segment),
        "pairs": _pairs_kept(segment, index),
        "order": _order_kept(segment, index),
    }


def _missing(segment: Segment, known: Mapping[int, float]) -> list[float]:
    return [w.weight for w in segment.focus.lookups if not known.get(w.position) and not w.exact and not w.close]


def _coverage_anywhere(focus: Focus, known: Mapping[int, float]) -> float:
    found = {w.position: 1.0 if w.exact else SYNONYM_WEIGHT if w.close else 0.0 for w in focus.lookups}
    return focus.coverage((), {**found, **known})


def _known_values(segment: Segment) -> dict[int, float]:
    """Credit, by position in the claim, of the words inside quantities and dates, which are compared by value."""
    known: dict[int, float] = {}
    for comparison in segment.comparisons:
        if comparison.part.kind in ("quantity", "date"):
            part = comparison.part
            hedges = part.value.hedges if isinstance(part.value, (Quantity, DateMention)) else ()
            for start, end in ((part.value_start, part.value_end), *hedges):
                for position in segment.reading.content(start, end):
                    known[position] = _CREDIT.get(comparison.outcome, 0.0)
    return known


def _resolved(segment: Segment) -> float:
    """Share of the claim's content, weighted by rarity, in parts that the source confirms."""
    credit: dict[int, float] = {}
    for comparison in segment.comparisons:
        part = comparison.part
        for position in segment.reading.content(part.value_start, part.value_end):
            credit[position] = _CREDIT.get(comparison.outcome, 0.0)
    return segment.focus.coverage(segment.focus.sentences, credit)


def _pairs_kept(segment: Segment, index: SourceIndex) -> float:
    """Share of neighbouring content words of the claim that are also near each other in a focused sentence."""
    positions = [w.position for w in segment.focus.lookups]
    pairs = list(zip(segment.focus.lookups, segment.focus.lookups[1:], strict=False))
    if not pairs:
        return segment.focus.coverage(segment.focus.sentences[:1]) if positions else 0.0
    kept = 0
    readings = [index.read(s) for s in segment.focus.sentences[:3]]
    for left, right in pairs:
        kept += any(
            abs(a - b) <= 3
            for reading in readings
            for a in reading.positions.get(left.stem, ())
            for b in reading.positions.get(right.stem, ())
        )
    return kept / len(pairs)


def _order_kept(segment: Segment, index: SourceIndex) -> float:
    """Longest common subsequence of stems with the home sentence, as a share of the claim's words."""
    if not segment.focus.sentences or not segment.reading.words:
        return 0.0
    ours = [w.stem for w in segment.reading.words]
    theirs = [w.stem for w in index.read(segment.focus.sentences[0]).words]
    return LCSseq.similarity(ours, theirs) / len(ours)
