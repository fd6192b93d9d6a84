"""Every block is finished once, whenever actors die: 300 random orders of what Ray can report, from seeds.

Real kills, in tests/scale/test_ray_engine.py and test_ray_cluster.py, are few and come when they come; here calls end,
actors die or are out of reach, and blocks are locked in any order that Ray allows.
"""

from __future__ import annotations

import random
import time
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
    """Ray's RayActorError, which also says that an actor cannot be reached for now."""


@dataclass(eq=False)
class Call:
    """A call of an actor, which has ended if it has an answer or failed."""

    block: Block | None
    ended: bool = False
    failed: bool = False
    answer: Any = None


@dataclass(eq=False)
class Actor:
    """Its calls end one after the other; when it dies or cannot be reached, those that are left fail."""

    left: list[Call] = field(default_factory=list[Call])
    dead: bool = False

    def fail(self) -> None:
        for call in self.left:
            call.ended = call.failed = True
        self.left.clear()

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
        def start(job: object, environment: object, folder: str) -> Actor:
            self.actors.append(made := Actor())
            return made

        return lambda kind: SimpleNamespace(remote=start)

    def wait(self, calls: Sequence[Call], num_returns: int, timeout: float) -> tuple[list[Call], list[Call]]:
        for _ in range(self.draw.randint(0, 6)):
            self._go_on(self.draw.choice(self.actors))
        ended = [call for call in calls if call.ended]
        return self.draw.sample(ended, min(num_returns, len(ended))), []

    def kill(self, actor: Actor) -> None:
        assert actor is not None
        actor.dead = True
        actor.fail()

    def _go_on(self, actor: Actor) -> None:
        if not actor.left:
            return
        block = actor.left[0].block
        if self.draw.random() < self.deaths or (block is not None and block.number == self.deadly):
            actor.fail()
            actor.dead = self.draw.random() < 0.7  # else it cannot be reached, and lives on
            return
        call = actor.left.pop(0)
        call.ended = True
        if block is not None:
            done = {"block": block.number, "file": block.name, "rows": 1, "problems": 0, "left": 0}
            call.answer = {"busy": "locked"} if self.draw.random() < self.deaths else {"result": done}

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
        pool = Pool(order := Order(seed, deaths=0.15), None, 0, print)  # type: ignore[arg-type]
        count = 1 + seed % 30
        found = [result.block for result in pool.results(blocks(count), [{}] * actors)]
        assert sorted(found) == [*range(count)], f"seed {seed}"
        assert sum(not actor.dead for actor in order.actors) <= actors  # none lives on in place of which others work
        pool.close()
        assert all(actor.dead for actor in order.actors)


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


class Full(Order):
    """Has room for one actor."""

    def remote(self, **needs: object) -> Callable[[type], SimpleNamespace]:
        make = super().remote(**needs)(object).remote

        def start(*given: object) -> Actor:
            if self.actors:
                raise RuntimeError("full")
            return make(*given)

        return lambda kind: SimpleNamespace(remote=start)


def test_a_pool_whose_actors_cannot_all_be_started_ends_those_that_were() -> None:
    pool = Pool(order := Full(0, deaths=0.0), None, 0, print)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="full"):
        list(pool.results(blocks(2), [{}, {}]))
    pool.close()
    assert [actor.dead for actor in order.actors] == [True]


def test_a_block_is_waited_for_anew_when_an_actor_that_had_it_died(monkeypatch: pytest.MonkeyPatch) -> None:
    # Locked for a moment, then worked on for 0.06 s by an actor that dies, then locked for another moment: never for as
    # long as BUSY_SECONDS, although more than that passed since the first lock.
    monkeypatch.setattr(engine, "POLL_SECONDS", 0)
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.05)
    order = Scripted(["open", "busy", 0.06, "die", "open", "busy", "done"])
    pool = Pool(order, None, 0, print)  # type: ignore[arg-type]
    assert [result.block for result in pool.results(blocks(1), [{}])] == [0]


class Scripted(Order):
    """One actor after the other, whose calls end as a script says; a number lets seconds pass."""

    def __init__(self, script: Sequence[str | float]) -> None:
        super().__init__(0, deaths=0.0)
        self._script = [*script]

    def wait(self, calls: Sequence[Call], num_returns: int, timeout: float) -> tuple[list[Call], list[Call]]:
        left = [call for call in calls if not call.ended]
        if not left:
            return [], []
        step = self._script.pop(0)
        if not isinstance(step, str):
            time.sleep(step)
            return [], []
        actor = self.actors[-1]
        if step == "die":
            self.kill(actor)
            return left[:1], []
        call = actor.left.pop(0)
        call.ended = True
        result = {"block": 0, "file": "0.jsonl", "rows": 1, "problems": 0, "left": 0}
        call.answer = {"open": None, "busy": {"busy": "locked"}, "done": {"result": result}}[step]
        return [call], []
