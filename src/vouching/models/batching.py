# pyright: basic
"""Calls that come at about the same time are worked on together in a thread of their own, and rows scored that way.

``RowScores`` gives one number for each row of token ids from a model of transformers in this process: what scorers and
classifiers are. Rows of about one length go side by side. Nothing is downloaded, and no code that lies beside weights
is run. Not supported: rows that join a batch already under way (vLLM does this itself), quantisation, several GPUs.
"""

from __future__ import annotations

import asyncio
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from vouching.errors import ConfigError, needed

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Waiting(Generic[Job, Result]):
    """A job and where its result goes."""

    job: Job
    """What is to be done."""
    future: Future[Result] = field(default_factory=Future[Result])
    """Its result; cancelled when nobody waits for it any more."""

    @property
    def wanted(self) -> bool:
        """Whether somebody still waits."""
        return not self.future.cancelled()


_Queue: TypeAlias = "queue.SimpleQueue[Waiting[Job, Result] | None]"
"""Jobs in line; None is the end of it."""


class Batcher(Generic[Job, Result]):
    """Hands jobs to ``work`` in batches, one batch at a time.

    Args:
        work: from the jobs of a batch to their results, in order; it may look whether a job is still wanted, and what
            it returns for one that is not goes nowhere. It runs in the thread; what it raises, every call raises.
        limit: jobs in a batch at most.
        gather: seconds that the first job of a batch waits for others.

    >>> async def doubled():
    ...     batcher = Batcher(lambda batch: [2 * waiting.job for waiting in batch])
    ...     results = await asyncio.gather(*(batcher.submit(number) for number in range(3)))
    ...     await batcher.aclose()
    ...     return results
    >>> asyncio.run(doubled())
    [0, 2, 4]
    """

    def __init__(
        self, work: Callable[[Sequence[Waiting[Job, Result]]], Sequence[Result]], limit: int = 32, gather: float = 0.005
    ) -> None:
        self._work, self._limit, self._gather = work, limit, gather
        self._open: tuple[threading.Thread, _Queue[Job, Result]] | None = None
        self._opening, self._working = threading.Lock(), threading.Lock()

    async def submit(self, job: Job) -> Result:
        """The result of a job. If the caller is cancelled, the job is no longer wanted."""
        waiting: Waiting[Job, Result] = Waiting(job)
        with self._opening:
            if self._open is None:
                line: _Queue[Job, Result] = queue.SimpleQueue()
                self._open = (
                    threading.Thread(target=self._run, args=(line,), name="vouching-batches", daemon=True),
                    line,
                )
                self._open[0].start()
            self._open[1].put(waiting)
        return await asyncio.wrap_future(waiting.future)

    async def aclose(self) -> None:
        """End the thread after the jobs that are in line; the next job starts another."""
        with self._opening:
            closed, self._open = self._open, None
        if closed is not None:
            thread, line = closed
            line.put(None)
            await asyncio.to_thread(thread.join)

    def _run(self, line: _Queue[Job, Result]) -> None:
        last = False
        while not last:
            batch, last = self._next_batch(line)
            wanted = [waiting for waiting in batch if waiting.wanted]
            if not wanted:
                continue
            try:
                with self._working:  # a thread that is closing may be at work still
                    results = self._work(wanted)
            except Exception as error:
                for waiting in wanted:
                    with suppress(InvalidStateError):  # cancelled meanwhile
                        waiting.future.set_exception(error)
                continue
            for waiting, result in zip(wanted, results, strict=True):
                with suppress(InvalidStateError):
                    waiting.future.set_result(result)

    def _next_batch(self, line: _Queue[Job, Result]) -> tuple[list[Waiting[Job, Result]], bool]:
        """Jobs that came together, and whether they are the last."""
        first = line.get()
        if first is None:
            return [], True
        batch, end = [first], time.monotonic() + self._gather
        while len(batch) < self._limit:
            try:
                waiting = line.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                break
            if waiting is None:
                return batch, True
            batch.append(waiting)
        return batch, False


Tensor: TypeAlias = Any
"""A torch tensor; torch need not be there for its types."""
Forward: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""From token ids and attention mask, both (B, T) and padded on the right, to (B,) numbers."""
MAX_TOKENS = 16_384
"""Tokens of a batch, padding included; a longer row goes alone."""


class RowScores:
    """Numbers for rows of token ids.

    Args:
        forward: makes the numbers.
        device: where the model is.
        pad: token id that fills up shorter rows.
    """

    def __init__(self, forward: Forward, device: str, pad: int = 0) -> None:
        self._forward, self._device, self._pad = forward, device, pad
        self._batcher: Batcher[tuple[int, ...], float] = Batcher(self._work, limit=256)

    async def numbers(self, rows: Sequence[tuple[int, ...]]) -> list[float]:
        """A number for each row, in order; it may be nan or infinite if the weights are broken."""
        return list(await asyncio.gather(*(self._batcher.submit(row) for row in rows)))

    async def aclose(self) -> None:
        """End the thread after the calls under way."""
        await self._batcher.aclose()

    def _work(self, batch: Sequence[Waiting[tuple[int, ...], float]]) -> list[float]:
        torch = need("torch")
        rows = [waiting.job for waiting in batch]
        numbers = [0.0] * len(rows)
        for places in _batches([len(row) for row in rows]):
            longest = max(len(rows[place]) for place in places)
            ids = [[*rows[place], *[self._pad] * (longest - len(rows[place]))] for place in places]
            mask = [[1] * len(rows[place]) + [0] * (longest - len(rows[place])) for place in places]
            with torch.inference_mode():
                found = self._forward(torch.tensor(ids, device=self._device), torch.tensor(mask, device=self._device))
            for place, number in zip(places, found.float().tolist(), strict=True):
                numbers[place] = number
        return numbers


def load_weights(kind: str, path: str | Path, **settings: Any) -> tuple[Any, set[str]]:
    """A model of transformers from a folder, and the names of weights that the folder does not have.

    Args:
        kind: class of transformers that loads it, e.g. "AutoModelForSequenceClassification".
        path: the folder.
        settings: passed on.

    Raises:
        ConfigError: no such model in the folder.
        MissingExtraError: torch or transformers is not installed.
    """
    need("torch")
    transformers = need("transformers")
    config_of(path)
    transformers.logging.set_verbosity_error()  # what is missing is told by the caller
    transformers.logging.disable_progress_bar()
    try:
        model, told = getattr(transformers, kind).from_pretrained(
            path, local_files_only=True, trust_remote_code=False, output_loading_info=True, **settings
        )
    except Exception as error:  # every format of weights has errors of its own
        raise ConfigError(f"{path} cannot be loaded as {kind}: {error}") from error
    return model.eval(), {*told["missing_keys"]}


def config_of(path: str | Path) -> dict[str, Any]:
    """What stands in the config.json of a folder. Raises ConfigError if there is none."""
    try:
        found = json.loads((Path(path) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        hint = f", such as {path}/model" if (Path(path) / "model/config.json").is_file() else ""
        raise ConfigError(
            f"{path} holds no model ({reason}): name a folder with config.json, weights and a tokenizer{hint}"
        ) from error
    return found if isinstance(found, dict) else {}


def load_tokenizer(path: str | Path) -> Any:
    """The tokenizer in a folder. Raises ConfigError if there is none."""
    try:
        return need("transformers").AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # every kind of tokenizer has errors of its own
        raise ConfigError(f"{path} holds no tokenizer that can be read: {error}") from error


def device_of(device: str) -> str:
    """The device that a setting means: "auto" takes a GPU if there is one."""
    return device if device != "auto" else "cuda" if need("torch").cuda.is_available() else "cpu"


def need(module: str) -> Any:
    """A module of the extra "train". Raises MissingExtraError if it is not installed."""
    return needed(module, "train", "running a model in this process")


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions of the rows, longest first, in batches of at most ``MAX_TOKENS`` with their padding.

    >>> [*_batches([9_000, 3, 8_000])]
    [[0], [2, 1]]
    """
    batch: list[int] = []
    longest = 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and (len(batch) + 1) * longest > MAX_TOKENS:
            yield batch
            batch = []
        if not batch:
            longest = lengths[place]
        batch.append(place)
    if batch:
        yield batch
