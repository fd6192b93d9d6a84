"""Pages import public names only: what a public package lists in ``__all__``, never a module behind it."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from tests.house.test_documents_run import PAGES, blocks_of


def imports_of(page: str) -> list[tuple[str, str]]:
    """Every name of the library that the Python of a page imports, as (package, name).

    >>> imports_of("```python\\n>>> from vouching.models import ScriptedModel\\n```\\n")
    [('vouching.models', 'ScriptedModel')]
    """
    found: list[tuple[str, str]] = []
    for block in blocks_of(page):
        if block.language not in ("python", "py"):
            continue
        shown = [line[4:] for line in block.body.splitlines() if line.startswith((">>> ", "... "))]
        code = "\n".join(shown) if ">>>" in block.body else block.body
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "vouching":
                found += [(node.module or "", alias.name) for alias in node.names]
            elif isinstance(node, ast.Import):
                found += [(alias.name, "") for alias in node.names if alias.name.startswith("vouching.")]
    return found


def is_public(package: str, name: str) -> bool:
    """Whether a name is listed by a package of the first level, or by an adapter to somebody else's tool."""
    if package.count(".") > 1 and not package.startswith("vouching.integrations."):
        return False
    return name in getattr(importlib.import_module(package), "__all__", ())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_imports_public_names_only(path: Path) -> None:
    wrong = [found for found in imports_of(path.read_text(encoding="utf-8")) if not is_public(*found)]
    assert wrong == []


def test_a_name_behind_a_package_is_not_public() -> None:
    assert is_public("vouching", "Checker")
    assert not is_public("vouching.text.dates", "find_dates")
    assert not is_public("vouching", "find_dates")


def test_a_block_of_py_counts_as_python() -> None:
    assert imports_of("```py\nfrom vouching.text.dates import find_dates\n```\n") == [
        ("vouching.text.dates", "find_dates")
    ]
