"""What a report is about, in words."""

from __future__ import annotations

import pytest

from tests.report.records import report, supported
from vouching.report.overview import Overview

OWN = len(report().findings)


@pytest.mark.parametrize(
    ("singles", "responses", "said"),
    [
        (3, 0, "3 claims"),
        (0, 1, f"{OWN} claims in 1 response"),
        (3, 2, f"{2 * OWN + 3} claims, {2 * OWN} of them in 2 responses"),
    ],
)
def test_single_claims_beside_a_response_are_not_counted_as_its_own(singles: int, responses: int, said: str) -> None:
    overview = Overview()
    for record in [supported()] * singles + [report()] * responses:
        overview.add(record)
    assert overview.subject_words() == said
