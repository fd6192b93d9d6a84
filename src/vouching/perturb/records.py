"""What a perturbation is: the nouns of this layer, and the table from strategies to error types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias, get_args

from vouching.perturb.edits import Edit
from vouching.types import ErrorType, Label, Span

Strategy: TypeAlias = Literal[
    "number_change",
    "unit_change",
    "bound_change",
    "date_shift",
    "order_flip",
    "negation_added",
    "negation_removed",
    "opposite",
    "entity_swap",
    "entity_graft",
    "role_swap",
    "qualifier_strengthened",
    "hedge_dropped",
    "intensifier_added",
    "exclusivity_added",
    "fact_graft",
    "presupposition",
    "detail_added",
    "number_format",
    "number_rounded",
    "unit_converted",
    "date_format",
    "synonym",
    "qualifier_weakened",
    "time_moved",
    "voice_changed",
    "sentences_joined",
    "sentence_split",
    "detail_dropped",
]
"""How a claim is changed."""

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
"""Every strategy, in the order of the error types; the meaning-preserving ones last."""

ERROR_TYPE_OF: Mapping[Strategy, ErrorType | None] = MappingProxyType(
    {
        "number_change": "numerical_exaggeration",
        "unit_change": "numerical_exaggeration",
        "bound_change": "numerical_exaggeration",
        "date_shift": "temporal_shift",
        "order_flip": "temporal_shift",
        "negation_added": "negation_flip",
        "negation_removed": "negation_flip",
        "opposite": "negation_flip",
        "entity_swap": "entity_substitution",
        "entity_graft": "entity_substitution",
        "role_swap": "entity_substitution",
        "qualifier_strengthened": "scope_inflation",
        "hedge_dropped": "scope_inflation",
        "intensifier_added": "scope_inflation",
        "exclusivity_added": "scope_inflation",
        "fact_graft": "fabrication",
        "presupposition": "fabrication",
        "detail_added": "fabrication",
        "number_format": None,
        "number_rounded": None,
        "unit_converted": None,
        "date_format": None,
        "synonym": None,
        "qualifier_weakened": None,
        "time_moved": None,
        "voice_changed": None,
        "sentences_joined": None,
        "sentence_split": None,
        "detail_dropped": None,
    }
)
"""The error that a strategy makes; None if what it writes means the same, or less, and stays Attributable."""


class Draft(NamedTuple):
    """What a strategy proposes, before the filters."""

    edits: tuple[Edit, ...]
    """Replacements in the claim."""
    new: str = ""
    """The words that must not be borne out by the source: the new name, the grafted fact; empty if it names none."""


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A claim changed on purpose, with what was changed and what follows from it.

    >>> made = Perturbation("It opened in 1937.", "It opened in 1973.", "It opened in 1973.", (Span("1937", 13, 17),),
    ...     "date_shift")
    >>> made.label, made.error_type
    ('Not Attributable', 'temporal_shift')
    """

    claim: str
    """The changed claim."""
    original: str
    """The claim before, which the source supports."""
    source: str
    """Text that supports the original."""
    spans: tuple[Span, ...]
    """Where the claim was changed, with offsets in ``claim``; empty stretches where words were only taken out."""
    strategy: Strategy
    """How it was changed."""
    id: str = ""
    """Name: that of the row, the strategy and a number."""
    group: str = ""
    """Document, or else row, it was made from; perturbations of one group must not be split."""

    @property
    def error_type(self) -> ErrorType | None:
        """The error that was made; None if the claim stays Attributable."""
        return ERROR_TYPE_OF[self.strategy]

    @property
    def label(self) -> Label:
        """Gold label against ``source``."""
        return "Attributable" if self.error_type is None else "Not Attributable"


def to_json(made: Perturbation) -> str:
    """A perturbation as one line of JSON, which is itself a row with claim, source and label.

    >>> to_json(Perturbation("A b.", "A c.", "A c.", (Span("b", 2, 3),), "opposite", "r/opposite-1", "r"))[:62]
    '{"id": "r/opposite-1", "claim": "A b.", "source": "A c.", "lab'
    """
    record = {
        "id": made.id,
        "claim": made.claim,
        "source": made.source,
        "label": made.label,
        "error_type": made.error_type,
        "strategy": made.strategy,
        "original": made.original,
        "spans": [{"text": span.text, "start": span.start, "end": span.end} for span in made.spans],
        "group": made.group,
    }
    return json.dumps(record, ensure_ascii=False)
