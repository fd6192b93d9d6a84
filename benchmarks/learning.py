"""Whether the engine learns: an oracle metric over the steps of GRPO, all weights and adapters, three seeds.

    python benchmarks/learning.py [--seeds 0 1 2] [--games structured checklist-self] [--output FILE]

The tasks are those of tests/train/learning.py and checklist_learning.py: 107,000 weights, warmed up by imitation,
trained for 60 steps (adapters: 100) of 64 rollouts on SEVA's process reward, on a checklist with a noisy judge, and on
one that the policy judges itself; assurance_learning.py has 60 steps of 16 units and two adapters. What is told is the
metric that a rule computes from the prompt alone: its mean over the first and the last 20 steps, and the lower 95 %
bound of the gain. One thread. Left out: larger models.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
import time
from collections.abc import Callable
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
    """One run, told by two metrics: the second has it for nothing."""
    with tempfile.TemporaryDirectory() as folder:
        return assurance_learning.learn(Path(folder), seed)[0]


GAMES: dict[str, Callable[[Path, int], Learnt]] = {
    "structured": lambda folder, seed: learn(folder, seed, adapters=False),
    "structured-adapters": lambda folder, seed: learn(folder, seed, adapters=True),
    "checklist-outside": lambda folder, seed: checklist_learning.learn(folder, seed, "outside"),
    "checklist-self": lambda folder, seed: checklist_learning.learn(folder, seed, "self"),
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
    runs: list[dict[str, object]] = []
    for game in options.games:
        for seed in options.seeds:
            started = time.process_time()
            with tempfile.TemporaryDirectory() as folder:
                learnt = GAMES[game](Path(folder), seed)
            runs.append({
                "game": game, "seed": seed,
                "first": round(float(np.mean(learnt.first)), 3), "last": round(float(np.mean(learnt.last)), 3),
                "gain": round(learnt.gain, 3), "lower_95": round(learnt.lower, 3),
                "cpu_seconds": round(time.process_time() - started, 1),
            })  # fmt: skip
            sys.stderr.write(f"{runs[-1]}\n")
    record = {
        "command": "python benchmarks/learning.py", "date": f"{datetime.date.today():%Y-%m-%d}", "steps_compared": EDGE,
        "torch": torch.__version__, "runs": runs,
    }  # fmt: skip
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
