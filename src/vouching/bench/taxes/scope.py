"""What the engine covers: the fields it reads, those that do not matter, and the refusal of all others by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from vouching.bench.taxes.values import (
    CHILD_TAX_INCOME,
    MEDICARE_LIMIT,
    SAVERS_LIMIT,
    SOCIAL_SECURITY_LIMIT,
)
from vouching.errors import InputError
from vouching.methods.assurance.values import read_amount

if TYPE_CHECKING:
    from vouching.bench.taxes.facts import TaxFacts

READ: Mapping[str, tuple[str, ...]] = {
    "irs1040": (
        "filing_status", "tp_date_of_birth", "sp_date_of_birth", "tp_blind", "sp_blind", "estimated_tax_payment_1",
        "estimated_tax_payment_2", "estimated_tax_payment_3", "estimated_tax_payment_4", "applied_from_prior_year",
        "eic_not_allowed", "qualifying_child_of_another",
    ),
    "irs1040.dependent_detail": ("dependent_date_of_birth", "dependent_relationship", "dependent_student"),
    "w2": ("wages", "withholding", "social_security_tax", "medicare_wages_and_tips", "medicare_tax_withheld"),
    "irs1040_scheduleb.irs1099_int": (
        "interest_1099int_interest", "interest_1099int_us_saving_bond_treasury_obligations",
        "interest_1099int_tax_exempt", "interest_1099int_fed_inc_tax_withheld",
    ),
    "irs1040_scheduleb.irs1099_div": (
        "dividend_1099div_ordinary_div", "dividend_1099div_qualified_div", "dividend_1099div_exempt_interest_div",
        "dividend_1099div_federal_inc_tax_withheld",
    ),
    "irs1040_schedule1": ("tp_educator_exp_amount", "sp_educator_exp_amount", "student_interest"),
    "irs1040_schedule1.irs1099_g": ("g_unemployment_comp", "g_fed_wh"),
    "irs1099_r": (
        "gross_distribution_amt_input", "taxable_amt_input", "federal_income_tax_withheld_amt_input",
        "f1099_r_distribution_cd_input",
    ),
    "ssa_1099.ssa_1099_grp": ("ssa_net_benefits", "ssa_federal_withholding"),
}  # fmt: skip
"""The leaves that are read, by the object they are in."""
_IDLE = {
    "irs1040": ("tp_student", "sp_student", "refund_method", "presidential_election_tp", "presidential_election_sp"),
    "irs1040.dependent_detail": ("dependent_supported_by_tp",),
    "w2": (
        "social_security_wages", "social_security_tips", "retirement_plan", "third_party_sick_pay", "state_wages",
        "state_withholding", "local_wages", "local_withholding", "employers_use_grp.box_12_code",
        "employers_use_grp.box_12_amount", "ein",
    ),
    "irs1099_r": ("irasepsimple_ind_input", "total_distribution_ind_input", "employee_contributions_amt_input"),
}  # fmt: skip
_KNOWN = frozenset(f"{place}.{key}" for part in (READ, _IDLE) for place, keys in part.items() for key in keys)
FORMS: Mapping[str, str] = {
    "irs1040_schedulec": "self-employment (Schedule C)",
    "irs1040_schedulea": "itemized deductions (Schedule A)",
    "will_itemize": "itemized deductions (Schedule A)",
    "irs8949": "capital gains (Form 8949)",
    "irs1040_schedule_d": "capital gains (Schedule D)",
    "irs8962": "the premium tax credit (Form 8962)",
    "irs8863": "education credits (Form 8863)",
    "irs2441": "dependent care (Form 2441)",
    "irs1040_schedule3": "other credits and payments (Schedule 3)",
    "received_form_1099K": "a Form 1099-K",
    "w2.statutory_employee": "a statutory employee (Schedule C)",
    "w2.dependent_care_benefits": "dependent care benefits (Form 2441)",
    "w2.allocated_tips": "allocated tips (Form 4137)",
    "irs1040.tp_dependent": "a filer who is another's dependent",
    "irs1040.sp_dependent": "a spouse who is another's dependent",
    "irs1040_scheduleb.irs1099_div.dividend_1099div_capital_gain_distr": "capital gains (Form 1099-DIV, box 2a)",
    "irs1040_scheduleb.irs1099_div.dividend_1099div_section_199a_dividends": "REIT dividends (Form 8995)",
}
"""What is refused under the name of its form; other unknown fields are refused under their own."""
_CODES = frozenset({"2", "4", "7"})
_CODES_OF_DEFERRALS = frozenset({"D", "E", "F", "G", "H", "S", "AA", "BB", "EE"})
_IDLE_CODES = frozenset({"C", "DD", "FF"})
_NAMES = re.compile(r"(?:^|_)(?:zip|ssn|ein|tin|phone|routing|account|pin|id|number|name|address|city)(?:_|$)")
"""Numbers that name something: of employers, accounts and places."""


class OutOfScopeError(InputError):
    """A return with something the engine does not cover; it computes no line of it."""


def check_scope(facts: TaxFacts, leaves: Iterable[tuple[str, Any]]) -> None:
    """Refuse what the engine does not cover.

    Args:
        facts: what was read.
        leaves: every leaf of the input with its path below return_data, without places in lists.

    Raises:
        OutOfScopeError: the first thing found, by name.
    """
    for path, value in leaves:
        _check_leaf(path, value, facts)
    wages = max(facts.wages, facts.medicare_wages)
    unearned = facts.interest + facts.dividends + facts.unemployment + facts.pensions + facts.benefits
    if wages > MEDICARE_LIMIT[facts.status]:
        raise OutOfScopeError(f"Medicare wages of {wages:,} call for Form 8959: Additional Medicare Tax is not covered")
    income = facts.wages + unearned
    if facts.interest + facts.dividends > 0 and income > MEDICARE_LIMIT[facts.status]:
        raise OutOfScopeError(f"investment income and {income:,} in all call for Form 8960: it is not covered")
    if not facts.joint and facts.born[0].year > 2000 and unearned > CHILD_TAX_INCOME:
        raise OutOfScopeError(f"a filer under 24 with unearned income of {unearned:,}: Form 8615 is not covered")
    if any(one.born <= max(facts.born) for one in facts.dependents if one.for_earned_income_credit):
        raise OutOfScopeError("a qualifying child who is older than a filer: this is not covered")
    if facts.several_employers > SOCIAL_SECURITY_LIMIT:
        raise OutOfScopeError("excess social security tax was withheld (Schedule 3 line 11): this is not covered")


def _check_leaf(path: str, value: Any, facts: TaxFacts) -> None:
    if path.endswith("box_12_code"):
        _check_code(str(value or "").strip().upper(), facts)
    elif path == "irs1099_r.f1099_r_distribution_cd_input" and str(value) not in _CODES:
        raise OutOfScopeError(f"a Form 1099-R with distribution code {value!r}: codes 2, 4 and 7 are covered")
    elif path == "irs1040.dependent_detail.dependent_supported_by_tp" and value in (False, "false", "no"):
        raise OutOfScopeError(
            "a child whom the filer does not support (dependent_supported_by_tp): this is not covered"
        )
    elif path not in _KNOWN and _counts(path, value):
        form = next((name for part, name in FORMS.items() if path == part or path.startswith(f"{part}.")), None)
        what = f"{form}, in return_data.{path}," if form else f"the field return_data.{path}, {value!r:.40},"
        raise OutOfScopeError(f"{what} is not covered")


def _check_code(code: str, facts: TaxFacts) -> None:
    if code in _CODES_OF_DEFERRALS:
        income = facts.wages + facts.interest + facts.dividends + facts.unemployment + facts.pensions
        if income - 3_100 <= SAVERS_LIMIT[facts.status]:  # adjustments are 3,100 at most: 2,500 and twice 300
            raise OutOfScopeError(f"W-2 box 12 code {code} and {income:,} in all: the saver's credit is not covered")
    elif code and code not in _IDLE_CODES:
        raise OutOfScopeError(f"W-2 box 12 code {code} is not covered")


def _counts(path: str, value: Any) -> bool:
    """Whether a leaf says something that could change a line: yes, or an amount other than 0 that names nobody."""
    if isinstance(value, bool):
        return value
    if _NAMES.search(path.rpartition(".")[2]):
        return False
    if isinstance(value, int | float):
        return value != 0
    text = str(value or "").strip()
    if re.fullmatch(r"\$?[\d,]+(\.\d+)?", text):
        return read_amount(text) not in (None, Decimal(0))
    return text.lower() in {"true", "yes"}
