"""Evaluating an expression over JSON in exact decimals, within bounds, with a record of the inputs that were read.

Numbers are decimals of 34 digits below 10^30, so 0.1 + 0.2 is 0.3. ``round`` rounds halves away from zero, as offices
and tax forms do, not to even. Booleans and strings are not numbers ("12" + 1 is an error), and only values of one type
are compared; strings are ordered by their characters, which puts ISO dates in order. A JSON null counts as missing.
Not supported: clocks and randomness; the same inputs give the same value.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    localcontext,
)
from itertools import islice
from typing import Any, cast

from vouching.methods.assurance.expression import Expression, ExpressionError, MissingValueError
from vouching.methods.assurance.values import read_amount
from vouching.types import Value
from vouching.types.visible import shown_json

MAX_STEPS = 200_000
"""Nodes that are evaluated; every iteration of a loop counts again."""
MAX_READS = 1_000
"""Inputs that are recorded."""
_LONGEST_KEY = 500
_TRAPS = [InvalidOperation, DivisionByZero, Overflow]
CONTEXT = Context(prec=34, Emin=-60, Emax=30, rounding=ROUND_HALF_UP, traps=_TRAPS)
_ARITHMETIC: dict[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: cast("Callable[[Decimal, Decimal], Decimal]", operator.truediv),
}
_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


@dataclass(frozen=True, slots=True)
class Inputs:
    """What an expression may look at."""

    data: Any = None
    """The task's input, as JSON."""
    unit: Mapping[str, Value] = field(default_factory=dict[str, Value], hash=False)
    """Submitted values by unit id."""
    table: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    value: Value | None = None
    """The proposal."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The value of an expression and the inputs that it was computed from."""

    value: Value
    reads: Mapping[str, Value] = field(hash=False)
    """Inputs by dotted path, e.g. ``data.w2[0].wages``, in the order in which they were read."""


def evaluate(expression: Expression, inputs: Inputs) -> Outcome:
    """The value of an expression.

    Raises:
        MissingValueError: it refers to something that does not exist.
        ExpressionError: it divides by zero, adds strings, exceeds a bound, or gives no single value.

    >>> from vouching.methods.assurance.expression import parse
    >>> items = {"items": [{"amount": 19.99}, {"amount": 0.02}]}
    >>> found = evaluate(parse("round(sum(i.amount for i in data.items) * 2)"), Inputs(data=items))
    >>> found.value, [*found.reads]
    (Decimal('40'), ['data.items[0].amount', 'data.items[1].amount'])
    """
    evaluator = _Evaluator(inputs)
    shown = repr(expression.text if len(expression.text) <= 80 else f"{expression.text[:80]}...")
    with localcontext(CONTEXT):
        try:
            found = evaluator.value(expression.tree, {})
        except MissingValueError as error:
            raise MissingValueError(f"{shown}: {error}") from None
        except ExpressionError as error:
            raise ExpressionError(f"{shown}: {error}") from None
        except DivisionByZero:
            raise ExpressionError(f"{shown} divides by zero") from None
        except (InvalidOperation, Overflow):
            raise ExpressionError(f"{shown} does not give a number below 10^{CONTEXT.Emax}") from None
    if not isinstance(found, Decimal | bool | str):
        raise ExpressionError(f"{shown} must give a number, a string or a boolean, got {_kind(found)}")
    return Outcome(found, evaluator.reads)


@dataclass(frozen=True, slots=True)
class _At:
    """A value and its path; None if it was computed."""

    value: Any
    path: str | None = None


_Names = Mapping[str, _At]


class _Evaluator:
    """Evaluates a tree, counting its steps."""

    def __init__(self, inputs: Inputs) -> None:
        self.reads: dict[str, Value] = {}
        self._inputs = inputs
        self._steps = 0

    def value(self, node: ast.AST, names: _Names) -> Any:
        """The value of a node; a single value with a path is recorded as read."""
        return self._read(self._at(node, names))

    def _read(self, found: _At) -> Any:
        if found.value is None:
            raise MissingValueError(f"{found.path or 'a value'} is missing")
        value = _plain(found.value)
        if found.path is not None and isinstance(value, Decimal | bool | str) and len(self.reads) < MAX_READS:
            self.reads[found.path] = value
        return value

    def _step(self, count: int = 1) -> None:
        self._steps += count
        if self._steps > MAX_STEPS:
            raise ExpressionError(f"the expression takes more than {MAX_STEPS:,} steps")

    def _at(self, node: ast.AST, names: _Names) -> _At:
        self._step()
        match node:
            case ast.Constant(value=value):
                return _At(value)
            case ast.Name(id=name):
                return names[name] if name in names else _At(getattr(self._inputs, name), name)
            case ast.Attribute(value=ast.Name(id="unit"), attr=name):
                return self._unit(name)
            case ast.Subscript(value=ast.Name(id="unit"), slice=ast.Constant(value=name)):
                return self._unit(cast("str", name))
            case ast.Attribute(value=inner, attr=name):
                return _look(self._at(inner, names), name)
            case ast.Subscript(value=inner, slice=index):
                return _look(self._at(inner, names), self.value(index, names))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._at(body if self._truth(test, names) else orelse, names)
            case ast.Call(func=ast.Name(id="band"), args=[table, key]):
                return self._band(self._at(table, names), self._number(key, names))
            case _:
                return _At(self._computed(node, names))

    def _unit(self, name: str) -> _At:
        # Dots and brackets in an id would make its path ambiguous; quotes do not.
        return _At(self._inputs.unit.get(name), f"unit.{name}" if name.isidentifier() else f"unit[{_quoted(name)}]")

    def _computed(self, node: ast.AST, names: _Names) -> Any:
        """The value of a node that computes something."""
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self.value(part, names) for part in parts]
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return not self._truth(inner, names)
            case ast.UnaryOp(op=sign, operand=inner):
                number = self._number(inner, names)
                return -number if isinstance(sign, ast.USub) else +number
            case ast.BoolOp(op=kind, values=parts):
                expected = isinstance(kind, ast.Or)
                return expected if any(self._truth(part, names) is expected for part in parts) else not expected
            case ast.BinOp(left=left, op=kind, right=right):
                return _arithmetic(kind, self._number(left, names), self._number(right, names))
            case ast.Compare(left=left, ops=kinds, comparators=others):
                return self._compared(left, kinds, others, names)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._called(name, arguments, names)
            case _:
                raise ExpressionError(f"{type(node).__name__} is not supported in expressions")

    def _compared(self, left: ast.expr, kinds: list[ast.cmpop], others: list[ast.expr], names: _Names) -> bool:
        one: Any = self.value(left, names)
        for kind, node in zip(kinds, others, strict=True):
            if isinstance(kind, ast.In | ast.NotIn):
                held_in = self._at(node, names)
                other: Any = held_in.value
                if other is None:
                    raise MissingValueError(f"{held_in.path or 'a list'} is missing")
                if not isinstance(other, list | dict):
                    raise ExpressionError(f"'in' requires a list or an object, got {_kind(other)}")
                self._step(len(cast("list[Any]", other)) * (1 + _length(one)))
                members = [_plain(member) for member in cast("list[Any] | dict[str, Any]", other)]
                at = next((n for n, member in enumerate(members) if _alike(one, member) and one == member), None)
                if at is not None and isinstance(other, list):  # the answer depends on this member
                    self._read(_look(held_in, Decimal(at)))
                held = (at is not None) is isinstance(kind, ast.In)
            else:
                other = self.value(node, names)
                if not _alike(one, other):
                    raise ExpressionError(f"{_kind(one)} cannot be compared with {_kind(other)}")
                if isinstance(one, bool) and not isinstance(kind, ast.Eq | ast.NotEq):
                    raise ExpressionError("booleans can only be compared with == and !=")
                self._step(min(_length(one), _length(other)))
                held = _ORDER[type(kind)](one, other)
            if not held:
                return False
            one = cast("Any", other)
        return True

    def _number(self, node: ast.AST, names: _Names) -> Decimal:
        found = self.value(node, names)
        if not isinstance(found, Decimal):
            raise ExpressionError(f"expected a number, got {_kind(found)}: {_unparsed(node)}")
        return found

    def _truth(self, node: ast.AST, names: _Names) -> bool:
        found = self.value(node, names)
        if not isinstance(found, bool):
            raise ExpressionError(f"expected a boolean, got {_kind(found)}: {_unparsed(node)}")
        return found

    def _called(self, name: str, arguments: list[ast.expr], names: _Names) -> Any:
        match name, arguments:
            case "has" | "default", [first, *rest]:
                try:
                    found = self.value(first, names)
                except MissingValueError:
                    return self.value(rest[0], names) if rest else False
                return found if rest else True
            case "amount", [one]:
                return _amount(self.value(one, names))
            case "days", [later, earlier]:
                return Decimal((_date(self.value(later, names)) - _date(self.value(earlier, names))).days)
            case (("floor" | "ceil"), [one]):
                way = ROUND_FLOOR if name == "floor" else ROUND_CEILING
                return self._number(one, names).to_integral_value(rounding=way)
            case "abs", [one]:
                return abs(self._number(one, names))
            case "round", [one, *places]:
                return _rounded(self._number(one, names), self._number(places[0], names) if places else Decimal(0))
            case _:
                return self._folded(name, arguments, names)

    def _folded(self, name: str, arguments: list[ast.expr], names: _Names) -> Any:
        """A function of several values, or of a list."""
        if len(arguments) > 1:
            return (min if name == "min" else max)(self._number(one, names) for one in arguments)
        if name == "count":
            return Decimal(sum(1 for _ in self._members(arguments[0], names, each=False)))
        members = (self._read(found) for found in self._members(arguments[0], names))
        if name in ("any", "all"):
            expected = name == "any"
            return expected if any(_as(bool, one) is expected for one in members) else not expected
        numbers = [_as(Decimal, one) for one in members]
        if name == "sum":
            return sum(numbers, Decimal(0))
        if not numbers:
            raise MissingValueError(f"{name} requires a list that is not empty")
        return min(numbers) if name == "min" else max(numbers)

    def _members(self, node: ast.expr, names: _Names, each: bool = True) -> Iterator[_At]:
        """The members of a list, or what a loop makes of them; without ``each`` the members themselves."""
        if not isinstance(node, ast.GeneratorExp):
            yield from self._listed(self._at(node, names))
            return
        [part] = node.generators
        variable = cast("ast.Name", part.target).id
        for member in self._listed(self._at(part.iter, names)):
            inside = {**names, variable: member}
            before = len(self.reads)
            if all(self._truth(test, inside) for test in part.ifs):
                yield self._at(node.elt, inside) if each else member
            else:  # the value does not depend on a member that is skipped
                self.reads = dict(islice(self.reads.items(), before))

    def _listed(self, found: _At) -> Iterator[_At]:
        if found.value is None:
            raise MissingValueError(f"{found.path or 'a list'} is missing")
        if not isinstance(found.value, list):
            raise ExpressionError(f"{found.path or 'a value'} must be a list, got {_kind(found.value)}")
        for number, member in enumerate(cast("list[Any]", found.value)):
            self._step()
            yield _At(member, None if found.path is None else f"{found.path}[{number}]")

    def _band(self, table: _At, key: Decimal) -> _At:
        """The last row of a table whose ``from`` is at most the key."""
        best: _At | None = None
        for row in self._listed(table):
            edge = _plain((at := _look(row, "from")).value)
            if not isinstance(edge, Decimal):
                raise ExpressionError(f"{at.path or 'from'} must be a number for band, got {_kind(edge)}")
            if edge <= key:
                best = row
        if best is None:
            raise MissingValueError(f"{table.path or 'the table'} has no row for {key}")
        return best


def _look(found: _At, key: Any) -> _At:
    """One step into JSON; a missing value is None."""
    inside = found.value
    if isinstance(key, str):
        if len(key) > _LONGEST_KEY:
            raise ExpressionError(f"a key must have at most {_LONGEST_KEY} characters, got {len(key):,}")
        step = f".{key}" if key.isidentifier() else f"[{_quoted(key)}]"
        path = None if found.path is None else f"{found.path}{step}"
        if inside is None:
            return _At(None, path)
        if not isinstance(inside, Mapping):
            raise ExpressionError(f"{found.path or 'a value'} is {_kind(inside)} and has no {key}")
        return _At(cast("Mapping[str, Any]", inside).get(key), path)
    if not isinstance(key, Decimal) or key != key.to_integral_value() or key < 0:
        raise ExpressionError(f"an index must be a whole number of at least 0, got {_kind(key)} {key}")
    path = None if found.path is None else f"{found.path}[{int(key)}]"
    if inside is None:
        return _At(None, path)
    if not isinstance(inside, list):
        raise ExpressionError(f"{found.path or 'a value'} is {_kind(inside)} and has no index {int(key)}")
    members = cast("list[Any]", inside)
    return _At(members[int(key)] if key < len(members) else None, path)


def _length(value: Any) -> int:
    return len(value) // 50 if isinstance(value, str) else 0  # extra steps of a comparison


def _quoted(key: str) -> str:
    return f"'{key}'" if '"' in key else f'"{key}"'


def _arithmetic(kind: ast.operator, left: Decimal, right: Decimal) -> Decimal:
    if not isinstance(kind, ast.FloorDiv | ast.Mod):
        return _ARITHMETIC[type(kind)](left, right)
    # As for Python's integers, unlike decimal's own: the remainder has the sign of the divisor.
    if right == 0:
        raise DivisionByZero
    rest = left % right
    rest = rest + right if rest and (rest < 0) != (right < 0) else rest
    return rest if isinstance(kind, ast.Mod) else ((left - rest) / right).to_integral_value()


def _rounded(number: Decimal, places: Decimal) -> Decimal:
    if places != places.to_integral_value() or not -15 <= places <= 15:
        raise ExpressionError(f"round takes a whole number of places from -15 to 15, got {places}")
    # The sum restores the zeros of 1E+2.
    return number.quantize(Decimal(1).scaleb(-int(places)), rounding=ROUND_HALF_UP) + Decimal(0)


def _amount(value: Any) -> Decimal:
    found = value if isinstance(value, Decimal) else read_amount(value) if isinstance(value, str) else None
    if found is None:
        raise ExpressionError(f"{shown_json(value)} is not an amount, expected a number or a string such as $1,234.50")
    return found


def _date(value: Any) -> date:
    try:
        return date.fromisoformat(value[:10] if isinstance(value, str) else "")
    except ValueError:
        raise ExpressionError(f"{shown_json(value)} is not a date, expected one such as 2024-05-31") from None


def _as(kind: type[Any], value: Any) -> Any:
    if not isinstance(value, kind):
        expected = "a number" if kind is Decimal else "a boolean"
        raise ExpressionError(f"expected {expected} in the list, got {_kind(value)}")
    return value


def _plain(value: Any) -> Any:
    """A JSON number as a decimal, with the digits it was written with as far as a float keeps them."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return CONTEXT.create_decimal(repr(value))
    return value


def _alike(one: Any, other: Any) -> bool:
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in (Decimal, bool, str))


def _kind(value: Any) -> str:
    names: tuple[tuple[Any, str], ...] = (
        (bool, "a boolean"),
        (Decimal | int | float, "a number"),
        (str, "a string"),
        (list, "a list"),
        (type(None), "null"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "an object")


def _unparsed(node: ast.AST) -> str:
    return ast.unparse(node)[:60]
