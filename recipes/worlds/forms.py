"""A world of forms: six to ten dependent lines that follow from a few records, for DPA-GRPO's game.

A line repeats a record or an earlier line, or is the larger or smaller of two of them, so that a wrong line makes later
ones wrong. A small policy can be taught the four roles of the game with errors at known rates. The oracle computes
every line on its own from the records and shares no code with rewards. Forms of the held-out part have other records.
Not supported: rules in words that must be looked up, values other than digits.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from recipes.worlds.facts import Part, chat
from vouching.errors import ConfigError
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.model import Role, unit_messages
from vouching.methods.assurance.reply import teacher_forced_text
from vouching.methods.assurance.task import read_row
from vouching.types import Proposal, SafetyCase, Value

RECORDS = ("a", "b", "c", "d")
_LINES = tuple(f"l{number}" for number in range(1, 11))
_ASKED = (
    "Fill in the entry.",
    "Is the proposed value exactly right?",
    "Give your value for the entry now.",
    "KEEP or REVISE?",
)


TEMPLATE = (
    r"""{% macro line(part) %}{{ part.split('"description": "')[1].split('"')[0] ~ part.split('"')[0] }}"""
    r"""{% if '"amount":' in part %}{{ part.split('"amount":')[1][:2] }}{% endif %}{% endmacro %}"""
    r"""{% for message in messages %}{% if message['role'] == 'user' %}{% set text = message['content'] %}"""
    r"""{{ text.split(' input records>>>\n{"')[1].split('}')[0] | replace('": ', ' ') | replace(', "', '') }}"""
    r"""{% for part in text.split('so_far)>>>\n')[1].split('\n<<<')[0].split('"line": "')[1:] %}"""
    r"""{{ '\n' ~ line(part) }}{% endfor %}{{ '\n' ~ text.split('\n\n')[-1] ~ '\n' }}"""
    r"""{% set blocks = text.split('proposal>>>\n{' if 'proposal>>>\n{' in text else 'entry>>>\n{') %}"""
    r"""{{ line(blocks[1].split('"line": "')[1]) }}"""
    r"""{% if 'revision>>>\n' in text %}{{ text.split('revision>>>\n')[1].split('"amount":')[1][:2] }}{% endif %}"""
    r"""{% elif message['role'] == 'assistant' %}{{ message['content'] ~ '<end>' }}{% endif %}{% endfor %}"""
)
"""A chat template for a small policy: each line as its rule, name and value, what is asked, and the line in question,
which the reply follows directly; without a value where none could be read. Fences and JSON, which are constant, are
most of a prompt, and would separate a name from its value, which three layers have to bring together."""


@dataclass(frozen=True, slots=True)
class FormsWorld:
    """How hard the world is. Raises ConfigError for a number out of range."""

    fewest: int = 6
    """Lines of a form, from 2 to 10."""
    most: int = 10
    copied: float = 0.4
    """Share of lines that only repeat a value, in [0, 1]."""

    def __post_init__(self) -> None:
        if not 2 <= self.fewest <= self.most <= 10:
            raise ConfigError(f"lines must be from 2 to 10, got {self.fewest} to {self.most}")
        if not 0 <= self.copied <= 1:
            raise ConfigError(f"copied must be in [0, 1], got {self.copied}")

    def rows(self, count: int, seed: int, part: Part = "train") -> list[dict[str, Any]]:
        """Rows for ``vouch train assurance``: a task and its right values; the same seed gives the same rows.

        >>> row = FormsWorld(2, 2).rows(1, seed=1)[0]
        >>> row["task"]["data"], [unit["description"] for unit in row["task"]["units"]], row["gold"]
        ({'a': 7, 'b': 7, 'c': 6, 'd': 8}, ['larger of b and c', 'larger of l1 and c'], {'l1': 7, 'l2': 7})
        """
        draw, found = random.Random(f"{seed} {part}"), list[dict[str, Any]]()
        while len(found) < count:
            data = {name: draw.randrange(10) for name in RECORDS}
            if (hashlib.sha256(json.dumps(data).encode()).digest()[0] % 3 == 0) == (part == "held-out"):
                found.append(self._row(f"{part}-{seed}-{len(found)}", data, draw))
        return found

    def _row(self, name: str, data: dict[str, int], draw: random.Random) -> dict[str, Any]:
        units: list[dict[str, Any]] = []
        for number in range(1, draw.randint(self.fewest, self.most) + 1):
            earlier = [unit["id"] for unit in units]
            first = draw.choice(earlier[-3:]) if earlier and draw.random() < 0.7 else draw.choice(RECORDS)
            second = draw.choice([one for one in RECORDS if one != first])
            compared = f"{draw.choice(('larger', 'smaller'))} of {first} and {second}"
            said = first if draw.random() < self.copied else compared
            units.append(
                {
                    "id": f"l{number}",
                    "type": "integer",
                    "description": said,
                    "depends_on": [first] if first in earlier else [],
                }
            )
        row = {"id": name, "task": {"task": "form", "data": data, "units": units}}
        return {**row, "gold": right_values(row)}


def right_values(row: Mapping[str, Any]) -> dict[str, int]:
    """The oracle: every line from the records.

    >>> units = [{"id": "l1", "description": "a"}, {"id": "l2", "description": "smaller of l1 and b"}]
    >>> right_values({"task": {"data": {"a": 7, "b": 4}, "units": units}})
    {'l1': 7, 'l2': 4}
    """
    known: dict[str, int] = dict(row["task"]["data"])
    for unit in row["task"]["units"]:
        words = unit["description"].split()
        values = [known[word] for word in words if word in known]
        known[unit["id"]] = values[0] if len(words) == 1 else (max if words[0] == "larger" else min)(values)
    return {unit["id"]: known[unit["id"]] for unit in row["task"]["units"]}


def oracle(submitted: Mapping[str, Value], row: Mapping[str, Any]) -> dict[str, float]:
    """What is right of a submitted form.

    ``oracle/lines``: share of lines with the right value; ``oracle/form``: whether all have it.
    """
    right = right_values(row)
    held = [line in submitted and submitted[line] == value for line, value in right.items()]
    return {"oracle/lines": sum(held) / len(held), "oracle/form": float(all(held))}


def draft_text(value: int) -> str:
    """The reply that a small policy is taught: the value and nothing else.

    >>> draft_text(7)
    '{"amount": 7}'
    """
    return json.dumps({"amount": value})


def chats(
    rows: Sequence[Mapping[str, Any]], seed: int, drafts: float = 0.0, reviews: float = 0.0, choices: float = 0.0
) -> Iterator[dict[str, Any]]:
    """Chats for ``vouch train sft``: every role at one line of each row, with earlier lines mostly right.

    Args:
        rows: forms.
        seed: of the draws.
        drafts: how often a draft or a revision is wrong.
        reviews: how often a case is raised against what is right, or none against what is wrong.
        choices: how often the worse value is chosen; with equal values the choice is a coin.

    Raises ConfigError for a rate out of range.
    """
    for name, rate in (("drafts", drafts), ("reviews", reviews), ("choices", choices)):
        if not 0 <= rate <= 1:
            raise ConfigError(f"{name} must be in [0, 1], got {rate}")
    draw = random.Random(seed)
    for row in rows:
        task, gold = read_row(row)
        at = draw.randrange(len(task.units))
        before = {unit.id: gold[unit.id] for unit in task.units[:at]}
        state, unit = UnitState(task, task.units[at], before), task.units[at]
        right = int(row["gold"][unit.id])
        x, z = (_value(right, 0.5, draw) for _ in range(2))
        case = SafetyCase(unit.id, "The value is not right.", "")
        yield _chat("draft", draft_text(_value(right, drafts, draw)), state)
        sound = draw.random() >= reviews
        action = "NS" if (x == right) == sound else "SAC"
        yield _chat("review", teacher_forced_text(action, unit), state, x)
        yield _chat("revise", draft_text(_value(right, drafts, draw)), state, x, case)
        better = draw.random() < 0.5 if (x == right) == (z == right) else (z == right)
        revise = better if draw.random() >= choices else not better
        yield _chat("approve", teacher_forced_text("REVISE" if revise else "KEEP", unit), state, x, case, z)


def fills(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    r"""Chats that fill in a whole form: after the first line, each as :data:`TEMPLATE` writes it.

    A reply has six to ten values to look up where a draft has one, so that a policy from random weights learns sooner.

    >>> next(fills(FormsWorld(2, 2).rows(1, seed=1)))["messages"][-1]["content"]
    '{"amount": 7}\nlarger of l1 and cl2{"amount": 7}'
    """
    for row in rows:
        task, gold = read_row(row)
        first, *rest = task.units
        drafts = {unit.id: draft_text(int(gold[unit.id])) for unit in task.units}
        said = [drafts[first.id], *(f"{unit.description}{unit.id}{drafts[unit.id]}" for unit in rest)]
        yield chat(unit_messages("draft", UnitState(task, first, {})), "\n".join(said))


def as_read(text: str) -> str:
    r"""What a small policy reads of a user's turn with :data:`TEMPLATE`.

    >>> row = {"id": "r", "gold": {"l1": 7}, "task": {"task": "form", "data": {"a": 7}, "units": [
    ...     {"id": "l1", "type": "integer", "description": "a"}]}}
    >>> as_read(next(chats([row], 0))["messages"][1]["content"])
    'a 7\nFill in the entry.\nal1'
    """
    return _template().render(messages=[{"role": "user", "content": text}])


@cache
def _template() -> Any:
    import jinja2

    return jinja2.Template(TEMPLATE)


def pieces(row: Mapping[str, Any]) -> list[str]:
    """Parts of prompts, as a small policy reads them, and of replies: one token each in its tokenizer."""
    task, _ = read_row(row)
    unit = task.units[0]
    acts = [teacher_forced_text(action, unit) for action in ("SAC", "NS")]
    parts = [part for text in acts for part in text.split(unit.id)]
    choices = [teacher_forced_text(action, unit) for action in ("KEEP", "REVISE")]
    values = [f" {value}" for value in range(10)]
    said = ['{"amount":', "}", "larger of ", "smaller of ", " and ", "\n"]
    return [*RECORDS, *_LINES, *values, *_ASKED, *parts, *choices, *said]


def _value(right: int, wrong: float, draw: random.Random) -> int:
    return draw.choice([one for one in range(10) if one != right]) if draw.random() < wrong else right


def _chat(
    role: Role, said: str, state: UnitState, x: int | None = None, case: SafetyCase | None = None, z: int | None = None
) -> dict[str, Any]:
    given = [None if value is None else Proposal(state.unit.id, Decimal(value)) for value in (x, z)]
    messages = unit_messages(role, state, given[0], case, given[1])
    return chat(messages, said)
