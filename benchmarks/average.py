# pyright: basic
"""Weight averaging: one model with the mean weights of several that were trained from the same start.

The result costs as much as one model, while a router costs as many as it has specialists. Adapters are merged into
their model before averaging; the mean of their factors would be something else. An encoder of the embedded verifier is
averaged with its heads and must be exported afterwards. Not supported: weighting; choosing which models to average.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from recipes.encoder.model import HEADS
from vouching.errors import ConfigError
from vouching.train.export import merge_adapters
from vouching.train.extra import imported
from vouching.train.policy import ADAPTER

_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_OTHERS = ("tokenizer.json", "vocab.txt")
"""Files that have to be the same for weights to mean the same."""


def average_weights(folders: Sequence[Path], out: Path) -> Path:
    """Write a model whose weights are the mean of several.

    Args:
        folders: of models of one architecture with one tokenizer, or of adapters; two or more.
        out: where to, replaced as a whole; everything but the weights is that of the first.

    Returns:
        ``out``.

    Raises:
        ConfigError: fewer than two models, one without weights as safetensors, or models that do not fit each other.
        MissingExtraError: the extra "train" is not installed.
    """
    if len(folders) < 2:
        raise ConfigError(f"expected two or more models to average, got {len(folders)}")
    with TemporaryDirectory(dir=out.parent) as merged:
        whole = [_merged(folder, Path(merged) / str(number)) for number, folder in enumerate(folders)]
        fresh = out.with_name(f"{out.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(whole[0], fresh)
        _same_others(whole)
        for name in _files(whole[0]):
            _write_mean([folder / name for folder in whole], fresh / name)
        shutil.rmtree(out, ignore_errors=True)
        fresh.replace(out)
    return out


def _merged(folder: Path, room: Path) -> Path:
    """The folder of a whole model: the one given, or one made of adapters."""
    if (folder / ADAPTER).is_file():
        merge_adapters(folder, room)
        return room
    return folder


def _files(folder: Path) -> list[str]:
    """Names of the files of weights."""
    heads = [HEADS] if (folder / HEADS).is_file() else []
    if (folder / _INDEX).is_file():
        named = json.loads((folder / _INDEX).read_text(encoding="utf-8"))["weight_map"]
        return sorted({*named.values()}) + heads
    if not (folder / _WEIGHTS).is_file():
        raise ConfigError(f"{folder} contains no safetensors weights: choose the folder of a model")
    return [_WEIGHTS, *heads]


def _same_others(folders: Sequence[Path]) -> None:
    """Raise ConfigError if the models do not have the same files of weights or the same tokenizer."""
    for folder in folders[1:]:
        same = _files(folder) == _files(folders[0])
        for name in _OTHERS:
            same = same and _digest(folder / name) == _digest(folders[0] / name)
        if not same:
            raise ConfigError(
                f"{folder} is a different model from {folders[0]}: average models trained from the same start"
            )


def _write_mean(paths: Sequence[Path], out: Path) -> None:
    """One file of weights; sums are in double precision, and what is no float is that of the first."""
    first = _load(paths[0])
    total = {name: tensor.double() for name, tensor in first.items()}
    for path in paths[1:]:
        other = _load(path)
        if {name: tensor.shape for name, tensor in other.items()} != {n: tensor.shape for n, tensor in first.items()}:
            raise ConfigError(f"{path} and {paths[0]} differ in their weights: average models of the same start")
        for name, tensor in other.items():
            total[name] += tensor.double()
    means = {
        name: (total[name] / len(paths)).to(tensor.dtype).contiguous() if tensor.is_floating_point() else tensor
        for name, tensor in first.items()
    }
    if out.name == HEADS:
        imported("torch").save(means, out)
    else:
        imported("safetensors.torch").save_file(means, out, metadata={"format": "pt"})


def _load(path: Path) -> dict[str, Any]:
    """Tensors by name."""
    if path.name == HEADS:
        return imported("torch").load(path, map_location="cpu", weights_only=True)
    return imported("safetensors.torch").load_file(path)


def _digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
