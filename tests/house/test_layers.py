"""A module imports only from what stands above it: the direction of imports is the architecture."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.house.source_tree import ROOT, Module, all_modules, library_imports, library_modules

LAYERS = [
    "version",
    "lazy",
    "errors",
    "types",
    "prompts",
    "settings",
    "plugins",
    "text",
    "metrics",
    "perturb",
    "models",
    "encoder",
    "reading",
    "rows",
    "judging",
    "evaluation_events",
    "recording",
    "inputs",
    "search",
    "repair",
    "answering",
    "embedded",
    "rules",
    "retrieval",
    "methods",
    "claims",
    "report",
    "checker",
    "shortcuts",
    "evidence_windows",
    "bench",
    "train",
    "evolve",
    "ledger",
    "review",
    "scale",
    "client",
    "__init__",
    "integrations",
    "serve",
    "cli",
    "__main__",
]
"""First to last. "__init__" is the package's own front: nothing above it may import it."""

ROOMS = ["reply", "verify", "reward", "game", "config"]
"""Inside the folder of a method, first to last. Files of other names belong to the method alone and are not ordered."""

HEAVY = {"torch", "transformers", "trl", "peft", "accelerate", "datasets"}
"""What only training loads."""

IN_THIS_PROCESS = {
    "vouching.methods.discriminative.model",
    "vouching.methods.discriminative.published.classifiers",
    "vouching.methods.discriminative.published.hhem",
    "vouching.methods.discriminative.published.lettuce",
    "vouching.models.batching",
    "vouching.models.hub",
    "vouching.models.local",
    "vouching.models.vllm",
    "vouching.rows.hub",
    "vouching.search.vectors",
}
"""Models run in this process, or data sets read: the only modules outside train/ and integrations/ that may name torch
or datasets, in functions."""

LOADERS = {"import_module", "__import__", "needed", "need", "imported"}
"""Functions whose first argument names a module that is imported."""

BELOW = {"embedded", "rules"}
"""Methods without a language model: layers of their own, below the others."""

BY_NAME = {("discriminative", "structured")}
"""Methods that look another up in METHODS: FActScore by a language model asks for the label as `structured` does."""

REACHED_BY_NAME = {
    "vouching.rows.worker",
    "vouching.__main__",
    "vouching.ledger.migrations.env",
    "vouching.ledger.migrations.versions.r0004_tables",
}
"""Modules that a process is started with, or that Alembic runs."""


def layer_of(module: str) -> str:
    """Name of the layer of a dotted module name.

    >>> layer_of("vouching.text.dates"), layer_of("vouching.cli"), layer_of("vouching")
    ('text', 'cli', '__init__')
    """
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def method_of(module: str) -> str | None:
    """The method that a module belongs to.

    >>> method_of("vouching.methods.blinded.game"), method_of("vouching.methods.base"), method_of("vouching.text.dates")
    ('blinded', None, None)
    """
    parts = module.split(".")
    is_method = parts[1:2] == ["methods"] and (PACKAGE_OF_METHODS / parts[2]).is_dir() if len(parts) > 2 else False
    return parts[2] if is_method else None


PACKAGE_OF_METHODS = Path(__file__).resolve().parents[2] / "src/vouching/methods"


def upward_imports(modules: tuple[Module, ...]) -> list[str]:
    """Imports of a later layer by an earlier one, as sentences."""
    return [
        f"{found.importer}:{found.line} imports {found.imported}: {layer_of(found.imported)!r} comes after "
        f"{layer_of(found.importer)!r}; pass in what is needed instead"
        for found in library_imports(modules)
        if LAYERS.index(layer_of(found.imported)) > LAYERS.index(layer_of(found.importer))
    ]


def imports_between_methods(modules: tuple[Module, ...]) -> list[str]:
    """Imports of one method by another."""
    pairs = ((found, method_of(found.importer), method_of(found.imported)) for found in library_imports(modules))
    wrong = [
        f"{found.importer}:{found.line} imports {found.imported}: what two methods share belongs into judging/"
        for found, importer, imported in pairs
        if importer and imported and importer != imported
    ]
    for module in modules:
        importer = method_of(module.name)
        for line, imported in _methods_by_name(module.tree) if importer else ():
            if imported not in (importer, *BELOW) and (importer, imported) not in BY_NAME:
                wrong.append(f"{module.name}:{line} loads the method {imported} by its name")
    return wrong


def imports_against_the_rooms(modules: tuple[Module, ...]) -> list[str]:
    """Imports of a later room by an earlier one inside a method."""
    wrong: list[str] = []
    for found in library_imports(modules):
        rooms = [name.split(".")[-1] for name in (found.importer, found.imported)]
        if method_of(found.importer) != method_of(found.imported) or not set(rooms) <= set(ROOMS):
            continue
        if method_of(found.importer) and ROOMS.index(rooms[1]) > ROOMS.index(rooms[0]):
            wrong.append(f"{found.importer}:{found.line} imports {found.imported}")
    return wrong


def import_cycle(modules: tuple[Module, ...]) -> list[str]:
    """A ring of modules that import each other, inside functions and for types too; empty if there is none."""
    graph: dict[str, set[str]] = {}
    for found in library_imports(modules):
        if layer_of(found.imported) != "__init__" and found.imported != found.importer:
            graph.setdefault(found.importer, set()).add(found.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def heavy_imports(modules: tuple[Module, ...]) -> list[str]:
    """Where an engine of training is imported outside train/ and integrations/, or loaded with the module there."""
    wrong: list[str] = []
    for module in modules:
        if layer_of(module.name) in {"train", "integrations"} or module.name in IN_THIS_PROCESS:
            continue
        for node in ast.walk(module.tree):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += _loaded(node)
            wrong += [f"{module.name}:{node.lineno} {name}" for name in names if name.split(".")[0] in HEAVY]
    return wrong


def unreached(modules: tuple[Module, ...], others: tuple[Module, ...], pages: Iterable[str] = ()) -> set[str]:
    """Modules that neither the command line, a public name, an adapter, a page of the docs nor a recipe leads to."""
    by_name = {module.name: module for module in modules}
    edges: dict[str, set[str]] = {}
    for found in library_imports(modules):
        edges.setdefault(found.importer, set()).add(found.imported)
    for module in modules:  # what is loaded by name: "vouching.methods.blinded.verify:open_audit"
        edges.setdefault(module.name, set()).update(_named(module.tree, by_name))
    starts = {"vouching", "vouching.cli.app", *REACHED_BY_NAME}
    starts |= {name for name in by_name if layer_of(name) == "integrations"}
    starts |= {name for module in others for name in (*_imported(module.tree, by_name), *_named(module.tree, by_name))}
    starts |= {name for page in pages for name in re.findall(r"from (vouching(?:\.\w+)+) import", page)}
    seen: set[str] = set()
    todo = [name for name in starts if name in by_name]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [to for to in edges.get(name, ()) if to in by_name]
    return {name for name, module in by_name.items() if name not in seen and not module.is_package}


def _named(tree: ast.AST, known: dict[str, Module]) -> Iterator[str]:
    for node in _strings(tree):
        for found in re.findall(r"vouching(?:\.\w+)+", node.value) if len(node.value) < 200 else ():
            if found in known:
                yield found


def _strings(tree: ast.AST) -> Iterator[ast.Constant]:
    """The string constants of a module that are not docstrings, nor texts that stand alone below a name."""
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            yield node


def _methods_by_name(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Methods that a module names in a string with a module, or takes out of METHODS, with the line."""
    for node in _strings(tree):
        for found in re.findall(r"vouching(?:\.\w+)+", node.value):
            if method := method_of(found):
                yield node.lineno, method
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).split(".")[-1] == "METHODS":
            yield (
                node.lineno,
                str(node.slice.value) if isinstance(node.slice, ast.Constant) else ast.unparse(node.slice),
            )


def _loaded(node: ast.AST) -> list[str]:
    """The modules that ``import_module("torch")`` loads, or ``(need(name) for name in ("torch", "peft"))``."""
    if isinstance(node, ast.Call) and _is_loader(node):
        named: list[ast.expr] = node.args[:1]
    elif isinstance(node, ast.GeneratorExp | ast.ListComp) and isinstance(node.elt, ast.Call) and _is_loader(node.elt):
        named = [
            one for loop in node.generators if isinstance(loop.iter, ast.Tuple | ast.List) for one in loop.iter.elts
        ]
    else:
        return []
    return [one.value for one in named if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _is_loader(call: ast.Call) -> bool:
    return ast.unparse(call.func).split(".")[-1] in LOADERS


def _imported(tree: ast.AST, known: dict[str, Module]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (
                name for name in (node.module, *(f"{node.module}.{a.name}" for a in node.names)) if name in known
            )


def parsed(**code_by_name: str) -> tuple[Module, ...]:
    """Modules from code, named by their layer (``a__b`` is a.b): the material of the tests of the tests."""
    names = {name: "vouching." + name.replace("__", ".") for name in code_by_name}
    return tuple(Module(names[name], Path(f"{name}.py"), ast.parse(code)) for name, code in code_by_name.items())


def test_every_module_belongs_to_a_layer() -> None:
    homeless = {m.name for m in library_modules() if layer_of(m.name) not in LAYERS}
    assert not homeless, f"add these to LAYERS, where they belong: {sorted(homeless)}"


def test_no_module_imports_from_a_later_layer() -> None:
    assert upward_imports(library_modules()) == []


def test_methods_do_not_import_each_other() -> None:
    assert imports_between_methods(library_modules()) == []


def test_inside_a_method_the_reply_comes_before_the_verifier_the_reward_the_game_and_the_settings() -> None:
    assert imports_against_the_rooms(library_modules()) == []


def test_no_modules_import_each_other_in_a_ring() -> None:
    assert import_cycle(library_modules()) == []


def test_torch_is_named_in_training_and_integrations_only() -> None:
    assert heavy_imports(library_modules()) == []


def test_every_module_is_reached_from_a_command_a_public_name_a_page_or_a_recipe() -> None:
    others = tuple(m for m in all_modules() if m.name.startswith(("recipes", "examples")))
    pages = (path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert unreached(library_modules(), others, pages) == set()


def test_an_import_of_a_later_layer_is_found_inside_a_function_too() -> None:
    modules = parsed(text="def f():\n    from vouching.checker import check\n", checker="")
    assert len(upward_imports(modules)) == 1


def test_an_import_of_an_earlier_layer_is_allowed() -> None:
    assert upward_imports(parsed(checker="from vouching import text\nimport vouching.text\n", text="")) == []


def test_a_relative_import_counts_as_what_it_names() -> None:
    assert len(upward_imports(parsed(text="from .checker import check\n", checker=""))) == 1


def test_an_import_inside_a_function_makes_a_ring_too() -> None:
    assert import_cycle(parsed(text="import vouching.metrics\n", metrics="def f():\n    import vouching.text\n")) != []
    assert import_cycle(parsed(text="import vouching.metrics\n", metrics="")) == []


def test_a_method_that_imports_another_is_found() -> None:
    code = "from vouching.methods.checklist.verify import x\n"
    modules = parsed(methods__blinded__verify=code, methods__checklist__verify="x = 1")
    assert len(imports_between_methods(modules)) == 1


def test_a_verifier_that_imports_its_game_is_found() -> None:
    modules = parsed(
        methods__blinded__verify="from vouching.methods.blinded.game import x\n", methods__blinded__game=""
    )
    assert len(imports_against_the_rooms(modules)) == 1


def test_a_module_that_nothing_leads_to_is_found() -> None:
    modules = parsed(cli__app="import vouching.text\n", text="", metrics="")
    assert unreached(modules, ()) == {"vouching.metrics"}


def test_a_method_that_loads_another_by_its_name_is_found() -> None:
    loads = (
        'import importlib\n\ndef f():\n    importlib.import_module("vouching.methods.checklist.verify")\n',
        'def f():\n    return METHODS["checklist"].load("verifier")\n',
        'PLACE = "vouching.methods.checklist.verify:open_checklist"\n',
    )
    for code in loads:
        assert len(imports_between_methods(parsed(methods__blinded__verify=code))) == 1
    allowed = '"""As vouching.methods.checklist.verify does."""\nMETHODS["blinded"]\nMETHODS["rules"]\n'
    assert imports_between_methods(parsed(methods__blinded__verify=allowed)) == []


def test_torch_that_is_loaded_by_its_name_is_found() -> None:
    for call in (
        'import_module("torch")',
        'importlib.import_module("torch.nn")',
        'need("transformers")',
        '[need(name) for name in ("torch",)]',
    ):
        assert len(heavy_imports(parsed(methods__blinded__verify=f"def f():\n    return {call}\n"))) == 1
    assert heavy_imports(parsed(methods__blinded__verify='kind = "torch"\nimport_module(kind)\n')) == []


def test_a_module_that_only_a_docstring_names_is_not_reached() -> None:
    docstring = '"""See vouching.metrics."""\nx = 1\n"""Or :mod:`vouching.metrics`."""\n'
    assert unreached(parsed(cli__app=docstring, metrics=""), ()) == {"vouching.metrics"}
    assert unreached(parsed(cli__app='PLACE = "vouching.metrics:name"\n', metrics=""), ()) == set()
