"""Overhead of the training engine compared with TRL's trainer: CPU time per step at equal tokens, and bookkeeping.

    python benchmarks/engine.py [--rounds 5] [--steps 12] [--output benchmarks/results/engine.json]

Both train the same 107,000 weights on the same prompts with the same reward, 64 rollouts of at most 48 tokens per step,
and sample the same completions. Runs alternate, so that other load affects both; reported is the median over the rounds
of the ratio of CPU times, without the first two steps of a run. Bookkeeping is everything in a step but sampling and
TRL's update: scores, groups, advantages, figures, arrays. One thread. For GPUs see engine_gpu.py.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.train.engine_runs import config, rows, stop_often, texts, tokenizer_of, trainer_of  # noqa: E402
from tests.train.tiny_qwen import write_tiny_qwen  # noqa: E402
from vouching.methods.structured.game import StructuredGame, score_by  # noqa: E402
from vouching.methods.structured.reward import structured_reward  # noqa: E402
from vouching.methods.training import GrpoConfig  # noqa: E402
from vouching.train.engine import training_arguments  # noqa: E402
from vouching.train.engine_batch import to_arrays  # noqa: E402

OUTPUT = Path(__file__).parent / "results/engine.json"
SKIPPED = 2
"""Steps at the start of a run that do not count: what is loaded late is loaded then."""


def step_seconds(trainer: Any) -> float:
    """Mean CPU time of a step."""
    from transformers import TrainerCallback

    class Clock(TrainerCallback):
        def __init__(self) -> None:
            self.ends: list[float] = []

        def on_step_end(self, *_: Any, **__: Any) -> None:
            self.ends.append(time.process_time())

    clock = Clock()
    trainer.add_callback(clock)
    trainer.train()
    return (clock.ends[-1] - clock.ends[SKIPPED - 1]) / (len(clock.ends) - SKIPPED)


def stock(settings: GrpoConfig, out: Path, data: Sequence[dict[str, Any]]) -> Any:
    """TRL's own trainer."""
    import trl
    from datasets import Dataset

    def process_reward(completions: Sequence[Any], gold: Sequence[Any], **_: Any) -> list[float]:
        return [structured_reward(one[0]["content"], label).total for one, label in zip(completions, gold, strict=True)]

    return trl.GRPOTrainer(
        model=settings.model,
        args=training_arguments(settings, out),
        reward_funcs=[process_reward],
        processing_class=tokenizer_of(Path(settings.model)),
        train_dataset=Dataset.from_list([*data]),
    )


def bookkeeping(settings: GrpoConfig, out: Path, data: Sequence[dict[str, Any]], repeats: int = 20) -> float:
    """Milliseconds of CPU time per rollout, on replies that were sampled before."""
    trainer = trainer_of(settings, out, StructuredGame(8, score_by()), data)
    batch = [*data][: settings.batch_prompts]
    table, sampled = trainer.table, trainer.table.play(batch).rollouts

    class Again:
        async def sample(self, prompts: Sequence[Any], role: str, n: int, policy: str = "default") -> Any:
            bare = [replace(one, reward=None, group="", advantage=None) for one in sampled]
            return [bare[at : at + n] for at in range(0, len(bare), n)]

    table.sampler = Again()
    started = time.process_time()
    for _ in range(repeats):
        to_arrays(table.play(batch).rollouts, len(sampled), pad=1)
    return (time.process_time() - started) / repeats / len(sampled) * 1000


def main() -> None:
    """Alternate the runs, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder, data = Path(name), rows(64)
        model = stop_often(write_tiny_qwen(folder / "model", texts()))
        settings = config(
            model,
            batch_prompts=8,
            micro_batch=32,
            max_steps=options.steps,
            epochs=9.0,
            sampling={"group_size": 8, "completion_tokens": 48},
        )
        pairs: list[tuple[float, float]] = []
        for number in range(options.rounds):
            ours = step_seconds(trainer_of(settings, folder / "ours", StructuredGame(8, score_by()), data))
            theirs = step_seconds(stock(settings, folder / "stock", data))
            pairs.append((ours, theirs))
            sys.stderr.write(f"round {number + 1}: {ours:.3f} s and {theirs:.3f} s a step, {ours / theirs:.3f}\n")
        spent = bookkeeping(settings, folder / "bookkeeping", data)
    record = {
        "command": "python benchmarks/engine.py",
        "date": f"{datetime.date.today():%Y-%m-%d}",
        "torch": torch.__version__,
        "rollouts_of_a_step": 64,
        "steps": options.steps,
        "seconds_of_a_step": [[round(value, 4) for value in pair] for pair in pairs],
        "ratios": [round(ours / theirs, 3) for ours, theirs in pairs],
        "median_ratio": round(statistics.median(ours / theirs for ours, theirs in pairs), 3),
        "bookkeeping_ms_per_rollout": round(spent, 3),
    }
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps({key: record[key] for key in ("median_ratio", "bookkeeping_ms_per_rollout")}) + "\n")


if __name__ == "__main__":
    main()
