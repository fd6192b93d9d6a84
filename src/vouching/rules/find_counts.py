"""Find rules about numbers (words, sentences, lists, sections, paragraphs) and about words to use or avoid.

Not supported: numbers of parts ("each paragraph", "the title") and word counts that are no limit ("a 500-word essay");
words that are neither quoted nor called words ("mention the war"), which name a topic; alternatives ("red or blue").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from vouching.rules.directions import NEAR, QUOTE, Bounds, Direction, bounds_in, loosened, quotes, unquoted
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
    r"(?:the (?:word|marker) )?[\"'“‘*#]*(?P<mark>[A-Za-z]+)[\"'”’]?\s+[\"'“‘]?(?:X|N|#|\d+|\[?number\]?)\b"
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


def length_rules(direction: Direction) -> Iterator[ChecklistItem]:
    """Bounds on the words and the sentences of the whole response."""
    for bounds, end in _of(direction, _WORDS):
        if bounds.exact is None or re.match(r"exactly|precisely", direction.text[bounds.start :], re.IGNORECASE):
            for relation, number in bounds.limits():
                yield direction.item(
                    "length_constraints:number_words", bounds.start, end, num_words=number, relation=relation
                )
    for bounds, end in _of(direction, _SENTENCES):
        for relation, number in bounds.limits():
            yield direction.item(
                "length_constraints:number_sentences", bounds.start, end, num_sentences=number, relation=relation
            )


def list_rules(direction: Direction) -> Iterator[ChecklistItem]:
    """Numbers of bullet points, placeholders, highlighted stretches and marked sections."""
    for bounds, end in _of(direction, _BULLETS):
        if bounds.exact:
            yield direction.item("detectable_format:number_bullet_lists", bounds.start, end, num_bullets=bounds.exact)
    for bounds, end in _of(direction, _PLACEHOLDERS):
        if bounds.low:
            yield direction.item(
                "detectable_content:number_placeholders", bounds.start, end, num_placeholders=bounds.low
            )
    verb = _HIGHLIGHT.search(direction.text)
    if verb and _MARKED.search(direction.following):
        for bounds, end in [*_of(direction, _HIGHLIGHTED)][:1]:
            if bounds.low:
                start = min(verb.start(), bounds.start)
                yield direction.item(
                    "detectable_format:number_highlighted_sections",
                    start,
                    max(end, verb.end()),
                    num_highlights=bounds.low,
                )
    mark = _SECTION_MARK.search(direction.following)
    if mark and re.search(r"\b(?:section|part|chapter)", direction.following[: mark.end()], re.IGNORECASE):
        for bounds, end in [*_of(direction, _SECTIONS)][:1]:
            if bounds.low:
                yield direction.item(
                    "detectable_format:multiple_sections",
                    bounds.start,
                    end,
                    section_spliter=mark["mark"],
                    num_sections=bounds.low,
                )


def paragraph_rules(direction: Direction) -> Iterator[ChecklistItem]:
    """Numbers of paragraphs, where their separator is given."""
    for bounds, end in [*_of(direction, _PARAGRAPHS)][:1]:
        if bounds.exact is None:
            continue
        first = _NTH.search(direction.instruction, direction.start)
        if _DIVIDER.search(direction.following):
            yield direction.item("length_constraints:number_paragraphs", bounds.start, end, num_paragraphs=bounds.exact)
        elif first and _BLANK_LINES.search(direction.instruction):
            place = parse_number((first["number"] or first["rank"]).lower())
            if place is not None and place >= 1:
                yield direction.item(
                    "length_constraints:nth_paragraph_first_word",
                    bounds.start,
                    end,
                    num_paragraphs=bounds.exact,
                    nth_paragraph=int(place),
                    first_word=first["word"],
                )


def frequency_rules(direction: Direction) -> Iterator[ChecklistItem]:
    """How often a letter, or words in capitals, may occur."""
    letters = [*_LETTER.finditer(direction.text)]
    for letter, following in zip_longest(letters, letters[1:]):
        bounds = times_of(direction.text, letter.start(), letter.end(), following.start() if following else None)
        limits = [*bounds.limits()] if bounds else []
        if not bounds and _NO_LETTER.search(direction.text, max(0, letter.start() - NEAR), letter.start()):
            limits = [("less than", 1)]
        for relation, number in limits:
            yield direction.item(
                "keywords:letter_frequency", letter=letter["letter"], let_frequency=number, let_relation=relation
            )
    if capitals := _CAPITAL_WORDS.search(direction.text):
        bounds = next(
            (bounds for bounds, _ in _of(direction, _SO_MANY_WORDS)),
            times_of(direction.text, capitals.start(), capitals.end()),
        )
        for relation, number in bounds.limits() if bounds else ():
            yield direction.item(
                "change_case:capital_word_frequency", capital_frequency=number, capital_relation=relation
            )


def times_of(text: str, start: int, end: int, stop: int | None = None) -> Bounds | None:
    """How often ``text[start:end]`` is to occur: the count after it, up to ``stop``, or else before it."""
    times = [bounds for bounds in bounds_in(unquoted(text)) if bounds.times or _TIMES.match(text, bounds.end)]
    after = (bounds for bounds in times if end <= bounds.start < (len(text) if stop is None else stop))
    return next(after, next((bounds for bounds in reversed(times) if bounds.end <= start), None))


def _of(direction: Direction, unit: re.Pattern[str]) -> Iterator[tuple[Bounds, int]]:
    """The bounds on a thing, each with the end of its phrase; things in a part of the response are skipped."""
    plain = unquoted(direction.text)
    for bounds in bounds_in(plain):
        thing = unit.match(plain, bounds.end)
        near = max(0, bounds.start - NEAR)
        if thing and not _OF_A_PART.search(plain, near, bounds.start) and not _THEN_A_PART.match(plain, thing.end()):
            yield loosened(bounds, plain, thing.end()), thing.end()


_AND = r"\s*(?:,\s*(?:and|or)\b|,|/|&|\band\b|\bor\b)\s*"
_NAME = r"[^\W_][\w'’-]*"
_STOP = (
    r"(?:in|within|at|when|while|where|whenever|if|unless|that|which|who|anywhere|throughout|somewhere|more|less|fewer"
    r"|exactly|for|from|of|to|with|without|should|must|shall|is|are|be|been|appears?|needs?|has|have|as|per|on|by"
    r"|limit|counts?|like|such|used|using|you|it|your|the|and|or|but|so|because|not|only|also|once|twice|times|every"
    r"|each|cannot|can|may|shows?|occurs?)"
)
_BARE = rf"(?!{_STOP}\b){_NAME}(?:\s+(?!{_STOP}\b){_NAME}){{0,2}}"
_MENTION = re.compile(
    r"\b(?:key\s?)?(?P<noun>words?|terms?|phrases?|keywords?)\b(?:\s+and\s+phrases)?\s*[:,]?\s*[\[(]?"
    rf"(?P<list>{QUOTE}(?:{_AND}{QUOTE})*|{_BARE}(?:{_AND}{_BARE})*)(?=\s*(?:[].,;:!?)\n]|\Z|\s{_STOP}\b))",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\b(?:say|saying|use|using|mention|mentioning|include|including|contain|containing|incorporate|write|writing)\s+"
    rf"(?:the\s+)?(?P<list>{QUOTE}(?:{_AND}{QUOTE})*)",
    re.IGNORECASE,
)
_MAY_BE_ASKED = re.compile(r"\b(?:mention|include|contain|incorporate|use)", re.IGNORECASE)
_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|never|avoid\w*|without|refrain\w*|exclud\w*|omit\w*|forbid\w*|leave out|leaving out|cannot|skip\w*"
    r"|free of|stay away from)\b|n['’]t\b|\bno\s*\Z)[^.;]*\Z",
    re.IGNORECASE,
)
_NOT_AFTER = re.compile(
    r"\W*(?:(?:should|must|can|may|are|is|do|does|shall|will)\s*(?:not|never)\b"
    r"|(?:should|must|ca|are|is|do|does)n['’]t\b|cannot\b|(?:is|are) (?:forbidden|banned|prohibited|off[- ]limits)"
    r"|should be (?:avoided|excluded|omitted|left out))",
    re.IGNORECASE,
)
_ASKED_BEFORE = re.compile(
    r"\b(?:includ|contain|mention|us(?:e|es|ing)\b|incorporat|add(?:s|ing)?\b|say|featur|ha(?:s|ve)\b|with\b|insert"
    r"|employ|work in)[^.;]*\Z",
    re.IGNORECASE,
)
_ASKED_AFTER = re.compile(
    r"\W*(?:(?:should|must|needs? to|ha(?:s|ve) to|is|are|shall|to) (?:\w+ ){0,2}"
    r"(?:appear|be|includ|us|present|occur|mention|show)|appears?\b|included\b|in (?:the|your) )",
    re.IGNORECASE,
)
_OTHER_USE = re.compile(
    r"\b(?:instead of|replac\w+|chang\w+|substitut\w+|rhym\w+|mean(?:s|ing)?|defin\w+|start\w*|begin\w*|end\w*"
    r"|finish\w*|conclud\w*|first|last|titles?|mark|label|definition|synonyms?|antonyms?|each|every)\b",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?:\b(?:end|finish|conclude|close|sign off|wrap up)(?:s|ing|ed)?\b(?P<what>[^.\n\"“]{0,60}?)"
    r"\b(?:with|by (?:saying|writing|asking))\b"
    r"|\b(?:last|final|closing) (?:sentence|line|phrase|words?|thing)\b(?P<part>[^.\n\"“]{0,50}?)\b(?:be|is|read)\b)"
    r"(?:\s+(?:the|this|these|exactly|exact|following|phrase|sentence|words?|line|question|statement|text|precise"
    r"|verbatim|same|closing|final))*[\s:,]*"
    rf"(?P<phrase>{QUOTE}|(?<=phrase )[^\"“\n]{{3,150}}?(?=\.? No (?:other|more) words))",
    re.IGNORECASE,
)
_LONGEST = 6
"""Words in a keyword; a longer quotation is a sentence."""


def word_rules(direction: Direction) -> Iterator[ChecklistItem]:
    """Words to use, how often, and words to avoid."""
    done = 0
    mentions = sorted(
        (*_MENTION.finditer(direction.text), *_QUOTED.finditer(direction.text)), key=lambda one: one.start()
    )
    for mention, following in zip_longest(mentions, mentions[1:]):
        start, end = mention.span("list")
        before, after = direction.text[max(0, start - NEAR) : start], direction.text[end : end + NEAR]
        words = _words(mention)
        if mention.start() < done or not words or _OTHER_USE.search(before):
            continue
        done = mention.end()
        times = times_of(direction.text, start, end, following.start() if following else None)
        negative = bool(_NOT_BEFORE.search(before) or _NOT_AFTER.match(after))
        if times and len(words) == 1:
            for relation, number in times.limits():
                yield direction.item("keywords:frequency", keyword=words[0], frequency=number, relation=relation)
        elif times:
            continue
        elif negative:
            yield direction.item("keywords:forbidden_words", mention.start(), mention.end(), forbidden_words=words)
        elif _is_asked(mention, before, after):
            yield direction.item("keywords:existence", mention.start(), mention.end(), keywords=words)


def end_rules(direction: Direction) -> Iterator[ChecklistItem]:
    """Words to end with."""
    found = _END.search(direction.text) or _END.search(direction.following)
    if found is None or found.start() >= len(direction.text):
        return
    aside = f"{found['what'] or ''} {found['part'] or ''}"
    if re.search(r"\b(?:each|every|paragraphs?|sections?|stanzas?|lines?|sentences|all)\b", aside, re.IGNORECASE):
        return
    phrase = found["phrase"]
    phrase = phrase[1:-1] if re.fullmatch(QUOTE, phrase) else phrase
    yield direction.item("startend:end_checker", found.start(), found.end(), end_phrase=phrase.strip())


def _words(mention: re.Match[str]) -> list[str]:
    listed = mention["list"]
    if re.match(QUOTE, listed):
        words = [word.rstrip(".,;") for word in quotes(listed)]
        return words if all(len(word.split()) <= _LONGEST for word in words) else []
    words = [word for word in re.split(_AND, listed) if word]
    plural = mention["noun"].lower().endswith("s")
    return words if (len(words) > 1) == plural else []


def _is_asked(mention: re.Match[str], before: str, after: str) -> bool:
    if re.search(r"[\"'”’`]\s*,?\s*or\b|\bor\s", mention["list"]) or re.match(r"\W*or\b", after):
        return False
    if "noun" not in mention.groupdict():
        return bool(_MAY_BE_ASKED.match(mention.group()))
    return bool(_ASKED_BEFORE.search(before) or _ASKED_AFTER.match(after))
