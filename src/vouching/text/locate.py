"""Find a quoted passage in a text: exactly, exactly but for typography, or approximately.

Not supported: quotes that join separate passages with an ellipsis, and quotes in another language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from rapidfuzz import fuzz

_Place = tuple[int, int]

_MAX_PLACES = 1_000
"""Occurrences compared when a quote repeats; later ones are ignored."""
_MIN_FUZZY = 4
"""Shorter quotes are too easily "similar" to something."""
_ANCHORS = 4
"""Number of the quote's rarest words around which the fuzzy search looks."""
_PLACES_PER_ANCHOR = 64
_ALIGNED = 16
"""Number of places, the most similar ones, that are aligned character by character."""
_WHOLE_TEXT = 20_000
"""A text up to this many characters is searched as a whole if none of the quote's words occurs in it."""
_LONGEST_INEXACT = 5_000
"""Longer quotes are searched exactly only: the other attempts take too long."""
_NEAR = 200
"""Characters on either side of an occurrence that are compared with ``near``."""

_TOKEN = re.compile(r"``|''|\.\.\.|\w+|\S")
_VARIANTS = {
    **dict.fromkeys(("``", "''", *'"“”„‟«»'), r"(?:[" + '"“”„‟«»' + r"]|``|'')"),
    **dict.fromkeys("'’‘‛ʼ`´", "['’‘‛ʼ`´]"),
    **dict.fromkeys("-‐‑‒–—−", "[-‐‑‒–—−]"),
    **dict.fromkeys(("...", "…"), r"(?:…|\.\s?\.\s?\.)"),
}
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("’‘‛ʼ`´", "'"),
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("\n\r\t\f\v\u00a0\u2009\u202f\u3000", " "),
    }
)


@dataclass(frozen=True, slots=True)
class Located:
    """Where a quote was found."""

    start: int
    end: int
    how: Literal["exact", "normalised", "fuzzy"]
    """Character by character, but for white space, case and typography, or approximately."""
    score: float
    """Similarity of the quote and the text found, in [0, 100]; 100 unless ``how`` is "fuzzy"."""


def locate(quote: str, text: str, *, after: int = 0, near: str = "", min_score: float = 90.0) -> Located | None:
    """Find a quote in a text.

    Three attempts, the first to succeed counts: the exact characters; the same characters but for case, white space,
    quotation marks and dashes; the most similar stretch that begins and ends at a word boundary. Whole words are
    preferred to parts of words, and parts of words of fewer than 4 characters do not count. The last attempt compares
    characters, not meaning: "1912" is similar to "1913", so check ``how`` where the quote must be faithful.

    The fuzzy attempt searches only around the rarest words of the quote that occur in the text, in at most 256
    places. It takes time linear in the text, but misses a quote whose rare words are all misspelt (texts up to
    20,000 characters are then searched whole).

    Args:
        quote: surrounding white space is ignored; a quote of fewer than 4 characters is never matched approximately,
            and one of more than 5,000 only exactly.
        text: where to search.
        after: of several occurrences, the first that starts at or after this offset is taken; if there is none, the
            first of all.
        near: words expected within 200 characters of the quote. If given, the occurrence that shares most words
            with it is taken (among the first 1,000), and ``after`` only breaks ties.
        min_score: minimum similarity of an approximate match, in [0, 100].

    Returns:
        The place, or None for an empty quote or one that does not occur.

        >>> locate("the 'first'  bridge", "It was The ‘first’ bridge of the city.")
        Located(start=7, end=25, how='normalised', score=100.0)
    """
    quote = quote.strip()
    if not quote or not text:
        return None
    place = _choose(_occurrences(quote, text), text, after, near)
    if place:
        return Located(*place, how="exact", score=100.0)
    if len(quote) > _LONGEST_INEXACT:
        return None
    lowered = _lower(text)
    composed = unicodedata.normalize("NFC", quote)
    for variant in (composed, composed.strip("\"'“”‘’«»`")):
        if not all(word in lowered for word in _words(variant) if word.isascii()):
            break  # the pattern is slow on long texts
        pattern = _pattern(variant)
        place = _choose(_finds(pattern, text, re.IGNORECASE), text, after, near) if pattern else None
        if place:
            return Located(*place, how="normalised", score=100.0)
    if len(quote) < _MIN_FUZZY:
        return None
    scores = _similar(_lower(quote).translate(_PLAIN), lowered, min_score)
    best = max(scores.values(), default=0.0)
    place = _choose(sorted(place for place, score in scores.items() if score == best), text, after, near)
    return Located(*place, how="fuzzy", score=best) if place else None


def locate_all(quotes: Sequence[str], text: str) -> list[Located | None]:
    """Find several quotes; a repeated quote is searched after its last place, which it keeps if there is no other.

    >>> [found.start if found else None for found in locate_all(["ab", "ab", "ab", "xy"], "ab cd ab")]
    [0, 6, 6, None]
    """
    last: dict[str, Located | None] = {}
    found: list[Located | None] = []
    for quote in quotes:
        key = " ".join(quote.lower().split())
        before = last.get(key)
        if key not in last:
            last[key] = locate(quote, text)
        elif before is not None:
            again = locate(quote, text, after=before.end)
            last[key] = again if again and again.start >= before.end else before
        found.append(last[key])
    return found


def _occurrences(quote: str, text: str) -> Iterator[_Place]:
    at = text.find(quote)
    while at >= 0:
        yield at, at + len(quote)
        at = text.find(quote, at + len(quote))


def _finds(pattern: str, text: str, flags: int = 0) -> Iterator[_Place]:
    return (match.span() for match in re.finditer(pattern, text, flags))


def _pattern(quote: str) -> str:
    """Regular expression for the quote in composed letters, ignoring case, white space and typography."""
    parts: list[str] = []
    previous = ""
    for match in _TOKEN.finditer(quote):
        token = match.group()
        if previous:
            words = previous[-1].isalnum() and token[0].isalnum() and quote[match.start() - 1].isspace()
            parts.append(r"\s++" if words else r"\s*+")
        parts.append(_VARIANTS.get(token) or "".join(map(_letter, token)))
        previous = token
    return "".join(parts)


def _letter(character: str) -> str:
    """Regular expression for a character in its composed and its decomposed form."""
    decomposed = unicodedata.normalize("NFD", character)
    return re.escape(character) if decomposed == character else f"(?:{re.escape(character)}|{re.escape(decomposed)})"


def _choose(places: Iterable[_Place], text: str, after: int, near: str) -> _Place | None:
    """The best of several occurrences (in text order); None if there is none."""
    if near:
        usable = [
            place for place in islice(places, _MAX_PLACES) if place[1] - place[0] >= _MIN_FUZZY or _whole(text, place)
        ]
        if len(usable) < 2:
            return usable[0] if usable else None
        expected = _words(near)
        return max(
            usable,
            key=lambda place: (_whole(text, place), _shared(expected, text, place), place[0] >= after, -place[0]),
        )
    first: _Place | None = None
    first_part: _Place | None = None
    for place in places:
        if not _whole(text, place):
            if place[1] - place[0] < _MIN_FUZZY:
                continue  # "art" must not match in "party"
            if first_part is None or (first_part[0] < after <= place[0]):
                first_part = place
        elif place[0] >= after:
            return place
        else:
            first = first or place
    return first or first_part


def _whole(text: str, place: _Place) -> bool:
    """Whether the place begins and ends at a word boundary."""
    return not _inside_word(text, place[0]) and not _inside_word(text, place[1])


def _inside_word(text: str, at: int) -> bool:
    """Whether the offset falls between two characters of one word; scripts without spaces have no such words."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return before.isalnum() and after.isalnum() and before < "\u2e80" > after


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _shared(expected: set[str], text: str, place: _Place) -> int:
    start, end = place
    return len(expected & (_words(text[max(0, start - _NEAR) : start]) | _words(text[end : end + _NEAR])))


def _lower(text: str) -> str:
    """The text in lower case, with the same length: "İ" is the one letter whose lower case is longer than itself."""
    return text.replace("İ", "i").lower()


def _similar(quote: str, text: str, min_score: float) -> dict[_Place, float]:
    """The places most similar to the quote with their scores; both strings are in lower case."""
    windows = {window: text[slice(*window)].translate(_PLAIN) for window in _windows(quote, text)}
    likeliest = sorted(windows, key=lambda window: fuzz.ratio(quote, windows[window]), reverse=True)[:_ALIGNED]
    scores: dict[_Place, float] = {}
    for window in likeliest:
        alignment = fuzz.partial_ratio_alignment(quote, windows[window])
        if alignment is None:
            continue
        start, end = _snap(text, window[0] + alignment.dest_start, window[0] + alignment.dest_end)
        score = fuzz.ratio(quote, text[start:end].translate(_PLAIN))
        if start < end and score >= min_score:
            scores[start, end] = score
    return scores


def _windows(quote: str, text: str) -> Iterator[_Place]:
    """Stretches of the text that may contain the quote, at most 256 of them."""
    slack = min(len(quote) // 4, 100) + 20
    longest = sorted(set(_anchors(quote)), key=lambda anchor: (-len(anchor[0]), anchor[1]))[:16]
    counted = [(text.count(word), word, offset) for word, offset in longest]
    rarest = sorted(anchor for anchor in counted if anchor[0])[:_ANCHORS]
    seen: set[int] = set()
    for _, word, offset in rarest:
        for match in islice(re.finditer(re.escape(word), text), _PLACES_PER_ANCHOR):
            start = match.start() - offset
            # Two words of one occurrence give about the same window; once is enough.
            if seen.isdisjoint(range(start - 8, start + 9)):
                seen.add(start)
                yield max(0, start - slack), min(len(text), start + len(quote) + slack)
    if not rarest and len(text) <= _WHOLE_TEXT:
        yield 0, len(text)


def _anchors(quote: str) -> Iterator[tuple[str, int]]:
    """Words of the quote with their offsets; runs of a script without spaces in groups of three characters."""
    for match in re.finditer(r"\w{3,}", quote):
        word, start = match.group(), match.start()
        if word[0] < "\u2e80":
            yield word, start
        else:
            yield from ((word[i : i + 3], start + i) for i in range(0, len(word) - 2, 3))


def _snap(text: str, start: int, end: int) -> _Place:
    """The place without partial words at its ends: a word is included if at least half of it was inside."""
    start, end = _snap_end(text, start, start, end), _snap_end(text, end, start, end)
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _snap_end(text: str, at: int, start: int, end: int) -> int:
    """The boundary of the word cut at ``at`` that leaves more of it on the right side; words are at most 50 long."""
    if not _inside_word(text, at):
        return at
    low = high = at
    while low > max(0, at - 50) and _inside_word(text, low):
        low -= 1
    while high < min(len(text), at + 50) and _inside_word(text, high):
        high += 1
    inside_is_right = at == start
    inner = high - at if inside_is_right else at - low
    outward, inward = (low, high) if inside_is_right else (high, low)
    return outward if 2 * inner >= high - low else inward
