"""The rewards that replies of each quality can earn: SEVA's Tables 1 and 14, computed by scoring extreme replies.

    python recipes/theory/levels.py

The paper's tables differ from its formula: `{}` earns -.03 or .12, not .02, since a missing confidence counts as .5 and
a missing error type is right on an Attributable claim; "all wrong" is .00 to .25, not .10 to .25; a wrong label after
perfect reasoning .60 to .85, not .55 to .70; and the maximum is below 1.28.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, TypeAlias, get_args

from vouching.methods.structured.reward import structured_reward
from vouching.methods.structured.reward_weights import PAPER, StructuredWeights, Variant
from vouching.types import NOT_FOUND, Label

_CLAIM, _SOURCE = "The bridge opened in 1937.", "The bridge opened in 1973."
_GOOD: dict[str, Any] = {
    "evidence_alignment": [
        {"claim_span": "bridge", "source_span": "bridge", "status": "match"},
        {"claim_span": "opened in 1937", "source_span": NOT_FOUND, "status": "not_found"},
    ],
    "reasoning_chain": [
        {
            "claim_part": "opened in 1937",
            "source_evidence": "opened in 1973",
            "judgment": "not_supported",
            "explanation": "The source gives another year.",
        }
    ],
}
_POOR: dict[str, Any] = {"evidence_alignment": [], "reasoning_chain": []}
_CONFIDENCES: tuple[dict[str, Any], ...] = ({"confidence": 0}, {"confidence": 1}, {})
_SILENT: dict[str, Any] = {}
_DIAGNOSED = {"error_type": "temporal_shift", "fix_suggestion": "Change 1937 to 1973."}
_OTHER: dict[Label, Label] = {"Attributable": "Not Attributable", "Not Attributable": "Attributable"}
_Scenario: TypeAlias = Literal[
    "unreadable", "no fields", "all wrong", "right, good", "wrong, good", "right, poor", "wrong, poor", "perfect"
]
PUBLISHED: Mapping[_Scenario, tuple[float, float]] = {
    "unreadable": (0.0, 0.0),
    "no fields": (0.02, 0.02),
    "all wrong": (0.10, 0.25),
    "wrong, good": (0.55, 0.70),
    "perfect": (1.00, 1.28),
}
"""Table 14."""
LANDSCAPE: Mapping[_Scenario, float] = {
    "right, good": 1.13,
    "wrong, good": 0.63,
    "right, poor": 0.28,
    "unreadable": 0.0,
}
"""Table 1, without a row for a wrong label after poor reasoning."""


@dataclass(frozen=True, slots=True)
class Level:
    """The rewards of replies of one quality."""

    name: _Scenario
    low: float
    """Minimum reward."""
    high: float
    """Maximum reward."""
    paper_low: float | None
    """The same in Table 14; None if it has no such row."""
    paper_high: float | None
    landscape: float | None
    """The value in Table 1; None if it has no such row."""


def levels(variant: Variant = "paper", weights: StructuredWeights = PAPER) -> list[Level]:
    """The exact range of every row of Tables 1 and 14, over both gold labels.

    "Good" reasoning is perfect here (R_a = R_c = 1) and "poor" is empty, with or without its fields; label, confidence
    and diagnosis take all values that a row allows. "All wrong" has all four fields and a wrong label; without a label,
    {"confidence": 1} earns -.08.

    >>> for level in levels()[:3]:
    ...     print(level.name, level.low, level.high, level.paper_low, level.paper_high)
    unreadable 0.0 0.0 0.0 0.0
    no fields -0.03 0.12 0.02 0.02
    all wrong 0.0 0.25 0.1 0.25
    """
    made: list[Level] = []
    for name in get_args(_Scenario):
        totals = [
            structured_reward(reply, gold, claim=_CLAIM, source=_SOURCE, variant=variant, weights=weights).total
            for gold in get_args(Label)
            for reply in _replies(name, gold)
        ]
        low, high = PUBLISHED.get(name, (None, None))
        made.append(Level(name, min(totals), max(totals), low, high, LANDSCAPE.get(name)))
    return made


def _replies(name: _Scenario, gold: Label) -> Iterator[str]:
    """Replies that include the lowest and the highest reward of a quality."""
    if name == "unreadable":
        yield "no JSON"
    elif name == "no fields":
        yield "{}"
    else:
        right = name == "perfect" or name.startswith("right")
        label = {"label": gold if right else _OTHER[gold]}
        for process, confidence, diagnosis in product(
            _processes(name), _CONFIDENCES, _diagnoses(gold) if name == "perfect" else (_SILENT, _DIAGNOSED)
        ):
            if confidence or name not in ("all wrong", "perfect"):
                yield json.dumps({**process, **label, **confidence, **diagnosis})


def _processes(name: _Scenario) -> tuple[dict[str, Any], ...]:
    if name == "all wrong":
        return (_POOR,)
    return (_POOR, {}) if name.endswith("poor") else (_GOOD,)


def _diagnoses(gold: Label) -> tuple[dict[str, Any], ...]:
    return (_SILENT,) if gold == "Attributable" else (_DIAGNOSED,)


def main() -> None:
    """Print the range of each quality beside that of Table 14."""
    for level in levels():
        print(f"{level.name:12} {level.low:5.2f} {level.high:5.2f}  table 14: {level.paper_low} {level.paper_high}")


if __name__ == "__main__":
    main()
