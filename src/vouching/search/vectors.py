"""Texts as vectors of unit length whose dot product says how near their meanings are.

An encoder is the one that ships with vouching, or a folder as the sentence-transformers package writes it. Not
supported: the prefixes that some models want before queries and passages (E5's "query: "), and GPUs.
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
"""Names the encoder that ships with vouching."""
MAX_TOKENS = 256
"""Tokens of a text that are read, special tokens included; a passage has fewer unless its words are unusual."""
_TOGETHER = 32


class SentenceEncoder(Protocol):
    """Something that turns texts into vectors."""

    @property
    def name(self) -> str:
        """What it was opened by."""
        ...

    @property
    def digest(self) -> str:
        """First digits of its weights' SHA-256: vectors of other weights do not compare."""
        ...

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts, (N, W)."""
        ...


def open_encoder(name: str) -> SentenceEncoder:
    """The encoder of this name: "shipped", or the path of a folder.

    Raises:
        ConfigError: there is no such folder, or it holds no encoder that can be used.
        MissingExtraError: a folder, and torch or transformers is not installed.

    >>> open_encoder(SHIPPED).vectors(["The mill stands in Oslo."]).shape
    (1, 384)
    """
    return ShippedEncoder() if name == SHIPPED else FolderEncoder(Path(name).expanduser().resolve())


class ShippedEncoder:
    """The encoder that checks claims, used for single texts: the mean of its token states.

    It was trained to read claims beside sources, not to compare sentences; docs/search.md says what that costs.
    """

    name = SHIPPED

    def __init__(self) -> None:
        self._encoder = load_encoder()
        self.digest = self._encoder.weights.digest

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts, (N, W)."""
        return _unit(np.stack([self._encoder.states(text).mean(axis=0) for text in texts]))


class FolderEncoder:
    """A folder with config.json, model.safetensors and a tokenizer, its tokens' states pooled as the folder says.

    Args:
        folder: the folder; without ``1_Pooling/config.json`` the mean of the states is taken.

    Raises:
        ConfigError: it is no folder of that kind, or pools in another way than by mean or first token.
        MissingExtraError: torch or transformers is not installed.
    """

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        weights = folder / "model.safetensors"
        if not weights.is_file() or not (folder / "config.json").is_file():
            raise ConfigError(
                f"{folder} has no config.json and model.safetensors: wanted a folder as sentence-transformers writes "
                f'it, or "{SHIPPED}"'
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
        """The vectors of texts, (N, W)."""
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        found: list[tuple[int, Vectors]] = []
        for at in range(0, len(order), _TOGETHER):
            these = order[at : at + _TOGETHER]
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
    ways = [way for way, on in json.loads(path.read_text(encoding="utf-8")).items() if way.startswith("pooling") and on]
    if ways not in (["pooling_mode_mean_tokens"], ["pooling_mode_cls_token"]):
        raise ConfigError(f"{path} pools by {', '.join(ways)}; wanted the mean of the tokens or the first of them")
    return ways == ["pooling_mode_cls_token"]
