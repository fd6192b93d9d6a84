"""Values of a claim that follow from values of the sources in one computation; see :mod:`vouching.reading.facts`.

A cell of a table follows from no others, unless its row says that it is a total or the like.
"""

from __future__ import annotations

import re

from vouching.embedded.parts import Part
from vouching.embedded.scene import Comparison, Scene
from vouching.reading.amounts import close

_COMPUTES = re.compile(r"\b(?:total|sum|overall|combined|together|difference|change|average|mean)\b", re.IGNORECASE)


def derived(scene: Scene, part: Part) -> Comparison | None:
    """The first operand of a computation that gives a claimed value, with the computation; None if none does."""
    if scene.claim.text.lstrip().startswith("|") and not _COMPUTES.search(scene.claim.text):
        return None
    values, facts, starts = scene.derivations
    stated = next((v for v in values if v.start < part.value_end and part.value_start < v.end), None)
    if stated is None or stated.bound != "exact":
        return None
    for fact in facts:
        if not any(kind == stated.kind and close(stated, amount) for kind, amount in fact.results):
            continue
        start, end = fact.operands[0]
        source = max(number for number, first in enumerate(starts) if first <= start)
        sentence = scene.index.at(source, start - starts[source])
        if sentence is not None:
            offset = starts[source] + scene.index.sentences[sentence].start
            place = (start - offset, end - offset)
            return Comparison(part, "equal", sentence, *place, *place, fact.text)
    return None
