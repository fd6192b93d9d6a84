"""Exact checkers of the words of a response: keywords, letters, case, language, beginning and end.

Each takes a response and its arguments and returns a ruling. The semantics are IFEval's (Zhou et al. 2023), even where
they surprise; departures are named at the checker. Not supported: checks of meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from vouching.rules.ruling import LANGUAGES, Ruling, capital_words, counted, holds, language_of, ruled

ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
"""The answers allowed in a constrained response."""
_FEW_WORDS = 8
"""With fewer words, langdetect takes "Yes." for French and "Hola amigo" for Somali."""


def has_keywords(response: str, keywords: Sequence[str]) -> Ruling:
    """Every keyword occurs, in any case, also inside other words. Departure: keywords are not regular expressions."""
    missing = [f'"{word}"' for word in keywords if not _literal(word).search(response)]
    if missing:
        return ruled(False, f"It lacks {', '.join(missing)}.")
    return ruled(True, "It has every keyword.", _literal(keywords[0]).search(response))


def keyword_count(response: str, keyword: str, frequency: int, relation: str) -> Ruling:
    """A keyword occurs at least, or less than, so many times, in any case, also inside other words."""
    number = len(_literal(keyword).findall(response))
    found = _literal(keyword).search(response)
    return ruled(holds(relation, number, frequency), f'It has "{keyword}" {_times(number)}.', found)


def lacks_words(response: str, forbidden_words: Sequence[str]) -> Ruling:
    """None of the words occurs as a separate word, in any case."""
    for word in forbidden_words:
        # A non-letter at the edge of a forbidden text ("C++") needs no word boundary.
        left = r"(?<!\w)" if re.match(r"\w", word) else ""
        right = r"(?!\w)" if re.search(r"\w\Z", word) else ""
        found = re.search(left + re.escape(word) + right, response, re.IGNORECASE)
        if found:
            return ruled(False, f'It has "{found.group()}".', found)
    return ruled(True, "It has none of the forbidden words.")


def letter_count(response: str, letter: str, let_frequency: int, let_relation: str) -> Ruling:
    """A letter, or another character, occurs at least, or less than, so many times, in either case."""
    number = response.lower().count(letter.lower())
    return ruled(holds(let_relation, number, let_frequency), f'It has the letter "{letter}" {_times(number)}.')


def in_language(response: str, language: str) -> Ruling:
    """The response is in the language of this code. As in IFEval, a text without letters passes.

    Departure: "zh" accepts simplified and traditional Chinese.
    """
    found = language_of(response)
    if found is None:
        return ruled(True, "It has no letters to detect a language from.")
    return ruled(language in (found, found.partition("-")[0]), f"langdetect detects {_guessed(found, response)}.")


def all_capitals(response: str) -> Ruling:
    """English, without a lower-case letter and with at least one capital."""
    return _one_case(response, response.isupper(), "capital", _changed_by(response, str.upper))


def all_lowercase(response: str) -> Ruling:
    """English, without a capital letter and with at least one lower-case letter."""
    return _one_case(response, response.islower(), "lower-case", _changed_by(response, str.lower))


def capital_word_count(response: str, capital_frequency: int, capital_relation: str) -> Ruling:
    """At least, or less than, so many words are in capitals; "I" is one. Departure: "I'M" is one word, not two."""
    number = len(capital_words(response))
    found = counted(number, "word in capitals", "words in capitals")
    return ruled(holds(capital_relation, number, capital_frequency), found)


def no_comma(response: str) -> Ruling:
    """There is no comma."""
    found = re.search(",", response)
    return ruled(found is None, counted(response.count(","), "comma"), found)


def ends_with(response: str, end_phrase: str) -> Ruling:
    """The last words are these, in any case; double quotes and spaces around the response do not count."""
    text = response.strip().strip('"').lower()
    return ruled(text.endswith(end_phrase.strip().lower()), f'It ends with "{text[-len(end_phrase.strip()) :]}".')


def in_quotes(response: str) -> Ruling:
    """The whole response is in straight double quotation marks."""
    text = response.strip()
    passed = len(text) > 1 and text[0] == text[-1] == '"'
    return ruled(passed, f"Its first character is {text[:1]}, its last is {text[-1:]}.")


def repeats_prompt(response: str, prompt_to_repeat: str) -> Ruling:
    """The response begins with these words, in any case."""
    passed = response.strip().lower().startswith(prompt_to_repeat.strip().lower())
    return ruled(passed, f"It {'begins' if passed else 'does not begin'} with the words to repeat.")


def is_constrained(response: str) -> Ruling:
    """One of the three allowed answers occurs."""
    found = re.search("|".join(map(re.escape, ANSWERS)), response)
    return ruled(found is not None, f"It has {'one' if found else 'none'} of the allowed answers.", found)


def _literal(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text), re.IGNORECASE)


def _times(number: int) -> str:
    return f"{number:,} time{'s' * (number != 1)}"


def _changed_by(text: str, change: Callable[[str], str]) -> re.Match[str] | None:
    return next((word for word in re.finditer(r"\w+", text) if change(word.group()) != word.group()), None)


def _one_case(response: str, passed: bool, case: str, other: re.Match[str] | None) -> Ruling:
    if not passed:
        return ruled(False, f"It is not all in {case} letters.", other)
    language = language_of(response)
    words = "no language" if language is None else _guessed(language, response)
    return ruled(language in ("en", None), f"It is all in {case} letters; langdetect detects {words}.")


def _guessed(language: str, response: str) -> str:
    """The name of the language, marked where it is a guess."""
    doubt = ", but is often wrong on so few words" if len(response.split()) < _FEW_WORDS else ""
    return f"{LANGUAGES.get(language, language)}{doubt}"
