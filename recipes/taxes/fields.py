"""Fields of TaxCalcBench's input: objects, lists, and leaves ``{"label", "value"}``; and those that the engine knows.

Error messages name the path of a field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, cast

from vouching.errors import InputError
from vouching.methods.assurance.values import read_amount


@dataclass(frozen=True, slots=True)
class Field:
    """A place in the input and its JSON value."""

    path: str
    """Below return_data, e.g. "w2[0].wages"; empty for all of it."""
    value: Any = field(hash=False)

    def at(self, key: str) -> Field:
        """The field of a key; an empty object if it is absent or null."""
        below = self._object().get(key)
        return Field(f"{self.path}.{key}".lstrip("."), {} if below is None else below)

    def all(self, key: str) -> list[Field]:
        """The objects of a list; a single object counts as a list of one."""
        node = self.at(key)
        if isinstance(node.value, Mapping):
            only = cast("Mapping[str, Any]", node.value)
            return [Field(f"{node.path}[0]", only)] if only else []
        if not isinstance(node.value, list):
            raise InputError(f"return_data.{node.path}: got {node.value!r:.60}, expected a list of objects")
        return [Field(f"{node.path}[{i}]", one) for i, one in enumerate(cast("list[Any]", node.value))]

    def leaf(self, key: str) -> Any:
        """The value of a leaf, None if there is none."""
        return self.at(key)._object().get("value")

    def text(self, key: str) -> str:
        """A leaf as a word in lower case, with underscores; empty if there is none."""
        value = self.leaf(key)
        if value is not None and not isinstance(value, str):
            raise InputError(f"return_data.{self.path}.{key}.value: got {value!r:.60}, expected text")
        return (value or "").strip().lower().replace(" ", "_")

    def true(self, key: str) -> bool:
        """A leaf as a boolean; absent is False."""
        value = self.leaf(key)
        if value not in (None, "", True, False, "true", "false", "yes", "no"):
            raise InputError(f"return_data.{self.path}.{key}.value: got {value!r:.60}, expected true or false")
        return value in (True, "true", "yes")

    def amount(self, key: str) -> Decimal:
        """A leaf in dollars, as a number or "$1,234.50"; absent is 0."""
        value = self.leaf(key)
        if value is None or value == "":
            return Decimal(0)
        amount = None if isinstance(value, bool) else read_amount(str(value))
        if amount is None or not 0 <= amount < 10**9:
            raise InputError(f"return_data.{self.path}.{key}.value: got {value!r:.60}, expected an amount of 0 or more")
        return amount

    def date(self, key: str) -> date:
        """A leaf as a date, written 1990-05-01 or 1990/05/01."""
        value = self.leaf(key)
        try:
            return date.fromisoformat(str(value).replace("/", "-"))
        except ValueError:
            raise InputError(
                f"return_data.{self.path}.{key}.value: got {value!r:.60}, expected a date as 1990-05-01"
            ) from None

    def leaves(self) -> Iterator[Field]:
        """Every leaf below, with its path without indices of lists."""
        if isinstance(self.value, Mapping):
            below = cast("Mapping[str, Any]", self.value)
            if "value" in below and not isinstance(below["value"], Mapping | list):
                yield Field(self.path, below["value"])
                return
            for key, value in below.items():
                yield from Field(f"{self.path}.{key}".lstrip("."), value).leaves()
        elif isinstance(self.value, list):
            for one in cast("list[Any]", self.value):
                yield from Field(self.path, one).leaves()
        else:
            yield self

    def _object(self) -> Mapping[str, Any]:
        if not isinstance(self.value, Mapping):
            raise InputError(f"return_data.{self.path}: got {self.value!r:.60}, expected an object")
        return cast("Mapping[str, Any]", self.value)


def return_data(record: Mapping[str, Any]) -> Field:
    """The forms of an input, the content of input.json or its ``input`` alone. Raises InputError without them."""
    inside = record.get("input", record)
    data = cast("Mapping[str, Any]", inside).get("return_data") if isinstance(inside, Mapping) else None
    if not isinstance(data, Mapping):
        raise InputError('the input has no object "return_data": expected {"input": {"return_header", "return_data"}}')
    return Field("", cast("Mapping[str, Any]", data))


class OutOfScopeError(InputError):
    """A return with something that the engine does not cover; no line of it is computed."""


READ: Mapping[str, tuple[str, ...]] = {
    "irs1040": (
        "filing_status",
        "tp_date_of_birth",
        "sp_date_of_birth",
        "tp_blind",
        "sp_blind",
        "estimated_tax_payment_1",
        "estimated_tax_payment_2",
        "estimated_tax_payment_3",
        "estimated_tax_payment_4",
        "applied_from_prior_year",
        "eic_not_allowed",
        "qualifying_child_of_another",
    ),
    "irs1040.dependent_detail": ("dependent_date_of_birth", "dependent_relationship", "dependent_student"),
    "w2": ("wages", "withholding", "social_security_tax", "medicare_wages_and_tips", "medicare_tax_withheld"),
    "irs1040_scheduleb.irs1099_int": (
        "interest_1099int_interest",
        "interest_1099int_us_saving_bond_treasury_obligations",
        "interest_1099int_tax_exempt",
        "interest_1099int_fed_inc_tax_withheld",
    ),
    "irs1040_scheduleb.irs1099_div": (
        "dividend_1099div_ordinary_div",
        "dividend_1099div_qualified_div",
        "dividend_1099div_exempt_interest_div",
        "dividend_1099div_federal_inc_tax_withheld",
    ),
    "irs1040_schedule1": ("tp_educator_exp_amount", "sp_educator_exp_amount", "student_interest"),
    "irs1040_schedule1.irs1099_g": ("g_unemployment_comp", "g_fed_wh"),
    "irs1099_r": (
        "gross_distribution_amt_input",
        "taxable_amt_input",
        "federal_income_tax_withheld_amt_input",
        "f1099_r_distribution_cd_input",
    ),
    "ssa_1099.ssa_1099_grp": ("ssa_net_benefits", "ssa_federal_withholding"),
}
"""The leaves that are read, by the object they are in."""
_IDLE = {
    "irs1040": ("tp_student", "sp_student", "refund_method", "presidential_election_tp", "presidential_election_sp"),
    "irs1040.dependent_detail": ("dependent_supported_by_tp",),
    "w2": (
        "social_security_wages",
        "social_security_tips",
        "retirement_plan",
        "third_party_sick_pay",
        "state_wages",
        "state_withholding",
        "local_wages",
        "local_withholding",
        "employers_use_grp.box_12_code",
        "employers_use_grp.box_12_amount",
        "ein",
    ),
    "irs1099_r": ("irasepsimple_ind_input", "total_distribution_ind_input", "employee_contributions_amt_input"),
}
KNOWN = frozenset(f"{place}.{key}" for part in (READ, _IDLE) for place, keys in part.items() for key in keys)
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
"""Fields that are refused under the name of their form; other unknown fields are refused under their own."""
