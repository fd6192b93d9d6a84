"""The range of SEVA's reward for each quality of replies: Tables 1 and 14."""

from __future__ import annotations

import pytest

from recipes.theory.levels import PUBLISHED, levels, main


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("unreadable", 0.0, 0.0),
        ("no fields", -0.03, 0.12),  # .02 - .05, and + .15 on gold Attributable
        ("all wrong", 0.0, 0.25),  # .10 - .10, and .10 + .15 with confidence 0
        ("right, good", 0.85, 1.15),  # .70 + .15, and + .15 + .15
        ("wrong, good", 0.60, 0.85),  # .70 - .10, and .70 + .15
        ("right, poor", 0.20, 0.55),  # .05 + .15 from label and confidence 0 alone, and .10 + .15 + .15 + .15
        ("wrong, poor", -0.05, 0.25),  # .05 - .10 from label and confidence 1 alone
        ("perfect", 1.0, 1.15),
    ],
)
def test_tables_1_and_14_by_the_formula(name: str, low: float, high: float) -> None:
    [level] = [level for level in levels() if level.name == name]
    assert (level.low, level.high) == (low, high)


def test_table_1_lies_within_the_exact_ranges_and_table_14_does_not() -> None:
    for level in levels():
        assert level.landscape is None or level.low <= level.landscape <= level.high
    wrong = {
        level.name for level in levels() if level.name in PUBLISHED and (level.low, level.high) != PUBLISHED[level.name]
    }
    assert wrong == {"no fields", "all wrong", "wrong, good", "perfect"}


def test_the_command_prints_every_quality(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    assert capsys.readouterr().out.splitlines()[-1] == "perfect       1.00  1.15  table 14: 1.0 1.28"
