"""Rules about words, read from a direction: which to use or to avoid, how often, how to end.

Left out: words that are named without quotation marks and without being called words ("mention the war"): that is a
topic. Several words of which any will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from vouching.methods.rules.directions import NEAR, QUOTE, Direction, quotes
from vouching.methods.rules.find_counts import times_of
from vouching.types import ChecklistItem

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


def word_rules(said: Direction) -> Iterator[ChecklistItem]:
    """Words to use, so and so often, and words to avoid.

    >>> [one] = word_rules(Direction('Never use the words "red" and "blue".', 0, ""))
    >>> one.rule, one.arguments["forbidden_words"]
    ('keywords:forbidden_words', ('red', 'blue'))
    >>> [one] = word_rules(Direction("The word rain should appear at least 3 times.", 0, ""))
    >>> one.rule, one.arguments["frequency"]
    ('keywords:frequency', 3)
    """
    done = 0
    mentions = sorted((*_MENTION.finditer(said.text), *_QUOTED.finditer(said.text)), key=lambda one: one.start())
    for mention, following in zip_longest(mentions, mentions[1:]):
        start, end = mention.span("list")
        before, after = said.text[max(0, start - NEAR) : start], said.text[end : end + NEAR]
        words = _words(mention)
        if mention.start() < done or not words or _OTHER_USE.search(before):
            continue
        done = mention.end()
        times = times_of(said.text, start, end, following.start() if following else None)
        negative = bool(_NOT_BEFORE.search(before) or _NOT_AFTER.match(after))
        if times and len(words) == 1:
            for relation, number in times.limits():
                yield said.item("keywords:frequency", keyword=words[0], frequency=number, relation=relation)
        elif times:
            continue
        elif negative:
            yield said.item("keywords:forbidden_words", mention.start(), mention.end(), forbidden_words=words)
        elif _is_asked(mention, before, after):
            yield said.item("keywords:existence", mention.start(), mention.end(), keywords=words)


def end_rules(said: Direction) -> Iterator[ChecklistItem]:
    """Words to end with.

    >>> [one] = end_rules(Direction('End your reply with the exact phrase "Over and out."', 0, ""))
    >>> one.arguments["end_phrase"]
    'Over and out.'
    """
    found = _END.search(said.text)
    if found is None:
        found = _END.search(said.following)
    if found is None or found.start() >= len(said.text):
        return
    aside = f"{found['what'] or ''} {found['part'] or ''}"
    if re.search(r"\b(?:each|every|paragraphs?|sections?|stanzas?|lines?|sentences|all)\b", aside, re.IGNORECASE):
        return
    phrase = found["phrase"]
    if re.fullmatch(QUOTE, phrase):
        phrase = phrase[1:-1]
    yield said.item("startend:end_checker", found.start(), found.end(), end_phrase=phrase.strip())


def _words(mention: re.Match[str]) -> list[str]:
    """The words that are named; none if it is not certain where they end."""
    listed = mention["list"]
    if re.match(QUOTE, listed):
        words = [word.rstrip(".,;") for word in quotes(listed)]
        return words if all(len(word.split()) <= _LONGEST for word in words) else []
    words = [word for word in re.split(_AND, listed) if word]
    plural = mention["noun"].lower().endswith("s")
    return words if (len(words) > 1) == plural else []


def _is_asked(mention: re.Match[str], before: str, after: str) -> bool:
    """Whether all the words are asked for."""
    if re.search(r"[\"'”’`]\s*,?\s*or\b|\bor\s", mention["list"]) or re.match(r"\W*or\b", after):
        return False
    if "noun" not in mention.groupdict():
        return bool(_MAY_BE_ASKED.match(mention.group()))
    return bool(_ASKED_BEFORE.search(before) or _ASKED_AFTER.match(after))
