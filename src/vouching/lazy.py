"""Names that a package offers and loads on first use, so that importing it is cheap.

Such a package lists its names as imports under ``if TYPE_CHECKING:``, where type checkers read them, and in
``__all__``. The module of a name is read from these imports when the first name is used.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package."""
    module = sys.modules[package]

    @cache
    def homes() -> dict[str, tuple[str, str]]:
        blocks = [node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.If)]
        imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
        return {a.asname or a.name: (found.module or "", a.name) for found in imports for a in found.names}

    def load(name: str) -> Any:
        if name not in module.__all__ or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, original = homes()[name]
        value = getattr(import_module(home), original)
        setattr(module, name, value)
        return value

    return load, lambda: sorted(module.__all__)
