"""Keeping what was judged, before it is answered: a caller never has a verdict that the ledger lacks.

Requests that end while a transaction runs share the next one, so that a disk which needs milliseconds for each does not
limit the rate. While others wait to be judged, a transaction also waits a moment for more entries: it costs more
processor time than the rows in it. If the ledger fails, the caller gets an error that says whether to try again, and no
verdict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from vouching.errors import BackendError, InputError, ServerUnavailableError, VouchError, needed
from vouching.text.json_values import parse_json
from vouching.types.ledger import Entry, EntryKind
from vouching.types.serial import to_json

if TYPE_CHECKING:
    from vouching.ledger import Ledger

T = TypeVar("T")

_RETRY_SECONDS = 5
_GATHER_STEPS = 10
_GATHER_SECONDS = 0.005
"""A busy server gathers entries for at most so many steps of so many seconds."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asked what."""

    kind: EntryKind
    inputs: Mapping[str, Any]
    caller: str

    def entry(self, stream: str, result: object, seconds: float) -> Entry:
        """The entry of a result: a record, or several as findings or lines."""
        return Entry(stream, self.kind, self.inputs, _record(result), self.caller, timing={"seconds": seconds})


class Recorder:
    """Appends entries to a ledger, in one thread.

    Args:
        target: the ledger, as for :func:`vouching.ledger.open_ledger`.
        busy: whether further requests wait to be judged, so that more entries will soon come.

    Raises:
        ConfigError: it cannot be used.
    """

    def __init__(self, target: str, busy: Callable[[], bool] = lambda: False) -> None:
        self._busy = busy
        self.ledger: Ledger = needed("vouching.ledger", "serve", "a ledger").open_ledger(target)
        self._executor = ThreadPoolExecutor(1, "vouch-ledger")
        self._waiting: list[tuple[Entry, asyncio.Future[int]]] = []
        self._task: asyncio.Task[None] | None = None

    async def keep(self, entry: Entry) -> int:
        """Append an entry; its id.

        Raises ServerUnavailableError if the ledger fails for now, VouchError if it fails for good, and InputError for
        an entry that cannot be kept.
        """
        kept: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, kept))
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._append_all())
        return await kept

    async def reads(self, work: Callable[[Ledger], T]) -> T:
        """The result of ``work(ledger)``, in a thread."""
        try:
            return await asyncio.to_thread(work, self.ledger)
        except BackendError as error:
            raise _unavailable(error) from error

    def close(self) -> None:
        """Wait for what is being appended, and close the ledger."""
        self._executor.shutdown(wait=True)
        self.ledger.close()

    async def _append_all(self) -> None:
        while self._waiting:
            for _ in range(_GATHER_STEPS):
                if not self._busy():
                    break
                await asyncio.sleep(_GATHER_SECONDS)
            together, self._waiting = self._waiting, []
            try:
                await self._append(together)
            except InputError:  # one entry cannot be kept: the others still can
                for one in together:
                    try:
                        await self._append([one])
                    except InputError as error:
                        _fail([one], error)

    async def _append(self, together: Sequence[tuple[Entry, asyncio.Future[int]]]) -> None:
        entries = [entry for entry, _ in together]
        try:
            ids = await asyncio.get_running_loop().run_in_executor(self._executor, self.ledger.append, entries)
        except InputError:
            raise
        except BackendError as error:
            _fail(together, _unavailable(error))
        except Exception as error:
            _fail(together, error)
        else:
            for (_, kept), id in zip(together, ids, strict=True):
                if not kept.done():
                    kept.set_result(id)


def _unavailable(error: BackendError) -> VouchError:
    words = f"nothing was answered: {error}"
    return ServerUnavailableError(words, _RETRY_SECONDS, 503) if error.can_retry else VouchError(words)


def _fail(together: Sequence[tuple[Entry, asyncio.Future[int]]], error: Exception) -> None:
    for _, kept in together:
        if not kept.done():
            kept.set_exception(error)


def _record(result: Any) -> Mapping[str, Any]:
    """A result as JSON: a record, a list of outcomes as findings, of reward lines as lines."""
    if not isinstance(result, list):
        return parse_json(to_json(result))
    many = cast("list[Any]", result)
    if many and isinstance(many[0], dict):
        return {"kind": "rewards", "lines": many}
    return {"kind": "outcomes", "findings": [parse_json(to_json(one)) for one in many]}
