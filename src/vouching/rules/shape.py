"""Exact checkers of the form of a response: length, paragraphs, lists, marks, sections, titles, JSON.

Each takes a response and its arguments and returns a ruling. The semantics are IFEval's (Zhou et al. 2023), even where
they surprise; departures are named at the checker. Not supported: checks of the content of the parts.
"""

from __future__ import annotations

import re

from vouching.rules.ruling import Ruling, count_sentences, count_words, counted, holds, ruled
from vouching.text.json_values import parse_json

_PLACEHOLDER = re.compile(r"\[.*?\]")
_BULLET = re.compile(r"^[^\S\n]*(?:\*[^*\n]|-).*$", re.MULTILINE)
_ONE_STAR, _TWO_STARS = re.compile(r"\*([^\n*]*)\*"), re.compile(r"\*\*([^\n*]*)\*\*")
_DIVIDER = re.compile(r"\s?\*\*\*\s?")
_TITLE = re.compile(r"<<[^\n]+>>")
_FENCE_OPENS, _FENCE_CLOSES = re.compile(r"\A```(?:json|Json|JSON)?"), re.compile(r"```\Z")


def word_count(response: str, num_words: int, relation: str) -> Ruling:
    """At least, or less than, so many words: runs of letters, digits and underscores."""
    number = count_words(response)
    return ruled(holds(relation, number, num_words), counted(number, "word"))


def sentence_count(response: str, num_sentences: int, relation: str) -> Ruling:
    """At least, or less than, so many sentences. Departure: split by rules, not by a learned splitter."""
    number = count_sentences(response)
    return ruled(holds(relation, number, num_sentences), counted(number, "sentence"))


def paragraph_count(response: str, num_paragraphs: int) -> Ruling:
    r"""Exactly so many paragraphs, separated by ``***``; inner ones must not be empty."""
    parts = [bool(part.strip()) for part in _DIVIDER.split(response)]
    inner_empty = not all(parts[1:-1])
    number = sum(parts)
    reason = "It has an empty paragraph." if inner_empty else counted(number, "paragraph")
    return ruled(not inner_empty and number == num_paragraphs, reason)


def nth_paragraph(response: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> Ruling:
    r"""Exactly so many paragraphs, separated by blank lines; the n-th begins with a word, in any case."""
    parts = response.split("\n\n")
    number = sum(bool(part.strip()) for part in parts)
    if not 1 <= nth_paragraph <= number or not parts[nth_paragraph - 1].strip():
        return ruled(False, counted(number, "paragraph"))
    word = parts[nth_paragraph - 1].split()[0].lstrip("'").lstrip('"')
    word = re.split(r"[.,?!'\"]", word, maxsplit=1)[0].lower()
    passed = number == num_paragraphs and word == first_word.lower()
    return ruled(passed, f'{counted(number, "paragraph")[:-1]}; paragraph {nth_paragraph} begins with "{word}".')


def placeholder_count(response: str, num_placeholders: int) -> Ruling:
    """At least so many placeholders in square brackets."""
    found = _within_lines(_PLACEHOLDER, response, "]")
    return ruled(len(found) >= num_placeholders, counted(len(found), "placeholder"), next(iter(found), None))


def bullet_count(response: str, num_bullets: int) -> Ruling:
    r"""Exactly so many lines that begin with ``*`` (not ``**``) or ``-``."""
    number = len(_BULLET.findall(response))
    return ruled(number == num_bullets, counted(number, "bullet"), _BULLET.search(response))


def highlight_count(response: str, num_highlights: int) -> Ruling:
    """At least so many stretches within a line between single or double asterisks."""
    found = [*_ONE_STAR.findall(response), *_TWO_STARS.findall(response)]
    number = sum(bool(inside.strip()) for inside in found)
    return ruled(number >= num_highlights, counted(number, "highlighted section"))


def section_count(response: str, section_spliter: str, num_sections: int) -> Ruling:
    """At least so many sections: the word that opens them, case-sensitive, and a number."""
    heading = re.compile(re.escape(section_spliter) + r"\s?\d+")
    number = len(heading.findall(response))
    return ruled(number >= num_sections, counted(number, "section"), heading.search(response))


def has_postscript(response: str, postscript_marker: str) -> Ruling:
    """The marker of a postscript occurs, in any case; each of its points may be followed by a space."""
    letters = re.escape(postscript_marker.strip()).replace(r"\.", r"\.\s?").removesuffix(r"\s?")
    found = re.search(letters, response, re.IGNORECASE)
    return ruled(found is not None, f"It has {'a' if found else 'no'} postscript.", found)


def has_title(response: str) -> Ruling:
    """There is a title in double angular brackets."""
    titles = _within_lines(_TITLE, response, ">>")
    found = next((title for title in titles if title.group().lstrip("<").rstrip(">").strip()), None)
    return ruled(found is not None, f"It has {'a' if found else 'no'} title.", found)


def is_json(response: str) -> Ruling:
    r"""The whole response is JSON, with or without a code fence."""
    text = _FENCE_CLOSES.sub("", _FENCE_OPENS.sub("", response.strip())).strip()
    try:
        parse_json(text)
    except ValueError as error:
        return ruled(False, f"It is not JSON: {error}.")
    return ruled(True, "It is JSON.")


def two_responses(response: str) -> Ruling:
    """Two different answers, separated by ``******``."""
    parts = [part.strip() for part in response.split("******")]
    answers = [part for part in parts if part]
    if not all(parts[1:-1]):
        return ruled(False, "It has an empty answer.")
    if len({*answers}) < len(answers):
        return ruled(False, "It gives the same answer twice.")
    return ruled(len(answers) == 2, counted(len(answers), "answer"))


def _within_lines(pattern: re.Pattern[str], text: str, closing: str) -> list[re.Match[str]]:
    """Matches that open and close on one line; a line is searched only up to its last ``closing``.

    Otherwise each of many openings would be followed to the end of the line, in quadratic time.
    """
    found: list[re.Match[str]] = []
    start = 0
    for line in text.split("\n"):
        last = text.rfind(closing, start, start + len(line))
        if last >= 0:
            found += pattern.finditer(text, start, last + len(closing))
        start += len(line) + 1
    return found
