"""Work that waits: many rows at once, in order, and an end that leaves nothing under way."""

from __future__ import annotations

import asyncio
import io
import json

import pytest

from vouching.errors import ModelUnavailableError
from vouching.rows.journal import Journal
from vouching.rows.pool import AsyncWorkFactory
from vouching.rows.read import Row
from vouching.rows.run import Seen, run_batch


def rows(count: int) -> list[Row]:
    return [Row(number, f"line {number}", {"id": str(number)}) for number in range(1, count + 1)]


class Work:
    """Answers with the row's id, later rows sooner, and counts."""

    def __init__(self, fail_at: int = 0) -> None:
        self.under_way = self.limit = self.cancelled = self.closed = 0
        self._fail_at = fail_at

    async def __call__(self, row: Row) -> str:
        self.under_way += 1
        self.limit = max(self.limit, self.under_way)
        try:
            await asyncio.sleep(0.02 / row.number)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.under_way -= 1
        if row.number == self._fail_at:
            raise ModelUnavailableError("the server is down")
        return json.dumps({"id": row.name})

    async def aclose(self) -> None:
        self.closed += 1

    def factory(self, at_once: int) -> AsyncWorkFactory:
        return AsyncWorkFactory(lambda: self, self.aclose, at_once)


def test_rows_come_in_order_though_later_ones_are_ready_sooner_and_no_more_than_allowed_are_under_way() -> None:
    work = Work()
    found = [row.number for row, _ in work.factory(4).in_order(rows(20))]
    assert found == [*range(1, 21)]
    assert (work.limit, work.closed) == (4, 1)


def test_a_consumer_that_stops_early_leaves_nothing_under_way() -> None:
    work = Work()
    results = work.factory(8).in_order(rows(20))
    next(results)
    results.close()
    assert (work.under_way, work.closed) == (0, 1)


def test_a_batch_whose_model_is_out_of_reach_keeps_what_is_finished_and_says_why_it_stopped() -> None:
    work, stream = Work(fail_at=3), io.BytesIO()
    summary = run_batch(rows(10), Journal(stream), work.factory(5), lambda line: Seen(line["id"]))
    assert (summary.rows, summary.stopped) == (2, "the server is down")
    assert [json.loads(line)["id"] for line in stream.getvalue().splitlines()] == ["1", "2"]
    assert (work.under_way, work.closed) == (0, 1)


def test_an_error_that_nobody_expected_names_its_row() -> None:
    async def broken(row: Row) -> str:
        raise KeyError("x")

    with pytest.raises(KeyError) as caught:
        list(AsyncWorkFactory(lambda: broken).in_order(rows(1)))
    assert caught.value.__notes__ == ["while working on line 1, id 1"]
