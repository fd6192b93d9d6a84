"""``python recipes/evolve/contest.py``: rounds of an evolution go in, a router and an honest table come out."""

from __future__ import annotations

from pathlib import Path

import pytest

from recipes.evolve.contest import ROUTER, contest, contest_lines, main
from recipes.evolve.route import Router, best_single, cross_routed, fit_router
from tests.recipes.test_evolve_route import rows, specialist
from vouching.evolve.records import read_record, write_records


@pytest.fixture
def evolution(tmp_path: Path) -> Path:
    """Two rounds, each good at one of two sets and right on 2 rows of 5 of the other."""
    known = rows(100)
    for number, name in enumerate(("talk", "prose")):
        write_records(tmp_path / f"run/round-{number}/judged.jsonl", specialist(known, name))
    return tmp_path / "run"


def test_rounds_are_compared_with_a_cross_validated_router(
    evolution: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mean = evolution / "round-0/judged.jsonl"
    code = main([str(evolution), "--against", f"mean={mean}", "--out", str(tmp_path / "router.json")])
    printed = capsys.readouterr().out
    lines = {line.split("  ")[0]: line for line in printed.splitlines()}
    assert code == 0
    assert "100.0 %" in lines["router"]
    assert lines["talk"].endswith("routed to round-0 50")
    assert lines["prose"].endswith("routed to round-1 50")
    assert "rows compared: 100; rows excluded because a verifier failed on them: 0" in printed
    assert {*read_record(tmp_path / "router.json", Router).specialists} == {"round-0", "round-1"}


def test_a_folder_without_rounds_and_a_single_specialist_are_usage_errors(
    evolution: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "router.json")]
    assert main([str(tmp_path), *out]) == 2
    assert "pass a folder of vouch evolve run" in capsys.readouterr().err
    assert main([f"a={evolution / 'round-0/judged.jsonl'}", *out]) == 2
    assert "at least two specialists, got 1" in capsys.readouterr().err
    assert not (tmp_path / "router.json").exists()


def test_a_router_that_is_not_shown_to_be_better_is_said_to_be_so() -> None:
    known = rows(100)
    answers = {name: specialist(known, name) for name in ("talk", "prose")}
    router, best = fit_router(answers), best_single(answers)
    for routed, said in ((cross_routed(answers), False), (answers[best], True)):
        lines = [*contest_lines(contest(answers, {ROUTER: routed}, best), router, known)]
        assert any("not significantly better" in line for line in lines) is said
