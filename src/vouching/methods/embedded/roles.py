"""Whether a claim gives its roles to the same people and things as the sources: who did what to whom.

The arguments of the claim's verbs are compared with those of the same verb, a synonym or its converse in the sentences
that were found. Arguments that are exchanged, and another name in a role, make the claim differ, unless another
sentence has the roles as claimed. Not supported: roles that the source tells with an unrelated verb.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from vouching.methods.embedded.arguments import Argument, Frame, find_frames
from vouching.methods.embedded.findings import Finding
from vouching.methods.embedded.parts import is_name
from vouching.methods.embedded.scene import Scene
from vouching.reading.evidence import is_common
from vouching.reading.parsed import ParsedSentence
from vouching.text.cues import is_negated
from vouching.text.entities import Entity, same_entity
from vouching.text.verbs import SYMMETRIC
from vouching.text.words import antonyms, stem

_CIRCUMSTANCES = frozenset("in at on during since until after before within through as than like per".split())
"""Prepositions of time, place and manner; they do not make a role."""
_LINKING = frozenset(map(stem, ("become", "remain", "include", "contain", "comprise")))
_INDEFINITE = frozenset(
    """anyone someone everyone nobody anybody everybody others other ones one those none side sides unlikely likely
    thing anything something everything person people half part rest majority number amount""".split()
)
_CORE = frozenset(
    """agent patient giver receiver thing payer payee teacher pupil employer employee later earlier winner loser owner
    cause effect parent child deputy principal to from""".split()
)
_OBJECTS = {"thing", "receiver"}
"""Of "give" with one object, which may be either."""
_ACTING = frozenset(("agent", "giver", "payer", "employer", "owner", "winner"))
_ENOUGH, _NEARLY_ALL = 0.6, 0.75
"""Share of the claim's words that a sentence must have before another name, or another noun, in a role counts."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A frame of the claim beside one of a sentence."""

    scene: Scene
    ours: Frame
    sentence: int
    theirs: Frame

    def alike(self, role: str) -> bool | None:
        """Whether a role is filled alike; None if unknown."""
        mine, its = self.ours.roles.get(role), self.theirs.roles.get(role)
        if mine is None or its is None:
            return None
        return _alike(self.scene, mine, self.scene.index.read(self.sentence), its)

    def crosses(self, role: str, other: str) -> bool:
        """Whether the claim's argument in one role is the sentence's in another one."""
        mine, its = self.ours.roles.get(role), self.theirs.roles.get(other)
        if mine is None or its is None:
            return False
        return _is_same(self.scene, mine, self.scene.index.read(self.sentence), its)


def misplaced(scene: Scene) -> list[Finding]:
    """The arguments of the claim that the sources have in other roles, or in whose role they have another name."""
    found: list[Finding] = []
    for frame in find_frames(scene.claim.text):
        core = {role: argument for role, argument in frame.roles.items() if role not in _CIRCUMSTANCES}
        if (
            len(core) < 2
            or frame.relation in _LINKING
            or is_negated(scene.claim.words[frame.word].start, scene.claim.negations)
        ):
            continue
        pairs = list(_counterparts(scene, frame))
        agreeing = [p for p in pairs if _agrees(p, core) and not _exchanged(p, core) and not _unsaid(p, core)]
        differences = () if agreeing else (_differences(pair, core) for pair in pairs)
        found.extend(next(filter(None, differences), ()))
        found.extend(_told_conversely(pair) for pair in agreeing[:1] if _is_converse(pair, core))
    return found


def _is_converse(pair: _Pair, core: Mapping[str, Argument]) -> bool:
    """Whether two verbs tell one relation from two sides, with all roles filled alike."""
    ours, theirs = pair.scene.claim.words[pair.ours.word], pair.scene.index.read(pair.sentence).words[pair.theirs.word]
    return theirs.stem in antonyms().get(ours.stem, frozenset()) and all(pair.alike(role) for role in core)


def _told_conversely(pair: _Pair) -> Finding:
    """The verb of a claim, which is that of the source or its converse: "sold" in place of "bought"."""
    (start, end), its = (
        pair.scene.claim.span(pair.ours.word),
        pair.scene.index.read(pair.sentence).span(pair.theirs.word),
    )
    return Finding(start, end, "equal", pair.sentence, *its)


def _counterparts(scene: Scene, frame: Frame) -> Iterator[_Pair]:
    """Frames of the focused sentences with the same verb, a synonym or its converse."""
    meanings = set(scene.claim.meanings[frame.word])
    for sentence in scene.focus.sentences:
        reading = scene.index.read(sentence)
        for theirs in find_frames(reading.text):
            same = theirs.relation == frame.relation or meanings.intersection(reading.meanings[theirs.word])
            if same and not is_negated(reading.words[theirs.word].start, reading.negations):
                yield _Pair(scene, frame, sentence, theirs)


def _agrees(pair: _Pair, core: Mapping[str, Argument]) -> bool:
    """Whether at least one role is filled alike and none differently."""
    found = [pair.alike(role) for role in core]
    return True in found and False not in found


def _differences(pair: _Pair, core: Mapping[str, Argument]) -> list[Finding]:
    return _exchanged(pair, core) or _substituted(pair, core) or _unsaid(pair, core)


def _exchanged(pair: _Pair, core: Mapping[str, Argument]) -> list[Finding]:
    """Two arguments in each other's role; one is enough if a pronoun is in the other's."""
    if pair.ours.relation in SYMMETRIC:
        return []
    for one, other in permutations(core, 2):
        if one not in pair.theirs.roles or (pair.ours.relation == "give" and {one, other} == _OBJECTS):
            continue
        if not pair.crosses(one, other) or pair.alike(one):
            continue
        if pair.crosses(other, one) and not pair.alike(other):
            return [_misplaced(pair, one), _misplaced(pair, other)]
        if pair.theirs.roles[one].pronoun and not pair.alike(other):
            return [_misplaced(pair, one)]
    return []


def _substituted(pair: _Pair, core: Mapping[str, Argument]) -> list[Finding]:
    """Another name in a role, while another role is filled alike."""
    for role in core:
        if pair.alike(role) is not False:
            continue
        rest = [pair.alike(other) for other in core if other != role]
        if True not in rest or False in rest:
            continue
        ours, theirs = pair.ours.roles[role], pair.theirs.roles[role]
        reading = pair.scene.index.read(pair.sentence)
        named = _names(pair.scene.claim, ours), _names(reading, theirs)
        if all(named) and not _interchangeable(pair, *(names[0] for names in named)):
            continue
        if not all(named) and not (role in _CORE and _known(pair.scene, ours)):
            continue
        if pair.scene.topic_in([pair.sentence]) >= (_ENOUGH if all(named) else _NEARLY_ALL):
            return [_misplaced(pair, role)]
    return []


def _interchangeable(pair: _Pair, ours: Entity, theirs: Entity) -> bool:
    """Whether one name can stand for another: "the Englishman" describes, "Casey" names."""
    reading = pair.scene.index.read(pair.sentence)
    described = [_is_described(*place) for place in ((pair.scene.claim, ours), (reading, theirs))]
    return " " in ours.key or " " in theirs.key or described[0] == described[1]


def _known(scene: Scene, argument: Argument) -> bool:
    head = _head(scene.claim, argument)
    lookup = scene.lookups.get(head) if head is not None else None
    return lookup is not None and bool(lookup.exact)


def _unsaid(pair: _Pair, core: Mapping[str, Argument]) -> list[Finding]:
    """A name that does something else to the same thing in a sentence that does not say who did what is claimed."""
    reading = pair.scene.index.read(pair.sentence)
    for role, argument in core.items():
        names = [name for name in _names(pair.scene.claim, argument) if name.end >= argument.core_end]
        if role not in _ACTING:
            continue
        rest = [pair.alike(other) for other in core if other != role]
        if role in pair.theirs.roles or not pair.theirs.passive or not names or True not in rest or False in rest:
            continue
        elsewhere = (a for f in find_frames(reading.text) if f.word != pair.theirs.word for a in f.roles.values())
        if any(same_entity(names[0].text, name.text) for a in elsewhere for name in _names(reading, a)):
            return [_misplaced(pair, role)]
    return []


def _misplaced(pair: _Pair, role: str) -> Finding:
    mine, its = pair.ours.roles[role], pair.theirs.roles.get(role)
    claim, reading = pair.scene.claim, pair.scene.index.read(pair.sentence)
    start, end = _shown(claim, mine)
    return Finding(
        start, end, "differs" if its else "absent", pair.sentence, *(_shown(reading, its) if its else (0, 0))
    )


def _shown(reading: ParsedSentence, argument: Argument) -> tuple[int, int]:
    """The name of an argument or, without a name, its core without the article."""
    names = _names(reading, argument)
    if names:
        return names[0].start, names[0].end
    words = [reading.words[at] for at in argument.words]
    first = words[1] if len(words) > 1 and words[0].lower in ("the", "a", "an") else words[0]
    return first.start, max(argument.core_end, first.end)


def _alike(scene: Scene, mine: Argument, reading: ParsedSentence, its: Argument) -> bool | None:
    """Whether two arguments of one role can be the same; None if unknown."""
    if mine.pronoun or its.pronoun:
        return None
    claim = scene.claim
    ours, theirs = _names(claim, mine), _names(reading, its)
    places = (*its.words, *its.described)
    around = [*theirs, *_within(reading, its.described)]
    if any(same_entity(one.text, other.text) for one in (*ours, *_within(claim, mine.described)) for other in around):
        return True
    stems = {reading.words[at].stem for at in places}
    own = [name for name in ours if name.end >= mine.core_end]
    if own:
        words = {stem(word) for word in own[0].key.split()}
        shared = words & stems
        return None if shared and shared != words else bool(shared) if shared or theirs else None
    head = _head(claim, mine)
    if head is None:
        return None
    if claim.words[head].stem in stems:
        return None if _counts_differ(claim, mine, reading, its) else True
    wider = (*mine.words, *mine.described)
    if {claim.words[at].stem for at in wider if claim.words[at].is_content} & _head_stem(reading, its):
        return True
    meanings = set(claim.meanings[head])
    if any(meanings.intersection(reading.meanings[at]) for at in places):
        return True
    # A capitalised word may be a name, which a description can stand for ("YouTube", "the website").
    bare = claim.text[mine.start].isupper() and len(mine.words) == 1
    return None if bare or theirs or _head(reading, its) is None else False


def _is_same(scene: Scene, mine: Argument, reading: ParsedSentence, its: Argument) -> bool:
    """Whether two arguments of different roles are the same: their first names, or their heads without names."""
    if mine.pronoun or its.pronoun:
        return False
    ours, theirs = _names(scene.claim, mine), _names(reading, its)
    if ours and theirs:
        return same_entity(ours[0].text, theirs[0].text)
    head = _head(scene.claim, mine)
    return head is not None and {scene.claim.words[head].stem} == _head_stem(reading, its)


def _counts_differ(claim: ParsedSentence, mine: Argument, reading: ParsedSentence, its: Argument) -> bool:
    ours = [value.low for value in claim.quantities if mine.start <= value.start < mine.end]
    theirs = [value.low for value in reading.quantities if its.start <= value.start < its.end]
    return bool(ours and theirs) and ours != theirs


def _within(reading: ParsedSentence, words: Sequence[int]) -> list[Entity]:
    """The names among some neighbouring words."""
    if not words:
        return []
    start, end = reading.words[words[0]].start, reading.words[words[-1]].end
    return [entity for entity in reading.entities if start <= entity.start and entity.end <= end and is_name(entity)]


def _names(reading: ParsedSentence, argument: Argument) -> list[Entity]:
    """The names in the core of an argument; a capitalised common noun ("the Landlord") is none."""
    return [
        entity for entity in reading.entities
        if argument.start <= entity.start and entity.end <= argument.core_end + 1 and is_name(entity)
        and not (" " not in entity.key and is_common(stem(entity.key)) and _is_described(reading, entity))
    ]  # fmt: skip


def _is_described(reading: ParsedSentence, entity: Entity) -> bool:
    """Whether an article stands before a name."""
    return reading.text[: entity.start].rstrip().lower().endswith(("the", " a", " an"))


def _head(reading: ParsedSentence, argument: Argument) -> int | None:
    """Position of the last content word of the core; None if it is a number or stands for anything."""
    inside = [
        at for at in argument.words if reading.words[at].end <= argument.core_end and reading.words[at].is_content
    ]
    if not inside or reading.words[inside[-1]].lower in _INDEFINITE:
        return None
    head = reading.words[inside[-1]]
    if reading.words[argument.words[0]].lower.endswith("ing"):
        return None
    values = (*reading.quantities, *reading.dates)
    return None if any(value.start <= head.start < value.end for value in values) else inside[-1]


def _head_stem(reading: ParsedSentence, argument: Argument) -> set[str]:
    head = _head(reading, argument)
    return set() if head is None else {reading.words[head].stem}
