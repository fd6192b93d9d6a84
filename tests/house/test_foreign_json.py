"""Whoever expects JSON that cannot be read also expects JSON that is nested too deeply, which is another error."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.house.source_tree import library_modules

_ENOUGH = {"RecursionError", "RuntimeError", "Exception", "BaseException"}


def unguarded(tree: ast.AST) -> Iterator[int]:
    """The lines of ``json.loads`` in a ``try`` that catches ValueError but not RecursionError."""
    for guard in (node for node in ast.walk(tree) if isinstance(node, ast.Try)):
        body = [node for statement in guard.body for node in ast.walk(statement)]
        lines = [node.lineno for node in body if isinstance(node, ast.expr) and ast.unparse(node) == "json.loads"]
        types = [node for handler in guard.handlers if handler.type for node in ast.walk(handler.type)]
        caught = {node.id for node in types if isinstance(node, ast.Name)}
        if "ValueError" in caught and not caught & _ENOUGH:
            yield from lines


def test_deep_brackets_are_expected_wherever_json_may_be_invalid() -> None:
    assert [f"{one.path}:{line}" for one in library_modules() for line in unguarded(one.tree)] == []


def test_a_guard_that_forgets_them_is_noticed() -> None:
    forgets = "try:\n    found = json.loads(raw)\nexcept (OSError, ValueError{more}):\n    found = None\n"
    assert [*unguarded(ast.parse(forgets.replace("{more}", "")))] == [2]
    assert [*unguarded(ast.parse(forgets.replace("{more}", ", RecursionError")))] == []
