"""Find rules in the text of an instruction: requirements that can be verified without a language model.

Precision goes before recall: a requirement about a part of the response, in a quotation, in a question or only
approximate gives no rule. Not supported: languages other than English, a response in several languages, and every
requirement without an exact checker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from vouching.rules.directions import RESPONSE, Direction, directions, unquoted
from vouching.rules.find_counts import (
    end_rules,
    frequency_rules,
    length_rules,
    list_rules,
    paragraph_rules,
    word_rules,
)
from vouching.rules.ruling import LANGUAGES
from vouching.rules.wording import ANSWERS
from vouching.text.sentences import sentence_spans
from vouching.types import ChecklistItem

_NO = (
    r"(?:do not|don['’]t|never|avoid\w*|without|refrain\w*|must not|mustn['’]t|should not|shouldn['’]t|cannot|can['’]t"
    r"|not|no|zero|free of|omit|exclud\w+)"
)
_COMMA = re.compile(
    rf"\b{_NO}\b[^.,;:\n]{{0,40}}?\bcommas?\b(?![- ]?(?:splice|separated|before|between|after))"
    r"|\bcommas? (?:is|are) (?:not allowed|not permitted|forbidden|prohibited|banned)",
    re.IGNORECASE,
)
_ONLY = r"\b(?:all|only|entirely|completely|fully|exclusively)\b[\s-]*(?:in |using |with |use )?(?:all[\s-]*)?(?:the )?"
_UPPER = re.compile(
    rf"{_ONLY}(?:capital letters|capitals|caps|upper[\s-]?case)\b"
    r"|\bno lower[\s-]?case(?: letters)?\b|\bin (?:capital letters|upper[\s-]?case)\b",
    re.IGNORECASE,
)
_LOWER = re.compile(
    rf"{_ONLY}lower[\s-]?case\b|\bin lower[\s-]?case\b"
    rf"|\b{_NO}\b[^.,;:\n]{{0,25}}?\b(?:capital letters|capitals|upper[\s-]?case(?: letters)?)\b",
    re.IGNORECASE,
)
_OF_SOME = re.compile(
    r"\b(?:words?|titles?|headings?|headlines?|names?|first letters?|each|every|keywords?|terms?|sentences?|subject"
    r"|sections?|acronyms?|some|certain|times|least)\b[^.;]*\Z",
    re.IGNORECASE,
)
_ALL = rf"\b(?:entire|whole|full|complete|your|{RESPONSE})\b"
_MARKS = r"(?:a pair of )?(?:straight )?(?:double[\s-]quot(?:ation marks?|es)|quotation marks)\b"
_QUOTATION = re.compile(
    rf"\b(?:wrap|enclos|put|surround|plac|encas|envelop)\w*\b(?:[^.\n]{{0,60}}?{_ALL}[^.\n]{{0,60}}?"
    rf"\b(?:in|with|within|inside|between|by) {_MARKS}|[^.\n]{{0,10}}?{_MARKS} around [^.\n]{{0,20}}?{_ALL})",
    re.IGNORECASE,
)
_JSON = re.compile(
    rf"\b(?:wrap|format|return|respond|answer|output|reply|present|provide|give|write|{RESPONSE})\w*\b[^.\n]{{0,60}}?"
    r"\b(?:in|as|using|to|be)\s+(?:an?\s+)?(?:single\s+)?(?:valid\s+)?JSON\b"
    r"(?!\s+(?:files?|parser|library|schema|data|strings?|web))"
    r"|\buse (?:the )?JSON format\b|\bonly\s+(?:valid\s+)?JSON\b|\bJSON (?:format )?only\b",
    re.IGNORECASE,
)
_ABOUT_JSON = re.compile(
    r"\b(?:explain|how|pars\w+|convert|differ\w*|example|code|function|script|program|read|load)\b", re.IGNORECASE
)
_TITLE = re.compile(
    r"\btitle\b[^\n]{0,150}?(?:<<|\bdouble ang(?:ular|le) brackets)|<<[^<>\n]*title[^<>\n]*>>", re.IGNORECASE
)
_POSTSCRIPT = re.compile(
    r"(?<!\w)(?:(?P<twice>P\.\s?P\.\s?S\b\.?|PPS\b)|P\.\s?S\b\.?|PS\b|\bpost\s?-?scripts?\b)", re.I
)
_ADDS = re.compile(
    r"\b(?:add|includ|end|finish|conclud|append|put|attach|writ|start|with|hav|must|should)\w*\b", re.IGNORECASE
)
_SIX_STARS = re.compile(r"(?<!\*)\*{6}(?!\*)|\b(?:six|6) (?:asterisks?|stars)\b", re.IGNORECASE)
_TWO = re.compile(r"\b(?:two|2) (?:\w+ ){0,2}\w+s\b", re.IGNORECASE)
_REPEAT = re.compile(
    r"\brepeat(?:ing)?\b[^.\n]{0,20}?\b(?:request|question|prompt|instruction|query|sentence|text)s?\b[^.\n]{0,40}?"
    r"(?:\b(?:above|below|word[\s-]for[\s-]word|exactly|verbatim|without (?:any )?chang\w*|as (?:it )?is|unchanged)\b)",
    re.IGNORECASE,
)
_ABOUT_REPEATING = re.compile(r"\b(?:request|repeat\w*|answer|respond|say|words?)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\s*\([^()]*\)[.\s]*")
_NAMES = {name.lower(): code for code, name in LANGUAGES.items()} | {
    "mandarin": "zh",
    "simplified chinese": "zh-cn",
    "traditional chinese": "zh-tw",
    "farsi": "fa",
    "filipino": "tl",
    "castilian": "es",
    "slovene": "sl",
}
_LANGUAGE = "|".join(sorted((re.escape(name) for name in _NAMES if "(" not in name), key=len, reverse=True))
_IN_LANGUAGE = re.compile(
    rf"\b(?:in|using|use)\s+(?:only\s+|the\s+)*(?P<name>{_LANGUAGE})\b"
    r"(?=\s*(?:$|[.,;:!?)]|\b(?:language|only|and|with|without|no other|please|about|to|for|on)\b))",
    re.IGNORECASE | re.MULTILINE,
)
_RESPONDS = re.compile(
    rf"\b(?:respond|answer|write|reply|compose|create|generate|draft|produce|entire|whole|please|{RESPONSE}"
    r"|(?:be|is) (?:all |only )?)\b[^.;\n]*\Z",
    re.IGNORECASE,
)
_ALONE = re.compile(r"\W*(?:language\W*)?(?:only\W*)?", re.IGNORECASE)
_SPOKEN = re.compile(
    r"\b(?:say|said|taught|spoken|published|called|means?|words?|written by|course|class|original\w*|subtitles)\b"
    r"[^,;]*\Z",
    re.IGNORECASE,
)


def case_rules(direction: Direction) -> Iterator[ChecklistItem]:
    """All in capitals or all in lower case."""
    plain = unquoted(direction.text)
    for rule, pattern in (("change_case:english_capital", _UPPER), ("change_case:english_lowercase", _LOWER)):
        found = pattern.search(plain)
        if found and not _OF_SOME.search(plain[: found.start()]):
            yield direction.item(rule, *found.span())


def language_rules(direction: Direction) -> Iterator[ChecklistItem]:
    """The language of the response."""
    plain = unquoted(direction.text)
    found = [
        one
        for one in _IN_LANGUAGE.finditer(plain)
        if _RESPONDS.search(plain[: one.start()]) or _ALONE.fullmatch(plain.replace(one.group(), ""))
    ]
    names = {one["name"].lower() for one in found} & _NAMES.keys()  # without case, "İ" is "i" to the pattern alone
    if len(names) == 1 == len({one["name"] for one in found}) and not _SPOKEN.search(plain[: found[0].start()]):
        yield direction.item("language:response_language", *found[0].span(), language=_NAMES[names.pop()])


def mark_rules(direction: Direction) -> Iterator[ChecklistItem]:
    """No commas, quotation marks around the response, JSON, a title, a postscript."""
    plain = unquoted(direction.text)
    whole = {"punctuation:no_comma": _COMMA, "startend:quotation": _QUOTATION, "detectable_format:title": _TITLE}
    for rule, pattern in whole.items():
        if found := pattern.search(direction.text if rule == "detectable_format:title" else plain):
            yield direction.item(rule, *found.span())
    if (found := _JSON.search(plain)) and not _ABOUT_JSON.search(plain):
        yield direction.item("detectable_format:json_format", *found.span())
    if (found := _POSTSCRIPT.search(direction.text)) and _ADDS.search(direction.text):
        twice = any(one["twice"] for one in _POSTSCRIPT.finditer(direction.text))
        yield direction.item(
            "detectable_content:postscript", *found.span(), postscript_marker="P.P.S" if twice else "P.S."
        )


def answer_rules(direction: Direction) -> Iterator[ChecklistItem]:
    """Two answers, one of three fixed answers, the request repeated."""
    two = _TWO.search(direction.text)
    if two and _SIX_STARS.search(direction.following):
        yield direction.item("combination:two_responses", *two.span())
    if ANSWERS[0][:-1].lower() in direction.text.lower() and all(
        answer[:-1].lower() in direction.following.lower() for answer in ANSWERS
    ):
        yield direction.item("detectable_format:constrained_response")
    found = _REPEAT.search(direction.text)
    request = _request(direction) if found else None
    if found and request:
        yield direction.item("combination:repeat_prompt", *found.span(), prompt_to_repeat=request)


def _request(direction: Direction) -> str | None:
    """The request that a sentence asks to repeat: the text before it; None if that is not certain."""
    end = direction.start + len(direction.text)
    aside = _ASIDE.match(direction.instruction, end)
    after = direction.instruction[aside.end() if aside else end :].strip()
    # Later sentences may only be about the repetition; anything else could belong to the request.
    rest = [after[start:end] for start, end in sentence_spans(after)]
    certain = all(_ABOUT_REPEATING.search(sentence) for sentence in rest)
    return direction.instruction[: direction.start].strip() if certain else None


_FINDERS: tuple[Callable[[Direction], Iterator[ChecklistItem]], ...] = (
    length_rules,
    list_rules,
    paragraph_rules,
    frequency_rules,
    word_rules,
    end_rules,
    case_rules,
    language_rules,
    mark_rules,
    answer_rules,
)
_CASES = ("change_case:english_capital", "change_case:english_lowercase")


def find_rules(instruction: str) -> tuple[ChecklistItem, ...]:
    """The rule items that an instruction asks for, in order; each quotes the words that ask for it.

    >>> found = find_rules("Write a poem in at least 20 words. Do not use any commas.")
    >>> [(item.rule, item.span.text) for item in found]
    [('length_constraints:number_words', 'at least 20 words'), ('punctuation:no_comma', 'Do not use any commas')]
    """
    found: list[ChecklistItem] = []
    for direction in directions(instruction):
        for finder in _FINDERS:
            found += [item for item in finder(direction) if all(item.text != known.text for known in found)]
    return tuple(sorted(_consistent(found), key=lambda item: item.span.start if item.span else 0))


def _consistent(items: list[ChecklistItem]) -> list[ChecklistItem]:
    languages = {item.arguments["language"] for item in items if item.rule == "language:response_language"}
    cases = {item.rule for item in items}.intersection(_CASES)
    if len(cases) > 1 or languages - {"en"}:
        items = [item for item in items if item.rule not in _CASES]
    elif cases:  # these already require English
        items = [item for item in items if item.rule != "language:response_language"]
    # Two languages, or two endings, contradict each other.
    for rule in ("language:response_language", "startend:end_checker"):
        if sum(item.rule == rule for item in items) > 1:
            items = [item for item in items if item.rule != rule]
    return items
