"""The expression language of executable rules: arithmetic, comparisons, lookup and conditionals over JSON. No ``eval``.

Python's parser reads it, but no Python runs: a tree of the few node types below is checked once and interpreted by
``evaluate.py``. A dot and a bracket look into JSON objects and lists, never into attributes of Python objects; the only
calls are those of ``FUNCTIONS``.

    data.w2[0].wages                            the task's input
    unit["1a"] or unit.total                    a submitted value; the unit must depend on that one
    table.limits[data.city]                     a table of the task
    value                                       the proposal; only in a check
    sum(i.amount for i in data.items if i.kind == "meal")
    min(a, b)  max(a, b)  a if a > b else b  a == b and not c  x in ["a", "b"]

Not supported: powers, building strings, slices, assignment, nested ``for``, and everything else not shown above.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from keyword import iskeyword
from math import inf

from vouching.errors import InputError

LONGEST = 2_000
"""Characters of an expression."""
MAX_NODES = 500
DEEPEST = 40
"""Levels of nesting."""
ROOTS = frozenset({"data", "unit", "table", "value"})
"""Names that are always defined."""
FUNCTIONS: dict[str, tuple[int, int]] = {
    "abs": (1, 1),
    "all": (1, 1),
    "amount": (1, 1),
    "any": (1, 1),
    "band": (2, 2),
    "ceil": (1, 1),
    "count": (1, 1),
    "days": (2, 2),
    "default": (2, 2),
    "floor": (1, 1),
    "has": (1, 1),
    "max": (1, 20),
    "min": (1, 20),
    "round": (1, 2),
    "sum": (1, 1),
}
"""The functions, with their minimum and maximum number of arguments."""
LOOPS = frozenset({"all", "any", "count", "max", "min", "sum"})
"""Functions that take ``... for x in list`` as their one argument."""
_PLAIN = (
    ast.Name,
    ast.Attribute,
    ast.Constant,
    ast.IfExp,
    ast.List,
    ast.Tuple,
    ast.BoolOp,
    ast.And,
    ast.Or,
    ast.UnaryOp,
    ast.USub,
    ast.UAdd,
    ast.Not,
    ast.Load,
    ast.BinOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Compare,
    ast.Eq,
    ast.NotEq,
    ast.Lt,
    ast.LtE,
    ast.Gt,
    ast.GtE,
    ast.In,
    ast.NotIn,
)


class ExpressionError(InputError):
    """An expression that cannot be parsed, or has no value for these inputs."""


class MissingValueError(ExpressionError):
    """It refers to something that does not exist; ``default`` and ``has`` deal with that."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression."""

    text: str
    tree: ast.expr
    units: frozenset[str]
    """Ids of the units that it reads."""
    asks_value: bool
    """Whether it refers to ``value``, the proposal."""


@lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Parse and check an expression. Raises ExpressionError if it is not one of this language, or is too large.

    >>> sorted(parse("max(0, unit.agi - unit['12'])").units)
    ['12', 'agi']
    >>> parse("data.__class__")
    Traceback (most recent call last):
    ...
    vouching.methods.assurance.expression.ExpressionError: 'data.__class__': a name must not begin with _, got __class__
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"the expression has {len(text):,} characters, more than the limit of {LONGEST:,}")
    shown = repr(text if len(text) <= 80 else f"{text[:80]}...")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = error.msg if isinstance(error, SyntaxError) else "the text is nested too deeply or is invalid"
        raise ExpressionError(f"{shown} is not an expression: {why}{_hint(text)}") from None
    checker = _Checker()
    try:
        checker.check(tree, frozenset(), 1)
    except ExpressionError as error:
        raise ExpressionError(f"{shown}: {error}") from None
    return Expression(text, tree, frozenset(checker.units), checker.asks_value)


def _hint(text: str) -> str:
    """A suggestion for a text that is not an expression."""
    for word in re.findall(r"\.\s*([A-Za-z]+)", text):
        if iskeyword(word):
            return f'; "{word}" cannot follow a dot, write ["{word}"]'
    if not text.strip():
        return "; omit the field if there is no expression"
    meant = {r"&&|\|\||!(?!=)": "; use and, or, not instead", r"(?<![=<>!])=(?!=)": "; use == to test equality"}
    return next((words for sign, words in meant.items() if re.search(sign, text)), "")


class _Checker:
    """Walks a tree once and refuses what is not part of the language."""

    def __init__(self) -> None:
        self.units: set[str] = set()
        self.asks_value = False
        self._nodes = 0

    def check(self, node: ast.AST, names: frozenset[str], depth: int) -> None:
        """Check a node and its children; ``names`` are the variables of the enclosing loops."""
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > DEEPEST:
            raise ExpressionError(f"the expression has more than {MAX_NODES} parts or {DEEPEST} levels: split it")
        for child in self._children(node, names):
            self.check(child, names, depth + 1)
        if isinstance(node, ast.Call):
            self._check_call(node, names, depth)

    def _children(self, node: ast.AST, names: frozenset[str]) -> Iterator[ast.AST]:
        """The children that are still to be checked."""
        match node:
            case ast.Call():
                return
            case ast.Attribute(value=ast.Name(id="unit"), attr=name):
                self.units.add(_public(name))
                return
            case ast.Subscript(value=ast.Name(id="unit"), slice=index):
                if not (isinstance(index, ast.Constant) and isinstance(index.value, str)):
                    raise ExpressionError('unit must be indexed with a string, as in unit["1a"]')
                self.units.add(index.value)
                return
            case ast.Subscript(slice=ast.Slice()):
                raise ExpressionError("slices are not supported in expressions")
            case ast.Name(id=name):
                self._check_name(name, names)
            case ast.Attribute(attr=name):
                _public(name)
            case ast.Constant(value=value):
                if not isinstance(value, str | int | float) or value in (inf, -inf):
                    raise ExpressionError(f"{value!r} is not a number, a string, True or False")
            case ast.Subscript():
                pass
            case _ if not isinstance(node, _PLAIN):
                raise ExpressionError(f"{_kind(node)} is not supported in expressions")
            case _:
                pass
        yield from (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context))

    def _check_name(self, name: str, names: frozenset[str]) -> None:
        if name == "unit":
            raise ExpressionError('unit is not a value: choose one unit, as in unit["1a"]')
        if name not in ROOTS and name not in names:
            known = ", ".join(sorted({*ROOTS, *names}))
            more = " (a function, which must be called)" if name in FUNCTIONS else ""
            raise ExpressionError(f"unknown name {name}{more}; expected one of {known}")
        self.asks_value |= name == "value"

    def _check_call(self, node: ast.Call, names: frozenset[str], depth: int) -> None:
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            raise ExpressionError(f"{ast.unparse(node.func)[:40]} cannot be called; use one of {', '.join(FUNCTIONS)}")
        name, (fewest, most) = node.func.id, FUNCTIONS[node.func.id]
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise ExpressionError(f"{name} takes positional arguments only")
        if not fewest <= len(node.args) <= most:
            expected = f"{fewest}" if fewest == most else f"{fewest} to {most}"
            raise ExpressionError(f"{name} got {len(node.args)} arguments, expected {expected}")
        for argument in node.args:
            if isinstance(argument, ast.GeneratorExp):
                if name not in LOOPS or len(node.args) > 1:
                    raise ExpressionError(
                        f"{name} does not accept a loop; a loop can be the only argument of: {', '.join(sorted(LOOPS))}"
                    )
                self._check_loop(argument, names, depth + 1)
            else:
                self.check(argument, names, depth + 1)

    def _check_loop(self, loop: ast.GeneratorExp, names: frozenset[str], depth: int) -> None:
        if len(loop.generators) > 1 or loop.generators[0].is_async:
            raise ExpressionError("a loop must have exactly one 'for'")
        [part] = loop.generators
        if not isinstance(part.target, ast.Name):
            raise ExpressionError("a loop must have exactly one variable")
        variable = _public(part.target.id)
        if variable in ROOTS or variable in FUNCTIONS or variable in names:
            raise ExpressionError(f"a loop variable must have a new name, got {variable}")
        self.check(part.iter, names, depth)
        inside = names | {variable}
        for inner in (*part.ifs, loop.elt):
            self.check(inner, inside, depth)


def _public(name: str) -> str:
    if name.startswith("_"):
        raise ExpressionError(f"a name must not begin with _, got {name}")
    return name


def _kind(node: ast.AST) -> str:
    return {"Pow": "** (power)", "GeneratorExp": "a loop outside a function", "JoinedStr": "an f-string"}.get(
        type(node).__name__, type(node).__name__
    )
