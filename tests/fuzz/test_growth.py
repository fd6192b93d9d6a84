"""No parser takes longer than n log n for a text that repeats one piece, however often it is repeated."""

from __future__ import annotations

import asyncio
import gc
import time
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from tests.fuzz.targets import TARGETS, Target
from vouching.inputs import as_sources
from vouching.rows.conversations import open_turn
from vouching.serve.blocking import Blocking
from vouching.serve.events import event_with
from vouching.serve.policy import JudgeSettings, Policy, ProxySettings
from vouching.serve.proxy_guard import Guard
from vouching.serve.proxy_messages import Asked
from vouching.serve.proxy_streams import HeldChat
from vouching.serve.work import Pool

PIECES = (
    "1,",
    "1 ",
    "$1 ",
    "5 May 1973 ",
    "(",
    "[",
    "{",
    '"',
    "“",
    "and ",
    "not b ",
    "\n",
    " ",
    "```\n",
    '"a":1,',
    '"k{}":1,',
    "a. ",
    "| a ",
    "- a\n",
    "<b>",
    "**",
    "# a\n",
    "[1]",
)
""""{}" stands for the number of the copy."""
SHORT, LONG = 1_000, 4_000
"""Characters. Work of n log n takes 4.7 times as long for four times the text, quadratic work 16 times."""
MOST_GROWTH = 9.0
QUICK = 0.07
"""Seconds of processor time below which the growth is noise: quadratic work that is quicker needs seconds for a text of
40,000 characters, and a server ends it."""
FOREIGN = {
    "task in YAML": "PyYAML",
    "settings of a training": "tomllib",
    "settings of an evolution": "tomllib",
    "reply with a safety case": "json-repair, to which at most 10,000 characters are given",
    "reply of Lynx": "same",
}
"""Parsers that are not ours: of the user's own files, or within a bound."""


def repeated(piece: str, length: int) -> str:
    """About ``length`` characters of copies of a piece."""
    return "".join(piece.replace("{}", str(number)) for number in range(length // len(piece)))


def seconds(target: Target, text: str, times: int = 1) -> float:
    """Processor time, the least of ``times`` measurements."""
    measured: list[float] = []
    gc.disable()  # what it takes depends on how much the tests before have left behind
    try:
        while len(measured) < times:
            started = time.process_time()
            with warnings.catch_warnings(), suppress(*target.allowed):
                warnings.simplefilter("ignore")
                target.parse(text)
            measured.append(time.process_time() - started)
    finally:
        gc.enable()
    return min(measured)


def too_slow(target: Target, before: str, piece: str, after: str) -> str:
    """What is wrong with the time of a text that repeats a piece; empty if nothing.

    Other work on the machine only ever adds time, so what looks too slow is measured again before it is said.
    """
    for times in (1, 2, 10):
        long = seconds(target, before + repeated(piece, LONG) + after, times)
        if long <= QUICK:
            return ""
        growth = long / max(seconds(target, before + repeated(piece, SHORT) + after, times), 0.005)
        if growth <= MOST_GROWTH:
            return ""
    return f"{piece!r} {growth:.0f} times longer, {long:.2f} s"


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in FOREIGN])
def test_four_times_the_text_does_not_take_nine_times_as_long(name: str) -> None:
    target = TARGETS[name]
    seed = target.seeds[0]
    middle = len(seed) // 2
    around = (("", ""), ("", seed), (seed[:middle], seed[middle:]), (seed, ""))
    slow = [found for piece in PIECES for before, after in around if (found := too_slow(target, before, piece, after))]
    assert not slow


def test_quadratic_work_is_noticed_and_linear_work_is_not() -> None:
    quadratic = Target(lambda text: [sum(text[at:].encode() * 8) for at in range(len(text))], ["a"])
    linear = Target(lambda text: [sum(text.encode()) for _ in range(2_000)], ["a"])
    # Other work on the machine can add time to the short text alone, which hides the growth for once.
    assert any("times longer" in too_slow(quadratic, "", "a", "") for _ in range(5))
    assert not too_slow(linear, "", "a", "")


def _many_sources(count: int) -> None:
    as_sources([{"id": "a", "text": "b"}] * count)


def _long_conversation(count: int) -> None:
    open_turn([{"role": "user", "content": "Is it?"}, {"role": "assistant", "content": "It is."}] * count)


def _held_stream(opening: str, delta: dict[str, Any], count: int) -> None:
    def event(one: dict[str, Any]) -> bytes:
        return event_with({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": one}]})

    async def read() -> None:
        async def chunks() -> AsyncIterator[bytes]:
            yield event({"content": opening})
            for _ in range(count):
                yield event(delta)

        pool = Pool(1, 4)
        guard = Guard(ProxySettings(action="block"), JudgeSettings("embedded:rules"), pool, Blocking(Policy()))
        async for _ in HeldChat(guard, Asked(None, ())).stream(chunks()):
            pass
        guard.close()

    asyncio.run(read())


LISTS: dict[str, Callable[[int], None]] = {
    "sources with one id": _many_sources,
    "turns of a conversation": _long_conversation,
    "calls of tools after a text that is held": partial(
        _held_stream, "Let me look", {"tool_calls": [{"index": 0, "function": {"arguments": "a"}}]}
    ),
    "a thought that does not end": partial(_held_stream, "<think>", {"content": "It is. a"}),
}


@pytest.mark.parametrize("name", LISTS)
def test_four_times_the_entries_do_not_take_nine_times_as_long(name: str) -> None:
    target = Target(lambda count: LISTS[name](int(count)), [])
    for times in (1, 2, 5):
        short, long = (seconds(target, str(count), times) for count in (1_000, 4_000))
        if long <= MOST_GROWTH * max(short, 0.005):
            return
    pytest.fail(f"{short:.2f} s, then {long:.2f} s")
