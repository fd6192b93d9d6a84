"""The engine ``ray``: blocks go to actors of a Ray cluster, each of which opens the verifier once.

Only the names of blocks and their results pass through Ray: an actor reads its block and writes its part itself (see
:mod:`vouching.rows.parts`), so neither the object store nor the size of Ray's own blocks depends on the rows. An actor
that dies, with its node or alone, is replaced, and its blocks are worked on again. Work that waits for a language model
runs in one actor unless more are asked for; the limits on calls are divided among them. Not supported: sending a block
to the node that holds its file; more actors when a cluster grows.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from vouching.errors import BackendError, ConfigError, OutputBusyError, VouchError
from vouching.models.limits import CallLimits
from vouching.rows.blocks import Block
from vouching.rows.parts import BlockResult, BlockWorker, FolderJob, WorkBug, outcome_of, result_of
from vouching.rows.places import whole_path
from vouching.scale.session import check_nodes, ray_session

AHEAD = 2
"""Blocks that an actor has or waits for."""
DEATHS = 3
"""Actors that may die of a block before the run ends."""
POLL_SECONDS = 1.0
BUSY_SECONDS = 60.0
"""How long a block may be locked by an actor that is dead for Ray but not yet for its machine."""
_OPENING = -1
"""Stands for the opening of an actor, which is no block."""
WAIT_SECONDS = 30.0
"""After which a run without an actor says what it waits for."""


class BlockActor:
    """Works on blocks in an actor.

    Args:
        job: what to work on.
        environment: variables that the actor should have.
        folder: the folder of the command, for models and indexes that are named by relative paths.
    """

    def __init__(self, job: FolderJob, environment: Mapping[str, str], folder: str) -> None:
        self._job = job
        self._environment = environment
        self._folder = folder
        self._worker: BlockWorker | None = None

    def open(self) -> str | None:
        """Open the verifier; why that is not possible, None if it is."""
        os.environ.update(self._environment)
        with suppress(OSError):  # a node may not have it
            os.chdir(self._folder)
        try:
            self._worker = BlockWorker(self._job)
        except VouchError as error:
            return str(error)
        return None

    def finish(self, block: Block) -> dict[str, Any]:
        """The outcome of a block, see :func:`~vouching.rows.parts.outcome_of`."""
        assert self._worker is not None
        return outcome_of(self._worker, block)


@dataclass(frozen=True, slots=True)
class RayEngine:
    """Works on blocks with the actors of a Ray cluster."""

    address: str | None = None
    """Of a running cluster; None starts one on this machine."""
    actors: int = 0
    """Number of actors; 0 for one on each core of the cluster, or for ``gpu`` on each GPU, without any one in all."""
    calls: bool = False
    """Whether the work calls a server of a language model: its limits on calls are divided among the actors."""
    gpu: bool = False
    """Whether an actor needs a GPU, if the cluster has any."""
    tell: Callable[[str], object] = lambda words: None
    """Gets what the run waits for."""

    def __call__(self, job: FolderJob, blocks: Sequence[Block]) -> Iterator[BlockResult]:
        """Yield the results as they are finished.

        Raises:
            MissingExtraError: Ray is not installed.
            ConfigError: the cluster cannot be reached, has other versions, or cannot open the verifier.
            InputError: a block cannot be used, or a node does not see the output.
            BackendError: a block could not be finished, the cluster failed, or no node of it is left.
            WorkBug: the work has a bug.
        """
        if not blocks:
            return
        with ray_session(self.address, self.actors) as (ray, is_own):
            job = replace(job, output=whole_path(job.output))
            blocks = [replace(block, path=whole_path(block.path)) for block in blocks]
            if not is_own:
                check_nodes(ray, job.output)
            there: dict[str, float] = ray.cluster_resources()
            gpus = int(there.get("GPU", 0)) if self.gpu else 0
            most = gpus or (1 if self.gpu else max(1, int(there.get("CPU", 1))))
            actors = min(len(blocks), self.actors or most)
            pool = Pool(ray, job, min(1, gpus), self.tell)
            try:
                yield from pool.results(blocks, _environments(actors, self.calls))
            except ray.exceptions.RayTaskError as error:  # an error of an actor, not of the cluster
                raise WorkBug(str(error)) from None
            except ray.exceptions.RayError as error:
                raise BackendError(f"the Ray cluster failed: {_last_line(error)}") from None
            finally:
                pool.close()


@dataclass(slots=True, eq=False)
class _Slot:
    """A place for an actor."""

    environment: Mapping[str, str]
    actor: Any = None
    is_open: bool = False
    has: deque[Block] = field(default_factory=deque[Block])
    """Its blocks, the one that it works on first."""


class Pool:
    """Actors that work on blocks; one that dies is replaced, and what it had left is worked on again.

    Args:
        ray: the module, connected.
        job: what they work on.
        gpus: how many GPUs each needs.
        tell: gets what the run waits for.
    """

    def __init__(self, ray: Any, job: FolderJob, gpus: int, tell: Callable[[str], object]) -> None:
        self._ray, self._job, self._tell = ray, job, tell
        self._kind = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0, max_task_retries=0)(BlockActor)
        self._needs = "GPU" if gpus else "core"
        self._slots: list[_Slot] = []
        self._asked: dict[Any, tuple[_Slot, Any, Block | None]] = {}
        """Slot, actor and block of each call; no block for its opening."""
        self._waiting = deque[Block]()
        self._locked: dict[int, float] = {}
        """When a block was first found locked."""
        self._died_of = Counter[int]()

    def results(self, blocks: Sequence[Block], environments: Sequence[Mapping[str, str]]) -> Iterator[BlockResult]:
        """The result of each block, as it is finished; there is an actor for each environment."""
        self._waiting.extend(blocks)
        self._slots = [_Slot(environment) for environment in environments]
        for slot in self._slots:
            self._start(slot)
        left, started, said = len(blocks), time.monotonic(), False
        while left:
            self._hand_out()
            done, _ = self._ray.wait([*self._asked], num_returns=1, timeout=POLL_SECONDS)
            for call in done:
                for result in self._read(call):
                    left -= 1
                    yield result
            if done or any(one.is_open for one in self._slots):
                continue
            if not any(node["Alive"] for node in self._ray.nodes()):
                raise BackendError("no node of the Ray cluster is left")
            if not said and time.monotonic() - started > WAIT_SECONDS:
                said = True
                self._tell(f"waiting for a free {self._needs} of the Ray cluster")

    def close(self) -> None:
        """End the actors."""
        for slot in self._slots:
            if slot.actor is not None:
                self._ray.kill(slot.actor)

    def _start(self, slot: _Slot) -> None:
        slot.actor, slot.is_open = self._kind.remote(self._job, slot.environment, os.getcwd()), False
        self._asked[slot.actor.open.remote()] = (slot, slot.actor, None)

    def _hand_out(self) -> None:
        """Give blocks to the open actors that have fewest."""
        for depth in range(AHEAD):
            for slot in self._slots:
                if slot.is_open and len(slot.has) <= depth and self._waiting:
                    block = self._waiting.popleft()
                    slot.has.append(block)
                    self._asked[slot.actor.finish.remote(block)] = (slot, slot.actor, block)

    def _read(self, call: Any) -> list[BlockResult]:
        """The blocks that a call finished; none if it opened an actor, or if its block has to wait."""
        slot, actor, block = self._asked.pop(call)
        try:
            found = self._ray.get(call)
        except self._ray.exceptions.RayActorError as error:
            return self._replace(slot, actor, block, error)
        if block is not None:
            return self._finished(slot, block, found)
        if found is not None:
            raise ConfigError(f"an actor cannot open the verifier: {found}")
        slot.is_open = True
        return []

    def _finished(self, slot: _Slot, block: Block, found: dict[str, Any]) -> list[BlockResult]:
        slot.has.remove(block)
        try:
            result = result_of(found)
        except OutputBusyError as error:
            self._wait_for(block, str(error))
            return []
        self._locked.pop(block.number, None)
        return [result]

    def _replace(self, slot: _Slot, actor: Any, block: Block | None, error: Exception) -> list[BlockResult]:
        """Start another actor in place of a dead one, whose unfinished blocks come first; the ones that it finished."""
        self._ray.kill(actor)  # one that cannot be reached may be alive
        results: list[BlockResult] = []
        calls = [call for call, (_, its, _) in self._asked.items() if its is actor]
        ended: list[Any] = self._ray.wait(calls, num_returns=len(calls), timeout=POLL_SECONDS)[0] if calls else []
        for call in calls:
            _, _, other = self._asked.pop(call)
            assert other is not None
            with suppress(self._ray.exceptions.RayActorError):
                results += self._finished(slot, other, self._ray.get(call)) if call in ended else []
        died_of = slot.has[0].number if block is not None else _OPENING
        self._died_of[died_of] += 1
        if block is None and self._died_of[died_of] >= DEATHS * len(self._slots):
            raise BackendError(f"actors die before they work: {_last_line(error)}")
        if block is not None and self._died_of[died_of] >= DEATHS:
            raise BackendError(
                f"{DEATHS} actors died while they worked on block {died_of} ({slot.has[0].name}), perhaps of too "
                "little memory: use smaller files or row groups, or fewer actors (--jobs)"
            )
        for left in slot.has:
            self._locked.pop(left.number, None)
        self._waiting.extendleft(reversed(slot.has))
        slot.has.clear()
        self._start(slot)
        return results

    def _wait_for(self, block: Block, why: str) -> None:
        """Put back a block that another process holds. Raises BackendError if it holds it for too long."""
        since = self._locked.setdefault(block.number, time.monotonic())
        if time.monotonic() - since > BUSY_SECONDS:
            raise BackendError(why)
        if len(self._waiting) == 0:
            time.sleep(POLL_SECONDS)
        self._waiting.append(block)


def _environments(actors: int, calls: bool) -> list[dict[str, str]]:
    """The variables of each actor: those of this process that are ours, but for keys, and its share of the calls."""
    given = {name: value for name, value in os.environ.items() if name.startswith("VOUCH_")}
    ours = {name: value for name, value in given.items() if "KEY" not in name}
    if not calls:
        return [ours] * actors
    limits = CallLimits.given()
    count = limits.most(actors)
    return [{**ours, **limits.share(number, count).environment} for number in range(count)]


def _last_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
