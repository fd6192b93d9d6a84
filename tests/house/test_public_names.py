"""What a user can see is documented, with an example that runs."""

from __future__ import annotations

import ast
import inspect
import types

import pytest

import vouching
from tests.house.source_tree import Module, classes, fields_of, is_dataclass, library_modules

PUBLIC = {name: getattr(vouching, name) for name in getattr(vouching, "__all__", [])}
"""Every public name; the package may load them lazily."""

METHODS = (types.FunctionType, property, classmethod, staticmethod)


def _needs_example(thing: object) -> bool:
    """Whether the thing is a function or a class to call; an error is only raised, a constant only read."""
    if inspect.isclass(thing):
        return not issubclass(thing, BaseException)
    return isinstance(thing, types.FunctionType)


def test_vouching_names_what_is_public() -> None:
    assert PUBLIC, "vouching.__all__ is missing or empty"
    assert len(PUBLIC) == len(set(vouching.__all__))


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if _needs_example(thing)])
def test_a_public_name_has_a_docstring_with_an_example(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert ">>>" in text, f"vouching.{name}: its docstring should end with a runnable >>> example"


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if inspect.isclass(thing)])
def test_every_public_method_of_a_public_class_has_a_docstring(name: str) -> None:
    methods = {
        key: member
        for key, member in vars(PUBLIC[name]).items()
        if not key.startswith("_") and isinstance(member, METHODS)
    }
    assert [key for key, method in methods.items() if not method.__doc__] == []


def test_every_field_of_every_type_has_a_docstring_beneath_it() -> None:
    types_modules = tuple(m for m in library_modules() if m.name.startswith("vouching.types"))
    assert undocumented_fields(types_modules) == []


def undocumented_fields(modules: tuple[Module, ...]) -> list[str]:
    """Dataclass fields that no string follows."""
    found: list[str] = []
    for module in modules:
        for node in filter(is_dataclass, classes(module.tree)):
            documented = {id(a) for a, b in zip(node.body, node.body[1:], strict=False) if _is_string(b)}
            bare = [field for field in fields_of(node) if id(field) not in documented]
            found += [f"{module.name}:{node.name}.{ast.unparse(field.target)}" for field in bare]
    return found


def _is_string(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
