"""Counts that need a decision: what is a word, a sentence, a word in capitals. Nothing is downloaded.

Left out: sentences that end with a line and no stop, as list items and headings do: they go on into the next, as they
do in IFEval. Scripts without spaces between words count as one word from space to space or mark.
"""

from __future__ import annotations

import re

from vouching.text.sentences import LIST_MARKER, abbreviates

_WORD = re.compile(r"\w+")
_STOP = re.compile(
    r"""(?P<stop>(?<![.!?…])[.!?…]++)["'”’»)\]*_`]*+(?=\s)|[。！？｡؟۔।॥։።]+[」』）】》”’"')\]]*(?=.)""", re.DOTALL
)
_BLANKS = re.compile(r"\s*+")
_LETTERS = re.compile(r"[^\W_]")
_CAPITALS = re.compile(r"[^\W_]+(?:(?:[-&./]|['’](?=[A-Z]))[^\W_]+)*")


def count_words(text: str) -> int:
    """Runs of letters, digits and underscores; a hyphen or an apostrophe separates two.

    >>> count_words("It's a well-known fact.")
    6
    """
    return len(_WORD.findall(text))


def count_sentences(text: str) -> int:
    r"""Stretches that end in a stop, a question or an exclamation mark, and what is left at the end.

    Points of abbreviations, of initials and of the numbers of a list end nothing.

    >>> count_sentences("Dr. Smith left. why? Nobody knows")
    3
    >>> count_sentences("1. Apples\n2. Pears"), count_sentences("* * *")
    (1, 0)
    """
    count, start = 0, 0
    for stop in _STOP.finditer(text):
        if _ends_sentence(text, stop) and _LETTERS.search(text, start, stop.end()):
            count += 1
            start = stop.end()
    return count + bool(_LETTERS.search(text, start))


def capital_words(text: str) -> list[str]:
    """Words with capitals and without lower case; hyphens and points inside hold them together.

    >>> capital_words("I met NASA's U.S. team, COVID-19 or not: WOW, 42!")
    ['I', 'NASA', 'U.S', 'COVID-19', 'WOW']
    """
    return [word for word in _CAPITALS.findall(text) if word.isupper()]


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    """Whether a run of stops ends a sentence: always, but for points before lower case or after an abbreviation."""
    marks = stop["stop"]
    if marks is None or not marks.startswith("."):
        return True
    following = _skip_blanks(text, stop.end())
    goes_on = text[following : following + 1].islower()
    if len(marks) > 1:
        return not goes_on
    line = _skip_blanks(text, text.rfind("\n", 0, stop.start()) + 1)
    marker = LIST_MARKER.match(text, line)
    if marker and stop.start() < marker.end():
        return False
    before = text[max(line, stop.start() - 40) : stop.start()]
    return not before.split() or not abbreviates(before, "" if goes_on else text[following : following + 40])


def _skip_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at
