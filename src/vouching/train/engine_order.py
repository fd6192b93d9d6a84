# pyright: basic
"""The order in which a run takes its rows, so that one that goes on in a later epoch takes those it would have taken.

Left out: the rows that are drawn to play flat groups again; ``engine_table`` keeps their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from vouching.train.rank_model import imported


class Order:
    """TRL's order of the rows, the same in an epoch whether or not the epochs before it were run through.

    Args:
        inner: TRL's sampler.
        epoch: tells which epoch begins, from 0.
    """

    def __init__(self, inner: Any, epoch: Callable[[], int]) -> None:
        self._inner, self._epoch = inner, epoch

    def __iter__(self) -> Iterator[int]:
        inner = self._inner
        inner.generator.manual_seed(inner.seed)
        for _ in range(self._epoch()):
            imported("torch").randperm(inner.num_samples, generator=inner.generator)
        return iter(inner)

    def __len__(self) -> int:
        return len(self._inner)
