"""Text for people: foreign text made safe to show, numbers in words, long text shortened.

Characters that would move a cursor, reverse letters or hide are written out. Look-alike letters are shown as they are;
see ``vouching.text.injection`` for those.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

MAX_NAMES = 30
"""Names that a message lists."""
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1 controls, the first half of every escape sequence
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that change the direction of the letters after them
    "\u2028\u2029\ud800-\udfff\U000e0000-\U000e007f]"  # line separators, lone surrogates, invisible tags
)


def visible(text: str) -> str:
    r"""``text`` with controls, direction marks, lone surrogates and invisible tags written out; lines and tabs stay.

    >>> visible("a\x1b[31mb\u202ec")
    'a␛[31mb<U+202E>c'
    """
    return _HIDDEN.sub(_name, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    r"""Like :func:`visible`, on one line: each run of white space becomes one blank.

    >>> visible_line("60 %\nof\t them")
    '60 % of them'
    """
    return visible(re.sub(r"\s+", " ", text))


def _name(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def percent(share: float) -> str:
    """A probability in per cent."""
    return f"{100 * share:.0f} %"


def score_words(score: float) -> str:
    """A score that is not a probability, with three significant digits.

    >>> score_words(0.91444), score_words(-3.0), score_words(0.0001234)
    ('0.914', '-3', '0.000123')
    """
    digits = 3 if score == 0 or abs(score) >= 0.1 else min(9, 2 - math.floor(math.log10(abs(score))))
    return f"{score:.{digits}f}".rstrip("0").rstrip(".")


def shorten(text: str, width: int) -> str:
    """``text`` shortened in the middle to ``width`` characters."""
    if len(text) <= width:
        return text
    half = (width - 1) // 2
    return f"{text[:half]}…{text[len(text) - half :]}"


def _as_json(value: object) -> int | float | str:
    """What JSON does not have: the number in a Decimal, the type of anything else."""
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    return f"<{type(value).__name__}>"


def shown_json(value: object, width: int = 60) -> str:
    """A refused value for a message: as JSON writes it, a string in single quotes, shortened to ``width`` characters.

    What JSON does not have is shown as its type.

    >>> shown_json(None), shown_json([1, "a", True]), shown_json("yes"), shown_json(b"yes"), shown_json("yes", 3)
    ('null', '[1, "a", true]', "'yes'", 'bytes', "'ye...'")
    """
    if isinstance(value, str):
        text = repr(value)
        return visible_line(text if len(text) <= width else f"{text[:width]}...{text[0]}")
    text = type(value).__name__
    try:
        if value is None or isinstance(value, int | float | Decimal | list | tuple | dict):
            text = json.dumps(value, default=_as_json, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # a key that is not a string, a loop, thousands of digits
        pass
    return visible_line(text if len(text) <= width else f"{text[:width]}...")


def shown_keys(keys: Iterable[object]) -> str:
    """The keys of a row that lacks one, as the end of a message.

    >>> shown_keys({"id": 1, "text": "It opened."}), shown_keys({})
    ('its keys are id, text', 'it has no keys')
    """
    names = shown_names(keys)
    return f"its keys are {names}" if names else "it has no keys"


def shown_names(names: Iterable[object]) -> str:
    r"""The first names of a list, for a message; one is quoted if its start or end could not be seen otherwise.

    >>> shown_names(["id", " claim", "a,b", ""]), shown_names(range(100, 132))[-20:]
    ("id, ' claim', 'a,b', ''", '128, 129, and 2 more')
    """
    every = [*map(str, names)]
    shown = (shorten(name, 60) for name in every[:MAX_NAMES])
    quoted = (name if name and name.strip() == visible_line(name) and "," not in name else repr(name) for name in shown)
    return ", ".join(quoted) + (f", and {len(every) - MAX_NAMES:,} more" if len(every) > MAX_NAMES else "")


def hint(near: Sequence[str], otherwise: str = "") -> str:
    """The end of a message about an unknown name: the names that may be meant, or if there are none, other advice.

    >>> hint(["wice"], "see the list"), hint([], "see the list"), hint([])
    ("; did you mean 'wice'?", '; see the list', '')
    """
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    return f"; {otherwise}" if otherwise else ""


def value_fault(row: Mapping[str, object], key: str, expected: str = "a string", owner: str = "the row") -> str:
    """What is wrong with a value of a row that is not as ``expected``.

    >>> [value_fault(row, "label") for row in ({"id": 1}, {"label": None}, {"label": 7})]
    ['the row has no "label"; its keys are id', '"label" is null: expected a string', '"label" must be a string, got 7']
    """
    if key not in row:
        return f'{owner} has no "{key}"; {shown_keys(row)}'
    name = f'"{key}"' + f" of {owner}" * (owner != "the row")
    if row[key] is None:
        return f"{name} is null: expected {expected}"
    return f"{name} must be {expected}, got {shown_json(row[key])}"
