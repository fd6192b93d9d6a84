"""Coordinations: "a rope, a torch and a stove", and sentences that pair two of them with "respectively".

Items are of one kind: amounts, with or without what they count, names, phrases with an article, or single words, each
with or without a preposition. Not supported: other items of several words without an article or a capital, and "or".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

_PREPOSITION = re.compile(r"(?:in|on|at|to|by|from|for|with)\s+")
_BEFORE = rf"(?:{_PREPOSITION.pattern})?"
_SCALE = re.compile(r"\s?(?:%|(?:[ap]m|hundred|thousand|million|billion)\b)")
_AMOUNT = rf"[€£$]?\d[\d.,:]*(?<![.,:])(?:{_SCALE.pattern})?"
_NAME = r"[A-Z][\w'’-]*(?:\s+(?:of\s+|the\s+|de\s+|van\s+)?[A-Z0-9][\w'’-]*)*"
_PHRASE = r"(?i:the|an?|his|her|its|their)\s+(?:(?!and\b)[\w'’-]+\s+){0,2}?[\w'’-]+"
_WORD = r"(?!(?:and|the|an?)\b)[A-Za-z][\w'’-]*"
_NUMBER = rf"(?:{_AMOUNT}|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|no)\b)"
_COUNTED = tuple(rf"{_NUMBER}(?:\s+(?!and\b)[^\W\d_]+){{{words}}}" for words in (1, 2))
"""A number with what it counts: "214 km", "three gold medals"."""
_KINDS = tuple(
    re.compile(rf"(?<![\w€£$]){_BEFORE}{item}(?:\s*,\s+{_BEFORE}{item})*,?\s+and\s+{_BEFORE}{item}(?!\w)")
    for item in (_AMOUNT, *_COUNTED, _PHRASE, _NAME, _WORD)
)
_FURTHER = r"\s+(?!(?:in|on|at|to|by|from|for|with|of|is|are|was|were)\b)[^\W\d_]+"
_BETWEEN = re.compile(r"\s*,\s+(?:and\s+)?|\s+and\s+")
_RESPECTIVELY = re.compile(r"\s*,?\s*\brespectively\b,?", re.IGNORECASE)
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "aren't": "isn't", "weren't": "wasn't"}
_FIRST_VERB = re.compile(rf"\b(?:{'|'.join(_SINGULAR)})(?!\w)")


@dataclass(frozen=True, slots=True)
class Coordination:
    """Items that are joined by commas and "and"; offsets are those of the text."""

    items: tuple[tuple[int, int], ...]
    """Start and end of each, two or more."""

    @property
    def start(self) -> int:
        """Where the first item starts."""
        return self.items[0][0]

    @property
    def end(self) -> int:
        """Where the last item ends."""
        return self.items[-1][1]


def coordinations(text: str) -> list[Coordination]:
    """The coordinations of a text, in order; they do not overlap.

    >>> text = "Anna and Ben won 3 and 5 medals."
    >>> [[text[start:end] for start, end in one.items] for one in coordinations(text)]
    [['Anna', 'Ben'], ['3', '5']]
    """
    found: list[Coordination] = []
    for kind in _KINDS:
        for match in kind.finditer(text):
            if all(match.end() <= one.start or one.end <= match.start() for one in found):
                joints = (at for joint in _BETWEEN.finditer(text, *match.span()) for at in joint.span())
                ends = [match.start(), *joints, _last_end(text, match)]
                found.append(Coordination(tuple(zip(ends[::2], ends[1::2], strict=True))))
    return sorted(found, key=lambda one: one.start)


def _last_end(text: str, match: re.Match[str]) -> int:
    """Where the last item ends: a scale belongs to all ("7 and 8 am"), and a phrase has as many words as the first."""
    first, *_, last = _BETWEEN.split(match.group())
    scale = _SCALE.search(last)
    if scale and scale.end() == len(last) and not _SCALE.search(first):
        return match.end() - len(scale.group())
    missing = len(first.split()) - len(last.split())
    more = re.compile(rf"(?:{_FURTHER}){{{max(0, missing)}}}").match(text, match.end())
    return more.end() if more and re.match(_PHRASE, last) else match.end()


@dataclass(frozen=True, slots=True)
class Share:
    """What a sentence with "respectively" says of one of its subjects."""

    start: int
    end: int
    """The stretch of the sentence that stands for it: the shares cover the sentence but for commas and "and"."""
    text: str


def shares(sentence: str) -> list[Share]:
    """What a sentence with "respectively" says of each of its subjects; empty for another sentence.

    >>> [share.text for share in shares("Anna and Ben are 3 and 5 years old, respectively.")]
    ['Anna is 3 years old.', 'Ben is 5 years old.']
    """
    word = _RESPECTIVELY.search(sentence)
    if word is None:
        return []
    lists = coordinations(sentence[: word.start()])
    found = [(one, two) for one, two in pairwise(lists) if len(one.items) == len(two.items)]
    if not found:
        return []
    of, given = found[-1]
    between, rest = sentence[of.end : given.start], sentence[given.end : word.start()] + sentence[word.end() :]
    named = all(sentence[start].isupper() for start, _ in of.items)
    shared: list[Share] = []
    items = zip(_with_preposition(sentence, of), _with_preposition(sentence, given), strict=True)
    for number, (name, value) in enumerate(items):
        middle = between
        if (named or not name.endswith("s")) and not _PREPOSITION.match(name):
            middle = _FIRST_VERB.sub(lambda verb: _SINGULAR[verb.group()], between, count=1)
        text = f"{sentence[: of.start]}{name}{middle}{value}{rest}"
        start = 0 if number == 0 else given.items[number][0]
        end = len(sentence) if number == len(of.items) - 1 else given.items[number][1]
        shared.append(Share(start, end, text[:1].upper() + text[1:] if sentence[:1].isupper() else text))
    return shared


def _with_preposition(text: str, one: Coordination) -> list[str]:
    """The items; a preposition before the first is that of all."""
    items = [text[start:end] for start, end in one.items]
    shared = _PREPOSITION.match(items[0])
    return [item if not shared or _PREPOSITION.match(item) else shared.group() + item for item in items]
