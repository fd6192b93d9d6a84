"""What the source does not say, added to the claim: a fact about something else, a presupposition, an invented detail.

SEVA's "unanswerable wrap" adds what nobody could check ("results significant at p < 0.001"); ``detail_added`` is the
part of it that makes a statement. Left out: questions, and claims of more than one sentence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from vouching.perturb.edits import Edit
from vouching.perturb.main_verb import MainVerb
from vouching.perturb.pool import CorpusPool, Fact, same_name, topic_of
from vouching.perturb.records import Draft
from vouching.perturb.scene import Reading, Scene
from vouching.perturb.verbs import verb_in
from vouching.text.entities import name_key

_LONGEST_HOST = 18
_FACTS_LOOKED_AT = 300
_CLOSED = frozenset(str.split("that which who where when because although while if whether and or but than as"))
_ONCE = frozenset(
    str.split("""bear die pass take come discover invent found create establish write build kill destroy know name
    locate base call consider regard believe contain consist include belong have own mean become remain live last like
    love want need exist depend feature star derive originate be see compose surround raise grow rename lead
    make""")
)
"""Verbs of what happens once, or lasts: nobody does it "for the second time"."""
_TIMES_SAID = frozenset(
    str.split("""again first last once twice times ever always often also when after before born only years months daily
    until since from two three four both career whole not all""")
)
_AGAIN = ("for the second time", "once again", "for the third time")
_RECORDS = ("the highest figure ever recorded", "a new record", "the highest on record", "more than ever before")
_LOWS = ("the lowest figure ever recorded", "a new low", "the lowest on record")
_RISING = frozenset(str.split("rose grew increased climbed gained earned sold reached grossed exceeded expanded"))
_FALLING = frozenset(str.split("fell dropped declined decreased"))
_TRAILING_TIME = re.compile(
    r" (?:in|on|during|at the end of) (?:(?:the )?(?:early |late )?[A-Z0-9][\w]*s?(?:,? [\w]+){0,2})\Z"
)
_DECIDED = frozenset(
    str.split("""release open launch publish appoint elect sign announce adopt approve award adapt film introduce move
    join leave buy sell close merge host hire fire fund print nominate replace rename cancel""")
)
_OF_EVENTS = (
    "after months of delay",
    "despite strong opposition",
    "at the request of the government",
    "without any public announcement",
    "after a unanimous vote",
    "against the advice of several experts",
    "following a secret meeting",
    "with financial support from a private donor",
    "under heavy media attention",
)
_OF_STATES = (
    "according to a government report",
    "as a survey of 2,000 people confirmed",
    "which several experts have disputed",
    "a fact that is taught in most schools",
    "as documents published last year show",
    "according to two former officials",
)
_OF_FINDINGS = (
    "a result significant at p < 0.001",
    "according to a double-blind trial",
    "an effect seen in nine out of ten cases",
    "as three independent laboratories confirmed",
)
_FINDING = re.compile(
    r"\b(?:patients?|trials?|stud(?:y|ies)|risk|treatment|symptoms|disease|infections?|vaccine|cancer|drug)\b",
    re.IGNORECASE,
)


def fact_graft(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """A fact about another subject of the corpus, said of this one: "... and won the prize in 1930"."""
    claim, host = scene.claim, _host(scene.claim)
    if host is None or claim.lower_set & {"and", "or", "but"} or "," in claim.text:
        return
    topic = topic_of(claim)
    facts = pool.facts(topic)
    known = {word.stem for word in scene.source.words if word.is_content}
    about = {word.stem for word in claim.words if word.is_content and word.start >= host.end}
    seen = [facts[rng.randrange(len(facts))] for _ in range(min(_FACTS_LOOKED_AT, len(facts)))]
    own = name_key(claim.text[host.subject_start : host.subject_end])
    foreign = {fact for fact in seen if _is_foreign(fact, known) and not same_name(fact.subject, own)}
    if topic != "person":
        # What is said of one person can be said of most others, but not what is said of one thing.
        foreign = {fact for fact in foreign if fact.stems & about}
    if foreign:
        # One close in topic: a fact that is far from it is told at once.
        fact = max(foreign, key=lambda fact: (len(fact.stems & about), _closeness(fact, known), fact.predicate))
        yield Draft((Edit(claim.body_end, claim.body_end, f" and {fact.predicate}"),), fact.predicate)


def _host(claim: Reading) -> MainVerb | None:
    """The main verb of a short claim of one clause about one thing, which can take an addition at its end."""
    verb = claim.main_verb
    if verb is None or not claim.is_one_sentence or len(claim.words) > _LONGEST_HOST or claim.negations:
        return None
    written = claim.text[verb.start : verb.end]
    plural = verb.kind == "base" or written in ("are", "were", "have", "do")
    after = {word.lower for word in claim.words if word.start > verb.start}
    body = claim.text[: claim.body_end]
    return None if plural or after & _CLOSED or not body[-1:].isalnum() else verb


def _closeness(fact: Fact, known: set[str]) -> float:
    return len(fact.context & known) / len(fact.context) ** 0.5


def _is_foreign(fact: Fact, known: set[str]) -> bool:
    """Whether a fact names a number or name that the source lacks, and is mostly about other things."""
    return bool(fact.telling - known) and len(fact.stems - known) >= len(fact.stems) / 2


def presupposition(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Something taken for granted: "rose by 2 °C" -> "..., the highest on record"; "won" -> "won once again"."""
    claim, verb = scene.claim, _host(scene.claim)
    if verb is None:
        return
    written = claim.text[verb.start : verb.end]
    if claim.lower_set & _TIMES_SAID:
        return
    if written in _RISING | _FALLING and any(q.start > verb.end for q in claim.quantities):
        added = rng.choice(_RECORDS if written in _RISING else _LOWS)
        yield Draft((Edit(claim.body_end, claim.body_end, f", {added}"),), added)
        return
    event = verb.verb if verb.kind == "past" else verb_in(verb.following, "participle") if written == "was" else None
    lasting = verb.following in ("to", "from") or (event is not None and event.base in _ONCE)
    if event is None or lasting:
        return
    body = claim.text[: claim.body_end]
    time = _TRAILING_TIME.search(body)
    at = time.start() if time else len(body)
    if at > verb.end:
        added = rng.choice(_AGAIN)
        yield Draft((Edit(at, at, f" {added}"),), added)


def detail_added(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """A detail that nobody stated: "... after a unanimous vote", "..., a result significant at p < 0.001"."""
    claim, verb = scene.claim, _host(scene.claim)
    if verb is None:
        return
    passive = claim.text[verb.start : verb.end] == "was" and verb_in(verb.following, "participle")
    event = (verb.kind == "past" and verb.verb) or passive
    if _FINDING.search(claim.text):
        added = f", {rng.choice(_OF_FINDINGS)}"
    elif event and event.base in _DECIDED and "after" not in claim.lower_set:
        added = f" {rng.choice(_OF_EVENTS)}"
    else:
        added = f", {rng.choice(_OF_STATES)}"
    yield Draft((Edit(claim.body_end, claim.body_end, added),), added.lstrip(", "))
