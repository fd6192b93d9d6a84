"""Each part of a claim held against the sources, by the comparator of its kind.

The comparison is made in the sentences that speak of the claim; the one that covers most of it is its home. A
difference counts only if the home sentence speaks of the same thing. Left out: coreference beyond a name occurring
anywhere in the sources, and inference over several sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from vouching.methods.embedded.compare_names import compare_name
from vouching.methods.embedded.compare_values import compare_date, compare_quantity
from vouching.methods.embedded.compare_words import compare_counted, compare_predicate, compare_qualifier
from vouching.methods.embedded.parts import Part
from vouching.methods.embedded.scene import Comparison, Outcome, Scene, opposition
from vouching.text.cues import Qualifier
from vouching.text.entities import Entity
from vouching.text.mentions import Quantity


def compare_parts(scene: Scene) -> Iterator[Comparison]:
    """Compare every part of the claim, in its order.

    >>> from vouching.types import Source
    >>> from vouching.methods.embedded.evidence import index_sources
    >>> from vouching.methods.embedded.scene import focus_on
    >>> from vouching.methods.embedded.reading import read
    >>> claim, index = read("It had 12 seats"), index_sources([Source("It had 8 seats.")])
    >>> [c.outcome for c in compare_parts(Scene(claim, index, focus_on(claim, index)))]
    ['differs']
    """
    for comparison in _compare(scene):
        opposite = _opposition(scene, comparison)
        yield comparison if opposite is None else replace(comparison, outcome=opposite)


def _opposition(scene: Scene, comparison: Comparison) -> Outcome | None:
    """What opposite prepositions before the same value or name in claim and source make of it; None without."""
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
            # The word a value hangs on ("rejected by the Senate") is shown with it only if the source has it too.
            heads = [c for c in compare_predicate(scene, _head(scene, part)) if c.outcome != "equal"]
            yield from heads
            part = replace(part, start=part.value_start) if heads else part
        counted = list(compare_counted(scene, part)) if part.kind == "quantity" else []
        yield _compare_value(scene, replace(part, end=part.value_end) if counted else part)
        yield from counted


def _head(scene: Scene, part: Part) -> Part:
    """The words that a value hangs on, as a predicate of their own."""
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
