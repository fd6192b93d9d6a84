"""What the ledger says about drift and blocking, as numbers for Prometheus: read anew when they are asked for.

A look takes up to some seconds on a large ledger, so it is made at most once in ``FRESH_SECONDS``, in a thread. A
ledger that cannot be read gives NaN, and the other numbers are answered all the same.
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
        self._settings = policy.serve
        self._blocked = blocking_caller(policy)
        self._measures = measures
        self._looked = -math.inf
        self._lock = threading.Lock()
        if not policy.serve.ledger:
            measures.drift_alarm.set(math.nan)

    def look(self, ledger: Ledger) -> None:
        """Set the gauges, unless they are fresh or another thread is about to."""
        if not self._lock.acquire(blocking=self._looked < 0):  # the first numbers are waited for
            return
        try:
            if time.monotonic() - self._looked >= FRESH_SECONDS:
                self._look(ledger)
                self._looked = time.monotonic()
        except VouchError as error:
            logging.getLogger("vouching.serve").warning("no look at drift: %s", error)
            self._measures.drift_alarm.set(math.nan)
        finally:
            self._lock.release()

    def _look(self, ledger: Ledger) -> None:
        from vouching.review import ReviewQueue
        from vouching.review.audits import blocking_audit
        from vouching.review.drift import drift

        queue = ReviewQueue(ledger, self._settings.reviewers, self._settings.lock_seconds)
        found = drift(queue)
        self._measures.drift_alarm.set(math.nan if found.alarm is None else int(found.alarm))
        for period, share in zip(("reference", "newest"), found.not_attributable, strict=True):
            self._measures.drift_share.labels(period).set(share)
        if self._blocked is not None:
            audit = blocking_audit(queue, *self._blocked)
            self._measures.unaudited.labels(audit.caller).set(int(not audit.sufficient))
