"""What all parts of benchmarks/same_behaviour.py share: an item, its digest, and blocks of random replies.

What the items are is up to each part.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("VOUCH_DATA", ROOT / "shared/data"))
SEED = 20
BLOCK = 100
"""Replies that share a digest."""
_CHANGING = ("version", "seconds")
"""Fields of records that a release or a clock changes."""

# The checkout that this file belongs to is what is measured, whatever is installed.
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]


@dataclass(frozen=True, slots=True)
class Item:
    """One value that must not change."""

    name: str
    """Where it is found again; a block of replies has one name."""
    make: Callable[[], Any]
    """Computes it, as JSON has it."""
    brief: Callable[[Any], str] = lambda value: ""
    """What of it is written beside its digest, so that a difference says something."""

    def entry(self) -> str:
        """Digest and brief, as the result file has them."""
        value = self.make()
        return f"{digest(value)} {self.brief(value)}".rstrip()


def digest(value: Any) -> str:
    """The first twelve digits of the SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:12]


def canonical(value: Any, indent: int | None = None) -> str:
    """JSON with sorted keys, without what a release or a clock changes."""
    return json.dumps(lasting(value), sort_keys=True, ensure_ascii=False, indent=indent)


def lasting(value: Any) -> Any:
    """A value without version and seconds, at any depth."""
    if isinstance(value, Mapping):
        return {str(key): lasting(inside) for key, inside in value.items() if key not in _CHANGING}
    if isinstance(value, list | tuple):
        return [lasting(inside) for inside in value]
    return value


def numbers(value: Any) -> Iterator[float]:
    """All numbers of a value, at any depth."""
    if isinstance(value, Mapping | list | tuple):
        for inside in value.values() if isinstance(value, Mapping) else value:
            yield from numbers(inside)
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        yield float(value)


def total(value: Any) -> str:
    """The sum of all numbers of a value."""
    return f"sum {math.fsum(numbers(value)):.6f}"


def blocks(name: str, count: int, reply: Callable[[Random], Any], size: int = BLOCK) -> Iterator[Item]:
    """Blocks of random replies with separate generators, so that a difference in one leaves the others unchanged."""
    for number in range(count):

        def make(place: str = f"{name}/{number}") -> list[Any]:
            draw = Random(f"{SEED}/{place}")
            return [outcome(lambda: reply(draw)) for _ in range(size)]

        yield Item(f"{name}/{number}", make, total)


def outcome(score: Callable[[], Any]) -> Any:
    """What a call gives, or the name of the error that it raises."""
    try:
        return score()
    except Exception as error:
        return {"error": type(error).__name__}


def reward(found: Any) -> Any:
    """A reward, or what stands in its place, as JSON has it."""
    if hasattr(found, "parts"):
        return {"total": found.total, "parts": dict(found.parts)}
    return {"unverified": found.reason} if hasattr(found, "reason") else found


def played(play: Any) -> dict[str, Any]:
    """The outcome of a game: the rewards of all groups, failures, and watched figures."""
    groups = [
        [group.key, group.role, group.estimator, [[one.text, one.weight, reward(one.reward)] for one in group.rollouts]]
        for group in play.groups
    ]
    return {
        "groups": groups,
        "failures": [one.reason for one in play.failures],
        "dropped": play.dropped,
        "measures": dict(play.measures),
        "occasions": dict(play.occasions),
    }


def some(draw: Random, things: Sequence[Any], least: int, most: int) -> list[Any]:
    """So many of the things, some of them more than once."""
    return [draw.choice(things) for _ in range(draw.randint(least, most))]
