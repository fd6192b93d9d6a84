"""Put what is found out about a stretch of a claim in place of the comparisons of its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from vouching.methods.embedded.parts import Part
from vouching.methods.embedded.scene import Comparison, Outcome, Scene


@dataclass(frozen=True, slots=True)
class Finding:
    """A stretch of the claim with its outcome and its counterpart in the sources."""

    start: int
    end: int
    outcome: Outcome
    sentence: int
    other_start: int
    other_end: int
    """Where the counterpart is in the sentence; both 0 if there is none."""


def with_findings(scene: Scene, comparisons: Iterable[Comparison], findings: Iterable[Finding]) -> Iterator[Comparison]:
    """The comparisons, with findings in place of those of their words."""
    for found in findings:
        comparisons = _with_one(scene, comparisons, found)
    yield from comparisons


def _with_one(scene: Scene, comparisons: Iterable[Comparison], found: Finding) -> Iterator[Comparison]:
    shown = False
    for comparison in comparisons:
        part = comparison.part
        if not (found.start < part.value_end and part.value_start < found.end):
            yield comparison
            continue
        words = part.words if part.kind == "predicate" else ()
        yield from _piece(scene, comparison, [at for at in words if scene.claim.words[at].end <= found.start])
        if not shown:
            yield _comparison(found, replace(part, start=part.value_start, words=()) if part.kind == "entity" else None)
        shown = True
        yield from _piece(scene, comparison, [at for at in words if scene.claim.words[at].start >= found.end])
    if not shown:
        yield _comparison(found)


def _comparison(found: Finding, part: Part | None = None) -> Comparison:
    part = part or Part("predicate", found.start, found.end, found.start, found.end, None, ())
    start, end = found.other_start, found.other_end
    return Comparison(part, found.outcome, found.sentence, start, end, start, end)


def _piece(scene: Scene, comparison: Comparison, words: Sequence[int]) -> Iterator[Comparison]:
    """The comparison of some words of a predicate."""
    if words:
        start, end = scene.claim.words[words[0]].start, scene.claim.words[words[-1]].end
        yield replace(comparison, part=Part("predicate", start, end, start, end, None, tuple(words)))
