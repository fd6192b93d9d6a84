"""Runs whose weights are divided among processes on a CPU, by FSDP2 or by DeepSpeed's ZeRO-3.

accelerate 1.15 shards only where it finds GPUs: ``AcceleratorState`` never turns ``MULTI_CPU`` into ``FSDP``, and
``PartialState`` starts DeepSpeed only if not told to use the CPU. So the children are told that gloo on the CPU is what
joins their GPUs; all else (accelerate, TRL, torch, DeepSpeed) is as on GPUs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from tests.train import blinded_runs
from tests.train.engine_runs import PLAIN, config, rows, scripted, tokenizer_of, vowel_game
from vouching.methods.training import CriticSettings, GrpoConfig, LoraSettings, WatchSettings
from vouching.train.checkpoint import train_from
from vouching.train.engine import end_training, make_trainer, on_step, training_arguments
from vouching.train.policy import load_policy

FSDP2 = {
    "ACCELERATE_USE_FSDP": "true",
    "FSDP_VERSION": "2",
    "FSDP_AUTO_WRAP_POLICY": "TRANSFORMER_BASED_WRAP",
    "FSDP_RESHARD_AFTER_FORWARD": "true",
    "FSDP_STATE_DICT_TYPE": "FULL_STATE_DICT",
    "FSDP_OFFLOAD_PARAMS": "false",
    "FSDP_CPU_RAM_EFFICIENT_LOADING": "true",
}
"""What ``accelerate launch`` makes of recipes/structured/fsdp2.yaml."""
ZERO3 = {
    "ACCELERATE_USE_DEEPSPEED": "true",
    "ACCELERATE_DEEPSPEED_ZERO_STAGE": "3",
    "DS_ACCELERATOR": "cpu",
    "ACCELERATE_DEEPSPEED_ZERO3_INIT": "true",
    "ACCELERATE_DEEPSPEED_ZERO3_SAVE_16BIT_MODEL": "true",
    "ACCELERATE_DEEPSPEED_OFFLOAD_OPTIMIZER_DEVICE": "none",
    "ACCELERATE_DEEPSPEED_OFFLOAD_PARAM_DEVICE": "none",
}
"""The same of zero3.yaml; the clipping is that of the trainer."""
CRITIC = CriticSettings(learning_rate=1e-3, warmup_steps=1)


def cases(policy: Path, solver: Path) -> dict[str, tuple[GrpoConfig, dict[str, Any]]]:
    """Settings of each run and changes to TRL's arguments; the adapters learn by AdamW, with clipping."""
    lora = LoraSettings(rank=4, dropout=0.0)
    return {
        "reference": (config(policy, batch_prompts=4, max_steps=2, kl=0.1), PLAIN),
        "adapters": (config(policy, batch_prompts=4, max_steps=2, kl=0.1, lora=lora), {}),
        "critic": (blinded_runs.ppo(solver, critic=CRITIC), PLAIN),
        "critic-adapters": (blinded_runs.ppo(solver, critic=replace(CRITIC, rank=4)), PLAIN),
    }


def run_cases(chosen: dict[str, tuple[GrpoConfig, dict[str, Any]]], out: Path, engine: dict[str, str]) -> None:
    """Train each case by a script; save its weights, those of its critic, its log, and the bytes a process holds."""
    out.mkdir(exist_ok=True)
    if engine:
        _stand_for_gpus()
    for name, (settings, changed) in chosen.items():
        trainer = trainer_for(settings, out / name, changed)
        records: list[dict[str, float]] = []
        on_step(trainer, lambda record, texts, records=records: records.append(record))
        train_from(trainer)
        weights, critic = whole_weights(trainer), trainer.table.critic and trainer.table.critic.state_dict()
        held = bytes_held(trainer)
        if trainer.accelerator.is_main_process:
            torch.save({"policy": weights, "critic": critic and critic["model"]}, out / f"{name}.pt")
            (out / f"{name}.json").write_text(json.dumps({"steps": records, "held": held}), encoding="utf-8")
    if engine:
        end_training(trainer)


def trainer_for(settings: GrpoConfig, out: Path, changed: dict[str, Any]) -> Any:
    """A trainer over a model that was loaded as ``vouch train`` loads it."""
    given = training_arguments(settings, out)
    for name, value in changed.items():
        setattr(given, name, value)
    folder = Path(settings.model)
    model, _ = load_policy(settings.model, settings.lora, reduced=False)
    if hasattr(settings, "critic"):
        game, data, sampler = blinded_runs.game(), blinded_runs.ROWS, blinded_runs.talk(folder)
    else:
        game, data, sampler = vowel_game(), rows(), scripted(folder)
    return make_trainer(settings, given, model, tokenizer_of(folder), game, data, sampler)


def resumed(settings: GrpoConfig, out: Path) -> None:
    """Train four steps, and again from the checkpoint of the second; save all weights at both ends."""
    _stand_for_gpus()
    settings = replace(settings, max_steps=4, watch=WatchSettings(checkpoint_every=2))
    ends: list[dict[str, Any]] = []
    for name, checkpoint in (("whole", None), ("again", out / "whole/checkpoint-2")):
        trainer = trainer_for(settings, out / name, {})
        train_from(trainer, checkpoint)
        ends.append(
            whole_weights(trainer)
            | {f"critic/{key}": value for key, value in trainer.table.critic.state_dict()["model"].items()}
        )
    if trainer.accelerator.is_main_process:
        torch.save(ends, out / "ends.pt")
    end_training(trainer)


def whole_weights(trainer: Any) -> dict[str, Any]:
    """Copies of all weights of the policy, gathered from the processes."""
    found: dict[str, Any] = {}
    for name, value in trainer.accelerator.unwrap_model(trainer.model).named_parameters():
        if hasattr(value, "ds_id"):
            from deepspeed import zero

            with zero.GatheredParameters([value]):
                found[name] = value.detach().clone()
        else:
            found[name] = (value.full_tensor() if hasattr(value, "full_tensor") else value).detach().clone()
    return found


def bytes_held(trainer: Any) -> dict[str, int]:
    """Bytes of weights, reference and moments in this process."""
    critic = trainer.table.critic
    states = [value for state in trainer.optimizer.state.values() for value in state.values()]
    learnt = [] if critic is None else [value for state in critic._optimizer.state.values() for value in state.values()]
    return {
        "weights": _bytes(trainer.model.parameters()),
        "optimizer": _bytes(states),
        "reference": 0 if trainer.ref_model is None else _bytes(trainer.ref_model.parameters()),
        "critic": 0 if critic is None else _bytes([*critic.model.parameters(), *learnt]),
    }


def _bytes(values: Any) -> int:
    kept = {id(one): one for one in values if torch.is_tensor(one) and one.dim()}
    return sum(getattr(one, "_local_tensor", one).nbytes for one in kept.values())


def _stand_for_gpus() -> None:
    """Let accelerate take gloo on the CPU for the link of its GPUs; for a child, as it stays so."""
    from accelerate.state import DistributedType, PartialState

    first: Callable[..., None] = PartialState.__init__
    os.environ["ACCELERATE_TORCH_DEVICE"] = "cpu"
    if not torch.distributed.is_initialized() and "ACCELERATE_USE_FSDP" in os.environ:
        torch.distributed.init_process_group("gloo")
    PartialState.__init__ = lambda self, cpu=False, **named: first(self, False, **named)
    PartialState._prepare_backend = lambda *_, **__: ("gloo", DistributedType.MULTI_GPU)
