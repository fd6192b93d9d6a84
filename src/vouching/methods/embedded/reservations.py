"""What a sentence holds for and what not: "not given unless you ask", "every day except Monday", "A can, B cannot".

A reservation has a main clause and a stretch for which the opposite holds: a condition after "unless" or, in a denied
clause, after "until"; an exception after "except"; or a second subject with nothing but an auxiliary ("members cannot",
"but children do not"). Not supported: several reservations in a sentence, and "only".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from vouching.methods.embedded.modality import any_of
from vouching.text.cues import find_negations
from vouching.text.words import find_words

_MARKER = re.compile(
    r"(?P<condition>,? \b(?:unless|until|till)\b)"
    r"|(?P<exception>,? \b(?:except(?:ing|ed)?(?: for| that| in| on| at)?|excluding|apart from|aside from|other than"
    r"|save for|with the exception of)\b)",
    re.IGNORECASE,
)
_NO_SUBJECT = r"(?!(?:and|but|while|which|who|it|they|he|she|we|you)\b)"
_ALONE = re.compile(
    rf"(?:[;,]|,? \b(?:and|but|while|whereas)\b) (?P<subject>(?:{_NO_SUBJECT}[\w'’-]+ ){{1,4}}?)"
    r"(?:can|may|must|will|is|are|was|were|does|do|did|has|have|should)(?P<denied>not|n['’]t| not)?(?: either| so)?"
    r"(?=[.;,)]|$)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[;:()]|, (?:and|but|while|whereas|so)\b")
FORBIDDEN = re.compile(any_of("prohibited|forbidden|banned|barred|disallowed|off limits|ruled out"))
CONDITION = re.compile(any_of("if|when|whenever|once|provided|as long as|as soon as|after|in case|on condition"))
"""Introduces a condition of the claim."""
_CACHED = 4_000

Stretch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Reservation:
    """A main clause with what it does not hold for. All offsets are relative to the sentence."""

    kind: Literal["condition", "exception", "subject"]
    main: Stretch
    denied: bool
    """Whether the main clause is denied."""
    reserved: Stretch
    """The condition, the exception, or the second subject."""
    opposite: bool
    """Whether the opposite of the main clause holds for what is reserved."""


@lru_cache(maxsize=_CACHED)
def find_reservation(text: str) -> Reservation | None:
    """The first reservation of a sentence.

    >>> text = "Refunds are not given unless you ask."
    >>> found = find_reservation(text)
    >>> found and (found.kind, found.denied, text[slice(*found.main)], text[slice(*found.reserved)])
    ('condition', True, 'Refunds are not given', ' you ask.')
    """
    alone = _ALONE.search(text)
    if alone:
        main = _clause_start(text, alone.start()), alone.start()
        denied = is_denied(text, *main)
        return Reservation("subject", main, denied, alone.span("subject"), denied != bool(alone["denied"]))
    marker = _MARKER.search(text)
    if not marker:
        return None
    main = _clause_start(text, marker.start()), marker.start()
    denied = is_denied(text, *main)
    if marker[0].strip(" ,").lower() in ("until", "till") and not denied:
        return None
    stop = _CLAUSE.search(text, marker.end())
    reserved = marker.end(), stop.start() if stop else len(text)
    return Reservation("condition" if marker["condition"] else "exception", main, denied, reserved, True)


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether an odd number of words deny or forbid what a stretch of a sentence says."""
    stretch = text[start:end]
    cues = len(find_negations(stretch, find_words(stretch))) + len(FORBIDDEN.findall(stretch.lower()))
    return cues % 2 == 1


def _clause_start(text: str, end: int) -> int:
    starts = [found.end() for found in _CLAUSE.finditer(text, 0, end)]
    return starts[-1] if starts else 0
