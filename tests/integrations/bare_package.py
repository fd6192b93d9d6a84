"""A module of a package whose own front imports engines that the test does not need."""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def module_of(name: str, *fronts: str, **attributes: Any) -> Any:
    """The real module ``name``, imported without running the ``__init__`` of the packages in ``fronts``.

    Args:
        name: dotted name; the test is skipped if its first package is not installed.
        fronts: packages whose ``__init__`` would import torch, Ray or DeepSpeed.
        attributes: what the first of them must have.
    """
    top = name.partition(".")[0]
    spec = find_spec(top) if top not in sys.modules else None
    if spec is None and top not in sys.modules:
        pytest.skip(f"{top} is not installed")
    if spec is not None and spec.submodule_search_locations:
        root = Path(spec.submodule_search_locations[0])
        for front in fronts:
            empty = ModuleType(front)
            empty.__path__ = [str(root.joinpath(*front.split(".")[1:]))]
            sys.modules[front] = empty
        vars(sys.modules[top]).update(attributes)
    return importlib.import_module(name)
