"""The large reader in torch: MPNet that reads a text once, with all claims about it in the same sequence.

``vouching.reading.sequence`` says how a text and its claims become tokens. Departures from MPNet: no dropout (drawing
its masks takes 30 % of a step on a CPU), word embeddings and distance biases stay as they were pretrained.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from vouching.reading.sequence import BUCKETS, PAD, Tokens, buckets_of

CLASSES = ("supported", "contradicted", "not_found")
HIDDEN = -1e9
FARTHEST_PLACE = 513
"""The last position of MPNet, so the largest distance."""
_BUCKET_OF = torch.from_numpy(buckets_of(np.array([0]), np.arange(-FARTHEST_PLACE, FARTHEST_PLACE + 1))[0])
LONG = 512
"""Tokens of a sequence from which torch's attention is faster than two products."""


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
    """Sequences, padded: (B, T) each, and where the claims begin: (2, C), row and token."""

    tokens: Tensor
    positions: Tensor
    segments: Tensor
    """0 for the text, n for claim n, -1 for padding."""
    heads: Tensor


class Layer(nn.Module):
    """A transformer layer with MPNet's order of norms."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, inner = shape.hidden_size, shape.intermediate_size
        self._heads = shape.num_attention_heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm_1, self.norm_2 = nn.LayerNorm(width, eps=1e-5), nn.LayerNorm(width, eps=1e-5)

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        """(B, T, W) states and (B, H, T, T) bias to (B, T, W) states."""
        rows, length, width = states.shape
        query, key, value = self.qkv(states).view(rows, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        mixed = _attention(query, key, value, bias)
        states = self.norm_1(states + self.out(mixed.transpose(1, 2).reshape(rows, length, width)))
        return self.norm_2(states + self.down(functional.gelu(self.up(states))))


def _attention(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    """(B, H, T, S) queries, keys and values. torch's own is six times slower for short sequences on a CPU."""
    if query.shape[2] > LONG:
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    scores = torch.matmul(query * query.shape[3] ** -0.5, key.transpose(-1, -2)) + bias
    return torch.matmul(torch.softmax(scores, -1), value)


class ReaderModel(nn.Module):
    """The encoder with two heads: the relation of a claim to the text, and which of its tokens are supported."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape, width = shape, shape.hidden_size
        self.words, self.places = (
            nn.Embedding(shape.vocab_size, width),
            nn.Embedding(shape.max_position_embeddings, width),
        )
        self.distance = nn.Embedding(BUCKETS, shape.num_attention_heads)
        self.norm = nn.LayerNorm(width, eps=1e-5)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.num_hidden_layers))
        self.relation = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, len(CLASSES)))
        self.support = nn.Linear(width, 1)
        self.frozen = 0
        """Layers from below that are not trained; without a gradient they cost a third."""
        self.words.weight.requires_grad_(False)
        self.distance.weight.requires_grad_(False)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(C, 3) logits of the relation and (B, T) logits that a token is supported."""
        bias = self.bias(batch)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            states = self.norm(self.words(batch.tokens) + self.places(batch.positions))
        for number, layer in enumerate(self.layers):
            with torch.set_grad_enabled(torch.is_grad_enabled() and number >= self.frozen):
                states = layer(states, bias)
        return self.relation(states[batch.heads[0], batch.heads[1]]).float(), self.support(states)[..., 0].float()

    def bias(self, batch: Batch) -> Tensor:
        """(B, H, T, T) what attention adds: MPNet's bias by distance, and a barrier where a token may not look."""
        asks, asked = batch.segments[:, :, None], batch.segments[:, None, :]
        visible = ((asks == asked) | (asked == 0)) & (asked >= 0)
        visible = visible | torch.eye(batch.tokens.shape[1], dtype=torch.bool)
        distance = batch.positions[:, None, :] - batch.positions[:, :, None]
        return (
            self.distance(_BUCKET_OF[distance + FARTHEST_PLACE])
            .permute(0, 3, 1, 2)
            .masked_fill(~visible[:, None], HIDDEN)
            .contiguous()
        )

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
    length = max(length_of(*sequence) for sequence in sequences)
    tokens, positions, segments = (torch.full((len(sequences), length), fill) for fill in (PAD, 1, -1))
    heads: list[tuple[int, int]] = []
    for row, (text, blocks) in enumerate(sequences):
        at = 0
        for number, part in enumerate((text, *blocks)):
            if number:
                heads.append((row, at))
            tokens[row, at : at + len(part)] = torch.from_numpy(part.ids)
            positions[row, at : at + len(part)] = torch.from_numpy(part.positions)
            segments[row, at : at + len(part)] = number
            at += len(part)
    return Batch(tokens, positions, segments, torch.tensor(heads).T)


def length_of(text: Tokens, blocks: Sequence[Tokens]) -> int:
    """Tokens of a sequence."""
    return len(text) + sum(map(len, blocks))


def load_weights(model: ReaderModel, path: Path) -> None:
    """Weights of a checkpoint or of ``weights-*.safetensors`` (half precision)."""
    found: dict[str, Any] = load_file(str(path))
    missing, unknown = model.load_state_dict({name: value.float() for name, value in found.items()}, strict=False)
    if unknown or set(missing) - {"support.weight", "support.bias"}:
        raise SystemExit(f"{path} is not of this model: missing {missing}, unknown {unknown}")
