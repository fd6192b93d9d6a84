"""The script behind ``make integrations``: what counts as a result, and what the table says."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integrations.environments import (
    ENVIRONMENTS,
    Environment,
    Result,
    is_good,
    newer,
    recipe_of,
    reported,
    table,
    versions,
)

WRITES = """
import sys
path = sys.argv[-1].partition("=")[2]
open(path, "w").write('<testsuites><testsuite tests="5" failures="1" errors="1" skipped="1"/></testsuites>')
"""
DONE = Result("ragas", "metric", {"ragas": "0.4.3", "rich": "15.0.1"}, ("rich",), 2, 0, 0, "3.11.7", "2026-11-28")


def test_the_report_of_an_earlier_run_does_not_count(tmp_path: Path) -> None:
    report = tmp_path / "ragas.xml"
    assert reported([sys.executable, "-c", WRITES], report) == (2, 2, 1)
    with pytest.raises(RuntimeError, match="no report was written"):
        reported([sys.executable, "-c", "pass"], report)
    assert not report.exists()


def test_an_environment_whose_tests_were_all_skipped_is_no_result() -> None:
    assert is_good(DONE)
    assert not is_good(replace(DONE, passed=0, skipped=2))
    assert not is_good(replace(DONE, failed=1))


def test_the_table_has_the_versions_that_were_read() -> None:
    assert table([DONE, replace(DONE, relaxed=(), skipped=1)]).splitlines()[2:] == [
        "| `ragas` 0.4.3 | metric | 2 passed | rich 15.0.1 |",
        "| `ragas` 0.4.3 | metric | 2 passed, 1 skipped | - |",
    ]


def test_a_version_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "promptfoo" / "package.json"
    wanted = replace(ENVIRONMENTS["promptfoo"], packages=ENVIRONMENTS["promptfoo"].packages[:1])
    with pytest.raises(RuntimeError, match="has promptfoo nothing, not"):
        versions(tmp_path, wanted)
    package.parent.mkdir(parents=True)
    package.write_text(json.dumps({"version": "0.1.0"}), encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"has promptfoo 0\.1\.0, not"):
        versions(tmp_path, wanted)
    pinned = wanted.packages[0].partition("@")[2]
    package.write_text(json.dumps({"version": pinned}), encoding="utf-8")
    assert versions(tmp_path, wanted) == {"promptfoo": pinned}


def test_another_pin_makes_another_environment() -> None:
    one = Environment("metric", ("ragas==0.4.3",), ("test_ragas.py",))
    assert recipe_of(one) == recipe_of(replace(one, adapter="a metric", tests=()))
    for other in (replace(one, packages=("ragas==0.4.4",)), replace(one, relaxed=("rich",)), replace(one, kind="bare")):
        assert recipe_of(other) != recipe_of(one)


def test_every_package_is_pinned() -> None:
    assert all("==" in one.packages[0] or "@" in one.packages[0] for one in ENVIRONMENTS.values())


def test_newer_dependencies_are_those_that_the_package_needs() -> None:
    [numpy, rich] = newer(replace(ENVIRONMENTS["ragas"], relaxed=("numpy", "rich")))
    assert numpy.startswith("numpy>=")
    assert rich.startswith("rich>=")
