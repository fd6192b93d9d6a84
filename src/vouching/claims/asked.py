"""Whether a sentence answers an indirect question: "when it opened", "how much a ticket costs", "where the cafe is".

It does if it has the content words of the question, is no denial, and has a value of the kind asked for: a date or a
time of day for "when", an amount, a duration or a rate for "how much", "how long" and "how often", a place right behind
the words for "where", a name beside the verb for "who", an object for "what". Not supported: "why", synonyms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vouching.text.cues import find_negations, is_negated
from vouching.text.dates import find_dates
from vouching.text.quantities import find_quantities
from vouching.text.words import find_words

_QUESTION = re.compile(
    r"(?P<when>when|(?:in |on |at )?(?:what|which) (?:time|date|year|month|day)|since when|until when)\b"
    r"|how (?P<amount>much|many)\b|(?P<length>(?:for )?how long)\b|(?P<rate>how often)\b|(?P<where>where)\b"
    r"|(?P<who>by whom|who)\b|(?P<what>what)\b|how (?P<extent>\w+)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\s*(?:it|he|she|they|this|that)\b", re.IGNORECASE)
_BARE = re.compile(r"\b(?:is|are|was|were)\W*$", re.IGNORECASE)
_SAID_OF = r"\s*(?::|\b(?:is|are|was|were|(?:takes?|took) place)\b)"
_RATE = re.compile(r"\b(?:every|each|once|twice|daily|weekly|monthly|yearly|annually|hourly|times)\b", re.IGNORECASE)
_PLACE = re.compile(
    r"(?:\W+(?:is|are|was|were|lies|located|found|situated))*\W+(?:in|on|at|near|next to|opposite|behind|under|above)"
    r"\s+(?:the |an? )?(?!\d)[^\W\d_]{2,}",
    re.IGNORECASE,
)
_BY_NAME = re.compile(r"\s+by\s+(?:the\s+)?[A-Z]")
_NAME_BEFORE = re.compile(r"\w\W+[A-Z][\w'’-]+\s+(?:(?:has|had|have|also|then|later|first)\s+)*$")
_COSTS = frozenset(word.stem for word in find_words("cost price pay paid charge fee rent"))


def answers(question: str, sentences: Sequence[str]) -> int | None:
    """The first sentence that answers an indirect question; None without one, or where its subject is unclear.

    Args:
        question: such as "when the museum opened". One about a pronoun is answered if a single sentence does.
        sentences: those of a text.

    >>> answers("how much a ticket costs", ["It opened in 1987.", "Tickets cost 9 euros."])
    1
    >>> answers("when it opened", ["The museum opened in 1987.", "The cafe opened in 1990."]) is None
    True
    """
    asked = _QUESTION.match(question)
    if asked is None:
        return None
    about = question[asked.end() :]
    stems = {word.stem for word in find_words(about) if word.is_content}
    found = [at for at, text in enumerate(sentences) if stems and _answers(asked, about, stems, text)]
    return found[0] if found and (len(found) == 1 or not _PRONOUN.match(about)) else None


def _answers(asked: re.Match[str], about: str, stems: set[str], sentence: str) -> bool:
    words = find_words(sentence)
    places = [word for word in words if word.stem in stems]
    if not stems <= {word.stem for word in places} or is_negated(places[-1].start, find_negations(sentence, words)):
        return False
    kind, last = str(asked.lastgroup), places[-1].end
    if kind == "where":
        return _PLACE.match(sentence, last) is not None
    if _BARE.search(about):  # "when the concert is": what is said of the concert itself
        named = re.escape(_BARE.sub("", about).strip().removeprefix("the "))
        said = re.match(rf"\W*(?:the\s+|an?\s+)?{named}{_SAID_OF}", sentence, re.IGNORECASE)
        return said is not None and _has_value(kind, stems, sentence)
    if kind == "what":
        verb = find_words(about)[-1].stem
        return len(stems) > 1 and places[-1].stem == verb and bool(re.match(r" [^\W_]", sentence[last:]))
    if kind == "who":
        verb = find_words(about)[0].stem
        verbs = [word for word in places if word.stem == verb]
        return any(_BY_NAME.match(sentence, word.end) or _NAME_BEFORE.search(sentence[: word.start]) for word in verbs)
    return _has_value(kind, stems, sentence)


def _has_value(kind: str, stems: set[str], sentence: str) -> bool:
    """Whether a sentence has a value of the kind that is asked for."""
    dates = find_dates(sentence)
    amounts = find_quantities(sentence, [date for date in dates if date.kind != "duration"])
    dimensions = {one.dimension for one in amounts if one.kind != "ordinal"}
    match kind:
        case "when":
            spans = [sentence[: date.start] for date in dates if date.kind == "duration"]
            within = any(re.search(r"\b(?:within|after|before)\s*$", before) for before in spans)
            return within or len(dates) > len(spans) or "time_of_day" in dimensions
        case "amount":
            return ("currency" if stems & _COSTS else "count") in dimensions
        case "length":
            return any(date.kind == "duration" for date in dates) or bool({"time", "length"} & dimensions)
        case "rate":
            return any(one.per for one in amounts) or _RATE.search(sentence) is not None
        case _:
            return bool(dimensions) or bool(dates)
