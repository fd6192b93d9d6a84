"""What the routes of a server share: judges, the pool they run in, sources, keys, and what is measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from vouching.errors import ServerUnavailableError
from vouching.inputs import each_of
from vouching.judging.verifier import Outcome
from vouching.serve.blocking import AuditGauge
from vouching.serve.judges import Judges
from vouching.serve.keys import Key, KeyFile
from vouching.serve.measures import Measures
from vouching.serve.policy import Policy
from vouching.serve.recording import Asked, Recorder
from vouching.serve.sessions import Sessions
from vouching.serve.shared_folder import KeptSources, Rates
from vouching.serve.work import Deadline, Job, Pool, too_late

T = TypeVar("T")

_LEAST_SECONDS = 1.0
"""Time to keep a result, however late it is, and to send the last errors of a server that stops."""


class Service:
    """What the routes share: the judges, the pool they run in, and what is measured.

    Args:
        policy: how the server runs and judges.
        folder: what its workers share; it must exist.

    Raises:
        ConfigError: a model is unknown or does not judge claims, or the keys or the ledger cannot be used.
    """

    def __init__(self, policy: Policy, folder: Path) -> None:
        self.policy = policy
        self.kept = KeptSources(folder, policy.limits.kept_bytes)
        self.rates = Rates(folder)
        self.sessions = Sessions(folder, policy.serve.session_minutes)
        self.keys = KeyFile(Path(policy.serve.keys)) if policy.serve.keys else None
        if self.keys is not None:
            _ = self.keys.keys  # a broken file is an error at the start
        self.measures = Measures()
        self._audit = AuditGauge(policy, self.measures)
        self.pool = Pool(policy.serve.threads, policy.serve.queue, policy.limits.memory_bytes)
        self.judges = Judges(policy, self.kept)
        self.judges.validate()
        self.recorder = Recorder(policy.serve.ledger, self.pool.has_waiting) if policy.serve.ledger else None
        self._open = 0

    def start(self) -> None:
        """Start a process that has loaded the judges, and have each that replaces one load them too."""
        self.pool.start(self.judges.load)

    @contextmanager
    def open_request(self) -> Generator[None]:
        """Count a request while it is open."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    async def answered(self) -> None:
        """Wait until no request is open: those that were cut off get their errors. A slow caller is not waited for."""
        end = time.monotonic() + _LEAST_SECONDS
        while self._open and time.monotonic() < end:
            await asyncio.sleep(0.01)

    def take_request(self, key: Key) -> None:
        """Count a request of a key. Raises ServerUnavailableError if the key has used its requests."""
        if self.keys is None:
            return
        limit = self.policy.limits.requests_per_minute if key.requests_per_minute is None else key.requests_per_minute
        wait = self.rates.wait(key.id, limit)
        if wait:
            message = f"the API key {key.id} has used its {limit:,} requests per minute: try again in {wait:.1f} s"
            raise ServerUnavailableError(message, wait, 429)

    async def judge(
        self,
        job: Job[T],
        asked: Asked | None = None,
        judge: str | None = None,
        show: Callable[[Outcome], object] | None = None,
        record: Callable[[T], object] = lambda result: result,
    ) -> T:
        """The result of a job in the pool, counted, and kept in the ledger if there is one and it was ``asked``.

        Args:
            job: called with its deadline, and with ``show`` if that is given.
            asked: who asked what; None keeps nothing.
            judge: the judge that the job asks; None for a job that computes without one.
            show: sees outcomes as soon as they are known.
            record: what of the result is counted and kept.

        Raises as :meth:`Pool.run`, :meth:`Pool.run_apart` and :meth:`Recorder.keep`, and what the job raises.
        """
        deadline = Deadline(self.policy.serve.timeout_seconds, asked.caller if asked else "")
        started = time.perf_counter()
        if judge is None or self.judges.computes(judge):
            done = await self.pool.run_apart(job, deadline, show)
        else:
            done = await self.pool.run(lambda: job(deadline, show) if show else job(deadline), deadline)
        result = record(done)
        if self.recorder is not None and asked is not None:
            entry = asked.entry(self.policy.serve.stream, result, time.perf_counter() - started)
            try:
                async with asyncio.timeout(max(deadline.remaining, _LEAST_SECONDS)):
                    await self.recorder.keep(entry)
            except TimeoutError:
                raise too_late(deadline.seconds) from None
        for one in each_of(result):
            self.measures.count(one)
        return done

    def metrics(self) -> bytes:
        """Everything that is measured, in the format of Prometheus; a look at the ledger included."""
        if self.recorder is not None:
            self._audit.look(self.recorder.ledger)
        return self.measures.text()

    def close(self) -> None:
        """Stop starting work, and close connections."""
        self.pool.close()
        self.judges.close()
        if self.recorder is not None:
            self.recorder.close()
