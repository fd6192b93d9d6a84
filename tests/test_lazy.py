"""Packages that load their names when they are first used."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pkgutil import iter_modules

import pytest

import vouching

DOORS = [
    name
    for name in ("vouching", *(f"vouching.{module.name}" for module in iter_modules(vouching.__path__)))
    if name != "vouching.__main__" and hasattr(importlib.import_module(name), "__all__")
]


@pytest.mark.parametrize("door", DOORS)
def test_every_name_that_a_package_offers_is_there(door: str) -> None:
    package = importlib.import_module(door)
    assert [name for name in package.__all__ if not hasattr(package, name)] == []
    assert {*package.__all__} <= {*dir(package)}


@pytest.mark.parametrize("door", ["vouching", "vouching.methods", "vouching.train", "vouching.types"])
def test_a_name_that_is_not_offered_is_no_attribute(door: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{door}' has no attribute 'frobnicate'"):
        _ = importlib.import_module(door).frobnicate


def test_what_a_package_offers_is_loaded_when_it_is_used() -> None:
    code = "import sys, vouching.methods; assert 'vouching.methods.blinded.game' not in sys.modules; "
    code += "vouching.methods.BlindedGame; assert 'vouching.methods.blinded.game' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
