"""Rewards of challenge and answer: DPA-GRPO, sections 2.1 and 2.2."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import ConfigError, InputError
from vouching.methods.assurance.reward import (
    CASES,
    FREE,
    AssuranceCosts,
    Case,
    Transition,
    action_rewards,
)

# Section 2.1's table, line by line: S_x, y, a, S_z.
TABLE: dict[Case, tuple[bool, str, str | None, bool | None]] = {
    "1": (True, "NS", None, None),
    "2": (True, "SAC", "REVISE", None),
    "3": (True, "SAC", "KEEP", None),
    "4": (False, "NS", None, None),
    "5a": (False, "SAC", "REVISE", True),
    "5b": (False, "SAC", "REVISE", False),
    "6a": (False, "SAC", "KEEP", False),
    "6b": (False, "SAC", "KEEP", True),
}


@pytest.mark.parametrize("case", CASES)
def test_each_line_of_the_paper_s_table_is_its_case(case: Case) -> None:
    assert Transition(*TABLE[case]).case == case  # pyright: ignore[reportArgumentType]


def matches(case: Case, s_x: bool, y: str, a: str | None, s_z: bool | None) -> bool:
    """The table read as conditions, without the order of the ifs in the code; a dash holds for anything."""
    expected = TABLE[case]
    return (s_x, y) == expected[:2] and expected[2] in (None, a) and expected[3] in (None, s_z)


def test_every_transition_belongs_to_one_case_and_to_no_other() -> None:
    seen = set[Case]()
    for s_x, y, a, s_z in product((True, False), ("SAC", "NS"), (None, "KEEP", "REVISE"), (None, True, False)):
        try:
            case = Transition(s_x, y, a, s_z).case  # pyright: ignore[reportArgumentType]
        except InputError:
            continue  # not a transition of the game
        assert [one for one in CASES if matches(one, s_x, y, a, s_z)] == [case]
        seen.add(case)
    assert seen == set(CASES)


def test_fields_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InputError, match='"y" is SAC, but "a" is missing: expected KEEP or REVISE'):
        Transition(s_x=True, y="SAC")
    with pytest.raises(InputError, match='"S_z" is missing'):
        Transition(s_x=False, y="SAC", a="KEEP")
    with pytest.raises(InputError, match="nothing to revise"):
        Transition(s_x=False, y="NS", a="REVISE")
    with pytest.raises(InputError, match="\"y\" must be SAC or NS, got 'silent'"):
        Transition(s_x=False, y="silent")  # pyright: ignore[reportArgumentType]


def earned(s_x: bool, s_z: bool | None = None, costs: AssuranceCosts = FREE) -> dict[str, float]:
    return {str(action): reward.total for action, reward in action_rewards(s_x, s_z, costs).items()}


@pytest.mark.parametrize("s_x", [True, False])
def test_the_verifier_earns_one_by_being_right_about_the_proposal(s_x: bool) -> None:
    # R_V(SAC) = c_sac = 1 - S_x, R_V(NS) = 1 - c_sac = S_x
    assert earned(s_x) == {"SAC": 1 - s_x, "NS": s_x, "KEEP": s_x}


@pytest.mark.parametrize(("s_x", "s_z"), [*product((True, False), repeat=2)])
def test_the_generator_earns_what_it_submits(s_x: bool, s_z: bool) -> None:
    found = earned(s_x, s_z)
    assert (found["KEEP"], found["REVISE"]) == (s_x, s_z)


def test_a_revision_cost_prefers_rejecting_a_wrong_revision_to_accepting_it() -> None:
    free = earned(s_x=False, s_z=False)
    assert free["KEEP"] == free["REVISE"]  # 6a and 5b alike: the paper's rewards say nothing
    costly = action_rewards(s_x=False, s_z=False, costs=AssuranceCosts(revision=0.05))
    assert (costly["KEEP"].total, costly["REVISE"].total) == (0.0, -0.05)
    assert costly["REVISE"].parts == {"outcome": 0.0, "cost": 0.05}


@given(st.floats(0, 1, exclude_max=True), st.booleans(), st.booleans())
def test_no_cost_turns_a_repair_or_a_right_challenge_into_the_worse_action(cost: float, s_x: bool, s_z: bool) -> None:
    found = earned(s_x, s_z, AssuranceCosts(intervention=cost, revision=cost))
    assert (found["SAC"] > found["NS"]) == (not s_x)
    assert (found["REVISE"] > found["KEEP"]) == (s_z and not s_x)


@pytest.mark.parametrize("cost", [-0.1, 1.0, float("nan"), float("inf")])
def test_a_cost_that_silences_everybody_is_refused(cost: float) -> None:
    with pytest.raises(ConfigError, match="intervention_cost"):
        AssuranceCosts(intervention=cost)
