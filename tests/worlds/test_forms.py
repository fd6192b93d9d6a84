"""The world of forms: lines follow from records, chats are what the game reads, and what the oracle says of a game."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.world_forms import ALONE, ARMS, WORLD, cut_form, outcomes_of
from recipes.worlds.claims import CLAIMS
from recipes.worlds.forms import FormsWorld, as_read, chats, draft_text, oracle, right_values
from vouching.errors import ConfigError
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.model import unit_messages
from vouching.methods.assurance.reply import read_case, read_choice, read_line, teacher_forced_text
from vouching.methods.assurance.task import read_row
from vouching.models.base import Message
from vouching.types import Rollout, TaskUnit


def test_a_line_repeats_a_value_or_is_the_larger_or_smaller_of_two() -> None:
    units = [
        {"id": "l1", "description": "larger of a and b"},
        {"id": "l2", "description": "smaller of l1 and c"},
        {"id": "l3", "description": "l2"},
    ]
    row = {"task": {"data": {"a": 3, "b": 8, "c": 5}, "units": units}}
    assert right_values(row) == {"l1": 8, "l2": 5, "l3": 5}
    # l1 wrong, l2 right, l3 missing: one of three
    assert oracle({"l1": Decimal(3), "l2": Decimal(5)}, row) == {"oracle/lines": 1 / 3, "oracle/form": 0.0}


@given(st.integers(0, 1000))
def test_forms_can_be_read_as_tasks_and_have_their_right_values(seed: int) -> None:
    for row in FormsWorld().rows(4, seed):
        task, gold = read_row(row)
        assert 6 <= len(task.units) <= 10
        assert gold == {line: Decimal(value) for line, value in right_values(row).items()}
        assert oracle(gold, row) == {"oracle/lines": 1.0, "oracle/form": 1.0}
        for unit in task.units:
            assert unit.depends_on == tuple(word for word in unit.description.split() if word in gold)


def test_records_of_the_held_out_part_do_not_occur_in_training() -> None:
    parts = [{str(row["task"]["data"]) for row in FormsWorld().rows(1000, 0, part)} for part in ("train", "held-out")]
    assert not parts[0] & parts[1]
    assert FormsWorld().rows(3, 1) == FormsWorld().rows(3, 1) != FormsWorld().rows(3, 2)


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_every_role_errs_as_often_as_is_set(rate: float) -> None:
    rows = FormsWorld(2, 2, copied=1.0).rows(500, 0)
    lines = [line["messages"] for line in chats(rows, 0, rate, rate, rate)]
    wrong = {"draft": 0, "review": 0, "revise": 0}
    for number, row in enumerate(rows):
        draft, review, revise, approve = lines[4 * number : 4 * number + 4]
        unit = next(
            one
            for one in (TaskUnit("l1", "integer"), TaskUnit("l2", "integer"))
            if f'"line": "{one.id}", "type"' in draft[1]["content"]
        )
        gold = Decimal(row["gold"][unit.id])
        wrong["draft"] += read_line(draft[-1]["content"], unit).value != gold
        wrong["revise"] += read_line(revise[-1]["content"], unit).value != gold
        proposed = Decimal(review[1]["content"].split('"amount": ')[-1][0])
        wrong["review"] += (read_case(review[-1]["content"], unit) is None) != (proposed == gold)
        assert isinstance(read_choice(approve[-1]["content"])[0], bool)
    shares = {role: count / len(rows) for role, count in wrong.items()}
    assert shares == pytest.approx(dict.fromkeys(wrong, rate), abs=0.08)  # the standard error is .021


def test_a_small_policy_reads_each_line_as_rule_name_and_value_and_last_what_the_reply_is_about() -> None:
    units = [
        {"id": "l1", "type": "integer", "description": "b"},
        {"id": "l2", "type": "integer", "description": "larger of l1 and a"},
    ]
    row = {"id": "r", "task": {"task": "form", "data": {"a": 7, "b": 4}, "units": units}, "gold": {"l1": 4, "l2": 7}}
    seed = next(seed for seed in range(9) if "larger" in next(chats([row], seed))["messages"][1]["content"][-200:])
    read = [as_read(line["messages"][1]["content"]) for line in chats([row], seed, drafts=1.0)]
    draft, review, revise, approve = (one.split("\n") for one in read)
    assert draft == ["a 7b 4", "bl1 4", "Fill in the entry.", "larger of l1 and al2"]
    for asked, lines, values in (
        ("Is the proposed value exactly right?", review, 1),
        ("Give your value for the entry now.", revise, 1),
        ("KEEP or REVISE?", approve, 2),
    ):
        assert lines[:3] == ["a 7b 4", "bl1 4", asked]
        assert re.fullmatch(r"larger of l1 and al2( \d)" + f"{{{values}}}", lines[3])
    task, _ = read_row(row)
    unread = unit_messages("review", UnitState(task, task.units[0], {}), None)[1].content
    assert as_read(unread) == "a 7b 4\nIs the proposed value exactly right?\nbl1"


@pytest.mark.parametrize(("fewest", "most"), [(1, 3), (4, 3), (2, 11)])
def test_numbers_of_lines_and_rates_out_of_range_are_refused(fewest: int, most: int) -> None:
    with pytest.raises(ConfigError, match=f"from 2 to 10, got {fewest} to {most}"):
        FormsWorld(fewest, most)
    with pytest.raises(ConfigError, match=r"reviews must be in \[0, 1\], got -1"):
        next(chats([], 0, reviews=-1))


ROWS = WORLD.rows(6, seed=2, part="held-out")


@dataclass(frozen=True, slots=True)
class Player:
    """Drafts 10, which no line has; always or never raises a case, revises to the right value or to 10, and revises."""

    cases: bool
    repairs: bool = True

    async def sample(
        self,
        prompts: Sequence[Sequence[Message]],
        role: str,
        n: int,
        policy: str = "default",
        temperature: float | None = None,
    ) -> list[list[Rollout]]:
        """The same reply ``n`` times."""
        said = [self.reply(role, prompt[-1].content) for prompt in prompts]
        return [[Rollout(role, (), (), (), None, "stop", text=text)] * n for text in said]

    async def teacher_forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = "default") -> Rollout:
        raise NotImplementedError

    def reply(self, role: str, asked: str) -> str:
        line = re.findall(r'"line": "(l\d+)", "type"', asked)[-1]
        if role == "verifier":
            return teacher_forced_text("SAC" if self.cases else "NS", TaskUnit(line, "integer"))
        if role == "approver":
            return teacher_forced_text("REVISE", TaskUnit(line, "integer"))
        [row] = [one for one in ROWS if json.dumps(one["task"]["data"]) in asked]
        return draft_text(row["gold"][line] if role == "reviser" and self.repairs else 10)


def judged(player: Player, drafts: bool, game: bool) -> dict[str, set[float]]:
    """The values of every measure over six forms."""
    found = asyncio.run(outcomes_of(player, ROWS, drafts=drafts, game=game))
    assert [*found] == [row["id"] for row in ROWS]
    assert all(one.keys() == found[ROWS[0]["id"]].keys() for one in found.values())
    return {name: {one[name] for one in found.values()} for name in found[ROWS[0]["id"]]}


def test_repairs_and_harm_are_those_of_made_drafts_and_drafts_alone_are_not_reviewed() -> None:
    repairing = judged(Player(cases=True), drafts=False, game=True)
    expected = {
        "oracle/lines": {1.0},
        "oracle/form": {1.0},
        "oracle/reviewed": {1.0},
        "oracle/drafts": {0.0},
        "oracle/challenge": {1.0},
        "oracle/repaired": {1.0},
        "oracle/harmed": {0.0},
    }
    assert {name: repairing[name] for name in expected} == expected
    # A verifier that always raises a case, or never, is right about one of the two made drafts.
    assert repairing["oracle/caught"] == {0.5}
    silent = judged(Player(cases=False), drafts=False, game=True)
    assert silent["oracle/caught"] == {0.5}
    assert silent["oracle/repaired"] == silent["oracle/harmed"] == silent["oracle/reviewed"] == {0.0}
    # A case against a right draft, and its revision to 10, leave a wrong value.
    harming = judged(Player(cases=True, repairs=False), drafts=False, game=True)
    assert (harming["oracle/repaired"], harming["oracle/harmed"]) == ({0.0}, {1.0})
    assert judged(Player(cases=True), drafts=True, game=False) == {
        "oracle/drafts": {0.0},
        "oracle/lines": {0.0},
        "oracle/form": {0.0},
    }


def test_the_lines_of_an_untrained_model_are_its_drafts_alone_and_it_is_also_reviewed() -> None:
    both = judged(Player(cases=True), drafts=True, game=True)
    assert (both["oracle/lines"], both["oracle/form"], both["oracle/reviewed"]) == ({0.0}, {0.0}, {1.0})


def test_forms_are_cut_at_any_line_and_always_at_the_same_one() -> None:
    rows = WORLD.rows(200, 0)
    cuts = [cut_form(row) for row in rows]
    assert cuts == [cut_form(row) for row in rows]
    assert {len(one["task"]["units"]) for one in cuts} == {*range(1, 11)}
    for row, cut in zip(rows, cuts, strict=True):
        task, gold = read_row(cut)
        assert gold == {unit.id: Decimal(row["gold"][unit.id]) for unit in task.units}


def test_every_claim_names_a_measure_that_both_of_its_arms_have() -> None:
    """Otherwise they are judged on different forms."""
    alone = {name for name, settings in ARMS.items() if {*ALONE} <= {*settings}}
    assert alone == {"grpo", "grpo-2", "dapo", "gspo"}

    @cache
    def measures(drafts: bool, game: bool) -> set[str]:
        return {*judged(Player(cases=True), drafts, game)}

    def measures_of(arm: str) -> set[str]:
        return measures(arm in {*alone, "initial"}, arm not in alone)

    run = {*ARMS, "initial"}
    assert {arm for claim in CLAIMS["forms"] for arm in (claim.first, claim.second)} - run == set()
    for claim in (one for one in CLAIMS["forms"] if one.second in run):
        assert claim.measure in measures_of(claim.first) & measures_of(claim.second), claim.text
