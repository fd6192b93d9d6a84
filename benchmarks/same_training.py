"""The part "training" of benchmarks/same_behaviour.py: tiny runs of every game and trainer, seconds each on a CPU.

Of each run are kept: its final weights by a digest of every tensor, and its log without times and energy. Models and
rows are those of the tests. Not supported: GPUs, several processes, vLLM.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args
from zlib import crc32

import onnx
import torch
from safetensors.torch import load_file
from same_items import ROOT, Item

from recipes.encoder.settings import EncoderConfig
from recipes.encoder.train import train_encoder
from recipes.rank.settings import RankConfig
from recipes.rank.train import train_rank
from tests.recipes.test_encoder_train import rows as encoder_rows
from tests.train import assurance_runs, blinded_runs, checklist_runs, engine_runs, learning, trial
from tests.train.pair_rows import rows as rank_rows
from tests.train.tiny_bert import write_tiny_bert
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.methods.checklist.config import read_tasks
from vouching.methods.checklist.game import ChecklistGame
from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier
from vouching.methods.structured.game import StructuredGame
from vouching.methods.training import LoraSettings, Loss, Plan
from vouching.models import ScriptedModel
from vouching.models.base import Message
from vouching.settings import read_settings
from vouching.train.checkpoint import train_from
from vouching.train.engine import on_step
from vouching.train.fit import train_game
from vouching.train.run_folder import read_records
from vouching.train.sft import train_sft
from vouching.train.trainers import run_settings
from vouching.types import Reward

WARMED = 120
"""Steps of imitation before the games are played: enough to say what can be read."""
_CLOCK = ("time/", "energy/")
_HELD: list[Any] = []
"""What must live as long as the process: the temporary folder."""


def training() -> Iterator[Item]:
    """All runs."""
    torch.set_num_threads(1)
    runs: dict[str, Callable[[], Any]] = {
        "sft": lambda: finished(sft()),
        "sft/adapters": lambda: finished(sft(4)),
        "structured/process": structured,
        "structured/vowels": vowels,
        "checklist/self": checklist_self,
        "checklist/judge": checklist_judge,
        "blinded": blinded,
        "assurance": assurance,
        "rank": lambda: rank("compressed", 0),
        "rank/adapters": lambda: rank("full", 4),
        "encoder": encoder,
        "trial/player": lambda: tensors(warm() / "player"),
    }
    for name, run in runs.items():
        yield Item(name, run, brief)
    for name, changed in engine_settings().items():
        yield Item(f"engine/{name}", lambda c=changed: engine(**dict(c)), brief)
    for name, play in (("self", checklist_script), ("blinded", blinded_script), ("assurance", assurance_script)):
        yield Item(f"engine/by a script/{name}", play, brief)


@cache
def folder() -> Path:
    """A temporary folder that all runs share."""
    _HELD.append(tempfile.TemporaryDirectory())
    return Path(_HELD[0].name)


@cache
def warm() -> Path:
    """The player of the three games, and their rows."""
    (folder() / "trial").mkdir()
    trial.write_trial(folder() / "trial", WARMED)
    return folder() / "trial"


@cache
def plain() -> Path:
    """Rows and model of the structured game."""
    (folder() / "structured").mkdir()
    learning.write_trial(folder() / "structured")
    return folder() / "structured"


@cache
def often() -> Path:
    """A model with random weights that ends its completions at unequal lengths."""
    return engine_runs.stop_often(write_tiny_qwen(folder() / "often", engine_runs.texts()))


def quiet(line: str) -> None:
    """Ignores progress."""


def recipe(name: str) -> Path:
    """A trial's settings."""
    return ROOT / f"recipes/{name}.toml"


def out(name: str) -> Path:
    """The folder of a run."""
    return folder() / "runs" / name


@cache
def sft(rank: int = 0) -> Path:
    """Imitation of records of which a third are wrong."""
    files = [f'model="{plain()}/qwen"', f'rows=["{plain()}/sft.jsonl"]', "device=cpu"]
    adapters = LoraSettings(rank=rank, dropout=0.2 * bool(rank))
    config = replace(run_settings("sft", recipe("structured/tiny-sft"), files), lora=adapters)
    train_sft(config, out(f"sft-{rank}"), report=quiet)
    return out(f"sft-{rank}")


def structured() -> Any:
    """SEVA's game from there on, with its process reward and rows that are only scored."""
    files = [f'model="{sft()}/model"', f'rows=["{plain()}/prompts.jsonl"]', f'dev=["{plain()}/dev.jsonl"]']
    config = run_settings("structured", recipe("structured/tiny"), [*files, "device=cpu", "max_steps=4"])
    train_game(config, out("structured"), report=quiet)
    return finished(out("structured"))


def vowels() -> Any:
    """The same game with a reward that random weights can learn, and adapters."""
    files = [f'model="{plain()}/qwen"', f'rows=["{plain()}/prompts.jsonl"]', "device=cpu"]
    plan = Plan(StructuredGame(4, engine_runs.vowels), learning.claims(32, 1), [], "reward/verifier/total")
    config = run_settings("structured", recipe("structured/tiny"), [*files, "max_steps=4", "lora.rank=4"])
    train_game(config, out("vowels"), report=quiet, plan=plan)
    return finished(out("vowels"))


def checklist_config() -> Any:
    """Settings of the checklist game."""
    files = [f'model="{warm()}/player"', f'rows=["{warm()}/checklists.jsonl"]']
    more = [f'checklist.gold=["{warm()}/gold.jsonl"]', "device=cpu", "learning_rate=5e-4"]
    return run_settings("checklist", recipe("checklist/tiny"), [*files, *more])


def checklist_self() -> Any:
    """Soft-SVeRL."""
    train_game(checklist_config(), out("self"), report=quiet)
    return finished(out("self"))


def checklist_judge() -> Any:
    """Soft-RLVR with a judge whose answers depend on what it is asked alone."""

    def answer(messages: Sequence[Message], _: Any) -> str:
        return ("yes", "no")[crc32(messages[-1].content.encode()) % 2]

    judge = ChecklistVerifier(ScriptedModel(answer), ChecklistConfig(votes=1))
    items = ["Is it old?", "Is it a place?", "Is it short?"]
    rows = [{**row, "checklist": items} for row in read_tasks((f"{warm()}/checklists.jsonl",))]
    plan = Plan(ChecklistGame(judge, 2), rows, rows[:2], "oracle/rules")
    train_game(checklist_config(), out("judge"), report=quiet, plan=plan)
    return finished(out("judge"))


def blinded() -> Any:
    """MARCH's game: PPO with a critic."""
    files = [f'model="{warm()}/player"', f'rows=["{warm()}/questions.jsonl"]', f'dev=["{dev("questions", 2)}"]']
    train_game(run_settings("blinded", recipe("blinded/tiny"), [*files, "device=cpu"]), out("blinded"), report=quiet)
    critic = torch.load(max(out("blinded").glob("checkpoints/*/critic.pt")), weights_only=False)["model"]
    return {**finished(out("blinded")), "critic": digested(critic)}


def assurance() -> Any:
    """DPA-GRPO with two adapters."""
    files = [f'model="{warm()}/player"', f'rows=["{warm()}/tasks.jsonl"]', f'dev=["{dev("tasks", 2)}"]']
    train_game(run_settings("assurance", recipe("assurance/tiny"), files), out("assurance"), report=quiet)
    return finished(out("assurance"))


def dev(name: str, count: int) -> Path:
    """The first rows of a file under other names, to be scored only."""
    path = folder() / f"{name}-dev.jsonl"
    rows = [json.loads(line) for line in (warm() / f"{name}.jsonl").read_text("utf-8").splitlines()[:count]]
    path.write_text("".join(json.dumps({**row, "id": f"dev-{row['id']}"}) + "\n" for row in rows), encoding="utf-8")
    return path


def rank(shown: str, adapters: int) -> Any:
    """A scorer of answers."""
    rows = rank_rows(40, 1)
    path = folder() / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    model = write_tiny_qwen(folder() / f"rank-{shown}", map(json.dumps, rows))
    settings = [f'model="{model}"', f'pairs=["{path}"]', "device=cpu", f"shown={shown}", f"lora_rank={adapters}"]
    place = out(f"rank-{shown}")
    scores = train_rank(read_settings(RankConfig, recipe("rank/tiny"), [*settings, "max_steps=8"]), place, report=quiet)
    held = [json.loads(line) for line in (place / "held.jsonl").read_text("utf-8").splitlines()]
    return {**finished(place), "scores": scores, "held": held}


def encoder() -> Any:
    """The encoder, and the files of its export."""
    data = folder() / "data"
    for part, name, seed in (("train", "one", 1), ("train", "two", 2), ("dev", "three", 3)):
        (place := data / "attribution" / part).mkdir(parents=True, exist_ok=True)
        with gzip.open(place / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": str(i), **row}) + "\n" for i, row in enumerate(encoder_rows(80, seed)))
    before, bert = os.environ.get("VOUCH_DATA"), write_tiny_bert(folder() / "bert")
    os.environ["VOUCH_DATA"] = str(data)
    try:
        config = read_settings(EncoderConfig, recipe("encoder/tiny"), [f'encoder="{bert}"', "device=cpu"])
        scores = train_encoder(config, out("encoder"), report=quiet)
    finally:
        os.environ.pop("VOUCH_DATA") if before is None else os.environ.update(VOUCH_DATA=before)
    # The file itself names the code that wrote it; what it computes is its operations and their weights.
    graph = onnx.load(str(out("encoder") / "export/model.onnx")).graph
    exported = [hashlib.sha256(onnx.numpy_helper.to_array(one).tobytes()).hexdigest()[:12] for one in graph.initializer]
    operations = Counter(node.op_type for node in graph.node)
    return {**finished(out("encoder")), "scores": scores, "exported": sorted(exported), "operations": operations}


def engine_settings() -> dict[str, dict[str, Any]]:
    """Settings of the engine that runs by a script try out."""
    return {
        **{f"loss/{loss}": {"loss": loss} for loss in get_args(Loss)},
        **{f"divergence/{name}": {"kl": 0.1, "kl_estimator": name} for name in ("k1", "k1-loss", "k3")},
        **{f"spread/{name}": {"spread": name} for name in ("population", "none")},
        "updates": {"updates": 2, "kl": 0.1},
        "adapters": {"lora": LoraSettings(rank=4, alpha=8.0, dropout=0.1)},
        "schedule": {"schedule": "cosine", "warmup": 0.4, "weight_decay": 0.1, "clip": (0.2, 0.28)},
        "resampled": {"sampling": {"resample": 2}, "game": StructuredGame(4, seldom)},
    }


def engine(**changed: Any) -> Any:
    """A run of the engine on its own, which samples by the model."""
    game = changed.pop("game", None)
    settings = engine_runs.config(often(), learning_rate=1e-3, **changed)
    return stepped(engine_runs.trainer_of(settings, Path(tempfile.mkdtemp(dir=folder())), game))


async def seldom(reply: str, row: Mapping[str, Any]) -> Reward:
    """A reward that is equal in many groups, so that some are drawn again."""
    return Reward(float(crc32(reply.encode()) % 6 == 0))


def checklist_script() -> Any:
    """The update of Soft-SVeRL, by a script and plain gradient descent."""
    model = write_tiny_qwen(folder() / "checklist", checklist_runs.texts())
    settings = checklist_runs.settings(model, loss="dapo", max_steps=2)
    said = checklist_runs.scripted(model)
    return stepped(
        engine_runs.trainer_of(
            settings, out("checklist-script"), checklist_runs.game(), checklist_runs.rows(), said, **engine_runs.PLAIN
        )
    )


def blinded_script() -> Any:
    """The update of MARCH, by a script and plain gradient descent."""
    model = blinded_runs.write_model(folder() / "march")
    return stepped(
        engine_runs.trainer_of(
            blinded_runs.ppo(model, kl=0.1),
            out("blinded-script"),
            blinded_runs.game(),
            blinded_runs.ROWS,
            blinded_runs.talk(model),
            **engine_runs.PLAIN,
        )
    )


def assurance_script() -> Any:
    """The update of DPA-GRPO, by a script and plain gradient descent."""
    rows = [assurance_runs.task_row(number) for number in range(8)]
    model = assurance_runs.write_model(folder() / "pairs", rows)
    return stepped(
        engine_runs.trainer_of(
            assurance_runs.two_policies(model),
            out("assurance-script"),
            assurance_runs.game(),
            rows,
            assurance_runs.talk(model),
            **engine_runs.PLAIN,
        )
    )


def stepped(trainer: Any) -> Any:
    """Train by the engine; weights and log."""
    told: list[Mapping[str, Any]] = []
    on_step(trainer, lambda record, texts: told.append({**record, "texts": [one["text"] for one in texts]}))
    train_from(trainer)
    return {"weights": digested(engine_runs.weights_of(trainer)), "log": untimed(told)}


def finished(run: Path) -> Any:
    """Weights and log of a run that has ended."""
    return {"weights": tensors(run / "model")["weights"], "log": untimed(read_records(run))}


def tensors(place: Path) -> Any:
    """Every tensor in a folder, by a digest."""
    found = {
        f"{path.relative_to(place)}:{name}": tensor
        for path in sorted(place.rglob("*.safetensors"))
        for name, tensor in load_file(path).items()
    }
    return {"weights": digested(found)}


def digested(weights: Mapping[str, Any]) -> dict[str, str]:
    """Tensors by the first digits of the SHA-256 of their bytes."""
    if not weights:
        raise ValueError("there are no weights")
    return {
        name: hashlib.sha256(tensor.detach().cpu().contiguous().float().numpy().tobytes()).hexdigest()[:12]
        for name, tensor in sorted(weights.items())
    }


def untimed(log: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A log without what a clock says."""
    return [{name: value for name, value in one.items() if not name.startswith(_CLOCK)} for one in log]


def brief(found: Any) -> str:
    """The weights by themselves, and the loss of the last step."""
    alone = hashlib.sha256(json.dumps(found["weights"]).encode()).hexdigest()[:12]
    losses = [one["loss"] for one in found.get("log", []) if "loss" in one]
    return f"weights {alone}" + (f" steps {len(found['log'])} loss {losses[-1]:.5g}" if losses else "")
