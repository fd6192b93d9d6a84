"""Whether a text looks English, the only language that the rules and the encoder know.

Counted are words of English, function words of 17 other languages, and lower-case words that English does not have.
Names count for nothing: they have foreign words too ("La La Land", "Dean de Leon"). Not supported: identifying other
languages, and texts of fewer than two telling words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache

from vouching.reading.evidence import SourceIndex, usual_form
from vouching.text.words import FUNCTION_WORDS, find_words, lexicon_lines

_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_JOINERS = frozenset("de del della der den di da do dos das du e el et i la le van von und y".split())
"""Words that are part of a name between two capitals."""
_ENOUGH = 2
"""Minimum weight of what is foreign; a single unknown word proves nothing."""
_BEGINNING = 1_500
"""Characters of a source that are looked at."""


@lru_cache(maxsize=1_000)
def looks_english(text: str) -> bool:
    """False for other scripts, and for texts with more foreign words than English ones.

    >>> looks_english("The bridge opened in 1973."), looks_english("Die Brücke wurde nicht eröffnet.")
    (True, False)
    >>> looks_english("Most został otwarty w 1973 roku i kosztował pięć milionów dolarów.")
    False
    """
    if not text.isascii() and len(_LATIN.findall(text)) < 0.7 * len(_LETTERS.findall(text)):
        return False
    english = unknown = 0
    marked = False
    grammar: list[tuple[str, ...]] = []
    foreign: Counter[str] = Counter()
    shared: Counter[str] = Counter()
    for word, has_capital in _telling_words(text):
        languages = _languages().get(word, ())
        if word in FUNCTION_WORDS:
            grammar.append(languages)
        elif languages:
            (shared if usual_form(word) else foreign).update(languages)
        elif usual_form(word):
            english += 1
        elif len(word) > 1 and not has_capital and all(map(_LATIN.match, word)):
            unknown += 1 if word.isascii() else 2
            marked = marked or not word.isascii()
    if not (foreign or shared or unknown):
        return True
    if text.islower() or text.isupper():
        unknown = 0  # the names of other texts would be among them
    for code in {*foreign, *shared, ""}:
        only_english = sum(code not in languages for languages in grammar)
        its_own = 2 * foreign[code] + shared[code] * (not only_english)
        # Unknown words alone may be those of a profession; then there have to be more of them.
        known = (english + only_english) * (1 if its_own or marked else 2)
        if its_own + unknown >= _ENOUGH + (not foreign[code] and not unknown) and its_own + unknown > known:
            return False
    return True


def foreign_sources(index: SourceIndex) -> tuple[int, ...]:
    """Positions of the sources whose beginning does not look English; found out once per index."""
    if index.foreign is None:
        texts = (plain.text[:_BEGINNING] for plain in index.plain)
        index.foreign = tuple(number for number, text in enumerate(texts) if not looks_english(text))
    return index.foreign


def _telling_words(text: str) -> Iterator[tuple[str, bool]]:
    """The words outside names in lower case, each with whether it has a capital: those without, and the first."""
    words = find_words(text)
    shouted = text.isupper()
    capitals = [text[word.start].isupper() and not shouted for word in words]
    for place, word in enumerate(words):
        joins = word.lower in _JOINERS and all(capitals[place - 1 : place + 2 : 2]) and 0 < place < len(words) - 1
        if not joins and (not place or not capitals[place]):
            yield from ((part, capitals[place]) for part in word.lower.split("'") if part.isalpha())


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    """The codes of the languages that have a function word, by word."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lexicon_lines("languages.txt"):
        code, *words = line.split()
        for word in words:
            found[word] = (*found.get(word, ()), code)
    return found
