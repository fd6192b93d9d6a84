"""Whether a policy that blocks answers rests on an audit, and the results of the proxy in the ledger that has it.

Until the ledger has enough reviews for the proxy's caller (:mod:`vouching.review.audits`), the proxy warns at its start
and in every checked answer. Blocking goes on: the warning says what is not known.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from vouching.errors import VouchError
from vouching.serve.measures import Measures
from vouching.serve.policy import Policy
from vouching.serve.proxy_messages import Asked
from vouching.serve.recording import Asked as Kept
from vouching.serve.recording import Recorder
from vouching.types import Report

if TYPE_CHECKING:
    from vouching.ledger import Ledger

_FRESH_SECONDS = 60.0
_LOOK_SECONDS = 300.0
"""Seconds for which the number of a look at the ledger is kept; a look takes up to some seconds on a large one."""


def blocking_caller(policy: Policy) -> tuple[str, str | None] | None:
    """The caller whose answers the proxy of a policy blocks, and the model that judges them; None if none are.

    The model is None for a cascade, of which any model counts.
    """
    settings = policy.proxy
    model = policy.judges[settings.judge].model
    return (settings.caller, None if "," in model else model) if settings.upstream and settings.blocks else None


class AuditGauge:
    """Whether blocking is audited, as a number for Prometheus; a ledger that cannot be read gives NaN."""

    def __init__(self, policy: Policy, measures: Measures) -> None:
        self._reviewers, self._of, self._measures = policy.serve.reviewers, blocking_caller(policy), measures
        self._looked, self._lock = -math.inf, threading.Lock()

    def look(self, ledger: Ledger) -> None:
        """Set the number if the policy blocks answers, unless it is fresh."""
        from vouching.review import ReviewQueue
        from vouching.review.audits import blocking_audit

        if self._of is None:
            return
        with self._lock:
            if time.monotonic() - self._looked < _LOOK_SECONDS:
                return
            try:
                audit = blocking_audit(ReviewQueue(ledger, self._reviewers), *self._of)
                missing, self._looked = float(not audit.sufficient), time.monotonic()
            except VouchError as error:
                logging.getLogger("vouching.serve").warning("no look at the audit of blocking: %s", error)
                missing = math.nan
            self._measures.unaudited.labels(self._of[0]).set(missing)


class Blocking:
    """What the ledger of a policy says about blocking, read again every minute.

    Raises ConfigError for a ledger that cannot be used.
    """

    def __init__(self, policy: Policy) -> None:
        self._settings = policy.proxy
        self._stream = policy.serve.stream
        self._reviewers = policy.serve.reviewers
        self._of = blocking_caller(policy)
        self._recorder = Recorder(policy.serve.ledger) if policy.serve.ledger else None
        self._read = (float("-inf"), "")

    def warning(self) -> str:
        """What to say about blocking; empty if nothing is blocked, or enough was reviewed."""
        if self._of is None:
            return ""
        read, found = self._read
        if time.monotonic() - read > _FRESH_SECONDS:
            found = self._ask(*self._of)
            self._read = (time.monotonic(), found)
        return found

    async def awarning(self) -> str:
        """The same, without holding up other answers."""
        return await asyncio.to_thread(self.warning) if self._of is not None else ""

    def _ask(self, caller: str, model: str | None) -> str:
        if self._recorder is None:
            return (
                "it is not known how often right claims are blocked: no ledger is set, so nothing can be reviewed; set "
                "serve.ledger in the policy file"
            )
        from vouching.review.audits import blocking_audit
        from vouching.review.queue import ReviewQueue

        try:
            queue = ReviewQueue(self._recorder.ledger, self._reviewers)
            audit = blocking_audit(queue, caller, model)
        except VouchError as error:
            return f"it is not known how often right claims are blocked: {error}"
        return audit.warning or ""

    async def keep(self, text: str, asked: Asked, report: Report, seconds: float) -> None:
        """Keep the report on an answer, if there is a ledger. Raises ServerUnavailableError if it fails."""
        if self._recorder is None:
            return
        inputs = {"response": text, "sources": [asdict(source) for source in asked.sources]}
        inputs |= {"question": asked.question} if asked.question else {}
        kept = Kept("check-response", inputs, self._settings.caller)
        await self._recorder.keep(kept.entry(self._stream, report, seconds))

    def close(self) -> None:
        """Close the ledger."""
        if self._recorder is not None:
            self._recorder.close()
