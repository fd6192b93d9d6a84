"""Names replaced with another of the corpus or of the same source, or swapped.

Not supported: names without a known kind; people in claims with "he" or "she", as the new name could have another
gender; the first of two names joined by a comma ("Miami, Florida").
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import pairwise

from vouching.perturb.name_kinds import NameType, name_type, without_title
from vouching.perturb.pool import LONGEST_NAME, CorpusPool, same_name
from vouching.perturb.records import Draft, Edit
from vouching.perturb.scene import ParsedText, Scene
from vouching.text.entities import Entity, same_entity

_GENDERED = frozenset(
    str.split("""he she his her him hers himself herself mother father wife husband son daughter sister brother actress
    king queen man woman boy girl""")
)
_CLOSED_BY = re.compile(r" ?[.;]| ?\Z| (?:in|on|at|for|by|to|from|as|during|after|before)\b")
_SYMMETRIC = re.compile(
    r"\b(?:and|or|with|between|both|married|wed|met|like|similar|same|equals?|borders?|near|versus|vs|tied|partner\w*|"
    r"friends?|siblings?|alongside|together|joined|merged|co-\w+|including|such as|as well as|also|called|known)\b"
)
_TRIES = 12


def entity_swap(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Another name of the same kind from the corpus: "born in Paris" -> "born in Rome"."""
    for entity, kind in _swappable(scene.claim):
        names = pool.names(kind)
        for _ in range(min(_TRIES, len(names))):
            name = names[rng.randrange(len(names))]
            if is_new(name, scene):
                yield Draft(_everywhere(scene.claim, entity, name), name)
                break


def entity_graft(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """A name of the same kind from elsewhere in the source, where it has another role."""
    home = scene.home.text
    for entity, kind in _swappable(scene.claim):
        others = dict.fromkeys(
            without_title(other.text) if kind.kind == "person" else other.text
            for other in scene.source.entities
            if name_type(scene.source.text, other) == kind and len(other.text.split()) <= LONGEST_NAME
        )
        fits = [n for n in others if n not in home and not _shares_sentence(n, scene) and _differs(n, scene.claim)]
        if fits:
            yield Draft(_everywhere(scene.claim, entity, rng.choice(fits)))


def role_swap(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Swap two names of one kind: "Ann beat Bob" -> "Bob beat Ann"."""
    claim = scene.claim
    found = [(entity, kind) for entity in claim.entities if (kind := name_type(claim.text, entity))]
    for (one, kind), (other, other_kind) in pairwise(found):
        between = claim.text[one.end : other.start]
        if kind.kind != other_kind.kind or kind.kind == "nationality" or not claim.is_one_sentence:
            continue
        words = between.split()
        stop = not words or "," in between or _SYMMETRIC.search(between) or same_entity(one.text, other.text)
        verb = claim.main_verb
        if stop or verb is None or not one.end <= verb.start < other.start:
            continue
        if _CLOSED_BY.match(claim.text, other.end):
            yield Draft((Edit(one.start, one.end, other.text), Edit(other.start, other.end, one.text)))


def _swappable(claim: ParsedText) -> Iterator[tuple[Entity, NameType]]:
    """Names of the claim that can be replaced, once each, without their titles."""
    seen: set[str] = set()
    for entity in claim.entities:
        kind = name_type(claim.text, entity)
        if kind is None or entity.key in seen or claim.text[entity.end : entity.end + 2] in (", ", "-"):
            continue
        seen.add(entity.key)
        if kind.kind == "person":
            if claim.lower_set & _GENDERED:
                continue
            bare = without_title(entity.text)
            yield Entity(entity.end - len(bare), entity.end, bare, entity.kind, entity.certain), kind
        elif not _is_part_of_name(claim.text, entity):
            yield entity, kind


def _is_part_of_name(text: str, entity: Entity) -> bool:
    """Whether a capitalised word adjoins, so that the whole is another name."""
    after = re.match(r"(?:['’]s)? (?:[A-Z]\w|state\b)", text[entity.end : entity.end + 8])
    return after is not None or text[max(0, entity.start - 1) : entity.start] in ("-", "/")


def _everywhere(claim: ParsedText, entity: Entity, name: str) -> tuple[Edit, ...]:
    """The name replaced wherever the claim has it, as a whole name."""
    places = {(entity.start, entity.end)} | {(e.start, e.end) for e in claim.entities if e.text == entity.text}
    return tuple(Edit(start, end, name) for start, end in sorted(places))


def _differs(name: str, claim: ParsedText) -> bool:
    return not any(same_entity(name, e.text) or same_name(name, e.text) for e in claim.entities)


def is_new(name: str, scene: Scene) -> bool:
    """Whether neither the claim nor the source has a name or one like it."""
    if name.lower() in scene.source.text.lower() or not _differs(name, scene.claim):
        return False
    return not any(same_entity(name, entity.text) for entity in scene.source.entities)


def _shares_sentence(name: str, scene: Scene) -> bool:
    """Whether a sentence of the source has the name and enough of the claim to state the same of it."""
    stems, source = {word.stem for word in scene.claim.words if word.is_content}, scene.source
    return any(
        name in source.text[start:end]
        and len(stems & {word.stem for word in source.between(start, end)}) > len(stems) / 3
        for start, end in source.sentences
    )
