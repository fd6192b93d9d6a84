"""Read an instruction: its sentences, quotations and numeric bounds.

Not supported: languages other than English, in which no directions and so no rules are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from vouching.rules.catalog import bind
from vouching.text.numerals import Numeral, find_numerals
from vouching.text.sentences import sentence_spans
from vouching.types import ChecklistItem, Span

QUOTE = r"""(?:"[^"\n]+"|“[^“”\n]+”|(?<!\w)'[^'\n]+'(?!\w)|‘[^‘’\n]+’|`[^`\n]+`)"""
"""A stretch in quotation marks, on one line."""
RESPONSE = (
    r"(?:response|answer|reply|output|essay|article|story|poem|post|blog|letter|e-?mail|text|message|summary|paragraph"
    r"|review|explanation|description|speech|report|writing|content|result|completion|everything|it|them)"
)
"""Words with which an instruction refers to the response."""

_LONG_QUOTE = re.compile(r'"[^"\n]*"|“[^“”\n]*”|```.*?(?:```|\Z)', re.DOTALL)
_ASKS = re.compile(
    r"\b(?:should|must|shall|needs? to|ha(?:s|ve) to|please|make sure|ensure|be sure|remember to|try to|allowed"
    r"|required|forbidden|banned|prohibited|I (?:want|need|would like|expect)|you (?:can|may|will)"
    r"|(?:can|could|would|will) you|do not|don't|don’t|never|avoid|without|refrain|limit|keep|restrict|cannot|can't"
    r"|may not|your)\b",
    re.IGNORECASE,
)
_COMMANDS = re.compile(
    r"\W*(?:\d+[.)]\s+)?"
    r"(?:(?:then|and|also|finally|first|next|now|additionally|lastly|but|in addition|furthermore)\b[,\s]*)*"
    r"(?:(?:use|include|write|answer|give|provide|respond|reply|contain|add|highlight|create|generate|compose|produce"
    r"|make|describe|explain|summari[sz]e|list|tell|put|place|mark|finish|end|conclude|close|wrap|enclose|surround"
    r"|mention|return|output|present|say|format|draft|have|rewrite|rephrase|repeat|come up|translate|discuss|outline"
    r"|compare|exclude|omit|separate|split|divide|start|begin|label|incorporate|insert|elaborate|italici[sz]e|bold"
    r"|before you|no|at least|at most|fewer|less|more than|maximum|minimum|exactly|only|all|entire|in)\b|\d)",
    re.IGNORECASE,
)
_ABOUT_OTHERS = re.compile(
    r"\b(?:wh(?:at|ich|y|o)|how)\b[^?]*\?\W*\Z|\b(?:which|that|who) (?:had|was|were|contained)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Direction:
    """One sentence of an instruction that says how to respond."""

    text: str
    start: int
    """Its offset in the instruction."""
    instruction: str

    @property
    def following(self) -> str:
        """The sentence and a few lines after it."""
        return self.instruction[self.start : self.start + len(self.text) + 300]

    def item(self, rule: str, start: int = 0, end: int | None = None, **arguments: Any) -> ChecklistItem:
        """An item requested by ``text[start:end]``."""
        words = self.text[start:end]
        begin = self.start + start
        return bind(rule, arguments, Span(words, begin, begin + len(words)))


def directions(instruction: str) -> list[Direction]:
    """The sentences that say how to respond; those in quotation marks or code are not directions.

    >>> [found.text for found in directions('Shorten this: "It is so. Use no commas." Write at least two words.')]
    ['Write at least two words.']
    """
    quoted = [found.span() for found in _LONG_QUOTE.finditer(instruction)]
    sentences: list[tuple[int, int]] = []
    for start, end in sentence_spans(instruction):
        if sentences and any(first < start < last for first, last in quoted):
            sentences[-1] = (sentences[-1][0], end)  # never split a quotation
        else:
            sentences.append((start, end))
    found = [Direction(instruction[start:end], start, instruction) for start, end in sentences]
    return [one for one in found if _is_direction(one.text)]


def unquoted(text: str) -> str:
    """The text with its quotations blanked out; offsets stay the same."""
    return re.sub(QUOTE, lambda quote: " " * len(quote.group()), text)


def quotes(text: str) -> list[str]:
    r"""The texts between quotation marks."""
    return [found[1:-1].strip() for found in re.findall(QUOTE, text) if found[1:-1].strip()]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number with the bounds that an instruction sets."""

    low: int | None
    """Inclusive; None if there is no lower bound."""
    below: int | None
    """Exclusive; None if there is no upper bound."""
    start: int
    """Offset of the first word of the phrase."""
    end: int
    times: bool = False
    """Whether it counts occurrences: "twice", "3 times"."""

    @property
    def exact(self) -> int | None:
        """The one allowed number; None if several are."""
        return self.low if self.low is not None and self.below == self.low + 1 else None

    def limits(self) -> Iterator[tuple[str, int]]:
        """Each bound with its relation."""
        if self.low is not None:
            yield "at least", self.low
        if self.below is not None:
            yield "less than", self.below


NEAR = 200
"""Characters before a word or number that may qualify it."""
_LOW = re.compile(
    r"(?:\bat (?:the very )?least|\b(?:no|not) (?:fewer|less) than|\b(?:a )?minimum(?: of)?|\bmin\.?)\s*\Z", re.I
)
_HIGH = re.compile(
    r"(?:\bat (?:the )?most|\b(?:no|not) more than|\bup to|\b(?:a )?maximum(?: of)?|\bmax\.?|\bwithin"
    r"|\blimit\w*\b[^.;]{0,40} to)\s*\Z",
    re.I,
)
_MORE, _LESS = (
    re.compile(rf"\b(?:{words})\s*\Z", re.I)
    for words in ("more than|over|above|greater than|exceed(?:s|ing)?", "(?:less|fewer|lower) than|under|below")
)
_NOT = re.compile(r"(?:\b(?:not|never|without|no|cannot)\b|n['’]t\b)[^.,;:]{0,40}\Z", re.I)
_VAGUE = re.compile(r"(?:\b(?:about|around|approximately|roughly|nearly|almost|some|circa|or so)|~)\s*\Z", re.I)
_EXACTLY = re.compile(r"\b(?:exactly|precisely|only|just)\s*\Z", re.I)
_THEN_LOW = re.compile(r"\s*\+|\s+(?:or more|and (?:more|above|up)|or greater|(?:at )?minimum|at least)\b", re.I)
_THEN_HIGH = re.compile(r"\s+(?:or (?:fewer|less)|(?:at )?max(?:imum)?|at most|or under)\b", re.I)
_BETWEEN = re.compile(r"\bbetween\s*\Z", re.I)
_ONCE = re.compile(r"\bonce\b(?! (?:you|upon|the|a|it))", re.I)


@lru_cache(maxsize=256)
def bounds_in(text: str) -> tuple[Bounds, ...]:
    """The numbers of a sentence with their bounds; a bare number is exact, approximate ones are skipped.

    >>> [(b.low, b.below) for b in bounds_in("Use at least 300 words, no more than two lists and 3 signs.")]
    [(300, None), (None, 3), (3, 4)]
    >>> [(b.low, b.below, b.times) for b in bounds_in("between 5 and 9 lines, about 20 words, more than twice")]
    [(5, 10, False), (3, None, True)]
    """
    once = [Numeral(found.start(), found.end(), 1.0, "multiple") for found in _ONCE.finditer(text)]
    numerals = [n for n in (*find_numerals(text), *once) if n.form in ("cardinal", "multiple") and n.value % 1 == 0]
    numerals.sort(key=lambda numeral: numeral.start)
    found: list[Bounds | None] = []
    ends_a_range = False
    for first, following in zip_longest(numerals, numerals[1:]):
        if not ends_a_range:
            ends_a_range = following is not None and _is_range(text, first, following)
            found.append(_bounds(text, first, following if ends_a_range and following else first))
        else:
            ends_a_range = False
    return tuple(bounds for bounds in found if bounds)


def loosened(bounds: Bounds, text: str, end: int) -> Bounds:
    """Apply the words after a counted thing to a bare number: "400 words or more", "20 words at most"."""
    if bounds.exact is not None and _THEN_LOW.match(text, end):
        return replace(bounds, below=None)
    return replace(bounds, low=None) if bounds.exact is not None and _THEN_HIGH.match(text, end) else bounds


def _is_range(text: str, first: Numeral, following: Numeral) -> bool:
    between = text[first.end : following.start].strip().lower()
    return between in ("-", "–", "to") or (between == "and" and bool(_BETWEEN.search(text, 0, first.start)))


def _bounds(text: str, first: Numeral, last: Numeral) -> Bounds | None:
    """The bounds that the words around a number, or around a range, set; None if it is approximate."""
    low, high = int(first.value), int(last.value)

    def before(pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.search(text, max(0, first.start - NEAR), first.start)

    def made(low: int | None, below: int | None, cue: re.Match[str] | None = None) -> Bounds:
        ends = cue.span() if cue else (first.start, last.end)
        return Bounds(low, below, min(ends[0], first.start), max(ends[1], last.end), last.form == "multiple")

    if first.approximate or before(_VAGUE):
        return None
    if last is not first:
        return made(low, high + 1) if high > low else None
    if cue := before(_LOW):
        return made(low, None, cue)
    if cue := before(_HIGH):
        return made(None, low + 1, cue)
    if cue := before(_MORE):
        return made(None, low + 1, cue) if before(_NOT) else made(low + 1, None, cue)
    if cue := before(_LESS):
        return made(low, None, cue) if before(_NOT) else made(None, low, cue)
    if cue := _THEN_LOW.match(text, last.end):
        return made(low, None, cue)
    if cue := _THEN_HIGH.match(text, last.end):
        return made(None, low + 1, cue)
    return made(low, low + 1, before(_EXACTLY))


def _is_direction(sentence: str) -> bool:
    plain = unquoted(sentence)
    if _ABOUT_OTHERS.search(plain) and not re.match(r"\W*(?:can|could|would|will) you\b", plain, re.IGNORECASE):
        return False
    return bool(_ASKS.search(plain) or _COMMANDS.match(plain))
