"""The library's own source as syntax trees: what the house tests walk over."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "vouching"


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file, parsed."""

    name: str
    """Dotted name for a module of the library ("vouching.text.dates"), the path below the root for other files."""
    path: Path
    """Where the file lies."""
    tree: ast.Module
    """Its syntax tree."""

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"


@dataclass(frozen=True, slots=True)
class Import:
    """One import of a module of the library by another."""

    importer: str
    """Dotted name of the module that imports."""
    imported: str
    """Dotted name of the module that is imported."""
    at_top_level: bool
    """True if it runs when the importer is loaded."""
    line: int
    """Line of the statement."""


@cache
def library_modules() -> tuple[Module, ...]:
    """Every module of src/vouching, by name."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return tuple(Module(_dotted_name(path), path, ast.parse(path.read_bytes())) for path in paths)


@cache
def all_modules() -> tuple[Module, ...]:
    """Every Python file that this repository keeps."""
    folders = ("src", "tests", "benchmarks", "examples", "recipes")
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return tuple(Module(str(path.relative_to(ROOT)), path, ast.parse(path.read_bytes())) for path in paths)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method, nested ones included."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    """Every class, nested ones included."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def fields_of(node: ast.ClassDef) -> list[ast.AnnAssign]:
    """The annotated names in a class body: its fields, if it is a dataclass."""
    return [statement for statement in node.body if isinstance(statement, ast.AnnAssign)]


def is_dataclass(node: ast.ClassDef) -> bool:
    """Whether the class carries the dataclass decorator."""
    return any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)


def library_imports(modules: tuple[Module, ...]) -> list[Import]:
    """Every import of one module of the library by another; imports inside functions count too."""
    known = {module.name for module in modules}
    found: list[Import] = []
    for module in modules:
        at_top = {id(node) for node in _top_level_nodes(module.tree)}
        for node in ast.walk(module.tree):
            for target in _targets(node, module, known):
                found.append(Import(module.name, target, id(node) in at_top, getattr(node, "lineno", 0)))
    return found


def _dotted_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _top_level_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """What runs on import: not the bodies of functions, and not what only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _top_level_nodes(node)


def _targets(node: ast.AST, module: Module, known: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "vouching")
    if not isinstance(node, ast.ImportFrom):
        return
    base = node.module or ""
    if node.level:
        package = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
        kept = package[: len(package) - node.level + 1]
        base = ".".join([*kept, base] if base else kept)
    if base.split(".")[0] != "vouching":
        return
    for alias in node.names:
        submodule = f"{base}.{alias.name}"
        yield submodule if submodule in known else base
