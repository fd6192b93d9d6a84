"""The quick tier names tests that exist, and `make test` stays the full run."""

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


def test_make_quick_runs_them_and_make_test_runs_everything() -> None:
    recipes = dict(re.findall(r"^(quick|test):.*\n\t(.*)$", MAKEFILE, re.MULTILINE))
    assert "tests/quick.txt" in recipes["quick"]
    assert "-m pytest -q -n 2 --dist worksteal" in recipes["test"]
    assert "tests/" not in recipes["test"]
