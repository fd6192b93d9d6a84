"""Why a sentence of an answer states nothing that could be checked: a greeting, a heading, an offer of help."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from vouching.text.clauses import finite_verb
from vouching.text.framing import statement_of

Reason: TypeAlias = Literal["greeting", "question", "heading", "opinion", "instruction", "fragment"]

_GREETING = re.compile(
    r"""(?:(?:sure(?:\ thing)?|certainly|of\ course|absolutely|definitely|got\ it|no\ problem|okay|ok|great|
        (?:hello|hi|hey|greetings|good\ (?:morning|afternoon|evening|day))(?:\ (?:there|everyone|all))?|welcome|
        (?:great|good|excellent|interesting)\ question|you['’]re\ welcome|
        (?:best|kind)\ regards|cheers|(?:happy|glad)\ to\ help|gladly|with\ pleasure
      )[\s!.,:;–—-]*$
      | thank(?:s|\ you)(?:\ (?:so|very)\ much|\ a\ lot)?(?:\ for\ (?:asking|(?:your|the|this)\ [a-z]+(?:\ [a-z]+)?
        |(?:reaching|getting)\ [a-z]+))?[\s!.,:;–—-]*$
      | (?:good\ luck|enjoy|congratulations|best\ wishes|safe\ travels|all\ the\ best|
        have\ (?:a|an)\ (?:great|nice|good|lovely|wonderful|pleasant|safe)\ \w+)\b[^,;:.!\d]*[.!]*$
      | (?:i\ )?hope\ (?:this|that|it|these)\ (?:helps?|answers|clarifies|is\ helpful|was\ helpful|information)\b
      | (?:please\ )?(?:let\ me\ know|feel\ free\ to)\b
      | if\ you\ (?:have|need|want|would\ like)\ (?:any|more|further|other|additional)\b.*
        \b(?:questions?|help|assistance|information|details|ask|let\ me\ know)\b
      | (?:i['’](?:m|d\ be)|i\ am|i\ would\ be)\ (?:happy|glad)\ to\b
      | i\ can\ (?:certainly\ )?help\b)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_ANNOUNCEMENT = re.compile(
    r"(?:[^:]*[\s,!])?(?:here(?:['’]s|\s+is|\s+are)|(?:the\s+)?following\s+(?:is|are)|below\s+(?:is|are))\b[^:]*:\W*$|"
    r"(?:[^:.!]{1,60}[,!–—-]\s+)?here(?:['’]s|\s+is|\s+are)\s+(?:an?|some|the|my|your|how|what|more|few)\b[^:;\d]*$",
    re.IGNORECASE,
)
_OWN_WORK = re.compile(
    r"""(?:sure,?\s+|okay,?\s+|certainly,?\s+)?(?:i(?:['’](?:ll|ve)|\s+(?:can|will|have|am\s+going\s+to|could))|let\s+me)\s+
        (?:now\s+|also\s+|just\s+|try\s+to\s+|gladly\s+|briefly\s+)*(?:summari[sz]ed?|explain(?:ed)?|list(?:ed)?|
        outlined?|go(?:ne)?\s+(?:over|through)|look(?:ed)?\s+(?:at|into|up|through)|check(?:ed)?|review(?:ed)?|read|
        walk\s+you|help(?:ed)?|put\s+together|collect(?:ed)?|gather(?:ed)?|compil(?:ed?)|break\s+(?:it|this)|
        give\s+you|tell\s+you\s+(?:what|how)|show\s+you|describe)\b[^:;\d]*$""",
    re.VERBOSE | re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"(?:please(?!\s+note)|(?:always\s+)?(?:consult|contact|ask)\s+(?:a|an|your|with)\b|seek\s+(?:medical|legal|professional)|"
    r"see\s+(?:above|below)|refer\s+to|check\s+out|make\s+sure\s+to|remember\s+to|try\s+to|"
    r"(?:do\s+not|don['’]t)\s+(?:hesitate|forget))\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"(?:i\s+(?:personally\s+)?(?:think|believe|feel|guess|suppose|love|like|hope|wish)|in\s+my\s+(?:humble\s+)?opinion|"
    r"personally|what\s+a|how\s+\w+[!.]*$)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"#{1,6}\s|\*\*[^*]+\*\*:?$|__[^_]+__:?$")
_AFTER_OPENING = re.compile(r"(?:\bthat\b|[:,])\s+(.+)", re.DOTALL)
_MIN_STATED = 3
_TO_THE_READER = frozenset(str.split("you your me i i'll i'd us let please questions help assist"))
_REFERENCE = re.compile(r"[(\[][^()\[\]]{1,30}[)\]]\.?")
_CLOSING = "\"'”’»)]}*_` \t"
_DECORATION = "*_\"“'‘`#> \t"


def why_no_claim(sentence: str, *, is_item: bool, whole: bool, ends_line: bool) -> Reason | None:
    """Why a sentence states nothing that could be checked; None if it is a claim."""
    bare = sentence.strip(_DECORATION)
    words = bare.split()
    if not any(character.isalnum() for character in bare):
        return "fragment"
    polite = [bare, statement_of(bare).strip()]
    if any((_GREETING.match(text) and not _states_more(text)) or _ANNOUNCEMENT.match(text) for text in polite):
        return "greeting"
    if any(_OWN_WORK.match(text) and not _states_more(text) for text in polite):
        return "greeting"
    if sentence.rstrip(_CLOSING)[-1:] in ("?", "？", "؟"):
        return "question"
    set_aside = not any(character.isdigit() for character in bare) and not _states_more(bare)
    if not is_item and _INSTRUCTION.match(bare) and set_aside:
        return "instruction"
    if _OPINION.match(bare) and not _checkable(bare) and not _states_more(bare):
        return "opinion"
    if whole:
        return None
    if _is_heading(sentence, bare, ends_line and not is_item):
        return "heading"
    if _REFERENCE.fullmatch(sentence) and not finite_verb(bare):
        return "fragment"
    return "fragment" if len(words) == 1 and not is_item and bare[0] < "\u2e80" else None


def _is_heading(sentence: str, bare: str, alone: bool) -> bool:
    if sentence.startswith("#"):
        return True
    if _HEADING.match(sentence) or bare.endswith((":", "：")):
        return not (finite_verb(bare) and _checkable(bare))
    ends_open = bare[-1] not in ".!?…。！।۔|" and bare[0] < "\u2e80"
    return alone and ends_open and len(bare.split()) <= 8 and not finite_verb(bare) and not re.search(r"\d", bare)


def _states_more(bare: str) -> bool:
    """Whether something is stated after a polite or personal opening: "I am happy to confirm that smoking is safe"."""
    rest = _AFTER_OPENING.search(bare)
    words = rest.group(1).lower().split() if rest else []
    return len(words) >= _MIN_STATED and not _TO_THE_READER & {word.strip(".,;:!?'’") for word in words}


def _checkable(bare: str) -> bool:
    """Whether the text has a number or, after the first word, a name."""
    return bool(re.search(r"\d|\s[\"“(]?(?!I\b|I['’]|AI\b)[A-Z]", bare))
