"""The words that hedge or bound a number or a date: "about 500", "more than 5", "10 days at the latest", "before 1900".

They are read next to the number, or with up to three words between. A negated bound is its complement: "must not be
longer than 5" allows at most 5, and so does "do not store above 5" (see :func:`resolve_negations`). "Since",
"until" and a sentence's opening "after" name the date at which something begins or ends, and are no bounds. Not
supported: hedges further away ("by some accounts, 500") and those that qualify the whole sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from vouching.text.cues import Negation
from vouching.text.mentions import Bound, DateMention, Quantity

COMPLEMENT: Mapping[Bound, Bound] = {
    "more_than": "at_most",
    "at_most": "more_than",
    "less_than": "at_least",
    "at_least": "less_than",
    "exact": "exact",
}
"""The bound that holds where another is denied."""

_MORE = r"(?:more|greater|larger|bigger|higher|longer|older|later|heavier|wider|taller|faster|farther|further|deeper)"
_LESS = r"(?:less|fewer|smaller|lower|shorter|younger|earlier|sooner|lighter|narrower|slower|cheaper|colder)"
_ABOVE = rf"{_MORE} than|over|above|beyond|exceed(?:s|ed|ing)?|upwards of|in excess of|>"
_BELOW = rf"{_LESS} than|under|below|<"
_NOT = r"(?:no|not|never|cannot|\w{2,7}n['’]t)(?: (?:be|been|to be|take|last|go|rise|fall|drop))?"
_UP_TO = r"(?<!add )(?<!adds )(?<!added )(?<!went )(?<!gone )up to"
_VERB = r"(?:is|are|was|were|be|of|at|to|:|=)"
_ADVERB = r"(?: set| fixed| currently| now| still| then)?"
_TOP = r"(?:maximum|ceiling|cap|upper limit|limit|upper bound)"
_BOTTOM = r"(?:minimum|lower limit|lower bound)"
_COPULA = rf"\b(?:(?! (?:and|or|but|not)\b)[^.,;:!?()\d]){{0,48}} {_VERB}{_ADVERB}"
_BEFORE = re.compile(
    r"(?<![^\W_])(?:"
    r"(?P<about>about|around|approximately|approx\.?|roughly|some|circa|c\.|ca\.?|(?:an )?estimated|close to|~|≈)"
    r"|(?P<nearly>nearly|almost)|(?P<exact>exactly|precisely|an exact)"
    rf"|(?P<at_least>{_NOT} (?:{_BELOW})|at (?:the very )?least|a minimum of|≥|>=|as (?:little|few) as|min\.|minimum)"
    rf"|(?P<at_most>{_NOT} (?:{_ABOVE})|at (?:the very )?most|{_UP_TO}|as (?:many|much) as|a limit of|limited to|≤|<="
    rf"|within|capped at|max\.|maximum|limit|a (?:maximum|cap|ceiling) of)"
    rf"|(?P<more_than>{_ABOVE})|(?P<less_than>{_BELOW})"
    rf"|(?P<top>(?P<top_word>{_TOP}){_COPULA})|(?P<bottom>(?P<bottom_word>{_BOTTOM}){_COPULA})"
    r")[ \u00a0]?\Z",
    re.IGNORECASE,
)
_REACH = 72
"""Characters before a number that are searched."""
_ENDINGS = frozenset("tdyx.eaco~≈nrsgfwml≥≤<>=:")
"""Last letters of the words above."""
_NOUNS = (
    r"(?: (?!(?:and|or|but|if|when|that|which|in|on|for|from|to|at|is|are|was|were|per|a|an|the)\b)[a-z-]{2,20}){0,3}?"
)
_UPWARD = r"(?:more|greater|over|above|older|longer|higher|later|up|upwards)\b"
_DOWNWARD = r"(?:less|fewer|under|below|younger|shorter|lower|earlier|smaller)\b"
_LEAST = r"(?:least|earliest|lowest|shortest|minimum)\b"
_MOST = r"(?:most|longest|latest|highest|maximum)\b"
_AFTER = re.compile(
    r"(?P<about>-?ish\b| or so\b| approximately\b)"
    rf"|(?P<at_least>{_NOUNS}(?P<at_least_words>\+| (?:(?:or|and) {_UPWARD}|at (?:the )?(?:very )?{_LEAST}|upwards\b)"
    r"|,? minimum\b))"
    rf"|(?P<at_most>{_NOUNS}(?P<at_most_words> (?:(?:or|and) {_DOWNWARD}|at (?:the )?(?:very )?{_MOST})|,? maximum\b"
    r"| max\b))"
)


@dataclass(frozen=True, slots=True)
class Hedge:
    """Words around a number that make it approximate or a bound."""

    start: int
    """Offset where the words before the number begin; the number's own start if there are none."""
    approximate: bool
    bound: Bound
    precise: bool = False
    """True for "exactly"."""
    words: tuple[tuple[int, int], ...] = ()
    """Where the hedging words are, before and after the number."""


def read_hedge(text: str, start: int, end: int) -> Hedge:
    """Read the hedges and bounds around the number at ``start..end``.

    >>> read_hedge("more than about 500 men", 16, 19)
    Hedge(start=0, approximate=True, bound='more_than', precise=False, words=((0, 16),))
    """
    first, kinds, words = start, set[str](), list[tuple[int, int]]()
    bound: Bound = "exact"
    while found := _phrase_before(text, first):
        kind = found.lastgroup or ""
        kinds.add(kind)
        bound = _BOUNDS.get(kind, bound)
        if kind in ("top", "bottom"):  # its own subject and verb, which are compared as other words are
            words.append(found.span(f"{kind}_word"))
            break
        first = found.start()
    if first < start:
        words.append((first, start))
    after = _AFTER.match(text, end)
    if after and (after.lastgroup == "about" or bound == "exact"):
        kind = after.lastgroup or ""
        kinds.add(kind)
        bound = _BOUNDS.get(kind, bound)
        words.append((after.start(f"{kind}_words"), after.end()) if kind != "about" else after.span())
    return Hedge(first, not kinds.isdisjoint(("about", "nearly")), bound, "exact" in kinds, tuple(words))


_BOUNDS: Mapping[str, Bound] = {
    "at_least": "at_least",
    "at_most": "at_most",
    "more_than": "more_than",
    "less_than": "less_than",
    "top": "at_most",
    "bottom": "at_least",
}


_DATE_BEFORE = re.compile(
    r"(?<![^\W_])(?:"
    rf"(?P<at_least>{_NOT} (?:before|earlier than|prior to)|on or after)"
    rf"|(?P<at_most>{_NOT} (?:after|later than)|by|on or before|at the latest (?:by|on|in))"
    r"|(?P<less_than>before|prior to|earlier than|ahead of)|(?P<more_than>(?<!^)after|later than)"
    r")\Z",
    re.IGNORECASE,
)
_DATE_AFTER = re.compile(r"(?P<at_least>,? at the earliest\b)|(?P<at_most>,? at the (?:very )?latest\b)")
_PART_OF_DATE = re.compile(
    r"(?: (?:(?P<at_most>the (?:very )?end of|late)|(?P<at_least>the (?:very )?(?:start|beginning) of|early)))?"
    r"(?: the)?[ \u00a0-]\Z",
    re.IGNORECASE,
)
_PART_ENDS: Mapping[tuple[Bound, str | None], Bound] = {
    ("less_than", "at_most"): "at_most",
    ("more_than", "at_least"): "at_least",
}
"""Before the end of a year is within it or earlier; after its beginning is within it or later."""


def read_date_bound(text: str, start: int, end: int) -> Hedge:
    """Read the words that bound the date at ``start..end``.

    >>> read_date_bound("sold before the end of 1900", 23, 27)
    Hedge(start=5, approximate=False, bound='at_most', precise=False, words=((5, 23),))
    """
    part = _PART_OF_DATE.search(text, max(0, start - _REACH), start)
    before = _DATE_BEFORE.search(text, max(0, start - _REACH), part.start()) if part else None
    if part and before:
        bound = _BOUNDS[before.lastgroup or ""]
        bound = _PART_ENDS.get((bound, part.lastgroup), bound)
        return Hedge(before.start(), False, bound, words=((before.start(), start),))
    after = _DATE_AFTER.match(text, end)
    return Hedge(
        start, False, _BOUNDS[after.lastgroup or ""] if after else "exact", words=(after.span(),) if after else ()
    )


def _phrase_before(text: str, start: int) -> re.Match[str] | None:
    # Most numbers have no hedge: one look at the last letter saves the search.
    last = text[max(0, start - 2) : start].rstrip(" \u00a0")[-1:].lower()
    found = _BEFORE.search(text, max(0, start - _REACH), start) if last in _ENDINGS else None
    return None if found and found.group().strip().lower() == "over" and _is_no_bound(text, found) else found


_PARTICLE_OF = re.compile(
    r"\b(?:carr(?:y|ies|ied|ying)|(?:turn|hand|roll|pass|switch|transfer|skip)(?:e?s|ed|ing)?|left|"
    r"(?P<long>tak(?:e|es|en|ing)|took)|(?P<to>(?:sign|deed)(?:s|ed|ing)?|made?|makes|making))\s+\Z",
    re.IGNORECASE,
)
"""Verbs that form one verb with "over": "take" except before a duration, "sign" only where "to" follows."""
_THROUGHOUT = re.compile(
    r"(?:\d\s?%?|\b(?!lasted|waited|worked|lived|aged|delayed|needed|required|served|stayed)[a-z]{2,}ed|"
    r"\b(?:spread|(?:re)?paid|grew|grown|fell|fallen|rose|risen|built))\s+\Z",
    re.IGNORECASE,
)
"""What happens throughout a duration that "over" opens: "spread over 6 weeks", "rose by 8 % over 12 months"."""
_DURATION = re.compile(
    r"\s?\S+[ \u00a0-](?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|quarters?|years?|decades?)\b",
    re.IGNORECASE,
)


def _is_no_bound(text: str, over: re.Match[str]) -> bool:
    """Whether "over" is part of a verb ("carry over 5 days"), or opens a stretch of time, and is not "more than"."""
    first = max(0, over.start() - _REACH)
    lasts = _DURATION.match(text, over.end())
    verb = _PARTICLE_OF.search(text, first, over.start())
    if verb and verb["to"]:
        return " to " in re.split(r"[.;!?]", text[over.end() :], maxsplit=1)[0]
    if verb:
        return not (verb["long"] and lasts)
    return bool(lasts and _THROUGHOUT.search(text, first, over.start()))


_Bounded = TypeVar("_Bounded", Quantity, DateMention)
_BREAK = re.compile(r"[,;:()]|\b(?:when|if|unless|that|who|which|where|because|until|after|before|and|or|but)\b")
_NO_DUTY = re.compile(r"\b(?:have|has|had|need|needs|needed|necessary|required|obliged|matter)\b")


def resolve_negations(
    text: str, negations: Sequence[Negation], quantities: Sequence[Quantity], dates: Sequence[DateMention]
) -> tuple[list[Negation], list[Quantity], list[DateMention]]:
    """Replace each bound that a negation of its clause governs by its complement, and drop that negation.

    >>> from vouching.text.cues import find_negations
    >>> from vouching.text.quantities import find_quantities
    >>> from vouching.text.words import find_words
    >>> text = "Do not store it above 25 °C."
    >>> left, found, _ = resolve_negations(text, find_negations(text, find_words(text)), find_quantities(text), [])
    >>> left, found[0].bound
    ([], 'at_most')
    """
    kept = list(negations)

    def resolved(value: _Bounded) -> _Bounded:
        kept[:] = [n for n in kept if not any(start <= n.start < end for start, end in value.hedges)]
        if value.bound not in ("more_than", "less_than") or value.approximate:
            return value
        governing = [n for n in negations if n.end <= value.hedge_start and _governs(text, n, value.hedge_start)]
        if len(governing) != 1:
            return value
        if governing[0] in kept:
            kept.remove(governing[0])
        return replace(value, bound=COMPLEMENT[value.bound])

    changed = [resolved(quantity) for quantity in quantities] if negations else list(quantities)
    return kept, changed, [resolved(date) for date in dates] if negations else list(dates)


_FARTHEST = 60
"""Characters between a negation and the bound that it governs."""


def _governs(text: str, negation: Negation, bound: int) -> bool:
    between = text[negation.end : bound]
    return len(between) <= _FARTHEST and not _BREAK.search(between) and not _NO_DUTY.search(between)
