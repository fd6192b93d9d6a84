"""Check the rows of a Ray Dataset that exists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vouching.errors import needed
from vouching.scale.frames import FrameChecker
from vouching.scale.session import ray_module

ROWS_PER_BLOCK = 256
"""Rows that an actor gets at a time."""


def check_dataset(
    dataset: Any,
    model: str = "embedded",
    *,
    keep: Sequence[str] = (),
    actors: int = 0,
    rows_per_block: int = ROWS_PER_BLOCK,
    **settings: Any,
) -> Any:
    """Map a Dataset of rows to a Dataset of records, with a pool of actors that each open the verifier once.

    Ray reads small files into few blocks, and a block is one task of one actor, so that 40,000 rows may keep a single
    core busy and be lost together; the rows are therefore divided again first.

    Args:
        dataset: rows with id, claim or response, source or sources.
        model: the judge, see :class:`vouching.Checker`.
        keep: columns of the rows to add to the records.
        actors: maximum number of actors; 0 for one on each core of the cluster.
        rows_per_block: rows that an actor gets at a time; they and their sources must fit into its memory.
        settings: further arguments of :class:`vouching.Checker`.

    Returns:
        A Dataset with the columns of :func:`vouching.scale.record_schema` and those to keep. Its order is not that of
        the rows: compare by id. Reading it raises an error of Ray with that of :class:`FrameChecker` in it.
    """
    ray, data = ray_module(), needed("ray.data", "ray", "checking a Dataset")
    most = actors or max(1, int(ray.cluster_resources().get("CPU", 1)))
    return dataset.repartition(target_num_rows_per_block=rows_per_block, strict=True).map_batches(
        FrameChecker,
        fn_constructor_args=(model,),
        fn_constructor_kwargs={"keep": tuple(keep), **settings},
        batch_size=None,
        batch_format="pyarrow",
        compute=data.ActorPoolStrategy(min_size=1, max_size=most, max_tasks_in_flight_per_actor=2),
        num_cpus=1,
    )
