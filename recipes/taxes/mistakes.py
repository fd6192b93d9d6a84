"""Wrong proposals with named mistakes that people and models make in a Form 1040, and the line where each was made.

A mistake is made on one line, or on a form that lines are computed from. The lines after it follow from the wrong one,
as when a return is filled in from the top, or keep their right values, as when lines are computed independently. Not
supported: several mistakes in one proposal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, TypeAlias, get_args

from recipes.taxes.engine import compute_lines, dividend_tax
from recipes.taxes.facts import OutOfScopeError, TaxFacts, facts_of
from recipes.taxes.taxcalcbench import LINES
from recipes.taxes.values import Status, whole

Mistake: TypeAlias = Literal[
    "wrong_bracket", "gross_for_taxable", "forgotten_form", "sign", "transposed_digits", "stale_line"
]
MISTAKES: tuple[Mistake, ...] = get_args(Mistake)
_FORMS = (
    ("w2", ()),
    ("irs1099_r", ()),
    ("irs1099_int", ("irs1040_scheduleb",)),
    ("irs1099_div", ("irs1040_scheduleb",)),
    ("irs1099_g", ("irs1040_schedule1",)),
    ("ssa_1099_grp", ("ssa_1099",)),
)


@dataclass(frozen=True, slots=True)
class WrongProposal:
    """A proposal with a mistake."""

    mistake: Mistake
    lines: Mapping[str, int] = field(hash=False)
    """The proposed values."""
    roots: tuple[str, ...]
    """Lines that do not follow from the forms and the proposed lines before them; some may still be right."""
    wrong: tuple[str, ...]
    """Wrong lines; some may follow correctly from a wrong line before them."""


def make_mistake(record: Mapping[str, Any], mistake: Mistake, random: Random) -> WrongProposal | None:
    """A proposal with a mistake; None if it cannot be made in this return.

    ``random`` draws the line, the form, and whether later lines follow.

    >>> from recipes.taxes.returns import make_return
    >>> _, record, lines = make_return(0, 1)
    >>> found = make_mistake(record, "transposed_digits", Random(1))
    >>> found.roots, found.wrong[0], found.lines["9"] == lines["9"]
    (('9', '11'), '9', False)
    """
    facts = facts_of(record)
    right = compute_lines(facts)
    for _ in range(10):
        try:
            roots, lines = _MAKERS[mistake](record, facts, right, random)
        except OutOfScopeError:
            continue  # the wrong amounts would be looked up in a row that is not covered
        wrong = tuple(line.id for line in LINES if lines[line.id] != right[line.id])
        if wrong:
            return WrongProposal(mistake, lines, roots, wrong)
    return None


_Made: TypeAlias = tuple[tuple[str, ...], dict[str, int]]


def _put(facts: TaxFacts, right: Mapping[str, int], line: str, amount: int, random: Random) -> _Made:
    """A wrong amount on a line; the lines after it follow from it, or keep their values."""
    if random.random() < 0.5:
        return (line,), compute_lines(facts, {line: amount})
    lines = {**right, line: amount}
    return roots_of(facts, lines), lines


def roots_of(facts: TaxFacts, lines: Mapping[str, int]) -> tuple[str, ...]:
    """Lines that do not follow from the facts and from the other lines as they are proposed.

    >>> from datetime import date
    >>> facts = TaxFacts("single", (date(1985, 1, 1),))
    >>> roots_of(facts, compute_lines(facts, {"11": 60_000}))
    ('11',)
    """
    found: list[str] = []
    for line in LINES:
        given = {other: amount for other, amount in lines.items() if other != line.id}
        if compute_lines(facts, given)[line.id] != lines[line.id]:
            found.append(line.id)
    return tuple(found)


def _wrong_bracket(_: Any, facts: TaxFacts, right: Mapping[str, int], random: Random) -> _Made:
    """Tax by the column of another filing status."""
    others: list[Status] = [status for status in ("single", "joint", "head") if status != facts.status]
    tax = whole(dividend_tax(right["15"], whole(facts.qualified_dividends), random.choice(others)))
    return _put(facts, right, "16", tax, random)


def _gross_for_taxable(_: Any, facts: TaxFacts, right: Mapping[str, int], random: Random) -> _Made:
    """Tax on adjusted gross income, or all benefits counted as income."""
    if facts.benefits and random.random() < 0.5:
        other = facts.interest + facts.dividends + facts.pensions + facts.unemployment + facts.benefits
        return _put(facts, right, "9", right["1a"] + whole(other), random)
    tax = whole(dividend_tax(right["11"], whole(facts.qualified_dividends), facts.status))
    return _put(facts, right, "16", tax, random)


def _forgotten_form(record: Mapping[str, Any], facts: TaxFacts, right: Mapping[str, int], random: Random) -> _Made:
    """A return without one of its forms, in all lines."""
    less = deepcopy(dict(record))
    places: list[list[Any]] = []
    for name, path in _FORMS:
        here: Any = less["input"]["return_data"]
        for key in path:
            here = here.get(key) or {}
        places.append(here.get(name) or [])
    forms = random.choice([place for place in places if place] or [[None]])
    forms.pop(random.randrange(len(forms)))
    lines = compute_lines(facts_of(less))
    return roots_of(facts, lines), lines


def _sign(_: Any, facts: TaxFacts, right: Mapping[str, int], random: Random) -> _Made:
    """Added instead of subtracted, or an amount owed instead of a refund."""
    swapped = {
        "11": right["9"] + right["10"],
        "15": right["11"] + right["12"],
        "24": right["16"] + right["19"],
        "33": right["25d"] + right["26"] - right["32"],
        "34": right["24"] - right["33"],
        "37": right["33"] - right["24"],
    }
    line, amount = random.choice([(line, amount) for line, amount in swapped.items() if amount != right[line]])
    return _put(facts, right, line, amount, random)


def _transposed_digits(_: Any, facts: TaxFacts, right: Mapping[str, int], random: Random) -> _Made:
    """Two adjacent digits of an amount are swapped."""
    swaps = [
        (line, int(digits[:place] + digits[place + 1] + digits[place] + digits[place + 2 :]))
        for line, amount in right.items()
        for digits in [str(amount)]
        for place in range(len(digits) - 1)
        if digits[place] != digits[place + 1]
    ]
    line, amount = random.choice(swaps)
    return _put(facts, right, line, amount, random)


def _stale_line(record: Mapping[str, Any], facts: TaxFacts, right: Mapping[str, int], random: Random) -> _Made:
    """A line that was filled in before the last form arrived and not updated."""
    _, before = _forgotten_form(record, facts, right, random)
    changed = [line for line, amount in before.items() if amount != right[line]]
    lines = {**right, **{line: before[line] for line in random.sample(changed, min(1, len(changed)))}}
    return roots_of(facts, lines), lines


_Maker: TypeAlias = Callable[[Mapping[str, Any], TaxFacts, Mapping[str, int], Random], _Made]
_MAKERS: Mapping[Mistake, _Maker] = {
    "wrong_bracket": _wrong_bracket,
    "gross_for_taxable": _gross_for_taxable,
    "forgotten_form": _forgotten_form,
    "sign": _sign,
    "transposed_digits": _transposed_digits,
    "stale_line": _stale_line,
}
