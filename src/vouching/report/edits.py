"""The difference of two texts in words, for showing a fix: what stays, what goes, what comes.

Left out: moved words. They show as gone in one place and come in the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

EditKind = Literal["same", "old", "new"]

_WORDS = re.compile(r"\w+(?:[.,'’-]\w+)*|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of text and what becomes of it."""

    kind: EditKind
    """same (in both texts), old (only in the first) or new (only in the second)."""
    text: str
    """The characters themselves."""


def word_edits(old: str, new: str) -> list[Edit]:
    """How ``old`` becomes ``new``. The texts of "same" and "old" make up ``old``, those of "same" and "new" ``new``.

    >>> [(edit.kind, edit.text) for edit in word_edits("It opened in 1937.", "It opened in 1973.")]
    [('same', 'It opened in '), ('old', '1937'), ('new', '1973'), ('same', '.')]
    """
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    edits: list[Edit] = []
    for action, i, j, k, m in SequenceMatcher(None, before, after).get_opcodes():
        if action == "equal":
            edits.append(Edit("same", "".join(before[i:j])))
        else:
            edits += [Edit("old", "".join(before[i:j])), Edit("new", "".join(after[k:m]))]
    return _without_lone_blanks([edit for edit in edits if edit.text])


def _without_lone_blanks(edits: list[Edit]) -> list[Edit]:
    """Neighbouring changes as one: a blank that only happens to stand in both is no reason to interrupt an edit."""

    def stays(number: int) -> bool:
        between = 0 < number < len(edits) - 1
        return edits[number].kind == "same" and not (between and edits[number].text.isspace())

    joined: list[Edit] = []
    for same, numbers in groupby(range(len(edits)), stays):
        run = [edits[number] for number in numbers]
        if same:
            joined += run
            continue
        joined.append(Edit("old", "".join(edit.text for edit in run if edit.kind != "new")))
        joined.append(Edit("new", "".join(edit.text for edit in run if edit.kind != "old")))
    return [edit for edit in joined if edit.text]


def around_blanks(text: str, before: str, after: str) -> str:
    """``text`` between two marks, its outer blanks left outside, where they cannot be mistaken or switch a mark off.

    >>> around_blanks("blue ", "[-", "-]")
    '[-blue-] '
    """
    bare = text.strip()
    if not bare:
        return text
    lead, trail = text.split(bare, 1)
    return f"{lead}{before}{bare}{after}{trail}"
