"""The forms in which trainers ask for rewards: rows (``Client``, TRL), and the remote rewards of OpenRLHF and verl.

OpenRLHF (``--remote_rm_url``) sends lists of whole texts, of their prompts and of labels, and reads ``rewards`` (newer
versions also ``scores`` and ``extra_logs``). verl's example of a remote reward sends the arguments of ``compute_score``
for one reply, and reads ``reward``. A label is the gold label, or an object, or its JSON, with the columns of a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from vouching.errors import InputError
from vouching.models.json_fields import read_json
from vouching.serve.bodies import RewardBody, Rewards


def trainer_rows(body: RewardBody) -> list[dict[str, Any]]:
    """The rows of a request. Raises InputError if it has no form, several, or lists of different lengths.

    >>> trainer_rows(RewardBody(query=["Say yes. Yes."], prompts=["Say yes."], labels=["Attributable"]))
    [{'gold': 'Attributable', 'response': ' Yes.'}]
    """
    forms = [name for name in ("rows", "query", "solution_str") if getattr(body, name) is not None]
    if len(forms) != 1:
        got = " and ".join(forms) or "none of them"
        raise InputError(f"expected either rows, query (OpenRLHF) or solution_str (verl), got {got}")
    if body.rows is not None:
        return body.rows
    if body.solution_str is not None:
        return [{**(body.extra_info or {}), **_columns(body.ground_truth), "response": body.solution_str}]
    replies = body.query or []
    for name, given in (("prompts", body.prompts), ("labels", body.labels)):
        if given is not None and len(given) != len(replies):
            raise InputError(f"{name} has {len(given)} entries, but query has {len(replies)}: send one for each")
    prompts = body.prompts or [""] * len(replies)
    labels = body.labels or [None] * len(replies)
    return [
        {**_columns(label), "response": reply.removeprefix(prompt)}
        for reply, prompt, label in zip(replies, prompts, labels, strict=True)
    ]


def rewards_of(body: RewardBody, lines: Sequence[Mapping[str, Any]]) -> Rewards:
    """The answer to a request. Raises InputError if a row has no reward and the trainer has no place for that."""
    rewards = [cast("float | None", line.get("total")) for line in lines]
    answer = Rewards.model_validate({"rewards": rewards, "lines": lines})
    if body.rows is not None:
        return answer
    for number, (line, reward) in enumerate(zip(lines, rewards, strict=True), 1):
        if reward is None:
            raise InputError(f"reply {number} has no reward: {line.get('problem') or 'its judge failed'}")
    scores = cast("list[float]", rewards)
    if body.solution_str is not None:
        return answer.model_copy(update={"reward": scores[0]})
    parts = {name: [float(line["parts"][name]) for line in lines] for name in (lines[0]["parts"] if lines else ())}
    return answer.model_copy(update={"scores": scores, "extra_logs": parts})


def _columns(label: object) -> dict[str, Any]:
    """The columns that a label stands for."""
    if isinstance(label, str) and label.lstrip().startswith("{"):
        try:
            label = read_json(label)
        except ValueError as error:
            raise InputError(f"a label begins as a JSON object but is none: {error}") from None
    if isinstance(label, dict):
        return cast("dict[str, Any]", label)
    return {} if label is None else {"gold": label}
