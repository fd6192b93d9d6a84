"""The world of forms: lines follow from records, and every chat is what the game reads."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import ConfigError
from vouching.methods.assurance.reply import read_case, read_choice, read_line
from vouching.methods.assurance.task import read_row
from vouching.types import TaskUnit
from vouching.worlds.forms import FormsWorld, chats, oracle, right_values


def test_a_line_repeats_a_value_or_is_the_larger_or_smaller_of_two() -> None:
    units = [{"id": "l1", "description": "larger of a and b"}, {"id": "l2", "description": "smaller of l1 and c"},
             {"id": "l3", "description": "l2"}]  # fmt: skip
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
    rows = FormsWorld(2, 2, copied=1.0).rows(1500, 0)
    lines = [line["messages"] for line in chats(rows, 0, rate, rate, rate)]
    wrong = {"draft": 0, "review": 0, "revise": 0}
    for number, row in enumerate(rows):
        draft, review, revise, approve = lines[4 * number : 4 * number + 4]
        unit = next(one for one in (TaskUnit("l1", "integer"), TaskUnit("l2", "integer"))
                    if f'"line": "{one.id}", "type"' in draft[1]["content"])  # fmt: skip
        gold = Decimal(row["gold"][unit.id])
        wrong["draft"] += read_line(draft[-1]["content"], unit).value != gold
        wrong["revise"] += read_line(revise[-1]["content"], unit).value != gold
        proposed = Decimal(review[1]["content"].split('"amount": ')[-1][0])
        wrong["review"] += (read_case(review[-1]["content"], unit) is None) != (proposed == gold)
        assert isinstance(read_choice(approve[-1]["content"])[0], bool)
    shares = {role: count / len(rows) for role, count in wrong.items()}
    assert shares == pytest.approx(dict.fromkeys(wrong, rate), abs=0.04)  # the standard error is .012


@pytest.mark.parametrize(("fewest", "most"), [(1, 3), (4, 3), (2, 11)])
def test_numbers_of_lines_and_rates_out_of_range_are_refused(fewest: int, most: int) -> None:
    with pytest.raises(ConfigError, match=f"from 2 to 10, got {fewest} to {most}"):
        FormsWorld(fewest, most)
    with pytest.raises(ConfigError, match=r"reviews must be in \[0, 1\], got -1"):
        next(chats([], 0, reviews=-1))
