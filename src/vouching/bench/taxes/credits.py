"""The credits of the nineteen lines: for children and other dependents (19, 28) and for earned income (27).

The EIC Table is made as the IRS makes it, by the middle of each row of 50 dollars. Rows in which its slope changes or
ends were not seen in print; a return that would be looked up there is refused. Left out: Form 8862, residence abroad.
"""

from __future__ import annotations

from decimal import Decimal

from vouching.bench.taxes.facts import OutOfScopeError, TaxFacts
from vouching.bench.taxes.lines import whole
from vouching.bench.taxes.values import (
    CHILD_CREDIT,
    CHILD_CREDIT_START,
    CHILD_EARNED_START,
    CHILD_REFUNDABLE,
    EIC_EARNED,
    EIC_END,
    EIC_INVESTMENT_LIMIT,
    EIC_MOST,
    EIC_RATES,
    EIC_START,
    OTHER_CREDIT,
)

_ROW = 50


def child_credit(facts: TaxFacts, income: int) -> int:
    """Child tax credit and credit for other dependents before the limit by tax (Schedule 8812, line 12).

    Args:
        facts: the return.
        income: adjusted gross income, line 11.

    >>> from datetime import date
    >>> from vouching.bench.taxes.facts import Dependent
    >>> child = Dependent(date(2015, 3, 1), "daughter")
    >>> child_credit(TaxFacts("single", (date(1985, 1, 1),), dependents=(child, child)), 203_001)  # 4,000 - 4 x 50
    3800
    """
    children = sum(one.for_child_credit for one in facts.dependents)
    full = CHILD_CREDIT * children + OTHER_CREDIT * (len(facts.dependents) - children)
    above = max(0, income - CHILD_CREDIT_START[facts.status])
    return max(0, full - 50 * -(-above // 1_000))


def refundable_child_credit(facts: TaxFacts, unused: int, earned: int, earned_income_credit: int) -> int:
    """Additional child tax credit (Schedule 8812, lines 16a to 27).

    Args:
        facts: the return.
        unused: what the tax left of the credit, line 16a.
        earned: earned income, line 18a.
        earned_income_credit: Form 1040 line 27; it matters with three children or more.

    >>> from datetime import date
    >>> from vouching.bench.taxes.facts import Dependent
    >>> family = TaxFacts("head", (date(1990, 1, 1),), dependents=(Dependent(date(2016, 1, 1), "son"),))
    >>> refundable_child_credit(family, 2_000, 12_500, 0)  # 15 % of 10,000
    1500
    """
    children = sum(one.for_child_credit for one in facts.dependents)
    most = min(unused, CHILD_REFUNDABLE * children)
    by_earnings = Decimal("0.15") * max(0, earned - CHILD_EARNED_START)
    if children >= 3 and by_earnings < most:
        by_earnings = max(by_earnings, Decimal(max(0, whole(facts.payroll_tax) - earned_income_credit)))
    return whole(min(Decimal(most), by_earnings))


def earned_income_credit(facts: TaxFacts, earned: int, income: int, investment: int) -> int:
    """Earned income credit (line 27, EIC Worksheet A).

    Args:
        facts: the return.
        earned: wages.
        income: adjusted gross income, line 11.
        investment: lines 2a, 2b and 3b together.

    Raises:
        OutOfScopeError: the table's row is one that was not seen in print.

    >>> from datetime import date
    >>> filer = TaxFacts("single", (date(1990, 1, 1),))
    >>> earned_income_credit(filer, 9_000, 9_000, 0), earned_income_credit(filer, 9_000, 15_000, 0)
    (632, 273)
    """
    children = min(3, sum(one.for_earned_income_credit for one in facts.dependents))
    end = EIC_END[facts.joint][children]
    if facts.no_earned_income_credit or investment > EIC_INVESTMENT_LIMIT or not (children or facts.of_age_for_credit):
        return 0
    if earned < 1 or earned >= end or income >= end:
        return 0
    credit = eic_table(earned, children, facts.joint)
    # The worksheet's bounds are the ends of the rows that hold the thresholds: 10,350, 17,250, 22,750 and 29,650.
    bound = -(-EIC_START[facts.joint][children] // _ROW) * _ROW
    return credit if income == earned or income < bound else min(credit, eic_table(income, children, facts.joint))


def eic_table(income: int, children: int, joint: bool) -> int:
    """One entry of the EIC Table.

    Args:
        income: what is looked up, from 1 to below the end of the column.
        children: qualifying children, 3 for more.
        joint: whether the return is joint.

    Raises:
        OutOfScopeError: the slope changes or ends within the row.

    The least credits of the table are 2, 9, 10 and 11 dollars (eitc.irs.gov, range of EITC).

    >>> [eic_table(1, children, False) for children in range(4)]
    [2, 9, 10, 11]
    """
    row, limits = income // _ROW * _ROW, (EIC_EARNED[children], EIC_START[joint][children], EIC_END[joint][children])
    for limit in limits:
        if row < limit < row + _ROW:
            raise OutOfScopeError(
                f"the row of the EIC Table for {income:,}, where the credit changes course at {limit:,}, is not covered"
            )
    middle = row + Decimal(_ROW) / 2
    into, out_of = EIC_RATES[children]
    most = EIC_MOST[children]
    if middle < limits[0]:
        return whole(into * middle)
    return whole(most - out_of * max(Decimal(0), middle - limits[1]))
