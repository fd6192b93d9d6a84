"""English verbs: their irregular forms, the particles they take, and who is who in pairs such as "buy" and "sell".

A verb is known by the stem of its base form, with its particle ("take_over"). Verbs and nouns that tell the same
relation from two sides share its name and its roles: in "A sold it to B" and in "B bought it from A", A is the giver.
Not supported: senses of a verb; a verb that is in no table has the roles "agent" and "patient".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache

from vouching.text.words import stem

# Base form, past tense, past participle (if it differs); slashes separate variants.
_IRREGULAR = """arise arose arisen|bear bore borne|beat beat beaten|become became become|begin began begun|bend bent|
bind bound|bite bit bitten|blow blew blown|break broke broken|bring brought|build built|buy bought|catch caught|
choose chose chosen|come came come|cut cut|deal dealt|dig dug|do did done|draw drew drawn|drink drank drunk|
drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|fly flew flown|
forbid forbade forbidden|foresee foresaw foreseen|forget forgot forgotten|freeze froze frozen|get got gotten|
give gave given|go went gone|grow grew grown|hear heard|hide hid hidden|hit hit|hold held|keep kept|know knew known|
lay laid|lead led|leave left|lend lent|let let|lose lost|make made|mean meant|meet met|overcome overcame overcome|
oversee oversaw overseen|overtake overtook overtaken|override overrode overridden|pay paid|put put|read read|
ride rode ridden|
ring rang rung|rise rose risen|run ran run|say said|see saw seen|seek sought|sell sold|send sent|set set|
shake shook shaken|shoot shot|show showed shown|shut shut|sing sang sung|sink sank sunk|sit sat|speak spoke spoken|
spend spent|split split|spread spread|stand stood|steal stole stolen|strike struck|swim swam swum|take took taken|
teach taught|tear tore torn|tell told|think thought|throw threw thrown|undertake undertook undertaken|
understand understood|wear wore worn|win won|withdraw withdrew withdrawn|write wrote written|
rewrite rewrote rewritten"""
# Verbs whose plain present is read as a verb without an auxiliary before it.
_COMMON = """accept accompany accuse acquire add administer admire admit adopt advise affect allow announce answer
appeal appoint apply approve arrange ask assess attend audit award ban beat bill blame book borrow break bring build
buy calculate call cancel carry cause certify chair challenge charge check choose claim clean clear close collect
commission compete complete conduct confirm consult contact contain contribute control cook coordinate cover create
cut damage decide declare defeat defend deliver deny describe design determine develop direct discover discuss donate
draw edit educate elect employ enforce enter establish evaluate examine exceed excite fight file finance find
fix follow found fund get give govern grant guarantee guard handle have hear help hire hold host identify import improve
include increase inform inspect install instruct insure interview introduce invent invest invite invoice issue join
judge keep kill know lead learn lease leave lend license like limit link list lose love lower maintain make manage
manufacture market marry meet monitor move name need negotiate notify offer operate order organise oversee overrule
override owe own paint pay perform permit persuade phone place plan play post praise precede prefer prepare present
prevent print process produce prohibit promote propose protect prove provide publish pull purchase push question
raise reach read rebuild receive recommend record recruit reduce refer refuse refund register reject release remind
remove rename renew rent repair replace report represent request require rescue restore return reveal review
revise ring run sail save schedule see select sell send serve set share ship show sign sink slow solve sort sponsor
start steal stop store study submit succeed sue supervise supply support surpass suspend take teach tell terminate
test thank track train transfer translate transport treat trigger trust use validate veto visit want warn watch
weigh win withdraw witness write yield"""
_PHRASAL = """take_on take_over hand_over hand_in hand_out turn_down turn_off set_up set_off carry_out put_off put_up
look_after bring_about bring_up give_up give_back pay_back pay_out buy_out sell_off take_back call_off lay_off
make_up run_up back_up belong_to depend_on rely_on consist_of result_in result_from lead_to stem_from come_from
work_for work_at work_under study_under learn_from lose_to look_into deal_with"""
SYMMETRIC = frozenset(
    stem(word) for word in """meet marry divorce resemble equal differ collaborate cooperate match border intersect
    talk argue debate agree disagree correspond merge share compare combine tie draw connect join overlap touch
    coincide separate link alternate compete negotiate play face mix""".split()
)  # fmt: skip
"""Verbs that say the same with their arguments exchanged ("A met B")."""


@dataclass(frozen=True, slots=True)
class Valency:
    """What the places around a verb mean in its relation."""

    relation: str
    subject: str = "agent"
    object: str = "patient"
    prepositions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Role of what follows each preposition; another preposition is its own role."""


# relation: forms | subject object preposition=role ...; an object "-" stands for one that plays no part.
_VALENCIES = """give: give donate grant award present supply provide deliver send hand offer | giver thing to=receiver
give: receive get obtain | receiver thing from=giver
sell: sell sell_off | giver thing to=receiver
sell: buy purchase buy_out | receiver thing from=giver
sell: acquire | receiver thing from=giver
lend: lend loan | giver thing to=receiver
lend: borrow | receiver thing from=giver
pay: pay pay_out pay_back refund | payer thing to=payee
teach: teach tutor instruct supervise mentor train | teacher pupil
teach: study_under learn_from | pupil teacher
employ: employ hire recruit take_on engage | employer employee
employ: work_for work_under | employee employer
succeed: succeed replace supersede follow | later earlier from=earlier
succeed: precede | earlier later
succeed: take_over | later thing from=earlier
succeed: hand_over | earlier thing to=later
beat: beat defeat overcome | winner loser
beat: win | winner thing from=loser against=loser
beat: lose | loser thing to=winner against=winner
beat: lose_to | loser winner
own: own possess | owner thing
own: belong_to | thing owner
cause: cause trigger lead_to result_in bring_about | cause effect
cause: result_from stem_from | effect cause"""
# The same for nouns: "A is the teacher of B", "A is B's teacher", "his teacher A".
_NOUNS = """parent: father mother parent | parent child
parent: son daughter child subsidiary | child parent
teach: teacher tutor supervisor mentor | teacher pupil
teach: pupil student apprentice | pupil teacher
employ: employer | employer employee
employ: employee assistant | employee employer
succeed: successor | later earlier
succeed: predecessor | earlier later
own: owner | owner thing
deputise: deputy | deputy principal"""


@cache
def _forms() -> tuple[dict[str, str], frozenset[str], frozenset[str]]:
    """Base forms of irregular forms, the irregular past tenses, and the irregular participles."""
    bases: dict[str, str] = {}
    pasts: set[str] = set()
    participles: set[str] = set()
    for row in _IRREGULAR.split("|"):
        base, past, *rest = row.split()
        bases.update(dict.fromkeys((past, *rest), base))
        pasts.add(past)
        participles.add(rest[0] if rest else past)
    return bases, frozenset(pasts), frozenset(participles)


_NOT_PAST = frozenset(
    "hundred sacred naked red bed shed need indeed speed seed feed breed exceed proceed succeed embed infrared".split()
)


def is_past(word: str) -> bool:
    """Whether a lower-case word can be a past tense."""
    return _is_regular(word) or word in _forms()[1]


def is_participle(word: str) -> bool:
    """Whether a lower-case word can be a past participle."""
    return _is_regular(word) or word in _forms()[2]


def _is_regular(word: str) -> bool:
    return len(word) > 3 and word.endswith("ed") and word not in _NOT_PAST


# The light stem cuts "donated" shorter than "donate", and "succeeded" shorter than "succeed".
_SHARED_ENDINGS = (
    *((f"eed{form}", "eed") for form in ("ed", "ing")),
    *((f"{end}{form}", f"{end}e") for end in ("at", "is", "iz", "ed") for form in ("ed", "ing", "es")),
)


@lru_cache(maxsize=20_000)
def verb_key(word: str) -> str:
    """Stem of the base form of a lower-case verb.

    >>> verb_key("lent") == verb_key("lends"), verb_key("rejected") == verb_key("reject")
    (True, True)
    """
    for ending, base in _SHARED_ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return stem(word.removesuffix(ending) + base)
    return stem(_forms()[0].get(word, word))


@cache
def _common() -> frozenset[str]:
    return frozenset(verb_key(word) for word in _COMMON.split()) | {verb for verb, _ in _phrasal()}


def is_common_verb(word: str) -> bool:
    """Whether a lower-case word, in any form, is in the table of common verbs."""
    return verb_key(word) in _common()


@cache
def _phrasal() -> frozenset[tuple[str, str]]:
    pairs = (row.split("_") for row in _PHRASAL.split())
    return frozenset((verb_key(verb), particle) for verb, particle in pairs)


def takes_particle(key: str, word: str) -> bool:
    """Whether a verb, by its key, and the word after it make one verb ("take", "over")."""
    return (key, word) in _phrasal()


def _read(table: str) -> dict[str, Valency]:
    found: dict[str, Valency] = {}
    for row in table.splitlines():
        relation, _, rest = row.partition(":")
        forms, _, roles = rest.partition("|")
        subject, target, *pairs = roles.split()
        valency = Valency(relation, subject, target, dict(pair.split("=") for pair in pairs))
        for form in forms.split():
            verb, _, particle = form.partition("_")
            found[f"{verb_key(verb)}_{particle}" if particle else verb_key(verb)] = valency
    return found


@cache
def _verb_valencies() -> dict[str, Valency]:
    return _read(_VALENCIES)


@cache
def _noun_valencies() -> dict[str, Valency]:
    return _read(_NOUNS)


def verb_valency(key: str) -> Valency:
    """The valency of a verb, by its key with its particle.

    >>> verb_valency(verb_key("bought")).subject, verb_valency(verb_key("sold")).subject
    ('receiver', 'giver')
    """
    return _verb_valencies().get(key) or Valency(key)


def noun_valency(word: str) -> Valency | None:
    """The valency of a noun that tells who someone is to someone else, in lower case; None for other nouns.

    >>> noun_valency("successors") == noun_valency("successor"), noun_valency("bridge")
    (True, None)
    """
    return _noun_valencies().get(stem(word))
