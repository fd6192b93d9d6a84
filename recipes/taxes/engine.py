"""The nineteen lines of Form 1040 for 2024, from the facts of a return. Deterministic, in whole dollars.

A line that adds amounts rounds their sum; lines computed from lines add the rounded lines; worksheets compute exactly
and round once, where their result enters the form (2024 Instructions for Form 1040, Rounding Off to Whole Dollars). Not
tax advice. Not supported: everything that ``docs/assurance.md`` lists as refused; penalties; the alternative minimum
tax, which the supported kinds of income and the standard deduction cannot cause.

The Tax Table and the EIC Table are computed as the IRS does it: from the middle of each row, in whole dollars. Rows of
the EIC Table in which its slope changes or ends could not be checked; a return that needs one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from recipes.taxes.facts import OutOfScopeError, TaxFacts, facts_of
from recipes.taxes.values import (
    BENEFITS_BASE,
    BENEFITS_STEP,
    BRACKETS,
    CHILD_CREDIT,
    CHILD_CREDIT_START,
    CHILD_EARNED_START,
    CHILD_REFUNDABLE,
    EDUCATOR_LIMIT,
    EIC_EARNED,
    EIC_END,
    EIC_INVESTMENT_LIMIT,
    EIC_MAX,
    EIC_RATES,
    EIC_START,
    EXTRA_DEDUCTION,
    FIFTEEN_RATE_LIMIT,
    OTHER_CREDIT,
    STANDARD_DEDUCTION,
    STUDENT_LOAN_LIMIT,
    STUDENT_LOAN_RANGE,
    STUDENT_LOAN_START,
    TABLE_LIMIT,
    ZERO_RATE_LIMIT,
    Status,
    whole,
)
from vouching.errors import InputError


def schedule_tax(income: Decimal | int, status: Status) -> Decimal:
    """Tax by the rate schedules X, Y-1 and Z, exact (2024 Instructions for Form 1040, Tax Rate Schedules).

    >>> schedule_tax(130_400, "single"), schedule_tax(105_800, "joint")
    (Decimal('24338.50'), Decimal('13382.00'))
    """
    brackets = BRACKETS[status]
    ends = [Decimal(start) for start, _ in brackets[1:]] + [Decimal(max(income, 0))]
    return sum(
        (
            (min(Decimal(income), max(end, Decimal(start))) - start) * rate
            for (start, rate), end in zip(brackets, ends, strict=True)
            if income > start
        ),
        Decimal(0),
    )


def table_row(income: int) -> tuple[int, int]:
    """The row of the Tax Table: from the first amount to below the second.

    >>> table_row(4), table_row(24), table_row(2_999), table_row(26_000)
    ((0, 5), (15, 25), (2975, 3000), (26000, 26050))
    """
    for start, end in ((0, 5), (5, 15), (15, 25)):
        if start <= income < end:
            return start, end
    width = 25 if income < 3_000 else 50
    return income // width * width, income // width * width + width


def table_tax(income: int, status: Status) -> int:
    """Tax by the Tax Table, for taxable income of 0 to 99,999 dollars. Raises InputError for others.

    Half a dollar is rounded up, as in print: in the table of 2015 a single filer's 25,300 gives 3,338, from 3,337.50.

    >>> [table_tax(25_300, status) for status in ("single", "joint", "head")], table_tax(26_000, "head")
    ([2807, 2575, 2708], 2792)
    """
    if not 0 <= income < TABLE_LIMIT:
        raise InputError(f"got a taxable income of {income:,}, but the Tax Table is for 0 to {TABLE_LIMIT - 1:,}")
    start, end = table_row(income)
    return whole(schedule_tax(Decimal(start + end) / 2, status)) if start >= 5 else 0


def ordinary_tax(income: int, status: Status) -> Decimal:
    """Tax by table or schedule, whichever applies.

    >>> ordinary_tax(99_999, "single"), ordinary_tax(100_000, "single")
    (Decimal('17048'), Decimal('17053.00'))
    """
    return Decimal(table_tax(income, status)) if income < TABLE_LIMIT else schedule_tax(income, status)


def dividend_tax(income: int, qualified: int, status: Status) -> Decimal:
    """Tax by the Qualified Dividends and Capital Gain Tax Worksheet, without capital gains, from lines 15 and 3a.

    A single filer with 50,000, of which 5,000 are qualified dividends: 2,025 of them are taxed at 0 %, 2,975 at 15 %,
    and 45,000 by the table.

    >>> dividend_tax(50_000, 5_000, "single")  # 446.25 + 5,171
    Decimal('5617.25')
    """
    special = min(income, qualified)
    ordinary = income - special
    at_zero = min(income, ZERO_RATE_LIMIT[status]) - min(ordinary, ZERO_RATE_LIMIT[status])
    room = max(0, min(income, FIFTEEN_RATE_LIMIT[status]) - ordinary - at_zero)
    at_fifteen = min(special - at_zero, room)
    at_twenty = special - at_zero - at_fifteen
    split = at_fifteen * Decimal("0.15") + at_twenty * Decimal("0.20") + ordinary_tax(ordinary, status)
    return min(split, ordinary_tax(income, status))


_ROW = 50


def child_credit(facts: TaxFacts, income: int) -> int:
    """Child tax credit and credit for other dependents before the limit by tax (Schedule 8812, line 12).

    ``income`` is adjusted gross income, line 11.

    >>> from datetime import date
    >>> from recipes.taxes.facts import Dependent
    >>> child = Dependent(date(2015, 3, 1), "daughter")
    >>> child_credit(TaxFacts("single", (date(1985, 1, 1),), dependents=(child, child)), 203_001)  # 4,000 - 4 x 50
    3800
    """
    children = sum(one.for_child_credit for one in facts.dependents)
    full = CHILD_CREDIT * children + OTHER_CREDIT * (len(facts.dependents) - children)
    above = max(0, income - CHILD_CREDIT_START[facts.status])
    return max(0, full - 50 * -(-above // 1_000))


def refundable_child_credit(facts: TaxFacts, unused: int, earned: int, earned_income_credit: int) -> int:
    """Additional child tax credit (Schedule 8812, lines 16a to 27), from lines 16a, 18a and Form 1040 line 27.

    >>> from datetime import date
    >>> from recipes.taxes.facts import Dependent
    >>> family = TaxFacts("head", (date(1990, 1, 1),), dependents=(Dependent(date(2016, 1, 1), "son"),))
    >>> refundable_child_credit(family, 2_000, 12_500, 0)  # 15 % of 10,000
    1500
    """
    children = sum(one.for_child_credit for one in facts.dependents)
    limit = min(unused, CHILD_REFUNDABLE * children)
    by_earnings = Decimal("0.15") * max(0, earned - CHILD_EARNED_START)
    if children >= 3 and by_earnings < limit:
        by_earnings = max(by_earnings, Decimal(max(0, whole(facts.payroll_tax) - earned_income_credit)))
    return whole(min(Decimal(limit), by_earnings))


def earned_income_credit(facts: TaxFacts, earned: int, income: int, investment: int) -> int:
    """Earned income credit (line 27, EIC Worksheet A), from wages, line 11, and the sum of lines 2a, 2b and 3b.

    Raises OutOfScopeError for a row of the table that could not be checked.

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
    # The worksheet's bounds are the ends of the rows with the thresholds: 10,350, 17,250, 22,750 and 29,650.
    bound = -(-EIC_START[facts.joint][children] // _ROW) * _ROW
    return credit if income == earned or income < bound else min(credit, eic_table(income, children, facts.joint))


def eic_table(income: int, children: int, joint: bool) -> int:
    """One entry of the EIC Table, for an income from 1 to below the end of the column; ``children`` is at most 3.

    Raises OutOfScopeError if the slope changes or ends within the row. The lowest credits of the table are 2, 9, 10 and
    11 dollars (eitc.irs.gov, range of EITC).

    >>> [eic_table(1, children, False) for children in range(4)]
    [2, 9, 10, 11]
    """
    row, limits = income // _ROW * _ROW, (EIC_EARNED[children], EIC_START[joint][children], EIC_END[joint][children])
    for limit in limits:
        if row < limit < row + _ROW:
            raise OutOfScopeError(
                f"the row of the EIC Table for {income:,}, with a change of slope at {limit:,}, is not covered"
            )
    middle = row + Decimal(_ROW) / 2
    into, out_of = EIC_RATES[children]
    maximum = EIC_MAX[children]
    if middle < limits[0]:
        return whole(into * middle)
    return whole(maximum - out_of * max(Decimal(0), middle - limits[1]))


def compute(record: Mapping[str, Any]) -> dict[str, int]:
    """The nineteen lines of a return from the content of its input.json, in the order of the form.

    Raises InputError if it is not in the layout, OutOfScopeError if the engine does not cover it.

    >>> form = {"filing_status": {"value": "head_of_household"}, "tp_date_of_birth": {"value": "1980-01-01"}}
    >>> lines = compute({"input": {"return_data": {"irs1040": form, "w2": [{"wages": {"value": 47_900}}]}}})
    >>> lines["15"], lines["16"]
    (26000, 2792)
    """
    return compute_lines(facts_of(record))


def compute_lines(facts: TaxFacts, given: Mapping[str, int] | None = None) -> dict[str, int]:
    """The nineteen lines of a return; lines that are ``given`` are used as they are by those after them."""
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


_ORDER = (
    "1a",
    "9",
    "10",
    "11",
    "12",
    "15",
    "16",
    "19",
    "24",
    "25d",
    "26",
    "27",
    "28",
    "29",
    "32",
    "33",
    "34",
    "35a",
    "37",
)


def taxable_benefits(facts: TaxFacts, other: int) -> int:
    """Taxable social security benefits, line 6b (Social Security Benefits Worksheet).

    ``other`` is the sum of lines 1z, 2b, 3b, 4b, 5b, 7 and 8. A single filer with 20,000 of benefits and 30,000 of
    other income: 40,000 is 15,000 above the base, 6,000 above the step; 4,500 + 85 % of 6,000.

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
    """Adjustments to total income, line 10: educator expenses and student loan interest (its worksheet).

    A single filer with 86,000 and 3,000 of interest: 6,000 of 15,000 is .400, so 2,500 x (1 - .4).

    >>> from datetime import date
    >>> adjustments(TaxFacts("single", (date(1990, 1, 1),), student_interest=Decimal(3_000)), 86_000)
    1500
    """
    educator = educator_expenses(facts)
    interest = min(facts.student_interest, Decimal(STUDENT_LOAN_LIMIT))
    above = Decimal(max(0, income - educator - STUDENT_LOAN_START[facts.status]))
    # The worksheet asks for at least three decimals and at most 1.000.
    share = min(Decimal(1), (above / STUDENT_LOAN_RANGE[facts.status]).quantize(Decimal("0.001"), ROUND_HALF_UP))
    return educator + whole(interest - interest * share)


def standard_deduction(facts: TaxFacts) -> int:
    """Standard deduction, line 12, for filers who are not dependents.

    >>> from datetime import date
    >>> standard_deduction(TaxFacts("joint", (date(1950, 1, 1), date(1955, 1, 1)), blind=2))
    35400
    """
    return STANDARD_DEDUCTION[facts.status] + EXTRA_DEDUCTION[facts.status] * facts.extras
