# pyright: basic
"""From what ships back to what can be trained: the int8 weights of an exported encoder as float ones.

What rounding took away stays away: the floats are the int8 numbers times their scale, so that an export of them gives
nearly the same int8 numbers again. A further stage needs no files but the export. Left out: exports of other versions
of torch's exporter that name their nodes differently; they are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from vouching.encoder.weights import MODEL, TOKENIZER, find_weights
from vouching.errors import ConfigError
from vouching.train.encoder_export import import_onnx
from vouching.train.encoder_model import HEAD_SIZES, import_torch, save_model
from vouching.train.rank_model import imported

SHIPPED_HEADS = 12
"""Attention heads of the encoder that ships, which its weights do not tell."""
_EPSILON = 1e-12
"""Of BERT's layer norms."""


def write_floats(export: Path | None, out: Path, heads: int = SHIPPED_HEADS) -> None:
    """Write the model of an export as the ``model`` folder of a run, from which ``vouch train encoder`` starts.

    Args:
        export: the folder of an export; None for the encoder that ships.
        out: where to.
        heads: attention heads of a layer.

    Raises:
        WeightsError: there is no export.
        ConfigError: it is not built as expected.
        MissingExtraError: the extra "train" is not installed.
    """
    onnx, torch, folder = import_onnx(), import_torch(), find_weights(export).folder
    transformers = imported("transformers")
    transformers.logging.disable_progress_bar()
    graph = onnx.load(str(folder / MODEL)).graph
    found = {name: torch.from_numpy(values) for name, values in _floats(graph, onnx.numpy_helper.to_array)}
    try:
        words, places = (found[f"bert.embeddings.{kind}_embeddings.weight"] for kind in ("word", "position"))
        config = transformers.BertConfig(
            vocab_size=len(words), hidden_size=words.shape[1], max_position_embeddings=len(places),
            num_hidden_layers=sum(name.endswith("intermediate.dense.bias") for name in found),
            num_attention_heads=heads, layer_norm_eps=_EPSILON,
            intermediate_size=len(found["bert.encoder.layer.0.intermediate.dense.bias"]),
        )  # fmt: skip
        torch_heads = {name: torch.nn.Linear(words.shape[1], size) for name, size in HEAD_SIZES.items()}
        model = torch.nn.ModuleDict({"bert": transformers.BertModel(config, add_pooling_layer=False), **torch_heads})
        model.load_state_dict(found, strict=True)
    except (KeyError, RuntimeError, ValueError) as error:
        raise ConfigError(f"{folder / MODEL} is not built as vouch train encoder exports it ({error})") from error
    save_model(model, folder / TOKENIZER, out)


def _floats(graph: Any, to_array: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The weights of a quantised graph by the names that they have in torch."""
    arrays = {entry.name: to_array(entry) for entry in graph.initializer}
    for name, values in arrays.items():
        plain = name.removeprefix("model.")
        if name.endswith("_embeddings.weight_quantized"):
            plain, stem = plain.removesuffix("_quantized"), name.removesuffix("_quantized")
            yield plain, _taken_back(values, arrays[f"{stem}_scale"], arrays[f"{stem}_zero_point"])
        elif name.startswith("model.") and values.dtype == np.float32 and not name.endswith("_scale"):
            yield plain, values.copy()
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1] in arrays:
            stem = node.input[1].removesuffix("_quantized")
            values = _taken_back(arrays[node.input[1]], arrays[f"{stem}_scale"], arrays[f"{stem}_zero_point"])
            yield f"{node.name.strip('/').rpartition('/')[0].replace('/', '.')}.weight", values.T.copy()


def _taken_back(numbers: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> np.ndarray:
    return (numbers.astype(np.float32) - zero.astype(np.float32)) * scale
