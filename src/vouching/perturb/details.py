"""Unsupported additions to a claim: a fact about something else, a detail, or a presupposition.

The frames come from shipped lists, their fillers from the corpus and from chance. SEVA's "unanswerable wrap" adds what
cannot be checked ("results significant at p < 0.001"); ``detail_added`` covers the statements among these. Not
supported: questions, details beyond the lists, and facts for subjects of unknown sort, plurals, or claims of more than
one sentence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from functools import cache

from vouching.perturb.name_kinds import NameType, lexicon_sections, name_type, sort_of, whole_subject
from vouching.perturb.names import is_new
from vouching.perturb.pool import CorpusPool, Fact, same_name
from vouching.perturb.records import Draft, Edit
from vouching.perturb.scene import ParsedText, Scene
from vouching.perturb.values import MONTHS
from vouching.perturb.verbs import AUXILIARIES, MainVerb, Verb, verb_in
from vouching.text.entities import name_key
from vouching.text.words import find_words

_LONGEST_HOST = 18
_FACTS_LOOKED_AT = 60
_FURTHEST_YEARS = 30
_CLOSED = frozenset(str.split("that which who where when because although while if whether and or but than as"))
_ONCE = frozenset(
    str.split("born died founded established written directed released named located situated created married composed")
)
"""Events that happen once: where the source has one too, another account contradicts it rather than adds to it."""
_YEAR = re.compile(r"\b((?:1[5-9]|20)\d\d)s?\b")


def fact_graft(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Add a fact about another subject of the same sort: "... and won the prize in 1930", "Ann, who won ..."."""
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
    used = claim.lower_set | (_ONCE & scene.source.lower_set)
    others = [fact for fact in seen if not same_name(fact.subject, own)]
    foreign = {fact for fact in others if _is_foreign(fact, known) and _goes_with(fact, used, years)}
    if foreign:
        # Close in topic: a distant fact would be too easy to detect.
        fact = max(foreign, key=lambda fact: (_closeness(fact, known), fact.predicate))
        at = rng.choice(places)
        relative = f", {'who' if sort == 'person' else 'which'} {fact.predicate},"
        yield Draft((Edit(at, at, relative if at == verb.subject_end else f" and {fact.predicate}"),), fact.predicate)


def subject_sort(scene: Scene) -> str | None:
    """The sort of the subject of the claim, from the claim and its source."""
    verb = scene.claim.main_verb
    return sort_of(scene.claim, verb, scene.source.text) if verb else None


def years_of(scene: Scene) -> list[int]:
    """The years in claim and source, in order."""
    return [int(year) for text in (scene.claim.text, scene.source.text) for year in _YEAR.findall(text)]


def host(claim: ParsedText) -> MainVerb | None:
    """The main verb of a short single-clause claim about one thing, which can take an addition at its end."""
    verb = claim.main_verb
    if verb is None or not claim.is_one_sentence or len(claim.words) > _LONGEST_HOST or claim.negations:
        return None
    after = {word.lower for word in claim.words if word.start > verb.start}
    body = claim.text[: claim.body_end]
    return None if is_plural(claim, verb) or after & _CLOSED or not body[-1:].isalnum() else verb


def is_plural(claim: ParsedText, verb: MainVerb) -> bool:
    """Whether a verb is plural."""
    return verb.kind == "base" or claim.text[verb.start : verb.end] in ("are", "were", "have", "do")


def _at_end(claim: ParsedText) -> int | None:
    open_ended = claim.lower_set & {"and", "or", "but"} or "," in claim.text
    return claim.body_end if host(claim) and not open_ended else None


def _after_subject(claim: ParsedText, verb: MainVerb) -> int | None:
    return verb.subject_end if takes_apposition(claim, verb) else None


def takes_apposition(claim: ParsedText, verb: MainVerb) -> bool:
    """Whether the subject is one name at the start, directly followed by the verb."""
    named = whole_subject(claim, verb)
    alone = claim.text[verb.subject_end : verb.start] == " " and verb.subject_start == 0
    return bool(named and alone and claim.is_one_sentence and not is_plural(claim, verb))


def _closeness(fact: Fact, known: set[str]) -> float:
    return len(fact.context & known) / len(fact.context) ** 0.5


def _is_foreign(fact: Fact, known: set[str]) -> bool:
    """Whether a fact has a number or name that the source lacks, and is mostly about other things."""
    return bool(fact.telling - known) and len(fact.stems - known) >= len(fact.stems) / 2


def _goes_with(fact: Fact, used: frozenset[str], years: list[int]) -> bool:
    """Whether a fact is of the same period, as far as years show, and its verb is not among the used words."""
    words = [word for word in fact.predicate.lower().split()[:3] if word not in AUXILIARIES]
    its_years = [int(year) for year in _YEAR.findall(fact.predicate)]
    near = all(any(abs(year - other) <= _FURTHEST_YEARS for other in years) for year in its_years)
    return bool(words) and words[0] not in used and (near or not years)


_SLOT = re.compile(r"\{([a-z ]+)\}")
_KINDS: dict[str, NameType] = {
    "person": NameType("person", 2),
    "city": NameType("city"),
    "country": NameType("country"),
    "school": NameType("school"),
    "company": NameType("company"),
    "association": NameType("association"),
    "state": NameType("state"),
    "club": NameType("club"),
}
_SMALL = str.split("two three four five six seven eight nine")
_NTH = str.split("second third fourth fifth sixth")
_EARLIEST_YEAR, _LATEST_YEAR = 1850, 2023
"""Period of most names in the corpus."""
_LONGEST_GENERAL = 20
_TRIES, _FRAMES_TRIED = 8, 6
_PREPOSITION = re.compile(r" (?:in|on|at|from|to|with|for|during|as|by|over|against|between) ")
_TIME_AT_END = re.compile(
    r" (?:in|on|during|at the end of) (?:(?:the )?(?:early |late )?[A-Z0-9][\w]*s?(?:,? [\w]+){0,2})\Z"
)
_TIME_WORDS = frozenset(
    str.split("""again first last once twice times ever always often also when after before born only years months daily
    until since from two three four both career whole not all while currently now usually""")
)
_UNIQUE = re.compile(
    r"\b(?:(?:is|was) the|first|last|only|number|most|best|top|main|sole|one of|\w{3,}est|unlike|like|same|all|every|"
    r"his|her|its)\b",
    re.IGNORECASE,
)
_ONE_OF_A_YEAR = re.compile(r"\b[Tt]he [12]\d{3} \w")
"""A unique event: "the 2012 final"."""
_TAKES_ARTICLE = re.compile(
    r"^(?:University|College|School|Institute|Academy) of\b|"
    r"\b(?:Institute|Association|Federation|Foundation|Society|Trust|Union|Alliance|Institution|Organi[sz]ation)\b"
)
_FINDING = re.compile(
    r"\b(?:patients?|trials?|treatment|symptoms|diseases?|infections?|vaccines?|cancer|drugs?)\b", re.IGNORECASE
)
_GENERAL = frozenset(str.split("is are can may has have"))
_FAMILIAR: tuple[str, ...] = ("person", "country", "state", "city", "company", "school", "club")
"""Kinds of names that fit a comparison: "like Peru"."""


def detail_added(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Add an unsupported detail: "Ann Lee, a native of Oslo, ...", "... at the request of Bob Roy"."""
    claim, verb = scene.claim, scene.claim.main_verb
    if verb is None:
        return
    options: list[tuple[int, str, str]] = []
    if takes_apposition(claim, verb):
        sort = subject_sort(scene)
        options += [(verb.subject_end, f", {frame},", frame) for frame in _frames("details.txt", f"of a {sort}")]
    event, at = _event_of(claim, verb), _after_clause(claim)
    if event and at is not None:
        groups = _groups_of("details.txt", event)
        groups -= {"place"} if _places(scene) else set()
        groups -= {"time"} if scene.home.dates or claim.dates or claim.lower_set & _TIME_WORDS else set()
        groups -= {"pay"} if claim.quantities else set()
        passive = verb.kind == "auxiliary"
        for group in sorted(groups - ({"work", "choose"} if passive else set())):
            options += [(at, f" {frame}", frame) for frame in _frames("details.txt", f"with a {group}")]
    section = "of a finding" if _FINDING.search(claim.text) else "of a statement"
    if not options and _is_general(claim, verb):
        options += [(claim.body_end, f", {frame}", frame) for frame in _frames("details.txt", section)]
    yield from _one_of(options, scene, pool, rng)


def presupposition(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Add a presupposition: "rose to 2%, the highest figure since 1987"; "won" -> "won once again"."""
    claim, verb = scene.claim, scene.claim.main_verb
    if verb is None or claim.negations or not claim.is_one_sentence:
        return
    options: list[tuple[int, str, str]] = []
    event, name = None if _ONE_OF_A_YEAR.search(claim.text) else _event_of(claim, verb), "presuppositions.txt"
    at = _after_clause(claim)
    if event and at is not None and not claim.lower_set & _TIME_WORDS:
        groups = _groups_of(name, event)
        amount = any(q.start > verb.end for q in claim.quantities)
        for group in sorted(groups & {"rise", "fall"}) if amount else ():
            options += [(claim.body_end, f", {frame}", frame) for frame in _frames(name, f"of a {group}")]
        for group in sorted(groups - {"rise", "fall"}):
            place = _after_object(claim, verb, at) if group == "repeat" else at
            options += [(place, f" {frame}", frame) for frame in _frames(name, f"with a {group}")]
            early = verb.end if verb.kind == "auxiliary" else verb.start - 1
            options += [(early, f" {frame}", frame) for frame in _frames(name, f"before a {group}")]
    if not options:
        options = _additives(claim, verb, at)
    yield from _one_of(options, scene, pool, rng)


def _additives(claim: ParsedText, verb: MainVerb, at: int | None) -> list[tuple[int, str, str]]:
    """The same of another of the subject's kind: "Ann, like Bob Roy, ..."."""
    named = whole_subject(claim, verb)
    kind = name_type(claim.text, named) if named else None
    if kind is None or kind.kind not in _FAMILIAR or _UNIQUE.search(claim.text) or not takes_apposition(claim, verb):
        return []
    slot = f"{{{kind.kind}}}"
    written = claim.text[verb.start : verb.end]
    pro_verb = "did" if verb.kind == "past" else written if written in ("was", "is", "has") else "does"
    after = [(verb.subject_end, f", {words} {slot},", slot) for words in ("like", "just like", "much like")]
    end = [(claim.body_end, f", {words}", slot) for words in (f"as {pro_verb} {slot}", f"just as {slot} {pro_verb}")]
    return after + (end if at is not None else [])


def _one_of(
    options: Sequence[tuple[int, str, str]], scene: Scene, pool: CorpusPool, rng: random.Random
) -> Iterator[Draft]:
    """The first of some randomly ordered options that can be filled with something new to the source."""
    known = {word.stem for word in scene.source.words if word.is_content}
    for at, words, frame in rng.sample(options, min(_FRAMES_TRIED, len(options))):
        fixed = {word.stem for word in find_words(_SLOT.sub("", frame)) if word.is_content}
        two_times = "{year}" in words and (at < scene.claim.body_end and not words.endswith(","))
        filled = None if fixed & known or two_times else _filled(words, scene, pool, rng)
        if filled is not None:
            yield Draft((Edit(at, at, filled),), filled.strip(", "))
            return


def _filled(words: str, scene: Scene, pool: CorpusPool, rng: random.Random) -> str | None:
    values: list[str] = []
    for slot in _SLOT.findall(words):
        value = _name(_KINDS[slot], scene, pool, rng) if slot in _KINDS else _drawn(slot, scene, rng)
        if value is None or value in values:
            return None
        values.append(value)
    fill = iter(values)
    return _SLOT.sub(lambda _: next(fill), words)


def _name(kind: NameType, scene: Scene, pool: CorpusPool, rng: random.Random) -> str | None:
    names = pool.names(kind)
    drawn = (names[rng.randrange(len(names))] for _ in range(min(_TRIES, len(names))))
    name = next((name for name in drawn if is_new(name, scene)), None)
    return f"the {name}" if name and _TAKES_ARTICLE.search(name) else name


def _drawn(slot: str, scene: Scene, rng: random.Random) -> str | None:
    """A random number, year or month; no year where neither claim nor source names one."""
    if slot == "year":
        named = [year for year in years_of(scene) if year >= _EARLIEST_YEAR]
        if not named:
            return None
        near = rng.choice(named)
        years = [year for year in range(near - 12, min(near + 3, _LATEST_YEAR)) if year not in named]
        return str(rng.choice(years or [near - 13]))
    choices: dict[str, Sequence[object]] = {
        "n": range(12, 90),
        "few": _SMALL,
        "nth": _NTH,
        "million": range(2, 60),
        "month": MONTHS,
        "day": range(1, 29),
        "recent": range(1985, 2023),
    }
    return str(rng.choice(choices[slot]))


def _frames(name: str, section: str) -> tuple[str, ...]:
    return lexicon_sections(name).get(section, ())


@cache
def _groups(name: str) -> dict[str, frozenset[str]]:
    return {
        section.removeprefix("verbs "): frozenset(" ".join(lines).split())
        for section, lines in lexicon_sections(name).items()
        if section.startswith("verbs ")
    }


def _groups_of(name: str, verb: Verb) -> set[str]:
    return {group for group, bases in _groups(name).items() if verb.base in bases}


def _event_of(claim: ParsedText, verb: MainVerb) -> Verb | None:
    if verb.kind == "past":
        return None if verb.following in ("to", "from") else verb.verb
    return verb_in(verb.following, "participle") if claim.text[verb.start : verb.end] == "was" else None


def _after_clause(claim: ParsedText) -> int | None:
    """Where a single-clause claim takes an addition: at its end, but before a final time."""
    verb = host(claim)
    if verb is None or "," in claim.text[verb.end :]:
        return None
    body = claim.text[: claim.body_end]
    time = _TIME_AT_END.search(body)
    at = time.start() if time else len(body)
    return at if at > verb.end else len(body)


def _after_object(claim: ParsedText, verb: MainVerb, at: int) -> int:
    """Before the first preposition after the verb, so that the addition modifies the verb."""
    start = verb.end + len(verb.following) + 1 if verb.kind == "auxiliary" else verb.end
    match = _PREPOSITION.search(claim.text, start, at)
    return match.start() if match and "ing " not in claim.text[start : match.end()] else at


def _places(scene: Scene) -> bool:
    """Whether the claim, or the part of the source about it, names a place."""
    places = ("city", "country", "state", "place", "the country")
    return any(
        (kind := name_type(reading.text, entity)) and kind.kind in places
        for reading in (scene.claim, scene.home)
        for entity in reading.entities
    )


def _is_general(claim: ParsedText, verb: MainVerb) -> bool:
    """Whether a claim is a general statement in the present tense."""
    present = verb.kind in ("third", "base") or claim.text[verb.start : verb.end] in _GENERAL
    plain = (
        not claim.entities
        and "," not in claim.text
        and len(claim.words) <= _LONGEST_GENERAL
        and claim.is_one_sentence
        and claim.text[claim.body_end - 1 : claim.body_end].isalnum()
    )
    about_people = claim.lower_set & frozenset(str.split("he she it his her i my you your we our they this"))
    return present and plain and not about_people
