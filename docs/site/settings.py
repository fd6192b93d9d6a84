"""Hook of mkdocs: a line ``::: settings MODULE.CLASS [in TABLE]`` becomes a table of the fields of a dataclass.

Names, defaults, types and docstrings are read from the source; nothing is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import griffe

SOURCES = Path(__file__).resolve().parents[2] / "src"
PLACE = re.compile(r"^::: settings ([\w.]+)(?: in (\w+))?$", re.MULTILINE)
VALUES = {
    "bool": "true, false", "float": "number", "int": "whole number", "str": "text", "tuple[str, ...]": "list of texts",
    "tuple[int, ...]": "list of whole numbers", "tuple[float, float]": "two numbers",
}  # fmt: skip
"""How a type is called in a TOML file; anything else is a table."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the tables of settings into a page."""
    return PLACE.sub(lambda found: "\n".join(table(found[1], found[2] or "")), markdown)


def table(path: str, inside: str) -> Iterator[str]:
    """The settings of a dataclass, each named with the table that it is in; tables themselves have their own."""
    yield from ("| setting | default | values | meaning |", "| -- | -- | -- | -- |")
    for one in settings(path):
        default = "required" if one.value is None else f"`{toml(one.value, one)}`"
        meaning = " ".join(one.docstring.value.split()) if one.docstring else ""
        name = f"{inside}.{one.name}" if inside else one.name
        yield f"| `{name}` | {default} | {values(one)} | {meaning} |".replace("``", "`")


def settings(path: str) -> list[griffe.Attribute]:
    """The fields of a dataclass, in order. Raises KeyError if there is no such class."""
    members = library()[path.removeprefix("vouching.")].members.values()
    fields = [one for one in members if one.is_attribute and one.annotation and "instance-attribute" in one.labels]
    return [one for one in fields if not isinstance(named(one.annotation, one), griffe.Class)]


@cache
def library() -> griffe.Module:
    """The package, read but not imported."""
    return griffe.load("vouching", search_paths=[str(SOURCES)])


def named(said: Any, where: griffe.Attribute) -> griffe.Object | None:
    """What a name means in the module of a setting; None for an expression, or a name of another package."""
    if not re.fullmatch(r"[A-Z]\w+", str(said)) or str(said) in ("True", "False", "None"):
        return None
    path = where.parent.resolve(str(said))
    return library()[path.removeprefix("vouching.")] if path.startswith("vouching.") else None


def toml(value: Any, where: griffe.Attribute) -> str:
    """A default as it is written in a TOML file."""
    constant = named(value, where)
    said = str(value if constant is None else constant.value)
    if said.startswith("field(default_factory=dict"):
        return "{}"
    if said in ("True", "False"):
        return said.lower()
    return re.sub(r"^\((.*?),?\)$", r"[\1]", said).replace("'", '"')


def values(one: griffe.Attribute) -> str:
    """What a setting may be."""
    said = str(one.annotation)
    if choices := [*choices_of(said.removeprefix("tuple[").removesuffix(", ...]"), one)]:
        return ("list of " if said.startswith("tuple") else "") + ", ".join(f"`{choice}`" for choice in choices)
    return VALUES.get(said, "table")


def choices_of(said: str, where: griffe.Attribute) -> Iterator[str]:
    """The texts that a type allows, also those of the types that it names; none for a type of any text."""
    if (alias := named(said, where)) is not None:
        yield from choices_of(str(alias.value), alias)
    elif found := re.fullmatch(r"Literal\[(.*)\]", said, re.DOTALL):
        for text, name in re.findall(r"['\"](.*?)['\"]|(\w+)", found[1]):
            yield from [text] if text else choices_of(name, where)
