"""The word before and the word after a place in a text, and the word lists they are looked up in.

Left out: any look further than ``_REACH`` characters; a longer word is cut, which never makes it a known word.
"""

from __future__ import annotations

import re

_REACH = 24
_WORD = re.compile(r"[^\W\d_]+")
_OPENING = " \t\r\n\u00a0(\"'“‘"
_NEXT_WORD = re.compile(r"[ \u00a0\u2009\u202f]?([^\W\d_]{1,24})")


def word_before(text: str, start: int) -> str:
    """Return the lower-case word that ends just before ``start``, or "" if punctuation or a digit stands there.

    >>> word_before("built in 1937", 9)
    'in'
    """
    head = text[max(0, start - _REACH) : start].rstrip(_OPENING).removesuffix(".")
    # Matching the reversed text finds the last word in one step; a search would try every place before it.
    found = _WORD.match(head[::-1])
    return found.group()[::-1].lower() if found else ""


def word_after(text: str, end: int) -> str:
    """Return the word (as written) that begins at ``end`` or one space later, or "" if none does.

    >>> word_after("in 1937 Paris", 7)
    'Paris'
    """
    found = _NEXT_WORD.match(text, end)
    return found.group(1) if found else ""


def word_list(line: str) -> list[str]:
    """Split a line of words, the compact way to write a vocabulary.

    >>> word_list("in by of")
    ['in', 'by', 'of']
    """
    return line.split()
