"""Checklists as callers and files have them, and what an instruction is called in a row.

Left out: checklists in CSV; a row of a table has one text to a cell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from vouching.errors import InputError
from vouching.inputs import check_text
from vouching.methods.checklist.prompt import conversation_text
from vouching.methods.checklist.reply import parse_checklist
from vouching.methods.rules.catalog import bind
from vouching.methods.rules.verify import named_items
from vouching.types import ChecklistItem

INSTRUCTION_KEYS = ("instruction", "prompt", "question", "messages")
"""Names under which a row may carry what was asked; the first that is there counts."""
_ITEM_KEYS = ("text", "question", "rule", "arguments", "span")


def as_items(value: object) -> tuple[ChecklistItem, ...]:
    r"""Items from a numbered list, or from a list of questions, items, and mappings with text, rule and arguments.

    Raises:
        InputError: no item, an item of another type, or a rule that does not exist.

    >>> [item.text for item in as_items("1. Is it short?\n2. Is it red?")]
    ['Is it short?', 'Is it red?']
    >>> as_items([{"rule": "punctuation:no_comma"}, "Is it short?"])[0].text
    'Is the response free of commas?'
    """
    if isinstance(value, str):
        items = tuple(map(ChecklistItem, parse_checklist(value) or _lines(value)))
    elif isinstance(value, Sequence):
        items = tuple(_item(one, number) for number, one in enumerate(cast("Sequence[object]", value), 1))
    else:
        raise InputError(f"the checklist is of type {type(value).__name__}, wanted a list of questions")
    if not items:
        raise InputError("the checklist has no items: give at least one question")
    return items


def read_items(text: str) -> tuple[ChecklistItem, ...]:
    r"""Items from the text of a file: JSON, one JSON value to a line, a numbered list, or one question to a line.

    Raises:
        InputError: no item, or one that is none.

    >>> [item.text for item in read_items('["Is it short?"]') + read_items("- Is it red?\n- Is it big?")]
    ['Is it short?', 'Is it red?', 'Is it big?']
    """
    if not text.lstrip().startswith(("[", "{", '"')):
        return as_items(text)
    try:
        value: Any = json.loads(text)
    except ValueError:
        try:
            value = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise InputError(f"the checklist is neither JSON nor a numbered list: {error}") from None
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        value = next((fields[key] for key in ("checklist", "items") if key in fields), [fields])
    return as_items(value)


def row_items(row: Mapping[str, Any]) -> tuple[ChecklistItem, ...] | None:
    """The checklist that a row brings: its ``checklist``, or the rules of its ``instruction_id_list`` in words.

    Rules in words are put to the judge like other items: the paper's "metadata" checklists. A rule that decides by
    itself stands in ``checklist``.

    Returns:
        None for a row that brings none.

    Raises:
        InputError: it brings one that cannot be used.

    >>> row_items({"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]})
    (ChecklistItem(text='Is the response free of commas?', rule=None, arguments={}, span=None),)
    """
    if row.get("checklist") is not None:
        return as_items(row["checklist"])
    if row.get("instruction_id_list"):
        return tuple(ChecklistItem(item.text) for item in named_items(row))
    return None


def items_json(items: Sequence[ChecklistItem]) -> list[dict[str, Any]]:
    """Items as JSON has them; what is not there is left out.

    >>> items_json([ChecklistItem("Is it short?")])
    [{'text': 'Is it short?'}]
    """
    return [
        {"text": item.text} | ({} if item.rule is None else {"rule": item.rule, "arguments": dict(item.arguments)})
        for item in items
    ]


def instruction_of(row: Mapping[str, Any]) -> str:
    """The instruction of a row, a conversation as one text.

    Raises:
        InputError: there is none, it is blank, or a conversation that does not end with the user's turn.

    >>> instruction_of({"prompt": "Name a bridge."})
    'Name a bridge.'
    """
    key = next((key for key in INSTRUCTION_KEYS if row.get(key) is not None), None)
    if key is None:
        raise InputError(f'the row has the keys {[*row]}, wanted "instruction", "prompt" or "messages"')
    given = row[key]
    if isinstance(given, list):
        turns = cast("list[object]", given)
        if not all(isinstance(turn, Mapping) for turn in turns):
            raise InputError(f'"{key}" is a list of something else than messages with role and content')
        given = conversation_text(cast("list[Mapping[str, object]]", turns))
    if not check_text(given, f"the {key}").strip():
        raise InputError(f"the {key} is blank, wanted what the response answers")
    return given


def _item(value: object, number: int) -> ChecklistItem:
    if isinstance(value, ChecklistItem):
        return value
    if isinstance(value, str):
        text, rule, arguments = value, None, None
    elif isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        strange = [key for key in fields if key not in _ITEM_KEYS]
        if strange:
            raise InputError(f"item {number} has the key {strange[0]!r:.40}, wanted text, rule and arguments")
        text = next((fields[key] for key in ("text", "question") if fields.get(key) is not None), "")
        rule, arguments = fields.get("rule"), fields.get("arguments")
    else:
        raise InputError(f"item {number} is of type {type(value).__name__}, wanted a question")
    said = check_text(text, f"item {number}").strip()
    if rule is not None:
        name = check_text(rule, f"the rule of item {number}")
        if arguments is not None and not isinstance(arguments, Mapping):
            raise InputError(f"{name}: the arguments are {arguments!r:.80}, wanted an object with their names")
        bound = bind(name, cast("Mapping[str, Any] | None", arguments))
        return replace(bound, text=said or bound.text)
    if not any(c.isalnum() for c in said):
        raise InputError(f"item {number} is {text!r:.40}, wanted a question")
    return ChecklistItem(said)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
