"""Writes what a training has changed of the pretrained encoder as one small file, to go on from elsewhere.

    python recipes/reader/checkpoint.py runs/reader/large --encoder MPNET --out recipes/reader/checkpoint.npz

Matrices are rounded as they ship (whole numbers up to 31 times a scale per row), the rest is in half precision; tensors
that are as they were pretrained are omitted. ``train.py --start`` goes on from the file, with new moments.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from model import ReaderModel, levels_of, shape_of

COUNTS = "counts"


def is_rounded(name: str) -> bool:
    """Whether the weight of this name is rounded when it ships: the layers' matrices and the embeddings of words."""
    return name.endswith(".weight") and (name == "words.weight" or (name.startswith("layers.") and "norm" not in name))


def write_checkpoint(run: Path, encoder: Path, out: Path) -> None:
    """Write the mean of the weights of a run, and its counts."""
    saved: dict[str, Any] = torch.load(run / "state.pt")
    pretrained = ReaderModel(shape_of(encoder))
    pretrained.load_pretrained(encoder)
    arrays: dict[str, Any] = {COUNTS: np.array(json.dumps({**saved["counts"], "averaged": 0}))}
    fresh = ("relation", "support")
    for name, weight in pretrained.state_dict().items():
        found = saved["mean"].get(name, saved["model"][name])
        if torch.equal(found, weight) and not name.startswith(fresh):
            continue
        if is_rounded(name):
            whole, scale = levels_of(found)
            arrays[name] = whole.to(torch.int8).numpy()
            arrays[f"{name}.scale"] = scale.numpy()
        else:
            arrays[name] = found.to(torch.float16).numpy()
    np.savez_compressed(out, **arrays)


def read_checkpoint(model: ReaderModel, path: Path) -> dict[str, Any]:
    """Put the weights of a checkpoint into a model that was loaded from the pretrained encoder; its counts."""
    state = model.state_dict()
    with np.load(path) as arrays:
        for name in arrays.files:
            if name == COUNTS or name.endswith(".scale"):
                continue
            value = arrays[name].astype(np.float32)
            scale = arrays[f"{name}.scale"] if f"{name}.scale" in arrays.files else np.float32(1)
            state[name] = torch.from_numpy(value * scale)
        counts: dict[str, Any] = json.loads(str(arrays[COUNTS]))
    model.load_state_dict(state)
    return counts


def main() -> None:
    """Read the options and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of train.py")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of the pretrained MPNet")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    write_checkpoint(options.run, options.encoder, options.out)
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
