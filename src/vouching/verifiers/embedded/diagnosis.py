"""What kind of error a claim makes, from what became of its parts.

Where two types fit, the one named first in ``ERROR_TYPES`` is reported: a difference that arithmetic decides (number,
date) before one that words decide (negation, then a name), a difference before an overstatement, and fabrication, which
only says that something was not found, last.
"""

from __future__ import annotations

from collections.abc import Sequence

from vouching.encoder.reading import Reading as SoftReading
from vouching.types import ERROR_TYPES, ErrorType, Relation
from vouching.verifiers.embedded.scene import Comparison

_OF_DIFFERENT: dict[str, ErrorType] = {"quantity": "numerical_exaggeration", "date": "temporal_shift"}
_DIFFERENT = frozenset({"differs", "opposite", "negated", "reordered", "replaced"})


def error_of(comparison: Comparison) -> ErrorType | None:
    """Error type of one comparison; None where the part is supported."""
    match comparison.outcome:
        case "differs":
            return _OF_DIFFERENT.get(comparison.part.kind, "entity_substitution")
        case "opposite" | "negated":
            return "negation_flip"
        case "reordered":
            return "temporal_shift"
        case "replaced":
            return "entity_substitution"
        case "overstated" | "unhedged":
            return "scope_inflation"
        case "absent":
            return "fabrication"
        case "equal" | "elsewhere" | "paraphrased":
            return None


def diagnose(comparisons: Sequence[Comparison]) -> ErrorType:
    """Error type of a Not Attributable claim by the rules alone. Fabrication if nothing more exact fits."""
    found: set[ErrorType] = {error for comparison in comparisons if (error := error_of(comparison))}
    return min(found or {"fabrication"}, key=ERROR_TYPES.index)


def relation_of(attributable: bool, comparisons: Sequence[Comparison], soft: SoftReading | None = None) -> Relation:
    """supported, contradicted if the rules or the encoder find that the source says otherwise, else not_found."""
    if attributable:
        return "supported"
    if any(c.outcome in _DIFFERENT for c in comparisons):
        return "contradicted"
    contradicted = soft is not None and soft.relation["contradicted"] > soft.relation["not_found"]
    return "contradicted" if contradicted else "not_found"
