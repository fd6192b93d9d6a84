"""Caps on functions, settings and inheritance."""

from __future__ import annotations

import ast

from tests.house.source_tree import Module, all_modules, classes, fields_of, functions, library_modules

FUNCTION_LINES = 60
CONFIG_FIELDS = 25

EXCEPTIONS: frozenset[str] = frozenset()
"""Places ("src/vouching/x.py:name") that may exceed a cap. The set may only shrink."""


def test_no_function_is_longer_than_the_cap() -> None:
    """A command's parameters are its command line, which the tree in docs/cli.md pins; they are not counted."""
    sizes = {f"{m.name}:{f.name}": _lines(f) for m in all_modules() for f in functions(m.tree)}
    assert _over(sizes, FUNCTION_LINES) == {}


def test_no_config_has_more_fields_than_the_cap() -> None:
    sizes = {
        f"{m.name}:{c.name}": len(fields_of(c))
        for m in library_modules()
        for c in classes(m.tree)
        if c.name.endswith(("Config", "Settings"))
    }
    assert _over(sizes, CONFIG_FIELDS) == {}


def test_own_classes_inherit_at_most_once_from_own_classes() -> None:
    modules = tuple(m for m in library_modules() if m.name != "vouching.errors")
    assert {name: depth for name, depth in _inheritance_depths(modules).items() if depth > 1} == {}


def test_every_exception_still_names_something() -> None:
    places = {f"{m.name}:{node.name}" for m in all_modules() for node in (*functions(m.tree), *classes(m.tree))}
    assert places | {m.name for m in all_modules()} >= EXCEPTIONS


def _over(sizes: dict[str, int], cap: int) -> dict[str, int]:
    return {place: size for place, size in sizes.items() if size > cap and place not in EXCEPTIONS}


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0].lineno if _is_command(function) else function.lineno
    return (function.end_lineno or first) - first + 1


def _is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = (ast.unparse(decorator) for decorator in function.decorator_list)
    return any(text.partition("(")[0].endswith((".command", ".callback")) for text in decorators)


def _inheritance_depths(modules: tuple[Module, ...]) -> dict[str, int]:
    """How many own classes stand above each own class, by simple name."""
    bases = {
        c.name: [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in c.bases]
        for m in modules
        for c in classes(m.tree)
    }

    def depth(name: str) -> int:
        return max((1 + depth(base) for base in bases[name] if base in bases and base != name), default=0)

    return {name: depth(name) for name in bases}
