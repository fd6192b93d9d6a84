"""The 25 rules by name, the arguments each takes, and items bound to them.

Names and arguments are IFEval's (Zhou et al. 2023). Departures: a missing argument is an error, where IFEval draws one
at random. Not supported: rules of other sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeAlias, cast

from vouching.errors import InputError
from vouching.rules import shape, wording
from vouching.rules.ruling import LANGUAGES, Ruling
from vouching.types import ChecklistItem, Span
from vouching.types.visible import hint, shown_json

RELATIONS = ("at least", "less than")
"""How a number may be bounded."""
Reader: TypeAlias = Callable[[object], object]
"""Validates an argument; raises ValueError with what it expects."""


@dataclass(frozen=True, slots=True)
class Rule:
    """An exact checker and its parameters."""

    check: Callable[..., Ruling]
    question: str
    """The item in words; the arguments are filled in."""
    parameters: Mapping[str, Reader] = field(default_factory=dict[str, Reader])
    """Reads each argument; all are required."""


def bind(rule: str, arguments: Mapping[str, Any] | None = None, span: Span | None = None) -> ChecklistItem:
    """An item that a rule decides; arguments that are None count as missing.

    ``span`` is the part of the instruction that asks for it. Raises InputError for an unknown rule or wrong arguments.

    >>> bind("length_constraints:number_words", {"num_words": 300, "relation": "at least"}).text
    'Does the response have at least 300 words?'
    >>> bind("keywords:frequency", {"keyword": "sea", "frequency": "often", "relation": "at least"})
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: keywords:frequency: "frequency" must be a whole number of at least 0, got 'often'
    """
    if rule not in RULES:
        raise InputError(f"unknown rule {rule!r}{hint(get_close_matches(rule, RULES, 1), 'see docs/rules.md')}")
    parameters = RULES[rule].parameters
    given = {key: value for key, value in (arguments or {}).items() if value is not None}
    unknown = [repr(key) for key in given if key not in parameters]
    if unknown:
        takes = ", ".join(map(repr, parameters)) or "no arguments"
        raise InputError(f"{rule}: unknown argument {', '.join(unknown)}; expected {takes}")
    read = {key: _read(rule, key, reader, given) for key, reader in parameters.items()}
    return ChecklistItem(RULES[rule].question.format(**_shown(read)), rule, read, span)


def _read(rule: str, key: str, reader: Reader, given: Mapping[str, Any]) -> object:
    if key not in given:
        raise InputError(f'{rule}: the argument "{key}" is missing')
    try:
        return reader(given[key])
    except ValueError as expected:
        raise InputError(f'{rule}: "{key}" must be {expected}, got {shown_json(given[key])}') from None


def _shown(arguments: Mapping[str, object]) -> dict[str, str]:
    shown: dict[str, str] = {}
    for key, value in arguments.items():
        if isinstance(value, tuple):
            shown[key] = ", ".join(f'"{word}"' for word in cast("tuple[str, ...]", value))
        else:
            shown[key] = f"{value:,}" if isinstance(value, int) else str(value)
    return shown | ({"language": LANGUAGES[shown["language"]]} if "language" in shown else {})


def _whole(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a table with empty cells turns whole numbers into floats
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a whole number of at least 0")
    return value


def _place(value: object) -> int:
    if _whole(value) < 1:
        raise ValueError("a whole number of at least 1")
    return _whole(value)


def _relation(value: object) -> str:
    if value not in RELATIONS:
        raise ValueError(" or ".join(map(repr, RELATIONS)))
    return str(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a string that is not blank")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("a list of at least one string")
    return tuple(map(_text, cast("list[object]", value)))


def _letter(value: object) -> str:
    if not isinstance(value, str) or len(value.strip()) != 1:
        raise ValueError("a single character")
    return value.strip().lower()


def _language(value: object) -> str:
    if not isinstance(value, str) or value not in LANGUAGES:
        raise ValueError("a language code such as 'en' or 'zh-cn'")
    return value


RULES: dict[str, Rule] = {
    "keywords:existence": Rule(wording.has_keywords, "Does the response include {keywords}?", {"keywords": _texts}),
    "keywords:frequency": Rule(
        wording.keyword_count,
        'Does the response have "{keyword}" {relation} {frequency} times?',
        {"keyword": _text, "frequency": _whole, "relation": _relation},
    ),
    "keywords:forbidden_words": Rule(
        wording.lacks_words, "Does the response avoid the words {forbidden_words}?", {"forbidden_words": _texts}
    ),
    "keywords:letter_frequency": Rule(
        wording.letter_count,
        'Does the response have the letter "{letter}" {let_relation} {let_frequency} times?',
        {"letter": _letter, "let_frequency": _whole, "let_relation": _relation},
    ),
    "language:response_language": Rule(
        wording.in_language, "Is the response in {language}, and in no other language?", {"language": _language}
    ),
    "length_constraints:number_sentences": Rule(
        shape.sentence_count,
        "Does the response have {relation} {num_sentences} sentences?",
        {"num_sentences": _whole, "relation": _relation},
    ),
    "length_constraints:number_paragraphs": Rule(
        shape.paragraph_count,
        "Does the response have {num_paragraphs} paragraphs, set apart by ***?",
        {"num_paragraphs": _whole},
    ),
    "length_constraints:number_words": Rule(
        shape.word_count,
        "Does the response have {relation} {num_words} words?",
        {"num_words": _whole, "relation": _relation},
    ),
    "length_constraints:nth_paragraph_first_word": Rule(
        shape.nth_paragraph,
        'Does the response have {num_paragraphs} paragraphs, number {nth_paragraph} beginning with "{first_word}"?',
        {"num_paragraphs": _whole, "nth_paragraph": _place, "first_word": _text},
    ),
    "detectable_content:number_placeholders": Rule(
        shape.placeholder_count,
        "Does the response have at least {num_placeholders} placeholders in square brackets?",
        {"num_placeholders": _whole},
    ),
    "detectable_content:postscript": Rule(
        shape.has_postscript,
        'Does the response have a postscript that starts with "{postscript_marker}"?',
        {"postscript_marker": _text},
    ),
    "detectable_format:number_bullet_lists": Rule(
        shape.bullet_count, "Does the response have exactly {num_bullets} bullet points?", {"num_bullets": _whole}
    ),
    "detectable_format:constrained_response": Rule(
        wording.is_constrained, 'Is the response "My answer is yes.", "My answer is no." or "My answer is maybe."?'
    ),
    "detectable_format:number_highlighted_sections": Rule(
        shape.highlight_count,
        "Does the response highlight at least {num_highlights} sections with asterisks?",
        {"num_highlights": _whole},
    ),
    "detectable_format:multiple_sections": Rule(
        shape.section_count,
        'Does the response have at least {num_sections} sections that begin with "{section_spliter}" and a number?',
        {"section_spliter": _text, "num_sections": _whole},
    ),
    "detectable_format:json_format": Rule(shape.is_json, "Is the whole response JSON?"),
    "detectable_format:title": Rule(shape.has_title, "Does the response have a title in <<double angular brackets>>?"),
    "combination:two_responses": Rule(
        shape.two_responses, "Does the response give two different answers, set apart by ******?"
    ),
    "combination:repeat_prompt": Rule(
        wording.repeats_prompt, 'Does the response begin with "{prompt_to_repeat}"?', {"prompt_to_repeat": _text}
    ),
    "startend:end_checker": Rule(
        wording.ends_with, 'Does the response end with "{end_phrase}"?', {"end_phrase": _text}
    ),
    "startend:quotation": Rule(wording.in_quotes, "Is the whole response in double quotation marks?"),
    "change_case:capital_word_frequency": Rule(
        wording.capital_word_count,
        "Does the response have {capital_relation} {capital_frequency} words in capitals?",
        {"capital_frequency": _whole, "capital_relation": _relation},
    ),
    "change_case:english_capital": Rule(wording.all_capitals, "Is the response in English and all in capitals?"),
    "change_case:english_lowercase": Rule(wording.all_lowercase, "Is the response in English and all in lower case?"),
    "punctuation:no_comma": Rule(wording.no_comma, "Is the response free of commas?"),
}
"""Every rule, by its name in IFEval."""
