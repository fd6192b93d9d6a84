"""Rules about numbers of things, read from a direction: words, sentences, lists, marks, sections, paragraphs.

Left out: numbers of parts ("each paragraph", "the title"), for which there is no rule, and of words where none is said
to be a limit ("a 500-word essay").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from vouching.methods.rules.directions import NEAR, Bounds, Direction, bounds_in, loosened, unquoted
from vouching.text.numerals import parse_number
from vouching.types import ChecklistItem

_PART = (
    r"(?:titles?|headlines?|headings?|subjects?|captions?|bullets?|points?|paragraphs?|lines?|stanzas?|verses?"
    r"|sections?|sentences?|items?|names?|steps?|tweets?|introductions?|conclusions?|part|placeholders?|chapters?"
    r"|options?)"
)
_OF_A_PART = re.compile(
    r"\b(?:each|every|both|either|per|one of|the (?:first|second|third|last|next|final|opening|closing))\b[^,;]*\Z"
    rf"|\b{_PART}(?: \w+)? (?:that |which )?"
    r"(?:should|must|needs?|ha(?:s|ve)|with|of|containing|contains?|using|in|is|are)\b[^,;]*\Z"
    r"|\b(?:if|whether|why|because)\b[^,;]*\Z|\b(?:my|our|the|these|those|following)\s+\Z",
    re.IGNORECASE,
)
_THEN_A_PART = re.compile(
    rf"\s*(?:long )?(?:each|per|(?:in|for|under|of) (?:each|every|the|your|a) {_PART})\b", re.IGNORECASE
)
_WORDS = re.compile(
    r"[\s-]*words?\b(?!\s*(?:per\b|of\b|each\b|that\b|which\b|whose\b|from\b|(?:start|begin|end|contain|rhym)\w*"
    r"|(?:in|with) (?:all\b|only\b|capital|upper|caps|bold)))",
    re.IGNORECASE,
)
_SENTENCES = re.compile(
    r"[\s-]*(?:complete |full )?sentences?\b(?!\s*(?:per|each|that (?:start|begin|end))\b)", re.IGNORECASE
)
_PARAGRAPHS = re.compile(r"[\s-]*(?:\w+ )?paragraphs?\b", re.IGNORECASE)
_BULLETS = re.compile(
    r"[\s-]*(?:\w+ )?(?:bullet(?:ed)?(?:[\s-]+(?:points?|items?|list items?))?|bullets)\b(?! lists?\b)", re.IGNORECASE
)
_PLACEHOLDERS = re.compile(r"\s+(?:\w+ )?place-?\s?holders?\b", re.IGNORECASE)
_HIGHLIGHTED = re.compile(
    r"\s+(?:\w+ )?(?:highlighted )?"
    r"(?:sections?|parts?|phrases?|words?|passages?|portions?|highlights?|pieces?|sentences?|places?|spots?)\b",
    re.IGNORECASE,
)
_HIGHLIGHT = re.compile(r"\b(?:highlight|italici[sz]e|bold|emphasi[sz]e)\w*", re.IGNORECASE)
_MARKED = re.compile(r"\bmark\s?down|\basterisks?\b|\*[^\s*][^*\n]*\*", re.IGNORECASE)
_SECTIONS = re.compile(r"\s+(?:\w+ )?(?:sections?|parts?|chapters?)\b", re.IGNORECASE)
_SECTION_MARK = re.compile(
    r"\b(?i:mark|begin|start|label|head|titl|nam|separat|denot)\w*\b[^.\n]{0,60}?\b(?:with|by|as)\s+"
    r"(?:the (?:word|marker) )?[\"'“‘*#]*(?P<mark>[A-Za-z]+)[\"'”’]?\s+[\"'“‘]?(?:X|N|#|\d+|\[?number\]?)\b",
)
_DIVIDER = re.compile(r"(?<!\*)\*\*\*(?!\*)|\b(?:three|3) (?:asterisks?|stars)\b|\bmark\s?down divider", re.IGNORECASE)
_BLANK_LINES = re.compile(
    r"\b(?:two|double) (?:new\s?lines?|line\s?breaks?)\b|\b(?:blank|empty) lines?\b|\\n\\n", re.IGNORECASE
)
_NTH = re.compile(
    r"\b(?:paragraph (?P<number>\d+|[a-z]+)|the (?P<rank>\w+) paragraph) (?:\w+ )?(?:start|begin)s? with (?:the )?"
    r"(?:first )?word,?:? [\"'“‘]?(?P<word>[\w-]+)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\b(?:letter|character|symbol)s? [\"'“‘]?(?P<letter>[A-Za-z]\b(?![-'’]\w)|[^\w\s\"'“”‘’])")
_NO_LETTER = re.compile(r"\b(?:not|never|avoid\w*|without|n['’]t)\b[^.;]{0,30}\Z", re.IGNORECASE)
_TIMES = re.compile(r"\s*(?:or (?:more|fewer|less) )?(?:times|occurrences|instances)\b", re.IGNORECASE)
_CAPITAL_WORDS = re.compile(
    r"\b(?:words?\b[^.;,]{0,20}\b(?:in|with|using) (?:all |full |only )?(?:the )?(?:capital\w*|caps|upper\s?-?case)\b"
    r"|(?:all[- ]caps|all[- ]capital|fully capitali[sz]ed|capitali[sz]ed|upper-?case) words?\b)",
    re.IGNORECASE,
)
_SO_MANY_WORDS = re.compile(
    r"\s*(?:or (?:more|fewer|less) )?(?:times|words?|occurrences|\w+[- ]\w+ words|\w+ words)\b|\W*\Z", re.IGNORECASE
)


def length_rules(said: Direction) -> Iterator[ChecklistItem]:
    """Bounds on the words and the sentences of the whole response.

    >>> [one] = length_rules(Direction("Answer in fewer than 50 words.", 0, ""))
    >>> dict(one.arguments), one.span.text
    ({'num_words': 50, 'relation': 'less than'}, 'fewer than 50 words')
    """
    for bounds, end in _of(said, _WORDS):
        if bounds.exact is None or re.match(r"exactly|precisely", said.text[bounds.start :], re.IGNORECASE):
            for relation, number in bounds.limits():
                yield said.item(
                    "length_constraints:number_words", bounds.start, end, num_words=number, relation=relation
                )
    for bounds, end in _of(said, _SENTENCES):
        for relation, number in bounds.limits():
            yield said.item(
                "length_constraints:number_sentences", bounds.start, end, num_sentences=number, relation=relation
            )


def list_rules(said: Direction) -> Iterator[ChecklistItem]:
    """Numbers of bullet points, placeholders, highlighted stretches and marked sections.

    >>> [one.rule for one in list_rules(Direction("Use exactly 3 bullet points and 2 placeholders.", 0, ""))]
    ['detectable_format:number_bullet_lists', 'detectable_content:number_placeholders']
    """
    for bounds, end in _of(said, _BULLETS):
        if bounds.exact:
            yield said.item("detectable_format:number_bullet_lists", bounds.start, end, num_bullets=bounds.exact)
    for bounds, end in _of(said, _PLACEHOLDERS):
        if bounds.low:
            yield said.item("detectable_content:number_placeholders", bounds.start, end, num_placeholders=bounds.low)
    verb = _HIGHLIGHT.search(said.text)
    if verb and _MARKED.search(said.following):
        for bounds, end in [*_of(said, _HIGHLIGHTED)][:1]:
            if bounds.low:
                start = min(verb.start(), bounds.start)
                yield said.item(
                    "detectable_format:number_highlighted_sections", start, max(end, verb.end()),
                    num_highlights=bounds.low,
                )  # fmt: skip
    mark = _SECTION_MARK.search(said.following)
    if mark and re.search(r"\b(?:section|part|chapter)", said.following[: mark.end()], re.IGNORECASE):
        for bounds, end in [*_of(said, _SECTIONS)][:1]:
            if bounds.low:
                yield said.item(
                    "detectable_format:multiple_sections", bounds.start, end,
                    section_spliter=mark["mark"], num_sections=bounds.low,
                )  # fmt: skip


def paragraph_rules(said: Direction) -> Iterator[ChecklistItem]:
    """Numbers of paragraphs, where it is said what sets them apart.

    >>> [one] = paragraph_rules(Direction("Write 2 paragraphs.", 0, "Write 2 paragraphs. Separate them with ***."))
    >>> dict(one.arguments)
    {'num_paragraphs': 2}
    """
    for bounds, end in [*_of(said, _PARAGRAPHS)][:1]:
        if bounds.exact is None:
            continue
        first = _NTH.search(said.instruction, said.start)
        if _DIVIDER.search(said.following):
            yield said.item("length_constraints:number_paragraphs", bounds.start, end, num_paragraphs=bounds.exact)
        elif first and _BLANK_LINES.search(said.instruction):
            place = parse_number((first["number"] or first["rank"]).lower())
            if place is not None and place >= 1:
                yield said.item(
                    "length_constraints:nth_paragraph_first_word", bounds.start, end,
                    num_paragraphs=bounds.exact, nth_paragraph=int(place), first_word=first["word"],
                )  # fmt: skip


def frequency_rules(said: Direction) -> Iterator[ChecklistItem]:
    """How often a letter, or words in capitals, may occur.

    >>> [one] = frequency_rules(Direction("The letter q should appear at least twice.", 0, ""))
    >>> one.arguments["letter"], one.arguments["let_frequency"]
    ('q', 2)
    """
    letters = [*_LETTER.finditer(said.text)]
    for letter, following in zip_longest(letters, letters[1:]):
        bounds = times_of(said.text, letter.start(), letter.end(), following.start() if following else None)
        limits = [*bounds.limits()] if bounds else []
        if not bounds and _NO_LETTER.search(said.text, max(0, letter.start() - NEAR), letter.start()):
            limits = [("less than", 1)]
        for relation, number in limits:
            yield said.item(
                "keywords:letter_frequency", letter=letter["letter"], let_frequency=number, let_relation=relation
            )
    if capitals := _CAPITAL_WORDS.search(said.text):
        bounds = next(
            (bounds for bounds, _ in _of(said, _SO_MANY_WORDS)), times_of(said.text, capitals.start(), capitals.end())
        )
        for relation, number in bounds.limits() if bounds else ():
            yield said.item("change_case:capital_word_frequency", capital_frequency=number, capital_relation=relation)


def times_of(text: str, start: int, end: int, stop: int | None = None) -> Bounds | None:
    """How often ``text[start:end]`` is to occur: what is said of times after it, up to ``stop``, or else before it.

    >>> bounds = times_of("use the word 'rain' at least twice, in 3 lines", 13, 19)
    >>> bounds.low, bounds.below
    (2, None)
    """
    times = [bounds for bounds in bounds_in(unquoted(text)) if bounds.times or _TIMES.match(text, bounds.end)]
    after = (bounds for bounds in times if end <= bounds.start < (len(text) if stop is None else stop))
    return next(after, next((bounds for bounds in reversed(times) if bounds.end <= start), None))


def _of(said: Direction, unit: re.Pattern[str]) -> Iterator[tuple[Bounds, int]]:
    """The bounds on a thing, each with the end of its phrase; those on things in a part of the response left out."""
    plain = unquoted(said.text)
    for bounds in bounds_in(plain):
        thing = unit.match(plain, bounds.end)
        near = max(0, bounds.start - NEAR)
        if thing and not _OF_A_PART.search(plain, near, bounds.start) and not _THEN_A_PART.match(plain, thing.end()):
            yield loosened(bounds, plain, thing.end()), thing.end()
