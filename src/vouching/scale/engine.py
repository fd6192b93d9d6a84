"""The engine ``ray``: blocks go to a pool of actors of Ray Data, each of which opens the verifier once.

Only the names of blocks and their results pass through Ray: an actor reads its block and writes its part itself (see
:mod:`vouching.rows.parts`), so neither the object store nor the size of Ray's own blocks depends on the rows. Ray
starts a dead actor again and gives it the block again. Work that waits for a language model runs in one actor, whose
limits on concurrent calls are then those of the whole run. Not supported: sending a block to the node that holds its
file.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from vouching.errors import BackendError, VouchError
from vouching.rows.blocks import Block
from vouching.rows.parts import BlockResult, BlockWorker, FolderJob
from vouching.rows.places import is_remote
from vouching.scale.session import check_nodes, ray_session

AHEAD = 2
"""Blocks that an actor has or waits for."""


class BlockActor:
    """Works on blocks in an actor.

    Args:
        job: what to work on.
    """

    def __init__(self, job: FolderJob) -> None:
        self._worker = BlockWorker(job)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        """The results of a batch of blocks as JSON, or why one has none."""
        return {"result": [self._answer(Block(**json.loads(str(block)))) for block in batch["block"]]}

    def _answer(self, block: Block) -> str:
        try:
            return json.dumps(asdict(self._worker.finish(block)))
        except VouchError as error:
            return json.dumps({"error": str(error)})


@dataclass(frozen=True, slots=True)
class RayEngine:
    """Works on blocks with the actors of a Ray cluster."""

    address: str | None = None
    """Of a running cluster; None starts one on this machine."""
    actors: int = 0
    """Number of actors; 0 for one on each core of the cluster."""

    def __call__(self, job: FolderJob, blocks: Sequence[Block]) -> Iterator[BlockResult]:
        """Yield the results as they are finished.

        Raises:
            MissingExtraError: Ray is not installed.
            ConfigError: the cluster cannot be reached, or has other versions.
            BackendError: a block could not be finished.
        """
        with ray_session(self.address, self.actors) as ray:
            job = _absolute(job)
            check_nodes(ray, job.output)
            if blocks:
                yield from self._results(ray, job, [_absolute_block(block) for block in blocks])

    def _results(self, ray: Any, job: FolderJob, blocks: Sequence[Block]) -> Iterator[BlockResult]:
        actors = min(len(blocks), self.actors or max(1, int(ray.cluster_resources().get("CPU", 1))))
        _be_quiet(ray)
        items = [{"block": json.dumps(asdict(block))} for block in blocks]
        done = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
            BlockActor,
            fn_constructor_args=(job,),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=actors, max_tasks_in_flight_per_actor=AHEAD),
            num_cpus=1,
        )
        try:
            for row in done.iter_rows():
                result = json.loads(row["result"])
                if "error" in result:
                    raise BackendError(result["error"])
                yield BlockResult(**result)
        except ray.exceptions.RayError as error:
            lines = str(error).strip().splitlines()
            raise BackendError(f"the Ray cluster failed: {lines[-1] if lines else type(error).__name__}") from None


def _be_quiet(ray: Any) -> None:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    for name in ("ray.data", "ray"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _absolute(job: FolderJob) -> FolderJob:
    """The job with paths that do not depend on the folder in which an actor runs."""
    return job if is_remote(job.output) else replace(job, output=_whole_path(job.output))


def _absolute_block(block: Block) -> Block:
    return block if is_remote(block.path) else replace(block, path=_whole_path(block.path))


def _whole_path(path: str) -> str:
    return str(Path(path).resolve())
