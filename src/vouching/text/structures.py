"""Texts with a structure: tables, code blocks, JSON, YAML and CSV, cut into fields with what they belong to.

A row of a table is one piece whose cells have the heads of their columns; a value of JSON or YAML is one piece with its
key, and has the keys above it as its path, where an object of a list is called by its first short text. A key is read
as words, and its last one as the unit of a number ("length_m": 4 is 4 m). What code does is not checked. Offsets are
those of the answer. Not supported: YAML other than "key: value" lines and lists, cells that span rows or columns.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from vouching.text.clauses import finite_verb
from vouching.text.json_values import parse_json
from vouching.text.layout import Row, table_rows
from vouching.text.quantities import find_quantities
from vouching.text.sentences import markup_spans

Kind: TypeAlias = Literal["heading", "fragment", "code", "field", "prose"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer: a field is a claim, prose is read sentence by sentence, the rest states nothing."""

    start: int
    end: int
    kind: Kind
    context: str = ""
    """What a field belongs to, in words."""
    text: str = ""
    """A field with the heads of its columns in square brackets, or its key in words; "" for the stretch as it is."""


_FENCE = re.compile(r"[ \t]*(?:`{3,}+|~{3,}+)[ \t]*(?P<name>[\w+-]*)[^\n]*\n")
"""The line that opens a code block."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}\[\],:]')
_PAIR = re.compile(r"(?P<indent>[ \t]*)(?P<dash>- +)?(?:(?P<key>[\w \"'-]{1,40}?):(?:[ \t]+|$))?(?P<value>[^\n]*)")
_NO_NAMES = frozenset("value fact detail details description answer information note notes".split())
"""Heads of columns that do not name what their cells hold."""
_TITLED = re.compile(
    r"(?:(?<=\A)|(?<=\n\n))(?P<title>[^\W\d_][^\n:|.!?]{0,60})\n"
    r"(?P<lines>(?:[^\W\d_][^\n:|*]{0,40}:[ \t]+[^\s|][^\n|]{0,79}(?:\n|\Z)){2,})"
)
"""A line without a stop, and at least two lines "key: value" below it."""
_COLUMN = re.compile(r"[^\W\d_][\w ()/%°€$-]{0,40}")
"""The head of a column of CSV."""
_CAMEL_CASE = re.compile(r"[a-z]{2,}(?:[A-Z][a-zA-Z0-9]*)")
_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z](?:[a-z]+|[A-Z]*)")
_NO_UNIT_AFTER = ("per", "in", "of", "no", "a")
_DEEPEST = 50
_LONGEST_NAME = 80
"""Characters of a key or a head in the context of a field; the words after it are left out, so that the contexts of
many fields do not grow with the length of a key."""
_LONGEST_CONTEXT = 400
"""Characters; the outer keys of a longer one are left out."""
_PROSE_WORDS = 6
_CLOSED = str.maketrans('[]{}\n*_`"', " " * 9)


def structured_pieces(answer: str) -> list[Piece]:
    r"""The structured stretches of an answer, in order and without overlap.

    >>> answer = '{"plan": "Pro", "limits": {"users": 25}}'
    >>> [(answer[p.start : p.end], p.context) for p in structured_pieces(answer) if p.kind == "field"]
    [('"plan": "Pro"', ''), ('"users": 25', 'limits')]
    """
    first = len(answer) - len(answer.lstrip())
    last = len(answer.rstrip())
    whole = _json(answer, first, last) or _pairs_only(answer, first, last) or _csv(answer, first, last)
    if whole:
        return _with_rest(answer, first, last, whole)
    rows = [row for row in table_rows(answer) if "|" in answer[row.start : row.end]]
    heads = {column: _short(named(answer[slice(*column)])) for column in {c.column for row in rows for c in row.cells}}
    pieces = sorted([_row(answer, row, heads) for row in rows] + _line_pairs(answer), key=lambda piece: piece.start)
    starts, ends = [piece.start for piece in pieces], [piece.end for piece in pieces]
    for start, end, kind in markup_spans(answer):
        fence, before = _FENCE.match(answer, start, end), bisect_left(starts, end)
        if fence:
            body = _stripped(answer, fence.end(), answer.rindex("\n", start, end))
            read = {"yaml": _yaml, "yml": _yaml, "csv": _csv}.get(fence["name"].lower())
            inner = _json(answer, *body) or (read(answer, *body) if read else [])
            pieces += _with_rest(answer, start, end, inner) if inner else [Piece(start, end, "code")]
        elif not (before and ends[before - 1] > start):
            pieces.append(Piece(start, end, kind))
    return sorted(pieces, key=lambda piece: piece.start)


def json_lines(text: str) -> str | None:
    """The values of JSON, each on a line after the keys it stands under; None for a text that is no object or list.

    A sentence stands as it is. The whole and the objects of lists are named by their first short text. Empty values
    have no line.

    >>> print(json_lines('{"city": "Lyon", "forecast": [{"day": "Monday", "high_c": 21}], "note": null}'))
    city: Lyon.
    Lyon forecast day: Monday.
    Lyon forecast Monday high c: 21.
    """
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    lines = list[str]()
    for piece in _json(text, start, end, name_whole=True):
        if piece.kind == "prose":
            lines.append("\n" + _string(text[piece.start - 1 : piece.end + 1]) + "\n")
        elif piece.kind == "field":
            *key, value = (token[0] for token in _TOKEN.finditer(text, piece.start, piece.end))
            place = " ".join(filter(None, (piece.context.replace(",", ""), _key_words(_string(key[0])) if key else "")))
            lines.append(f"{f'{place}: ' if place else ''}{' '.join(_string(value).split())}.")
    return "\n".join(lines).strip() if lines else None


def _string(token: str) -> str:
    return str(parse_json(token)) if token.startswith('"') else token


def named(words: str) -> str:
    """Words as they may be written between square brackets."""
    return " ".join(words.translate(_CLOSED).split()).rstrip(" :|")


def _short(words: str) -> str:
    """The first words, at most ``_LONGEST_NAME`` characters; "" if the first is longer."""
    return words if len(words) <= _LONGEST_NAME else words[: _LONGEST_NAME + 1].rpartition(" ")[0]


def _context(names: Sequence[str]) -> str:
    """The names of what a field belongs to, the outermost first."""
    context = ", ".join(filter(None, names[-_DEEPEST:]))
    return context if len(context) <= _LONGEST_CONTEXT else context[-_LONGEST_CONTEXT:].partition(", ")[2]


def _stripped(answer: str, start: int, end: int) -> tuple[int, int]:
    """A stretch without the blanks around it."""
    body = answer[start:end]
    return start + len(body) - len(body.lstrip()), start + len(body.rstrip())


def _row(answer: str, row: Row, heads: Mapping[tuple[int, int], str]) -> Piece:
    if row.is_head:
        return Piece(row.start, row.end, "heading")
    parts, done = list[str](), row.start
    for cell in row.cells:
        head = heads[cell.column]
        names = head[:1].isalpha() and head.lower() not in _NO_NAMES and cell is not row.cells[0]
        if names and cell.end > cell.start:
            parts += [answer[done : cell.start], f"[{head}:] "]
            done = cell.start
    return Piece(row.start, row.end, "field", text="".join([*parts, answer[done : row.end]]))


def _line_pairs(answer: str) -> list[Piece]:
    """The lines "key: value" below a line that names what they are about, and that line."""
    found: list[Piece] = []
    for block in _TITLED.finditer(answer):
        title, lines = block["title"].strip(), [*re.finditer(r"[^\n]+", block["lines"])]
        if finite_verb(title) or any(finite_verb(line[0]) for line in lines):
            continue
        at = block.start("lines")
        found.append(Piece(block.start("title"), block.start("title") + len(block["title"].rstrip()), "heading"))
        found += [
            Piece(at + line.start(), at + line.start() + len(line[0].rstrip()), "field", named(title)) for line in lines
        ]
    return found


def _with_rest(answer: str, start: int, end: int, inner: Sequence[Piece]) -> list[Piece]:
    """The pieces, and what is around them as fragments."""
    found: list[Piece] = []
    done = start
    for piece in (*inner, None):
        until = piece.start if piece else end
        between = answer[done:until]
        if between.strip():
            first = done + len(between) - len(between.lstrip())
            found.append(Piece(first, first + len(between.strip()), "fragment"))
        if piece:
            found.append(piece)
            done = piece.end
    return found


def _json(answer: str, start: int, end: int, name_whole: bool = False) -> list[Piece]:
    """The values of JSON; none if it is no object or list. Objects of lists, and the whole if asked, are named."""
    if answer[start : start + 1] not in ("{", "["):
        return []
    try:
        parse_json(answer[start:end])
    except ValueError:
        return []
    fields: list[Piece] = []
    path: list[tuple[str, str]] = []  # each with its words
    key: re.Match[str] | None = None
    tokens = [*_TOKEN.finditer(answer, start, end)]
    for at, token in enumerate(tokens):
        word, following = token[0], tokens[at + 1][0] if at + 1 < len(tokens) else ""
        if word in "{[":
            path.append(_place(key[0] if key else ""))
            key = None
        elif word in "}]":
            path.pop()
        elif following == ":":
            key = token
            if tokens[at - 1][0] == "{" and (name_whole or len(path) > 1) and not path[-1][0]:
                path[-1] = _place(_first_text(tokens, at))
        elif word not in ",:":
            fields.append(_value(answer, key, token, path))
            key = None
    return fields


def _place(token: str) -> tuple[str, str]:
    """A key, or the name of an object, with its words."""
    return token, _short(_key_words(_string(token)))


def _first_text(tokens: Sequence[re.Match[str]], at: int) -> str:
    """What tells an object from others: its first short text before a nested value; "" without one."""
    while at + 2 < len(tokens) and tokens[at + 1][0] == ":" and tokens[at + 2][0] not in "{[":
        if tokens[at + 2][0].startswith('"') and len(tokens[at + 2][0].split()) < _PROSE_WORDS:
            return tokens[at + 2][0]
        at += 4
    return ""


def _value(answer: str, key: re.Match[str] | None, value: re.Match[str], path: Sequence[tuple[str, str]]) -> Piece:
    start = key.start() if key else value.start()
    if value[0] in ("null", '""'):
        return Piece(start, value.end(), "fragment")
    if len(value[0].split()) >= _PROSE_WORDS and finite_verb(value[0]):
        return Piece(value.start() + 1, value.end() - 1, "prose")
    context = _context([words for token, words in path[-_DEEPEST:] if not key or token != value[0]])
    return Piece(start, value.end(), "field", context, _in_words(_string(key[0]), _string(value[0])) if key else "")


def _key_words(key: str) -> str:
    """A key as words: "deliveryDate" and "delivery_date" are "delivery date"."""
    if _CAMEL_CASE.fullmatch(key):
        key = _HUMP.sub(lambda part: f" {part[0].lower()}", key)
    return named(key)


def _in_words(key: str, value: str) -> str:
    """A field with its key in words; a number gets the unit that ends its key.

    >>> _in_words("length_m", "212"), _in_words("price_eur", "4"), _in_words("per_minute", "25")
    ('length: 212 m', 'price: 4 EUR', 'per minute: 25')
    >>> _in_words("minAge", "12"), _in_words("totalPriceEUR", "4")
    ('min age: 12', 'total price: 4 EUR')
    """
    *words, last = _key_words(key).split() or [""]
    if words and words[-1].lower() not in _NO_UNIT_AFTER and re.fullmatch(r"-?\d[\d.,]*", value):
        for number in (f"{value} {last}", f"{value} {last.upper()}"):
            if any(one.unit for one in find_quantities(number)):
                return f"{' '.join(words)}: {number}"
    return f"{' '.join([*words, last])}: {value}"


def _pairs_only(answer: str, start: int, end: int) -> list[Piece]:
    """The fields of an answer that is YAML from its first line to its last: two pairs at least, and no prose.

    A key without a value has lines below it that are indented further.
    """
    lines = [line.rstrip() for line in answer[start:end].splitlines() if line.strip()]
    pairs = [_PAIR.fullmatch(line) for line in lines]
    deeper = [len(two) - len(two.lstrip()) > len(one) - len(one.lstrip()) for one, two in pairwise((*lines, ""))]
    are_pairs = [
        pair and pair["key"] and not re.search(r"[.!?]$|\*", pair[0]) and (pair["value"] or below)
        for pair, below in zip(pairs, deeper, strict=True)
    ]
    is_short = all(len(line.split()) <= 2 * _PROSE_WORDS for line in lines)
    return _yaml(answer, start, end) if len(lines) > 1 and is_short and all(are_pairs) else []


def _csv(answer: str, start: int, end: int) -> list[Piece]:
    """The rows below a line of heads, with the same number of cells, divided by commas."""
    lines = [*re.finditer(r"[^\n]+", answer[start:end])]
    try:
        heads, *rows = [next(csv.reader([line[0]])) for line in lines] or [[]]
    except csv.Error:  # a cell that is too long
        return []
    if (
        not rows
        or len(heads) < 2
        or not all(map(_COLUMN.fullmatch, heads))
        or {len(row) for row in rows} != {len(heads)}
    ):
        return []
    pieces: list[Piece] = []
    for line, row in zip(lines[1:], rows, strict=True):
        cells = [f"[{_key_words(head)}:] {cell}" for head, cell in zip(heads[1:], row[1:], strict=True) if cell.strip()]
        at, text = start + line.start(), f"| {' | '.join([row[0], *cells])} |"
        pieces.append(Piece(at, at + len(line[0].rstrip()), "field", text=" ".join(text.split())))
    first = start + lines[0].start()
    return [Piece(first, first + len(lines[0][0].rstrip()), "heading"), *pieces]


def _yaml(answer: str, start: int, end: int) -> list[Piece]:
    """The values of "key: value" lines and list items, with the keys above them by indentation."""
    fields: list[Piece] = []
    path: list[tuple[int, str]] = []
    for line in re.finditer(r"[^\n]+", answer[start:end]):
        pair = _PAIR.fullmatch(line[0].rstrip())
        if pair is None or not line[0].strip() or line[0].lstrip().startswith(("#", "---")):
            continue
        column = len(pair["indent"])
        indent = column + len(pair["dash"] or "")
        path = [(depth, name) for depth, name in path if (depth <= column if pair["dash"] else depth < indent)]
        if pair["key"] and not pair["value"]:
            path.append((indent, _short(_key_words(pair["key"]))))
            continue
        first = start + line.start() + pair.start("key" if pair["key"] else "value")
        last = start + line.start() + pair.end()
        value = _string(pair["value"]) if pair["value"].endswith('"') else pair["value"]
        context = _context([name for _, name in path])
        fields.append(Piece(first, last, "field", context, _in_words(pair["key"], value) if pair["key"] else ""))
        if pair["dash"] and pair["key"] and _goes_on(answer, last, end, indent) and not re.match(r"[\d-]", value):
            path.append((column + 1, _short(_key_words(value))))  # what the other lines of the item are about
    return fields


def _goes_on(answer: str, at: int, end: int, indent: int) -> bool:
    """Whether the line after an item of a list of YAML belongs to the item."""
    following = re.compile(rf"\n {{{indent}}}(?=[^ -])").match(answer, at, end)
    return following is not None
