"""Differences that decide on their own, whatever the rest of the claim looks like.

A sum of features lets a long, well-covered claim drown one wrong number, or a name that the sources do not have. So
each kind of difference below puts a ceiling on the score: the share of training claims with such a difference that
were Attributable after all. People label an overstating qualifier either way; its ceiling follows SEVA's taxonomy
instead, which counts an added intensifier as an error (Fig. 4, case F3). A claim copied word for word gets a floor in
the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from vouching.text.qualifiers import Qualifier
from vouching.verifiers.embedded.evidence import SourceIndex
from vouching.verifiers.embedded.features import Segment
from vouching.verifiers.embedded.scene import Comparison

Decisive = Literal[
    "quantity_differs", "quantity_absent", "date_differs", "date_absent", "entity_differs", "entity_absent",
    "opposite", "negated", "unhedged", "overstated",
]  # fmt: skip
_FITTED: dict[tuple[str, str], Decisive] = {
    ("quantity", "differs"): "quantity_differs",
    ("quantity", "absent"): "quantity_absent",
    ("date", "differs"): "date_differs",
    ("date", "absent"): "date_absent",
    ("entity", "differs"): "entity_differs",
    ("predicate", "differs"): "entity_differs",
    ("entity", "absent"): "entity_absent",
}
FITTED_KINDS: tuple[Decisive, ...] = (*dict.fromkeys(_FITTED.values()), "opposite", "negated", "unhedged")
"""Kinds whose ceiling is fitted."""

OVERSTATED_CEILING = 0.48
"""Set by the taxonomy, not fitted."""
_INTENSIFIER_STRENGTH = 0.8
_FEWEST_WORDS = 4
_ABSOLUTES = ("all", "every", "everyone", "everybody", "always")


def decisive(comparisons: Sequence[Comparison]) -> Iterator[Decisive]:
    """Kinds of decisive difference among ``comparisons``."""
    for comparison in comparisons:
        kind = _FITTED.get((comparison.part.kind, comparison.outcome))
        if kind is not None:
            yield kind
        elif comparison.outcome == "reordered":
            yield "opposite"
        elif comparison.outcome in ("opposite", "negated", "unhedged"):
            yield comparison.outcome
        elif comparison.outcome == "overstated" and _is_intensifier(comparison):
            yield "overstated"


def _is_intensifier(comparison: Comparison) -> bool:
    value = comparison.part.value
    if not isinstance(value, Qualifier):
        return False
    if comparison.value_end:  # the source has a weaker one in its place
        return True
    return value.word in _ABSOLUTES or (value.scale == "degree" and value.strength >= _INTENSIFIER_STRENGTH)


def is_verbatim(segments: Sequence[Segment], index: SourceIndex) -> bool:
    """True if every sentence of the claim is a whole sentence of the sources, word for word."""
    return all(
        len(segment.reading.words) >= _FEWEST_WORDS
        and bool(segment.focus.sentences)
        and [w.lower for w in segment.reading.words] == [w.lower for w in index.read(segment.focus.sentences[0]).words]
        for segment in segments
    )
