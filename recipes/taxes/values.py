"""The amounts of tax year 2024, each with its source.

Sources, by the names used below:

- RP: Rev. Proc. 2023-34 (irs.gov/pub/irs-drop/rp-23-34.pdf), the inflation adjustments for 2024.
- I1040: 2024 Instructions for Form 1040 (irs.gov/pub/irs-pdf/i1040gi.pdf).
- S8812: 2024 Schedule 8812 (Form 1040) and its instructions.
- P596: Publication 596 (2024), Earned Income Credit.

Amounts are whole dollars, rates exact decimals. Not supported: married filing separately, surviving spouses.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["single", "joint", "head"]
"""Filing status: single, married filing jointly, head of household."""

STANDARD_DEDUCTION: Mapping[Status, int] = {"single": 14_600, "joint": 29_200, "head": 21_900}
"""RP, Standard Deduction; Form 1040, margin of line 12."""
EXTRA_DEDUCTION: Mapping[Status, int] = {"single": 1_950, "joint": 1_550, "head": 1_950}
"""Per person who is 65, and per person who is blind. RP, Standard Deduction; I1040, Standard Deduction Chart."""
BORN_BEFORE_65 = date(1960, 1, 2)
"""A person born before this day is 65 at the end of 2024. Form 1040, Age/Blindness."""

BRACKETS: Mapping[Status, tuple[tuple[int, Decimal], ...]] = {
    status: tuple(zip(starts, (Decimal(rate) / 100 for rate in (10, 12, 22, 24, 32, 35, 37)), strict=True))
    for status, starts in {
        "single": (0, 11_600, 47_150, 100_525, 191_950, 243_725, 609_350),
        "joint": (0, 23_200, 94_300, 201_050, 383_900, 487_450, 731_200),
        "head": (0, 16_550, 63_100, 100_500, 191_950, 243_700, 609_350),
    }.items()
}  # pyright: ignore[reportAssignmentType]
"""Where each rate starts. RP, Tax Rate Tables; I1040, 2024 Tax Rate Schedules X, Y-1 and Z (irs.gov/media/166986)."""
TABLE_LIMIT = 100_000
"""The Tax Table is for incomes below it, the Tax Computation Worksheet for others. I1040, line 16."""
ZERO_RATE_LIMIT: Mapping[Status, int] = {"single": 47_025, "joint": 94_050, "head": 63_000}
"""RP, Maximum Capital Gains Rate; I1040, Qualified Dividends and Capital Gain Tax Worksheet, line 6."""
FIFTEEN_RATE_LIMIT: Mapping[Status, int] = {"single": 518_900, "joint": 583_750, "head": 551_350}
"""The same, line 13."""

BENEFITS_BASE: Mapping[Status, int] = {"single": 25_000, "joint": 32_000, "head": 25_000}
"""I1040, Social Security Benefits Worksheet, line 8 (26 U.S.C. 86(c)(1), not indexed)."""
BENEFITS_STEP: Mapping[Status, int] = {"single": 9_000, "joint": 12_000, "head": 9_000}
"""The same, line 10."""

EDUCATOR_LIMIT = 300
"""Per educator. RP, Certain Expenses of Teachers; I1040, Schedule 1 line 11."""
STUDENT_LOAN_LIMIT = 2_500
"""I1040, Student Loan Interest Deduction Worksheet, line 1."""
STUDENT_LOAN_START: Mapping[Status, int] = {"single": 80_000, "joint": 165_000, "head": 80_000}
"""RP, Interest on Education Loans; the same worksheet, line 5."""
STUDENT_LOAN_RANGE: Mapping[Status, int] = {"single": 15_000, "joint": 30_000, "head": 15_000}
"""The same, line 7."""

CHILD_CREDIT, OTHER_CREDIT = 2_000, 500
"""S8812, lines 5 and 7 (26 U.S.C. 24(h)(2) and (4))."""
CHILD_REFUNDABLE = 1_700
"""RP, Child Tax Credit; S8812, line 16b."""
CHILD_CREDIT_START: Mapping[Status, int] = {"single": 200_000, "joint": 400_000, "head": 200_000}
"""S8812, line 9."""
CHILD_EARNED_START = 2_500
"""S8812, line 19."""
CHILD_BORN_AFTER = date(2007, 12, 31)
"""Under 17 at the end of 2024. S8812 instructions, Qualifying Child."""

EIC_RATES: tuple[tuple[Decimal, Decimal], ...] = (
    (Decimal("0.0765"), Decimal("0.0765")),
    (Decimal("0.34"), Decimal("0.1598")),
    (Decimal("0.40"), Decimal("0.2106")),
    (Decimal("0.45"), Decimal("0.2106")),
)
"""Phase-in and phase-out rates by number of qualifying children, at most three. 26 U.S.C. 32(b)(1)."""
EIC_EARNED = (8_260, 12_390, 17_400, 17_400)
"""Earned income amount. RP, Earned Income Credit."""
EIC_MAX = (632, 4_213, 6_960, 7_830)
"""Maximum credit. RP, Earned Income Credit; P596."""
EIC_START: Mapping[bool, tuple[int, ...]] = {
    False: (10_330, 22_720, 22_720, 22_720),
    True: (17_250, 29_640, 29_640, 29_640),
}
"""Threshold phaseout amount, by whether the return is joint. RP, Earned Income Credit."""
EIC_END: Mapping[bool, tuple[int, ...]] = {
    False: (18_591, 49_084, 55_768, 59_899),
    True: (25_511, 56_004, 62_688, 66_819),
}
"""Completed phaseout amount. RP, Earned Income Credit; P596, Rule 1; eitc.irs.gov, income limits and range of EITC."""
EIC_INVESTMENT_LIMIT = 11_600
"""RP, Earned Income Credit; P596, Rule 6."""
EIC_BORN = (date(1959, 12, 31), date(2000, 1, 2))
"""Without a child, filer or spouse must be born after the first and before the second. P596, Rule 11."""
EIC_CHILD_BORN_AFTER, EIC_STUDENT_BORN_AFTER = date(2005, 12, 31), date(2000, 12, 31)
"""Under 19, or a student under 24. P596, Rule 8."""

SOCIAL_SECURITY_LIMIT = Decimal("10453.20")
"""Maximum tax that one employer withholds, 6.2 % of 168,600. I1040, Schedule 3 line 11."""
MEDICARE_LIMIT: Mapping[Status, int] = {"single": 200_000, "joint": 250_000, "head": 200_000}
"""Above it Form 8959 (wages) and Form 8960 (investment income) are due. 26 U.S.C. 3101(b)(2), 1411(b)."""
SAVERS_LIMIT: Mapping[Status, int] = {"single": 38_250, "joint": 76_500, "head": 57_375}
"""Up to this adjusted gross income deferrals may give a credit. Notice 2023-75; Form 8880."""
CHILD_TAX_INCOME = 2_600
"""Unearned income above which Form 8615 may be due for those under 24. RP, Unearned Income of Minor Children."""


def whole(amount: Decimal) -> int:
    """An amount in whole dollars, halves away from zero (2024 Instructions for Form 1040, Rounding Off).

    >>> whole(Decimal("2.50")), whole(Decimal("2.49")), whole(Decimal("-2.50"))
    (3, 2, -3)
    """
    return int(amount.quantize(Decimal(1), ROUND_HALF_UP))
