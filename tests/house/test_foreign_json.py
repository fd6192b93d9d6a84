"""JSON is read in one place, because what is nested too deeply raises another error than what is invalid."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.house.source_tree import library_modules

_READERS = {"vouching.text.json_values", "vouching.models.json_fields"}
"""The plain reader, and the strict one."""


def raw_reads(tree: ast.AST) -> Iterator[int]:
    """The lines that name ``json.load`` or ``json.loads``, or import them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"json.loads", "json.load"}:
            yield node.lineno
        if isinstance(node, ast.ImportFrom) and node.module == "json":
            yield from (node.lineno for name in node.names if name.name in {"loads", "load"})


def test_only_the_readers_of_json_call_the_library() -> None:
    others = [one for one in library_modules() if one.name not in _READERS]
    assert [f"{one.path}:{line}" for one in others for line in raw_reads(one.tree)] == []


def test_a_raw_read_is_noticed() -> None:
    assert [*raw_reads(ast.parse("try:\n    found = json.loads(raw)\nexcept ValueError:\n    found = None\n"))] == [2]
    assert [*raw_reads(ast.parse("from json import loads"))] == [1]
    assert [*raw_reads(ast.parse("parse_json(raw)\njson.dumps(record)"))] == []
