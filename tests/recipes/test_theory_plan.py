"""The page and the tables of a plan for verification."""

from __future__ import annotations

import re
from pathlib import Path

from recipes.theory.plan import plan_tables, write_plan
from recipes.theory.planning import plan_verification
from recipes.theory.quality import VerifierQuality
from recipes.theory.rates import JudgedCompletion
from tests.recipes.judged_completions import simulated

FAIR_ITEMS = VerifierQuality(p=0.6, q=0.6, p_item=0.95, q_item=0.9)
LENIENT_ITEMS = VerifierQuality(p=0.9, q=0.9, p_item=0.9, q_item=0.3)
TELEPHONE = 312
"""Pixels that a panel leaves for a chart in a window of 380."""


def charts_of(tmp_path: Path, votes: int) -> list[str]:
    path = tmp_path / "plan.html"
    write_plan(path, "judged.jsonl", plan_verification(simulated(FAIR_ITEMS, 60, votes=votes)))
    return re.findall(r'<svg class="chart".*?</svg>', path.read_text(encoding="utf-8"), re.DOTALL)


def test_no_letter_of_a_chart_is_smaller_than_eight_pixels_on_a_telephone(tmp_path: Path) -> None:
    charts = charts_of(tmp_path, votes=3)
    assert len(charts) == 5
    for chart in charts:
        width = float(re.search(r'viewBox="0 0 ([\d.]+)', chart)[1])  # type: ignore[index]
        smallest = min(map(float, re.findall(r'font-size="(\d+)"', chart)))
        assert smallest * min(1.0, TELEPHONE / width) >= 8


def test_one_vote_has_no_chart_of_votes(tmp_path: Path) -> None:
    assert not any("votes per question" in chart for chart in charts_of(tmp_path, votes=1))


def test_the_chart_of_items_has_a_curve_for_each_way_to_verify(tmp_path: Path) -> None:
    first = charts_of(tmp_path, votes=1)[0]
    checklists = ("checklist, errors independent", "checklist, errors correlated by 0.00")
    for name in ("one overall judgment", *checklists):
        assert re.search(rf"MSE over items: [^<]*{name}: [\d.]+ at 1 to [\d.]+ at 20", first)
    # Three curves of 20 points each; the three in the legend have two.
    assert sorted(points.count(" ") + 1 for points in re.findall(r'points="([^"]*)"', first)) == [2, 2, 2, 20, 20, 20]


def test_tables_say_when_no_number_of_items_helps() -> None:
    tables = {table.heading: table for table in plan_tables(plan_verification(simulated(LENIENT_ITEMS, 200)))}
    advice = dict(tables["What to do"].rows)  # type: ignore[arg-type]
    assert advice["verification"] == "whole response"
    assert advice["fewest items whose MSE is not larger"] == "none"
    assert "Measured MSE by votes per question" not in tables


def test_a_table_has_the_columns_of_table_2_and_one_the_lengths_of_checklists() -> None:
    # Two successes and two failures; the whole is right in 1 and 2 of them; 4 items hold, 3 of them found; 2 do not,
    # 1 of them found. q' - q = -.5 and alpha' = .25, so of the failures (Delta .5 and 0) none meets the condition, and
    # both successes do, with p' = .75 >= p = .5.
    yes, no = (True,), (False,)
    rows = [
        JudgedCompletion("1", "x", True, yes, (True,), (yes,)),
        JudgedCompletion("2", "x", True, no, (True,), (yes,)),
        JudgedCompletion("3", "y", False, no, (True, False), (yes, no)),
        JudgedCompletion("4", "z", False, no, (True, False), (no, yes)),
    ]
    tables = {table.heading: table for table in plan_tables(plan_verification(rows))}
    table_2 = tables["As in Table 2 of the paper"]
    assert dict(zip(table_2.head, table_2.rows[0], strict=True)) == {
        "": "here",
        "p": "0.500",
        "p'": "0.750",
        "q": "1.000",
        "q'": "0.500",
        "p' - p": "+0.250",
        "q' - q": "-0.500",
        "alpha": "0.500",
        "alpha'": "0.250",
        "bias cond.": "50.0 %",
    }
    assert tables["Lengths of the checklists"].rows == [("1", "1"), ("2", "2")]  # one prompt, then two


def test_a_judge_that_guesses_is_not_recommended_for_its_small_mse() -> None:
    # The whole always failed, items always passed: with one success in five the MSE is .2 and .8.
    rows = [
        JudgedCompletion(str(n), str(n), n % 5 < 1, (False,), (n % 5 < 1, True), ((True,), (True,))) for n in range(50)
    ]
    plan = plan_verification(rows)
    assert (plan.choice, plan.informed) == ("holistic", (False, False))
    advice = dict(next(iter(plan_tables(plan))).rows)  # type: ignore[arg-type]
    assert advice["verification"] == "none: the smaller MSE (whole response) comes from guessing"
    assert advice["better than guessing (whole, items)"] == "not significantly, not significantly"
    assert plan_verification(simulated(FAIR_ITEMS, 600)).informed == (True, True)  # .6 + .6 and .95 + .9


def test_tables_say_why_nothing_is_decided() -> None:
    advice = next(iter(plan_tables(plan_verification(simulated(FAIR_ITEMS, 12))))).rows
    assert advice[0] == ("verification", "undecided: an interval needs at least 10 groups of rows, got 6")
