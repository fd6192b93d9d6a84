"""Form 1040 of 2024 a second time, as tables: every worksheet a list of numbered lines, every table its printed rows.

Written from the forms' own line numbers, in fractions, and sharing nothing with the library: it reads the JSON itself
and looks tax and credit up in rows that are laid out once. It says nothing of what is refused.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction as F
from functools import cache
from math import floor
from typing import Any

COLUMNS = {"single": 0, "married_filing_jointly": 1, "head_of_household": 2}
RATES = [
    (0, 0, 0, 10),
    (11_600, 23_200, 16_550, 12),
    (47_150, 94_300, 63_100, 22),
    (100_525, 201_050, 100_500, 24),
    (191_950, 383_900, 191_950, 32),
    (243_725, 487_450, 243_700, 35),
    (609_350, 731_200, 609_350, 37),
]
# children: rate in, income, most, rate out; start for others and joint, end for others and joint
EIC = [
    (F(765, 10_000), 8_260, 632, F(765, 10_000), 10_330, 17_250, 18_591, 25_511),
    (F(34, 100), 12_390, 4_213, F(1_598, 10_000), 22_720, 29_640, 49_084, 56_004),
    (F(40, 100), 17_400, 6_960, F(2_106, 10_000), 22_720, 29_640, 55_768, 62_688),
    (F(45, 100), 17_400, 7_830, F(2_106, 10_000), 22_720, 29_640, 59_899, 66_819),
]
KIN = {"son", "daughter", "stepchild", "grandchild", "child", "brother", "sister", "niece", "nephew"}
Sheet = dict[str, Any]
Lines = list[tuple[str, Callable[[Sheet], Any]]]


def dollars(amount: F) -> int:
    """Whole dollars, half a dollar up."""
    return floor(amount + F(1, 2))


def filled(lines: Lines, **given: Any) -> Sheet:
    """A worksheet filled in from the top."""
    sheet: Sheet = dict(given)
    for name, formula in lines:
        sheet[name] = formula(sheet)
    return sheet


@cache
def schedule(column: int) -> list[tuple[int, F, F]]:
    """The rate schedule as it is printed: over, the tax there, the rate of the excess."""
    rows: list[tuple[int, F, F]] = []
    for row in RATES:
        before = rows[-1] if rows else (0, F(0), F(0))
        rows.append((row[column], before[1] + (row[column] - before[0]) * before[2], F(row[3], 100)))
    return rows


def by_schedule(income: F, column: int) -> F:
    """Tax by the printed schedule."""
    over, base, rate = [row for row in schedule(column) if row[0] <= income][-1]
    return base + (income - over) * rate


@cache
def tax_table(column: int) -> tuple[list[int], list[int]]:
    """The Tax Table: where rows begin, and their tax."""
    starts = [0, 5, 15, *range(25, 3_000, 25), *range(3_000, 100_000, 50)]
    ends = [*starts[1:], 100_000]
    taxes = [0] + [dollars(by_schedule(F(a + b, 2), column)) for a, b in zip(starts[1:], ends[1:], strict=True)]
    return starts, taxes


def tax_on(income: int, column: int) -> F:
    """Tax by table or schedule."""
    if income >= 100_000:
        return by_schedule(F(income), column)
    starts, taxes = tax_table(column)
    return F(taxes[bisect_right(starts, income) - 1])


@cache
def eic_rows(children: int, joint: bool) -> list[int]:
    """The EIC Table's column: the credit of each row of 50 dollars from 0 on."""
    rate_in, _, limit, rate_out, *bounds = EIC[children]
    start, end = bounds[joint], bounds[2 + joint]
    middles = [F(50 * row + 25) for row in range(end // 50 + 1)]
    return [dollars(max(F(0), min(rate_in * m, F(limit), limit - rate_out * (m - start)))) for m in middles]


DIVIDENDS: Lines = [
    ("5", lambda s: max(0, s["1"] - s["2"])),
    ("6", lambda s: (47_025, 94_050, 63_000)[s["column"]]),
    ("7", lambda s: min(s["1"], s["6"])),
    ("8", lambda s: min(s["5"], s["7"])),
    ("9", lambda s: s["7"] - s["8"]),
    ("10", lambda s: min(s["1"], s["2"])),
    ("12", lambda s: s["10"] - s["9"]),
    ("13", lambda s: (518_900, 583_750, 551_350)[s["column"]]),
    ("14", lambda s: min(s["1"], s["13"])),
    ("15", lambda s: s["5"] + s["9"]),
    ("16", lambda s: max(0, s["14"] - s["15"])),
    ("17", lambda s: min(s["12"], s["16"])),
    ("18", lambda s: F(15, 100) * s["17"]),
    ("20", lambda s: s["10"] - (s["9"] + s["17"])),
    ("21", lambda s: F(20, 100) * s["20"]),
    ("22", lambda s: tax_on(s["5"], s["column"])),
    ("23", lambda s: s["18"] + s["21"] + s["22"]),
    ("24", lambda s: tax_on(s["1"], s["column"])),
    ("25", lambda s: min(s["23"], s["24"])),
]
BENEFITS: Lines = [
    ("2", lambda s: s["1"] / 2),
    ("5", lambda s: s["2"] + s["3"] + s["4"]),
    ("7", lambda s: max(F(0), s["5"] - s["6"])),
    ("8", lambda s: (25_000, 32_000, 25_000)[s["column"]]),
    ("9", lambda s: max(F(0), s["7"] - s["8"])),
    ("10", lambda s: (9_000, 12_000, 9_000)[s["column"]]),
    ("11", lambda s: max(F(0), s["9"] - s["10"])),
    ("12", lambda s: min(s["9"], s["10"])),
    ("13", lambda s: F(s["12"]) / 2),
    ("14", lambda s: min(s["2"], s["13"])),
    ("15", lambda s: F(85, 100) * s["11"]),
    ("16", lambda s: s["14"] + s["15"]),
    ("17", lambda s: F(85, 100) * s["1"]),
    ("18", lambda s: min(s["16"], s["17"])),
]
STUDENT_LOAN: Lines = [
    ("4", lambda s: s["2"] - s["3"]),
    ("5", lambda s: (80_000, 165_000, 80_000)[s["column"]]),
    ("6", lambda s: max(0, s["4"] - s["5"])),
    ("7", lambda s: min(F(1), F(dollars(F(1_000) * s["6"] / (15_000, 30_000, 15_000)[s["column"]]), 1_000))),
    ("8", lambda s: s["1"] * s["7"]),
    ("9", lambda s: s["1"] - s["8"]),
]
SCHEDULE_8812: Lines = [
    ("5", lambda s: 2_000 * s["4"]),
    ("7", lambda s: 500 * s["6"]),
    ("8", lambda s: s["5"] + s["7"]),
    ("9", lambda s: (200_000, 400_000, 200_000)[s["column"]]),
    ("10", lambda s: -(-max(0, s["3"] - s["9"]) // 1_000) * 1_000),
    ("11", lambda s: s["10"] // 20),
    ("12", lambda s: max(0, s["8"] - s["11"])),
    ("14", lambda s: min(s["12"], s["13"])),
    ("16a", lambda s: s["12"] - s["14"]),
    ("16b", lambda s: 1_700 * s["4"]),
    ("17", lambda s: min(s["16a"], s["16b"])),
    ("19", lambda s: max(0, s["18a"] - 2_500)),
    ("20", lambda s: F(15, 100) * s["19"]),
    ("25", lambda s: max(0, s["23"] - s["24"]) if s["16b"] >= 5_100 and s["20"] < s["17"] else 0),
    ("27", lambda s: min(F(s["17"]), max(s["20"], F(s["25"])))),
]
FORM: Lines = [
    ("1a", lambda s: dollars(s["box"]("w2", "wages"))),
    (
        "2a",
        lambda s: dollars(
            s["box"]("int", "interest_1099int_tax_exempt") + s["box"]("div", "dividend_1099div_exempt_interest_div")
        ),
    ),
    (
        "2b",
        lambda s: dollars(
            s["box"]("int", "interest_1099int_interest")
            + s["box"]("int", "interest_1099int_us_saving_bond_treasury_obligations")
        ),
    ),
    ("3a", lambda s: dollars(s["box"]("div", "dividend_1099div_qualified_div"))),
    ("3b", lambda s: dollars(s["box"]("div", "dividend_1099div_ordinary_div"))),
    ("5b", lambda s: dollars(s["box"]("r", "taxable_amt_input"))),
    ("8", lambda s: dollars(s["box"]("g", "g_unemployment_comp"))),
    ("S1-11", lambda s: dollars(F(sum(min(F(300), one) for one in s["educators"])))),
    (
        "6b",
        lambda s: dollars(
            filled(
                BENEFITS,
                column=s["column"],
                **{
                    "1": s["box"]("ssa", "ssa_net_benefits"),
                    "3": s["1a"] + s["2b"] + s["3b"] + s["5b"] + s["8"],
                    "4": s["2a"],
                    "6": s["S1-11"],
                },
            )["18"]
        ),
    ),
    ("9", lambda s: s["1a"] + s["2b"] + s["3b"] + s["5b"] + s["6b"] + s["8"]),
    (
        "S1-21",
        lambda s: dollars(
            filled(
                STUDENT_LOAN, column=s["column"], **{"1": min(F(2_500), s["student"]), "2": s["9"], "3": s["S1-11"]}
            )["9"]
        ),
    ),
    ("10", lambda s: s["S1-11"] + s["S1-21"]),
    ("11", lambda s: s["9"] - s["10"]),
    ("12", lambda s: (14_600, 29_200, 21_900)[s["column"]] + (1_950, 1_550, 1_950)[s["column"]] * s["marks"]),
    ("15", lambda s: max(0, s["11"] - s["12"])),
    ("16", lambda s: dollars(filled(DIVIDENDS, column=s["column"], **{"1": s["15"], "2": s["3a"]})["25"])),
    ("27", lambda s: eic(s)),
    (
        "8812",
        lambda s: filled(
            SCHEDULE_8812,
            column=s["column"],
            **{
                "3": s["11"],
                "4": s["young"],
                "6": s["others"],
                "13": s["16"],
                "18a": s["1a"],
                "24": s["27"],
                "23": dollars(s["box"]("w2", "social_security_tax") + s["box"]("w2", "medicare_tax_withheld")),
            },
        ),
    ),
    ("19", lambda s: s["8812"]["14"]),
    ("24", lambda s: s["16"] - s["19"]),
    ("25d", lambda s: dollars(sum((s["box"](form, key) for form, key in WITHHELD), F(0)))),
    ("26", lambda s: dollars(s["estimated"])),
    ("28", lambda s: dollars(s["8812"]["27"])),
    ("29", lambda s: 0),
    ("32", lambda s: s["27"] + s["28"] + s["29"]),
    ("33", lambda s: s["25d"] + s["26"] + s["32"]),
    ("34", lambda s: s["33"] - s["24"] if s["33"] > s["24"] else 0),
    ("35a", lambda s: s["34"]),
    ("37", lambda s: s["24"] - s["33"] if s["24"] > s["33"] else 0),
]
WITHHELD = [
    ("w2", "withholding"),
    ("int", "interest_1099int_fed_inc_tax_withheld"),
    ("div", "dividend_1099div_federal_inc_tax_withheld"),
    ("g", "g_fed_wh"),
    ("r", "federal_income_tax_withheld_amt_input"),
    ("ssa", "ssa_federal_withholding"),
]


def eic(s: Sheet) -> int:
    """EIC Worksheet A, steps 1 to 6."""
    children, joint = min(3, s["eic children"]), s["column"] == 1
    end = EIC[children][6 + joint]
    if s["2a"] + s["2b"] + s["3b"] > 11_600 or not (children or s["25 to 64"]):
        return 0
    if not 1 <= s["1a"] < end or s["11"] >= end:
        return 0
    rows = eic_rows(children, joint)
    first = rows[s["1a"] // 50]
    bound = {(False, False): 10_350, (False, True): 17_250, (True, False): 22_750, (True, True): 29_650}
    return first if s["11"] < bound[children > 0, joint] else min(first, rows[s["11"] // 50])


def form_1040(record: Any) -> Sheet:
    """All lines of a return, from its JSON."""
    data = record["input"]["return_data"]
    form, one, b = data["irs1040"], data["irs1040_schedule1"], data.get("irs1040_scheduleb", {})
    forms = {
        "w2": data.get("w2", []),
        "int": b.get("irs1099_int", []),
        "div": b.get("irs1099_div", []),
        "g": one.get("irs1099_g", []),
        "r": data.get("irs1099_r", []),
        "ssa": data.get("ssa_1099", {}).get("ssa_1099_grp", []),
    }

    def leaf(place: Any, key: str, otherwise: Any = 0) -> Any:
        return place.get(key, {"value": otherwise})["value"]

    def money(place: Any, key: str) -> F:
        return F(str(leaf(place, key)))

    joint = leaf(form, "filing_status") == "married_filing_jointly"
    who = ("tp", "sp") if joint else ("tp",)
    born = [leaf(form, f"{one}_date_of_birth") for one in who]
    dependents = [
        (
            leaf(d, "dependent_date_of_birth"),
            leaf(d, "dependent_relationship") in KIN,
            leaf(d, "dependent_student", False),
        )
        for d in form["dependent_detail"]
    ]
    young = sum(kin and int(day[:4]) > 2007 for day, kin, _ in dependents)
    payments = [f"estimated_tax_payment_{number}" for number in (1, 2, 3, 4)] + ["applied_from_prior_year"]
    return filled(
        FORM,
        column=COLUMNS[leaf(form, "filing_status")],
        box=lambda kind, key: sum((money(each, key) for each in forms[kind]), F(0)),
        educators=[money(one, f"{person}_educator_exp_amount") for person in who],
        student=money(one, "student_interest"),
        estimated=sum((money(form, key) for key in payments), F(0)),
        marks=sum(day < "1960-01-02" for day in born) + sum(bool(leaf(form, f"{one}_blind", False)) for one in who),
        young=young,
        others=len(dependents) - young,
        **{
            "25 to 64": any("1960-01-01" <= day <= "2000-01-01" for day in born),
            "eic children": sum(kin and int(day[:4]) > (2000 if student else 2005) for day, kin, student in dependents),
        },
    )
