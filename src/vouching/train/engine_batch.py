# pyright: basic
"""Rollouts as the arrays that a policy loss reads, split into pieces of ``micro_batch`` rows, and the order of rows.

Prompts are padded on the left and completions on the right. Fully masked rows fill up to the row count that all
processes share, so that they move no weight. A token that the policy did not choose is read but not trained
(``tool_mask``). Every piece but the last is backpropagated at once, its gradient summed in the process; with the last
one gradients are exchanged, as in TRL and accelerate. No piece mixes two policies; each has rows of similar length
and is trimmed to its longest ones. Not supported: images, pieces of
equal token count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.methods.base import Play
from vouching.train.advantages import stream_factors
from vouching.train.extra import imported
from vouching.types import Rollout

Array: TypeAlias = NDArray[Any]

ROW_MEANS = frozenset({"grpo", "gspo", "dr_grpo", "token_sum"})
"""Losses that average over rows, so that masked rows would dilute them; the others count tokens."""


def to_arrays(
    rollouts: Sequence[Rollout], rows: int, pad: int, factors: Mapping[str, float] | None = None
) -> dict[str, Array]:
    """The batch of one process.

    Args:
        rollouts: with their advantages; may be empty.
        rows: row count of the batch, at least one and at least ``len(rollouts)``.
        pad: token id of the padding.
        factors: factor of the advantages per role, from :func:`role_factors`; 1 if absent.

    Returns:
        ``prompt_ids``, ``prompt_mask`` (rows, longest prompt), ``completion_ids``, ``completion_mask`` (rows, longest
        completion), integers; ``advantages`` (rows,), or (rows, longest completion) if a rollout has one per token;
        ``tool_mask`` if a completion token is not trained; ``sampling_per_token_logps``, NaN where a rollout has none.

    >>> said = Rollout("verifier", (7, 8), (9,), (1,), None, "stop", advantage=0.5)
    >>> batch = to_arrays([said], rows=2, pad=0)
    >>> batch["completion_mask"].tolist(), batch["advantages"].tolist()
    ([[1], [0]], [0.5, 0.0])
    """
    width = max((len(one.completion_ids) for one in rollouts), default=1)
    # A padding row has a prompt: nothing can be computed from zero tokens.
    prompts = [one.prompt_ids for one in rollouts] + [(pad,)] * (rows - len(rollouts))
    length = max(map(len, prompts))
    prompt_ids = np.full((rows, length), pad)
    prompt_mask = np.zeros_like(prompt_ids)
    for row, ids in enumerate(prompts):
        prompt_ids[row, length - len(ids) :] = ids
        prompt_mask[row, length - len(ids) :] = 1
    completion_ids = np.full((rows, width), pad)
    completion_mask, chosen = np.zeros_like(completion_ids), np.ones_like(completion_ids)
    logprobs = np.full((rows, width), np.nan, dtype=np.float32)
    for row, one in enumerate(rollouts):
        said = slice(0, len(one.completion_ids))
        completion_ids[row, said], completion_mask[row, said] = one.completion_ids, 1
        chosen[row, said] = one.completion_mask
        if one.sampling_logprobs is not None:
            logprobs[row, said] = one.sampling_logprobs
    batch = {
        "prompt_ids": prompt_ids,
        "prompt_mask": prompt_mask,
        "completion_ids": completion_ids,
        "completion_mask": completion_mask,
        "advantages": _advantages(rollouts, rows, width, factors or {}),
        "sampling_per_token_logps": logprobs,
    }
    if not chosen.all():
        batch["tool_mask"] = chosen
    return batch


def amounts_of(rollouts: Sequence[Rollout], loss: str) -> dict[str, float]:
    """The loss's denominator per role: rows, or trained tokens.

    >>> said = Rollout("verifier", (7,), (8, 9), (1, 0), None, "stop")
    >>> amounts_of([said, said], "grpo"), amounts_of([said, said], "dapo")
    ({'verifier': 2.0}, {'verifier': 2.0})
    """
    amounts: Counter[str] = Counter()
    for one in rollouts:
        amounts[one.role] += 1 if loss in ROW_MEANS else sum(one.completion_mask)
    return {role: float(amount) for role, amount in amounts.items()}


def turns_of(plays: Sequence[Play]) -> dict[str, tuple[int, int]]:
    """For roles that speak only sometimes: how often they did, and how often they could have."""
    spoken = Counter(group.role for play in plays for group in play.groups)
    possible: Counter[str] = Counter()
    for play in plays:
        possible.update(play.occasions)
    return {role: (spoken[role], count) for role, count in possible.items()}


def role_factors(
    amounts: Sequence[Mapping[str, float]], turns: Sequence[Mapping[str, tuple[int, int]]] = (), pooled: bool = False
) -> dict[str, float]:
    """Factors for the advantages of each role, so that each role's part of the update is a mean of its own.

    Args:
        amounts: from :func:`amounts_of`, one per process.
        turns: from :func:`turns_of`, one per process: a role that speaks at one unit of four counts a quarter, as in
            an expectation over units.
        pooled: one mean over all roles instead, so that all factors are 1.

    >>> role_factors([{"generator": 6.0}, {"approver": 2.0}])
    {'generator': 1.3333333333333333, 'approver': 4.0}
    >>> role_factors([{"generator": 6.0}, {"approver": 2.0}], [{"approver": (0, 2)}, {"approver": (1, 2)}])
    {'generator': 1.3333333333333333, 'approver': 1.0}
    """
    total: Counter[str] = Counter()
    for one in amounts:
        total.update(one)
    if pooled:
        return dict.fromkeys(total, 1.0)
    spoken: Counter[str] = Counter()
    possible: Counter[str] = Counter()
    for one in turns:
        spoken.update({role: said for role, (said, _) in one.items()})
        possible.update({role: count for role, (_, count) in one.items()})
    return stream_factors(total, {role: spoken[role] / count for role, count in possible.items() if count})


def policy_counts(rollouts: Sequence[Rollout]) -> dict[str, int]:
    """Rollouts of each policy.

    >>> policy_counts([Rollout("verifier", (7,), (8,), (1,), None, "stop")] * 2)
    {'default': 2}
    """
    return dict(Counter(one.policy for one in rollouts))


def row_policies(
    rollouts: Sequence[Rollout], counts: Sequence[Mapping[str, int]], names: Sequence[str] = ("default",)
) -> list[int]:
    """The policy of each row, padding last, so that all processes have as many rows of each policy.

    Args:
        rollouts: of this process.
        counts: from :func:`policy_counts`, one per process.
        names: of all policies; the result holds places in it.

    >>> said = Rollout("verifier", (7,), (8,), (1,), None, "stop", policy="verifier")
    >>> row_policies([said], [{"verifier": 1}, {"default": 1, "verifier": 2}], ("default", "verifier"))
    [1, 0, 1]
    """
    mine = policy_counts(rollouts)
    padding = [
        place
        for place, name in enumerate(names)
        for _ in range(max(count.get(name, 0) for count in counts) - mine.get(name, 0))
    ]
    return [names.index(one.policy) for one in rollouts] + padding


def pieces(policies_B: Sequence[int], size: int, lengths_B: Sequence[int] | None = None) -> list[list[int]]:
    """Rows of a batch by piece, at most ``size`` each; pieces of one policy are adjacent, and none mixes two.

    With lengths, rows of similar length share a piece, so that little of it is padding.

    >>> pieces([0, 1, 0, 0, 1], size=2)
    [[0, 2], [3], [1, 4]]
    >>> pieces([0, 1, 0, 0, 1], size=2, lengths_B=[9, 1, 2, 8, 3])
    [[2, 3], [0], [1, 4]]
    """
    found: list[list[int]] = []
    for policy in sorted(set(policies_B)):
        rows = [row for row, one in enumerate(policies_B) if one == policy]
        if lengths_B is not None:
            rows.sort(key=lengths_B.__getitem__)
        found += [rows[at : at + size] for at in range(0, len(rows), size)]
    return found


def stopped_pairs(rollouts: Sequence[Rollout], logprobs_B: Sequence[float], margin: float) -> list[int]:
    """Rows of the pairs whose better reply is already likelier than the worse one by a margin.

    Args:
        rollouts: with advantages; those of a pair are adjacent, and others are ignored.
        logprobs_B: log-probability of each whole reply, in nats.
        margin: in nats.

    >>> pair = [Rollout("verifier", (7,), (8,), (1,), None, "stop", estimator="pair", advantage=a) for a in (1.0, -1.0)]
    >>> stopped_pairs(pair, [-0.5, -3.0], margin=2.0), stopped_pairs(pair, [-3.0, -0.5], margin=2.0)
    ([0, 1], [])
    """
    rows = [row for row, one in enumerate(rollouts) if one.estimator == "pair"]
    found: list[int] = []
    for pair in zip(rows[::2], rows[1::2], strict=True):
        worth = {row: float(np.mean(rollouts[row].advantage or 0.0)) for row in pair}
        worse, better = sorted(pair, key=worth.__getitem__)
        if worth[better] > worth[worse] and logprobs_B[better] - logprobs_B[worse] >= margin:
            found += pair
    return found


def importance_ratio(difference: Array, mode: str, low: float | None, high: float | None) -> Array:
    """Probability ratio of the policy to the engine that sampled, bounded.

    Args:
        difference: (B, T) log-probability under the policy minus that under the sampling engine; 0 where there is none.
        mode: "token_" or "sequence_", and "truncate", which clips a ratio to the bound, or "mask", which makes it 0.
        low: lower bound, or None.
        high: upper bound, or None.

    Returns:
        (B, T), or (B, 1) for sequences.

    >>> importance_ratio(np.log([[2.0, 4.0]]), "token_truncate", None, 3.0).round(6).tolist()
    [[2.0, 3.0]]
    >>> importance_ratio(np.log([[2.0, 4.0]]), "sequence_mask", None, 3.0).tolist()  # 2 * 4 = 8 is above
    [[0.0]]
    """
    level, _, action = mode.partition("_")
    ratio = np.exp(difference.sum(-1, keepdims=True) if level == "sequence" else difference)
    bounded = ratio.clip(0.0 if low is None else low, np.inf if high is None else high)
    return bounded if action == "truncate" else np.where(bounded == ratio, ratio, 0.0)


def _advantages(rollouts: Sequence[Rollout], rows: int, width: int, factors: Mapping[str, float]) -> Array:
    per_token = any(isinstance(one.advantage, tuple) for one in rollouts)
    values = np.zeros((rows, width) if per_token else (rows,), dtype=np.float32)
    for row, one in enumerate(rollouts):
        if one.advantage is None:
            raise ValueError(f"a rollout of the {one.role} has no advantage: compute advantages before the update")
        scaled = np.asarray(one.advantage) * (one.weight * factors.get(one.role, 1.0))
        values[(row, slice(0, len(one.completion_ids))) if per_token else row] = scaled
    return values


def in_pieces(
    loss_of: Callable[[dict[str, Any]], Any], batch: Mapping[str, Any], config: Any, accelerator: Any, model: Any
) -> Any:
    """The loss of a batch, not diluted by padding rows, with the graph of its last piece.

    Args:
        loss_of: the loss of one piece.
        batch: with ``policy``, the policy of each row, and ``row_scale``, which makes up for padding.
        config: the settings of the run.
        accelerator: backpropagates the other pieces.
        model: as wrapped by the accelerator.
    """
    found = pieces_of(batch, config.micro_batch)
    done: Any = 0.0
    for rows in found[:-1]:
        with _without_exchange(accelerator, model):
            loss = _share_of(batch, rows, config.loss) * loss_of(trimmed(batch, rows))
            accelerator.backward(loss)
        done += loss.detach()
    return _share_of(batch, found[-1], config.loss) * loss_of(trimmed(batch, found[-1])) + done


def pieces_of(batch: Mapping[str, Any], size: int) -> list[list[int]]:
    """The pieces of a batch of tensors, rows of similar length together."""
    lengths = (batch["prompt_mask"].sum(-1) + batch["completion_mask"].sum(-1)).tolist()
    return pieces(batch["policy"].tolist(), size, lengths)


def trimmed(batch: Mapping[str, Any], rows: Sequence[int]) -> dict[str, Any]:
    """Some rows of a batch of tensors, without the columns in which all of them are padding."""
    width = batch["completion_mask"].size(1)
    asked, said = (batch[name][rows].any(0).nonzero()[:, 0].tolist() for name in ("prompt_mask", "completion_mask"))
    first, end = asked[0], said[-1] + 1 if said else 1  # a loss needs a column
    piece: dict[str, Any] = {}
    for name, value in batch.items():
        one = value[rows] if value.dim() else value
        if name in ("prompt_ids", "prompt_mask"):
            one = one[:, first:]
        elif one.dim() == 2 and one.size(1) == width:
            one = one[:, :end]
        piece[name] = one
    return piece


def computed_share(batch: Mapping[str, Any], size: int) -> float:
    """Positions of the trimmed pieces, as a share of those of the batch at the width of its longest rows."""
    parts = (trimmed(batch, rows) for rows in pieces_of(batch, size))
    positions = sum(part["prompt_ids"].numel() + part["completion_ids"].numel() for part in parts)
    return positions / (batch["prompt_ids"].numel() + batch["completion_ids"].numel())


def _share_of(batch: Mapping[str, Any], rows: Sequence[int], loss: str) -> Any:
    """Weight of a piece's loss in the whole batch."""
    if loss in ROW_MEANS:
        return len(rows) / len(batch["policy"]) * batch["row_scale"]
    if loss != "bnpo":
        return batch["row_scale"]
    tokens = (batch["completion_mask"] * batch.get("tool_mask", 1)).sum(-1)
    return tokens[rows].sum() / tokens.sum().clamp(min=1) * batch["row_scale"]


@contextmanager
def _without_exchange(accelerator: Any, model: Any) -> Generator[None]:
    """Sum gradients without exchanging them between processes or, under DeepSpeed, updating the weights."""
    accelerator.gradient_state._set_sync_gradients(False)
    with accelerator.no_sync(model):
        yield
    accelerator.gradient_state._set_sync_gradients(True)


class Order:
    """TRL's order of the rows, which does not depend on whether earlier epochs were run.

    Args:
        inner: TRL's sampler.
        epoch: returns the epoch that begins, from 0.
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
