"""The large reader in torch: MPNet that reads a text once, with all claims about it in the same sequence.

``vouching.reading.sequence`` says how a text and its claims become tokens. Departures from MPNet: no dropout (drawing
its masks takes 30 % of a step on a CPU), word embeddings and distance biases stay as they were pretrained.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from vouching.reading.sequence import BUCKETS, PAD, Tokens, buckets_of

CLASSES = ("supported", "contradicted", "not_found")
HIDDEN = -1e9
LEVELS = 31
"""Weights ship as whole numbers up to this, times a scale per row: five bits each, once a wheel is compressed."""
FARTHEST_PLACE = 513
"""The last position of MPNet, so the largest distance."""
_BUCKET_OF = torch.from_numpy(buckets_of(np.array([0]), np.arange(-FARTHEST_PLACE, FARTHEST_PLACE + 1))[0])


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of an MPNet, as its ``config.json`` names them."""

    hidden_size: int = 768
    num_attention_heads: int = 12
    num_hidden_layers: int = 12
    intermediate_size: int = 3072
    vocab_size: int = 30527
    max_position_embeddings: int = 514

    @property
    def head_size(self) -> int:
        """Width of one head of attention."""
        return self.hidden_size // self.num_attention_heads


def shape_of(folder: Path) -> Shape:
    """The sizes of a pretrained MPNet."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    return Shape(**{name: int(config[name]) for name in Shape.__slots__})


@dataclass(frozen=True, slots=True)
class Batch:
    """B texts of at most S tokens, and behind each the blocks of its claims, in bins of G tokens: T = S + bins * G.

    Short blocks share a bin, so that attention never looks at pairs of distant claims.
    """

    tokens: Tensor
    """(B, T), with padding."""
    positions: Tensor
    """(B, T)"""
    segments: Tensor
    """(B, T): 0 for the text, n for claim n, -1 for padding."""
    real: Tensor
    """(N,) places in (B * T) of what is no padding."""
    heads: Tensor
    """(C,) which of these are the first tokens of the claims, in their order."""
    text: int
    """S."""
    bin: int
    """G."""

    def to(self, device: str) -> Batch:
        """The batch on a device."""
        names = ("tokens", "positions", "segments", "real", "heads")
        return replace(self, **{name: getattr(self, name).to(device) for name in names})


class Bias(NamedTuple):
    """What attention adds: MPNet's bias by distance, and a barrier where a token may not look."""

    text: Tensor
    """(B, H, S, S): a text sees itself."""
    claims: Tensor
    """(B, H, T - S, S + G): a claim sees the text and, in its bin, itself."""


class Linear(nn.Linear):
    """(N, I) rows to (N, O), with an adapter of a rank above 0: W x + B A x (LoRA, arXiv 2106.09685, eq. 3).

    With an adapter, W stays as it is; B begins as 0.
    """

    def __init__(self, width: int, outputs: int, rank: int) -> None:
        super().__init__(width, outputs)
        if rank:
            self.weight.requires_grad_(False)
            self.a = nn.Parameter(torch.empty(rank, width).uniform_(-(width**-0.5), width**-0.5))
            self.b = nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, input: Tensor) -> Tensor:
        """Rows times the weight, and the adapter's addition."""
        plain = super().forward(input)
        return torch.addmm(plain, input @ self.a.T, self.b.T) if hasattr(self, "a") else plain


class Layer(nn.Module):
    """A transformer layer with MPNet's order of norms."""

    def __init__(self, shape: Shape, rank: int = 0) -> None:
        super().__init__()
        width, inner = shape.hidden_size, shape.intermediate_size
        self._heads = shape.num_attention_heads
        self.qkv, self.out = Linear(width, 3 * width, rank), Linear(width, width, rank)
        self.up, self.down = Linear(width, inner, rank), Linear(inner, width, rank)
        self.norm_1, self.norm_2 = nn.LayerNorm(width, eps=1e-5), nn.LayerNorm(width, eps=1e-5)

    def forward(self, states: Tensor, bias: Bias, batch: Batch) -> Tensor:
        """(N, W) states to (N, W) states; only attention sees padding."""
        padded = _Padded.apply(self.qkv(states), batch.real, batch.tokens.numel())
        query, key, value = padded.view(*batch.tokens.shape, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        mixed = attention(query * query.shape[3] ** -0.5, key, value, bias).transpose(1, 2).flatten(0, 1).flatten(1)
        states = self.norm_1(states + self.out(_Real.apply(mixed, batch.real)))
        return self.norm_2(states + self.down(functional.gelu(self.up(states))))


def levels_of(weight: Tensor) -> tuple[Tensor, Tensor]:
    """A (O, I) matrix as whole numbers up to ``LEVELS``, still floats, and the (O, 1) scales of its rows."""
    scale = weight.abs().amax(1, keepdim=True).clamp_min(1e-9) / LEVELS
    return (weight / scale).round_(), scale


def rounded(weight: Tensor) -> Tensor:
    """A matrix in the precision that ships."""
    whole, scale = levels_of(weight)
    return whole.mul_(scale)


class _Padded(torch.autograd.Function):
    """(N, W) rows at their places in (B * T, W); the rest is 0."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, real: Tensor, number: int) -> Tensor:
        ctx.real = real
        return rows.new_zeros(number, rows.shape[1]).index_copy_(0, real, rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return gradients[0].index_select(0, ctx.real), None, None


class _Real(torch.autograd.Function):
    """(B * T, W) rows without padding, (N, W)."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, real: Tensor) -> Tensor:
        ctx.real, ctx.number = real, rows.shape[0]
        return rows.index_select(0, real)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        [given] = gradients
        return given.new_zeros(ctx.number, given.shape[1]).index_copy_(0, ctx.real, given), None


def attention(query: Tensor, key: Tensor, value: Tensor, bias: Bias) -> Tensor:
    """(B, H, T, D) queries, divided by the root of D, keys and values to (B, H, T, D).

    Plain products: torch's own attention is slower on a CPU for such lengths, most of all backwards.
    """
    text, size = bias.text.shape[3], bias.claims.shape[3] - bias.text.shape[3]
    text_key, text_value = key[:, :, :text].contiguous(), value[:, :, :text].contiguous()
    read = _probabilities(query[:, :, :text] @ text_key.transpose(2, 3), bias.text) @ text_value
    if query.shape[2] == text:
        return read
    own_query, own_key, own_value = (part[:, :, text:].unflatten(2, (-1, size)) for part in (query, key, value))
    scores = torch.cat(
        [query[:, :, text:] @ text_key.transpose(2, 3), (own_query @ own_key.transpose(3, 4)).flatten(2, 3)], 3
    )
    seen = _probabilities(scores, bias.claims)
    own = seen[..., text:].unflatten(2, (-1, size)) @ own_value
    return torch.cat([read, seen[..., :text] @ text_value + own.flatten(2, 3)], 2)


def _probabilities(scores: Tensor, bias: Tensor) -> Tensor:
    return scores.add_(bias).softmax(-1)


class ReaderModel(nn.Module):
    """The encoder with two heads: the relation of a claim to the text, and which of its tokens are supported."""

    def __init__(self, shape: Shape, rank: int = 0) -> None:
        super().__init__()
        self.shape, width, layers = shape, shape.hidden_size, shape.num_hidden_layers
        self.words, self.places = (
            nn.Embedding(shape.vocab_size, width),
            nn.Embedding(shape.max_position_embeddings, width),
        )
        self.distance = nn.Embedding(BUCKETS, shape.num_attention_heads)
        self.norm = nn.LayerNorm(width, eps=1e-5)
        self.adapted_from = -(-layers // 3)
        """The lowest layer with an adapter; those below stay as they are."""
        self.layers = nn.ModuleList(Layer(shape, rank * (n >= self.adapted_from)) for n in range(layers))
        self.relation = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, len(CLASSES)))
        self.support = nn.Linear(width, 1)
        self.frozen = 0
        """Layers from below that are not trained; without a gradient they cost a third."""
        self.words.weight.requires_grad_(False)
        self.distance.weight.requires_grad_(False)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(C, 3) logits of the relation and (N,) logits that a token is supported."""
        bias = self.bias(batch)
        tokens, positions = (part.flatten()[batch.real] for part in (batch.tokens, batch.positions))
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            states = self.norm(self.words(tokens) + self.places(positions))
        for number, layer in enumerate(self.layers):
            with torch.set_grad_enabled(torch.is_grad_enabled() and number >= self.frozen):
                states = layer(states, bias, batch)
        return self.relation(states[batch.heads]).float(), self.support(states)[:, 0].float()

    @torch.no_grad()
    def bias(self, batch: Batch) -> Bias:
        """The biases of a batch, for all layers."""
        segments, positions, size = batch.segments, batch.positions, batch.bin
        own_segments, own_positions = (part[:, batch.text :].unflatten(1, (-1, size)) for part in (segments, positions))
        text_segments, text_positions = segments[:, None, : batch.text], positions[:, None, : batch.text]
        claim_positions = positions[:, batch.text :, None]
        own_visible = (own_segments[:, :, :, None] == own_segments[:, :, None, :]).flatten(1, 2)
        own_distance = (own_positions[:, :, None, :] - own_positions[:, :, :, None]).flatten(1, 2)
        on_text = (text_segments == 0).expand(-1, claim_positions.shape[1], -1)
        return Bias(
            self._bias(text_positions - text_positions.transpose(1, 2), text_segments == 0),
            self._bias(
                torch.cat([text_positions - claim_positions, own_distance], 2), torch.cat([on_text, own_visible], 2)
            ),
        )

    def _bias(self, distance: Tensor, visible: Tensor) -> Tensor:
        """(B, A, K) distances and what is visible to (B, H, A, K)."""
        barrier = torch.where(visible, 0.0, HIDDEN).to(self.distance.weight.dtype)
        found = self.distance.weight.T[:, _BUCKET_OF.to(distance.device)[distance + FARTHEST_PLACE]]  # (H, B, A, K)
        return found.transpose(0, 1) + barrier[:, None]

    def load_pretrained(self, folder: Path) -> None:
        """Take the weights of an MPNet, as transformers names them."""
        found = {
            name.removeprefix("mpnet."): value for name, value in load_file(str(folder / "model.safetensors")).items()
        }
        own = self.state_dict()
        own["words.weight"], own["places.weight"] = (
            found[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position")
        )
        own["distance.weight"] = found["encoder.relative_attention_bias.weight"]
        for kind in ("weight", "bias"):
            own[f"norm.{kind}"] = found[f"embeddings.LayerNorm.{kind}"]
            for number in range(self.shape.num_hidden_layers):
                ours, theirs = f"layers.{number}.", f"encoder.layer.{number}."
                own[f"{ours}qkv.{kind}"] = torch.cat([found[f"{theirs}attention.attn.{part}.{kind}"] for part in "qkv"])
                for name, other in (
                    ("out", "attention.attn.o"),
                    ("norm_1", "attention.LayerNorm"),
                    ("up", "intermediate.dense"),
                    ("down", "output.dense"),
                    ("norm_2", "output.LayerNorm"),
                ):
                    own[f"{ours}{name}.{kind}"] = found[f"{theirs}{other}.{kind}"]
        self.load_state_dict(own)


def batch_of(sequences: Sequence[tuple[Tokens, Sequence[Tokens]]]) -> Batch:
    """Several texts, each with its claims, as one batch."""
    text = max(len(text) for text, _ in sequences)
    size = max((len(block) for _, blocks in sequences for block in blocks), default=1)
    places = [_in_bins([len(block) for block in blocks], size) for _, blocks in sequences]
    length = text + size * max(1 + max((at // size for at in own), default=-1) for own in places)
    tokens, positions, segments = (torch.full((len(sequences), length), fill) for fill in (PAD, 1, -1))
    heads: list[int] = []
    for row, ((source, blocks), own) in enumerate(zip(sequences, places, strict=True)):
        starts = [0, *(text + at for at in own)]
        for number, (at, part) in enumerate(zip(starts, (source, *blocks), strict=True)):
            tokens[row, at : at + len(part)] = torch.from_numpy(part.ids)
            positions[row, at : at + len(part)] = torch.from_numpy(part.positions)
            segments[row, at : at + len(part)] = number
        heads += [row * length + at for at in starts[1:]]
    real = (segments.flatten() >= 0).nonzero()[:, 0]
    return Batch(tokens, positions, segments, real, torch.searchsorted(real, torch.tensor(heads)), text, size)


def _in_bins(lengths: Sequence[int], size: int) -> list[int]:
    """A place for each block, so that none crosses a multiple of ``size``: the longest first, where it fits."""
    used: list[int] = []
    places = [0] * len(lengths)
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        found = next((bin for bin, taken in enumerate(used) if taken + lengths[number] <= size), len(used))
        used += [0] * (found == len(used))
        places[number] = found * size + used[found]
        used[found] += lengths[number]
    return places


def length_of(text: Tokens, blocks: Sequence[Tokens]) -> int:
    """Tokens of a sequence."""
    return len(text) + sum(map(len, blocks))


def is_rounded(name: str) -> bool:
    """Whether the weight of this name is rounded when it ships: the layers' matrices and the embeddings of words."""
    return name.endswith(".weight") and (name == "words.weight" or (name.startswith("layers.") and "norm" not in name))


def is_adapter(name: str) -> bool:
    """Whether the weight of this name belongs to an adapter."""
    return name.endswith((".a", ".b"))


def rank_of(path: Path) -> int:
    """The rank of the adapters in ``weights.safetensors``, 0 without any."""
    with safe_open(str(path), "pt") as file:
        names: list[str] = file.keys()
        return next((file.get_slice(name).get_shape()[0] for name in names if name.endswith(".a")), 0)


def load_weights(model: ReaderModel, path: Path) -> None:
    """Weights of ``weights.safetensors`` (half precision)."""
    found: dict[str, Any] = load_file(str(path))
    missing, unknown = model.load_state_dict({name: value.float() for name, value in found.items()}, strict=False)
    if unknown or set(missing) - {"support.weight", "support.bias"}:
        raise SystemExit(f"{path} is not of this model: missing {missing}, unknown {unknown}")
