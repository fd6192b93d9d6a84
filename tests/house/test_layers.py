"""A module imports only from layers above its own: the direction of imports is the architecture."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.house.source_tree import Module, library_imports, library_modules

LAYERS = [
    "version", "errors", "types", "prompts", "text", "metrics", "perturb", "models", "encoder", "batch", "inputs",
    "search", "evidence", "verifiers", "claims", "report", "repair", "checker", "answering", "shortcuts", "rewards",
    "advantages", "games", "bench", "train", "fit", "evolve", "worlds", "ledger", "__init__", "integrations",
    "serve", "commands", "cli", "__main__",
]  # fmt: skip
"""First to last. "__init__" is the package's own front: what stands before it may not lean on it."""


def layer_of(module: str) -> str:
    """Name of the layer of a dotted module name.

    >>> layer_of("vouching.text.dates"), layer_of("vouching.cli.app"), layer_of("vouching")
    ('text', 'cli', '__init__')
    """
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def upward_imports(modules: tuple[Module, ...]) -> list[str]:
    """Imports of a later layer by an earlier one, as sentences."""
    return [
        f"{found.importer}:{found.line} imports {found.imported}: {layer_of(found.imported)!r} comes after "
        f"{layer_of(found.importer)!r}; pass in what is needed instead"
        for found in library_imports(modules)
        if LAYERS.index(layer_of(found.imported)) > LAYERS.index(layer_of(found.importer))
    ]


def import_cycle(modules: tuple[Module, ...]) -> list[str]:
    """A ring of modules that import each other when they are loaded; empty if there is none."""
    graph: dict[str, set[str]] = {}
    for found in library_imports(modules):
        if found.at_top_level:
            graph.setdefault(found.importer, set()).add(found.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def parsed(**code_by_name: str) -> tuple[Module, ...]:
    """Modules from code, named by their layer: the material of the tests of the tests."""
    return tuple(Module(f"vouching.{name}", Path(f"{name}.py"), ast.parse(code)) for name, code in code_by_name.items())


def test_every_module_belongs_to_a_layer() -> None:
    homeless = {m.name for m in library_modules() if layer_of(m.name) not in LAYERS}
    assert not homeless, f"add these to LAYERS, where they belong: {sorted(homeless)}"


def test_no_module_imports_from_a_later_layer() -> None:
    assert upward_imports(library_modules()) == []


def test_no_modules_import_each_other_in_a_ring() -> None:
    assert import_cycle(library_modules()) == []


def test_an_import_of_a_later_layer_is_found_inside_a_function_too() -> None:
    modules = parsed(text="def f():\n    from vouching.checker import check\n", checker="")
    assert len(upward_imports(modules)) == 1


def test_an_import_of_an_earlier_layer_is_allowed() -> None:
    assert upward_imports(parsed(checker="from vouching import text\nimport vouching.text\n", text="")) == []


def test_a_relative_import_counts_as_what_it_names() -> None:
    assert len(upward_imports(parsed(text="from .checker import check\n", checker=""))) == 1


def test_an_import_inside_a_function_makes_no_ring() -> None:
    ring = parsed(text="import vouching.metrics\n", metrics="import vouching.text\n")
    lazy = parsed(text="import vouching.metrics\n", metrics="def f():\n    import vouching.text\n")
    assert import_cycle(ring) != []
    assert import_cycle(lazy) == []
