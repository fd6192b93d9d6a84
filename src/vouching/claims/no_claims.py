"""Why a sentence of an answer states nothing that could be checked: a greeting, a heading, an offer of help.

Most of these are known by whom they are about: the writer ("I can also ..."), the reader ("You may want to ask a
lawyer", "See the guide"), the answer itself ("This summary covers ...", "That is correct"). A sentence of any of these
kinds that also has a number, a name or a statement ("I can confirm that ...") stays a claim, and so does an instruction
to do something in the world ("Press the red button"). Not supported: other languages than English.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from vouching.text.clauses import finite_verb, states
from vouching.text.framing import DOCUMENT_NAMED, statement_of

Reason: TypeAlias = Literal["greeting", "question", "heading", "opinion", "instruction", "fragment"]

_GREETING = re.compile(
    r"""(?:sure(?:\ thing)?|certainly|of\ course|absolutely|definitely|got\ it|no\ problem|okay|ok|great|welcome|
        (?:hello|hi|hey|greetings|good\ (?:morning|afternoon|evening|day))(?:\ (?:there|everyone|all))?|
        (?:great|good|excellent|interesting)\ question|you['’]re\ welcome|
        (?:best|kind)\ regards|cheers|(?:happy|glad)\ to\ help|gladly|with\ pleasure)[\s!.,:;–—-]*$
      | thank(?:s|\ you)(?:\ (?:so|very)\ much|\ a\ lot)?(?:\ for\ (?:asking|(?:your|the|this)\ [a-z]+(?:\ [a-z]+)?
        |(?:reaching|getting)\ [a-z]+))?[\s!.,:;–—-]*$
      | (?:good\ luck|enjoy|congratulations|best\ wishes|safe\ travels|all\ the\ best|
        have\ (?:a|an)\ (?:great|nice|good|lovely|wonderful|pleasant|safe)\ \w+)\b[^,;:.!\d]*[.!]*$""",
    re.VERBOSE | re.IGNORECASE,
)
_PERSON = r"""(?:doctors?|physicians?|lawyers?|attorneys?|pharmacists?|accountants?|specialists?|experts?|advis[eo]rs?|
    professionals?|electricians?|plumbers?|technicians?|support|team|landlord|bank|authorit(?:y|ies)|office|vet\w*|
    therapists?|counsell?ors?|manufacturers?|dealers?|providers?|insurers?|officials?|agents?|staff|someone|others)"""
_PLACE = rf"""(?:{DOCUMENT_NAMED}
    | (?:\w+\ ){{0,4}}?(?:websites?|pages?|links?|sites?|hotline|above|below|sources?|{_PERSON})\b)"""
_TURN = rf"""(?:(?:consult|seek|refer\ to|(?:speak|talk)\ (?:to|with)|reach\ out|get\ in\ touch
      |contact(?=\ (?:an?|your|the)\b))\b
    | (?:double-check|verify|confirm|check|clarify|discuss)(?:ing)?\ (?:\w+\ ){{0,4}}?with
      \ (?:[\w'’]+\ ){{0,4}}?{_PERSON}\b
    | (?:see|check(?:\ with|\ out)?|ask|call|visit|review|read|look\ (?:at|up)|contact)(?:ing)?\ {_PLACE})"""
"""What sends the reader to another text or person."""
_TO_READER = re.compile(
    rf"""(?:please\ (?!note)|always\ |also\ |just\ |then\ )*(?:{_TURN}
      | (?:feel\ free|make\ sure|remember\ to|try\ to|check\ out|please(?!\ note)\b)
      | (?:do\ not|don['’]t)\ (?:hesitate|forget)\b
      | you\ (?:may|might|should|could|can|must|will)\ (?:\w+\ ){{0,3}}?{_TURN}
      | we\ (?:recommend|suggest|advise)\ (?:(?:that\ )?you\ (?:to\ )?)?{_TURN}
      | it(?:\ (?:is|would\ be|may\ be|might\ be)|['’]s)\ (?:\w+\ ){{1,3}}?(?:(?<=worth\ )|to\ ){_TURN})""",
    re.VERBOSE | re.IGNORECASE,
)
_WRITER = re.compile(
    r"""(?:i(?:['’](?:m|ll|d|ve)|\ (?:am|can|could|will|would|may|might|should|shall|
        have\ (?:\w+ed|gone|put|found|read|made|written)
        |hope|recommend|suggest|advise|apologi[sz]e|appreciate|understand|encourage|trust|want|need|see))\b
      | let(?:\ me|['’]s|\ us)\b|hope(?:fully)?\b|(?:i['’]m\ |i\ am\ )?(?:sorry|my\ apologies)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_ATTITUDE = re.compile(
    r"(?:i\s+(?:personally\s+)?(?:think|believe|feel|guess|suppose|love|like|wish)|in\s+my\s+(?:humble\s+)?opinion|"
    r"personally|what\s+a|how\s+\w+[!.]*$)\b",
    re.IGNORECASE,
)
_TEXT_OF_ANSWER = (
    r"(?:answer|response|reply|summary|overview|explanation|list|outline|draft|advice|information|guidance)"
)
_ABOUT_ANSWER = re.compile(
    rf"""(?:(?:this|my|these|(?:the|this)\ (?:above|following|preceding))\ {_TEXT_OF_ANSWER}s?
        |the\ {_TEXT_OF_ANSWER}s?\ (?:above|below))\ (?:is|are|covers?|summari[sz]es?|should|may|highlights?|includes?|
        provides?|helps?|gives?|contains?|shows?)\b
      | (?:(?:please\ )?note\ that\ )?(?:this|it)\ is\ (?:not\ )?(?:\w+\ ){{0,3}}?{_TEXT_OF_ANSWER}\b
      | (?:here|below|above)(?:['’]s|\ (?:is|are|you|follows?))\b|(?:the\ )?following\ (?:is|are)\b
      | (?:that|this|it|your\ \w+|(?:this|that|the)\ (?:statement|claim|answer|assumption|understanding|question))
        (?:['’]s|\ (?:is|was)(?:\ not|n['’]t)?)(?:\ \w+ly)?(?:\ an?)?\ (?:(?:correct|right|true|false|incorrect|
        accurate|inaccurate)(?:\ (?:statement|understanding))?|\w+\ (?:question|point))\W*$""",
    re.VERBOSE | re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"(?:here(?:['’]s| (?:is|are))|below (?:is|are)|the following (?:is|are))\b(?!(?: \w+){0,2} \d)[^:]*[:：]", re.I
)
"""What presents the text below it, whatever it names, but does not count: "Here are the orders of Ann as JSON:"."""
_KINDS: tuple[tuple[re.Pattern[str], Reason], ...] = (
    (_WRITER, "greeting"),
    (_TO_READER, "instruction"),
    (_ATTITUDE, "opinion"),
    (_ABOUT_ANSWER, "greeting"),
)
_OPENING = re.compile(
    r"(?:(?:if|for|when|in case|should|to|also|unfortunately|note)\b[^,:.!?]*,\s+)?(?:(?:just|simply)\s+)?",
    re.IGNORECASE,
)
"""A phrase, a clause or an adverb before the main one: "For more information, see ..."."""
_BARE_ASK = re.compile(r"(?:just |please |do |you can |feel free to )*(?:ask|let me know|say so|reach out)\b", re.I)
_TAG = re.compile(
    r",\s(?:right|correct|no|(?:\w+n['’]t|is|was|are|were|do|does|did|has|have|had|can|will|would)\s(?:it|he|she|they|we))\s*[?？]$",
    re.IGNORECASE,
)
"""What makes a question of a statement: "It opened in 1973, didn't it?"."""
_HEADING = re.compile(r"#+|\*\*[^*]+\*\*:?$|__[^_]+__:?$")
_AFTER_OPENING = re.compile(r"(?:\bthat\b|[:,])\s+(.+)", re.DOTALL)
_MIN_STATED = 3
_TO_THE_READER = frozenset(
    str.split("you your yourself me i i'll i'd i'm us let please questions help assist see consult refer ask")
)
_REFERENCE = re.compile(r"[(\[][^()\[\]]{1,30}[)\]]\.?")
_AMOUNT = re.compile(r"[^\w\s]*(?:[%€$£]?\d{3}|[%€$£]\d|\d{1,2}[.,]?\d*[%€$£])[\d.,:/%€$£-]*[^\w\s]*")
"""A number that no item of a list and no reference has: "1999.", "5%"."""
_CLOSING = "\"'”’»)]}*_` \t"
_DECORATION = "*_\"“'‘`#> \t"


def why_no_claim(sentence: str, *, is_item: bool, whole: bool, ends_line: bool) -> Reason | None:
    """Why a sentence states nothing that could be checked; None if it is a claim."""
    bare = sentence.strip(_DECORATION)
    words = bare.split()
    if not any(character.isalnum() for character in bare):
        return "fragment"
    for text in dict.fromkeys((bare, statement_of(bare).strip())):
        if _GREETING.match(text):
            return "greeting"
        if sentence.rstrip(_CLOSING)[-1:] in ("?", "？", "؟") and not _TAG.search(bare):
            return "question"
        if reason := _addressed(text, is_item):
            return reason
    if whole:
        return None
    if _is_heading(sentence, bare, ends_line and not is_item):
        return "heading"
    if _REFERENCE.fullmatch(sentence) and not finite_verb(bare):
        return "fragment"
    alone = len(words) == 1 and not is_item and bare[0] < "\u2e80" and not _AMOUNT.fullmatch(bare)
    return "fragment" if alone else None


def _addressed(text: str, is_item: bool) -> Reason | None:
    """The kind of a sentence about the writer, the reader or the answer that states no fact; None for any other."""
    if _LEAD_IN.fullmatch(text):
        return "greeting"
    if _checkable(text):
        return None
    opening = _OPENING.match(text)
    rest = text[opening.end() :] if opening else text
    if rest != text and _BARE_ASK.match(rest):
        return "greeting"
    if _states_more(rest):
        return None
    reasons: list[Reason] = [reason for kind, reason in _KINDS if kind.match(rest)]
    return None if not reasons or (reasons[0] == "instruction" and is_item) else reasons[0]


def _is_heading(sentence: str, bare: str, alone: bool) -> bool:
    marked = _HEADING.match(sentence)
    if bare.endswith((":", "：")) or marked:
        checkable = not sentence.startswith("#") and finite_verb(bare) and _checkable(bare)
        return not (checkable or (marked and bare[-1] not in ":：" and states(bare)))
    ends_open = bare[-1] not in ".!?…。！।۔|" and bare[0] < "\u2e80"
    short = alone and ends_open and len(bare.split()) <= 8 and not re.search(r"\d", bare)
    return short and not finite_verb(bare) and not states(bare)


def _states_more(bare: str) -> bool:
    """Whether something is stated after a polite or personal opening: "I am happy to confirm that smoking is safe"."""
    rest = _AFTER_OPENING.search(bare)
    words = rest.group(1).lower().split() if rest else []
    return len(words) >= _MIN_STATED and not _TO_THE_READER & {word.strip(".,;:!?'’") for word in words}


def _checkable(bare: str) -> bool:
    """Whether the text has a number or, after the first word, a name."""
    return bool(re.search(r"\d|\s[\"“(]?(?!I\b|I['’]|AI\b)[A-Z]", bare))
