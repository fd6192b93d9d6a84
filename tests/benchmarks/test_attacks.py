"""No policy that does not verify earns as much by the grounded rules as a verifier that is often wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from attacks import ATTACKS, QUOTING, RULES, attack_reward, by_reader, by_rules, earned, rows_of  # noqa: E402

from vouching.methods.structured.reward_settings import RewardSettings  # noqa: E402

ROWS = rows_of(48)
HONEST = {"rules": [*map(by_rules, ROWS)], "reader": [*by_reader(ROWS)]}
RECORDED = json.loads((ROOT / "benchmarks/results/attacks.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("rules", [name for name in RULES if name != "paper"])
def test_no_attack_earns_what_an_honest_imperfect_verifier_earns(rules: str) -> None:
    variant, calibration = RULES[rules]
    settings = RewardSettings(variant, calibration=calibration)
    least = min(earned(replies, ROWS, settings) for replies in HONEST.values())
    most = {name: attack_reward(name, ROWS, settings) for name in ATTACKS}
    assert max(total for name, total in most.items() if name not in QUOTING) < 0.5 < least
    # With real evidence and one label for all rows, half of the labels are right: below a reader's three quarters.
    assert max(most.values()) < earned(HONEST["reader"], ROWS, settings) - 0.1


def test_the_papers_rules_pay_seven_of_eight_attacks_more_than_the_rules_verifier_earns_by_grounded_ones() -> None:
    paper = RewardSettings()
    paid = {name: attack_reward(name, ROWS, paper) for name in ATTACKS if name not in QUOTING}
    assert [name for name, total in paid.items() if total < 0.8] == ["empty"]
    # Not even a wrong label takes a match of NOT_FOUND with lorem ipsum below 1: on gold Attributable it earns all.
    known = [row for row in ROWS if row["gold"] == "Attributable"]
    assert attack_reward("lorem ipsum", known, paper) == 1.15


def test_the_recorded_rewards_of_the_docs_say_the_same() -> None:
    for rules in ("grounded", "grounded, brier"):
        attacks = [RECORDED["rewards"][name][rules] for name in ATTACKS if name not in QUOTING]
        honest = [rewards[rules] for name, rewards in RECORDED["rewards"].items() if name not in ATTACKS]
        assert max(attacks) < min(honest)
    page = (ROOT / "docs/rewards.md").read_text(encoding="utf-8")
    for name, rewards in RECORDED["rewards"].items():
        cells = " | ".join(f"{rewards[rules]:.2f}" for rules in RULES)
        assert f"| {name} | {cells} |" in page
