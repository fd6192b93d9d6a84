"""Arms of SEVA's ablations in the world of facts: small policies from random weights, judged by an oracle.

    python benchmarks/worlds.py start   --out runs/worlds               # rows, a random model, its imperfect level
    python benchmarks/worlds.py arms    --out runs/worlds --seeds 0 1 2 [--arms binary process] [--steps N]
    python benchmarks/worlds.py analyse --results docs/results/reproductions/facts

Each arm is ``vouch train structured recipes/worlds/facts.toml`` with the settings in ``ARMS``, from one initial model
and with equal rollouts. What a run ends with is judged on held-out places, and kept in the results: ``ARM-SEED.json``
with outcomes by prompt, and ``ARM-SEED.metrics.jsonl``. Runs resume, and finished ones are skipped. The claims and
their decision rule are those of ``design/0011-small-worlds.md``. One thread.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import platform
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.train.tiny_qwen import write_tiny_qwen  # noqa: E402  (beside the tests)
from vouching.models.base import Message, Sampling  # noqa: E402
from vouching.worlds.facts import PIECES, FactsWorld, chats, oracle  # noqa: E402
from vouching.worlds.report import CLAIMS, read_outcomes, table_of  # noqa: E402

RESULTS = ROOT / "docs/results/reproductions/facts"
RECIPES = ROOT / "recipes/worlds"
WORLD = FactsWorld(facts=2)
WRONG, BROKEN = 0.25, 0.3
"""What the initial level is taught: shares of wrong labels and of broken records."""
ARMS: Mapping[str, tuple[str, ...]] = {
    "process": (),
    "binary": ("reward.variant=binary",),
    "binary-format": ("reward.variant=binary-format",),
    "grounded": ("reward.variant=grounded",),
    "normalised": ("reward.normalise=range",),
    "no-calibration": ("reward.calibration=off",),
    "symmetric": ("reward.calibration=symmetric",),
    "brier": ("reward.calibration=brier",),
    **{f"split-{one.replace('/', '-')}": (f"reward.split={one}",) for one in ("90/10", "50/50", "30/70", "0/100")},
    "g4": ("sampling.group_size=4", "batch_prompts=16"),
    "g16": ("sampling.group_size=16", "batch_prompts=4"),
    "kl-0": ("kl=0",),
    "kl-0.01": ("kl=0.01",),
}
"""Settings of each arm over recipes/worlds/facts.toml; all have 64 rollouts per step."""
TOKENS = 80
"""Of a record, at most, as in training; the longest right one has 68."""
INITIAL = "initial"
"""The model that every arm starts from, judged like an arm."""


def main() -> None:
    """Run one of the steps above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("start", "arms", "analyse"))
    parser.add_argument("--out", type=Path, default=Path("runs/worlds"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=[*ARMS])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=150, help="steps of each arm")
    parser.add_argument("--rows", type=int, default=3000, help="chats of the initial level")
    parser.add_argument("--held-out", type=int, default=300, help="prompts that the oracle judges")
    options = parser.parse_args()
    if options.step == "analyse":
        print(analyse(options.results))
        return
    folder = options.out / "facts"
    if options.step == "start":
        start(folder, options.rows)
        return
    for seed in options.seeds:
        for arm in (INITIAL, *options.arms):
            run_arm(arm, seed, folder, options.results, options.steps, options.held_out)


def start(folder: Path, count: int, epochs: float = 4.0) -> None:
    """Rows, random weights, and the imperfect level: right records first, then one epoch of imperfect ones."""
    from vouching.train.trainers import train

    rows, others = WORLD.rows(count, seed=0), WORLD.rows(count // 2, seed=3)
    _write(folder / "right.jsonl", chats(rows, 0, wrong=0.0, broken=0.0))
    _write(folder / "imperfect.jsonl", chats(others, 0, WRONG, BROKEN))
    _write(folder / "train.jsonl", WORLD.rows(count, seed=1))
    said = [line["messages"][0]["content"] + line["messages"][1]["content"] for line in chats(rows, 0, 0.5, 0.0)]
    if not (folder / "random").is_dir():
        write_tiny_qwen(folder / "random", said, context=256, vocabulary=640, width=128, layers=3, pieces=PIECES)
    stages = (("right", "random", f"epochs={epochs}"), ("imperfect", "right/model", "epochs=1"))
    for name, model, length in stages:
        settings = [f'rows=["{folder}/{name}.jsonl"]', f"model={folder / model}", length]
        train("sft", RECIPES / "facts-sft.toml", settings, folder / name, resume=(folder / name).is_dir())


def run_arm(arm: str, seed: int, folder: Path, results: Path, steps: int, held_out: int) -> None:
    """Train one arm, or resume it, and write what the oracle says of it. Does nothing if the result is there."""
    from vouching.train.trainers import train

    result, out = results / f"{arm}-{seed}.json", folder / f"{arm}-{seed}"
    if result.is_file():
        return
    started, model = time.process_time(), folder / "imperfect/model"
    settings = [f'rows=["{folder}/train.jsonl"]', f"model={model}", f"max_steps={steps}", f"seed={seed}"]
    if arm != INITIAL:
        train("structured", RECIPES / "facts.toml", [*settings, *ARMS[arm]], out, resume=out.is_dir())
        model = out / "model"
    rows = WORLD.rows(held_out, seed=2, part="held-out")
    outcomes = asyncio.run(judge(model, rows, seed))
    results.mkdir(parents=True, exist_ok=True)
    if arm != INITIAL:
        shutil.copy(out / "metrics.jsonl", results / f"{arm}-{seed}.metrics.jsonl")
    record = {
        "arm": arm, "seed": seed, "settings": [*ARMS.get(arm, ())], "steps": 0 if arm == INITIAL else steps,
        "command": "python benchmarks/worlds.py arms", "machine": f"{platform.machine()}, one thread",
        "date": f"{datetime.date.today():%Y-%m-%d}", "cpu_seconds": round(time.process_time() - started, 1),
        "outcomes": outcomes,
    }  # fmt: skip
    result.write_text(json.dumps(record) + "\n", encoding="utf-8")
    sys.stderr.write(f"{result} written\n")


async def judge(model: Path, rows: Sequence[Mapping[str, Any]], seed: int) -> dict[str, dict[str, float]]:
    """What the oracle says of one reply to each row, sampled at temperature 1 as in training."""
    from vouching.models.local import LocalModel

    player = LocalModel(model, device="cpu")
    try:
        found: dict[str, dict[str, float]] = {}
        for at in range(0, len(rows), 64):
            batch = rows[at : at + 64]
            asked = [
                player.generate(
                    [Message(one["role"], one["content"]) for one in row["prompt"]],
                    Sampling(max_tokens=TOKENS, temperature=1.0, seed=1000 * seed + at + number),
                )
                for number, row in enumerate(batch)
            ]
            replies = await asyncio.gather(*asked)
            found |= {
                row["id"]: {name: round(value, 4) for name, value in oracle(said[0].text, row).items()}
                for row, said in zip(batch, replies, strict=True)
            }
        return found
    finally:
        await player.aclose()


def analyse(results: Path) -> str:
    """The table of claims, from the files of results alone."""
    return table_of(CLAIMS, read_outcomes(results))


def _write(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
