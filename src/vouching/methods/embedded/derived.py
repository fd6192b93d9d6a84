"""Values of a claim that follow from values of the sources in one computation; see :mod:`vouching.reading.facts`."""

from __future__ import annotations

from vouching.methods.embedded.parts import Part
from vouching.methods.embedded.scene import Comparison, Scene
from vouching.reading.amounts import close
from vouching.reading.facts import computed_facts
from vouching.reading.values import values_in

_MOST_FACTS, _CHARACTERS = 8, 1_000
"""Facts that are looked at, and their length together."""


def derived(scene: Scene, part: Part) -> Comparison | None:
    """The first operand of a computation that gives a claimed value, with the computation; None if none does."""
    stated = next(
        (v for v in values_in(scene.claim.text) if v.start < part.value_end and part.value_start < v.end), None
    )
    known = scene.index.values if stated and stated.bound == "exact" else None
    if stated is None or known is None:
        return None
    values, starts = known
    for fact in computed_facts(scene.claim.text, values, _MOST_FACTS, _CHARACTERS):
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
