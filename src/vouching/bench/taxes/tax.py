"""Tax on taxable income (line 16): the Tax Table, the rate schedules, the worksheet for qualified dividends.

The table is made as the IRS makes it: the tax at the middle of each row, in whole dollars. Left out: capital gains.
"""

from __future__ import annotations

from decimal import Decimal

from vouching.bench.taxes.lines import whole
from vouching.bench.taxes.values import BRACKETS, FIFTEEN_RATE_LIMIT, TABLE_LIMIT, ZERO_RATE_LIMIT, Status
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
    """The row of the Tax Table: at least the first, less than the second amount.

    >>> table_row(4), table_row(24), table_row(2_999), table_row(26_000)
    ((0, 5), (15, 25), (2975, 3000), (26000, 26050))
    """
    for start, end in ((0, 5), (5, 15), (15, 25)):
        if start <= income < end:
            return start, end
    width = 25 if income < 3_000 else 50
    return income // width * width, income // width * width + width


def table_tax(income: int, status: Status) -> int:
    """Tax by the Tax Table, for taxable income of 0 to 99,999 dollars.

    Half a dollar goes up, as in print: in the table of 2015 a single filer's 25,300 is 3,338, where 3,337.50 was due.

    Raises:
        InputError: the table has no row for it.

    >>> [table_tax(25_300, status) for status in ("single", "joint", "head")], table_tax(26_000, "head")
    ([2807, 2575, 2708], 2792)
    """
    if not 0 <= income < TABLE_LIMIT:
        raise InputError(f"got a taxable income of {income:,}, but the Tax Table is for 0 to {TABLE_LIMIT - 1:,}")
    start, end = table_row(income)
    return whole(schedule_tax(Decimal(start + end) / 2, status)) if start >= 5 else 0


def ordinary_tax(income: int, status: Status) -> Decimal:
    """Tax by table or schedule, whichever is to be used.

    >>> ordinary_tax(99_999, "single"), ordinary_tax(100_000, "single")
    (Decimal('17048'), Decimal('17053.00'))
    """
    return Decimal(table_tax(income, status)) if income < TABLE_LIMIT else schedule_tax(income, status)


def dividend_tax(income: int, qualified: int, status: Status) -> Decimal:
    """Tax by the Qualified Dividends and Capital Gain Tax Worksheet, without capital gains.

    Args:
        income: line 15.
        qualified: line 3a.
        status: filing status.

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
