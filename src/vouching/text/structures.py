"""Texts with a structure: tables, code blocks, JSON, YAML and CSV, cut into fields with what they belong to.

A row of a table is one piece whose cells have the heads of their columns; a value of JSON or YAML is one piece with its
key, and has the keys above it as its path, where an object of a list is called by its first short text. A key is read
as words, and its last one as the unit of a number ("length_m": 4 is 4 m). What code does is not checked. Offsets are
those of the answer. Not supported: YAML other than "key: value" lines, lists and flows on one line.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Literal, TypeAlias

from vouching.text.clauses import finite_verb, states
from vouching.text.json_values import parse_json
from vouching.text.layout import Row, csv_lines, table_rows
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
_COMMENT = re.compile(r"\s#(?!\d)[^\n\"']*\Z")
_JSON_LINE = re.compile(r"^[ \t]*(?=[{\[]\s*[\"{])", re.MULTILINE)
"""The start of a line that may be the first of JSON."""
_FLOW = re.compile(
    r"""
    "[^"\\\x00-\x1f]*+" | '[^'\n]*+' | [{}\[\],] | :(?=\s)
    | [^\s{}\[\],:"'](?:[^\s{}\[\],:]|:(?!\s)|[ \t](?=[^\s{}\[\],:]))*+
    """,
    re.VERBOSE,
)
"""A part of a flow map or list of YAML: "{plan: Pro, users: [Ann, Bo]}"."""
_NO_NAMES = frozenset("value fact detail details description answer information note notes".split())
"""Heads of columns that do not name what their cells hold."""
_TITLED = re.compile(
    r"(?:(?<=\A)|(?<=\n\n))(?P<title>[^\W\d_][^\n:|.!?]{0,60})\n"
    r"(?P<lines>(?:[^\W\d_][^\n:|*]{0,40}:[ \t]+[^\s|][^\n|]{0,79}(?:\n|\Z)){2,})"
)
"""A line without a stop, and at least two lines "key: value" below it."""
_CAMEL_CASE = re.compile(r"[a-z]{2,}(?:[A-Z][a-zA-Z0-9]*)")
_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z](?:[a-z]+|[A-Z]*)")
_NO_UNIT_AFTER = ("per", "in", "of", "no", "a")
_DEEPEST = 50
_LONGEST_NAME = 80
"""Characters of a key or a head in the context of a field; the words after it are left out."""
_LONGEST_CONTEXT = 400
"""Characters; the outer keys of a longer one are left out."""
_PROSE_WORDS = 6
_PLAIN = ("", "text", "txt", "markdown", "md", "table")
"""Names of code blocks that may hold a table."""
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
    marked = markup_spans(answer)
    fences = [(start, end) for start, end, _ in marked if _FENCE.match(answer, start, end)]
    objects = [span for span in _json_blocks(answer) if not _overlaps(fences, *span)]
    nested = [span for span in _yaml_blocks(answer) if not _overlaps(fences, *span) and not _overlaps(objects, *span)]
    inner = [piece for span in objects for piece in _with_rest(answer, *span, _json(answer, *span))]
    inner += [piece for span in nested for piece in _with_rest(answer, *span, _yaml(answer, *span))]
    blocks = sorted(objects + nested)
    others = [piece for row in rows for piece in _row(answer, row, heads)] + _line_pairs(answer)
    others = [piece for piece in others if not _overlaps(blocks, piece.start, piece.end)]
    pieces = sorted(others + inner, key=lambda piece: piece.start)
    starts, ends = [piece.start for piece in pieces], [piece.end for piece in pieces]
    found: list[Piece] = []
    done = 0  # pieces that are read, or in a block that is read in another way
    for start, end, kind in marked:
        first, last = bisect_right(ends, start), bisect_left(starts, end)
        if fence := _FENCE.match(answer, start, end):
            found += [*pieces[done:first], *_fenced(answer, fence, end, pieces[first:last])]
            done = max(done, last)
        elif first >= last:
            found += _heads(answer, start, end, "|") if kind == "heading" else [Piece(start, end, kind)]
    return sorted([*found, *pieces[done:]], key=lambda piece: piece.start)


def _overlaps(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of the spans, which are in order, overlaps a stretch."""
    at = bisect_right(spans, start, key=itemgetter(1))
    return at < len(spans) and spans[at][0] < end


def _fenced(answer: str, fence: re.Match[str], end: int, rows: Sequence[Piece]) -> list[Piece]:
    """What a code block holds: JSON, YAML or CSV by its fields, a table by its rows, or code."""
    start, name = fence.start(), fence["name"].lower()
    body = _stripped(answer, fence.end(), answer.rindex("\n", start, end))
    read = {"yaml": _yaml, "yml": _yaml, "csv": _csv}.get(name)
    inner = _json(answer, *body) or (read(answer, *body) if read else [])
    if not inner and name in _PLAIN and all(start <= row.start and row.end <= end for row in rows):
        inner = rows
    if not inner and not name:
        lines = re.finditer(r"^[ \t]*(?P<said>[^\W\d_a-z][^\n]*[.!?])[ \t]*$", answer[slice(*body)], re.MULTILINE)
        said = [(body[0] + line.start("said"), body[0] + line.end("said")) for line in lines]
        inner = [Piece(first, last, "prose") for first, last in said if states(answer[first:last])]
    return _with_rest(answer, start, end, inner) if inner else [Piece(start, end, "code")]


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
    """The words of a quoted token; a token of YAML that JSON does not have stays as it is."""
    try:
        return str(parse_json(token)) if token.startswith('"') else token.strip("'")
    except ValueError:
        return token


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


def _heads(answer: str, start: int, end: int, separator: str) -> list[Piece]:
    """The heads of columns, of which one that is a sentence is prose."""
    cells = re.finditer(rf"[^{separator}\s](?:[^{separator}\n]*[^{separator}\s])?", answer[start:end])
    said = [Piece(start + one.start(), start + one.end(), "prose") for one in cells if states(one[0])]
    return _with_rest(answer, start, end, said) if said else [Piece(start, end, "heading")]


def _row(answer: str, row: Row, heads: Mapping[tuple[int, int], str]) -> list[Piece]:
    if row.is_head:
        return _heads(answer, row.start, row.end, "|")
    parts, done = list[str](), row.start
    for cell in row.cells:
        head = heads[cell.column]
        names = head[:1].isalpha() and head.lower() not in _NO_NAMES and cell is not row.cells[0]
        if names and cell.end > cell.start:
            parts += [answer[done : cell.start], f"[{head}:] "]
            done = cell.start
    return [Piece(row.start, row.end, "field", text="".join([*parts, answer[done : row.end]]))]


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
    return _nested(answer, [*_TOKEN.finditer(answer, start, end)], (), name_whole)


def _json_blocks(answer: str) -> list[tuple[int, int]]:
    """The stretches of whole lines that are JSON with keys, between prose."""
    found: list[tuple[int, int]] = []
    done = 0
    for opening in _JSON_LINE.finditer(answer):
        if opening.start() < done:
            continue
        depth = 0
        for token in _TOKEN.finditer(answer, opening.end()):
            depth += (token[0] in "{[") - (token[0] in "}]")
            done = token.end()
            if not depth:
                break
        ends_line = not answer[done : _line_end(answer, done)].strip()
        if ends_line and re.search(r'"\s*:', answer[opening.end() : done]) and _json(answer, opening.end(), done):
            found.append((opening.end(), done))
    return found


def _line_end(answer: str, at: int) -> int:
    end = answer.find("\n", at)
    return len(answer) if end < 0 else end


def _flow(answer: str, start: int, end: int, above: Sequence[str], name_whole: bool) -> list[Piece]:
    """The values of a flow map or list of YAML below the keys above it; none if it is not closed where it ends."""
    tokens = [*_FLOW.finditer(answer, start, end)]
    depth, done = 0, start
    for token in tokens:
        if answer[done : token.start()].strip():
            return []
        done = token.end()
        depth += (token[0] in "{[") - (token[0] in "}]")
        if not depth and token is not tokens[-1]:
            return []
    depth += bool(answer[done:end].strip())
    return [] if depth else _nested(answer, tokens, above, name_whole)


def _nested(answer: str, tokens: Sequence[re.Match[str]], above: Sequence[str], name_whole: bool) -> list[Piece]:
    """The values among the tokens of JSON or a flow of YAML, each with its path."""
    fields: list[Piece] = []
    path = [(name, name) for name in above]  # each with its words
    key: re.Match[str] | None = None
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
        is_text = tokens[at + 2][0][0] in "\"'" or tokens[at + 2][0][0].isalpha()
        if (
            is_text
            and tokens[at + 2][0] not in ("true", "false", "null")
            and len(tokens[at + 2][0].split()) < _PROSE_WORDS
        ):
            return tokens[at + 2][0]
        at += 4
    return ""


def _value(answer: str, key: re.Match[str] | None, value: re.Match[str], path: Sequence[tuple[str, str]]) -> Piece:
    start = key.start() if key else value.start()
    if value[0] in ("null", '""'):
        return Piece(start, value.end(), "fragment")
    if value[0].startswith('"') and len(value[0].split()) >= _PROSE_WORDS and finite_verb(value[0]):
        return Piece(value.start() + 1, value.end() - 1, "prose")
    context = _context([words for token, words in path[-_DEEPEST:] if not key or token != value[0]])
    above = path[-1][1] if path else ""
    return Piece(
        start, value.end(), "field", context, _in_words(_string(key[0]), _string(value[0]), above) if key else ""
    )


def _key_words(key: str) -> str:
    """A key as words: "deliveryDate" and "delivery_date" are "delivery date"."""
    if _CAMEL_CASE.fullmatch(key):
        key = _HUMP.sub(lambda part: f" {part[0].lower()}", key)
    return named(key)


def _in_words(key: str, value: str, above: str = "") -> str:
    """A field with its key in words; a number gets the unit that ends its key, or the key above it.

    >>> _in_words("length_m", "212"), _in_words("price_eur", "4"), _in_words("per_minute", "25")
    ('length: 212 m', 'price: 4 EUR', 'per minute: 25')
    >>> _in_words("minAge", "12"), _in_words("totalPriceEUR", "4"), _in_words("frame", "10", "warranty years")
    ('min age: 12', 'total price: 4 EUR', 'frame: 10 years')
    """
    own = _key_words(key).split() or [""]
    for words, kept in ((own, own[:-1]), (above.split(), own)) if re.fullmatch(r"-?\d[\d.,]*", value) else ():
        if len(words) < 2 or words[-2].lower() in _NO_UNIT_AFTER:
            continue
        for number in (f"{value} {words[-1]}", f"{value} {words[-1].upper()}"):
            units = [one for one in find_quantities(number) if one.unit]
            # "first day" above other keys is no unit of theirs, "days" is.
            if units and (words is own or units[0].dimension != "time" or words[-1].endswith("s")):
                return f"{' '.join(kept)}: {number}"
    return f"{' '.join(own)}: {value}"


def _pairs_only(answer: str, start: int, end: int) -> list[Piece]:
    """The fields of an answer that is YAML from its first line to its last: a flow map, or two lines at least."""
    lines = [line for line in answer[start:end].splitlines() if line.strip() not in ("", "---", "...")]
    is_flow = len(lines) == 1 and lines[0].startswith("{") and ": " in lines[0] and "\\" not in lines[0]
    return _yaml(answer, start, end) if is_flow or (len(lines) > 1 and all(_are_pairs(lines))) else []


def _are_pairs(lines: Sequence[str]) -> list[bool]:
    """Whether each line is a short "key: value", a key with lines below it that are indented further, or a flow."""
    found: list[bool] = []
    for line, following in pairwise((*lines, "")):
        pair = _PAIR.fullmatch(line.rstrip())
        short = len(line.split()) <= 2 * _PROSE_WORDS and not re.search(r"[.!?]$|\*", line.rstrip())
        below = len(following) - len(following.lstrip()) > len(line) - len(line.lstrip())
        flow = pair is not None and pair["dash"] and re.match(r"\{[\w -]{1,40}: ", pair["value"])
        found.append(bool(pair and short and (flow or (pair["key"] and (pair["value"] or below)))))
    return found


def _yaml_blocks(answer: str) -> list[tuple[int, int]]:
    """The paragraphs, or their ends behind a line of prose, that are nested YAML: a key has lines below it."""
    blocks: list[tuple[int, int]] = []
    for paragraph in re.finditer(r"[^\n]+(?:\n[^\n]+)*", answer):
        lines = [*re.finditer(r"[^\n]+", paragraph[0])]
        are_pairs = _are_pairs([line[0] for line in lines])
        items = [re.match(r"[ \t]+- [^*.!?:]{1,60}$", line[0]) is not None for line in lines]
        first = next((at for at, is_pair in enumerate(are_pairs) if is_pair), len(lines))
        rest = range(first, len(lines))
        nests = any(re.match(r"[^\s:-][^:]{0,39}:\s*$", lines[at][0]) for at in rest)
        if nests and first <= 1 and all(are_pairs[at] or items[at] for at in rest) and sum(are_pairs) > 1:
            blocks.append((paragraph.start() + lines[first].start(), paragraph.end()))
    return blocks


def _csv(answer: str, start: int, end: int) -> list[Piece]:
    """The rows of CSV as fields, and its heads."""
    head, *rows = csv_lines(answer, start, end) or [(0, 0, [])]
    pieces: list[Piece] = []
    for first, last, row in rows:
        pairs = zip(head[2][1:], row[1:], strict=True)
        cells = [row[0], *(f"[{_key_words(name)}:] {cell}" for name, cell in pairs if cell.strip())]
        pieces.append(Piece(first, last, "field", text=" ".join(f"| {' | '.join(cells)} |".split())))
    return [*_heads(answer, *head[:2], ",;\t"), *pieces] if pieces else []


def _yaml(answer: str, start: int, end: int) -> list[Piece]:
    """The values of "key: value" lines and list items, with the keys above them by indentation."""
    fields: list[Piece] = []
    path: list[tuple[int, str]] = []
    for line in re.finditer(r"[^\n]+", answer[start:end]):
        pair = _PAIR.fullmatch(_COMMENT.sub("", line[0]).rstrip())
        if pair is None or not line[0].strip() or line[0].lstrip().startswith(("#", "---", "...")):
            continue
        column = len(pair["indent"])
        indent = column + len(pair["dash"] or "")
        path = [(depth, name) for depth, name in path if (depth <= column if pair["dash"] else depth < indent)]
        if pair["key"] and not pair["value"]:
            path.append((indent, _short(_key_words(pair["key"]))))
            continue
        if pair["value"][:1] in ("{", "["):
            names = [name for _, name in path] + ([_short(_key_words(pair["key"]))] if pair["key"] else [])
            at = start + line.start() + pair.start("value")
            if flow := _flow(answer, at, start + line.start() + pair.end(), names, name_whole=bool(pair["dash"])):
                fields += flow
                continue
        first = start + line.start() + pair.start("key" if pair["key"] else "value")
        last = start + line.start() + pair.end()
        quoted = pair["value"].endswith('"') or re.fullmatch(r"'[^']*'", pair["value"])
        value = _string(pair["value"]) if quoted else pair["value"]
        context, above = _context([name for _, name in path]), path[-1][1] if path else ""
        fields.append(Piece(first, last, "field", context, _in_words(pair["key"], value, above) if pair["key"] else ""))
        if pair["dash"] and pair["key"] and _goes_on(answer, last, end, indent) and not re.match(r"[\d-]", value):
            path.append((column + 1, _short(_key_words(value))))  # what the other lines of the item are about
    return fields


def _goes_on(answer: str, at: int, end: int, indent: int) -> bool:
    """Whether the line after an item of a list of YAML belongs to the item."""
    following = re.compile(rf"\n {{{indent}}}(?=[^ -])").match(answer, at, end)
    return following is not None
