"""Scores weights of the large reader on the sets that choose settings, and on held-out parts of the training sets.

    python recipes/reader/evaluate.py WEIGHTS --encoder MPNET --packs runs/reader/packs [--without-notes]

The encoder alone: P(supported) of each claim, no calibration, no exact comparators. Figures go to standard output as
one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import torch
from model import ReaderModel, batch_of, load_weights, shape_of
from train import half_is_faster

from vouching.metrics import auroc
from vouching.reading.sequence import Tokenizer

SETS = (
    "dev_independent",
    "dev_contrast",
    "dev_tabfact",
    "dev_infotabs",
    "dev_attributionbench",
    "dev_healthver",
    "dev_conjnli",
    "corpus.held-out",
)


def score(
    model: ReaderModel, tokenizer: Tokenizer, packs: list[dict[str, Any]], notes: bool
) -> list[tuple[float, int]]:
    """(P(supported), y) of each claim, one text at a time."""
    found: list[tuple[float, int]] = []
    for pack in packs:
        claims = pack["claims"]
        for first in range(0, len(claims), 16):
            part = claims[first : first + 16]
            blocks = [
                tokenizer.block(claim, [n for n in given if notes or not n.startswith("computed")])
                for claim, _, given, *_ in part
            ]
            with torch.inference_mode():
                relation, _ = model(batch_of([(tokenizer.text(pack["source"]), blocks)]))
            found += zip(relation.softmax(-1)[:, 0].tolist(), [entry[1] for entry in part], strict=True)
    return found


def main() -> None:
    """Print the figures of each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--packs", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--claims", type=int, default=400, help="at most this many claims of a set")
    parser.add_argument("--without-notes", action="store_true", help="skip computed facts")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model, tokenizer = ReaderModel(shape_of(options.encoder)).eval(), Tokenizer(options.encoder / "tokenizer.json")
    load_weights(model, options.weights)
    model = model.bfloat16() if half_is_faster() else model
    figures: dict[str, Any] = {}
    for name in options.sets.split(","):
        path = options.packs / f"{name}.jsonl"
        if not path.exists():
            continue
        packs, count = [], 0
        for line in path.read_text("utf-8").splitlines():
            pack = json.loads(line)
            if count < options.claims:
                packs.append(pack)
                count += len(pack["claims"])
        found = score(model, tokenizer, packs, not options.without_notes)
        right, wrong = [s for s, y in found if y == 0], [s for s, y in found if y]
        balanced = (sum(s >= 0.5 for s in right) / len(right) + sum(s < 0.5 for s in wrong) / len(wrong)) / 2
        figures[name] = {
            "claims": len(found),
            "auroc": round(float(auroc([y == 0 for _, y in found], [s for s, _ in found])), 3),
            "balanced": round(balanced, 3),
        }
        print(name, figures[name], file=sys.stderr, flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
