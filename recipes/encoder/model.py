# pyright: basic
"""The encoder as a torch model: a BERT with three heads, its outputs for a batch, its four losses, and its figures.

In place of BERT it can be one of ``ARCHITECTURES``. Torch is imported on use. Not supported: a loss that makes some
token of an unsupported claim unsupported, as which one is known only for marked claims.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recipes.encoder.batches import Batch, EncodedUnit, batch_of
from recipes.encoder.settings import EncoderConfig
from recipes.rank.train import batches_by_length
from vouching.encoder.folding import RELATIONS
from vouching.encoder.weights import INPUTS, TOKENIZER
from vouching.errors import ConfigError
from vouching.metrics import auroc
from vouching.train.extra import imported
from vouching.types.spans import ERROR_TYPES

ENCODER = "training the encoder"
"""What torch is needed for, in messages."""
Tensor: TypeAlias = Any
"""A torch tensor; typed without torch."""
Module: TypeAlias = Any
"""A torch module."""
HEADS = "heads.pt"
"""Beside config.json and model.safetensors in the ``model`` folder of a run."""
HEAD_SIZES = {"relation": len(RELATIONS), "token_support": 1, "error_type": len(ERROR_TYPES)}
"""Outputs of each head."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Outputs for a batch of R rows, folded over windows as in ``encoder.folding``."""

    relation: Tensor
    """(R, 3) log-probabilities."""
    support: Tensor
    """(R, C) logits that a claim's token is supported."""
    error_type: Tensor
    """(R, 6) logits."""


ARCHITECTURES = ("bert", "roberta", "deberta-v2", "modernbert")
"""Values of "model_type" in config.json; DeBERTa-v3 has that of v2."""
_DROPOUTS = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "attention_dropout",
    "embedding_dropout",
    "mlp_dropout",
)
"""What the architectures call the dropout of their layers and attention."""


def load_model(folder: Path, seed: int, dropout: float = 0.0) -> Module:
    """A model: "bert" from a folder, its heads from the same folder or newly drawn by ``seed``.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        ConfigError: the folder has none of ``ARCHITECTURES``.
    """
    torch, transformers = imported("torch", ENCODER), imported("transformers", ENCODER)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.manual_seed(seed)
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        if config.model_type not in ARCHITECTURES:
            raise ValueError(f"it is {config.model_type}, expected one of {', '.join(ARCHITECTURES)}")
        for name in _DROPOUTS:
            if hasattr(config, name):
                setattr(config, name, dropout)
        without_pooling = {"add_pooling_layer": False} if config.model_type in ("bert", "roberta") else {}
        bert = transformers.AutoModel.from_pretrained(
            folder, config=config, local_files_only=True, dtype=torch.float32, **without_pooling
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"cannot load a BERT model from {folder} ({error}): choose another encoder") from error
    heads = {name: torch.nn.Linear(bert.config.hidden_size, size) for name, size in HEAD_SIZES.items()}
    for head in heads.values():
        torch.nn.init.normal_(head.weight, std=0.02)
        torch.nn.init.zeros_(head.bias)
    model = torch.nn.ModuleDict({"bert": bert, **heads})
    if (folder / HEADS).is_file():
        model.load_state_dict(torch.load(folder / HEADS, weights_only=True), strict=False)
    return model


def longest_input(model: Module) -> int:
    """The tokens that a model reads at most; RoBERTa numbers its positions from the one after padding's."""
    config = model["bert"].config
    return config.max_position_embeddings - (config.pad_token_id + 1 if config.model_type == "roberta" else 0)


def save_model(model: Module, tokenizer: Path, folder: Path) -> None:
    """Write a folder for :func:`load_model` and :func:`encoder_folder`."""
    torch = imported("torch", ENCODER)
    folder.mkdir(parents=True, exist_ok=True)
    model["bert"].save_pretrained(folder)
    torch.save({k: v.cpu() for k, v in model.state_dict().items() if not k.startswith("bert.")}, folder / HEADS)
    (folder / TOKENIZER).write_bytes(tokenizer.read_bytes())


def outputs_of(model: Module, inputs: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """The outputs of an exported model, by the names and shapes of ``encoder.weights.OUTPUTS``.

    The states for late interaction are those of the middle layer.
    """
    given = {name: inputs[name] for name in INPUTS}
    if getattr(model["bert"].config, "type_vocab_size", 0) < 2:
        # An input without any effect keeps the export's inputs the same for all architectures.
        given["input_ids"] = given["input_ids"] + 0 * given.pop("token_type_ids")
    found = model["bert"](**given, output_hidden_states=True)
    last, aligned = found.last_hidden_state, found.hidden_states[model["bert"].config.num_hidden_layers // 2]
    states = aligned / aligned.norm(dim=-1, keepdim=True).clamp(min=1e-9)
    return (
        model["relation"](last[:, 0]),
        model["token_support"](last)[..., 0],
        model["error_type"](last[:, 0]),
        states,
    )


def read_batch(model: Module, batch: Batch, device: Any, half: bool = False) -> Folded:
    """Outputs for a batch: one forward pass, in bfloat16 if ``half``, folded over the windows of each row."""
    torch = imported("torch", ENCODER)
    inputs = {name: torch.from_numpy(batch.inputs[name]).to(device) for name in INPUTS}
    with torch.autocast(device.type, torch.bfloat16, enabled=half):
        relation, support, error_type, _ = outputs_of(model, inputs)
    windows = torch.from_numpy(batch.windows).to(device)
    return fold(relation.float(), support.float(), error_type.float(), windows, batch.support.shape[1])


def fold(relation: Tensor, support: Tensor, error_type: Tensor, windows: Tensor, claim_tokens: int) -> Folded:
    """Fold windows into rows as ``encoder.folding.fold`` does, in logarithms.

    Args:
        relation: (N, 3) logits of the windows.
        support: (N, T) logits of their tokens; a claim's tokens are at 1, 2, ...
        error_type: (N, 6) logits.
        windows: (R, K) numbers of the windows of each row.
        claim_tokens: C, the length of the longest claim.
    """
    logs = relation.log_softmax(dim=-1)[windows]
    supported = logs[..., 0].argmax(dim=1)
    nearest = logs[..., 2].argmin(dim=1)
    rows = imported("torch", ENCODER).arange(len(windows), device=windows.device)
    best, near = logs[rows, supported], logs[rows, nearest]
    rest = best[:, 1:].logsumexp(dim=1)
    shared = near[:, 1:] - near[:, 1:].logsumexp(dim=1, keepdim=True)
    return Folded(
        relation=imported("torch", ENCODER).cat([best[:, :1], rest[:, None] + shared], dim=1),
        support=support[windows][..., 1 : claim_tokens + 1].amax(dim=1),
        error_type=error_type[windows[rows, nearest]],
    )


@dataclass(frozen=True, slots=True)
class Losses:
    """The loss of a batch and its parts; a part without rows is 0."""

    total: Tensor
    """The total."""
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
    """The loss of the relation plus each other loss times its weight in ``config.losses``."""
    torch = imported("torch", ENCODER)
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
        weight: (R,) weights of the rows.
    """
    return -(weight * logs.masked_fill(~allowed, float("-inf")).logsumexp(dim=1)).mean()


def token_loss(logits: Tensor, support: Tensor) -> Tensor:
    """Binary cross-entropy of marked tokens; supported and unsupported ones averaged separately, then together.

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
    """Cross-entropy of the (R, 6) logits of rows whose error type is known; -1 in (R,) ``error_type`` is unknown."""
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


@dataclass(frozen=True, slots=True)
class Answers:
    """Predictions for R rows, in order."""

    support: NDArray[np.float64]
    """(R,) P(supported)."""
    tokens: list[NDArray[np.float64]]
    """For each row, (C,) P(supported) of the tokens of its claim."""
    error_type: NDArray[np.int64]
    """(R,) position of the likeliest error type."""


def answers_of(
    model: Any, units: Sequence[EncodedUnit], pad: int, max_tokens: int, device: Any, half: bool = False
) -> Answers:
    """Predictions for the rows of the units, in order."""
    torch = imported("torch", ENCODER)
    by_unit: dict[int, list[tuple[float, NDArray[np.float64], int]]] = {}
    model.eval()
    with torch.no_grad():
        for numbers in batches_by_length([unit.longest * unit.windows for unit in units], max_tokens):
            folded = read_batch(model, batch_of([units[i] for i in numbers], pad), device, half)
            supported = folded.relation[:, 0].double().exp().tolist()
            tokens = folded.support.double().sigmoid().cpu().numpy()
            answers = iter(zip(supported, tokens, folded.error_type.argmax(dim=1).tolist(), strict=True))
            by_unit |= {i: list(islice(answers, len(units[i].rows))) for i in numbers}
    model.train()
    flat = [answer for i in range(len(units)) for answer in by_unit[i]]
    lengths = [row.claim_tokens for unit in units for row in unit.rows]
    return Answers(
        np.array([supported for supported, _, _ in flat]),
        [line[:length] for (_, line, _), length in zip(flat, lengths, strict=True)],
        np.array([error for _, _, error in flat], np.int64),
    )


def scores_of(places: Sequence[str], units: Sequence[EncodedUnit], answers: Answers) -> dict[str, dict[str, float]]:
    """Figures by set, and over the sets ("all").

    Returns:
        By set: ``rows`` and ``auroc`` (absent with one class). Over all: ``auroc``, the mean of the sets; ``tokens``,
        the AUROC of marked tokens; ``pairs``, the share of pairs in which the claim with the error scores lower;
        ``errors``, the accuracy on known error types.
    """
    rows = [(place, row) for place, unit in zip(places, units, strict=True) for row in unit.rows]
    by_set: defaultdict[str, list[tuple[bool, float]]] = defaultdict(list)
    for (place, row), score in zip(rows, answers.support.tolist(), strict=True):
        by_set[place].append((bool(row.allowed[0]), score))
    found: dict[str, dict[str, float]] = {}
    for place, pairs in sorted(by_set.items()):
        truth, values = zip(*pairs, strict=True)
        found[place] = {"rows": len(pairs)}
        if not math.isnan(area := float(auroc(truth, values))):
            found[place]["auroc"] = round(area, 4)
    areas = [figures["auroc"] for figures in found.values() if "auroc" in figures]
    found["all"] = {"rows": len(rows)} | ({"auroc": round(sum(areas) / len(areas), 4)} if areas else {})
    marks = np.concatenate([np.zeros(0, np.int8), *(row.support for _, row in rows)])
    if len(set(marks.tolist()) - {-1}) == 2:
        known = marks >= 0
        found["all"]["tokens"] = round(float(auroc(marks[known] == 1, np.concatenate(answers.tokens)[known])), 4)
    order = _pairs_in_order(units, answers.support)
    if order:
        found["all"]["pairs"] = round(sum(order) / len(order), 4)
    errors = np.array([row.error_type for _, row in rows])
    if (errors >= 0).any():
        found["all"]["errors"] = round(float((answers.error_type == errors)[errors >= 0].mean()), 4)
    return found


def summary_line(scores: Mapping[str, Mapping[str, float]]) -> str:
    """Figures in one line, for progress.

    >>> summary_line({"dev/one": {"rows": 9, "auroc": 0.81}, "all": {"rows": 9, "auroc": 0.81, "pairs": 0.5}})
    'AUROC dev/one 0.810, all 0.810; pairs 0.500'
    """
    areas = ", ".join(f"{place} {found['auroc']:.3f}" for place, found in scores.items() if "auroc" in found)
    rest = [f"{name} {scores['all'][name]:.3f}" for name in ("tokens", "pairs", "errors") if name in scores["all"]]
    return "; ".join(filter(None, (f"AUROC {areas}", ", ".join(rest))))


def _pairs_in_order(units: Sequence[EncodedUnit], scores: NDArray[np.float64]) -> list[bool]:
    """For each pair, whether the claim scores above the same claim with an error."""
    order: list[bool] = []
    at = 0
    for unit in units:
        if len(unit.rows) == 2:
            order.append(bool(scores[at] > scores[at + 1]))
        at += len(unit.rows)
    return order
