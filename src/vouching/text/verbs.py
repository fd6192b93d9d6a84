"""English verbs: their irregular forms, and which are common. A verb is known by the stem of its base form."""

from __future__ import annotations

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
appeal apply appoint approve arrange ask assess attend audit award back ban beat belong bill blame book borrow break
bring build buy calculate call cancel carry cause certify chair challenge charge check choose claim clean clear close
collect come commission compete complete conduct confirm consist consult contact contain contribute control cook
coordinate cover create cut damage deal decide declare defeat defend deliver deny depend describe design determine
develop direct discover discuss donate draw edit educate elect employ enforce enter establish evaluate examine exceed
excite fight file finance find fix follow found fund get give govern grant guarantee guard hand handle have hear help
hire hold host identify import improve include increase inform inspect install instruct insure interview introduce
invent invest invite invoice issue join judge keep kill know lay lead learn lease leave lend license like limit link
list look lose love lower maintain make manage manufacture market marry meet monitor move name need negotiate notify
offer operate order organise override overrule oversee owe own paint pay perform permit persuade phone place plan play
post praise precede prefer prepare present prevent print process produce prohibit promote propose protect prove
provide publish pull purchase push put question raise reach read rebuild receive recommend record recruit reduce refer
refund refuse register reject release rely remind remove rename renew rent repair replace report represent request
require rescue restore result return reveal review revise ring run sail save schedule see select sell send serve set
share ship show sign sink slow solve sort sponsor start steal stem stop store study submit succeed sue supervise
supply support surpass suspend take teach tell terminate test thank track train transfer translate transport treat
trigger trust turn use validate veto visit want warn watch weigh win withdraw witness work write yield"""


@cache
def _bases() -> dict[str, str]:
    """Base forms of irregular forms."""
    rows = (row.split() for row in _IRREGULAR.split("|"))
    return {form: base for base, *forms in rows for form in forms}


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
    return stem(_bases().get(word, word))


@cache
def _common() -> frozenset[str]:
    return frozenset(verb_key(word) for word in _COMMON.split())


def is_common_verb(word: str) -> bool:
    """Whether a lower-case word, in any form, is in the table of common verbs."""
    return verb_key(word) in _common()
