"""Limits on the calls to servers of language models and their prices, from the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass

from vouching.errors import ConfigError

AT_ONCE = 64
"""Concurrent calls to a server by default."""
_AT_ONCE, _PER_MINUTE = "VOUCH_MAX_CALLS", "VOUCH_CALLS_PER_MINUTE"


@dataclass(frozen=True, slots=True)
class CallLimits:
    """How many calls a process may make to the server of a model.

    >>> CallLimits(64, 100.0).share(0, 3)
    CallLimits(at_once=22, per_minute=33.333333333333336)
    >>> sum(CallLimits(64).share(number, 3).at_once for number in range(3))
    64
    """

    at_once: int = AT_ONCE
    """Concurrent calls, at least 1."""
    per_minute: float | None = None
    """Calls begun in a minute, above 0; None for no limit."""

    @classmethod
    def given(cls) -> CallLimits:
        """The limits of ``VOUCH_MAX_CALLS`` and ``VOUCH_CALLS_PER_MINUTE``. Raises ConfigError."""
        at_once = _number(_AT_ONCE, 1)
        return cls(AT_ONCE if at_once is None else int(at_once), _number(_PER_MINUTE, 0))

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


def _number(name: str, least: int) -> float | None:
    """The number in a variable of the environment; None if it is not set or empty."""
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
