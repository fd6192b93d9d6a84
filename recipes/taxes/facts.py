"""The facts of a return, read from TaxCalcBench's input; returns that the engine does not cover are refused.

``input.json`` is ``{"input": {"return_header", "return_data"}}`` with leaves ``{"label", "value"}``. Every leaf with an
amount or ``true`` must be read here or be known not to matter; any other refuses the return. All persons are assumed to
have a valid social security number, and dependents to have lived with the filer all year. Not supported: checking that
a filing status or a dependent is rightly claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from recipes.taxes.fields import FORMS, KNOWN, Field, OutOfScopeError, return_data
from recipes.taxes.values import (
    BORN_BEFORE_65,
    CHILD_BORN_AFTER,
    CHILD_TAX_INCOME,
    EIC_BORN,
    EIC_CHILD_BORN_AFTER,
    EIC_STUDENT_BORN_AFTER,
    MEDICARE_LIMIT,
    SAVERS_LIMIT,
    SOCIAL_SECURITY_LIMIT,
    Status,
)
from vouching.errors import InputError
from vouching.methods.assurance.values import read_amount

_STATUSES: Mapping[str, Status] = {
    "single": "single",
    "married_jointly": "joint",
    "married_filing_jointly": "joint",
    "head_of_household": "head",
}
_CODES = frozenset({"2", "4", "7"})
_CODES_OF_DEFERRALS = frozenset({"D", "E", "F", "G", "H", "S", "AA", "BB", "EE"})
_IDLE_CODES = frozenset({"C", "DD", "FF"})
_NAMES = re.compile(r"(?:^|_)(?:zip|ssn|ein|tin|phone|routing|account|pin|id|number|name|address|city)(?:_|$)")
"""Numbers that are identifiers: of employers, accounts and places."""
_REFUSED = ("married_separately", "married_filing_separately", "qualifying_widow", "qualifying_surviving_spouse")
CHILDREN = frozenset(
    {
        "son",
        "daughter",
        "child",
        "stepchild",
        "stepson",
        "stepdaughter",
        "foster_child",
        "grandchild",
        "brother",
        "sister",
        "niece",
        "nephew",
    }
)
"""Relationships that can make a qualifying child."""


@dataclass(frozen=True, slots=True)
class Dependent:
    """A dependent."""

    born: date
    relationship: str
    """To the filer, in lower case with underscores."""
    student: bool = False
    """Whether a full-time student in 2024."""

    @property
    def for_child_credit(self) -> bool:
        """Whether a qualifying child for the child tax credit."""
        return self.relationship in CHILDREN and self.born > CHILD_BORN_AFTER

    @property
    def for_earned_income_credit(self) -> bool:
        """Whether a qualifying child for the earned income credit."""
        limit = EIC_STUDENT_BORN_AFTER if self.student else EIC_CHILD_BORN_AFTER
        return self.relationship in CHILDREN and self.born > limit


@dataclass(frozen=True, slots=True)
class TaxFacts:
    """The inputs of the nineteen lines. Amounts are dollars with cents, summed over the forms of a kind."""

    status: Status
    born: tuple[date, ...]
    """Date of birth of the filer, and of the spouse on a joint return."""
    blind: int = 0
    """How many of them are blind."""
    dependents: tuple[Dependent, ...] = ()
    wages: Decimal = Decimal(0)
    """W-2 box 1."""
    medicare_wages: Decimal = Decimal(0)
    """W-2 box 5."""
    payroll_tax: Decimal = Decimal(0)
    """W-2 boxes 4 and 6."""
    several_employers: Decimal = Decimal(0)
    """Maximum social security tax withheld from one person by several employers; 0 if nobody has several."""
    interest: Decimal = Decimal(0)
    """1099-INT boxes 1 and 3."""
    exempt_interest: Decimal = Decimal(0)
    """1099-INT box 8 and 1099-DIV box 12."""
    dividends: Decimal = Decimal(0)
    """1099-DIV box 1a."""
    qualified_dividends: Decimal = Decimal(0)
    """1099-DIV box 1b."""
    unemployment: Decimal = Decimal(0)
    """1099-G box 1."""
    pensions: Decimal = Decimal(0)
    """1099-R box 2a."""
    benefits: Decimal = Decimal(0)
    """SSA-1099 box 5."""
    educator: tuple[Decimal, ...] = ()
    """Expenses of each educator."""
    student_interest: Decimal = Decimal(0)
    withheld: Decimal = Decimal(0)
    """Federal income tax withheld, on all forms."""
    estimated: Decimal = Decimal(0)
    """Estimated payments, and the amount applied from the prior year."""
    no_earned_income_credit: bool = False
    """Whether the filer may not claim the credit at all."""

    @property
    def joint(self) -> bool:
        """Whether the return is joint."""
        return self.status == "joint"

    @property
    def extras(self) -> int:
        """Number of persons who are 65 plus number who are blind."""
        return self.blind + sum(day < BORN_BEFORE_65 for day in self.born)

    @property
    def of_age_for_credit(self) -> bool:
        """Whether filer or spouse has the age for the earned income credit without a child."""
        return any(EIC_BORN[0] < day < EIC_BORN[1] for day in self.born)


def facts_of(record: Mapping[str, Any]) -> TaxFacts:
    """The facts of a return, from the content of input.json or its ``input`` alone.

    Raises InputError, with the path of the field, if it is not in the layout, OutOfScopeError if it is not covered.

    >>> form = {"filing_status": {"value": "single"}, "tp_date_of_birth": {"value": "1990-05-01"}}
    >>> data = {"irs1040": form, "w2": [{"wages": {"label": "Box 1", "value": "$50,000.00"}}]}
    >>> facts_of({"input": {"return_data": data}}).wages
    Decimal('50000.00')
    """
    data = return_data(record)
    form, schedule = data.at("irs1040"), data.at("irs1040_schedule1")
    status = _status(form)
    people = ("tp", "sp") if status == "joint" else ("tp",)
    schedule_b = data.at("irs1040_scheduleb")
    interest, dividends = schedule_b.all("irs1099_int"), schedule_b.all("irs1099_div")
    wages, pensions = data.all("w2"), data.all("irs1099_r")
    unemployment, benefits = schedule.all("irs1099_g"), data.at("ssa_1099").all("ssa_1099_grp")
    withheld = (
        (wages, "withholding"),
        (interest, "interest_1099int_fed_inc_tax_withheld"),
        (dividends, "dividend_1099div_federal_inc_tax_withheld"),
        (unemployment, "g_fed_wh"),
        (pensions, "federal_income_tax_withheld_amt_input"),
        (benefits, "ssa_federal_withholding"),
    )
    facts = TaxFacts(
        status=status,
        born=tuple(form.date(f"{who}_date_of_birth") for who in people),
        blind=sum(form.true(f"{who}_blind") for who in people),
        dependents=tuple(_dependent(one) for one in form.all("dependent_detail")),
        wages=_total(wages, "wages"),
        medicare_wages=_total(wages, "medicare_wages_and_tips"),
        payroll_tax=_total(wages, "social_security_tax") + _total(wages, "medicare_tax_withheld"),
        several_employers=_several_employers(wages),
        interest=_total(interest, "interest_1099int_interest")
        + _total(interest, "interest_1099int_us_saving_bond_treasury_obligations"),
        exempt_interest=_total(interest, "interest_1099int_tax_exempt")
        + _total(dividends, "dividend_1099div_exempt_interest_div"),
        dividends=_total(dividends, "dividend_1099div_ordinary_div"),
        qualified_dividends=_total(dividends, "dividend_1099div_qualified_div"),
        unemployment=_total(unemployment, "g_unemployment_comp"),
        pensions=_total(pensions, "taxable_amt_input"),
        benefits=_total(benefits, "ssa_net_benefits"),
        educator=tuple(schedule.amount(f"{who}_educator_exp_amount") for who in people),
        student_interest=schedule.amount("student_interest"),
        withheld=sum((_total(place, key) for place, key in withheld), Decimal(0)),
        estimated=sum((form.amount(f"estimated_tax_payment_{i}") for i in range(1, 5)), Decimal(0))
        + form.amount("applied_from_prior_year"),
        no_earned_income_credit=form.true("eic_not_allowed") or form.true("qualifying_child_of_another"),
    )
    _check(facts, pensions, data)
    return facts


def _check(facts: TaxFacts, pensions: Sequence[Field], data: Field) -> None:
    """Refuse what is not covered, and what is impossible."""
    check_scope(facts, [(leaf.path, leaf.value) for leaf in data.leaves()])
    if facts.qualified_dividends > facts.dividends:
        raise InputError(
            f"got {facts.qualified_dividends:,} of qualified dividends, but {facts.dividends:,} of all dividends"
        )
    if any(one.leaf("taxable_amt_input") is None and one.amount("gross_distribution_amt_input") for one in pensions):
        raise OutOfScopeError("a Form 1099-R without its taxable amount (box 2a) is not covered")


def _status(form: Field) -> Status:
    word = form.text("filing_status")
    if word not in _STATUSES:
        if word in _REFUSED:
            raise OutOfScopeError(f"return_data.irs1040.filing_status is {word!r}: it is not covered")
        raise InputError(f"return_data.irs1040.filing_status: got {word!r}, expected one of {', '.join(_STATUSES)}")
    return _STATUSES[word]


def _total(forms: Sequence[Field], key: str) -> Decimal:
    return sum((form.amount(key) for form in forms), Decimal(0))


def _several_employers(forms: Sequence[Field]) -> Decimal:
    by_person: dict[str, list[Field]] = {}
    for form in forms:
        by_person.setdefault(form.text("who_applies_to") or "taxpayer", []).append(form)
    several = (own for own in by_person.values() if len({str(form.leaf("ein")) for form in own}) > 1)
    return max((_total(own, "social_security_tax") for own in several), default=Decimal(0))


def _dependent(node: Field) -> Dependent:
    relationship = node.text("dependent_relationship")
    if not relationship:
        raise InputError(f"return_data.{node.path}.dependent_relationship: missing, expected for example son or parent")
    return Dependent(node.date("dependent_date_of_birth"), relationship, node.true("dependent_student"))


def check_scope(facts: TaxFacts, leaves: Iterable[tuple[str, Any]]) -> None:
    """Raise OutOfScopeError for the first thing that the engine does not cover.

    ``leaves`` are those of the input with their paths below return_data, without indices of lists.
    """
    for path, value in leaves:
        _check_leaf(path, value, facts)
    wages = max(facts.wages, facts.medicare_wages)
    unearned = facts.interest + facts.dividends + facts.unemployment + facts.pensions + facts.benefits
    if wages > MEDICARE_LIMIT[facts.status]:
        raise OutOfScopeError(f"Medicare wages of {wages:,} need Form 8959: Additional Medicare Tax is not covered")
    income = facts.wages + unearned
    if facts.interest + facts.dividends > 0 and income > MEDICARE_LIMIT[facts.status]:
        raise OutOfScopeError(f"investment income and {income:,} of total income need Form 8960: it is not covered")
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
    elif path not in KNOWN and _counts(path, value):
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
    """Whether a leaf could change a line: true, or an amount other than 0 that is not an identifier."""
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
