"""Writes trained weights as the folder that ``vouching.reading.text_encoder`` reads: int8 ONNX, embeddings, heads.

    python recipes/reader/export.py runs/reader/large/weights.safetensors --encoder MPNET --out runs/reader/export

Weights become whole numbers of -31 to 31 in int8 with a scale per output, so that a compressed file has about five
bits for each; activations are scaled row by row at run time. The graph takes the keys
and values of a text that was read before, so that one graph reads texts and claims. Compared with torch before it is
written.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
import torch
from model import ReaderModel, Shape, batch_of, is_adapter, levels_of, load_weights, rank_of, shape_of
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from vouching.encoder.weights import sha256_of
from vouching.reading.text_encoder import ADAPTER, FORMAT, HEADS, MANIFEST, MODEL, TOKENIZER, WORDS, TextEncoder
from vouching.reading.text_encoder import LAYERS as WEIGHT_FILES

COUNTS = "counts.json"
"""Steps, claims and stages of a run, beside its weights."""
TEXT = "The museum is open from 10:00 to 17:00. On Mondays it is closed. Entry costs 12 euros, 8 for students."
CLAIMS = ("The museum opens at ten.", "You can visit on Mondays.", "Students pay 8 euros.", "The café serves soup.")


def quantised(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rows as the whole numbers that ship, and the scale of each row."""
    whole, scale = levels_of(torch.from_numpy(weight))
    return whole.to(torch.int8).numpy(), scale[:, 0].numpy()


class Graph:
    """A graph in the making; large weights go to files beside it."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self._folder, self._shape = folder, shape
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._names: set[str] = set()

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; its outputs' names."""
        names = [f"{kind}_{len(self._nodes)}_{n}" for n in range(outputs)]
        domain = "com.microsoft" if kind == "Gelu" else ""
        self._nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, name: str, value: Any, kind: Any = np.float32) -> str:
        """A small array by name, once."""
        if name not in self._names:
            self._names.add(name)
            self._weights.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def large(self, name: str, value: NDArray[Any], file: str) -> str:
        """An array in a file beside the graph."""
        path = self._folder / file
        offset = path.stat().st_size if path.exists() else 0
        with path.open("ab") as out:
            out.write(value.tobytes())
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        tensor = TensorProto(name=name, data_type=kind, dims=value.shape, data_location=TensorProto.EXTERNAL)
        for key, entry in (("location", file), ("offset", offset), ("length", value.nbytes)):
            tensor.external_data.add(key=key, value=str(entry))
        self._weights.append(tensor)
        return name

    def linear(self, name: str, rows: str, weight: NDArray[np.float32], bias: NDArray[np.float32], file: str) -> str:
        """(N, I) rows times int8 weights (O, I), each row quantised by its own largest value."""
        whole, scale = quantised(weight)
        largest = self.node(
            "Max",
            self.node("ReduceMax", self.node("Abs", rows), self.constant("last", [-1], np.int64), keepdims=1),
            self.constant("tiny", 1e-9),
        )
        ints = self.node(
            "QuantizeLinear",
            self.node("Div", rows, largest),
            self.constant("step", 1 / 127),
            self.constant("middle", 128, np.uint8),
        )
        product = self.node(
            "MatMulInteger", ints, self.large(f"{name}_weight", np.ascontiguousarray(whole.T), file), "middle"
        )
        scaled = self.node(
            "Mul",
            self.node("Cast", product, to=TensorProto.FLOAT),
            self.node("Mul", largest, self.constant("step", 1 / 127)),
        )
        return self.node(
            "Add", self.node("Mul", scaled, self.constant(f"{name}_scale", scale)), self.constant(f"{name}_bias", bias)
        )

    def adapter(self, name: str, rows: str, a: NDArray[np.float32], b: NDArray[np.float32]) -> str:
        """(N, I) rows to the (N, O) addition of an adapter, whose (R, I) and (O, R) are kept in half precision."""
        for part, value in (("a", a), ("b", b)):
            half = self.large(f"{name}_{part}", np.ascontiguousarray(value.T.astype(np.float16)), ADAPTER)
            rows = self.node("MatMul", rows, self.node("Cast", half, to=TensorProto.FLOAT))
        return rows

    def save(self, outputs: dict[str, str]) -> None:
        """Write the graph; ``outputs`` maps names to nodes' outputs."""
        layers, heads, size = self._shape.num_hidden_layers, self._shape.num_attention_heads, self._shape.head_size
        shapes: dict[str, list[Any]] = {
            "embedded": ["N", self._shape.hidden_size],
            "bias": [heads, "N", "M"],
            "past_keys": [layers, heads, size, "S"],
            "past_values": [layers, heads, "S", size],
        }
        for name, found in outputs.items():
            self._nodes.append(helper.make_node("Identity", [found], [name]))
        graph = helper.make_graph(
            self._nodes,
            "reader",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            self._weights,
        )
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        onnx.save_model(helper.make_model(graph, opset_imports=opsets, ir_version=10), str(self._folder / MODEL))


Weights: TypeAlias = dict[str, NDArray[np.float32]]


def write_graph(weights: Weights, folder: Path, sizes: Shape) -> None:
    """Write the layers as a graph."""
    graph, layers = Graph(folder, sizes), sizes.num_hidden_layers
    pasts = [
        graph.node("Split", name, outputs=layers, axis=0, num_outputs=layers) for name in ("past_keys", "past_values")
    ]
    states = "embedded"
    keys: list[str] = []
    values: list[str] = []
    for number in range(layers):
        prefix = f"layers.{number}."
        own = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
        own |= {
            name: _with_scaled_query(own[name], sizes) for name in ("qkv.weight", "qkv.bias", "qkv.b") if name in own
        }
        layer = _Layer(graph, f"layer_{number}", own, WEIGHT_FILES[number * len(WEIGHT_FILES) // layers])
        states, key, value = layer.write(states, pasts[0][number], pasts[1][number], sizes)
        keys.append(key)
        values.append(value)
    joined = {name: graph.node("Concat", *parts, axis=0) for name, parts in (("keys", keys), ("values", values))}
    graph.save({"states": states, **joined})


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer, to be written into a graph."""

    graph: Graph
    name: str
    own: Weights
    file: str

    def write(self, states: str, past_keys: str, past_values: str, sizes: Shape) -> tuple[str, str, str]:
        """The layer's states, and its keys and values with an axis for the layers."""
        graph = self.graph
        first = graph.constant("first", [0], np.int64)
        by_head = graph.constant("by_head", [-1, sizes.num_attention_heads, sizes.head_size], np.int64)
        parts = graph.node("Split", self._linear("qkv", states), outputs=3, axis=1, num_outputs=3)
        query, value = (
            graph.node("Transpose", graph.node("Reshape", parts[n], by_head), perm=[1, 0, 2]) for n in (0, 2)
        )
        key = graph.node("Transpose", graph.node("Reshape", parts[1], by_head), perm=[1, 2, 0])
        keys = graph.node("Concat", graph.node("Squeeze", past_keys, first), key, axis=2)
        values = graph.node("Concat", graph.node("Squeeze", past_values, first), value, axis=1)
        seen = graph.node("Softmax", graph.node("Add", graph.node("MatMul", query, keys), "bias"), axis=-1)
        mixed = graph.node("Transpose", graph.node("MatMul", seen, values), perm=[1, 0, 2])
        joined = graph.node("Reshape", mixed, graph.constant("joined", [-1, sizes.hidden_size], np.int64))
        states = self._normed("norm_1", states, self._linear("out", joined))
        inner = graph.node("Gelu", self._linear("up", states))
        states = self._normed("norm_2", states, self._linear("down", inner))
        return states, graph.node("Unsqueeze", key, first), graph.node("Unsqueeze", value, first)

    def _linear(self, part: str, rows: str) -> str:
        name, own, graph = f"{self.name}_{part}", self.own, self.graph
        plain = graph.linear(name, rows, own[f"{part}.weight"], own[f"{part}.bias"], self.file)
        if f"{part}.a" not in own:
            return plain
        return graph.node("Add", plain, graph.adapter(name, rows, own[f"{part}.a"], own[f"{part}.b"]))

    def _normed(self, norm: str, states: str, added: str) -> str:
        graph = self.graph
        scale, bias = (
            graph.constant(f"{self.name}_{norm}_{kind}", self.own[f"{norm}.{kind}"]) for kind in ("weight", "bias")
        )
        return graph.node("LayerNormalization", graph.node("Add", states, added), scale, bias, axis=-1, epsilon=1e-5)


def _with_scaled_query(value: NDArray[np.float32], sizes: Shape) -> NDArray[np.float32]:
    """What gives query, key and value, the query divided by the root of the heads' size."""
    width = sizes.hidden_size
    return np.concatenate([value[:width] / np.sqrt(sizes.head_size), value[width:]]).astype(np.float32)


def export(weights: Path, encoder: Path, out: Path, trained: dict[str, Any]) -> None:
    """Write the folder and compare it with torch."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    model = ReaderModel(shape_of(encoder), rank_of(weights)).eval()
    load_weights(model, weights)
    arrays = {name: value.numpy().astype(np.float32) for name, value in model.state_dict().items()}
    write_graph(arrays, out, model.shape)
    words, scale = quantised(arrays["words.weight"])
    np.save(out / WORDS, words)
    heads = {
        "word_scale": scale,
        "places": arrays["places.weight"],
        "distance": arrays["distance.weight"],
        "norm_weight": arrays["norm.weight"],
        "norm_bias": arrays["norm.bias"],
        "temperature": np.ones(1),
        **{f"relation_{n}_weight": arrays[f"relation.{n}.weight"].T for n in (0, 2)},
        **{f"relation_{n}_bias": arrays[f"relation.{n}.bias"] for n in (0, 2)},
        "support_weight": arrays["support.weight"].T,
        "support_bias": arrays["support.bias"],
    }
    np.savez(out / HEADS, **{name: value.astype(np.float32) for name, value in heads.items()})
    shutil.copy(encoder / "tokenizer.json", out / TOKENIZER)
    record = {
        "format": FORMAT,
        "shape": _sizes(model.shape),
        "sha256": {path.name: sha256_of(path) for path in sorted(out.iterdir())},
        "trained": trained,
    }
    (out / MANIFEST).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    size = sum(path.stat().st_size for path in out.iterdir()) / 1e6
    print(f"{out}: {size:.1f} MB; P differs from torch by {difference(model, out):.4f} at most")


def _sizes(shape: Shape) -> dict[str, int]:
    return {"layers": shape.num_hidden_layers, "heads": shape.num_attention_heads, "size": shape.head_size}


def read_export(model: ReaderModel, folder: Path) -> dict[str, Any]:
    """Put the weights of an exported folder into a model, to train on from them; how the folder was made."""
    arrays = {one.name: numpy_helper.to_array(one) for one in onnx.load(str(folder / MODEL)).graph.initializer}
    with np.load(folder / HEADS) as found:
        heads = {name: found[name] for name in found.files}
    state = {
        "words.weight": np.load(folder / WORDS).astype(np.float32) * heads["word_scale"][:, None],
        "places.weight": heads["places"],
        "distance.weight": heads["distance"],
        "norm.weight": heads["norm_weight"],
        "norm.bias": heads["norm_bias"],
        **{f"relation.{n}.weight": heads[f"relation_{n}_weight"].T for n in (0, 2)},
        **{f"relation.{n}.bias": heads[f"relation_{n}_bias"] for n in (0, 2)},
        "support.weight": heads["support_weight"].T,
        "support.bias": heads["support_bias"],
    }
    for name in model.state_dict():
        if name.startswith("layers.") and (not is_adapter(name) or _stored(name) in arrays):
            state[name] = _layer_weight(name, arrays, model.shape)
    own = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in state.items()}
    model.load_state_dict(model.state_dict() | own)
    trained: dict[str, Any] = json.loads((folder / MANIFEST).read_text("utf-8"))["trained"]
    return trained


def _stored(name: str) -> str:
    _, number, part, kind = name.split(".")
    return f"layer_{number}_{part}_{kind}"


def _layer_weight(name: str, arrays: dict[str, NDArray[Any]], sizes: Shape) -> NDArray[np.float32]:
    _, number, part, kind = name.split(".")
    value = arrays[_stored(name)].astype(np.float32)
    if kind == "weight" and "norm" not in part:
        value = value.T * arrays[f"layer_{number}_{part}_scale"][:, None]
    if is_adapter(name):
        value = np.ascontiguousarray(value.T)
    if part == "qkv" and kind != "a":  # its query was divided by the root of the heads' size
        value[: sizes.hidden_size] *= np.sqrt(sizes.head_size)
    return value


def difference(model: ReaderModel, folder: Path) -> float:
    """The largest difference of a probability between torch and the folder, on four claims."""
    encoder = TextEncoder(folder)
    text, blocks = encoder.tokenizer.text(TEXT), [encoder.tokenizer.block(claim) for claim in CLAIMS]
    with torch.inference_mode():
        relation, _ = model(batch_of([(text, blocks)]))
    found = np.stack([read.relation for read in encoder.read(encoder.keep(TEXT), blocks)])
    return float(np.abs(found - relation.softmax(-1).numpy()).max())


def main() -> None:
    """Read the options and export."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of the pretrained MPNet, for its tokenizer")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--trained", type=Path, help="JSON that says from what the weights were made, for the manifest")
    options = parser.parse_args()
    trained = json.loads(options.trained.read_text("utf-8")) if options.trained else {}
    counts = options.weights.with_name(COUNTS)
    trained |= {"counts": json.loads(counts.read_text("utf-8"))} if counts.exists() else {}
    export(options.weights, options.encoder, options.out, trained)


if __name__ == "__main__":
    main()
