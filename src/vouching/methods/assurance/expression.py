"""The language that executable rules are written in: arithmetic, comparisons, look-up and if, over JSON. No ``eval``.

It looks like Python and is read by Python's parser, but nothing of Python runs: a tree of the few kinds of node below
is checked once and walked by ``assurance_evaluate``. A dot and a bracket look into JSON objects and lists and reach no
attribute of any Python object; the only calls are those of ``FUNCTIONS``.

    data.w2[0].wages                            the task's input
    unit["1a"] or unit.total                    a submitted value; the unit must depend on that one
    table.limits[data.city]                     a table of the task
    value                                       the proposal; only where a rule checks one
    sum(i.amount for i in data.items if i.kind == "meal")
    min(a, b)  max(a, b)  a if a > b else b  a == b and not c  x in ["a", "b"]

Left out: power, text building, slices, assignment, several ``for`` in one loop, and whatever else is not above.
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
"""Parts of an expression."""
DEEPEST = 40
"""How deep parts may lie in each other."""
ROOTS = frozenset({"data", "unit", "table", "value"})
"""Names that mean something everywhere."""
FUNCTIONS: dict[str, tuple[int, int]] = {
    "abs": (1, 1), "all": (1, 1), "amount": (1, 1), "any": (1, 1), "band": (2, 2), "ceil": (1, 1), "count": (1, 1),
    "days": (2, 2), "default": (2, 2), "floor": (1, 1), "has": (1, 1), "max": (1, 20), "min": (1, 20), "round": (1, 2),
    "sum": (1, 1),
}  # fmt: skip
"""What can be called, with the least and the greatest number of arguments."""
LOOPS = frozenset({"all", "any", "count", "max", "min", "sum"})
"""Functions that take ``... for x in list`` as their one argument."""
_PLAIN = (
    ast.Name, ast.Attribute, ast.Constant, ast.IfExp, ast.List, ast.Tuple,
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.USub, ast.UAdd, ast.Not, ast.Load,
    ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod,
    ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
)  # fmt: skip


class ExpressionError(InputError):
    """An expression that cannot be read, or has no value for these inputs."""


class MissingValueError(ExpressionError):
    """It looks for something that is not there; ``default`` and ``has`` deal with that."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression."""

    text: str
    """As written."""
    tree: ast.expr
    """The checked tree."""
    units: frozenset[str]
    """Ids of the units that it reads."""
    asks_value: bool
    """Whether it is about a proposal, ``value``."""


@lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Read and check an expression.

    Raises:
        ExpressionError: it is no expression, is too long or too deep, or has a part that the language does not have.

    >>> sorted(parse("max(0, unit.agi - unit['12'])").units)
    ['12', 'agi']
    >>> parse("data.__class__")
    Traceback (most recent call last):
    ...
    vouching.methods.assurance.expression.ExpressionError: 'data.__class__': a name may not begin with _: __class__
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"the expression has {len(text):,} characters, at most {LONGEST:,} are read")
    shown = repr(text if len(text) <= 80 else f"{text[:80]}...")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = error.msg if isinstance(error, SyntaxError) else "it is too deep or holds what is no text"
        raise ExpressionError(f"{shown} is no expression: {why}{_hint(text)}") from None
    checker = _Checker()
    try:
        checker.check(tree, frozenset(), 1)
    except ExpressionError as error:
        raise ExpressionError(f"{shown}: {error}") from None
    return Expression(text, tree, frozenset(checker.units), checker.asks_value)


def _hint(text: str) -> str:
    """What was perhaps meant by a text that is no expression.

    >>> _hint("table.class[x]"), _hint("value = 3")
    ('; "class" cannot follow a dot, write ["class"]', '; equal is ==')
    """
    for word in re.findall(r"\.\s*([A-Za-z]+)", text):
        if iskeyword(word):
            return f'; "{word}" cannot follow a dot, write ["{word}"]'
    if not text.strip():
        return "; leave the field out where there is none"
    meant = {r"&&|\|\||!(?!=)": "; write and, or, not", r"(?<![=<>!])=(?!=)": "; equal is =="}
    return next((words for sign, words in meant.items() if re.search(sign, text)), "")


class _Checker:
    """Walks a tree once and refuses what the language does not have."""

    def __init__(self) -> None:
        self.units: set[str] = set()
        self.asks_value = False
        self._nodes = 0

    def check(self, node: ast.AST, names: frozenset[str], depth: int) -> None:
        """Check a node and what lies in it; ``names`` are the variables of the loops around it."""
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > DEEPEST:
            raise ExpressionError(f"it has more than {MAX_NODES} parts, or parts more than {DEEPEST} deep: split it")
        for child in self._children(node, names):
            self.check(child, names, depth + 1)
        if isinstance(node, ast.Call):
            self._check_call(node, names, depth)

    def _children(self, node: ast.AST, names: frozenset[str]) -> Iterator[ast.AST]:
        """What is left to check in a node."""
        match node:
            case ast.Call():
                return
            case ast.Attribute(value=ast.Name(id="unit"), attr=name):
                self.units.add(_public(name))
                return
            case ast.Subscript(value=ast.Name(id="unit"), slice=index):
                if not (isinstance(index, ast.Constant) and isinstance(index.value, str)):
                    raise ExpressionError('a unit is named in full, as in unit["1a"]')
                self.units.add(index.value)
                return
            case ast.Subscript(slice=ast.Slice()):
                raise ExpressionError("slices are not part of the language")
            case ast.Name(id=name):
                self._check_name(name, names)
            case ast.Attribute(attr=name):
                _public(name)
            case ast.Constant(value=value):
                if not isinstance(value, str | int | float) or value in (inf, -inf):
                    raise ExpressionError(f"{value!r} is neither a number nor a text nor True or False")
            case ast.Subscript():
                pass
            case _ if not isinstance(node, _PLAIN):
                raise ExpressionError(f"{_kind(node)} is not part of the language")
            case _:
                pass
        yield from (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context))

    def _check_name(self, name: str, names: frozenset[str]) -> None:
        if name == "unit":
            raise ExpressionError('unit is not a value; name one, as in unit["1a"]')
        if name not in ROOTS and name not in names:
            known = ", ".join(sorted({*ROOTS, *names}))
            more = "; it is a function, call it" if name in FUNCTIONS else ""
            raise ExpressionError(f"there is no {name} here{more}; there are {known}")
        self.asks_value |= name == "value"

    def _check_call(self, node: ast.Call, names: frozenset[str], depth: int) -> None:
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            raise ExpressionError(f"{ast.unparse(node.func)[:40]} cannot be called; there are {', '.join(FUNCTIONS)}")
        name, (least, most) = node.func.id, FUNCTIONS[node.func.id]
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise ExpressionError(f"{name} takes plain arguments, no names and no stars")
        if not least <= len(node.args) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise ExpressionError(f"{name} got {len(node.args)} arguments, wanted {wanted}")
        for argument in node.args:
            if isinstance(argument, ast.GeneratorExp):
                if name not in LOOPS or len(node.args) > 1:
                    raise ExpressionError(f"{name} takes no loop; these do, alone: {', '.join(sorted(LOOPS))}")
                self._check_loop(argument, names, depth + 1)
            else:
                self.check(argument, names, depth + 1)

    def _check_loop(self, loop: ast.GeneratorExp, names: frozenset[str], depth: int) -> None:
        if len(loop.generators) > 1 or loop.generators[0].is_async:
            raise ExpressionError("a loop has one for")
        [part] = loop.generators
        if not isinstance(part.target, ast.Name):
            raise ExpressionError("a loop has one variable")
        variable = _public(part.target.id)
        if variable in ROOTS or variable in FUNCTIONS or variable in names:
            raise ExpressionError(f"a loop's variable needs a name of its own, got {variable}")
        self.check(part.iter, names, depth)
        inside = names | {variable}
        for inner in (*part.ifs, loop.elt):
            self.check(inner, inside, depth)


def _public(name: str) -> str:
    if name.startswith("_"):
        raise ExpressionError(f"a name may not begin with _: {name}")
    return name


def _kind(node: ast.AST) -> str:
    """What a kind of node is called in Python."""
    return {"Pow": "** (power)", "GeneratorExp": "a loop outside a function", "JoinedStr": "an f-string"}.get(
        type(node).__name__, type(node).__name__
    )
