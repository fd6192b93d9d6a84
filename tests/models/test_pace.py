"""How many calls at once a server gets: what it bears, found by its answers or asked where it says so."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path

import pytest

from tests.cli.chat_server import chat_server
from tests.models.fault_server import Answer, FaultServer, Request, of_json, says
from tests.rows.works import rows_of
from vouching.errors import ConfigError
from vouching.models import Message, Sampling
from vouching.models.limits import START, Pace, TimeLimits
from vouching.models.open import open_model
from vouching.rows.journal import open_journal
from vouching.rows.pool import AsyncWorkFactory
from vouching.rows.read import Row
from vouching.rows.run import Seen, run_batch

ASK = (Message("user", "Is it?"),)


def served(pace: Pace, slots: int, calls: int) -> list[int]:
    """The number of calls at once after each of many answers of a server with slots, which takes 1 s a reply."""
    found: list[int] = []
    for _ in range(calls):
        pace.answered(max(1.0, pace.limit / slots), pace.begun, full=True)
        found.append(pace.limit)
    return found


@pytest.mark.parametrize("slots", [1, 2, 4, 8, 32, 64])
def test_a_server_gets_about_as_many_calls_as_it_has_slots(slots: int) -> None:
    found = served(Pace(64), slots, 2_000)
    # Between tries of more, which become rare, the number is the one that keeps all slots busy, at least the first.
    assert sorted(found)[1_000] == max(START, slots)
    assert max(found) <= min(64, 2 * max(START, slots))


def test_a_number_is_not_judged_by_calls_that_began_at_another() -> None:
    pace = Pace(64)
    begun = pace.begun
    served(pace, 64, 8)
    for _ in range(20):
        pace.overloaded(begun)
    assert pace.limit == 2 * START


def test_an_overloaded_server_gets_half_and_later_more_again() -> None:
    pace = Pace(8)
    for expected in (2, 1, 1):
        pace.overloaded(pace.begun)
        assert pace.limit == expected
    assert served(pace, 8, 2_000)[-1] == 8


@pytest.mark.parametrize("timeout", ["0", "-1", "soon", "1,2", "nan", "1,2,3,4"])
def test_a_timeout_that_is_none_is_refused(timeout: str) -> None:
    with pytest.raises(ConfigError, match="must be"):
        TimeLimits.given(timeout)


def test_the_timeout_is_the_one_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOUCH_TIMEOUT", "5,60,900")
    assert TimeLimits.given() == TimeLimits(5.0, 60.0, 900.0)
    monkeypatch.delenv("VOUCH_TIMEOUT")
    assert TimeLimits.given() == TimeLimits()


@pytest.mark.parametrize("timeout", [0.3, 0.1])
def test_a_server_of_one_slot_answers_a_long_batch_without_a_failed_row(timeout: float, tmp_path: Path) -> None:
    slot = threading.Lock()

    def answer(prompt: str) -> str:
        with slot:  # calls wait for each other, and calls whose client is gone keep the slot busy
            time.sleep(0.02)
        return "Yes."

    with chat_server(answer) as name, open_journal(str(tmp_path / "out.jsonl"), {}) as journal:
        model = open_model(name, cache="", timeout=timeout)

        async def work(row: Row) -> str:
            [said] = await model.generate([Message("user", row.name)], Sampling())
            return json.dumps({"id": row.name, "said": said.text})

        factory = AsyncWorkFactory(lambda: work, model.aclose)
        summary = run_batch(rows_of(150), journal, factory, lambda line: Seen(line["id"]))
    assert (summary.rows, summary.stopped) == (150, None)


def test_a_server_that_never_answers_ends_a_batch_after_a_few_calls(tmp_path: Path) -> None:
    done, asked = threading.Event(), [0]

    def answer(prompt: str) -> str:
        asked[0] += 1
        done.wait()
        return "Yes."

    with chat_server(answer) as name, open_journal(str(tmp_path / "out.jsonl"), {}) as journal:
        model = open_model(name, cache="", timeout=0.1)

        async def work(row: Row) -> str:
            return (await model.generate([Message("user", row.name)], Sampling()))[0].text

        factory = AsyncWorkFactory(lambda: work, model.aclose)
        summary = run_batch(rows_of(50), journal, factory, lambda line: Seen(line["id"]))
        done.set()
    assert "none of the last 3 calls was answered, each alone" in str(summary.stopped)
    assert "VOUCH_TIMEOUT" in str(summary.stopped)
    assert asked[0] <= START + START // 2 + 3


def most_at_once(answer: Answer, props: Answer) -> tuple[int, FaultServer]:
    """How many of 40 calls a server gets at once."""
    at_once = [0]

    async def main() -> FaultServer:
        def script(request: Request) -> Answer:
            if request.path == "/props":
                return props
            at_once[0] = max(at_once[0], server.under_way)
            return answer

        async with FaultServer(script) as server:
            model = open_model(f"{server.url}#m", cache="")
            await asyncio.gather(*(model.generate(ASK, Sampling()) for _ in range(40)))
            await model.aclose()
            return server

    server = asyncio.run(main())
    return at_once[0], server


def test_a_server_that_says_how_many_slots_it_has_gets_as_many_calls() -> None:
    props = of_json({"total_slots": 2, "default_generation_settings": {"n_ctx": 4096}})
    most, server = most_at_once(says("Yes.", delay=0.01), props)
    assert most == 2
    assert [request.path for request in server.requests].count("/props") == 1


def test_a_server_that_bears_many_calls_gets_more() -> None:
    most, _ = most_at_once(says("Yes.", delay=0.2), Answer(404))
    assert most > START
