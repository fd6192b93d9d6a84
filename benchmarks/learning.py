"""Whether each game learns: an oracle metric over the steps of training, three seeds, all weights or adapters.

    python benchmarks/learning.py [--seeds 0 1 2] [--games blinded checklist-self] [--output FILE]

The tasks are those of tests/train/*learning.py: 107,000 weights, pretrained by imitation, then trained by the game.
Reported is the share of right replies by a rule: its mean over the first and the last 20 steps, and the lower 95 %
bound of the gain. Other games and seeds in the output file are kept. One thread. Not supported: larger models.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.train import assurance_learning, blinded_learning, checklist_learning  # noqa: E402  (beside the tests)
from tests.train.learning import EDGE, Learnt, learn  # noqa: E402

OUTPUT = Path(__file__).parent / "results/learning.json"


@cache
def play_assurance(seed: int) -> assurance_learning.LearntBoth:
    """One run with two metrics."""
    with tempfile.TemporaryDirectory() as folder:
        return assurance_learning.learn(Path(folder), seed)[0]


GAMES: dict[str, Callable[[Path, int], Learnt]] = {
    "structured": lambda folder, seed: learn(folder, seed, adapters=False),
    "structured-adapters": lambda folder, seed: learn(folder, seed, adapters=True),
    "checklist-outside": lambda folder, seed: checklist_learning.learn(folder, seed, "outside")[0],
    "checklist-self": lambda folder, seed: checklist_learning.learn(folder, seed, "self")[0],
    "blinded": blinded_learning.learn,
    "assurance": lambda folder, seed: play_assurance(seed).submitted,
    "assurance-verifier": lambda folder, seed: play_assurance(seed).challenge,
}
"""A run of each game."""


def main() -> None:
    """Run every seed, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--games", nargs="+", choices=GAMES, default=[*GAMES])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for game in options.games:
        for seed in options.seeds:
            started = time.process_time()
            with tempfile.TemporaryDirectory() as folder:
                learnt = GAMES[game](Path(folder), seed)
            run = {
                "game": game,
                "seed": seed,
                "first": round(float(np.mean(learnt.first)), 3),
                "last": round(float(np.mean(learnt.last)), 3),
                "gain": round(learnt.gain, 3),
                "lower_95": round(learnt.lower, 3),
                "cpu_seconds": round(time.process_time() - started, 1),
                "date": f"{datetime.date.today():%Y-%m-%d}",
            }
            add(run, options.output)
            sys.stderr.write(f"{run}\n")


def add(run: Mapping[str, object], output: Path) -> None:
    """Write a run into the file, in place of the one of the same game and seed."""
    runs = json.loads(output.read_text(encoding="utf-8"))["runs"] if output.is_file() else []
    kept = {(one["game"], one["seed"]): one for one in [*runs, run]}
    order = [*GAMES]
    record = {
        "command": "python benchmarks/learning.py",
        "steps_compared": EDGE,
        "torch": torch.__version__,
        "runs": sorted(kept.values(), key=lambda one: (order.index(one["game"]), one["seed"])),
    }
    output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
