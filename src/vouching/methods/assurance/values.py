"""Values of units, from JSON or a form to the unit's type and back to text; and JSON and YAML files of structured work.

"$1,234.50", "1,234.50", "USD 1234.5" and "(1,234.50)" for a loss are amounts; a thousands separator must be followed by
three digits. YAML is composed by PyYAML and never constructed: only maps, lists, strings, decimal numbers, true, false
and null come out, so ``NO`` stays Norway, ``12:30`` a time and a date a string, and no tag makes an object. Aliases are
refused, so a small file cannot expand into a large one. Not supported: decimal commas ("1.234,50"), which cannot be
distinguished from separators safely; XML; several documents in one file.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Hashable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from vouching.errors import InputError, MissingExtraError
from vouching.text.json_values import NestedTooDeeplyError, parse_json
from vouching.types import TaskUnit, Value, ValueType
from vouching.types.visible import shown_json, visible_line

if TYPE_CHECKING:
    from yaml import MappingNode, Node

_AMOUNT = re.compile(
    r"(?P<open>\()?\s*(?P<sign>[-+−]?)\s*(?:[$€£¥]|[A-Z]{3}\b)?\s*(?P<inner>[-−]?)(?P<digits>\d{1,3}(?:,\d{3})+|\d+)"
    r"(?P<cents>\.\d+)?\s*(?:[$€£¥]|[A-Z]{3})?\s*(?P<close>\))?",
    re.ASCII,
)
_LONGEST = 60
LARGEST = Decimal(10) ** 18
"""From here up a number is taken for a mistake."""


def read_amount(text: str) -> Decimal | None:
    """The number in an amount of money as people write it; None if it is not one.

    >>> read_amount("$1,234.50"), read_amount("(12)"), read_amount("-$3"), read_amount("1,23")
    (Decimal('1234.50'), Decimal('-12'), Decimal('-3'), None)
    """
    found = _AMOUNT.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    signs = sum(bool(part) and part != "+" for part in (found["open"], found["sign"], found["inner"]))
    if signs > 1:
        return None
    number = Decimal(found["digits"].replace(",", "") + (found["cents"] or ""))
    return -number if signs else number


def read_value(raw: Any, unit: TaskUnit, place: str) -> Value:
    """A unit's value from JSON; ``place`` is its JSON path, for messages.

    Raises:
        InputError: it is of another type, not finite, or not one of the choices.
    """
    if unit.type == "boolean":
        if isinstance(raw, bool):
            return raw
        raise InputError(f"{place} is {shown_json(raw)}, expected true or false")
    if unit.type in ("choice", "text"):
        return _read_text(raw, unit, place)
    expected = {
        "amount": "an amount: a number, or a string such as $1,234.50",
        "number": "a number",
        "integer": "a whole number",
    }[unit.type]
    number = read_amount(raw) if unit.type == "amount" and isinstance(raw, str) else as_decimal(raw)
    if number is None:
        raise InputError(f"{place} is {shown_json(raw)}, expected {expected}")
    if abs(number) >= LARGEST:
        raise InputError(f"{place} is {shown_json(raw)}, expected a number between -10^18 and 10^18")
    if unit.type == "integer" and number != number.to_integral_value():
        raise InputError(f"{place} is {shown_json(raw)}, expected a whole number")
    return number


def _read_text(raw: Any, unit: TaskUnit, place: str) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise InputError(f"{place} is {shown_json(raw)}, expected a non-empty string")
    if unit.type == "choice" and raw not in unit.choices:
        raise InputError(f"{place} is {shown_json(raw)}, expected one of {', '.join(unit.choices)}")
    return raw


def as_decimal(raw: Any) -> Decimal | None:
    """A JSON number as an exact decimal; None for anything else, and for nan and infinities.

    >>> as_decimal(0.1), as_decimal(float("nan")), as_decimal(True)
    (Decimal('0.1'), None, None)
    """
    if isinstance(raw, bool) or not isinstance(raw, int | float | Decimal):
        return None
    if isinstance(raw, int):
        return Decimal(raw) if abs(raw) < 10**40 else None
    if isinstance(raw, float):
        return Decimal(repr(raw)) if math.isfinite(raw) else None
    return raw if raw.is_finite() else None


def value_text(value: Value | None, kind: ValueType = "number") -> str:
    """A value as text: numbers without exponent or trailing zeros, amounts with none or two decimals, "" for None.

    >>> value_text(Decimal("1E+3")), value_text(Decimal("0.50")), value_text(Decimal("0.5"), "amount"), value_text(True)
    ('1000', '0.5', '0.50', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        text = f"{value:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        text += "0" if kind == "amount" and text[-2:-1] == "." else ""
        return "0" if text == "-0" else text
    return value or ""


def value_json(value: Value | None) -> bool | int | float | str | None:
    """A value as JSON has it: an int where a number is whole, else a float."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def same_value(one: Value, other: Value) -> bool:
    """Whether two values are equal; a number never equals a boolean or a string."""
    return isinstance(one, bool) == isinstance(other, bool) and type(one) is type(other) and one == other


LONGEST_JSON = 20_000_000
"""Characters of a JSON file."""
LONGEST_YAML = 2_000_000
"""Characters of a YAML file, which takes ten times as long to parse."""
DEEPEST = 60
"""Levels of nested objects and lists."""
_LONGEST_NUMBER = 40
_LARGEST = 10**_LONGEST_NUMBER
_SURROGATE = re.compile("[\ud800-\udfff]")
_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
_DECIMAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?", re.ASCII)
_SINGLE: dict[str, bool | None] = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "null": None,
    "Null": None,
    "NULL": None,
    "~": None,
    "": None,
}


def read_data(text: str, name: str = "the file", yaml: bool | None = None) -> Any:
    r"""The content of a JSON or YAML text.

    Args:
        text: the whole text.
        name: what messages call it.
        yaml: whether it is YAML; None decides by whether it begins with a JSON object or list.

    Raises:
        InputError: it cannot be parsed, is too large or nested too deeply, repeats a key or has a non-finite number.
        MissingExtraError: it is YAML, and PyYAML is not installed.
    """
    begins = text[:1000].lstrip("\ufeff \t\r\n")
    if begins.startswith(("<?xml", "<!")):
        raise InputError(f"{name}: XML is not supported, expected JSON or YAML")
    as_yaml = not begins.startswith(("{", "[")) if yaml is None else yaml
    limit, kind = (LONGEST_YAML, "YAML") if as_yaml else (LONGEST_JSON, "JSON")
    if len(text) > limit:
        raise InputError(
            f"{name} has {len(text):,} characters, more than the limit of {limit:,} for {kind}: split the task"
        )
    found = _from_yaml(text, name) if as_yaml else _from_json(text.removeprefix("\ufeff"), name)
    _check(found, name)
    return found


def path_of(*steps: str | int) -> str:
    """Steps into a file as one path: ``units[3].depends_on[0]``, ``values["a b"]``."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif re.fullmatch(r"[\w-]{1,60}", step):
            path += f".{step}" if path else step
        else:
            path += f"[{json.dumps(step if len(step) <= 60 else step[:60] + '...')}]"
    return path


def _from_json(text: str, name: str) -> Any:
    try:
        return parse_json(text, object_pairs_hook=_once)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{name} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except NestedTooDeeplyError:
        raise InputError(f"{name} is nested too deeply, expected at most {DEEPEST} levels") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise InputError(f"{name} is JSON with a value that cannot be read: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        twice = visible_line(twice[:60])
        raise InputError(f'the key "{twice}" appears twice in one object (keys: {", ".join(found)[:100]})')
    return found


def _from_yaml(text: str, name: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("tasks", "reading YAML", "yaml") from None
    loader = cast("type[yaml.SafeLoader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        node = cast("Node | None", yaml.compose(text, Loader=loader))  # pyright: ignore[reportUnknownMemberType]
        return None if node is None else _plain(node, set(), ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise InputError(f"{name} is not YAML: {place}{getattr(error, 'problem', None) or error}") from None
    except RecursionError:
        raise InputError(f"{name} is nested too deeply, expected at most {DEEPEST} levels") from None
    except UnicodeEncodeError:
        raise InputError(f"{name} is not YAML: it contains a lone surrogate, half of a character") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _plain(node: Node, seen: set[int], path: tuple[str | int, ...]) -> Any:
    """The value of a YAML node, in the core schema of YAML 1.2."""
    from yaml import MappingNode, ScalarNode, SequenceNode

    if id(node) in seen:
        raise InputError(f"{path_of(*path)} is a YAML alias, which is not supported: repeat the content")
    if len(path) > DEEPEST:
        raise InputError(f"{path_of(*path)} is nested too deeply, expected at most {DEEPEST} levels")
    seen.add(id(node))
    if isinstance(node, MappingNode):
        return _mapping(node, seen, path)
    if isinstance(node, SequenceNode):
        _check_tag(node, "seq", path)
        members = cast("list[Node]", node.value)
        return [_plain(member, seen, (*path, number)) for number, member in enumerate(members)]
    assert isinstance(node, ScalarNode)
    word = cast("str", node.value)
    if node.style in ("'", '"', "|", ">"):
        _check_tag(node, "str", path)
        return word
    _check_tag(node, "", path)
    if word in _SINGLE:
        return _SINGLE[word]
    if re.fullmatch(r"[-+]?\.(inf|Inf|INF|nan|NaN|NAN)", word):
        raise InputError(f"{path_of(*path)} is {word}, expected a finite number")
    if len(word) <= _LONGEST_NUMBER and _WHOLE.fullmatch(word):
        return word if node.tag.endswith(":str") else int(word)  # !!str 12
    return float(word) if len(word) <= _LONGEST_NUMBER and _DECIMAL.fullmatch(word) else word


def _mapping(node: MappingNode, seen: set[int], path: tuple[str | int, ...]) -> dict[str, Any]:
    _check_tag(node, "map", path)
    found: dict[str, Any] = {}
    for key_node, value_node in cast("list[tuple[Node, Node]]", node.value):
        # Keys stay strings: a unit 9 is "9", the country NO is "NO".
        key = cast("Hashable", key_node.value)
        if not isinstance(key, str):
            raise InputError(f"{path_of(*path) or 'the top level'} has a key that is not a string")
        if key_node.tag.endswith(":merge"):
            raise InputError(f"{path_of(*path, key)}: YAML merge keys are not supported: repeat the content")
        if key in found:
            raise InputError(f"{path_of(*path, key)} appears twice")
        found[key] = _plain(value_node, seen, (*path, key))
    return found


_CORE = ("null", "bool", "int", "float", "str", "timestamp", "value", "merge")


def _check_tag(node: Node, kind: str, path: tuple[str | int, ...]) -> None:
    tag = node.tag
    short = tag.removeprefix("tag:yaml.org,2002:")
    if tag == short or (short != kind if kind else short not in _CORE):
        raise InputError(f"{path_of(*path) or 'the top level'} has the tag {tag[:60]}: expected YAML without tags")


def _check(found: Any, name: str) -> None:
    """Refuse non-finite numbers, lone surrogates, and nesting that is too deep."""
    stack: list[tuple[dict[str, Any] | list[Any], tuple[str | int, ...]]] = [({"": found}, ())]
    while stack:
        inside, path = stack.pop()
        if len(path) > DEEPEST + 1:
            raise InputError(f"{name}: {path_of(*path[1:])} is nested too deeply, expected at most {DEEPEST} levels")
        for key, value in inside.items() if isinstance(inside, dict) else enumerate(inside):
            # A path costs more than a look at a number, and a file may have millions: only faults get one.
            if isinstance(value, dict | list):
                stack.append((cast("dict[str, Any] | list[Any]", value), (*path, key)))
                continue
            if fault := _fault(value):
                raise InputError(f"{name}: {path_of(*path[1:], key) if path else 'the top level'} {fault}")
        if isinstance(inside, dict) and any(_SURROGATE.search(key) for key in inside):
            raise InputError(
                f"{name}: {path_of(*path[1:]) or 'the top level'} contains a lone surrogate, half of a character"
            )


def _fault(value: Any) -> str:
    """What is wrong with a single value; empty if nothing is."""
    if isinstance(value, str):
        return "contains a lone surrogate, half of a character" if _SURROGATE.search(value) else ""
    if isinstance(value, float) and not math.isfinite(value):
        return f"is {value}, expected a finite number"
    if isinstance(value, int | float) and not -_LARGEST < value < _LARGEST:
        return f"is a number beyond 10^{_LONGEST_NUMBER}, expected a smaller one"
    return ""
