"""A fact of the corpus about something else, said of the subject of the claim.

Left out: subjects whose sort nothing tells, plurals, and claims of more than one sentence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from vouching.perturb.name_kinds import sort_of, whole_subject
from vouching.perturb.pool import CorpusPool, Fact, same_name
from vouching.perturb.records import Draft, Edit
from vouching.perturb.scene import ParsedText, Scene
from vouching.perturb.verbs import AUXILIARIES, MainVerb
from vouching.text.entities import name_key

_LONGEST_HOST = 18
_FACTS_LOOKED_AT = 60
_FURTHEST_YEARS = 30
_CLOSED = frozenset(str.split("that which who where when because although while if whether and or but than as"))
_ONCE = frozenset(
    str.split("born died founded established written directed released named located situated created married composed")
)
"""What is so once: where the source says it too, another account of it contradicts rather than adds."""
_YEAR = re.compile(r"\b((?:1[5-9]|20)\d\d)s?\b")


def fact_graft(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """A fact about another of its sort, said of this one: "... and won the prize in 1930", "Ann, who won ..."."""
    claim, verb = scene.claim, scene.claim.main_verb
    sort = subject_sort(scene)
    if verb is None or sort is None:
        return
    places = [at for at in (_after_subject(claim, verb), _at_end(claim)) if at is not None]
    facts = pool.facts(sort)
    if not places or not facts:
        return
    known = {word.stem for word in scene.source.words if word.is_content}
    years = years_of(scene)
    own = name_key(claim.text[verb.subject_start : verb.subject_end])
    seen = [facts[rng.randrange(len(facts))] for _ in range(min(_FACTS_LOOKED_AT, len(facts)))]
    told = claim.lower_set | (_ONCE & scene.source.lower_set)
    others = [fact for fact in seen if not same_name(fact.subject, own)]
    foreign = {fact for fact in others if _is_foreign(fact, known) and _goes_with(fact, told, years)}
    if foreign:
        # One close in topic: a fact that is far from it is told at once.
        fact = max(foreign, key=lambda fact: (_closeness(fact, known), fact.predicate))
        at = rng.choice(places)
        relative = f", {'who' if sort == 'person' else 'which'} {fact.predicate},"
        yield Draft((Edit(at, at, relative if at == verb.subject_end else f" and {fact.predicate}"),), fact.predicate)


def subject_sort(scene: Scene) -> str | None:
    """What the subject of the claim is, as the claim and its source tell."""
    verb = scene.claim.main_verb
    return sort_of(scene.claim, verb, scene.source.text) if verb else None


def years_of(scene: Scene) -> list[int]:
    """The years that claim and source name, in the order they come."""
    return [int(year) for text in (scene.claim.text, scene.source.text) for year in _YEAR.findall(text)]


def host(claim: ParsedText) -> MainVerb | None:
    """The main verb of a short claim of one clause about one thing, which can take an addition at its end."""
    verb = claim.main_verb
    if verb is None or not claim.is_one_sentence or len(claim.words) > _LONGEST_HOST or claim.negations:
        return None
    after = {word.lower for word in claim.words if word.start > verb.start}
    body = claim.text[: claim.body_end]
    return None if is_plural(claim, verb) or after & _CLOSED or not body[-1:].isalnum() else verb


def is_plural(claim: ParsedText, verb: MainVerb) -> bool:
    """Whether a verb is in the plural."""
    return verb.kind == "base" or claim.text[verb.start : verb.end] in ("are", "were", "have", "do")


def _at_end(claim: ParsedText) -> int | None:
    open_ended = claim.lower_set & {"and", "or", "but"} or "," in claim.text
    return claim.body_end if host(claim) and not open_ended else None


def _after_subject(claim: ParsedText, verb: MainVerb) -> int | None:
    return verb.subject_end if takes_apposition(claim, verb) else None


def takes_apposition(claim: ParsedText, verb: MainVerb) -> bool:
    """Whether the subject is one name at the start, with the verb right after it."""
    named = whole_subject(claim, verb)
    alone = claim.text[verb.subject_end : verb.start] == " " and verb.subject_start == 0
    return bool(named and alone and claim.is_one_sentence and not is_plural(claim, verb))


def _closeness(fact: Fact, known: set[str]) -> float:
    return len(fact.context & known) / len(fact.context) ** 0.5


def _is_foreign(fact: Fact, known: set[str]) -> bool:
    """Whether a fact names a number or name that the source lacks, and is mostly about other things."""
    return bool(fact.telling - known) and len(fact.stems - known) >= len(fact.stems) / 2


def _goes_with(fact: Fact, told: frozenset[str], years: list[int]) -> bool:
    """Whether a fact is of the same time, as far as years tell, and is told by none of the words of the claim."""
    said = [word for word in fact.predicate.lower().split()[:3] if word not in AUXILIARIES]
    its_years = [int(year) for year in _YEAR.findall(fact.predicate)]
    near = all(any(abs(year - other) <= _FURTHEST_YEARS for other in years) for year in its_years)
    return bool(said) and said[0] not in told and (near or not years)
