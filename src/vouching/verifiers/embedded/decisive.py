"""Differences that decide on their own, whatever the rest of the claim looks like.

A sum of features lets a long, well-covered claim drown one wrong number. So each kind of difference below puts a ceiling
on the score: the share of training claims with such a difference that were Attributable after all. People label an
overstating qualifier either way; its ceiling follows SEVA's taxonomy instead, which counts an added intensifier as an
error (Fig. 4, case F3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from vouching.text.qualifiers import Qualifier
from vouching.verifiers.embedded.comparison import Comparison

Decisive = Literal["quantity_differs", "date_differs", "entity_differs", "opposite", "negated", "overstated"]

OVERSTATED_CEILING = 0.48
"""Set by the taxonomy, not fitted."""
_INTENSIFIER_STRENGTH = 0.8
_ABSOLUTES = ("all", "every", "everyone", "everybody", "always")


def decisive(comparisons: Sequence[Comparison]) -> Iterator[Decisive]:
    """Kinds of decisive difference among ``comparisons``."""
    for comparison in comparisons:
        match comparison.outcome:
            case "differs" if comparison.part.kind == "quantity":
                yield "quantity_differs"
            case "differs" if comparison.part.kind == "date":
                yield "date_differs"
            case "differs" if comparison.part.kind == "entity":
                yield "entity_differs"
            case "opposite":
                yield "opposite"
            case "negated":
                yield "negated"
            case "overstated" if _is_intensifier(comparison):
                yield "overstated"
            case _:
                pass


def _is_intensifier(comparison: Comparison) -> bool:
    value = comparison.part.value
    if not isinstance(value, Qualifier):
        return False
    return value.word in _ABSOLUTES or (value.scale == "degree" and value.strength >= _INTENSIFIER_STRENGTH)
