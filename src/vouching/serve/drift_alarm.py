"""What the ledger says about drift and blocking, as numbers for Prometheus.

A look takes up to some seconds on a large ledger, so it is made at most once in ``FRESH_SECONDS``. A ledger that cannot
be read gives NaN, and the other numbers are answered all the same.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from typing import TYPE_CHECKING

from vouching.errors import VouchError
from vouching.serve.blocking import blocking_caller
from vouching.serve.measures import Measures
from vouching.serve.policy import Policy

if TYPE_CHECKING:
    from vouching.ledger import Ledger

FRESH_SECONDS = 300.0
"""Seconds for which the numbers of a look are kept."""


class DriftAlarm:
    """The gauges of a server with a ledger."""

    def __init__(self, policy: Policy, measures: Measures) -> None:
        self._reviewers, self._blocked, self._measures = policy.serve.reviewers, blocking_caller(policy), measures
        self._looked, self._lock = -math.inf, threading.Lock()
        if not policy.serve.ledger:
            measures.drift_alarm.set(math.nan)

    def look(self, ledger: Ledger) -> None:
        """Set the gauges, unless they are fresh."""
        with self._lock:
            if time.monotonic() - self._looked < FRESH_SECONDS:
                return
            try:
                self._look(ledger)
                self._looked = time.monotonic()
            except VouchError as error:
                logging.getLogger("vouching.serve").warning("no look at drift: %s", error)
                self._measures.drift_alarm.set(math.nan)

    def _look(self, ledger: Ledger) -> None:
        from vouching.review import ReviewQueue
        from vouching.review.audits import blocking_audit
        from vouching.review.drift import drift

        queue = ReviewQueue(ledger, self._reviewers)
        newest = drift(queue)
        self._measures.drift_alarm.set(math.nan if newest.alarm is None else int(newest.alarm))
        for period, share in zip(("reference", "newest"), newest.not_attributable, strict=True):
            self._measures.drift_share.labels(period).set(share)
        if self._blocked is not None:
            audit = blocking_audit(queue, *self._blocked)
            self._measures.unaudited.labels(audit.caller).set(int(not audit.sufficient))
