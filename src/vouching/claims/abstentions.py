"""Abstentions: sentences that say that the sources, or the writer, do not have something.

"The context does not mention bicycles" is no claim about bicycles. Such a sentence is recognised by its parts, not by
its wording: a denial, a verb or noun of telling and knowing ("say", "find", "information"), and as what it is denied
of the sources, the writer, or no subject at all. What it names as missing is its topic. "The lease does not cover the
garage" is a claim: a lease covers things in the world. Not supported: other languages than English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from vouching.text.clauses import finite_verb
from vouching.text.framing import DOCUMENT_NAMED, statement_of
from vouching.text.words import find_words
from vouching.types import Span

Kind = Literal["mention", "value", "statement"]
"""What is said to be missing: any mention of a thing, its value ("does not specify the fare"), or a statement."""

_GENERAL = r"""(?:contexts?|documents?|documentation|docs|texts?|passages?|sources?|articles?|excerpts?|snippets?|
    materials?|results?|information|pages?|files?|transcripts?|summary|knowledge\ base)"""
"""Nouns that mean a text and nothing else: of these alone "does not include" is about what they say."""
_SOURCE = rf"""(?:(?:any|none|neither|either|each|both|all)\ (?:of\ )?)?(?:{DOCUMENT_NAMED}
    | (?:the\ |this\ |our\ |your\ )?(?:(?:provided|given|supplied|available|retrieved|above|shared)\ ){{0,2}}{_GENERAL}
    (?:\ (?:provided|given|above|supplied))?)"""
_NO_SOURCE = rf"(?:(?:none|neither|nothing)\ (?:of|in)\ {_SOURCE}|(?:no|neither)\ {_GENERAL})"
_WITHIN = rf"(?:\ (?:anywhere\ )?(?:in|by|within|from|with|using|based\ on|through|on)\ {_SOURCE})"
_SAID_WITHIN = rf"(?(opened)|{_WITHIN})"
"""Where the sentence says where it looked: in front, "Based on the text, ...", or here."""
_ADVERB = r"(?:\ (?:\w+ly|also|even|ever|anywhere|really))?"
_DO_NOT = rf"(?:{_ADVERB}\ (?:(?:do|does|did|can|could)(?:\ not|n't)|cannot|never|fails?\ to|failed\ to){_ADVERB})"
_BE_NOT = rf"(?:\ (?:is|are|was|were|has\ been|have\ been)(?:\ not|n't|\ never){_ADVERB})"
_BE = r"(?:is|are|was|were)"
_MENTION = r"(?:mention|discuss|address|describe|referenc|refer\ to|talk\ about|touch\ on|speak\ of)(?:e?s|e?d|e)?"
_SAY = (
    r"(?:specif(?:y|ies|ied)|state[sd]?|says?|said|indicate[sd]?|clarif(?:y|ies|ied)|reveal(?:s|ed)?|"
    r"explain(?:s|ed)?|disclose[sd]?|elaborate|tells?(?:\ (?:us|me|you))?|told)"
)
_HOLD = (
    r"(?:cover|give|note|list|provide|include|contain|offer|ha[vs]e?|show|suppl(?:y|ies)|answer|identif(?:y|ies))e?s?"
)
_KNOW = r"(?:find|locate|see|know|determine|answer|tell|say|verify|confirm|identify|establish|provide|give|have)"
_REFUSE = r"(?:help|assist|comply|answer|respond|discuss|share|offer|speculate|comment)"
_SAID = r"(?:mentioned|discussed|addressed|described|specified|stated|indicated|disclosed|clarified|explained|said)"
_HELD = (
    r"(?:given|provided|covered|included|listed|found|known|clear|available|present|shown|contained|answered|"
    r"determined)"
)
_FILLER = (
    r"(?:(?:any|an?|the|enough|sufficient|further|specific|explicit|direct|more|relevant|clear|other|exact|much)\ )*"
)
_INFORMATION = r"(?:information|info|details?|mention|references?|data|indication|answers?|word|anything)\b"
_ABOUT = r"(?:about|on|of|to|regarding|concerning|as\ to|for|that)"
_NONE = rf"(?:(?:no|not\ enough|not\ sufficient|insufficient|not\ any)\ {_FILLER}{_INFORMATION}|nothing)"
_HAVE_NONE = rf"(?:\ (?:\w+s?|is|was)\ {_NONE}|\ lacks?\ {_FILLER}{_INFORMATION}|\ (?:is|are)\ silent)"
_TOPIC = r"(?:\ (?P<topic>.+?))?"
_ASKED = r"(?:that|whether|if|how|when|where|why|who|whom|what|which)\b"
_THE_ANSWER = r"(?:it|this|that|the\ (?:answer|question)|your\ question|(?:this|that|the)\ information)"
_TELLER = rf"(?:{_SOURCE}|(?(looked)(?:it|they)|(?!)))"
"""A source, or "it" behind the words that the writer looked through one."""
_FORMS: tuple[tuple[str, Kind], ...] = (
    # of the sources: "The text does not say how many", "None of the documents mentions it"
    (rf"{_TELLER}{_DO_NOT}\ {_MENTION}{_TOPIC}", "mention"),
    (rf"{_NO_SOURCE}{_ADVERB}\ {_MENTION}{_TOPIC}", "mention"),
    (rf"(?:{_SOURCE}{_DO_NOT}|{_NO_SOURCE}{_ADVERB})\ \w+\ {_FILLER}{_INFORMATION}(?:\ {_ABOUT})?{_TOPIC}", "mention"),
    (rf"{_TELLER}{_HAVE_NONE}(?:\ {_ABOUT})?{_TOPIC}", "mention"),
    (rf"(?:{_TELLER}{_DO_NOT}|{_NO_SOURCE}{_ADVERB})\ {_SAY}{_TOPIC}", "value"),
    (rf"(?:(?=[^,]*?\b{_GENERAL}\b){_SOURCE}{_DO_NOT}|{_NO_SOURCE}{_ADVERB})\ {_HOLD}{_TOPIC}", "value"),
    # of the writer: "I could not find the fare"
    (rf"i(?:\ have|\ found|\ saw|\ see)\ {_NONE}(?:\ {_ABOUT})?{_TOPIC}", "mention"),
    (
        rf"(?:i(?:\ am|'m)?|we(?=.*(?:{_WITHIN}|{_INFORMATION}))(?:\ are|\ were)?|i\ was|)\ ?(?:\w+ly\ )?"
        rf"(?:(?:do|did|could|can|was|were|am|are|have)(?:\ not|n't)|cannot|can't|not|unable)(?:\ currently)?"
        rf"(?:\ able)?(?:\ to)?(?:\ be\ able\ to)?\ (?:{_REFUSE}\b|have\ access\b|(?:have|provide|give|find|see)\ "
        rf"{_FILLER}{_INFORMATION}|(?!have|give|provide){_KNOW}\b)(?:\ with)?(?:\ {_ABOUT})?{_TOPIC}",
        "mention",
    ),
    (
        r"(?:i|we)(?:\ am|'m|\ are|'re)\ (?:not\ (?:sure|certain|aware)|unsure|unaware|uncertain)(?:\ (?:about|of))?"
        + _TOPIC,
        "mention",
    ),
    # of a thing: "The fare is not given in the text", "Her age is never mentioned"
    (rf"it{_BE_NOT}\ {_SAID}{_WITHIN}?\ (?P<topic>{_ASKED}.+?)", "statement"),
    (rf"it(?:{_BE_NOT}\ {_HELD}|\ {_BE}\ (?:unclear|unknown)){_SAID_WITHIN}\ (?P<topic>{_ASKED}.+?)", "statement"),
    (rf"(?P<topic>.+?){_BE_NOT}\ (?:mentioned|discussed|addressed|described)(?:{_WITHIN}|\ here)?", "mention"),
    (rf"(?P<topic>.+?){_BE_NOT}\ {_SAID}(?:{_WITHIN}|\ here)?", "value"),
    (rf"(?P<topic>.+?)(?:{_BE_NOT}\ {_HELD}|\ {_BE}\ (?:unclear|unknown|unspecified)){_SAID_WITHIN}", "value"),
    (rf"(?P<topic>.+?)\ (?:cannot|can't|could\ not|couldn't)\ be\ (?:{_SAID}|{_HELD}|answered){_SAID_WITHIN}", "value"),
    (rf"{_THE_ANSWER}(?:\ (?:cannot|can't|could\ not|couldn't)\ be|{_BE_NOT})\ (?:{_SAID}|{_HELD})", "value"),
    (rf"{_THE_ANSWER}{_BE_NOT}{_WITHIN}", "value"),
    # of nothing: "There is no information about refunds", "Not stated in the text", "Unknown"
    (
        rf"(?:(?:there(?:\ (?:is|are|was|were)|'s)\ )?{_NONE}|"
        rf"there\ (?:is|are|was)(?:\ not|n't)\ {_FILLER}{_INFORMATION})"
        r"(?:\ (?:(?:could|has|have|can)\ )?(?:is|are|was|were|be|been)?\ ?"
        rf"(?:made|given|provided|available|included|found|{_SAID}))?{_WITHIN}?(?:\ {_ABOUT}|(?=\W*$|\ in\b)){_TOPIC}",
        "mention",
    ),
    (rf"(?:not|never|nowhere)\ (?:\w+ly\ )?(?:{_SAID}|{_HELD}){_WITHIN}?(?:\ (?P<topic>{_ASKED}.+?))?", "statement"),
    (rf"(?:unknown|unspecified|unstated|unclear|unanswerable|n/a|cannot\ be\ (?:{_SAID}|{_HELD})){_WITHIN}?", "value"),
)
_OPENING = rf"""(?:(?:unfortunately|regrettably|however|but|sorry|apologies|i(?:\ am|'m)\ (?:very\ )?(?:sorry|afraid)|
    i\ apologi[sz]e|(?P<opened>(?:based\ on|according\ to|from|in|within)\ {_SOURCE})|
    (?P<looked>(?:i|we)(?:\ have|'ve)?\ (?:\w+\ ){{1,4}}?{_SOURCE})(?=,?\ (?:but|and|however)\b)|
    as\ an\ ai(?:\ \w+){{0,2}})(?:[,:;]?\ |,)(?:but\ |and\ |that\ )?)*"""
_DENIAL = re.compile(
    r"\b(?:no|not|never|none|nothing|neither|cannot|unable|un\w+|fail\w*|lacks?|silent|insufficient|n/a)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What every form has."""
_AT_END = re.compile(rf"{_WITHIN}\W*$", re.VERBOSE | re.IGNORECASE)
_VERB_FIRST = re.compile(rf"(?:{_KNOW}\ )?(?:{_FILLER}{_INFORMATION}\ (?:{_ABOUT}\ )?)?", re.VERBOSE | re.IGNORECASE)
"""What may come before the topic: "enough information to [say] who", "could not find [anything about] refunds"."""
_JOINT = re.compile(
    r"\s*;\s+(?:(?:but|however|and),?\s+)?|\s*,\s+(?:but|though|although|however,?|yet|so|and)\s+|"
    r"\s+(?:but|although|though)\s+",
    re.IGNORECASE,
)
_FEW = 2
"""Words that state nothing."""
_LONGEST = 300
"""Characters; a longer sentence is taken as a claim."""
_NO_TOPIC = frozenset(
    str.split("""information detail details data answer answers question questions anything enough sufficient relevant
        specific further more exact exactly explicit direct such topic subject context document documents text provided
        given available that whether if how when where why who what which it this""")
)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], Kind], ...]:
    """The forms as patterns, compiled only for a sentence that denies something: that takes time."""
    return tuple(
        (re.compile(rf"\W*{_OPENING}{form}{_WITHIN}?\W*$", re.VERBOSE | re.IGNORECASE), kind) for form, kind in _FORMS
    )


@dataclass(frozen=True, slots=True)
class Abstention:
    """A sentence that says that something is not known or not in the sources."""

    topic: Span | None
    """Its words for what is missing; None if it names nothing."""
    kind: Kind
    stems: tuple[str, ...]
    """The content words of the topic; empty if it names nothing."""


def abstention_in(sentence: str) -> Abstention | None:
    """The abstention that a sentence or clause is; None for a statement about anything else.

    >>> abstention_in("The context does not mention the ferry.").topic.text
    'the ferry'
    >>> abstention_in("The ferry does not mention it."), abstention_in("The ferry is not known for its speed.")
    (None, None)
    """
    if len(sentence) > _LONGEST or not _DENIAL.search(sentence):
        return None
    for text in dict.fromkeys((sentence, statement_of(sentence))):
        plain = re.sub(r"\s", " ", text.replace("’", "'").replace("*", " "))
        plain = re.sub(r" {2,}", lambda gap: " " + "\0" * (len(gap[0]) - 1), plain)
        if "\0" in plain:
            offset = [at for at, character in enumerate(plain) if character != "\0"]
            plain = plain.replace("\0", "")
        else:
            offset = [*range(len(plain))]
        for form, kind in _patterns():
            if (found := form.match(plain)) and not _states_more(found.groupdict().get("topic") or ""):
                return _abstention(sentence, offset, found, kind)
    return None


def _states_more(topic: str) -> bool:
    """Whether another clause follows: "Unable to determine the cause, doctors amputated the leg"."""
    after = topic.partition(", ")[2]
    return finite_verb(after) and not re.match(rf"(?:or\ |and\ )?{_ASKED}", after, re.IGNORECASE | re.VERBOSE)


def without_facts(sentence: str) -> list[tuple[int, int]]:
    """The stretches of a sentence, cut where an abstention meets a statement of something.

    >>> said = "The text does not say when, but the tram costs 3 euros."
    >>> [said[first:last] for first, last in without_facts(said)]
    ['The text does not say when', 'the tram costs 3 euros.']
    """
    for joint in _JOINT.finditer(sentence) if _DENIAL.search(sentence) else ():
        left, right = sentence[: joint.start()], sentence[joint.end() :]
        stated = next((b for a, b in ((left, right), (right, left)) if abstention_in(a)), "")
        if len(stated.split()) > _FEW and ("and" not in joint.group() or finite_verb(stated)):
            rest = ((joint.end() + first, joint.end() + last) for first, last in without_facts(right))
            return [(0, joint.start()), *rest]
    return [(0, len(sentence))]


def _abstention(sentence: str, offset: list[int], found: re.Match[str], kind: Kind) -> Abstention:
    topic = found.groupdict().get("topic") or ""
    start = found.start("topic") if topic else 0
    if opening := _VERB_FIRST.match(topic):
        start, topic = start + opening.end(), topic[opening.end() :]
    if within := _AT_END.search(f" {topic}"):
        topic = topic[: max(0, within.start() - 1)]
    stems = tuple(word.stem for word in find_words(topic) if word.is_content and word.lower not in _NO_TOPIC)
    if not stems:
        return Abstention(None, kind, ())
    first, last = offset[start], offset[start + len(topic) - 1] + 1
    asked = re.match(_ASKED, topic, re.IGNORECASE)
    return Abstention(Span(sentence[first:last], first, last), "statement" if asked else kind, stems)
