"""How arms of a small world are started, trained, resumed and judged."""

from __future__ import annotations

import asyncio
import datetime
import json
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.mimetic_weights import write_mimetic_weights
from recipes.worlds.documents import as_read
from tests.train.tiny_qwen import write_tiny_qwen  # beside the tests
from vouching.encoder.weights import sha256_of
from vouching.errors import ConfigError
from vouching.models.base import Message, Sampling

ROOT = Path(__file__).parents[1]
RECIPES = ROOT / "recipes/worlds"
INITIAL = "initial"
"""The model that every arm starts from, judged like an arm."""
Outcomes: TypeAlias = Mapping[str, Mapping[str, float]]
"""Numbers of the oracle by prompt and name."""


@dataclass(frozen=True, slots=True)
class World:
    """A world's experiment: arms over the recipe of its name, its start, and its oracle."""

    name: str
    method: str
    """Of ``vouch train``."""
    arms: Mapping[str, tuple[str, ...]]
    write_rows: Callable[[Path, int], list[str]]
    """Writes right.jsonl, imperfect.jsonl and train.jsonl of about so many rows; returns texts for a tokenizer."""
    judge: Callable[[Path, int, int], Outcomes]
    """The oracle on a model: folder, number of held-out prompts, seed."""
    policy: Mapping[str, Any]
    """Size of the random model, as write_tiny_qwen takes it."""
    mimetic: bool = False
    """Whether its attention leans to copying, see write_mimetic_weights."""
    template: str | None = None
    """Chat template of a small policy that does not read constant parts of prompts; None for the plain one."""
    as_read: Callable[[str], str] = as_read
    """What a policy with that template reads of a text."""
    during: Callable[[], AbstractContextManager[object]] = nullcontext
    """What has to run while an arm is trained, such as a judge."""
    rows: int = 3000
    """Of the start, about."""
    epochs: Mapping[str, float] = field(default_factory=lambda: {"right": 4.0})
    """Of the files of chats that the start is taught in turn, before one epoch of imperfect ones."""
    run: Callable[[str, Path, Sequence[str], Path], Path] | None = None
    """Trains an arm in a way of its own: arm, folder of the world, settings, folder of the run; returns the model. None
    for ``method`` on train.jsonl."""


def start(world: World, folder: Path, count: int, epochs: float | None = None) -> None:
    """Rows, random weights, and the imperfect level: the chats of each stage, then one epoch of imperfect ones.

    Raises ConfigError if the folder has a start with another number of rows.
    """
    from vouching.train.trainers import train

    size = folder / "rows.txt"
    known = int(size.read_text(encoding="utf-8")) if size.is_file() else count
    if known != count:
        raise ConfigError(f"{folder} has a start of {known} rows, not {count}: pass another --out, or delete it")
    folder.mkdir(parents=True, exist_ok=True)
    size.write_text(f"{count}\n", encoding="utf-8")
    said = world.write_rows(folder, count)
    if not (folder / "random").is_dir():
        written = said if world.template is None else map(world.as_read, said)
        write_tiny_qwen(folder / "random", written, **world.policy)
        if world.mimetic:
            write_mimetic_weights(folder / "random")
        if world.template is not None:
            (folder / "random/chat_template.jinja").write_text(world.template, encoding="utf-8")
    model = "random"
    for name, length in {**world.epochs, "imperfect": 1.0}.items():
        settings = [f'rows=["{folder}/{name}.jsonl"]', f"model={folder / model}", f"epochs={epochs or length}"]
        train("sft", RECIPES / f"{world.name}-sft.toml", settings, folder / name, resume=(folder / name).is_dir())
        model = f"{name}/model"


def run_arm(world: World, arm: str, seed: int, folder: Path, results: Path, steps: int, held_out: int) -> None:
    """Train one arm, or resume it, and write what the oracle says of it. Leaves a result as it is.

    Raises ConfigError without a start, and for a result of other steps or prompts.
    """
    from vouching.train.trainers import train

    result, out = results / f"{arm}-{seed}.json", folder / f"{arm}-{seed}"
    steps = 0 if arm == INITIAL else steps
    if result.is_file():
        record = json.loads(result.read_text(encoding="utf-8"))
        known = record["steps"], len(record["outcomes"])
        if known != (steps, held_out):
            raise ConfigError(
                f"{result} has {known[0]} steps and {known[1]} prompts, not {steps} and {held_out}: "
                "pass another --results"
            )
        sys.stderr.write(f"{result} is there\n")
        return
    started, resumed, model = time.process_time(), out.is_dir(), folder / "imperfect/model"
    if not (model / "model.safetensors").is_file():
        command = f"python benchmarks/worlds.py start --world {world.name} --out {folder.parent}"
        raise ConfigError(f"{folder} has no start: first run {command}")
    sys.stderr.write(f"{world.name}: {'judging' if arm == INITIAL else 'training'} {arm}, seed {seed}\n")
    digest = sha256_of(model / "model.safetensors")[:12]
    if arm != INITIAL:
        own = [setting.replace("{folder}", str(folder)) for setting in world.arms[arm]]
        settings = [f"model={model}", f"max_steps={steps}", f"seed={seed}", *own]
        with world.during():
            if world.run is not None:
                model = world.run(arm, folder, settings, out)
            else:
                rows = f'rows=["{folder}/train.jsonl"]'
                train(world.method, RECIPES / f"{world.name}.toml", [rows, *settings], out, resume=out.is_dir())
                model = out / "model"
    outcomes = world.judge(model, held_out, seed)
    results.mkdir(parents=True, exist_ok=True)
    for log in (out / "metrics.jsonl", out / "log.jsonl"):
        if log.is_file():
            shutil.copy(log, results / f"{arm}-{seed}.metrics.jsonl")
    record = {
        "world": world.name,
        "arm": arm,
        "seed": seed,
        "settings": [*world.arms.get(arm, ())],
        "steps": steps,
        "start": digest,
        "revision": revision(),
        "command": f"python benchmarks/worlds.py arms --world {world.name} --arms {arm} --seeds {seed}"
        + (f" --steps {steps}" if steps else ""),
        "machine": f"{platform.machine()}, one thread",
        "date": f"{datetime.date.today():%Y-%m-%d}",
        "cpu_seconds": round(time.process_time() - started, 1),
        "resumed": resumed,
        "outcomes": {
            prompt: {name: round(value, 4) for name, value in found.items()} for prompt, found in outcomes.items()
        },
    }
    result.write_text(json.dumps(record) + "\n", encoding="utf-8")
    sys.stderr.write(f"{result} written\n")


def revision() -> str:
    """The commit of the working tree, with "-dirty" if files that are tracked differ from it."""
    named = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    return subprocess.run(named, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def sampled(model: Path, prompts: Sequence[Sequence[Mapping[str, Any]]], tokens: int, seed: int) -> list[str]:
    """One reply of a model to each prompt, sampled at temperature 1 as in training."""
    return asyncio.run(_sampled(model, prompts, tokens, seed))


async def _sampled(model: Path, prompts: Sequence[Sequence[Mapping[str, Any]]], tokens: int, seed: int) -> list[str]:
    from vouching.models.local import LocalModel

    player, found = LocalModel(model, device="cpu"), list[str]()
    try:
        for at in range(0, len(prompts), 64):
            asked = [
                player.generate(
                    [Message(one["role"], one["content"]) for one in prompt],
                    Sampling(max_tokens=tokens, temperature=1.0, seed=1000 * seed + at + number),
                )
                for number, prompt in enumerate(prompts[at : at + 64])
            ]
            found += [said[0].text for said in await asyncio.gather(*asked)]
        return found
    finally:
        await player.aclose()


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write objects as a JSONL file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
