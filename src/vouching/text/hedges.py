"""Words that soften or bound a number: "about 500", "more than 5", "10 or more".

Left out: hedges that stand further away ("by some accounts, 500") and those that qualify the whole sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Bound = Literal["exact", "at_least", "more_than", "at_most", "less_than"]
"""On which side of the written number the meant number may lie."""

_BEFORE: dict[str, Bound | Literal["about"]] = {
    **dict.fromkeys(("about", "around", "approximately", "approx", "approx.", "roughly", "nearly", "almost"), "about"),
    **dict.fromkeys(("some", "circa", "c.", "ca.", "ca", "estimated", "an estimated", "close to", "~", "≈"), "about"),
    **dict.fromkeys(("more than", "over", "above", "greater than", "exceeding", "upwards of", ">"), "more_than"),
    **dict.fromkeys(("in excess of", "larger than", "higher than", "longer than"), "more_than"),
    **dict.fromkeys(
        ("at least", "no fewer than", "no less than", "not less than", "a minimum of", "≥", ">="), "at_least"
    ),
    **dict.fromkeys(("at most", "up to", "no more than", "not more than", "a maximum of", "as many as"), "at_most"),
    **dict.fromkeys(("as much as", "≤", "<="), "at_most"),
    **dict.fromkeys(("less than", "fewer than", "under", "below", "smaller than", "lower than", "<"), "less_than"),
}
_LONGEST_FIRST = "|".join(re.escape(phrase) for phrase in sorted(_BEFORE, key=len, reverse=True))
_LAST_BEFORE = re.compile(rf"(?<![^\W_])(?P<phrase>{_LONGEST_FIRST})[ \u00a0]?\Z", re.IGNORECASE)
_REACH = max(map(len, _BEFORE)) + 1
_ENDINGS = frozenset(phrase[-1] for phrase in _BEFORE)
_AFTER = re.compile(
    r"(?P<about>-?ish\b| or so\b| approximately\b)|(?P<at_least>\+| or (?:more|greater|over|above)\b| and above\b)"
    r"|(?P<at_most> or (?:less|fewer|under|below)\b)"
)


@dataclass(frozen=True, slots=True)
class Hedge:
    """What surrounds a number and loosens it."""

    start: int
    """Offset where the softening or bounding words begin; the number's own start if there are none."""
    approximate: bool
    """True if a word says that the number is not exact."""
    bound: Bound
    """The side on which the meant number lies."""


def read_hedge(text: str, start: int, end: int) -> Hedge:
    """Read the hedges and bounds around the number at ``start..end``.

    >>> read_hedge("more than about 500 men", 16, 19)
    Hedge(start=0, approximate=True, bound='more_than')
    """
    first, approximate, bound = start, False, "exact"
    while found := _phrase_before(text, first):
        meaning = _BEFORE[found.group("phrase").lower()]
        if meaning == "about":
            approximate = True
        else:
            bound = meaning
        first = found.start()
    after = _AFTER.match(text, end)
    if after and after.lastgroup == "about":
        approximate = True
    elif after and bound == "exact":
        bound = "at_least" if after.lastgroup == "at_least" else "at_most"
    return Hedge(first, approximate, bound)


def _phrase_before(text: str, start: int) -> re.Match[str] | None:
    # Most numbers have no hedge: one look at the last letter saves the search.
    last = text[max(0, start - 2) : start].rstrip(" \u00a0")[-1:].lower()
    return _LAST_BEFORE.search(text, max(0, start - _REACH), start) if last in _ENDINGS else None
