"""Read a text that is all in capitals, or has none, in its usual case: capitals are what marks names.

Each word is written as the sources write it inside a sentence, preferably next to the same word. A word that they do
not have gets a capital if it is mostly a name in general English, or looks like no ordinary word. Offsets stay. Not
supported: names made of ordinary words, and acronyms, where the sources have them in no other case either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from vouching.text.sentences import abbreviates
from vouching.text.words import FUNCTION_WORDS, find_words

Forms: TypeAlias = Mapping[tuple[str, str, str], Counter[str]]
"""How a word is written, by ("", "word", "next one"), ("previous one", "word", "") or ("", "word", "")."""
_STOP = re.compile(r"[.!?]['\")\]]*\s+(?=\w)|\n\s*(?:[-*#>]+ )?(?=\w)")
_INSIDE = re.compile(r"[ ,;(&/'\"-]+")
"""What may separate two words of one clause."""
_ORDINARY_ENDING = re.compile(
    r".{2,}(?:ed|ing|ly|ness|[st]ions?|ments?|[ai]ble|ous|ful|less|it(?:y|ies)|isms?|ives?|[aiy]z(?:es?|ers?)|ises?|ers"
    r"|ers?|ors|age|ics?|als?|cy|ate|ure|ships?|wards?|wise|ways?)"
)


def has_one_case(text: str) -> bool:
    """Whether all letters of a text are capitals, or none is.

    >>> has_one_case("IT OPENED IN 1937."), has_one_case("It opened in 1937."), has_one_case("it opened")
    (True, False, True)
    """
    return text.isupper() or text.islower()


def in_usual_case(text: str, forms: Forms, usual: Callable[[str], str | None]) -> str:
    """The text in the usual case, with the same length.

    Args:
        text: all in capitals or without any.
        forms: see ``written_forms``.
        usual: how a word (given in lower case) is written in general English; None if unknown.

    >>> forms = written_forms(["In 1937 Upper Stowe was a town."], {"upper", "stowe", "town"})
    >>> in_usual_case("UPPER STOWE IS NO TOWN.", forms, lambda word: word)
    'Upper Stowe is no town.'
    """
    lower = text.lower()
    if len(lower) != len(text):  # "İ"
        return text
    words = find_words(lower)
    starts = set(_sentence_starts(lower))
    parts: list[str] = []
    done = 0
    for place, word in enumerate(words):
        before = words[place - 1].lower if place else ""
        after = words[place + 1].lower if place + 1 < len(words) else ""
        as_is = lower[word.start : word.end]
        written = _written(before, word.lower, after, forms) or _usual(before, as_is, after, usual)
        written = written if len(written) == len(as_is) else as_is
        parts += (lower[done : word.start], written[0].upper() + written[1:] if word.start in starts else written)
        done = word.end
    recased = "".join([*parts, lower[done:]])
    return recased if len(recased) == len(text) else text


def written_forms(sentences: Iterable[str], words: set[str]) -> Forms:
    """How sentences write the given words (in lower case), except at their beginning."""
    forms: dict[tuple[str, str, str], Counter[str]] = {}
    for text in sentences:
        found = find_words(text)
        for place, word in enumerate(found):
            if place and word.lower in words and _INSIDE.fullmatch(text, found[place - 1].end, word.start):
                after = found[place + 1].lower if place + 1 < len(found) else ""
                written = text[word.start : word.end]
                for key in {(found[place - 1].lower, word.lower, ""), ("", word.lower, after), ("", word.lower, "")}:
                    forms.setdefault(key, Counter())[written] += 1
    return forms


def _sentence_starts(text: str) -> Iterator[int]:
    first = re.search(r"\w", text)
    if first:
        yield first.start()
    for stop in _STOP.finditer(text):
        before = text[max(0, stop.start() - 40) : stop.start()]
        if text[stop.start()] != "." or not before.strip() or not abbreviates(before, ""):
            yield stop.end()


def _written(before: str, word: str, after: str, forms: Forms) -> str | None:
    """How the sources write a word most often; next to the same words if they have that."""
    beside = forms.get((before, word, ""), Counter())
    if word not in FUNCTION_WORDS:
        beside = beside + forms.get(("", word, after), Counter()) or forms.get(("", word, ""), Counter())
    return max(beside, key=lambda form: (beside[form], form.islower())) if beside else None


def _usual(before: str, word: str, after: str, usual: Callable[[str], str | None]) -> str:
    if word in ("i", "may", "march") or word.startswith("i'"):
        return word.capitalize() if word[0] == "i" or before[-1:].isdigit() or after[:1].isdigit() else word
    if len(word) == 1:
        return word.upper() if before.isalpha() and word not in "ast" else word  # "vitamin C"
    body = word.removesuffix("'s")
    found = usual(body)
    if found is None:
        ordinary = not body.isalpha() or before in ("a", "an") or _ORDINARY_ENDING.fullmatch(body)
        found = body if ordinary else body.capitalize()
    return found + word[len(body) :]
