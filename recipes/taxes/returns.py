"""Synthetic returns in TaxCalcBench's layout: seeded, diverse, and covered by the engine.

Each return is drawn from one of the households below; the expected lines are the engine's. Not supported: a realistic
joint distribution of incomes; these returns are for testing verifiers, not for describing a population.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from recipes.taxes.engine import compute
from recipes.taxes.facts import OutOfScopeError
from recipes.taxes.taxcalcbench import LINES

HOUSEHOLDS = ("worker", "family", "single-parent", "retired", "jobless", "educator", "graduate", "investor")
"""The kinds of household that returns are drawn from, in turn."""
_MAX_TRIES = 50
_Leaf = dict[str, Any]


def make_return(seed: int, index: int) -> tuple[str, dict[str, Any], dict[str, int]]:
    """Return number ``index`` of a seed: its name, the content of input.json, and the nineteen lines.

    >>> name, record, lines = make_return(0, 2)
    >>> name, lines["11"] == lines["9"] - lines["10"]
    ('0002-single-parent', True)
    """
    household = HOUSEHOLDS[index % len(HOUSEHOLDS)]
    for attempt in range(_MAX_TRIES):
        random = Random(f"taxes/{seed}/{index}/{attempt}")
        record = _Writer(random, household).record()
        try:
            return f"{index:04}-{household}", record, compute(record)
        except OutOfScopeError:
            continue  # e.g. a row of the EIC Table that is not covered: draw again
    raise AssertionError(f"no {household} in {_MAX_TRIES} draws is covered")


def output_xml(lines: Mapping[str, int]) -> str:
    """The lines as the IRS's XML, without those that are 0.

    >>> "<WagesAmt>12</WagesAmt>" in output_xml({"1a": 12, "9": 0}), "TotalIncomeAmt" in output_xml({"9": 0})
    (True, False)
    """
    amounts = ((line.element, lines.get(line.id, 0)) for line in LINES)
    body = "".join(f"      <{element}>{amount}</{element}>\n" for element, amount in amounts if amount)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<Return xmlns="http://www.irs.gov/efile" returnVersion="2024v5.0">\n'
        f"  <ReturnData>\n    <IRS1040>\n{body}    </IRS1040>\n  </ReturnData>\n</Return>\n"
    )


def write_return(folder: Path, record: Mapping[str, Any], lines: Mapping[str, int]) -> None:
    """Write a return as a case of TaxCalcBench: a folder with ``input.json`` and ``output.xml``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "input.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (folder / "output.xml").write_text(output_xml(lines), encoding="utf-8")


class _Writer:
    """Draws one household and writes its forms."""

    def __init__(self, random: Random, household: str) -> None:
        self._random = random
        self._household = household
        self._joint = household in {"family", "investor"} or (
            household in {"retired", "worker", "educator", "jobless"} and random.random() < 0.4
        )
        self._head = household == "single-parent"

    def record(self) -> dict[str, Any]:
        """The content of input.json."""
        draw: Callable[[], dict[str, Any]] = {
            "retired": self._retired,
            "jobless": self._jobless,
            "investor": self._investor,
        }.get(self._household, self._working)
        forms = {"irs1040": self._form(), "irs1040_schedule1": self._schedule1(), **draw()}
        schedule1 = {**forms["irs1040_schedule1"], **forms.pop("more_schedule1", {})}
        header = {"tax_year": _leaf("Tax year", 2024), "return_type": _leaf("Return", "1040")}
        return {"input": {"return_header": header, "return_data": {**forms, "irs1040_schedule1": schedule1}}}

    def _form(self) -> dict[str, Any]:
        random, household = self._random, self._household
        status = "married_filing_jointly" if self._joint else "head_of_household" if self._head else "single"
        oldest, youngest = (1935, 1961) if household == "retired" else (1958, 2004 if household == "graduate" else 1999)
        born = date(random.randint(oldest, youngest), random.randint(1, 12), random.randint(1, 28))
        form: dict[str, Any] = {
            "filing_status": _leaf("Filing status", status),
            "tp_date_of_birth": _leaf("Date of birth", born.isoformat()),
            "tp_blind": _leaf("Blind", random.random() < 0.05),
            "dependent_detail": self._dependents(born),
        }
        if self._joint:
            spouse = date(min(1999, born.year + random.randint(-6, 6)), random.randint(1, 12), random.randint(1, 28))
            form["sp_date_of_birth"] = _leaf("Spouse's date of birth", spouse.isoformat())
            form["sp_blind"] = _leaf("Spouse is blind", random.random() < 0.05)
        if random.random() < 0.25:
            quarter = random.randrange(100, 3_000, 50)
            for number in range(1, 5):
                form[f"estimated_tax_payment_{number}"] = _leaf(f"Estimated payment {number}", quarter)
        if random.random() < 0.1:
            form["applied_from_prior_year"] = _leaf("Applied from 2023", random.randint(20, 900))
        return form

    def _dependents(self, born: date) -> list[dict[str, Any]]:
        random, household = self._random, self._household
        limit = {"family": 4, "single-parent": 3, "jobless": 2, "worker": 1, "investor": 2, "educator": 2}.get(
            household, 0
        )
        count = random.randint(1 if self._head else 0, limit) if limit and (self._joint or self._head) else 0
        found: list[dict[str, Any]] = []
        for _ in range(count):
            parent = random.random() < 0.08 and not self._head
            years = (born.year - 30, born.year - 20) if parent else (max(1998, born.year + 18), 2024)
            day = date(random.randint(min(years), max(years)), random.randint(1, 12), random.randint(1, 28))
            age = 2024 - day.year
            word = "parent" if parent else random.choice(["son", "daughter", "stepchild", "grandchild"])
            found.append(
                {
                    "dependent_date_of_birth": _leaf("Date of birth", day.isoformat()),
                    "dependent_relationship": _leaf("Relationship", word),
                    "dependent_student": _leaf("Full-time student", not parent and age >= 18 and random.random() < 0.6),
                }
            )
        return found

    def _schedule1(self) -> dict[str, Any]:
        random, found = self._random, dict[str, Any]()
        if self._household == "educator":
            found["tp_educator_exp_amount"] = _leaf("Educator expenses", random.randint(80, 500))
            if self._joint and random.random() < 0.5:
                found["sp_educator_exp_amount"] = _leaf("Spouse's educator expenses", random.randint(80, 500))
        if self._household == "graduate" or random.random() < 0.15:
            found["student_interest"] = _leaf("Student loan interest", random.randint(150, 3_400))
        return found

    def _working(self) -> dict[str, Any]:
        low, high = {
            "single-parent": (6_000, 70_000),
            "graduate": (15_000, 96_000),
            "family": (14_000, 240_000),
            "educator": (30_000, 110_000),
        }.get(self._household, (1_500, 190_000))
        people = ["taxpayer", "spouse"] if self._joint and self._random.random() < 0.6 else ["taxpayer"]
        forms: dict[str, Any] = {
            "w2": [w2 for who in people for w2 in self._jobs(who, low // len(people), high // len(people))]
        }
        if self._random.random() < 0.45:
            forms["irs1040_scheduleb"] = self._savings(900)
        return forms

    def _retired(self) -> dict[str, Any]:
        random = self._random
        forms: dict[str, Any] = {"irs1040_scheduleb": self._savings(6_000)}
        people = ["taxpayer", "spouse"] if self._joint else ["taxpayer"]
        forms["ssa_1099"] = {
            "ssa_1099_grp": [
                {
                    "ssa_who_applies_to": _leaf("Who", who),
                    "ssa_net_benefits": _leaf("Box 5", amount := random.randint(9_000, 42_000)),
                    "ssa_federal_withholding": _leaf("Box 6", amount // 10 if random.random() < 0.3 else 0),
                }
                for who in people
            ]
        }
        forms["irs1099_r"] = [
            {
                "who_applies_to": _leaf("Who", "taxpayer"),
                "gross_distribution_amt_input": _leaf("Box 1", amount := self._log(1_000, 90_000)),
                "taxable_amt_input": _leaf("Box 2a", amount if random.random() < 0.8 else amount * 4 // 5),
                "federal_income_tax_withheld_amt_input": _leaf("Box 4", amount // 9),
                "f1099_r_distribution_cd_input": _leaf("Box 7", random.choice(["7", "7", "7", "4", "2"])),
            }
            for _ in range(random.randint(0, 2))
        ]
        if random.random() < 0.2:
            forms["w2"] = self._jobs("taxpayer", 2_000, 30_000)
        return forms

    def _jobless(self) -> dict[str, Any]:
        random = self._random
        benefits = [
            {
                "g_who_applies_to": _leaf("Who", "taxpayer"),
                "g_unemployment_comp": _leaf("Box 1", amount := random.randint(1_200, 21_000)),
                "g_fed_wh": _leaf("Box 4", amount // 10 if random.random() < 0.5 else 0),
            }
            for _ in range(random.randint(1, 2))
        ]
        return {"w2": self._jobs("taxpayer", 1_000, 60_000), "more_schedule1": {"irs1099_g": benefits}}

    def _investor(self) -> dict[str, Any]:
        return {"w2": self._jobs("taxpayer", 40_000, 180_000), "irs1040_scheduleb": self._savings(9_000)}

    def _savings(self, limit: int) -> dict[str, Any]:
        """Schedule B: interest, and dividends, some of them qualified."""
        random = self._random
        interest = [
            {
                "interest_1099int_payer": _leaf("Payer", f"Bank {number + 1}"),
                "interest_1099int_interest": _leaf("Box 1", self._log(5, limit)),
                "interest_1099int_us_saving_bond_treasury_obligations": _leaf(
                    "Box 3", self._log(5, limit) if random.random() < 0.2 else 0
                ),
                "interest_1099int_tax_exempt": _leaf("Box 8", self._log(5, limit) if random.random() < 0.15 else 0),
                "interest_1099int_fed_inc_tax_withheld": _leaf("Box 4", random.choice([0, 0, 0, 12, 40])),
            }
            for number in range(random.randint(1, 3))
        ]
        dividends = [
            {
                "dividend_1099div_payer": _leaf("Payer", f"Fund {number + 1}"),
                "dividend_1099div_ordinary_div": _leaf("Box 1a", amount := self._log(20, limit)),
                "dividend_1099div_qualified_div": _leaf("Box 1b", random.randint(0, amount)),
                "dividend_1099div_federal_inc_tax_withheld": _leaf("Box 4", 0),
            }
            for number in range(random.randint(0, 2))
        ]
        return {"irs1099_int": interest, "irs1099_div": dividends}

    def _jobs(self, who: str, low: int, high: int) -> list[dict[str, Any]]:
        """One to three forms W-2; some have cents."""
        random = self._random
        count = random.choice([1, 1, 1, 2, 3])
        found: list[dict[str, Any]] = []
        for number in range(count):
            wages = self._log(max(200, low // count), max(400, high // count))
            cents = random.choice([0, 0, 0, 1]) * random.randint(1, 99) / 100
            withheld = int(wages * random.uniform(0.02, 0.2))
            found.append(
                {
                    "who_applies_to": _leaf("Who", who),
                    "ein": _leaf("Employer's number", f"{number + 10}-{random.randint(1_000_000, 9_999_999)}"),
                    "wages": _leaf("Box 1", wages + cents),
                    "withholding": _leaf("Box 2", withheld + cents),
                    "social_security_wages": _leaf("Box 3", wages + cents),
                    "social_security_tax": _leaf("Box 4", round(min(wages, 168_600) * 0.062, 2)),
                    "medicare_wages_and_tips": _leaf("Box 5", wages + cents),
                    "medicare_tax_withheld": _leaf("Box 6", round(wages * 0.0145, 2)),
                }
            )
        return found

    def _log(self, low: int, high: int) -> int:
        """A whole amount, log-uniform."""
        return int(math.exp(self._random.uniform(math.log(low), math.log(high))))


def _leaf(label: str, value: object) -> _Leaf:
    return {"label": label, "value": value}
