"""Bare numbers of a table have the unit, scale and period of their heads."""

import pytest

from vouching.embedded.verify import EmbeddedVerifier
from vouching.reading.evidence import index_sources
from vouching.types import Claim, Source

REGIONS = """
| Region | Failed writes (million) | Latency (ms) | Calls per day |
| -- | -- | -- | -- |
| North | 41.3 | 310 | 40,000 |
| South | 0.2 | 61 | 9,000 |
"""


def test_units_scales_and_periods_come_from_the_heads() -> None:
    reading = index_sources([Source(REGIONS)]).read(1)
    (writes, calls), (latency,) = reading.quantities, reading.dates
    assert (writes.base_low, writes.scaled) == (41_300_000, True)
    assert latency.days == pytest.approx(0.31 / 86_400)
    assert calls.per == "day"


def test_units_come_from_the_first_cell_where_the_values_stand_in_a_row() -> None:
    source = "| | Arch | Pier |\n| -- | -- | -- |\n| Length (m) | 168 | 54 |\n"
    assert [q.unit for q in index_sources([Source(source)]).read(1).quantities] == ["m", "m"]


@pytest.mark.parametrize(
    ("claim", "attributable"),
    [
        ("Latency in North was 0.31 seconds.", True),
        ("Latency in North was 310 seconds.", False),
        ("In North, 41.3 million failed writes were counted.", True),
        ("In North, 41.3 thousand failed writes were counted.", False),
    ],
)
def test_a_claim_in_another_unit_is_compared_with_the_cell(claim: str, attributable: bool) -> None:
    assert EmbeddedVerifier().judge(Claim(claim), [Source(REGIONS)]).attributable == attributable
