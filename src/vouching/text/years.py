"""Which bare four-digit numbers are years: "opened in 1937" is one, "1200 miles" and "2004 employees" are not.

Left out: years outside 1000 to 2100 without an era, and any reading of the sentence beyond the two neighbouring words.
"""

from __future__ import annotations

import re

from vouching.text.neighbours import word_after, word_before, word_list
from vouching.text.number_words import NUMBER_WORDS
from vouching.text.units import currency_before, unit_after

YEAR = r"(?:1\d{3}|20\d{2}|2100)"
"""Pattern of a four-digit year."""

_STRONG = frozenset(
    word_list("since during until till circa c ca early late mid year summer spring autumn winter season")
)
_PREPOSITIONS = frozenset(word_list("in by of from before after to and between through or around")) | _STRONG
_COUNTING = frozenset(
    word_list("about approximately roughly nearly almost some over under than least most only exactly")
)
_COUNTED = frozenset(
    word_list(
        "people percent men women children soldiers troops employees workers students members residents inhabitants "
        "copies votes points units seats houses homes species dead wounded calories rpm horses ships aircraft cars"
    )
)
_FUNCTION_WORDS = frozenset(
    word_list(
        "was were is has had as and or but when while where who which that the a an to in on at by for with from "
        "of after before until he she it they his her its their this these saw became began made "
        "won led took came went under because during against between onwards census series elections olympics games"
    )
)


def is_year(text: str, start: int, end: int) -> bool:
    """Decide from its neighbours whether the four digits at ``start..end`` name a year.

    >>> is_year("opened in 1937 by", 10, 14), is_year("some 1200 miles", 5, 9)
    (True, False)
    """
    if _is_glued(text, start, end) or currency_before(text, start):
        return False
    before, after = word_before(text, start), word_after(text, end)
    if before in _COUNTING or after in _COUNTED or after in NUMBER_WORDS or unit_after(text, end):
        return False
    if not after or not after.islower() or before in _STRONG:
        return True
    if before == "in" and text[start : start + 2] in ("19", "20"):
        return True
    plural = after.endswith("s") and not after.endswith(("ss", "us", "is")) and after not in _FUNCTION_WORDS
    if before in _PREPOSITIONS or before == "the":
        return not plural
    return after in _FUNCTION_WORDS or after.endswith("ed")


_GLUED_BEFORE = re.compile(r"(?:\w|[\d\w][-–./,:]|[#№+@/_.]|\bNo\.? ?)\Z")
_GLUED_AFTER = re.compile(r"\w|[%°]|[,.:/]\d|-[\w]|[-–]\d| ?[€£¥₹$](?!\d)")


def _is_glued(text: str, start: int, end: int) -> bool:
    return bool(_GLUED_BEFORE.search(text, max(0, start - 4), start) or _GLUED_AFTER.match(text, end))
