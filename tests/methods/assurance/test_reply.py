"""What one reply of a role earns, and the adapters that hand it to other trainers."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from vouching.errors import ConfigError, InputError
from vouching.integrations.verifiers import assurance_draft, assurance_review
from vouching.integrations.verl import assurance_score
from vouching.methods.assurance.reward import AssuranceCosts, reward_of_reply

UNIT = {"id": "total", "type": "amount", "depends_on": ["elsewhere"], "rules": ["R1"]}
WRONG, RIGHT = '{"verdict": "wrong"}', '{"verdict": "correct"}'


@pytest.mark.parametrize(("reply", "total"), [('{"amount": "$42.00"}', 1.0), ('{"amount": 41}', 0.0), ("Forty.", 0.0)])
def test_a_draft_earns_whether_it_is_right(reply: str, total: float) -> None:
    reward = reward_of_reply(reply, {"unit": UNIT, "gold": 42}, "generator")
    assert (reward.total, reward.parts["readable"]) == (total, float(reply != "Forty."))


@pytest.mark.parametrize(
    ("reply", "proposal", "total"),
    [  # R_V(SAC) = 1 - S_x - .25, R_V(NS) = S_x
        (WRONG, 41, 0.75),
        (WRONG, 42, -0.25),
        (RIGHT, 42, 1.0),
        (RIGHT, 41, 0.0),
        (WRONG, None, 0.75),
        ("So?", 41, 0.0),
    ],
)
def test_a_review_earns_what_its_action_does(reply: str, proposal: object, total: float) -> None:
    row = {"role": "verifier", "unit": UNIT, "gold": 42, "proposal": proposal}
    assert reward_of_reply(reply, row, costs=AssuranceCosts(intervention=0.25)).total == total


@pytest.mark.parametrize(
    ("reply", "values", "total"),
    [  # R_G(KEEP) = S_x, R_G(REVISE) = S_z - .5
        ("KEEP", (42, 41), 1.0),
        ("KEEP", (41, 42), 0.0),
        ("REVISE", (41, 42), 0.5),
        ("REVISE", (42, 41), -0.5),
        ("Perhaps.", (42, 41), 0.0),
    ],
)
def test_a_choice_earns_what_its_action_does(reply: str, values: tuple[int, int], total: float) -> None:
    row = {"unit": UNIT, "gold": 42, "proposal": values[0], "revision": values[1]}
    assert reward_of_reply(reply, row, "approver", AssuranceCosts(revision=0.5)).total == total


def test_verl_gets_every_role_with_the_same_names() -> None:
    rows: list[dict[str, Any]] = [
        {"role": role, "unit": UNIT, "proposal": 41, "revision": 42} for role in ("generator", "verifier", "approver")
    ]
    replies = ['{"amount": 42}', WRONG, "REVISE"]
    found = [assurance_score("t", reply, 42, row) for reply, row in zip(replies, rows, strict=True)]
    assert found == [{"score": 1.0, "acc": 1.0, "outcome": 1.0, "readable": 1.0}] * 3
    assert [*assurance_score("t", "?", 42, rows[1])] == [*found[0]]
    with pytest.raises(
        InputError, match=r'the row has no "role"; its keys are unit.*; a reply must have "role" .generator'
    ):
        assurance_score("t", "?", 42, {"unit": UNIT})
    with pytest.raises(ConfigError, match="cost"):
        assurance_score("t", WRONG, 42, rows[1], intervention_cost=1.0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        # Taken for a proposal that cannot be read, one that was left out would make every case right.
        ({"role": "verifier", "unit": UNIT}, 'the row of the verifier has no "proposal"'),
        ({"role": "approver", "unit": UNIT}, 'the row of the approver has no "proposal" and no "revision"'),
        ({"role": "generator"}, 'the row of the generator has no "unit"'),
        ({"role": "generator", "unit": "total"}, '"unit" must be an object as in a task file, got .total.'),
    ],
)
def test_a_row_without_the_fields_of_its_role_is_named(row: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        assurance_score("t", WRONG, 42, row)


def test_an_environment_of_verifiers_scores_drafts_and_reviews() -> None:
    metrics: dict[str, float] = {}
    trace = SimpleNamespace(last_reply=WRONG, record_metrics=metrics.update)
    task = SimpleNamespace(unit=UNIT, gold=42, proposal=41)
    assert asyncio.run(assurance_review(task, trace)) == 1.0
    assert metrics == {"assurance/outcome": 1.0, "assurance/readable": 1.0}
    draft = SimpleNamespace(last_reply='{"amount": 42}', record_metrics=metrics.update)
    assert asyncio.run(assurance_draft(task, draft)) == 1.0


def test_a_unit_or_gold_that_is_not_valid_is_an_error_and_not_a_reward() -> None:
    with pytest.raises(InputError, match="the unit"):
        reward_of_reply("42", {"unit": {"id": "total"}, "gold": 42}, "generator")
    with pytest.raises(InputError, match="gold is 'many'"):
        reward_of_reply('{"amount": 42}', {"unit": UNIT, "gold": "many"}, "generator")
