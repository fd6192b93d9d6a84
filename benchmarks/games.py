"""Cost of a step of each game: CPU time, completions, and bookkeeping per completion.

    python benchmarks/games.py [--games blinded checklist-self] [--steps 8] [--output benchmarks/results/games.json]

The tasks are those of tests/train/*learning.py: 107,000 pretrained weights, prompts of one line (blinded: 40 to 90
tokens). Bookkeeping is everything in a step but models: reading replies, votes, rewards, groups, advantages, figures,
arrays; it is measured on completions sampled before. The external judge is a script and counts as bookkeeping; guesses
and the update of the critic do not. Other games in the output file are kept. One thread. Not supported: GPUs.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.train import assurance_learning, blinded_learning, checklist_learning, learning  # noqa: E402
from vouching.train.checkpoint import train_from  # noqa: E402
from vouching.train.engine import on_step  # noqa: E402
from vouching.train.engine_batch import to_arrays  # noqa: E402

OUTPUT = Path(__file__).parent / "results/games.json"
SKIPPED = 2
"""Steps at the start of a run that do not count: what is loaded late is loaded then."""
REPEATS = 10
"""Of the bookkeeping of one step."""


GAMES: dict[str, Callable[[Path, int], Any]] = {
    "structured": lambda folder, steps: learning.trainer_by(folder, 0, adapters=False, steps=steps),
    "checklist-outside": lambda folder, steps: checklist_learning.trainer_by(folder, 0, "outside", steps),
    "checklist-self": lambda folder, steps: checklist_learning.trainer_by(folder, 0, "self", steps),
    "assurance": lambda folder, steps: assurance_learning.trainer_by(folder, 0, steps),
    "blinded": lambda folder, steps: blinded_learning.trainer_by(folder, 0, steps),
}
"""A trainer of each."""


class Recorded:
    """Records completions of a sampler and replays them in the same order."""

    def __init__(self, sampler: Any) -> None:
        self._sampler, self._said, self._at = sampler, list[Any](), None
        self.teacher_forced = getattr(sampler, "teacher_forced", None)

    async def sample(self, prompts: Sequence[Any], role: str, n: int, *more: Any, **named: Any) -> Any:
        """From the sampler at first, from memory after :meth:`again`."""
        if self._at is None:
            self._said.append(await self._sampler.sample(prompts, role, n, *more, **named))
            return self._said[-1]
        self._at += 1
        return self._said[self._at - 1]

    def again(self) -> None:
        """Start the replay."""
        self._at = 0

    def roles(self) -> Counter[str]:
        """Completions by role."""
        return Counter(one.role for said in self._said for group in said for one in group)


def bookkeeping(trainer: Any) -> tuple[float, Counter[str], int]:
    """Milliseconds of CPU time per completion; completions of a step by role; rows that are trained on."""
    table = trainer.table
    table.sampler = recorded = Recorded(table.sampler)
    if table.critic is not None:
        table.critic._values = lambda said: [np.zeros(len(one.completion_ids)) for one in said]
        table.critic._learn = lambda *_: None
    batch, state, spent = [*table.rows][: table.config.batch_prompts], table.state_dict(), 0.0
    trained = len(table.play(batch).rollouts)
    for _ in range(REPEATS):
        table.load_state_dict(state)
        recorded.again()
        started = time.process_time()
        to_arrays(table.play(batch).rollouts, trained, pad=1)
        spent += time.process_time() - started
    roles = recorded.roles()
    return spent / REPEATS / roles.total() * 1000, roles, trained


def measured(game: str, steps: int) -> dict[str, Any]:
    """The line of a game."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = GAMES[game](Path(folder), steps)
        ends: list[float] = []
        on_step(trainer, lambda record, texts: ends.append(time.process_time()))
        train_from(trainer)
        spent, roles, trained = bookkeeping(trainer)
    return {
        "game": game,
        "seconds_of_a_step": round(float(np.median(np.diff(ends[SKIPPED - 1 :]))), 3),
        "completions": dict(roles),
        "trained": trained,
        "bookkeeping_ms_per_completion": round(spent, 3),
        "date": f"{datetime.date.today():%Y-%m-%d}",
    }


def main() -> None:
    """Measure each game, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=[*GAMES])
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    before = json.loads(options.output.read_text(encoding="utf-8"))["games"] if options.output.is_file() else []
    lines = {line["game"]: line for line in before}
    for game in options.games:
        lines[game] = measured(game, options.steps)
        sys.stderr.write(f"{lines[game]}\n")
        record = {
            "command": "python benchmarks/games.py",
            "torch": torch.__version__,
            "steps": options.steps,
            "games": [lines[name] for name in GAMES if name in lines],
        }
        options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
