"""The nineteen lines of Form 1040 for 2024, from the facts of a return. Deterministic, in whole dollars.

A line that adds amounts rounds their sum; lines made from lines add the rounded lines; worksheets go on exactly and
round once, where their result enters the form (2024 Instructions for Form 1040, Rounding Off to Whole Dollars). Not tax
advice. Left out: all that ``docs/taxes.md`` lists as refused; penalties; the alternative minimum tax, which wages,
interest, dividends, pensions and the standard deduction cannot bring about.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from vouching.bench.taxes.credits import child_credit, earned_income_credit, refundable_child_credit
from vouching.bench.taxes.facts import TaxFacts, facts_of
from vouching.bench.taxes.lines import whole
from vouching.bench.taxes.tax import dividend_tax
from vouching.bench.taxes.values import (
    BENEFITS_BASE,
    BENEFITS_STEP,
    EDUCATOR_LIMIT,
    EXTRA_DEDUCTION,
    STANDARD_DEDUCTION,
    STUDENT_LOAN_LIMIT,
    STUDENT_LOAN_RANGE,
    STUDENT_LOAN_START,
)


def compute(record: Mapping[str, Any]) -> dict[str, int]:
    """The nineteen lines of a return in TaxCalcBench's layout, in the order of the form.

    Args:
        record: what input.json holds.

    Raises:
        InputError: it is not in the layout.
        OutOfScopeError: it has something that the engine does not cover; the message names it.

    >>> form = {"filing_status": {"value": "head_of_household"}, "tp_date_of_birth": {"value": "1980-01-01"}}
    >>> lines = compute({"input": {"return_data": {"irs1040": form, "w2": [{"wages": {"value": 47_900}}]}}})
    >>> lines["15"], lines["16"]
    (26000, 2792)
    """
    return compute_lines(facts_of(record))


def compute_lines(facts: TaxFacts, given: Mapping[str, int] | None = None) -> dict[str, int]:
    """The nineteen lines of a return.

    Args:
        facts: what it rests on.
        given: lines that are taken as they are; the lines after them are made from these.

    Raises:
        OutOfScopeError: it needs a row of the EIC Table that is not covered.
    """
    made: dict[str, int] = {}
    taken = given or {}

    def put(line: str, amount: int) -> int:
        made[line] = taken.get(line, amount)
        return made[line]

    wages = put("1a", whole(facts.wages))
    interest, dividends = whole(facts.interest), whole(facts.dividends)
    other = interest + dividends + whole(facts.pensions) + whole(facts.unemployment)
    income = put("9", wages + other + taxable_benefits(facts, wages + other))
    adjusted = put("11", income - put("10", adjustments(facts, income)))
    taxable = put("15", max(0, adjusted - put("12", standard_deduction(facts))))
    tax = put("16", whole(dividend_tax(max(0, taxable), whole(facts.qualified_dividends), facts.status)))
    credit = child_credit(facts, adjusted)
    used = put("19", min(credit, tax))
    total = put("24", max(0, tax - used))
    withheld, paid = put("25d", whole(facts.withheld)), put("26", whole(facts.estimated))
    investment = interest + dividends + whole(facts.exempt_interest)
    earned_credit = put("27", earned_income_credit(facts, wages, adjusted, investment))
    refundable = put("28", refundable_child_credit(facts, max(0, credit - used), wages, earned_credit))
    refunded = put("32", earned_credit + refundable + put("29", 0))
    payments = put("33", withheld + paid + refunded)
    put("35a", put("34", max(0, payments - total)))
    put("37", max(0, total - payments))
    return {line: made[line] for line in _ORDER}


_ORDER = ("1a", "9", "10", "11", "12", "15", "16", "19", "24", "25d", "26", "27", "28", "29", "32", "33", "34", "35a",
          "37")  # fmt: skip


def taxable_benefits(facts: TaxFacts, other: int) -> int:
    """Taxable social security benefits, line 6b (Social Security Benefits Worksheet).

    Args:
        facts: the return.
        other: lines 1z, 2b, 3b, 4b, 5b, 7 and 8 together.

    A single filer with 20,000 of benefits and 30,000 besides: 40,000 is 15,000 above the base, 6,000 above the step;
    4,500 + 85 % of 6,000.

    >>> from datetime import date
    >>> taxable_benefits(TaxFacts("single", (date(1950, 1, 1),), benefits=Decimal(20_000)), 30_000)
    9600
    """
    half = facts.benefits / 2
    combined = half + other + whole(facts.exempt_interest) - educator_expenses(facts)
    above = combined - BENEFITS_BASE[facts.status]
    if facts.benefits <= 0 or above <= 0:
        return 0
    step = Decimal(BENEFITS_STEP[facts.status])
    lower = min(half, min(above, step) / 2)
    return whole(min(lower + Decimal("0.85") * max(Decimal(0), above - step), Decimal("0.85") * facts.benefits))


def educator_expenses(facts: TaxFacts) -> int:
    """Educator expenses, Schedule 1 line 11: up to 300 for each educator."""
    return whole(sum((min(one, Decimal(EDUCATOR_LIMIT)) for one in facts.educator), Decimal(0)))


def adjustments(facts: TaxFacts, income: int) -> int:
    """Adjustments to income, line 10: educator expenses and student loan interest (its worksheet).

    Args:
        facts: the return.
        income: total income, line 9.

    A single filer with 86,000 and 3,000 of interest: 6,000 of 15,000 is .400, so 2,500 x (1 - .4).

    >>> from datetime import date
    >>> adjustments(TaxFacts("single", (date(1990, 1, 1),), student_interest=Decimal(3_000)), 86_000)
    1500
    """
    educator = educator_expenses(facts)
    interest = min(facts.student_interest, Decimal(STUDENT_LOAN_LIMIT))
    above = Decimal(max(0, income - educator - STUDENT_LOAN_START[facts.status]))
    # The worksheet asks for three places at least and 1.000 at most.
    share = min(Decimal(1), (above / STUDENT_LOAN_RANGE[facts.status]).quantize(Decimal("0.001"), ROUND_HALF_UP))
    return educator + whole(interest - interest * share)


def standard_deduction(facts: TaxFacts) -> int:
    """Standard deduction, line 12, for those who are no one's dependents.

    >>> from datetime import date
    >>> standard_deduction(TaxFacts("joint", (date(1950, 1, 1), date(1955, 1, 1)), blind=2))
    35400
    """
    return STANDARD_DEDUCTION[facts.status] + EXTRA_DEDUCTION[facts.status] * facts.extras
