# pyright: basic
"""From a torch model to what ships (int8 ONNX, tokenizer, manifest with checksums, draft of a model card), and back.

Linear layers and embeddings become int8 (dynamic quantisation: weights per channel, activations at run time). The
export is checked against torch. Fused attention was not faster on a CPU.

The way back turns int8 weights into floats, so that a further stage needs nothing but the export. Rounding is not
undone: exporting these floats gives nearly the same int8 numbers. Not supported: exports by other versions of torch's
exporter with other node names; they are refused.
"""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from recipes.encoder.batches import EncodedRow
from recipes.encoder.model import ENCODER, HEAD_SIZES, outputs_of, save_model
from recipes.encoder.settings import EncoderConfig
from vouching.encoder.encoder import inputs_of
from vouching.encoder.folding import softmax
from vouching.encoder.tokens import PairTokenizer
from vouching.encoder.weights import (
    INPUTS,
    MANIFEST,
    MODEL,
    OUTPUTS,
    TOKENIZER,
    WEIGHTS_FORMAT,
    find_weights,
    sha256_of,
)
from vouching.errors import ConfigError
from vouching.train.extra import imported
from vouching.train.run_folder import surroundings

OPSET = 17
WINDOWS_IN_USE = 4
"""Windows of a long source that the export reads, if training read fewer."""
MIN_AGREEMENT = 0.95
"""Share of rows on which int8 and torch must agree whether a claim is supported (P >= .5), see ``NEAR``."""
MAY_DIFFER = 2
"""Rows that may always disagree: one of ten is no estimate of one of twenty."""
NEAR = 0.02
"""Difference of P that does not count as disagreement, on either side of .5."""
MAX_COMPARED = 1000
"""Rows that are compared."""
EXACT = 1e-3
"""Largest difference of an output before quantisation from torch's."""
CARD = """# Encoder {digest}

A cross-encoder over a claim and a window of its source: relation, support of each token of the claim, error type, and
states for late interaction. Written by `recipes/encoder/train.py`; complete this card before shipping.

| | |
|---|---|
| initial model | {encoder} |
| rows | {train} |
| settings, revision, versions | `encoder.json` |
| size | {megabytes:.1f} MB |
| same label as torch | on {agreement:.1%} of {compared} held-out rows |

## AUROC on rows held out by document, and on development sets

| set | rows | AUROC |
|---|--:|--:|
{scores}

## Data and licences

To be completed: each data set of the run, with its licence and contents.

## Limits

English only. Probabilities are not calibrated. A claim that is supported only by several windows together is not
recognised as supported.
"""


def export_encoder(
    model: Any,
    config: EncoderConfig,
    tokenizer: Path,
    folder: Path,
    scores: Mapping[str, Mapping[str, float]],
    split: Mapping[str, str],
    rows: Sequence[EncodedRow],
) -> None:
    """Write the folder that ``vouching.encoder.load_encoder`` reads; one that is there is replaced when all is well.

    Args:
        model: the torch model.
        config: the settings of the run.
        tokenizer: its tokenizer.json.
        folder: where to.
        scores: the last figures, for the card.
        split: digests of the rows trained on and held out, see ``encoder_rows.Split``.
        rows: held-out rows, at least one, to compare the export with torch on.

    Raises:
        MissingExtraError: onnx is not installed.
        ConfigError: the export does not agree with torch.
    """
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    model = model.cpu().eval()
    write_onnx(model, fresh / "float.onnx")
    quantize(fresh / "float.onnx", fresh / MODEL)
    shutil.copyfile(tokenizer, fresh / TOKENIZER)
    agreement = compare(model, fresh, rows)
    (fresh / "float.onnx").unlink()
    limits = {
        "max_tokens": config.max_tokens,
        "max_claim_tokens": config.max_claim_tokens,
        "max_windows": max(config.max_windows, WINDOWS_IN_USE),
    }
    record = {
        "format": WEIGHTS_FORMAT,
        "limits": limits,
        "vocabulary": PairTokenizer(tokenizer).size,
        "sha256": {name: sha256_of(fresh / name) for name in (MODEL, TOKENIZER)},
        "trained": {
            "settings": asdict(config),
            "split": dict(split),
            **surroundings(),
            "scores": scores,
            "agreement": agreement,
        },
    }
    (fresh / MANIFEST).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (fresh / "CARD.md").write_text(_card(record, config, fresh), encoding="utf-8")
    find_weights(fresh)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def write_onnx(model: Any, path: Path) -> None:
    """Write a torch model as ONNX, not quantised, with batch and length open. Raises MissingExtraError without onnx."""
    torch = imported("torch", ENCODER)
    imported("onnx", "exporting the encoder")

    class Exported(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            inputs: dict[str, Any] = dict(zip(INPUTS, (input_ids, attention_mask, token_type_ids), strict=True))
            return outputs_of(self.model, inputs)

    model["bert"].set_attn_implementation("eager")
    ids = torch.ones((2, 8), dtype=torch.int64)
    axes = {name: {0: "batch", 1: "tokens"} for name in (*INPUTS, *OUTPUTS)}
    axes |= {name: {0: "batch"} for name in ("relation", "error_type")}
    with warnings.catch_warnings():
        # torch would rather use its new exporter, whose graphs onnxruntime does not quantise.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Exported().eval(),
            (ids, ids, ids * 0),
            str(path),
            input_names=list(INPUTS),
            output_names=list(OUTPUTS),
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )


def quantize(source: Path, target: Path) -> None:
    """Write an int8 version of an ONNX model: weights of linear layers and embeddings, one scale per channel."""
    onnx = imported("onnx", "exporting the encoder")
    quantization: Any = import_module("onnxruntime.quantization")
    before = logging.root.manager.disable
    logging.disable(max(before, logging.WARNING))  # it recommends a step that has no effect here
    try:
        quantization.quantize_dynamic(
            str(source),
            str(target),
            op_types_to_quantize=["MatMul", "Gemm", "Gather"],
            per_channel=True,
            weight_type=quantization.QuantType.QInt8,
        )
    finally:
        logging.disable(before)
    small = onnx.load(str(target))
    del small.graph.value_info[:]  # shapes that onnxruntime infers itself
    onnx.save(small, str(target))


def compare(model: Any, folder: Path, rows: Sequence[EncodedRow]) -> dict[str, float]:
    """How far the exported models agree with torch on the first window of some rows, each read alone as at run time.

    Returns:
        ``rows`` compared; ``labels``, the share on which the int8 model gives the same label or nearly the same P;
        ``mean_difference`` of that P; ``largest_float_difference`` of any output before quantisation.

    Raises:
        ConfigError: they do not agree.
    """
    torch = imported("torch", ENCODER)
    onnxruntime: Any = import_module("onnxruntime")
    exact, small = (
        onnxruntime.InferenceSession(str(folder / name), providers=["CPUExecutionProvider"])
        for name in ("float.onnx", MODEL)
    )
    largest, ours, theirs = 0.0, list[float](), list[float]()
    for row in rows[:: -(-len(rows) // MAX_COMPARED)]:
        inputs = inputs_of(row.windows[0], row.claim_tokens)
        with torch.no_grad():
            tensors = {name: torch.from_numpy(values) for name, values in inputs.items()}
            wanted = [value.numpy() for value in outputs_of(model, tensors)]
        found = exact.run(list(OUTPUTS), inputs)
        largest = max(largest, *(float(np.abs(a - b).max()) for a, b in zip(found, wanted, strict=True)))
        ours.append(float(softmax(small.run(["relation"], inputs)[0])[0, 0]))
        theirs.append(float(softmax(wanted[0])[0, 0]))
    int8, full = np.array(ours), np.array(theirs)
    other = int((((int8 >= 0.5) != (full >= 0.5)) & (np.abs(int8 - full) > NEAR)).sum())
    labels = 1 - other / len(ours)
    if not agrees(largest, other, len(ours)):
        raise ConfigError(
            f"the exported model differs from the torch model by {largest:.2g} before quantisation (limit: {EXACT}) "
            f"and in {1 - labels:.1%} of {len(ours)} labels after quantisation (limit: {1 - MIN_AGREEMENT:.0%}); the "
            "torch model was kept: train again with a lower learning_rate, or on more rows if few were compared"
        )
    return {
        "rows": len(ours),
        "labels": round(labels, 4),
        "mean_difference": round(float(np.abs(int8 - full).mean()), 5),
        "largest_float_difference": round(largest, 7),
    }


def agrees(largest: float, other: int, rows: int) -> bool:
    """Whether an export is accurate: by the largest float difference, and the number of changed labels in int8.

    >>> agrees(1e-5, 2, 10), agrees(1e-5, 3, 10), agrees(1e-5, 3, 60), agrees(1e-5, 4, 60), agrees(0.1, 0, 60)
    (True, False, True, False, False)
    """
    return largest <= EXACT and other <= max(MAY_DIFFER, (1 - MIN_AGREEMENT) * rows + 1e-9)


def _card(record: Mapping[str, Any], config: EncoderConfig, folder: Path) -> str:
    trained = record["trained"]
    lines = [
        f"| {place} | {found['rows']} | {found['auroc']:.3f} |"
        for place, found in trained["scores"].items()
        if "auroc" in found
    ]
    return CARD.format(
        digest=record["sha256"][MODEL][:12],
        encoder=Path(config.encoder).name,
        train=", ".join(config.train),
        megabytes=(folder / MODEL).stat().st_size / 1e6,
        agreement=trained["agreement"]["labels"],
        compared=trained["agreement"]["rows"],
        scores="\n".join(lines),
    )


SHIPPED_HEADS = 12
"""Attention heads of the shipped encoder, which its weights do not record."""
_EPSILON = 1e-12
"""Of BERT's layer norms."""


def write_floats(export: Path | None, out: Path, heads: int = SHIPPED_HEADS) -> None:
    """Write the model of an export as the ``model`` folder of a run, from which a run starts.

    Args:
        export: the folder of an export; None for the shipped encoder.
        out: where to.
        heads: attention heads of a layer.

    Raises:
        WeightsError: there is no export.
        ConfigError: it has an unexpected structure.
        MissingExtraError: the extra "train" is not installed.
    """
    onnx, torch, folder = (
        imported("onnx", "exporting the encoder"),
        imported("torch", ENCODER),
        find_weights(export).folder,
    )
    transformers = imported("transformers")
    transformers.logging.disable_progress_bar()
    graph = onnx.load(str(folder / MODEL)).graph
    found = {name: torch.from_numpy(values) for name, values in _floats(graph, onnx.numpy_helper.to_array)}
    try:
        words, places = (found[f"bert.embeddings.{kind}_embeddings.weight"] for kind in ("word", "position"))
        config = transformers.BertConfig(
            vocab_size=len(words),
            hidden_size=words.shape[1],
            max_position_embeddings=len(places),
            num_hidden_layers=sum(name.endswith("intermediate.dense.bias") for name in found),
            num_attention_heads=heads,
            layer_norm_eps=_EPSILON,
            intermediate_size=len(found["bert.encoder.layer.0.intermediate.dense.bias"]),
        )
        torch_heads = {name: torch.nn.Linear(words.shape[1], size) for name, size in HEAD_SIZES.items()}
        model = torch.nn.ModuleDict({"bert": transformers.BertModel(config, add_pooling_layer=False), **torch_heads})
        model.load_state_dict(found, strict=True)
    except (KeyError, RuntimeError, ValueError) as error:
        raise ConfigError(f"{folder / MODEL} is not an export of recipes/encoder ({error})") from error
    save_model(model, folder / TOKENIZER, out)


def _floats(graph: Any, to_array: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The weights of a quantised graph by their names in torch."""
    arrays = {entry.name: to_array(entry) for entry in graph.initializer}
    for name, values in arrays.items():
        plain = name.removeprefix("model.")
        if name.endswith("_embeddings.weight_quantized"):
            plain, stem = plain.removesuffix("_quantized"), name.removesuffix("_quantized")
            yield plain, _dequantized(values, arrays[f"{stem}_scale"], arrays[f"{stem}_zero_point"])
        elif name.startswith("model.") and values.dtype == np.float32 and not name.endswith("_scale"):
            yield plain, values.copy()
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1] in arrays:
            stem = node.input[1].removesuffix("_quantized")
            values = _dequantized(arrays[node.input[1]], arrays[f"{stem}_scale"], arrays[f"{stem}_zero_point"])
            yield f"{node.name.strip('/').rpartition('/')[0].replace('/', '.')}.weight", values.T.copy()


def _dequantized(numbers: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> np.ndarray:
    return (numbers.astype(np.float32) - zero.astype(np.float32)) * scale
