"""Exact checkers of how a response is built: length, paragraphs, lists, marks, sections, titles, JSON.

Each takes a response and its own arguments and gives a ruling. The semantics are IFEval's (Zhou et al. 2023), also
where they surprise; departures are named at the checker. Left out: whether what the parts hold is what their names say.
"""

from __future__ import annotations

import json
import re

from vouching.methods.rules.ruling import Ruling, count_sentences, count_words, counted, holds, ruled

_PLACEHOLDER = re.compile(r"\[.*?\]")
_BULLET = re.compile(r"^[^\S\n]*(?:\*[^*\n]|-).*$", re.MULTILINE)
_ONE_STAR, _TWO_STARS = re.compile(r"\*([^\n*]*)\*"), re.compile(r"\*\*([^\n*]*)\*\*")
_DIVIDER = re.compile(r"\s?\*\*\*\s?")
_TITLE = re.compile(r"<<[^\n]+>>")
_FENCE_OPENS, _FENCE_CLOSES = re.compile(r"\A```(?:json|Json|JSON)?"), re.compile(r"```\Z")


def word_count(response: str, num_words: int, relation: str) -> Ruling:
    """At least, or less than, so many words: runs of letters, digits and underscores.

    >>> word_count("It's well-known.", 4, "at least").passed
    True
    """
    number = count_words(response)
    return ruled(holds(relation, number, num_words), counted(number, "word"))


def sentence_count(response: str, num_sentences: int, relation: str) -> Ruling:
    """At least, or less than, so many sentences. Departure: stops are found by rules, not by a learned splitter.

    >>> sentence_count("He left. Why? Nobody knows.", 3, "less than").reason
    'It has 3 sentences.'
    """
    number = count_sentences(response)
    return ruled(holds(relation, number, num_sentences), counted(number, "sentence"))


def paragraph_count(response: str, num_paragraphs: int) -> Ruling:
    r"""Exactly so many paragraphs, set apart by ``***``; none between two others may be empty.

    >>> paragraph_count("One.\n***\nTwo.", 2).passed, paragraph_count("One.\n\nTwo.", 2).passed
    (True, False)
    """
    parts = [bool(part.strip()) for part in _DIVIDER.split(response)]
    inner_empty = not all(parts[1:-1])
    number = sum(parts)
    reason = "It has an empty paragraph." if inner_empty else counted(number, "paragraph")
    return ruled(not inner_empty and number == num_paragraphs, reason)


def nth_paragraph(response: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> Ruling:
    r"""Exactly so many paragraphs, set apart by blank lines, of which the n-th begins with a word, in any case.

    >>> nth_paragraph("One.\n\nTwo, then.", 2, 2, "two").passed
    True
    """
    parts = response.split("\n\n")
    number = sum(bool(part.strip()) for part in parts)
    if not 1 <= nth_paragraph <= number or not parts[nth_paragraph - 1].strip():
        return ruled(False, counted(number, "paragraph"))
    word = parts[nth_paragraph - 1].split()[0].lstrip("'").lstrip('"')
    word = re.split(r"[.,?!'\"]", word, maxsplit=1)[0].lower()
    passed = number == num_paragraphs and word == first_word.lower()
    return ruled(passed, f'{counted(number, "paragraph")[:-1]}; paragraph {nth_paragraph} begins with "{word}".')


def placeholder_count(response: str, num_placeholders: int) -> Ruling:
    """At least so many placeholders in square brackets.

    >>> placeholder_count("Dear [name], at [place].", 2).span.text
    '[name]'
    """
    found = _within_lines(_PLACEHOLDER, response, "]")
    return ruled(len(found) >= num_placeholders, counted(len(found), "placeholder"), next(iter(found), None))


def bullet_count(response: str, num_bullets: int) -> Ruling:
    r"""Exactly so many lines that begin with ``*`` (not ``**``) or ``-``.

    >>> bullet_count("* one\n- two\n** three", 2).passed
    True
    """
    number = len(_BULLET.findall(response))
    return ruled(number == num_bullets, counted(number, "bullet"), _BULLET.search(response))


def highlight_count(response: str, num_highlights: int) -> Ruling:
    """At least so many stretches within a line between single or double asterisks.

    >>> highlight_count("*One* and **two**, but not **.", 2).reason
    'It has 2 highlighted sections.'
    """
    found = [*_ONE_STAR.findall(response), *_TWO_STARS.findall(response)]
    number = sum(bool(inside.strip()) for inside in found)
    return ruled(number >= num_highlights, counted(number, "highlighted section"))


def section_count(response: str, section_spliter: str, num_sections: int) -> Ruling:
    """At least so many sections: the word that opens them, in this case, and a number.

    >>> section_count("Section 1: a. Section 2: b.", "Section", 2).passed
    True
    """
    heading = re.compile(re.escape(section_spliter) + r"\s?\d+")
    number = len(heading.findall(response))
    return ruled(number >= num_sections, counted(number, "section"), heading.search(response))


def has_postscript(response: str, postscript_marker: str) -> Ruling:
    """The marker of a postscript occurs, in any case; after each of its points there may be a blank.

    >>> has_postscript("Bye. p. s. Write soon!", "P.S.").span.text
    'p. s.'
    """
    letters = re.escape(postscript_marker.strip()).replace(r"\.", r"\.\s?").removesuffix(r"\s?")
    found = re.search(letters, response, re.IGNORECASE)
    return ruled(found is not None, f"It has {'a' if found else 'no'} postscript.", found)


def has_title(response: str) -> Ruling:
    """There is a title in double angular brackets.

    >>> has_title("<<A day>> It rained.").passed, has_title("<< >>").passed
    (True, False)
    """
    titles = _within_lines(_TITLE, response, ">>")
    found = next((title for title in titles if title.group().lstrip("<").rstrip(">").strip()), None)
    return ruled(found is not None, f"It has {'a' if found else 'no'} title.", found)


def is_json(response: str) -> Ruling:
    r"""All of it is JSON, within a code fence or not.

    >>> is_json('```json\n{"a": 1}\n```').passed, is_json("Here: {}").passed
    (True, False)
    """
    text = _FENCE_CLOSES.sub("", _FENCE_OPENS.sub("", response.strip())).strip()
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return ruled(False, f"It is no JSON: {error}.")
    return ruled(True, "It is JSON.")


def two_responses(response: str) -> Ruling:
    """Two different answers, set apart by ``******``.

    >>> two_responses("Yes. ****** No.").passed, two_responses("Yes. ****** Yes.").passed
    (True, False)
    """
    parts = [part.strip() for part in response.split("******")]
    answers = [part for part in parts if part]
    if not all(parts[1:-1]):
        return ruled(False, "It has an empty answer.")
    if len({*answers}) < len(answers):
        return ruled(False, "It gives the same answer twice.")
    return ruled(len(answers) == 2, counted(len(answers), "answer"))


def _within_lines(pattern: re.Pattern[str], text: str, closing: str) -> list[re.Match[str]]:
    """What a pattern finds that opens and closes on one line; a line is read only to its last ``closing``.

    Otherwise each of many openings would be followed to the end of the line: time would grow with the square.
    """
    found: list[re.Match[str]] = []
    start = 0
    for line in text.split("\n"):
        last = text.rfind(closing, start, start + len(line))
        if last >= 0:
            found += pattern.finditer(text, start, last + len(closing))
        start += len(line) + 1
    return found
