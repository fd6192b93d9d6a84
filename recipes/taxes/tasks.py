"""A return as a task for ``vouch challenge``: its fields, the rules of the nineteen lines, and a proposal.

The rules are those of ``rules_2024.toml``. Every field they read is in the task's data, with 0, false or an empty list
for those that the input does not have. Not supported: rules for what the engine refuses.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, cast

from recipes.taxes.facts import facts_of
from recipes.taxes.fields import READ, Field, return_data
from recipes.taxes.taxcalcbench import LINES
from vouching.methods.assurance.values import value_json

_LISTS = frozenset({"dependent_detail", "w2", "irs1099_int", "irs1099_div", "irs1099_g", "irs1099_r", "ssa_1099_grp"})
_TRUTHS = frozenset({"tp_blind", "sp_blind", "eic_not_allowed", "qualifying_child_of_another", "dependent_student"})
_TEXTS = frozenset({"dependent_relationship", "f1099_r_distribution_cd_input"})


def task_of(name: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A return, the content of input.json, as a task in the format of ``vouching.methods.assurance.task``.

    Raises InputError if it is not in the layout, OutOfScopeError if the rules do not cover it.

    >>> form = {"filing_status": {"value": "single"}, "tp_date_of_birth": {"value": "1990-05-01"}}
    >>> task = task_of("one", {"input": {"return_data": {"irs1040": form, "w2": [{"wages": {"value": 50_000}}]}}})
    >>> task["data"]["return_data"]["w2"][0]["wages"], task["units"][3]["depends_on"]
    ({'value': 50000}, ['9', '10'])
    """
    facts_of(record)
    book = _book()
    return {
        "task": name,
        "description": "Form 1040 for 2024: nineteen lines of one return, in whole dollars.",
        "data": {"return_data": _data(return_data(record))},
        "tables": book["table"],
        "rules": [{"id": f"L{rule['line']}", "text": rule["text"], "value": rule["value"]} for rule in book["rule"]],
        "units": [
            {
                "id": line.id,
                "type": "amount",
                "description": line.description,
                "form": "1040",
                "rules": [f"L{line.id}"],
                "depends_on": [*line.depends_on],
            }
            for line in LINES
        ],
    }


def proposal_of(name: str, lines: Mapping[str, int | Decimal]) -> dict[str, Any]:
    """Lines as the proposal for that task; missing ones are 0.

    >>> proposal_of("one", {"1a": 50_000})["values"]["1a"]
    50000
    """
    return {"task": name, "values": {line.id: value_json(Decimal(lines.get(line.id, 0))) for line in LINES}}


@cache
def _book() -> dict[str, Any]:
    """The rules with every {name} expanded, and the tables."""
    book = tomllib.loads(Path(__file__).with_name("rules_2024.toml").read_text(encoding="utf-8"))
    names = cast("dict[str, str]", book["let"])
    for rule in book["rule"]:
        text = cast("str", rule["value"])
        while "{" in text:
            for name, meaning in names.items():
                text = text.replace(f"{{{name}}}", f"({meaning})")
        rule["value"] = " ".join(text.split())
    return book


def _data(data: Field) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place, keys in READ.items():
        inside, here = found, data
        *objects, last = place.split(".")
        for key in objects:
            inside, here = inside.setdefault(key, {}), here.at(key)
        if last in _LISTS:
            inside[last] = [_leaves(one, keys) for one in here.all(last)]
        else:
            inside.setdefault(last, {}).update(_leaves(here.at(last), keys))
    return found


def _leaves(node: Field, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: {"value": _plain(node, key)} for key in keys}


def _plain(node: Field, key: str) -> object:
    """A leaf in the form that the rules read."""
    if key == "filing_status":
        return node.text(key).replace("married_jointly", "married_filing_jointly")
    if key.endswith("date_of_birth"):
        return None if node.leaf(key) is None else node.date(key).isoformat()
    if key in _TRUTHS:
        return node.true(key)
    return node.text(key) if key in _TEXTS else value_json(node.amount(key))
