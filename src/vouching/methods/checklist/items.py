"""Parse checklists and instructions from text, files and rows.

Not supported: checklists in CSV, whose cells hold one text each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from vouching.errors import InputError
from vouching.inputs import check_text
from vouching.methods.checklist.prompt import conversation_text
from vouching.methods.checklist.reply import parse_checklist
from vouching.rules.catalog import bind
from vouching.rules.verify import named_items
from vouching.text.json_values import NestedTooDeeplyError, parse_json
from vouching.types import ChecklistItem
from vouching.types.visible import shown_json, shown_keys, visible_line

INSTRUCTION_KEYS = ("instruction", "prompt", "question", "messages")
"""Keys of a row that may hold the instruction; the first one present counts."""
_ITEM_KEYS = ("text", "question", "rule", "arguments", "span")


def as_items(value: object) -> tuple[ChecklistItem, ...]:
    r"""Items from a numbered list, or a list of questions, items, and mappings with text, rule and arguments.

    Raises InputError for no item, an item of the wrong type, or an unknown rule.

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
        raise InputError(f"the checklist must be a list of questions, got {shown_json(value)}")
    if not items:
        raise InputError("the checklist has no items: expected at least one question")
    return items


def read_items(text: str) -> tuple[ChecklistItem, ...]:
    r"""Items from the text of a file: JSON, JSON lines, a numbered list, or one question per line.

    Raises InputError for no item, or an unusable one.

    >>> [item.text for item in read_items('["Is it short?"]') + read_items("- Is it red?\n- Is it big?")]
    ['Is it short?', 'Is it red?', 'Is it big?']
    """
    if not text.lstrip().startswith(("[", "{", '"')):
        return as_items(text)
    try:
        value: Any = parse_json(text)
    except NestedTooDeeplyError:
        raise InputError("the checklist is nested too deeply: write a list of questions") from None
    except ValueError:
        try:
            value = [parse_json(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise InputError(f"the checklist is neither JSON nor a numbered list: {error}") from None
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        value = next((fields[key] for key in ("checklist", "items") if key in fields), [fields])
    return as_items(value)


def row_items(row: Mapping[str, Any]) -> tuple[ChecklistItem, ...] | None:
    """The checklist of a row: its ``checklist``, or the rules of its ``instruction_id_list`` in words; None without.

    Rules in words are put to the judge like other items (the paper's "metadata" checklists). To let a rule decide by
    itself, name it in ``checklist``. Raises InputError for a checklist that cannot be used.
    """
    if row.get("checklist") is not None:
        return as_items(row["checklist"])
    if row.get("instruction_id_list"):
        return tuple(ChecklistItem(item.text) for item in named_items(row))
    return None


def items_json(items: Sequence[ChecklistItem]) -> list[dict[str, Any]]:
    """Items as JSON, without empty fields."""
    return [
        {"text": item.text} | ({} if item.rule is None else {"rule": item.rule, "arguments": dict(item.arguments)})
        for item in items
    ]


def instruction_of(row: Mapping[str, Any]) -> str:
    """The instruction of a row; a conversation becomes one text.

    Raises InputError if it is missing or blank, or the conversation does not end with the user's turn.
    """
    key = next((key for key in INSTRUCTION_KEYS if row.get(key) is not None), None)
    if key is None:
        raise InputError(f'the row has no value for "instruction", "prompt" or "messages"; {shown_keys(row)}')
    given = row[key]
    if isinstance(given, list):
        turns = cast("list[object]", given)
        if not all(isinstance(turn, Mapping) for turn in turns):
            raise InputError(f'"{key}" must contain only messages with "role" and "content"')
        given = conversation_text(cast("list[Mapping[str, object]]", turns))
    if not check_text(given, f"the {key}").strip():
        raise InputError(f"the {key} must not be blank: expected the instruction that the response answers")
    return given


def _item(value: object, number: int) -> ChecklistItem:
    if isinstance(value, ChecklistItem):
        return value
    if isinstance(value, str):
        text, rule, arguments = value, None, None
    elif isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        unknown = [key for key in fields if key not in _ITEM_KEYS]
        if unknown:
            key = visible_line(str(unknown[0])[:40])
            raise InputError(f'item {number} has the unknown key "{key}"; expected "text", "rule" and "arguments"')
        text = next((fields[key] for key in ("text", "question") if fields.get(key) is not None), "")
        rule, arguments = fields.get("rule"), fields.get("arguments")
    else:
        raise InputError(f"item {number} must be a question, got {shown_json(value)}")
    question = check_text(text, f"item {number}").strip()
    if rule is not None:
        name = check_text(rule, f"the rule of item {number}")
        if arguments is not None and not isinstance(arguments, Mapping):
            raise InputError(
                f"{name}: the arguments must be an object of names and values, got {shown_json(arguments)}"
            )
        bound = bind(name, cast("Mapping[str, Any] | None", arguments))
        return replace(bound, text=question or bound.text)
    if not any(c.isalnum() for c in question):
        raise InputError(f"item {number} must be a question, got {shown_json(text, 40)}")
    return ChecklistItem(question)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
