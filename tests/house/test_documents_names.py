"""What pages name is there: the files on every page; in docs/papers.md the names in them and the tests too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGE, ROOT, all_modules, classes, functions
from tests.house.test_documents_run import PAGES

LINES = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines()
ROWS = [(number, line) for number, line in enumerate(LINES, 1) if line.startswith("| ") and "`" in line]
"""The rows of the tables with the number of their line: section, place, tests."""


@cache
def names_in(path: Path) -> frozenset[str]:
    """Every name that a file defines at its top, and ``Class.name`` of what its classes define."""
    tree = ast.parse(path.read_bytes())
    inner = {f"{one.name}.{name}" for one in classes(tree) for name in _defined(one)}
    return frozenset({*_defined(tree), *inner})


def _defined(node: ast.Module | ast.ClassDef) -> Iterator[str]:
    for one in node.body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield one.name
        elif isinstance(one, ast.Assign | ast.AnnAssign):
            for target in one.targets if isinstance(one, ast.Assign) else [one.target]:
                yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def named_in(cell: str) -> Iterator[tuple[str, Path | None]]:
    """What stands in backticks in a cell, each name with the file that it is said to be in, if any.

    A file is named by its path in the package or the repository, or by its name alone after one of the same folder.
    """
    folder: Path | None = None
    for part in cell.split("; "):
        file: Path | None = None
        for found in re.finditer(r"`([^`]+)`", part):
            named = found[1]
            if re.fullmatch(r"[\w*/.-]+(\.(py|toml)|/)", named):
                places = [place / named for place in (folder, PACKAGE, ROOT) if place is not None]
                file = next((place for place in places if "*" not in named and place.exists()), None)
                folder = file.parent if file is not None else folder
                yield named, file
            elif re.fullmatch(r"[A-Za-z_][\w.]*\*?(\(.*\))?", named):
                yield named.partition("(")[0], file if file is not None and file.suffix == ".py" else None


def missing_in(cell: str, anywhere: frozenset[str]) -> list[str]:
    """The files and names of a cell that are not there."""
    missing: list[str] = []
    for named, file in named_in(cell):
        if named.endswith((".py", ".toml", "/")):
            there = file is not None or ("*" in named and any(ROOT.glob(named)))
        elif "." in named and named.islower():  # a setting of a run, such as game.scale
            there = True
        else:
            known = anywhere if file is None else names_in(file)
            start = named.removesuffix("*")
            there = named in known or (start != named and any(name.startswith(start) for name in known))
        if not there:
            missing.append(named if file is None else f"{file.name}: {named}")
    return missing


@cache
def names_of_the_library() -> frozenset[str]:
    """Every name that any file of the library defines."""
    return frozenset(name for path in PACKAGE.rglob("*.py") for name in names_in(path))


@cache
def names_of_tests() -> frozenset[str]:
    """Every test there is, and every file of tests by its name."""
    modules = [module for module in all_modules() if module.name.startswith("tests/")]
    return frozenset([one.name for m in modules for one in functions(m.tree)] + [m.path.name for m in modules])


@pytest.mark.parametrize(("number", "line"), ROWS, ids=[str(number) for number, _ in ROWS])
def test_what_a_row_names_is_there(number: int, line: str) -> None:
    place, tests = re.split(r" \| ", line.strip("| "))[1:3]
    assert missing_in(place, names_of_the_library()) == []
    said = re.findall(r"`([^`]+)`", tests)
    files = [name for name in said if name.startswith("tests/") and not (ROOT / name).exists()]
    known = names_of_tests()
    named = [name for name in said if name.startswith("test_")]
    gone = [name for name in named if not any(one.startswith(name.removesuffix("...")) for one in known)]
    assert (files, gone) == ([], [])


@pytest.mark.parametrize("page", [*PAGES, *(ROOT / "design").glob("*.md")], ids=lambda page: page.name)
def test_the_python_files_that_a_page_names_are_there(page: Path) -> None:
    """A file goes by its path, or by its name alone where the page says before in which folder it is."""
    said = re.findall(r"`([\w./-]+\.py)`", page.read_text(encoding="utf-8"))
    names = {module.path.name for module in all_modules()}
    roots = (PACKAGE, PACKAGE.parent, ROOT, page.parent)
    gone = [
        name
        for name in said
        if (not any((root / name).exists() for root in roots) if "/" in name else name not in names)
    ]
    assert gone == []
