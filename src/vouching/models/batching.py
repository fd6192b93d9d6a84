# pyright: basic
"""Concurrent calls are batched in a worker thread, and rows of tokens are scored in such batches.

``RowScores`` gives one number per row of token ids from a model of transformers in this process, for scorers and
classifiers; rows of similar length share a batch. Nothing is downloaded, and no code in a folder of weights is run. Not
supported: rows that join a running batch (vLLM does this itself), quantisation, several GPUs.
"""

from __future__ import annotations

import asyncio
import atexit
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar
from weakref import WeakSet

from vouching.errors import ConfigError, needed
from vouching.text.json_values import parse_json

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Waiting(Generic[Job, Result]):
    """A job with the future for its result."""

    job: Job
    future: Future[Result] = field(default_factory=Future[Result])
    """Cancelled when no caller waits for it any more."""

    @property
    def is_wanted(self) -> bool:
        """Whether a caller still waits."""
        return not self.future.cancelled()


_Queue: TypeAlias = "queue.SimpleQueue[Waiting[Job, Result] | None]"
"""Jobs in order; None ends the thread."""


class Batcher(Generic[Job, Result]):
    """Hands jobs to ``work`` in batches, one batch at a time.

    Args:
        work: maps the jobs of a batch to their results, in order, in the thread; every call of the batch raises its
            exceptions. It may check ``Waiting.is_wanted`` and return anything for a job that no caller waits for.
        limit: maximum number of jobs in a batch.
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
        _BATCHERS.add(self)

    async def submit(self, job: Job) -> Result:
        """The result of a job. If the caller is cancelled, so is the job."""
        waiting: Waiting[Job, Result] = Waiting(job)
        with self._opening:
            if self._open is None:
                line: _Queue[Job, Result] = queue.SimpleQueue()
                self._open = (
                    threading.Thread(target=self._run, args=(line,), name="vouching-batches", daemon=True),
                    line,
                )
                _THREADS.add(self._open[0])
                self._open[0].start()
            self._open[1].put(waiting)
        return await asyncio.wrap_future(waiting.future)

    async def aclose(self) -> None:
        """End the thread after the queued jobs; the next job starts another."""
        if (thread := self.close()) is not None:
            await asyncio.to_thread(thread.join)

    def close(self) -> threading.Thread | None:
        """Let the thread end after the queued jobs, and return it; None if there is none."""
        with self._opening:
            closed, self._open = self._open, None
        if closed is None:
            return None
        thread, line = closed
        line.put(None)
        return thread

    def _run(self, line: _Queue[Job, Result]) -> None:
        last = False
        while not last:
            batch, last = self._next_batch(line)
            live = [waiting for waiting in batch if waiting.is_wanted]
            if not live:
                continue
            try:
                with self._working:  # a closing thread may still be working
                    results = self._work(live)
            except Exception as error:
                for waiting in live:
                    with suppress(InvalidStateError):  # cancelled meanwhile
                        waiting.future.set_exception(error)
                continue
            for waiting, result in zip(live, results, strict=True):
                with suppress(InvalidStateError):
                    waiting.future.set_result(result)

    def _next_batch(self, line: _Queue[Job, Result]) -> tuple[list[Waiting[Job, Result]], bool]:
        """Jobs that arrived together, and whether they are the last."""
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


_BATCHERS: WeakSet[Batcher[Any, Any]] = WeakSet()
_THREADS: WeakSet[threading.Thread] = WeakSet()


def end_threads(seconds: float = 10.0) -> bool:
    """End the threads of all batchers, and return whether they have ended within ``seconds``.

    A thread that is still in torch when the interpreter ends aborts the process. One whose jobs are cancelled ends
    after the next token.
    """
    end = time.monotonic() + seconds
    for one in list(_BATCHERS):
        one.close()
    threads = [thread for thread in list(_THREADS) if thread.is_alive()]
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


atexit.register(end_threads)


Tensor: TypeAlias = Any
"""A torch tensor; the type needs no torch."""
Forward: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""Maps token ids and attention mask, both (B, T) and padded on the right, to (B,) or (B, T) numbers."""
MAX_TOKENS = 16_384
"""Tokens of a batch, padding included; a longer row goes alone."""


class RowScores:
    """Numbers for rows of token ids, or for each of their tokens.

    Args:
        forward: computes the numbers.
        device: where the model is.
        pad: token id that pads shorter rows.
    """

    def __init__(self, forward: Forward, device: str, pad: int = 0) -> None:
        self._forward, self._device, self._pad = forward, device, pad
        self._batcher: Batcher[tuple[int, ...], Any] = Batcher(self._work, limit=256)

    async def numbers(self, rows: Sequence[tuple[int, ...]]) -> list[float]:
        """A number per row, in order; nan or infinite if the weights are broken."""
        return list(await asyncio.gather(*(self._batcher.submit(row) for row in rows)))

    async def vectors(self, rows: Sequence[tuple[int, ...]]) -> list[list[float]]:
        """A number per token of each row, for a ``forward`` that gives (B, T)."""
        found = await asyncio.gather(*(self._batcher.submit(row) for row in rows))
        return [numbers[: len(row)] for numbers, row in zip(found, rows, strict=True)]

    async def aclose(self) -> None:
        """End the thread after the running calls."""
        await self._batcher.aclose()

    def _work(self, batch: Sequence[Waiting[tuple[int, ...], Any]]) -> list[Any]:
        torch = need("torch")
        rows = [waiting.job for waiting in batch]
        numbers: list[Any] = [0.0] * len(rows)
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
    """A model of transformers from a folder, and the names of weights that the folder lacks.

    Args:
        kind: class of transformers that loads it, e.g. "AutoModelForSequenceClassification".
        path: the folder.
        settings: passed to ``from_pretrained``.

    Raises:
        ConfigError: no such model in the folder.
        MissingExtraError: torch or transformers is not installed.
    """
    need("torch")
    transformers = need("transformers")
    config_of(path)
    transformers.logging.set_verbosity_error()  # the caller reports what is missing
    transformers.logging.disable_progress_bar()
    try:
        model, info = getattr(transformers, kind).from_pretrained(
            path, local_files_only=True, trust_remote_code=False, output_loading_info=True, **settings
        )
    except Exception as error:  # every format of weights has errors of its own
        raise ConfigError(f"{path} cannot be loaded as {kind}: {error}") from error
    return model.eval(), {*info["missing_keys"]}


def config_of(path: str | Path) -> dict[str, Any]:
    """The contents of a folder's config.json. Raises ConfigError if there is none."""
    try:
        found = parse_json((Path(path) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        if (Path(path) / "adapter_config.json").is_file():
            raise ConfigError(
                f"{path} contains adapters without their base: pass BASE#{path}, or merge them by  vouch runs export"
            ) from error
        inner = ([Path(path) / "model"] if (Path(path) / "model/config.json").is_file() else []) + [
            *sorted(Path(path).glob("*.gguf"))
        ]
        hint = f", such as {inner[0]}" if inner else ""
        raise ConfigError(
            f"{path} contains no model ({reason}): pass a folder with config.json, weights and a tokenizer{hint}"
        ) from error
    return found if isinstance(found, dict) else {}


def load_tokenizer(path: str | Path) -> Any:
    """The tokenizer in a folder. Raises ConfigError if there is none."""
    transformers = need("transformers")
    transformers.logging.set_verbosity_error()  # it warns of the model type of HHEM, which is not its own
    try:
        return transformers.AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # every kind of tokenizer has errors of its own
        raise ConfigError(f"{path} has no readable tokenizer: {error}") from error


def device_of(device: str) -> str:
    """The device of a setting: "auto" takes a GPU if there is one."""
    return device if device != "auto" else "cuda" if need("torch").cuda.is_available() else "cpu"


def need(module: str) -> Any:
    """A module of the extra "train". Raises MissingExtraError if it is not installed."""
    return needed(module, "train", "running a model in this process")


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of the rows, longest first, in batches of at most ``MAX_TOKENS`` with their padding.

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
