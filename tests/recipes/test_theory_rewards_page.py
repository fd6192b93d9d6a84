"""The page of a diagnosis: charts that can be read on a telephone, tables that are about the rows."""

from __future__ import annotations

import re
from pathlib import Path

from recipes.theory.reward_statistics import ScoredReply, diagnose
from recipes.theory.rewards import write_diagnosis
from tests.methods.structured.replies import reply, supported
from vouching.methods.structured.reward import structured_reward
from vouching.types import Reward

TELEPHONE = 312
"""Pixels that a panel leaves for a chart in a window of 380."""


def page(tmp_path: Path, rows: list[ScoredReply]) -> str:
    path = tmp_path / "rewards.html"
    write_diagnosis(path, "rewards.jsonl", diagnose(rows), rows)
    return path.read_text(encoding="utf-8")


def scored(number: int, text: str) -> ScoredReply:
    gold = "Attributable" if number % 2 else "Not Attributable"
    return ScoredReply(str(number), str(number // 4), structured_reward(text, gold), gold, "Attributable")


def test_no_letter_of_a_chart_is_smaller_than_eight_pixels_on_a_telephone(tmp_path: Path) -> None:
    rows = [scored(n, text) for n, text in enumerate([reply(), supported(), reply(label="yes"), "no", "{}", reply()])]
    charts = re.findall(r'<svg class="chart".*?</svg>', page(tmp_path, rows), re.DOTALL)
    assert len(charts) == 3
    for chart in charts:
        width = float(re.search(r'viewBox="0 0 ([\d.]+)', chart)[1])  # type: ignore[index]
        smallest = min(map(float, re.findall(r'font-size="(\d+)"', chart)))
        assert smallest * min(1.0, TELEPHONE / width) >= 8


def test_rewards_of_another_method_have_no_tables_of_this_one(tmp_path: Path) -> None:
    made = page(tmp_path, [ScoredReply(str(n), "g", Reward(float(n), {"win": float(n)})) for n in range(2)])
    assert "Proposition 2" in made
    assert "Rewards by gold label" not in made
