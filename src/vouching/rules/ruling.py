"""The ruling of an exact checker, and what checkers count: words, sentences, capitals, languages.

Not supported: sentences that end with a line and no stop, such as list items and headings, which continue into the next
as in IFEval; scripts without spaces, where a word runs from space to space or mark; texts in several languages.
``langdetect`` (seeded, offline) often misjudges short texts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from vouching.errors import needed
from vouching.text.sentences import LIST_MARKER, abbreviates
from vouching.types import Span

_LONGEST_SPAN = 400
"""Characters of a response that a ruling quotes; longer stretches are not shown."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome of one exact check of one text."""

    passed: bool
    reason: str
    """What was found, in a sentence."""
    span: Span | None = None
    """The deciding words, where there are any."""


def ruled(passed: bool, reason: str, at: re.Match[str] | None = None) -> Ruling:
    """A ruling, with the words that a search found."""
    if at is None or not at.group() or len(at.group()) > _LONGEST_SPAN:
        return Ruling(passed, reason)
    return Ruling(passed, reason, Span(at.group(), *at.span()))


def holds(relation: str, number: int, limit: int) -> bool:
    """Whether a number is "at least" or "less than" a limit, the only relations."""
    return number >= limit if relation == "at least" else number < limit


def counted(number: int, one: str, many: str = "") -> str:
    """A count as a sentence."""
    return f"It has {number:,} {one if number == 1 else many or one + 's'}."


_WORD = re.compile(r"\w+")
_STOP = re.compile(
    r"""(?P<stop>(?<![.!?…])[.!?…]++)["'”’»)\]*_`]*+(?=\s)|[。！？｡؟۔।॥։።]+[」』）】》”’"')\]]*(?=.)""", re.DOTALL
)
_BLANKS = re.compile(r"\s*+")
_LETTERS = re.compile(r"[^\W_]")
_CAPITALS = re.compile(r"[^\W_]+(?:(?:[-&./]|['’](?=[A-Z]))[^\W_]+)*")


def count_words(text: str) -> int:
    """Count runs of letters, digits and underscores; a hyphen or an apostrophe separates two."""
    return len(_WORD.findall(text))


def count_sentences(text: str) -> int:
    r"""Count stretches that end in a stop, question or exclamation mark, and the rest.

    Points of abbreviations, initials and list numbers do not end a sentence.
    """
    count, start = 0, 0
    for stop in _STOP.finditer(text):
        if _ends_sentence(text, stop) and _LETTERS.search(text, start, stop.end()):
            count += 1
            start = stop.end()
    return count + bool(_LETTERS.search(text, start))


def capital_words(text: str) -> list[str]:
    """Words in capitals; inner hyphens and points are part of a word."""
    return [word for word in _CAPITALS.findall(text) if word.isupper()]


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    """Whether a run of stops ends a sentence: always, except points before lower case or after an abbreviation."""
    marks = stop["stop"]
    if marks is None or not marks.startswith("."):
        return True
    following = _skip_blanks(text, stop.end())
    continues = text[following : following + 1].islower()
    if len(marks) > 1:
        return not continues
    line = _skip_blanks(text, text.rfind("\n", 0, stop.start()) + 1)
    marker = LIST_MARKER.match(text, line)
    if marker and stop.start() < marker.end():
        return False
    before = text[max(line, stop.start() - 40) : stop.start()]
    return not before.split() or not abbreviates(before, "" if continues else text[following : following + 40])


def _skip_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


SEED = 0
"""Seed of the sampling inside langdetect, set anew for every text, so that a text always gets one language."""

LANGUAGES = {
    "af": "Afrikaans",
    "ar": "Arabic",
    "bg": "Bulgarian",
    "bn": "Bengali",
    "ca": "Catalan",
    "cs": "Czech",
    "cy": "Welsh",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "gu": "Gujarati",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "kn": "Kannada",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "mk": "Macedonian",
    "ml": "Malayalam",
    "mr": "Marathi",
    "ne": "Nepali",
    "nl": "Dutch",
    "no": "Norwegian",
    "pa": "Punjabi",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "so": "Somali",
    "sq": "Albanian",
    "sv": "Swedish",
    "sw": "Swahili",
    "ta": "Tamil",
    "te": "Telugu",
    "th": "Thai",
    "tl": "Tagalog",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "zh-cn": "Chinese (simplified)",
    "zh-tw": "Chinese (traditional)",
    "zh": "Chinese",
}
"""Every code that :func:`language_of` returns, with its language; "zh" is any Chinese."""


def language_of(text: str) -> str | None:
    """ISO 639-1 code of the language, "zh-cn" or "zh-tw" for Chinese; None for a text without letters.

    Raises MissingExtraError if langdetect is not installed.

    >>> language_of("Das ist ein Satz auf Deutsch."), language_of("1973!")
    ('de', None)
    """
    factory, no_language = _detector()
    detector = factory.create()
    detector.append(text)
    try:
        return str(detector.detect())
    except no_language:
        return None


@cache
def _detector() -> tuple[Any, type[Exception]]:
    """A factory of our own, so that no other seed is changed."""
    module = needed("langdetect.detector_factory", "rules", "detecting the language of a text")
    factory = module.DetectorFactory()
    factory.set_seed(SEED)
    factory.load_profile(module.PROFILES_DIRECTORY)
    return factory, module.LangDetectException
