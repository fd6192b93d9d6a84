# pyright: basic
"""The loss of a step, piece by piece: however many rows a game makes, ``micro_batch`` of them are read at once.

Each piece but the last is done with at once, its gradient added up in the process; with the last one gradients are
exchanged, as TRL and accelerate do it. No piece mixes two policies. Left out: pieces of equally many tokens.

The order in which a run takes its rows, so that one that goes on in a later epoch takes those it would have taken.

Left out: the rows that are drawn to play flat groups again; ``engine_table`` keeps their place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from vouching.train.engine_batch import ROW_MEANS, pieces
from vouching.train.rank_model import imported


def in_pieces(
    loss_of: Callable[[dict[str, Any]], Any], batch: Mapping[str, Any], config: Any, accelerator: Any, model: Any
) -> Any:
    """The loss of a batch, undiluted by rows of padding, with the graph of its last piece.

    Args:
        loss_of: the loss of a piece by itself.
        batch: with ``policy``, of which policy each row is, and ``row_scale``, what makes up for padding.
        config: the settings of the run.
        accelerator: does the gradients of the other pieces.
        model: as the accelerator wraps it.
    """
    found = pieces(batch["policy"].tolist(), config.micro_batch)
    done: Any = 0.0
    for rows in found[:-1]:
        with _apart(accelerator, model):
            loss = _share_of(batch, rows, config.loss) * loss_of(_piece(batch, rows))
            accelerator.backward(loss)
        done += loss.detach()
    return _share_of(batch, found[-1], config.loss) * loss_of(_piece(batch, found[-1])) + done


def _piece(batch: Mapping[str, Any], rows: Sequence[int]) -> dict[str, Any]:
    """Some rows of a batch."""
    return {name: value[rows] if value.dim() else value for name, value in batch.items()}


def _share_of(batch: Mapping[str, Any], rows: Sequence[int], loss: str) -> Any:
    """What the loss of a piece counts in that of the whole: a mean by what it is a mean of, a sum as it is."""
    if loss in ROW_MEANS:
        return len(rows) / len(batch["policy"]) * batch["row_scale"]
    if loss != "bnpo":
        return batch["row_scale"]
    tokens = (batch["completion_mask"] * batch.get("tool_mask", 1)).sum(-1)
    return tokens[rows].sum() / tokens.sum().clamp(min=1) * batch["row_scale"]


@contextmanager
def _apart(accelerator: Any, model: Any) -> Generator[None]:
    """Gradients are added up in each process and not yet exchanged."""
    accelerator.gradient_state._set_sync_gradients(False)
    with accelerator.no_sync(model):
        yield
    accelerator.gradient_state._set_sync_gradients(True)


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
