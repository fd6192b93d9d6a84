"""The large encoder at run time: a text is read once and kept, and each claim about it costs a seventh of a pair.

The folder of an encoder:

    reader.json      format, sizes, the SHA-256 of the other files, and how they were made
    model.onnx       the layers' graph; its weights are in layers-1.bin and layers-2.bin, int8 with a scale per output
    adapter.bin      what was learned after these, in float16: an addition of low rank to each matrix (may be missing)
    words.npy        (V, W) int8 embeddings of the words, with ``word_scale`` (V,) in heads.npz
    heads.npz        positions, biases by distance, norms and the two heads, in float32
    tokenizer.json

Activations are scaled row by row, so that a claim's numbers do not depend on the claims that are read beside it. Not
supported: GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.encoder.encoder import open_model
from vouching.encoder.weights import sha256_of
from vouching.errors import WeightsError, cause_of
from vouching.reading.sequence import Tokenizer, Tokens, buckets_of
from vouching.text.json_values import parse_json

Floats: TypeAlias = NDArray[np.float32]

FORMAT = 1
MANIFEST, MODEL, LAYERS, ADAPTER, WORDS, HEADS, TOKENIZER = (
    "reader.json",
    "model.onnx",
    ("layers-1.bin", "layers-2.bin"),
    "adapter.bin",
    "words.npy",
    "heads.npz",
    "tokenizer.json",
)
HIDDEN = np.float32(-1e9)
_TOKENS_AT_ONCE = 320
"""Tokens of claims that are read together; more make the matrices of attention large for no gain."""
_EPSILON = 1e-5


@dataclass(frozen=True, slots=True)
class Kept:
    """A text as it was read: what claims see of it. 36 kB a token."""

    tokens: Tokens
    keys: NDArray[np.float16]
    """(layers, heads, size, T)"""
    values: NDArray[np.float16]
    """(layers, heads, T, size)"""
    states: Floats
    """(T, W) states of the last layer, of unit length."""

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return self.keys.nbytes + self.values.nbytes + self.states.nbytes


@dataclass(frozen=True, slots=True)
class ClaimRead:
    """What the encoder says of a claim beside a text."""

    relation: Floats
    """(3,) probabilities of supported, contradicted, not found."""
    support: Floats
    """(N,) probability that each token of the claim is supported."""
    match: NDArray[np.int64]
    """(N,) the most similar token of the text, counted without its marks."""
    similarity: Floats
    """(N,) cosine of the two."""


class TextEncoder:
    """A loaded encoder. Safe to use from several threads.

    Args:
        folder: as ``recipes/reader/export.py`` writes it.
        threads: threads of the model; one is best if several processes share a machine.

    Raises:
        WeightsError: a file is missing, altered or of another format.
        MissingExtraError: onnxruntime or tokenizers is not installed.
    """

    def __init__(self, folder: Path, threads: int = 1) -> None:
        self.record = _checked(folder)
        self.digest: str = self.record["sha256"][MODEL][:12]
        self.tokenizer = Tokenizer(folder / TOKENIZER)
        self._words: NDArray[np.int8] = np.load(folder / WORDS, mmap_mode="r")
        with np.load(folder / HEADS) as heads:
            self._heads: dict[str, Floats] = {name: heads[name].astype(np.float32) for name in heads.files}
        self._session = open_model(folder / MODEL, threads)
        self._nothing = self._empty()

    def keep(self, text: str) -> Kept:
        """Read a text, up to the size of a window."""
        tokens = self.tokenizer.text(text)
        bias = self._bias(tokens.positions, tokens.positions)
        states, keys, values = self._run(
            ("states", "keys", "values"), tokens.ids, tokens.positions, bias, self._nothing
        )
        unit = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-9)
        return Kept(tokens, keys.astype(np.float16), values.astype(np.float16), unit)

    def read(self, kept: Kept, blocks: Sequence[Tokens]) -> list[ClaimRead]:
        """What the text says of each claim, in order."""
        past = {"past_keys": kept.keys.astype(np.float32), "past_values": kept.values.astype(np.float32)}
        found: list[ClaimRead] = []
        first = 0
        while first < len(blocks):
            after, tokens = first, 0
            while after < len(blocks) and (after == first or tokens + len(blocks[after]) <= _TOKENS_AT_ONCE):
                tokens += len(blocks[after])
                after += 1
            found += self._read(kept, past, blocks[first:after])
            first = after
        return found

    def _read(self, kept: Kept, past: Mapping[str, Floats], blocks: Sequence[Tokens]) -> list[ClaimRead]:
        ids, positions = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("ids", "positions"))
        number = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
        bias = self._bias(positions, np.concatenate([kept.tokens.positions, positions]))
        bias[:, :, len(kept.tokens) :][:, number[:, None] != number[None, :]] = HIDDEN
        [states] = self._run(("states",), ids, positions, bias, past)
        starts = np.cumsum([0, *(len(block) for block in blocks)])
        relation = self._relation(states[starts[:-1]])
        return [
            self._claim(kept, relation[at], states[starts[at] + 1 : starts[at] + 1 + len(block.starts)])
            for at, block in enumerate(blocks)
        ]

    def _claim(self, kept: Kept, relation: Floats, states: Floats) -> ClaimRead:
        logits = states @ self._heads["support_weight"] + self._heads["support_bias"]
        unit = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-9)
        alike = unit @ kept.states[1:-1].T if len(kept.tokens) > 2 else np.zeros((len(unit), 1), np.float32)
        match = alike.argmax(axis=1)
        similarity = np.take_along_axis(alike, match[:, None], axis=1)[:, 0]
        support = (1 / (1 + np.exp(-logits[:, 0]))).astype(np.float32)
        return ClaimRead(relation, support, match, similarity)

    def _relation(self, states: Floats) -> Floats:
        heads = self._heads
        hidden = np.tanh(states @ heads["relation_0_weight"] + heads["relation_0_bias"])
        logits = (hidden @ heads["relation_2_weight"] + heads["relation_2_bias"]) / heads["temperature"]
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def _bias(self, asks: NDArray[np.int64], asked: NDArray[np.int64]) -> Floats:
        """(heads, A, B) biases by distance."""
        return np.ascontiguousarray(self._heads["distance"][buckets_of(asks, asked)].transpose(2, 0, 1))

    def _run(
        self,
        outputs: Sequence[str],
        ids: NDArray[np.int64],
        positions: NDArray[np.int64],
        bias: Floats,
        past: Mapping[str, Floats],
    ) -> list[Floats]:
        heads = self._heads
        states = self._words[ids].astype(np.float32) * heads["word_scale"][ids, None] + heads["places"][positions]
        centred = states - states.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + _EPSILON)
        inputs = {"embedded": centred / spread * heads["norm_weight"] + heads["norm_bias"], "bias": bias, **past}
        return self._session.run(list(outputs), inputs)

    def _empty(self) -> dict[str, Floats]:
        shape = self.record["shape"]
        layers, heads, size = (int(shape[name]) for name in ("layers", "heads", "size"))
        return {
            "past_keys": np.zeros((layers, heads, size, 0), np.float32),
            "past_values": np.zeros((layers, heads, 0, size), np.float32),
        }


@cache
def load_text_encoder() -> TextEncoder:
    """The encoder that ships with vouching, loaded once. Raises WeightsError if a file is missing or altered."""
    return TextEncoder(Path(__file__).parent / "weights")


def _checked(folder: Path) -> dict[str, Any]:
    """The manifest of a folder whose files are as it says."""
    try:
        record: dict[str, Any] = parse_json((folder / MANIFEST).read_bytes())
        if record["format"] != FORMAT:
            raise WeightsError(
                f"{folder / MANIFEST} has format {record['format']}, expected {FORMAT}: export the reader again"
            )
        for name, expected in record["sha256"].items():
            if sha256_of(folder / name) != expected:
                raise WeightsError(
                    f"{folder / name} is not the file that {MANIFEST} records: copy the whole folder again"
                )
    except OSError as error:
        raise WeightsError(
            f"cannot read {error.filename} ({error.strerror}): expected a folder of recipes/reader/export.py"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, WeightsError):
            raise
        raise WeightsError(f"{folder / MANIFEST} is incomplete ({cause_of(error)}): export the reader again") from error
    return record
