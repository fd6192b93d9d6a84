"""What language models are asked at a unit: for a draft, for a review, for revisions, and to keep or to revise.

Own words; the roles and the JSON are those of DPA-GRPO's App. F. Everything foreign stands between fence lines, the
constant part first, so that a server that keeps prefixes reads the records once. Of the rules the unit's own are shown,
or all where it names none; of what was submitted everything. Left out: records cut to fit a prompt; a model that cannot
read them refuses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeAlias

from vouching.models.base import Message
from vouching.prompts import load_prompt
from vouching.text.fence import fence_prompt, fenced
from vouching.types import Proposal, SafetyCase
from vouching.verifiers.assurance_evidence import UnitState
from vouching.verifiers.assurance_json import case_json, line_json

Role: TypeAlias = Literal["draft", "review", "revise", "approve"]
"""Who is asked: the generator for a draft or a revision, the verifier for a review, the approver for its choice."""
_PACKAGE = "vouching.verifiers"
_TASKS: Mapping[Role, str] = {
    "draft": "Fill in the entry.",
    "review": "Is the proposed value exactly right?",
    "revise": "Give your value for the entry now.",
    "approve": "KEEP or REVISE?",
}
_LONGEST_SAID = 4_000
"""Characters of an unusable reply that the model is shown again."""


def unit_messages(
    role: Role,
    state: UnitState,
    proposal: Proposal | None = None,
    case: SafetyCase | None = None,
    revision: Proposal | None = None,
) -> tuple[Message, Message]:
    """What one role is asked at a unit.

    Args:
        role: who is asked.
        state: what is known.
        proposal: x; None where there is none that can be read.
        case: the case against it, for the generator and the approver.
        revision: z, for the approver.

    >>> from vouching.types import Task, TaskUnit
    >>> state = UnitState(Task("t", {"a": 1}, {}, (TaskUnit("x", "number"),)), TaskUnit("x", "number"), {})
    >>> system, user = unit_messages("draft", state)
    >>> system.content.splitlines()[0], user.content.splitlines()[-1]
    ('You fill in one entry of a form or report.', 'Fill in the entry.')
    """
    task, unit = state.task, state.unit
    blocks = {"work": task.description or task.id, "input records": _json(task.data)}
    if task.tables:
        blocks["tables"] = _json(task.tables)
    blocks["submitted so far (context_so_far)"] = _json(state.document["context_so_far"])
    if task.rules:
        blocks["rules"] = "\n".join(f"{name}: {task.rules[name].text}" for name in unit.rules or task.rules)
    entry: dict[str, Any] = {"form": unit.form, "line": unit.id, "type": unit.type, "description": unit.description}
    blocks["entry"] = _json(entry | ({"choices": [*unit.choices]} if unit.choices else {}))
    if role != "draft":
        blocks["proposal"] = "(none that can be read)" if proposal is None else _json(line_json(proposal, unit))
    if case is not None:
        blocks["case"] = _json(case_json(case, unit))
    if revision is not None:
        blocks["revision"] = _json(line_json(revision, unit))
    system = load_prompt(_PACKAGE, f"assurance_{role}").text.strip()
    return Message("system", system), Message("user", f"{fenced(blocks)}\n\n{_TASKS[role]}")


def ask_again(reply: str, fault: str) -> tuple[Message, Message]:
    """What follows a reply that cannot be used.

    >>> ask_again("Fine.", "it holds no JSON object")[1].content.splitlines()[0][:46]
    'That cannot be used: it holds no JSON object. '
    """
    said = reply[:_LONGEST_SAID].encode(errors="replace").decode() or "(empty)"
    return Message("assistant", said), Message(
        "user", load_prompt(_PACKAGE, "assurance_again").fill(fault=fault).strip()
    )


@cache
def prompt_digest() -> str:
    """SHA-256 of all that is constant in the questions, for the record of a run.

    >>> len(prompt_digest())
    64
    """
    texts = [load_prompt(_PACKAGE, f"assurance_{name}").text for name in (*_TASKS, "again")]
    return hashlib.sha256("\0".join([*texts, *_TASKS.values(), fence_prompt().text]).encode()).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
