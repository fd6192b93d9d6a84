# pyright: basic
"""What the encoder is trained to do: four losses and their sum. Tensors in, tensors out; no state.

Left out: a loss that makes some token of an unsupported claim unsupported; which one is known for marked claims only.
"""

from __future__ import annotations

from dataclasses import dataclass

from vouching.train.encoder_batches import Batch
from vouching.train.encoder_config import EncoderConfig
from vouching.train.encoder_model import Folded, Tensor, import_torch


@dataclass(frozen=True, slots=True)
class Losses:
    """The loss of a batch and its parts; a part without rows is 0."""

    total: Tensor
    """What is minimised."""
    relation: Tensor
    """See :func:`relation_loss`."""
    token: Tensor
    """See :func:`token_loss`."""
    error: Tensor
    """See :func:`error_loss`."""
    ranking: Tensor
    """See :func:`ranking_loss`."""

    def numbers(self) -> dict[str, float]:
        """The parts by name, as numbers."""
        return {
            name: float(getattr(self, name).detach()) for name in ("total", "relation", "token", "error", "ranking")
        }


def losses_of(folded: Folded, batch: Batch, config: EncoderConfig) -> Losses:
    """The loss of the relation plus each other loss times its factor in ``config.losses``."""
    torch = import_torch()
    device = folded.relation.device
    allowed, support, error_type, weight, pairs = (
        torch.from_numpy(values).to(device)
        for values in (batch.allowed, batch.support, batch.error_type, batch.weight, batch.pairs)
    )
    relation = relation_loss(folded.relation, allowed, weight)
    token = token_loss(folded.support, support)
    error = error_loss(folded.error_type, error_type)
    ranking = ranking_loss(folded.relation, pairs)
    factor = {name: config.losses.get(name, 0.0) for name in ("token", "error", "ranking")}
    total = relation + factor["token"] * token + factor["error"] * error + factor["ranking"] * ranking
    return Losses(total, relation, token, error, ranking)


def relation_loss(logs: Tensor, allowed: Tensor, weight: Tensor) -> Tensor:
    """``-1/R sum_r w_r log sum_{k allowed for r} p_rk``: cross-entropy where a label may allow several relations.

    Args:
        logs: (R, 3) log-probabilities.
        allowed: (R, 3) booleans, at least one true in a row.
        weight: (R,) what a row counts for.
    """
    return -(weight * logs.masked_fill(~allowed, float("-inf")).logsumexp(dim=1)).mean()


def token_loss(logits: Tensor, support: Tensor) -> Tensor:
    """Binary cross-entropy of the marked tokens, supported and unsupported ones each averaged, then the two.

    Args:
        logits: (R, C).
        support: (R, C) 1 supported, 0 not, -1 not marked.
    """
    # softplus(-x) for supported tokens, softplus(x) for the others
    signed = logits * (1 - 2 * support.clamp(min=0))
    each = signed.clamp(min=0) + (-signed.abs()).exp().log1p()
    parts = [each[support == kind].mean() for kind in (0, 1) if (support == kind).any()]
    return sum(parts) / len(parts) if parts else logits.sum() * 0.0


def error_loss(logits: Tensor, error_type: Tensor) -> Tensor:
    """Cross-entropy of the rows whose error type is known.

    Args:
        logits: (R, 6).
        error_type: (R,) position of the type, -1 for unknown.
    """
    known = error_type >= 0
    if not known.any():
        return logits.sum() * 0.0
    return -logits[known].log_softmax(dim=1).gather(1, error_type[known, None]).mean()


def ranking_loss(logs: Tensor, pairs: Tensor) -> Tensor:
    """``mean log(1 + exp(-(z_claim - z_error)))`` over pairs, z = log-odds of supported (RankNet, Burges 2005).

    Args:
        logs: (R, 3) log-probabilities.
        pairs: (P, 2) rows of a claim and of the same claim with an error.
    """
    if not len(pairs):
        return logs.sum() * 0.0
    odds = logs[:, 0] - logs[:, 1:].logsumexp(dim=1)
    gap = odds[pairs[:, 1]] - odds[pairs[:, 0]]
    return (gap.clamp(min=0) + (-gap.abs()).exp().log1p()).mean()
