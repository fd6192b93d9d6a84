"""Scores weights of the large reader on the sets that choose settings, and on held-out parts of the training sets.

    python recipes/reader/evaluate.py WEIGHTS --encoder MPNET --packs runs/reader/packs [--without-notes]

The encoder alone, its weights rounded as they ship: P(supported) of each claim, no calibration, no exact comparators.
With ``--verifier embedded`` (or ``embedded:FOLDER``) instead of WEIGHTS, a whole verifier on the sets that choose
settings. Figures go to standard output as one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from model import ReaderModel, batch_of, is_rounded, load_weights, rank_of, rounded, shape_of
from packs import chosen_rows
from train import half_is_faster

from vouching.embedded.verify import open_embedded
from vouching.metrics import auroc, ece
from vouching.reading.sequence import Tokenizer
from vouching.types import Claim, Source

SETS = (
    "dev_independent",
    "dev_contrast",
    "dev_tabfact",
    "dev_infotabs",
    "dev_attributionbench",
    "dev_healthver",
    "dev_conjnli",
    "corpus.held-out",
    "structured.held-out",
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


def judged(verifier: str, name: str, most: int) -> list[tuple[float, int]]:
    """(score, y) of each claim of a set by a whole verifier, all claims about a source at once."""
    about: dict[str, list[dict[str, Any]]] = {}
    for row in chosen_rows(name)[:most]:
        about.setdefault(row["source"], []).append(row)
    embedded = open_embedded(verifier)
    found: list[tuple[float, int]] = []
    for source, rows in about.items():
        verdicts = embedded.judge_all([Claim(row["asked"].text) for row in rows], [Source(source)])
        found += [(verdict.score, row["y"]) for verdict, row in zip(verdicts, rows, strict=True)]
    return found


def figures_of(found: list[tuple[float, int]]) -> dict[str, float]:
    """Number of claims, AUROC, balanced accuracy at .5, error of calibration."""
    right, wrong = [s for s, y in found if y == 0], [s for s, y in found if y]
    balanced = (sum(s >= 0.5 for s in right) / len(right) + sum(s < 0.5 for s in wrong) / len(wrong)) / 2
    labels, scores = [y == 0 for _, y in found], [s for s, _ in found]
    return {
        "claims": len(found),
        "auroc": round(float(auroc(labels, scores)), 3),
        "balanced": round(balanced, 3),
        "ece": round(float(ece(labels, scores)), 3),
    }


def encoded(options: argparse.Namespace) -> Callable[[str], list[tuple[float, int]]]:
    """Scores sets of the packs with the encoder alone."""
    model, tokenizer = (
        ReaderModel(shape_of(options.encoder), rank_of(options.weights)).eval(),
        Tokenizer(options.encoder / "tokenizer.json"),
    )
    load_weights(model, options.weights)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if is_rounded(name):
                weight.copy_(rounded(weight))
    model = model.bfloat16() if half_is_faster() else model

    def of(name: str) -> list[tuple[float, int]]:
        packs, count = [], 0
        for line in (options.packs / f"{name}.jsonl").read_text("utf-8").splitlines():
            pack = json.loads(line)
            if count < options.claims:
                packs.append(pack)
                count += len(pack["claims"])
        return score(model, tokenizer, packs, not options.without_notes)

    return of


def main() -> None:
    """Print the figures of each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path, nargs="?")
    parser.add_argument("--encoder", type=Path, help="folder of the pretrained MPNet")
    parser.add_argument("--packs", type=Path)
    parser.add_argument("--verifier", help="a whole verifier instead, such as embedded or embedded:runs/reader")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--claims", type=int, default=400, help="at most this many claims of a set")
    parser.add_argument("--without-notes", action="store_true", help="skip computed facts")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    of = encoded(options) if options.verifier is None else None
    figures: dict[str, Any] = {}
    for name in options.sets.split(","):
        if not (name.startswith("dev_") if of is None else (options.packs / f"{name}.jsonl").exists()):
            continue
        figures[name] = figures_of(judged(options.verifier, name, options.claims) if of is None else of(name))
        print(name, figures[name], file=sys.stderr, flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
