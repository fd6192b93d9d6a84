"""Limits on the calls to language models, their time, contexts and prices, from the environment and the server.

How many calls at once a server bears is found while it is used (:class:`Pace`): too many make it slower and not
faster, and where it answers one at a time, as small servers do, calls would time out while they wait for each other.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from vouching.errors import ConfigError
from vouching.models.base import Model
from vouching.models.json_fields import json_count, json_object
from vouching.types import Usage

AT_ONCE = 64
"""The maximum number of concurrent calls to a server by default."""
START = 4
"""Concurrent calls to a server whose capacity is not known."""
_AT_ONCE, _PER_MINUTE, _TIMEOUT = "VOUCH_MAX_CALLS", "VOUCH_CALLS_PER_MINUTE", "VOUCH_TIMEOUT"
_CONTEXT, _TOKENS = "VOUCH_CONTEXT", "VOUCH_MAX_TOKENS"
_SAMPLES = 8
"""Answers by which a number of calls is judged, at least."""
_LONGEST_HOLD = 64
_RARE = 0.05
"""Share of calls that may fail without a smaller number."""


@dataclass(frozen=True, slots=True)
class CallLimits:
    """How many calls a process may make to the server of a model.

    >>> CallLimits(64, 100.0).share(0, 3)
    CallLimits(at_once=22, per_minute=33.333333333333336)
    >>> sum(CallLimits(64).share(number, 3).at_once for number in range(3))
    64
    """

    at_once: int = AT_ONCE
    """The maximum number of concurrent calls, at least 1."""
    per_minute: float | None = None
    """Calls begun in a minute, above 0; None for no limit."""

    @classmethod
    def given(cls) -> CallLimits:
        """The limits of ``VOUCH_MAX_CALLS`` and ``VOUCH_CALLS_PER_MINUTE``. Raises ConfigError."""
        at_once = number_of(_AT_ONCE, 1)
        return cls(AT_ONCE if at_once is None else int(at_once), number_of(_PER_MINUTE, 0))

    def most(self, processes: int) -> int:
        """How many of these processes can have a share: each may make at least one call."""
        return min(processes, self.at_once)

    def share(self, number: int, processes: int) -> CallLimits:
        """The part of one process: ``number`` counts from 0, and there are at most as many as ``most`` returns."""
        at_once = self.at_once // processes + (number < self.at_once % processes)
        return CallLimits(max(1, at_once), self.per_minute and self.per_minute / processes)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that set these limits in another process."""
        found = {_AT_ONCE: str(self.at_once)}
        return found if self.per_minute is None else {**found, _PER_MINUTE: repr(self.per_minute)}


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds that the phases of a request to a server may take. Raises ConfigError unless they are above 0."""

    connect: float = 10.0
    """To open a connection."""
    first_byte: float = 600.0
    """Without a byte from the server; before the first one, it may compute the whole reply."""
    reply: float = 600.0
    """From sending the request to the end of the reply."""

    def __post_init__(self) -> None:
        for seconds in (self.connect, self.first_byte, self.reply):
            if not 0 < seconds < float("inf"):
                raise ConfigError(f"a limit of time must be a number of seconds above 0, got {seconds:g}")

    @classmethod
    def given(cls, timeout: str | float | None = None) -> TimeLimits:
        """Those of ``timeout``, else of ``VOUCH_TIMEOUT``: seconds for a reply, or "connect,first byte,reply".

        Raises ConfigError.

        >>> TimeLimits.given(30), TimeLimits.given("5,60,900")
        (TimeLimits(connect=10.0, first_byte=30.0, reply=30.0), TimeLimits(connect=5.0, first_byte=60.0, reply=900.0))
        """
        text = os.environ.get(_TIMEOUT, "").strip() if timeout is None else str(timeout)
        if not text:
            return cls()
        try:
            seconds = [float(part) for part in text.split(",")]
            return cls(*seconds) if len(seconds) == 3 else cls(cls().connect, *seconds, *seconds)
        except (ValueError, TypeError):
            raise ConfigError(
                f"a timeout ({_TIMEOUT}, --timeout) must be the seconds of a whole reply, such as 900, or those to "
                f"connect, to the first byte and of a whole reply, such as 10,300,900, got {text!r}"
            ) from None


class Pace:
    """How many concurrent calls a server bears, from 1 to ``most``.

    The number doubles while that raises the throughput, by at least half of what doubled work without waiting would,
    and returns to the last one otherwise. It is halved where the server is overloaded, and 1 where that does not help.
    After either, growth is tried again later, each time after more answers. Calls that began at an earlier number say
    nothing about this one.

    >>> pace = Pace(64)
    >>> for _ in range(8):
    ...     pace.answered(0.5, pace.begun, full=True)
    >>> pace.limit
    8
    >>> for _ in range(8):  # eight take twice as long as four
    ...     pace.answered(1.0, pace.begun, full=True)
    >>> pace.limit
    4
    >>> pace.overloaded(pace.begun)
    >>> pace.limit
    2
    """

    def __init__(self, most: int, start: int = START) -> None:
        self.most = most
        self.limit = min(start, most)
        """The number at present."""
        self.begun = 0
        """How often the number has changed; calls note it when they begin."""
        self._answers = self._refusals = 0
        self._shrunk = False
        self._seconds: list[float] = []
        self._before: tuple[int, float] | None = None
        self._hold = 1

    def known(self, slots: int) -> None:
        """The server says how many it works on at once."""
        self.most = min(slots, self.most)
        self._set(self.most)

    def answered(self, seconds: float, begun: int, full: bool) -> None:
        """Take in the time of a call, and whether the number was reached when it began."""
        if begun != self.begun:
            return
        self._answers += 1
        if not full or (self.limit == self.most and self._before is None):
            return
        self._seconds.append(seconds)
        if len(self._seconds) < max(_SAMPLES, self.limit) * (self._hold if self._before is None else 1):
            return
        rate = self.limit / fmean(self._seconds)
        if self._before is not None:
            fewer, lower = self._before
            if rate / lower - 1 < (self.limit / fewer - 1) / 2:
                self._wait_longer(fewer)
                return
        self._before = (self.limit, rate) if self.limit < self.most else None
        self._set(min(2 * self.limit, self.most))

    def overloaded(self, begun: int) -> None:
        """Take in that the server was too slow for a call, or refused it for now; a rare one does not count."""
        if begun != self.begun:
            return
        self._refusals += 1
        if self._refusals > _RARE * self._answers:
            self._wait_longer(max(1, self.limit // 2) if self._answers or not self._shrunk else 1)
            self._shrunk = True

    def _wait_longer(self, limit: int) -> None:
        self._before, self._hold = None, min(4 * self._hold, _LONGEST_HOLD)
        self._set(limit)

    def _set(self, limit: int) -> None:
        self.limit, self.begun, self._shrunk = limit, self.begun + 1, False
        self._answers = self._refusals = 0
        self._seconds.clear()


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server reports about itself; None for what it does not report."""

    context: int | None = None
    """Tokens of a prompt and its reply."""
    slots: int | None = None
    """Calls that are worked on at once."""


async def facts_of(model: Model) -> ServerFacts:
    """What the server of a model says, through any wrappers; nothing for other models."""
    ask = getattr(model, "facts", None)
    return ServerFacts() if ask is None else await ask()


async def context_of(model: Model) -> int | None:
    """The tokens of a prompt and its reply: those of ``VOUCH_CONTEXT``, else as the model says; None if unknown.

    Raises ConfigError.
    """
    given = context_given()
    return (await facts_of(model)).context if given is None else given


def context_given() -> int | None:
    """The tokens of ``VOUCH_CONTEXT``; None if it is not set. Raises ConfigError."""
    given = number_of(_CONTEXT, 1)
    return None if given is None else int(given)


def most_tokens(given: int | None) -> int | None:
    """The token limit of a reply: as given, else that of ``VOUCH_MAX_TOKENS``; None if neither is set.

    Raises ConfigError.
    """
    if given is not None or (found := number_of(_TOKENS, 1)) is None:
        return given
    return int(found)


@dataclass(frozen=True, slots=True)
class Price:
    """Prices of a million tokens, in any currency.

    >>> Price(2.0, 10.0).of(2, 3)
    3.4e-05
    """

    prompt: float
    """Of the prompt."""
    completion: float
    """Of the completions."""

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """The price of these tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


def price_given() -> Price | None:
    """The price of ``VOUCH_PRICE``, such as "0.15,0.60"; None if it is not set. Raises ConfigError."""
    text = os.environ.get("VOUCH_PRICE", "").strip()
    if not text:
        return None
    try:
        prompt, completion = map(float, text.split(","))
        if not (0 <= prompt < float("inf") and 0 <= completion < float("inf")):
            raise ValueError
    except ValueError:
        raise ConfigError(
            "VOUCH_PRICE must be the prices of a million tokens of prompts and of completions, such as 0.15,0.60, "
            f"got {text!r}"
        ) from None
    return Price(prompt, completion)


def usage_of(reported: Any, seconds: float, sides: tuple[str, str] = ("prompt", "completion")) -> Usage:
    """What a call cost by the usage that a server reports: its ``cost``, else that of the tokens by ``VOUCH_PRICE``.

    Args:
        reported: the field "usage" of a reply, of whatever type.
        seconds: how long the call took.
        sides: what the server calls the tokens of prompts and of completions.

    Raises ConfigError for a malformed ``VOUCH_PRICE``.

    >>> usage_of({"input_tokens": 7, "output_tokens": "?", "cost": 0.002}, 0.5, ("input", "output"))
    Usage(seconds=0.5, prompt_tokens=7, completion_tokens=0, calls=1, cost=0.002)
    """
    fields, price = json_object(reported), price_given()
    sent, received = (json_count(fields.get(f"{side}_tokens")) or 0 for side in sides)
    said = fields.get("cost")
    if isinstance(said, int | float) and not isinstance(said, bool) and 0 <= said < 1e300:
        return Usage(seconds, sent, received, 1, float(said))
    return Usage(seconds, sent, received, 1, price.of(sent, received) if price else 0.0)


def number_of(name: str, least: int) -> float | None:
    """The number in a variable of the environment; None if it is not set or empty.

    Raises ConfigError for a number below ``least`` (1: a whole number), or that is not above 0.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    whole = least == 0 or value == int(value)
    if not (least <= value < float("inf") and value > 0 and whole):
        kind = "a whole number of at least 1" if least else "a number above 0"
        raise ConfigError(f"{name} must be {kind}, got {text!r}")
    return value
