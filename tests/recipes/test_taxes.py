"""Nineteen lines of Form 1040: against a second implementation, published amounts, and what must be refused."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipes.taxes.engine import (
    compute,
    compute_lines,
    dividend_tax,
    eic_table,
    ordinary_tax,
    refundable_child_credit,
    schedule_tax,
    table_tax,
)
from recipes.taxes.facts import Dependent, TaxFacts
from recipes.taxes.fields import OutOfScopeError
from recipes.taxes.returns import HOUSEHOLDS, make_return
from recipes.taxes.taxcalcbench import LINES
from recipes.taxes.values import EIC_EARNED, EIC_END, EIC_MAX, EIC_START
from tests.recipes.tax_sheets import by_schedule, eic_rows, form_1040, tax_on
from vouching.errors import InputError

STATUSES = ("single", "joint", "head")


def given_return(**fields: Any) -> dict[str, Any]:
    """A single filer born in 1985, with more below return_data."""
    form = {"filing_status": {"value": "single"}, "tp_date_of_birth": {"value": "1985/07/01"}}
    return {"input": {"return_data": {"irs1040": form, **fields}}}


def test_five_hundred_synthetic_returns_agree_on_every_line_with_a_second_implementation() -> None:
    differences = [
        (name, line.id, lines[line.id], sheet[line.id])
        for name, record, lines in (make_return(1, index) for index in range(500))
        for sheet in [form_1040(record)]
        for line in LINES
        if lines[line.id] != sheet[line.id]
    ]
    assert differences == []


def test_synthetic_returns_reach_every_line_that_they_can_and_every_status() -> None:
    returns = [make_return(0, index) for index in range(200)]
    silent = {line.id for line in LINES if not any(lines[line.id] for _, _, lines in returns)}
    assert silent == {"29"}, "line 29 needs Form 8863, which is refused"
    statuses = {record["input"]["return_data"]["irs1040"]["filing_status"]["value"] for _, record, _ in returns}
    assert len(statuses) == len(STATUSES)


def test_equal_seeds_give_equal_returns_and_others_give_others() -> None:
    assert make_return(3, 5) == make_return(3, 5)
    assert all(make_return(3, index) != make_return(4, index) for index in range(len(HOUSEHOLDS)))


@pytest.mark.parametrize(
    ("status", "income", "tax"),
    [
        ("head", 26_000, 2_792),
        ("single", 130_400, 24_339),
        ("joint", 105_800, 13_382),  # TaxCalcBench's own returns
        # 10 % of the middle of a row, as the Tax Tables of every year print it for the first rows.
        ("single", 0, 0),
        ("single", 5, 1),
        ("head", 15, 2),
        ("joint", 25, 4),
        ("single", 50, 6),
        ("single", 75, 9),
        ("joint", 125, 14),
        ("head", 1_000, 101),
        ("single", 1_025, 104),
        ("joint", 2_150, 216),
        ("head", 2_200, 221),
        ("single", 100_525, 17_169),
        ("joint", 383_900, 78_221),
        ("head", 243_700, 53_977),  # bases of the schedules
    ],
)
def test_tax_on_published_amounts(status: Any, income: int, tax: int) -> None:
    assert int(ordinary_tax(income, status) + Decimal("0.5")) == tax


@given(st.integers(0, 99_999), st.sampled_from(STATUSES))
def test_table_and_schedule_are_never_further_apart_than_half_a_row(income: int, status: Any) -> None:
    # Half a row is 25 dollars, at 24 % at most 6, and rounding adds half a dollar.
    assert abs(table_tax(income, status) - schedule_tax(income, status)) <= Decimal("6.5")


@given(st.integers(0, 1_000_000), st.integers(0, 3))
def test_tax_agrees_with_the_second_implementation(income: int, column: int) -> None:
    status: Any = STATUSES[column % 3]
    assert ordinary_tax(income, status) == tax_on(income, column % 3)
    assert schedule_tax(income, status) == by_schedule(income, column % 3)  # type: ignore[arg-type]


@given(st.integers(0, 900_000), st.integers(0, 900_000), st.sampled_from(STATUSES))
def test_qualified_dividends_never_raise_the_tax(income: int, qualified: int, status: Any) -> None:
    assert 0 <= dividend_tax(income, qualified, status) <= ordinary_tax(income, status)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("children", range(4))
def test_the_eic_table_by_rows_is_within_a_row_of_the_law_and_equal_to_the_second_implementation(
    joint: bool, children: int
) -> None:
    bends = (EIC_EARNED[children], EIC_START[joint][children], EIC_END[joint][children])
    seen = 0
    for row in range(0, EIC_END[joint][children], 50):
        if any(row < bend < row + 50 for bend in bends):
            with pytest.raises(OutOfScopeError, match="change of slope"):
                eic_table(row, children, joint)
            continue
        credit = eic_table(row, children, joint)
        assert credit == eic_rows(children, joint)[row // 50]
        assert credit <= EIC_MAX[children]
        seen = max(seen, credit)
    assert seen == EIC_MAX[children]


def test_the_benchmarks_two_credits_on_the_same_wages() -> None:
    # 7.65 % and 34 % of 3,275, the middle of 3,250 to 3,300.
    assert (eic_table(3_260, 0, False), eic_table(3_260, 1, False)) == (251, 1_114)


@pytest.mark.parametrize(
    ("status", "born", "blind", "deduction"),
    [
        ("single", [1950], 1, 18_500),
        ("single", [1950], 0, 16_550),
        ("joint", [1950, 1951], 2, 35_400),
        ("head", [1950], 0, 23_850),
    ],
)
def test_the_standard_deduction_with_age_and_blindness(
    status: Any, born: list[int], blind: int, deduction: int
) -> None:
    facts = TaxFacts(status, tuple(date(year, 3, 1) for year in born), blind)
    assert compute_lines(facts)["12"] == deduction


def test_those_born_on_new_years_day_of_1960_are_65_and_a_day_later_are_not() -> None:
    assert compute_lines(TaxFacts("single", (date(1960, 1, 1),)))["12"] == 14_600 + 1_950
    assert compute_lines(TaxFacts("single", (date(1960, 1, 2),)))["12"] == 14_600


def test_a_child_of_seventeen_gives_the_credit_for_other_dependents() -> None:
    def credit(day: date) -> int:
        child = (Dependent(day, "son"),)
        return compute_lines(TaxFacts("single", (date(1980, 1, 1),), dependents=child, wages=Decimal(90_000)))["19"]

    assert (credit(date(2008, 1, 1)), credit(date(2007, 12, 31))) == (2_000, 500)


def test_three_children_may_get_back_payroll_tax() -> None:
    children = tuple(Dependent(date(2015, 1, day), "son") for day in (1, 2, 3))
    facts = TaxFacts("joint", (date(1985, 1, 1),) * 2, dependents=children, payroll_tax=Decimal(2_900))
    # 15 % of 12,500 is 1,875; payroll tax less a credit of 800 is 2,100.
    assert refundable_child_credit(facts, 6_000, 15_000, 800) == 2_100
    assert refundable_child_credit(facts, 6_000, 15_000, 2_000) == 1_875


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"irs1040_schedulec": [{"gross_receipts_cash": {"value": 10}}]}, "Schedule C"),
        ({"will_itemize": {"value": True}}, "itemized"),
        ({"irs8949": {"irs1099_b_grp": [{"irs1099_b": [{"proceeds": {"value": "1,000"}}]}]}}, "capital gains"),
        ({"irs8962": {"annual_premium": {"value": 1.0}}}, "Form 8962"),
        ({"irs8863": {"total_support_8863": {"value": 59_000}}}, "Form 8863"),
        ({"irs1040_schedule3": {"extension_payment": {"value": 100}}}, "Schedule 3"),
        ({"w2": [{"wages": {"value": 1}, "employers_use_grp": [{"box_12_code": {"value": "W"}}]}]}, "code W"),
        ({"w2": [{"wages": {"value": 1}, "employers_use_grp": [{"box_12_code": {"value": "D"}}]}]}, "saver's"),
        ({"w2": [{"wages": {"value": 200_001}}]}, "Form 8959"),
        ({"w2": [{"wages": {"value": 5}, "brand_new_box": {"value": 7}}]}, "return_data.w2.brand_new_box"),
        (
            {
                "irs1099_r": [
                    {
                        "gross_distribution_amt_input": {"value": 5},
                        "taxable_amt_input": {"value": 5},
                        "f1099_r_distribution_cd_input": {"value": "1"},
                    }
                ]
            },
            "code '1'",
        ),
        (
            {
                "w2": [
                    {"wages": {"value": 170_000}, "social_security_tax": {"value": 6_000}, "ein": {"value": str(n)}}
                    for n in range(1)
                ]
                + [{"wages": {"value": 1}, "social_security_tax": {"value": 5_000}, "ein": {"value": "x"}}]
            },
            "excess social security",
        ),
    ],
)
def test_what_is_not_covered_is_refused_by_name(fields: dict[str, Any], name: str) -> None:
    with pytest.raises(OutOfScopeError, match=name):
        compute(given_return(**fields))


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"w2": [{"wages": {"value": "12 apples"}}]}, r"w2\[0\]\.wages\.value: got '12 apples'"),
        ({"w2": [{"wages": {"value": -5}}]}, r"w2\[0\]\.wages\.value: got -5"),
        ({"w2": [{"wages": {"value": float("nan")}}]}, r"w2\[0\]\.wages\.value: got nan"),
        ({"w2": "none"}, "return_data.w2: got 'none', expected a list"),
        ({"irs1040": {"filing_status": {"value": "bachelor"}}}, "filing_status: got 'bachelor'"),
        ({"irs1040": {"filing_status": {"value": "single"}}}, "tp_date_of_birth.value: got None, expected a date"),
    ],
)
def test_input_that_is_wrong_is_refused_with_its_path(fields: dict[str, Any], path: str) -> None:
    with pytest.raises(InputError, match=path):
        compute(given_return(**fields))


def test_zeros_falses_and_names_do_not_refuse_a_return() -> None:
    idle = {"gross_receipts_cash": {"value": 0}, "business_name": {"value": "Books"}, "active": {"value": False}}
    numbers = {"wages": {"value": "$1,234.50"}, "employer_phone": {"value": "5551234567"}}
    assert compute(given_return(irs1040_schedulec=[idle], w2=[numbers]))["1a"] == 1_235


def test_a_given_line_is_taken_and_the_lines_after_it_follow() -> None:
    lines = compute_lines(TaxFacts("single", (date(1985, 1, 1),), wages=Decimal(50_000)), {"11": 60_000})
    assert (lines["9"], lines["11"], lines["15"]) == (50_000, 60_000, 45_400)
