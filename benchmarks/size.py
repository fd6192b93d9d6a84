"""How large the package is: lines, lines of code, files, files of each method, options of each command.

Usage: python benchmarks/size.py [PACKAGE]   (the folder src/vouching of any checkout; default: this one's)

A line of code contains a token that is neither a comment nor part of a docstring. The files of a method are those in
its folder, or those whose names start with its name.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src/vouching"
METHODS = ("embedded", "rules", "structured", "discriminative", "checklist", "blinded", "assurance")
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER}
OPTIONS = """
import sys
from collections import Counter
from importlib import import_module
try:
    app = import_module("vouching.cli.app").app
except ModuleNotFoundError:
    app = import_module("vouching.cli").app
from typer.main import get_command
def walk(command, name):
    children = getattr(command, "commands", {})
    if not children:
        shown = [o for o in command.params if o.param_type_name == "option" and "--help" not in o.opts]
        print(name, len(shown), sep="\\t")
    for key, child in children.items():
        walk(child, f"{name} {key}".strip())
walk(get_command(app), "")
"""


def code_lines(text: str) -> int:
    """Lines that hold code.

    >>> code_lines('"Says what it does."' + chr(10) + "x = 1  # why" + chr(10))
    1
    """
    documents: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documents.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - documents)


def method_of(path: Path) -> str | None:
    """The method that a file of the package belongs to, by its folder or by the start of its name."""
    for part in path.parts:
        found = next((name for name in METHODS if part == name or part.startswith((f"{name}_", f"{name}."))), None)
        if found and path.parts[0] not in {"types", "bench", "cli", "commands"}:
            return found
    return None


def main() -> None:
    """Print the counts."""
    package = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE
    texts = {path.relative_to(package): path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    print(f"files {len(texts)}, lines {sum(t.count(chr(10)) for t in texts.values()):,}", end=", ")
    print(f"lines of code {sum(map(code_lines, texts.values())):,}")
    print(f"files of at most 133 lines {sum(t.count(chr(10)) <= 133 for t in texts.values())}")
    files = Counter(name for path in texts if (name := method_of(path)))
    folders = {name: {path.parent for path in texts if method_of(path) == name} for name in files}
    for name in METHODS:
        print(f"{name}: {files[name]} files in {len(folders.get(name, ()))} folders")
    program = [sys.executable, "-c", OPTIONS]
    shown = subprocess.run(program, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(package.parent)})
    counts = [line.split("\t") for line in shown.stdout.splitlines()]
    print(f"{len(counts)} commands, {sum(int(n) for _, n in counts)} options:")
    print(", ".join(f"{name} {n}" for name, n in sorted(counts, key=lambda found: -int(found[1]))))


if __name__ == "__main__":
    main()
