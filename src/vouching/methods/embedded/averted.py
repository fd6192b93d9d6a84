"""Events that almost happened: "the boat nearly sank", "was all but abandoned", "came close to failing".

What nearly happened did not happen. Not supported: events that another verb prevents ("saved from drowning"), and
claims that deny such an event, which are compared as denials.
"""

from __future__ import annotations

from collections.abc import Iterator

from vouching.methods.embedded.findings import Finding
from vouching.methods.embedded.modality import AVERTED
from vouching.methods.embedded.scene import SAME_TOPIC, Scene
from vouching.reading.parsed import ParsedSentence
from vouching.text.cues import QUALIFIERS, is_negated

_NO_EVENTS = frozenset("none nothing nobody half identical equal twice double certain impossible".split())


def averted(scene: Scene) -> Iterator[Finding]:
    """The events of the claim that the best sentence says almost happened, or the reverse."""
    if scene.home is None or max(scene.topic, scene.home_coverage) < SAME_TOPIC:
        return
    reading = scene.index.read(scene.home)
    theirs, ours = _averted(reading), _averted(scene.claim)
    for at in sorted(theirs.keys() ^ ours.keys()):
        places, its = scene.claim.positions.get(at, ()), reading.positions.get(at, ())
        if not places or not its or (at not in ours and len(its) > 1):
            continue
        start, end = scene.claim.span(places[0])
        first, last = reading.span(its[0])
        if not is_negated(start, scene.claim.negations) and not _is_told_elsewhere(scene, at):
            yield Finding(start, end, "negated", scene.home, theirs.get(at, first), last)


def _averted(reading: ParsedSentence) -> dict[str, int]:
    """The stems of what almost happened, each with the offset of the words that say so."""
    found: dict[str, int] = {}
    values = [(value.hedge_start or value.start, value.end) for value in (*reading.quantities, *reading.dates)]
    for match in AVERTED.finditer(reading.text):
        word = next((w for w in reading.words if w.start >= match.end()), None)
        if word is None or not word.is_content or any(start < word.end and word.start < end for start, end in values):
            continue
        if word.lower not in QUALIFIERS and word.lower not in _NO_EVENTS and not word.lower.endswith("ly"):
            found[word.stem] = match.start()
    return found


def _is_told_elsewhere(scene: Scene, stem: str) -> bool:
    """Whether another of the best sentences tells the event and covers as much of the claim."""
    return any(
        sentence != scene.home and stem in reading.positions and coverage >= scene.home_coverage
        for sentence, reading, coverage in scene.readings()
    )
