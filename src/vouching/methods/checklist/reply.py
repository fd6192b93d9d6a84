"""Reading an answer to a question about a response: yes, no or unclear, and the reason and quotation beside it.

An answer in other words is none: a judge that says "mostly" was asked again, and has then no vote. Left out: yes and no
in other languages than English, in which the question is put.

A list of questions as language models write it, read: numbers, bullets, bold, nesting, lines that go on.

The items are the numbered lines of the first level; without numbers the bullets, without bullets the lines that are
questions. What stands below an item belongs to it, unless the item is a mere heading and all below it are questions:
then these are the items. Left out: several items on one line, and tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vouching.models.base import spoken

_WORDS: dict[str, bool | None] = {
    "yes": True, "no": False, "unclear": None, "uncertain": None, "unsure": None,
}  # fmt: skip
_WORD = rf"({'|'.join(_WORDS)})\b"
_ANNOUNCED = re.compile(
    rf"(?P<line>^\W*)?\b(?:answer|verdict|judge?ment)\b\W{{1,6}}(?:is\W{{1,4}})?{_WORD}(?P<rest>.*)",
    re.IGNORECASE | re.MULTILINE,
)
_OTHER = re.compile(_WORD, re.IGNORECASE)
_OPENING = re.compile(rf"\W*{_WORD}\W*?(?:[.,;:!(\n–—*]|\s-\s|\Z)", re.IGNORECASE)
_FIELD = r"^[\s*_>-]*{}\b[*_]*\s*[:=][*_]*[ \t]*(.*?)[ \t*_]*$"
_REASON = re.compile(_FIELD.format("reason(?:ing)?"), re.IGNORECASE | re.MULTILINE)
_QUOTE = re.compile(_FIELD.format("quot(?:e|ation)"), re.IGNORECASE | re.MULTILINE)
_NOTHING = ("", "none", "n/a", "null", "-")
_QUOTATION_MARKS = "\"'“”„«»`"


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """What a judge said to one question."""

    vote: bool | None
    """Yes, no, or None for "unclear"."""
    reason: str = ""
    """Why, where it was asked."""
    quote: str = ""
    """The words of the response that decide it, as the judge has them; where it was asked, and there are any."""


def read_answer(reply: str) -> ItemAnswer | None:
    r"""The answer in a reply; None if it holds none, or several.

    >>> read_answer("**Yes.**").vote, read_answer("Unclear").vote, read_answer("Mostly.")
    (True, None, None)
    >>> read_answer('Reason: It has two.\nQuote: "- Paris"\nAnswer: no')
    ItemAnswer(vote=False, reason='It has two.', quote='- Paris')
    """
    said = spoken(reply).strip()
    word = _word(said)
    if word is None:
        return None
    reasons, quotes = _REASON.findall(said), _QUOTE.findall(said)
    quote = quotes[-1].strip() if quotes else ""
    while len(quote) > 1 and quote[0] in _QUOTATION_MARKS and quote[-1] in _QUOTATION_MARKS:
        quote = quote[1:-1].strip()
    return ItemAnswer(_WORDS[word], reasons[-1].strip() if reasons else "", "" if quote.lower() in _NOTHING else quote)


def _word(said: str) -> str | None:
    """The word that answers: alone, announced as the answer, or the first or last thing said."""
    formed = _REASON.search(said) or _QUOTE.search(said)
    # In the form that was asked for, "answer" inside a line is the response's own, quoted.
    announced = [found for found in _ANNOUNCED.finditer(said) if found["line"] is not None or not formed]
    if announced:
        return None if _OTHER.search(announced[-1]["rest"]) else announced[-1][2].lower()
    if formed:
        return None
    lines = [line for line in said.splitlines() if line.strip()]
    ends = [_OPENING.match(said), _OPENING.fullmatch(lines[-1]) if lines else None]
    words = {found[1].lower() for found in ends if found}
    return words.pop() if len(words) == 1 else None


_Kind: TypeAlias = Literal["number", "bullet", "part", "text", "blank"]

_MARK = re.compile(
    r"(?P<lead>(?:>\s?)*(?:[-*+]\s+(?=\(?\d))?(?:\#{1,6}\s+)?(?P<bold>\*\*|__)?)"
    r"(?:(?P<number>\(?\d{1,3}(?:\\?[.)．、:](?!\d)|\)))"
    r"|(?P<part>\(?(?:\d{1,3}(?:\.\d{1,3})+[.)]?|(?:[a-z]|[ivx]{2,5})[.)])(?=\s))"
    r"|(?P<bullet>[-*+•◦▪–](?=\s)|[☐☑✓✔□](?=\s)))"
    r"(?P<closed>\*\*|__)?\s*(?:\[[ xX]?\]\s*)?(?=\S)",
    re.VERBOSE,
)
_HINT = re.compile(r"\s*[-–—:]?\s*[(\[]?\s*\byes\s*(?:/|or)\s*no\b\s*[)\]]?\s*$", re.IGNORECASE)
_LABEL = re.compile(r"^(\*\*|__)([^*_?]{1,60}?)(:?)\1(:?)\s*(?=\S)")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`")
_MARKED: tuple[_Kind, ...] = ("number", "bullet", "part")
_DEEPER = 2
"""Blanks by which a nested line stands farther right than its item."""


@dataclass(slots=True)
class _Item:
    """An item while it is read."""

    indent: int
    text: str
    parts: list[str] = field(default_factory=list[str])

    def add(self, text: str) -> None:
        """Text of a line that goes on with the last part, or with the item itself."""
        if self.parts:
            self.parts[-1] += f" {text}"
        else:
            self.text += f" {text}"

    @property
    def last(self) -> str:
        return self.parts[-1] if self.parts else self.text


def parse_checklist(reply: str) -> tuple[str, ...]:
    r"""The questions in a reply, in order; none if there is no list in it.

    >>> parse_checklist("Here you are:\n1. **Is it short?**\n2. Does it name\n   the bridge?\n\nGood luck!")
    ('Is it short?', 'Does it name the bridge?')
    >>> parse_checklist("1. Form\n   - Is it a list?\n   - Has it three entries?\n2. Is it about Paris?")
    ('Is it a list?', 'Has it three entries?', 'Is it about Paris?')
    """
    said = spoken(reply)
    lines = [*_lines((said if said == reply else said.lstrip()).expandtabs(4))]
    kinds = {kind for kind, *_ in lines}
    first: _Kind | None = next((kind for kind in _MARKED if kind in kinds), None)
    if first is None:
        found = [text for kind, _, raw in lines if kind == "text" and is_question(text := _clean(raw))]
    else:
        found = [text for item in _items(lines, first) for text in _texts(item)]
    return tuple(text for text in found if any(c.isalnum() for c in text))


def is_question(text: str) -> bool:
    """Whether a text asks something: it has a question mark outside quotation marks.

    >>> is_question("Is it short? (At most 50 words.)"), is_question('It ends with "Why?".')
    (True, False)
    """
    return any(mark in _QUOTED.sub(" ", text) for mark in "?？؟")


def _lines(text: str) -> Iterator[tuple[_Kind, int, str]]:
    """What each line is, how far right it begins, and what it says without its mark."""
    for line in text.splitlines():
        said = line.strip()
        if not said:
            yield "blank", 0, ""
        elif not said.startswith(("```", "~~~")):
            indent = len(line) - len(line.lstrip())
            mark = _MARK.match(said)
            if mark is None:
                yield "text", indent, said
                continue
            # Bold that opened before the mark and did not close with it goes on in the text.
            opened = mark["bold"] if mark["bold"] and not mark["closed"] else ""
            kind = "number" if mark["number"] else "part" if mark["part"] else "bullet"
            yield kind, indent, opened + said[mark.end() :]


def _items(lines: list[tuple[_Kind, int, str]], first: _Kind) -> list[_Item]:
    """The items, with what belongs to each; ``first`` is the kind of mark that begins one."""
    margin = min(indent for kind, indent, _ in lines if kind == first)
    items: list[_Item] = []
    after_blank = False
    for kind, indent, text in lines:
        if kind == "blank":
            after_blank = True
            continue
        if kind == first and indent < margin + _DEEPER:
            items.append(_Item(indent, text))
        elif kind != "text" and items:
            items[-1].parts.append(text)
        elif items and (indent > items[-1].indent or not (after_blank or is_question(items[-1].last))):
            items[-1].add(text)
        after_blank = False if kind != "text" else after_blank
    return items


def _texts(item: _Item) -> list[str]:
    """The item, or the questions below it if it is none itself."""
    text, parts = _clean(item.text), [part for part in map(_clean, item.parts) if part]
    if parts and not is_question(text) and all(map(is_question, parts)):
        return parts
    return [" ".join([text, "; ".join(parts)]) if parts else text]


def _clean(text: str) -> str:
    """The text in one line, without marks around the whole of it and without "(yes/no)" at its end."""
    text = " ".join(text.split())
    text = _LABEL.sub(r"\2: ", text) if (found := _LABEL.match(text)) and (found[3] or found[4]) else text
    text = _HINT.sub("", text)
    for mark in ("**", "__", "*", "_"):
        inner = text.removeprefix(mark).removesuffix(mark)
        if text.startswith(mark) and text.endswith(mark) and mark not in inner and len(text) > 2 * len(mark):
            text = inner.strip()
        elif len(mark) == 2 and text.count(mark) == 1 and (text.startswith(mark) or text.endswith(mark)):
            text = text.removeprefix(mark).removesuffix(mark).strip()
    return _HINT.sub("", text).strip()
