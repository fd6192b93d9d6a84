"""Parse a judge's answer (yes, no or unclear, with reason and quotation) and lists of questions in replies.

An answer in any other words is not a vote, nor is one that quotes the choice ("yes or no") or that goes on in its
sentence ('the answer is "no" to the question of whether ...'). Answers and lists in JSON, as a server writes them that
enforces schemas, are read too. Not supported: yes and no in languages other than English, in which the question is
asked.

Items of a list are the numbered lines of the first level; without numbers the bullets, without bullets the lines that
are questions. Lines below an item belong to it, unless the item is only a heading and all lines below it are questions:
then these are the items. Not supported: several items on one line, and tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vouching.judging.schemas import Schema, json_fields, json_list, list_of, one_of, record, short_text
from vouching.models.base import spoken

_WORDS: dict[str, bool | None] = {
    "yes": True,
    "no": False,
    "unclear": None,
    "uncertain": None,
    "unsure": None,
}
_WORD = rf"({'|'.join(_WORDS)})\b"
_ANNOUNCED = re.compile(
    rf"(?P<line>^[^\w\n]*)?\b(?:answer|verdict|judge?ment)\b\W{{1,6}}(?:is\W{{1,4}})?{_WORD}(?P<rest>.*)",
    re.IGNORECASE | re.MULTILINE,
)
_OTHER = re.compile(_WORD, re.IGNORECASE)
_GOES_ON = re.compile(r"[\s\"'“”’`*_)\]}]*(?!because\b|since\b|as\b)\w", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:yes\W*(?:or|and|/)\W*no|no\W*(?:or|and|/)\W*yes)\b", re.IGNORECASE)
_TWICE = re.compile(rf"\W*{_WORD}\W*:\W*{_WORD}", re.IGNORECASE)
_OPENING = re.compile(rf"\W*{_WORD}\W*?(?:[.,;:!(\n–—*]|\s-\s|\Z)", re.IGNORECASE)
_FIELD = r"^[ \t*_>-]*{}\b[*_]*\s*[:=](.*)$"
_REASON = re.compile(_FIELD.format("reason(?:ing)?"), re.IGNORECASE | re.MULTILINE)
_QUOTE = re.compile(_FIELD.format("quot(?:e|ation)"), re.IGNORECASE | re.MULTILINE)
_MARKS = " \t*_"
_NOTHING = ("", "none", "n/a", "null", "-")
_QUOTATION_MARKS = "\"'“”„«»`"


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """A judge's answer to one question."""

    vote: bool | None
    """Yes, no, or None for "unclear"."""
    reason: str = ""
    """Why, if the judge gave a reason."""
    quote: str = ""
    """The words of the response that decide it, as quoted by the judge; may be empty."""


ANSWER_FIELDS = ("reason", "quote", "answer")
MAX_ITEMS = 25
"""Longer lists are over-decomposed: the paper's have five to eight items, with a long tail."""
_SENTENCE, _QUESTION = 240, 320
"""Characters of a reason or quotation, and of an item, where a server enforces the schema."""


def answer_schema(reasons: bool) -> Schema:
    """The JSON Schema of an answer."""
    answer = one_of("yes", "no", "unclear")
    sentence = short_text(_SENTENCE)
    return record(reason=sentence, quote=sentence, answer=answer) if reasons else record(answer=answer)


def list_schema() -> Schema:
    """The JSON Schema of a checklist."""
    return record(questions=list_of(short_text(_QUESTION, 1), MAX_ITEMS, 1))


def read_answer(reply: str) -> ItemAnswer | None:
    r"""The answer in a reply; None if it has none, or several.

    >>> read_answer("**Yes.**").vote, read_answer("Unclear").vote, read_answer("Mostly.")
    (True, None, None)
    >>> read_answer('Reason: It has two.\nQuote: "- Paris"\nAnswer: no')
    ItemAnswer(vote=False, reason='It has two.', quote='- Paris')
    """
    text = spoken(reply).strip()
    found = json_fields(reply)
    if isinstance(found.get("answer"), str):
        text = "".join(f"{name}: {' '.join(str(found.get(name, '')).split())}\n" for name in ANSWER_FIELDS)
    word = _word(text)
    if word is None:
        return None
    reasons, quotes = _REASON.findall(text), _QUOTE.findall(text)
    quote = quotes[-1].strip(_MARKS) if quotes else ""
    while len(quote) > 1 and quote[0] in _QUOTATION_MARKS and quote[-1] in _QUOTATION_MARKS:
        quote = quote[1:-1].strip()
    return ItemAnswer(
        _WORDS[word], reasons[-1].strip(_MARKS) if reasons else "", "" if quote.lower() in _NOTHING else quote
    )


def _word(text: str) -> str | None:
    """The word that answers: alone, announced as the answer, or at the beginning or end."""
    formed = _REASON.search(text) or _QUOTE.search(text)
    # In the requested form, "answer" inside a line is a quotation from the response.
    announced = [found for found in _ANNOUNCED.finditer(text) if found["line"] is not None or not formed]
    if announced:
        rest = announced[-1]["rest"]
        return None if _OTHER.search(rest) or _GOES_ON.match(rest) else announced[-1][2].lower()
    if formed or _CHOICE.search(text) or _TWICE.match(text):
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    ends = [_OPENING.match(text), _OPENING.fullmatch(lines[-1]) if lines else None]
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
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|`[^`\n]*`")
_MARKED: tuple[_Kind, ...] = ("number", "bullet", "part")
_DEEPER = 2
"""Minimum extra indentation of a line nested below an item."""


@dataclass(slots=True)
class _Item:
    """An item while it is parsed."""

    indent: int
    text: str
    parts: list[str] = field(default_factory=list[str])
    asks: bool = False
    """Whether a line since its last part began is a question."""

    def begin(self, part: str) -> None:
        """Append a part."""
        self.parts.append(part)
        self.asks = is_question(part)

    def add(self, text: str) -> None:
        """Append a continuation line to the last part, or to the item itself."""
        if self.parts:
            self.parts[-1] += f" {text}"
        else:
            self.text += f" {text}"
        self.asks = self.asks or is_question(text)


def parse_checklist(reply: str) -> tuple[str, ...]:
    r"""The questions in a reply, in order; empty if there is no list in it.

    >>> parse_checklist("Here you are:\n1. **Is it short?**\n2. Does it name\n   the bridge?\n\nGood luck!")
    ('Is it short?', 'Does it name the bridge?')
    >>> parse_checklist("1. Form\n   - Is it a list?\n   - Has it three entries?\n2. Is it about Paris?")
    ('Is it a list?', 'Has it three entries?', 'Is it about Paris?')
    """
    listed = json_list(reply, "questions")
    if listed is not None:
        return tuple(question for one in listed if any(map(str.isalnum, question := _clean(str(one.get("questions"))))))
    text = spoken(reply)
    lines = [*_lines((text if text == reply else text.lstrip()).expandtabs(4))]
    kinds = {kind for kind, *_ in lines}
    first: _Kind | None = next((kind for kind in _MARKED if kind in kinds), None)
    if first is None:
        found = [text for kind, _, raw in lines if kind == "text" and is_question(text := _clean(raw))]
    else:
        found = [text for item in _items(lines, first) for text in _texts(item)]
    return tuple(text for text in found if any(c.isalnum() for c in text))


def is_question(text: str) -> bool:
    """Whether a text has a question mark outside quotation marks."""
    said = _QUOTED.sub(" ", text)
    return any(mark in said for mark in "?？؟")


def _lines(text: str) -> Iterator[tuple[_Kind, int, str]]:
    """The kind, indentation and text, without its mark, of each line."""
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped:
            yield "blank", 0, ""
        elif not stripped.startswith(("```", "~~~")):
            indent = len(line) - len(line.lstrip())
            mark = _MARK.match(stripped)
            if mark is None:
                yield "text", indent, stripped
                continue
            # Bold that opens before the mark and does not close with it continues in the text.
            opened = mark["bold"] if mark["bold"] and not mark["closed"] else ""
            kind = "number" if mark["number"] else "part" if mark["part"] else "bullet"
            yield kind, indent, opened + stripped[mark.end() :]


def _items(lines: list[tuple[_Kind, int, str]], first: _Kind) -> list[_Item]:
    """The items with their parts; ``first`` is the kind of mark that begins an item."""
    margin = min(indent for kind, indent, _ in lines if kind == first)
    items: list[_Item] = []
    after_blank = False
    for kind, indent, text in lines:
        if kind == "blank":
            after_blank = True
            continue
        if kind == first and indent < margin + _DEEPER:
            items.append(_Item(indent, text, asks=is_question(text)))
        elif kind != "text" and items:
            items[-1].begin(text)
        elif items and (indent > items[-1].indent or not (after_blank or items[-1].asks)):
            items[-1].add(text)
        after_blank = False if kind != "text" else after_blank
    return items


def _texts(item: _Item) -> list[str]:
    """The item, or the questions below it if the item is not a question."""
    text, parts = _clean(item.text), [part for part in map(_clean, item.parts) if part]
    if parts and not is_question(text) and all(map(is_question, parts)):
        return parts
    return [" ".join([text, "; ".join(parts)]) if parts else text]


def _clean(text: str) -> str:
    """The text on one line, without enclosing marks and without "(yes/no)" at its end."""
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
