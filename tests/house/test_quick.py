"""The quick tier names tests that exist, and `make test` and `make test-slow` are the full run."""

from __future__ import annotations

import re

from tests.house.source_tree import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def quick() -> list[str]:
    """The files, folders and single tests of the quick tier."""
    lines = (ROOT / "tests/quick.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_the_quick_tier_names_what_exists_once() -> None:
    assert len(quick()) == len({*quick()})
    for name in quick():
        file, _, test = name.partition("::")
        assert (ROOT / file).exists(), name
        assert not test or f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), name


def test_make_quick_runs_them_and_make_test_and_test_slow_run_everything_between_them() -> None:
    recipes = dict(re.findall(r"^(quick|test|test-slow):.*\n\t(.*)$", MAKEFILE, re.MULTILINE))
    assert "tests/quick.txt" in recipes["quick"]
    assert "-m pytest -q -n 2 --dist worksteal" in MAKEFILE.partition("PYTEST := ")[2].partition("\n")[0]
    assert recipes["test"] == "$(PYTEST) $(addprefix --ignore=,$(SLOW))"
    assert recipes["test-slow"] == "$(PYTEST) $(SLOW)"
    slow = [line for line in (ROOT / "tests/slow.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert len(slow) == len({*slow})
    assert [line for line in slow if not (ROOT / line).is_file()] == []
    checks = (ROOT / ".ci/run").read_text("utf-8").splitlines()
    assert checks[-3:] == ["make test", "make test-slow", "make check"]
