"""The nineteen lines that TaxCalcBench scores: ids, XML elements, and the text in which models answer.

A line of an answer is ``Line N: Description | explanation | amount``; the amount is what follows the last bar. Ids are
matched exactly: a match by how a line's name ends takes line 9 for 19 and 29. Left out: cents in an expected amount.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from vouching.errors import InputError
from vouching.methods.assurance.values import read_amount

_LINE = re.compile(r"^[\s>*#-]*line\s+(?P<id>\d{1,2}[a-z]?)\b[\s*]*:?(?P<rest>.*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of Form 1040."""

    id: str
    """Its number on the form, e.g. "25d"."""
    element: str
    """Its element below /Return/ReturnData/IRS1040."""
    description: str
    """What it is, in words."""
    depends_on: tuple[str, ...] = ()
    """Ids of the lines before it that it is made from."""


LINES: tuple[Line, ...] = (
    Line("1a", "WagesAmt", "Total amount from Form(s) W-2, box 1"),
    Line("9", "TotalIncomeAmt", "Total income", ("1a",)),
    Line("10", "TotalAdjustmentsAmt", "Adjustments to income from Schedule 1", ("9",)),
    Line("11", "AdjustedGrossIncomeAmt", "Adjusted gross income", ("9", "10")),
    Line("12", "TotalItemizedOrStandardDedAmt", "Standard deduction"),
    Line("15", "TaxableIncomeAmt", "Taxable income", ("11", "12")),
    Line("16", "TaxAmt", "Tax", ("15",)),
    Line("19", "CTCODCAmt", "Child tax credit or credit for other dependents", ("11", "16")),
    Line("24", "TotalTaxAmt", "Total tax", ("16", "19")),
    Line("25d", "WithholdingTaxAmt", "Federal income tax withheld"),
    Line("26", "EstimatedTaxPaymentsAmt", "Estimated tax payments and amount applied from the 2023 return"),
    Line("27", "EarnedIncomeCreditAmt", "Earned income credit (EIC)", ("1a", "11")),
    Line("28", "AdditionalChildTaxCreditAmt", "Additional child tax credit", ("1a", "11", "19", "27")),
    Line("29", "RefundableAmerOppCreditAmt", "American opportunity credit"),
    Line("32", "RefundableCreditsAmt", "Total other payments and refundable credits", ("27", "28", "29")),
    Line("33", "TotalPaymentsAmt", "Total payments", ("25d", "26", "32")),
    Line("34", "OverpaidAmt", "Amount overpaid", ("24", "33")),
    Line("35a", "RefundAmt", "Amount to be refunded", ("34",)),
    Line("37", "OwedAmt", "Amount you owe", ("24", "33")),
)
"""In the order of the form."""
BY_ID: Mapping[str, Line] = {line.id: line for line in LINES}
"""The same by id."""


def whole(amount: Decimal) -> int:
    """An amount in whole dollars, half a dollar up (2024 Instructions for Form 1040, Rounding Off to Whole Dollars).

    >>> whole(Decimal("2.50")), whole(Decimal("2.49")), whole(Decimal("-2.50"))
    (3, 2, -3)
    """
    return int(amount.quantize(Decimal(1), ROUND_HALF_UP))


def parse_return(text: str) -> dict[str, Decimal]:
    r"""The amounts of an answer by line; of a line given twice the last one counts, other lines are passed over.

    >>> parse_return("Line 9: Total income | 1a + 2b | $50,100\nLine 16: Tax | unclear | see above")
    {'9': Decimal('50100')}
    """
    found: dict[str, Decimal] = {}
    for row in text.splitlines():
        match = _LINE.match(row)
        if match is None or "|" not in match["rest"] or match["id"].lower() not in BY_ID:
            continue
        amount = read_amount(match["rest"].rpartition("|")[2].strip(" *`"))
        if amount is not None:
            found[match["id"].lower()] = amount
    return found


def format_return(amounts: Mapping[str, int | Decimal], explanations: Mapping[str, str] | None = None) -> str:
    """An answer with all nineteen lines; those without an amount are 0.

    Raises:
        InputError: an amount belongs to none of the lines.

    >>> print(format_return({"1a": 50_000}).splitlines()[0])
    Line 1a: Total amount from Form(s) W-2, box 1 | | 50000
    """
    if strange := amounts.keys() - BY_ID.keys():
        raise InputError(f"got the lines {sorted(strange)}, wanted lines of {[*BY_ID]}")
    said = explanations or {}
    return "\n".join(
        f"Line {line.id}: {line.description} | {said.get(line.id, '').replace('|', '/')}"
        f"{' ' if said.get(line.id) else ''}| {amounts.get(line.id, 0)}"
        for line in LINES
    )
