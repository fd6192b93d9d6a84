"""Fields of structured answers as phrases, for the encoders: "[sale:] negotiable: false" is "sale: not negotiable"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from vouching.reading.plain import PlainText
from vouching.text.clauses import finite_verb

Edit = tuple[int, int, str]
"""Start and end of a stretch, and what is read for it."""
_FIELD = re.compile(
    r"\s*(?:\[(?P<of>[^\[\]\n]+):\]\s*)?(?:(?P<key>[^\W\d_][^\[\]:|.\n]{0,49}):\s+)?(?P<value>[^|\[\]\n]{1,80})"
)
_CELL = re.compile(r"\|\s*(?:\[(?P<key>[^\[\]\n]+):\]\s*)?(?P<value>[^|\s](?:[^|\n]*[^|\s])?)\s*(?:\|\s*$)?")
_ANSWER = re.compile(r'[ "]*(?:(true|yes)|false|no|none)[ ".]*', re.IGNORECASE)
ANSWERED = re.compile(
    r"\s*(?=[^:|]*:)(?:\[[^\[\]]*:\]\s*)?(?:[^\s|:\[][^:|]*:\s+)?(?P<answer>(?:true|yes|(?P<denies>false|none|no))[\s.]*)",
    re.IGNORECASE,
)
"""A field whose value says whether its key holds; no source says "true"."""
_EMPHASIS = re.compile(r"\*\*")


def phrased(field: str) -> Iterator[Edit]:
    """What turns a field, or a row of a table, into words; nothing for a sentence.

    >>> [words for _, _, words in phrased("[sale:] negotiable: false")]
    ['sale: ', 'not negotiable', '']
    """
    if field.lstrip().startswith("|"):
        yield from _row(field)
        return
    found = _FIELD.fullmatch(field)
    if not found or (found["of"] is None and found["key"] is None):
        return
    of, key, value = found.span("of"), found.span("key"), found.span("value")
    if found["of"] is None and finite_verb(found["key"]) and not _ANSWER.fullmatch(found["value"]):
        return
    if finite_verb(found["value"]):
        yield 0, value[0], "".join(f"{name}: " for name in found.group("of", "key") if name)
    elif found["key"] is None:
        yield 0, of[0], ""
        yield from _statement(field, of, value, of[1] + 2)
    else:
        yield 0, key[0], f"{found['of']}: " if found["of"] else ""
        yield from _statement(field, key, value, key[1] + 1)


def _row(row: str) -> Iterator[Edit]:
    for cell in _CELL.finditer(row):
        at, value = cell.start(), cell.span("value")
        before = "" if at == 0 else ", "
        if cell["key"] is None:
            yield at, value[0], before
        else:
            key = cell.span("key")
            yield at, key[0], before
            yield from _statement(row, key, value, key[1] + 2)
        yield value[1], cell.end(), ""


def _statement(text: str, key: tuple[int, int], value: tuple[int, int], after: int) -> Iterator[Edit]:
    """A key and its value as a statement; ``after`` is where the key's punctuation ends."""
    name, answer = text[slice(*key)], _ANSWER.fullmatch(text[slice(*value)])
    if answer:
        yield *key, name if answer[1] else f"not {name}"
        yield key[1], value[1], ""
    else:
        yield *key, f"the {name}"
        yield key[1], max(after, value[0]), " is "


def phrases(framed: str, claim: PlainText) -> tuple[Edit, ...]:
    """The edits of a framed claim in the offsets of what it states, which ``claim`` made from it."""
    edits = [*phrased(framed)]
    if not edits:
        return ()
    edits += [(*mark.span(), "") for mark in _EMPHASIS.finditer(framed)]
    places = [claim.origin(at, at)[0] for at in range(len(claim.text) + 1)]
    return tuple((bisect_left(places, start), bisect_left(places, end), words) for start, end, words in sorted(edits))
