"""The drift alarm: its false alarms under no drift, by simulation, and what it finds."""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.review.kept import keep
from vouching.errors import InputError
from vouching.ledger import open_ledger
from vouching.review import ReviewQueue
from vouching.review.drift import compare, drift


def made_rows(random: np.random.Generator, number: int, rate: float) -> NDArray[np.float64]:
    """Responses of 1 to 8 verdicts whose shares of errors differ a lot from each other: a beta-binomial."""
    sizes = random.integers(1, 9, number)
    wrong = random.binomial(sizes, random.beta(2 * rate, 2 * (1 - rate), number))
    scores = sizes - 0.8 * wrong + random.normal(0, 0.1, number)
    return np.stack([sizes, wrong, scores], axis=1).astype(np.float64)


def alarms(rates: tuple[float, float], looks: int, alpha: float) -> int:
    random = np.random.default_rng(7)
    found = 0
    for look in range(looks):
        before, after = made_rows(random, 120, rates[0]), made_rows(random, 40, rates[1])
        found += bool(compare(before, after, alpha, look, assignments=99).alarm)
    return found


def test_false_alarms_are_at_most_as_frequent_as_stated() -> None:
    # 400 looks without drift at alpha = .05: at most .05 of them alarm, so more than the 99.9 % quantile of
    # Binomial(400, .05) would refute it. Verdicts of one response depend on each other, which a test of single
    # verdicts would take for drift.
    likely = (sum(comb(400, k) * 0.05**k * 0.95 ** (400 - k) for k in range(most + 1)) for most in range(400))
    most = next(number for number, share in enumerate(likely) if share >= 0.999)
    assert alarms((0.3, 0.3), 400, 0.05) <= most == 35


def test_a_drift_is_found() -> None:
    # From 30 % to 60 % errors, in 40 responses: the alarm misses few of 40 looks.
    assert alarms((0.3, 0.6), 40, 0.05) >= 36


def test_few_rows_give_no_alarm_and_bad_settings_are_refused(tmp_path: Path) -> None:
    found = compare([(1, 0, 0.9)] * 29, [(1, 1, 0.1)] * 500)
    assert (found.alarm, found.p_value, found.not_attributable) == (None, None, (0.0, 1.0))
    with pytest.raises(InputError, match="assignments at least 2 / alpha"):
        compare([(1, 0, 0.9)] * 40, [(1, 0, 0.9)] * 40, 0.01, assignments=99)
    with open_ledger(tmp_path / "ledger.db") as ledger:
        keep(ledger, [0.9, 0.1, 0.1])
        queue = ReviewQueue(ledger)
        found = drift(queue)
        assert (found.alarm, found.rows) == (None, (0, 3))
        assert found.not_attributable[1] == pytest.approx(2 / 3)
