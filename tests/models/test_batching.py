"""Calls that come together are worked on together, and what becomes of those that fail or are given up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence

import pytest

from vouching.models.batching import Batcher, Waiting, end_threads
from vouching.models.running import in_thread

Jobs = Sequence[Waiting[int, int]]


def test_calls_at_the_same_time_form_batches_of_at_most_the_given_size() -> None:
    sizes: list[int] = []

    def work(batch: Jobs) -> list[int]:
        sizes.append(len(batch))
        return [10 * waiting.job for waiting in batch]

    async def main() -> list[int]:
        batcher = Batcher(work, limit=4, gather=2.0)
        results = await asyncio.gather(*(batcher.submit(number) for number in range(8)))
        await batcher.aclose()
        return results

    assert asyncio.run(main()) == [10 * number for number in range(8)]
    assert sizes == [4, 4]


def test_an_error_reaches_every_call_of_its_batch_and_none_after() -> None:
    def work(batch: Jobs) -> list[int]:
        if any(waiting.job < 0 for waiting in batch):
            raise ValueError("no")
        return [waiting.job for waiting in batch]

    async def main() -> int:
        batcher = Batcher(work, limit=2, gather=2.0)
        failed = await asyncio.gather(batcher.submit(-1), batcher.submit(1), return_exceptions=True)
        assert [str(error) for error in failed] == ["no", "no"]
        last, _ = await asyncio.gather(batcher.submit(7), batcher.submit(8))
        await batcher.aclose()
        return last

    assert asyncio.run(main()) == 7


def test_an_abandoned_call_is_marked_unwanted_while_the_others_continue() -> None:
    begun, train_from = threading.Event(), threading.Event()
    wanted: list[bool] = []

    def work(batch: Jobs) -> list[int]:
        begun.set()
        assert train_from.wait(10)
        wanted.extend(waiting.is_wanted for waiting in batch)
        return [waiting.job for waiting in batch]

    async def main() -> int:
        batcher = Batcher(work, limit=2, gather=2.0)
        first, second = asyncio.ensure_future(batcher.submit(1)), asyncio.ensure_future(batcher.submit(2))
        await asyncio.to_thread(begun.wait, 10)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        train_from.set()
        result = await second
        await batcher.aclose()
        return result

    assert asyncio.run(main()) == 2
    assert wanted == [False, True]


def test_closing_waits_for_the_calls_under_way() -> None:
    async def main() -> list[int]:
        batcher: Batcher[int, int] = Batcher(lambda batch: [waiting.job for waiting in batch], gather=0.0)
        calls = [asyncio.ensure_future(batcher.submit(number)) for number in range(3)]
        await asyncio.sleep(0)
        await batcher.aclose()
        return await asyncio.gather(*calls)

    assert asyncio.run(main()) == [0, 1, 2]


def test_a_batcher_may_be_closed_twice_and_works_again_after_that() -> None:
    async def main() -> list[int]:
        batcher: Batcher[int, int] = Batcher(lambda batch: [waiting.job for waiting in batch])
        await batcher.aclose()
        found = [await batcher.submit(1)]
        await batcher.aclose()
        await batcher.aclose()
        found.append(await batcher.submit(2))
        await batcher.aclose()
        return found

    assert asyncio.run(main()) == [1, 2]


def test_calls_of_several_event_loops_share_a_batcher() -> None:
    batcher: Batcher[int, int] = Batcher(lambda batch: [waiting.job for waiting in batch])
    assert [asyncio.run(batcher.submit(number)) for number in (1, 2)] == [1, 2]
    asyncio.run(batcher.aclose())


def test_work_in_a_thread_that_takes_too_long_is_left_and_an_error_in_it_is_raised() -> None:
    async def within(seconds: float, work: Callable[[], object]) -> object:
        async with asyncio.timeout(seconds):
            return await in_thread(work)

    free = threading.Event()
    with pytest.raises(TimeoutError):
        asyncio.run(within(0.05, free.wait))  # the thread still waits, and the loop was closed without it
    free.set()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(within(5, lambda: 1 // 0))


def test_at_the_end_threads_get_a_moment_and_one_that_computes_on_is_named() -> None:
    go = threading.Event()

    def work(batch: Sequence[Waiting[int, int]]) -> list[int]:
        go.wait(30)
        return [waiting.job for waiting in batch]

    async def abandoned() -> None:
        task = asyncio.create_task(batcher.submit(1))
        await asyncio.sleep(0.05)
        task.cancel()

    batcher = Batcher(work)
    asyncio.run(abandoned())
    assert not end_threads(0.05)
    go.set()
    assert end_threads(30)
