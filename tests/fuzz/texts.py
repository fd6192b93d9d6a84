"""Inputs for the fuzz targets: any text, and valid texts with pieces removed, repeated, replaced or of another type."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.fuzz.target import Target
from tests.text.hostile import HOSTILE_PIECES

_PIECES = (
    "\0",
    "\ud800",
    "\\ud800",
    "\\u0000",
    "\ufeff",
    "\n",
    "\r",
    "\t",
    " ",
    '"',
    "'",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "|",
    "<",
    "</",
    "<!--",
    "&#x0;",
    "&amp",
    "- ",
    "# ",
    "```",
    "---",
    "...",
    "*a",
    "&a",
    "!!python/none",
    "<<: ",
    "null",
    "true",
    "NaN",
    "Infinity",
    "-1",
    "1e999",
    "9" * 5000,
    "[" * 3000,
    '{"a":' * 500,
    "<b>" * 300,
    "١٢٣",
    "İ",
    "\u202e",
    "=1+1",
    "\x1b[31m",
)
_LEAVES = (None, True, False, 0, -1, 2**70, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "a", "\ud800")


def text_for(target: Target, seed: str) -> str:
    """The text for a target that belongs to a seed: any text, or damage to one of its valid inputs."""
    random = Random(seed)
    kinds = [_damaged, _damaged, _any] + ([_with_other_types] * 2 if target.as_json else [])
    return random.choice(kinds)(random, target)


def _any(random: Random, target: Target) -> str:
    """Any string at all, lone surrogates included, or a string of the pieces that rules look at."""
    if random.random() < 0.5:
        return "".join(random.choices(HOSTILE_PIECES, k=random.randrange(40)))
    return "".join(_character(random) for _ in range(random.randrange(80)))


def _character(random: Random) -> str:
    return chr(random.randrange(random.choice((128, 0x800, 0x10000, 0x110000))))


def _damaged(random: Random, target: Target) -> str:
    """A valid input with up to four stretches replaced by a hostile piece, or copied to another place."""
    text = random.choice(target.seeds)
    for _ in range(random.randrange(5)):
        start = random.randint(0, len(text))
        end = min(len(text), start + random.choice((0, 0, 1, 2, 5, 20, 100)))
        kind = random.randrange(4)
        if kind < 2:
            at = random.randint(0, len(text))
            piece = text[at : at + 30]
        else:
            piece = random.choice(_PIECES) if kind == 2 else _any(random, target)[:8]
        text = text[:start] + piece + text[end:]
    return text


def _with_other_types(random: Random, target: Target) -> str:
    """A JSON input in which up to three values are replaced, removed or added."""
    record = json.loads(random.choice([text for text in target.seeds if text.startswith(("{", "["))]))
    for _ in range(random.randint(1, 3)):
        holders = [inside for inside in _inside(record) if inside]
        if not holders:
            break
        holder = random.choice(holders)
        keys: list[Any] = [*holder] if isinstance(holder, dict) else [*range(len(holder))]
        key = random.choice(keys)
        action = random.choice(("replace", "replace", "remove", "add"))
        if action == "replace":
            holder[key] = _value(random)
        elif action == "remove":
            del holder[key]
        elif isinstance(holder, dict):
            holder[random.choice((_character(random), random.choice(keys)))] = _value(random)
        else:
            holder.append(_value(random))
    return json.dumps(record, ensure_ascii=random.random() < 0.5)


def _value(random: Random, levels: int = 2) -> Any:
    """Any JSON value."""
    kind = random.randrange(6) if levels else 0
    if kind < 4:
        return random.choice(_LEAVES)
    inside = [_value(random, levels - 1) for _ in range(random.randrange(4))]
    return inside if kind == 4 else {_character(random): one for one in inside}


def _inside(value: Any) -> list[Any]:
    """The objects and lists of a value, itself included."""
    parts: list[Any] = []
    if isinstance(value, dict | list):
        parts += value.values() if isinstance(value, dict) else value
    found: list[Any] = [value] if isinstance(value, dict | list) else []
    for part in parts:
        found += _inside(part)
    return found
