"""The vectors of an index: sentence embeddings, and the nearest passages by their dot products.

The encoder is the one that ships with vouching, or a folder in the format of sentence-transformers. Up to 200,000
passages, every dot product is computed. Above, a graph (HNSW, Malkov & Yashunin 2020, by usearch, in half precision)
finds near passages, though not always the nearest. A folder's encoder runs on a GPU if there is one. Not supported:
quantisation, and building one index by several processes.

    vectors.f32      (N, W) numbers, a row per passage, in the order of their numbers
    rows.npy         (N,) passage number of each row, -1 if it was removed
    graph.usearch    the graph, if there is one
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from vouching.encoder.encoder import load_encoder
from vouching.encoder.weights import sha256_of
from vouching.errors import ConfigError, needed
from vouching.text.json_values import parse_json
from vouching.types.visible import shown_json

Vectors: TypeAlias = NDArray[np.float32]
"""(N, W), each row of unit length."""
SHIPPED = "shipped"
"""Name of the encoder that ships with vouching."""
MAX_TOKENS = 256
"""Tokens of a text that are read, special tokens included; passages usually have fewer."""
_ENCODER_BATCH, _GPU_BATCH = 32, 256
Role: TypeAlias = Literal["query", "passage"]
"""What a text is: some encoders expect a prefix before it, such as E5's "query: "."""
PROMPTS = "config_sentence_transformers.json"
"""File of a folder whose ``prompts`` has the prefixes by name."""
_PROMPT_NAMES: Mapping[Role, tuple[str, ...]] = {"query": ("query",), "passage": ("passage", "document", "corpus")}


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

    def vectors(self, texts: Sequence[str], role: Role = "passage") -> Vectors:
        """The vectors of texts, (N, W)."""
        ...


def open_encoder(name: str) -> SentenceEncoder:
    """Open an encoder: "shipped", or the path of a folder. Raises ConfigError if it cannot be used.

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

    def vectors(self, texts: Sequence[str], role: Role = "passage") -> Vectors:
        """See ``SentenceEncoder``; queries and passages are read alike."""
        return _unit(np.stack([self._encoder.states(text).mean(axis=0) for text in texts]))


class FolderEncoder:
    """A folder with config.json, model.safetensors and a tokenizer; token states are pooled as the folder specifies.

    Without ``1_Pooling/config.json``, their mean is used. The prompts in ``config_sentence_transformers.json`` named
    "query", and "passage" (or "document", "corpus"), are put before queries and passages. Raises ConfigError for a
    folder of another kind or way of pooling, or prompts of other names.
    """

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        weights = folder / "model.safetensors"
        if not weights.is_file() or not (folder / "config.json").is_file():
            raise ConfigError(
                f"{folder} must contain config.json and model.safetensors: pass a folder in the format of "
                f'sentence-transformers, or "{SHIPPED}"'
            )
        self._first_token = _pools_first_token(folder / "1_Pooling" / "config.json")
        self._torch, transformers = (
            needed(name, "train", "loading an encoder from a folder") for name in ("torch", "transformers")
        )
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._model = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise ConfigError(f"cannot load an encoder from {folder} ({error}): choose another folder") from error
        self._device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._model.to(self._device)
        self._prompts = _prompts(folder / PROMPTS)
        self.digest = sha256_of(weights)[:12]
        if any(self._prompts.values()):  # vectors with other prefixes cannot be compared either
            said = json.dumps([self.digest, self._prompts], sort_keys=True)
            self.digest = hashlib.sha256(said.encode()).hexdigest()[:12]

    def vectors(self, texts: Sequence[str], role: Role = "passage") -> Vectors:
        """See ``SentenceEncoder``."""
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        found: list[tuple[int, Vectors]] = []
        size = _ENCODER_BATCH if self._device == "cpu" else _GPU_BATCH
        for at in range(0, len(order), size):
            these = order[at : at + size]
            prefixed = [self._prompts[role] + texts[number] for number in these]
            found += zip(these, self._states(prefixed), strict=True)
        return _unit(np.stack([vector for _, vector in sorted(found, key=lambda pair: pair[0])]))

    def _states(self, texts: list[str]) -> Vectors:
        batch = self._tokenizer(texts, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        batch = batch.to(self._device)
        with self._torch.inference_mode():
            states = self._model(**batch).last_hidden_state
        if self._first_token:
            return states[:, 0].float().cpu().numpy()
        mask = batch["attention_mask"][..., None]
        return ((states * mask).sum(1) / mask.sum(1)).float().cpu().numpy()


def _unit(vectors: NDArray[Any]) -> Vectors:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1e-9)).astype(np.float32)


def _prompts(path: Path) -> Mapping[Role, str]:
    """The prefixes of queries and passages; empty without the file."""
    given: Any = None
    if path.is_file():
        try:
            given = parse_json(path.read_text(encoding="utf-8")).get("prompts")
        except (ValueError, AttributeError) as error:
            raise ConfigError(f"{path} must be a JSON object with prompts by name ({error})") from None
    texts = cast("dict[str, Any]", {} if given is None else given)
    if not isinstance(given, dict | None) or any(not isinstance(text, str) for text in texts.values()):
        raise ConfigError(f"the prompts in {path} must be texts by name, got {shown_json(cast('object', given), 80)}")
    prompts: dict[str, str] = {name: text for name, text in texts.items() if text}
    found: dict[Role, str] = {
        role: next((prompts[name] for name in names if name in prompts), "") for role, names in _PROMPT_NAMES.items()
    }
    if prompts and not any(found.values()):
        known = ", ".join(name for names in _PROMPT_NAMES.values() for name in names)
        raise ConfigError(f"{path} has prompts named {', '.join(prompts)}; expected {known}")
    return found


def _pools_first_token(path: Path) -> bool:
    if not path.is_file():
        return False
    modes = [
        mode for mode, on in parse_json(path.read_text(encoding="utf-8")).items() if mode.startswith("pooling") and on
    ]
    if modes not in (["pooling_mode_mean_tokens"], ["pooling_mode_cls_token"]):
        raise ConfigError(
            f"{path} sets {', '.join(modes) or 'no pooling mode'}; expected mean pooling or first-token pooling"
        )
    return modes == ["pooling_mode_cls_token"]


MAX_EXACT = 200_000
"""Passages up to which every vector is compared."""
_WRITER_BATCH = 256
DENSE_FILES = _VECTORS, _ROWS, _GRAPH = "vectors.f32", "rows.npy", "graph.usearch"


class Dense:
    """The vectors of one state of an index. Raises OSError if a file is missing, ValueError if it is damaged."""

    def __init__(self, state: Path) -> None:
        self._rows: NDArray[np.int64] = np.load(state / _ROWS)
        self._live = self._rows >= 0
        # As a plain array, which is faster than a memmap.
        self._vectors = np.asarray(_mapped(state, len(self._rows)))
        self._graph = _restored(state)

    def search(self, vector: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
        """Numbers of the passages with the largest positive dot products with a unit vector, best first."""
        if not len(self._rows):
            return []
        scores = self._near(vector, limit) if self._graph is not None else self._vectors @ vector
        scores = np.where(self._live, scores, np.float32(0))
        order = np.argsort(-scores, kind="stable")[:limit]
        found = zip(self._rows[order].tolist(), scores[order].tolist(), strict=True)
        return [(number, score) for number, score in found if score > 0]

    def _near(self, vector: NDArray[np.float32], limit: int) -> NDArray[np.float32]:
        """The dot products of at least ``limit`` live rows near a vector; 0 for the others."""
        scores = np.zeros(len(self._rows), np.float32)
        count, live = min(limit, len(scores)), int(self._live.sum())
        while True:
            found = self._graph.search(vector, count)
            keys = np.asarray(found.keys, np.int64)
            # For the inner product, usearch returns 1 minus it as the distance.
            scores[keys] = 1 - np.asarray(found.distances, np.float32)
            if self._live[keys].sum() >= min(limit, live) or count == len(scores):
                return scores
            count = min(2 * count, len(scores))


class DenseWriter:
    """Appends vectors of passages to those of the previous state ``before``, if there is one."""

    def __init__(self, state: Path, encoder: SentenceEncoder, before: Path | None) -> None:
        self._state, self._encoder = state, encoder
        self._rows: list[int] = []
        self._waiting: list[str] = []
        if before is not None:
            self._rows = np.load(before / _ROWS).tolist()
            shutil.copyfile(before / _VECTORS, state / _VECTORS)
            if (before / _GRAPH).exists():
                shutil.copyfile(before / _GRAPH, state / _GRAPH)

    def add(self, number: int, text: str) -> None:
        """Add a passage."""
        self._rows.append(number)
        self._waiting.append(text)
        if len(self._waiting) >= _WRITER_BATCH:
            self._encode()

    def finish(self, live: NDArray[np.int64]) -> None:
        """Write everything; ``live`` are the numbers of the passages that were not removed. Raises OSError."""
        self._encode()
        rows = np.array(self._rows, np.int64)
        write_rows(self._state, np.where(np.isin(rows, live), rows, -1))

    def _encode(self) -> None:
        with (self._state / _VECTORS).open("ab") as file:
            if self._waiting:
                file.write(self._encoder.vectors(self._waiting).astype(np.float32).tobytes())
            file.flush()
            os.fsync(file.fileno())
        self._waiting = []


def copy_live(before: Path, state: Path) -> None:
    """Write the vectors of passages that were not removed to another state. Raises OSError."""
    rows: NDArray[np.int64] = np.load(before / _ROWS)
    vectors = _mapped(before, len(rows))
    with (state / _VECTORS).open("xb") as file:
        for at in range(0, len(rows), 4096):
            these = slice(at, at + 4096)
            file.write(vectors[these][rows[these] >= 0].tobytes())
        file.flush()
        os.fsync(file.fileno())
    write_rows(state, rows[rows >= 0])


def write_rows(state: Path, rows: NDArray[np.int64]) -> None:
    """Write the numbers of the rows, and the graph if there are many. Raises OSError."""
    with (state / _ROWS).open("wb") as file:
        np.save(file, rows)
        file.flush()
        os.fsync(file.fileno())
    if (rows >= 0).sum() > MAX_EXACT:
        write_graph(state)
    else:
        (state / _GRAPH).unlink(missing_ok=True)


def write_graph(state: Path) -> None:
    """Write the graph of the vectors, or add the missing rows to it. Needs usearch. Raises OSError."""
    vectors = _mapped(state, len(np.load(state / _ROWS)))
    graph = _restored(state, view=False)
    if graph is None:
        graph = _usearch().Index(ndim=vectors.shape[1], metric="ip", dtype="f16")
    # With several threads, equal builds give different graphs, and some miss passages.
    graph.add(np.arange(len(graph), len(vectors)), vectors[len(graph) :], threads=1)
    fresh = state / f"{_GRAPH}.new"
    graph.save(fresh)
    fresh.replace(state / _GRAPH)


def _mapped(state: Path, rows: int) -> NDArray[np.float32]:
    path = state / _VECTORS
    if not rows and not path.stat().st_size:
        return np.zeros((0, 1), np.float32)
    return np.memmap(path, np.float32, "r").reshape(rows, -1)


def _restored(state: Path, view: bool = True) -> Any:
    path = state / _GRAPH
    return _usearch().Index.restore(path, view=view) if path.exists() else None


def _usearch() -> Any:
    # onnxruntime 1.31 crashes if it is loaded after usearch 2.26.
    with suppress(ImportError):
        import_module("onnxruntime")
    return needed("usearch.index", "search", f"searching the vectors of more than {MAX_EXACT:,} passages")
