"""Every block is finished once, whenever actors die: 300 random orders of what Ray can report, from seeds.

Real kills, in tests/scale/test_ray_engine.py and test_ray_cluster.py, are few and come when they come; here calls end,
actors die and blocks are locked in any order that Ray allows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from vouching.errors import BackendError
from vouching.rows.blocks import Block
from vouching.scale import engine
from vouching.scale.engine import Pool


class ActorDied(Exception):
    """Ray's RayActorError."""


@dataclass(eq=False)
class Call:
    """A call of an actor, which has ended if it has an answer or failed."""

    block: Block | None
    ended: bool = False
    failed: bool = False
    answer: Any = None


@dataclass(eq=False)
class Actor:
    """Its calls end one after the other; when it dies, those that are left fail."""

    left: list[Call] = field(default_factory=list[Call])
    dead: bool = False

    def call(self, block: Block | None = None) -> Call:
        made = Call(block, ended=self.dead, failed=self.dead)
        if not self.dead:
            self.left.append(made)
        return made

    @property
    def open(self) -> SimpleNamespace:
        return SimpleNamespace(remote=self.call)

    finish = open


class Order:
    """What Ray reports, drawn by a seed: the part of the module ``ray`` that the engine uses."""

    exceptions = SimpleNamespace(RayActorError=ActorDied)

    def __init__(self, seed: int, deaths: float, deadly: int | None = None) -> None:
        self.draw, self.deaths, self.deadly = random.Random(seed), deaths, deadly
        self.actors: list[Actor] = []
        self.is_up = True

    def nodes(self) -> list[dict[str, bool]]:
        return [{"Alive": False}, {"Alive": self.is_up}]

    def remote(self, **needs: object) -> Callable[[type], SimpleNamespace]:
        def start(job: object, environment: object) -> Actor:
            self.actors.append(made := Actor())
            return made

        return lambda kind: SimpleNamespace(remote=start)

    def wait(self, calls: Sequence[Call], num_returns: int, timeout: float) -> tuple[list[Call], list[Call]]:
        for _ in range(self.draw.randint(0, 6)):
            self._go_on(self.draw.choice(self.actors))
        ended = [call for call in calls if call.ended]
        return ([self.draw.choice(ended)] if ended else []), []

    def _go_on(self, actor: Actor) -> None:
        if not actor.left:
            return
        block = actor.left[0].block
        if self.draw.random() < self.deaths or (block is not None and block.number == self.deadly):
            for call in actor.left:
                call.ended = call.failed = True
            actor.left.clear()
            actor.dead = True
            return
        call = actor.left.pop(0)
        call.ended = True
        if block is not None:
            done = {"block": block.number, "file": block.name, "rows": 1, "problems": 0, "left": 0}
            call.answer = {"busy": "locked"} if self.draw.random() < self.deaths else done

    def get(self, call: Call) -> Any:
        assert call.ended
        if call.failed:
            raise ActorDied("died")
        return call.answer


def blocks(count: int) -> list[Block]:
    return [Block(number, f"{number}.jsonl", f"{number}.jsonl") for number in range(count)]


@pytest.mark.parametrize("actors", [1, 2, 4])
def test_every_block_has_one_result_in_any_order_of_deaths(actors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "POLL_SECONDS", 0)
    monkeypatch.setattr(engine, "DEATHS", 10**9)
    for seed in range(100):
        pool = Pool(Order(seed, deaths=0.15), None, 0, print)  # type: ignore[arg-type]
        count = 1 + seed % 30
        found = [result.block for result in pool.results(blocks(count), [{}] * actors)]
        assert sorted(found) == [*range(count)], f"seed {seed}"


def test_the_block_that_kills_its_actors_is_named_and_no_other() -> None:
    for seed in range(100):
        pool = Pool(Order(seed, deaths=0.0, deadly=4), None, 0, print)  # type: ignore[arg-type]
        with pytest.raises(BackendError, match=r"3 actors died while they worked on block 4 \(4\.jsonl\)"):
            list(pool.results(blocks(9), [{}] * 2))


def test_a_run_ends_when_the_last_node_died_and_no_actor_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "POLL_SECONDS", 0)
    cluster = Order(0, deaths=0.0)
    pool = Pool(cluster, None, 0, print)  # type: ignore[arg-type]
    results = pool.results(blocks(9), [{}] * 2)
    next(results)
    cluster.is_up, cluster.deaths = False, 1.0
    monkeypatch.setattr(Pool, "_start", lambda _, slot: setattr(slot, "is_open", False))  # waits for ever
    with pytest.raises(BackendError, match="no node of the Ray cluster is left"):
        list(results)
