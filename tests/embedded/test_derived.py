"""Values that follow from others in one step count as supported; the same step with another result does not."""

import pytest

from vouching.embedded.verify import EmbeddedVerifier
from vouching.types import Claim, Source

VERIFIER = EmbeddedVerifier()
SHOPS = (
    "Station Road had the highest turnover (£71 thousand), ahead of Mill Street (£52 thousand) and "
    "Cross Keys (£46 thousand)."
)
TABLE = """
| Fridge | Litres | Power |
| -- | -- | -- |
| Polaro | 303 l | 114 kWh |
| Gelmir | 331 l | 178 kWh |
"""


def value_outcome(claim: str, source: str) -> set[str]:
    verdict = VERIFIER.judge(Claim(claim), [Source(source)])
    return {e.status for e in verdict.evidence_alignment if any(map(str.isdigit, e.claim_span.text))}


@pytest.mark.parametrize(
    ("claim", "wrong", "source"),
    [
        # 71 + 52 + 46 = 169
        ("The turnover of the shops adds up to £169 thousand.", "£159 thousand", SHOPS),
        # 64 - 47 = 17
        ("The number of reports rose by 17.", "18", "In 2024 there were 64 reports (2023: 47)."),
        # 331 - 303 = 28, both in one column
        ("The Gelmir holds 28 litres more than the Polaro.", "38 litres", TABLE),
        # 2 * 2,100 = 4,200
        (
            "The master's programme costs 4,200 euros for 2 semesters.",
            "4,300 euros",
            "The master's programme costs 2,100 euros per semester.",
        ),
        # 10:00 to 17:00
        ("The office is open for 7 hours.", "6 hours", "The office is open from 10:00 to 17:00."),
        # 12 December 1904 to 2 March 1979: 74 whole years
        ("Marchetti lived for 74 years.", "75 years", "Marchetti lived from 12 December 1904 to 2 March 1979."),
        ("The bridge was open for 62 years.", "63 years", "The bridge was open from 1921 until it closed in 1983."),
        # 93.8 - 92.6 = 1.2
        (
            "Attendance rose by 1.2 percentage points.",
            "1.3 percentage points",
            "Attendance was 92.6 percent in 2022 and 93.8 percent in 2023.",
        ),
    ],
)
def test_a_value_that_one_step_gives_is_supported_and_another_is_not(claim: str, wrong: str, source: str) -> None:
    assert value_outcome(claim, source) <= {"match"}
    right = wrong.split()[0]
    changed = next(w for w in claim.split() if any(map(str.isdigit, w)) and w.rstrip(".") != right)
    other = claim.replace(changed.rstrip("."), right, 1) if changed.rstrip(".") != "2" else claim
    verdict = VERIFIER.judge(Claim(other), [Source(source)])
    assert not verdict.attributable


def test_without_words_of_a_total_numbers_are_not_added() -> None:
    assert "match" not in value_outcome("Station Road had a turnover of £123 thousand.", SHOPS)


def test_a_bound_is_never_computed() -> None:
    # 64 - 47 is 17, but "rose by less than 17" is a statement of its own.
    source = "In 2024 there were 64 reports (2023: 47)."
    assert "match" not in value_outcome("The number of reports rose by less than 17.", source)


def test_the_operands_must_be_about_what_the_claim_says() -> None:
    source = "In 2024 there were 64 reports (2023: 47). The canteen sells soup."
    assert "match" not in value_outcome("The canteen sells 17 soups more than the kiosk.", source)
