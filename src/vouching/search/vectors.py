"""Sentence embeddings: unit vectors whose dot product measures similarity of meaning.

The encoder is the one that ships with vouching, or a folder in the format of sentence-transformers. Not supported: the
prefixes that some models expect before queries and passages (E5's "query: "), and GPUs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.encoder.encoder import load_encoder
from vouching.encoder.weights import sha256_of
from vouching.errors import ConfigError, needed

Vectors: TypeAlias = NDArray[np.float32]
"""(N, W), each row of unit length."""
SHIPPED = "shipped"
"""Name of the encoder that ships with vouching."""
MAX_TOKENS = 256
"""Tokens of a text that are read, special tokens included; passages usually have fewer."""
_BATCH = 32


class SentenceEncoder(Protocol):
    """Computes the vectors of texts."""

    @property
    def name(self) -> str:
        """The name by which it is opened."""
        ...

    @property
    def digest(self) -> str:
        """First digits of the SHA-256 of its weights: vectors of different weights cannot be compared."""
        ...

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts, (N, W)."""
        ...


def open_encoder(name: str) -> SentenceEncoder:
    """Open an encoder: "shipped", or the path of a folder.

    Raises:
        ConfigError: the folder does not exist, or has no encoder that can be used.
        MissingExtraError: the encoder is in a folder, and torch or transformers is not installed.

    >>> open_encoder(SHIPPED).vectors(["The mill is in Oslo."]).shape
    (1, 384)
    """
    return ShippedEncoder() if name == SHIPPED else FolderEncoder(Path(name).expanduser().resolve())


class ShippedEncoder:
    """The encoder of the verifier, for single texts: the mean of its token states.

    It was trained to read claims next to sources, not to compare sentences; docs/search.md has the consequences.
    """

    name = SHIPPED

    def __init__(self) -> None:
        self._encoder = load_encoder()
        self.digest = self._encoder.weights.digest

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """See ``SentenceEncoder``."""
        return _unit(np.stack([self._encoder.states(text).mean(axis=0) for text in texts]))


class FolderEncoder:
    """A folder with config.json, model.safetensors and a tokenizer; token states are pooled as the folder specifies.

    Without ``1_Pooling/config.json``, their mean is used.

    Raises:
        ConfigError: it is not such a folder, or pools neither by the mean nor by the first token.
        MissingExtraError: torch or transformers is not installed.
    """

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        weights = folder / "model.safetensors"
        if not weights.is_file() or not (folder / "config.json").is_file():
            raise ConfigError(
                f"{folder} has no config.json and model.safetensors: expected a folder in the format of "
                f'sentence-transformers, or "{SHIPPED}"'
            )
        self._first_token = _pools_first_token(folder / "1_Pooling" / "config.json")
        self._torch, transformers = (
            needed(name, "train", "an encoder from a folder") for name in ("torch", "transformers")
        )
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._model = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise ConfigError(f"cannot load an encoder from {folder} ({error}): give another folder") from error
        self.digest = sha256_of(weights)[:12]

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """See ``SentenceEncoder``."""
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        found: list[tuple[int, Vectors]] = []
        for at in range(0, len(order), _BATCH):
            these = order[at : at + _BATCH]
            found += zip(these, self._states([texts[number] for number in these]), strict=True)
        return _unit(np.stack([vector for _, vector in sorted(found, key=lambda pair: pair[0])]))

    def _states(self, texts: list[str]) -> Vectors:
        batch = self._tokenizer(texts, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        with self._torch.inference_mode():
            states = self._model(**batch).last_hidden_state
        if self._first_token:
            return states[:, 0].float().numpy()
        mask = batch["attention_mask"][..., None]
        return ((states * mask).sum(1) / mask.sum(1)).float().numpy()


def _unit(vectors: NDArray[Any]) -> Vectors:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1e-9)).astype(np.float32)


def _pools_first_token(path: Path) -> bool:
    if not path.is_file():
        return False
    modes = [
        mode for mode, on in json.loads(path.read_text(encoding="utf-8")).items() if mode.startswith("pooling") and on
    ]
    if modes not in (["pooling_mode_mean_tokens"], ["pooling_mode_cls_token"]):
        raise ConfigError(f"{path} pools by {', '.join(modes)}; expected the mean of the tokens or the first token")
    return modes == ["pooling_mode_cls_token"]
