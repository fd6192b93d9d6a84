# pyright: basic
"""The weights of a critic: a language model with a value head, whole, with adapters, or divided among processes.

    rank 0         all weights are trained, in float32
    rank above 0   adapters and the head are trained; the layers below are frozen. If the policy has adapters over the
                   same model and is not sharded, both use the same frozen weights, and the critic holds none of its own
    sharded        each process holds a part (FSDP2), whichever way the policy is sharded

Every process first reads the whole critic into the memory of the host. Not supported: quantised weights.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError
from vouching.methods.training import CriticSettings, LoraSettings
from vouching.train.extra import base_of, imported
from vouching.train.policy import ADAPTER, adapter_base

_LAZY = "FSDP_CPU_RAM_EFFICIENT_LOADING"
"""accelerate's switch by which only the first process of a machine reads the weights; a new head then is nowhere."""


def load_critic(
    named: str,
    device: Any,
    settings: CriticSettings | None = None,
    reduced: bool = False,
    policy: Any = None,
    seed: int = 0,
) -> Any:
    """A value head that starts at 0 over the layers of a language model.

    Args:
        named: a folder (of adapters: their base is taken), or a name on the Hugging Face hub.
        device: where to put it; None leaves it on the host, to be sharded.
        settings: ``rank``; None to train all weights.
        reduced: whether to hold frozen weights in bfloat16.
        policy: a model with adapters whose frozen weights are to be used, or None.
        seed: of new adapters, which must be the same in all processes.

    Raises:
        ConfigError: it cannot be loaded.
    """
    torch, transformers = imported("torch"), imported("transformers")
    place, rank = Path(base_of(named)), settings.rank if settings else 0
    named = adapter_base(place) if (place / ADAPTER).is_file() else str(place)
    dtype = torch.bfloat16 if reduced and rank else torch.float32
    try:
        with _whole():
            model = transformers.AutoModelForTokenClassification.from_pretrained(named, num_labels=1, dtype=dtype)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ConfigError(f"cannot load a critic from {named} ({error}): set critic.model to another model") from error
    head = model.score if hasattr(model, "score") else model.classifier
    head.to(torch.float32)
    with torch.no_grad():
        for weight in head.parameters():
            weight.zero_()
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    if rank:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = _adapted(model, rank)
        if policy is not None:
            share_trunk(model, policy)
    return (model if device is None else model.to(device)).train()


def share_trunk(critic: Any, policy: Any) -> int:
    """Let a critic with adapters use a policy's frozen weights; returns how many weights it no longer holds itself.

    Args:
        critic: from :func:`load_critic` with a rank.
        policy: a peft model over the same language model; what it trains is left alone.
    """
    frozen = {_plain(name): weight for name, weight in policy.named_parameters() if not weight.requires_grad}
    shared = 0
    for name, weight in [*critic.named_parameters()]:
        other = frozen.get(_plain(name))
        if not weight.requires_grad and other is not None and other.shape == weight.shape:
            owner, _, last = name.rpartition(".")
            setattr(critic.get_submodule(owner), last, other)
            shared += weight.numel()
    return shared


def shard(model: Any, reduced: bool) -> Any:
    """Divide a critic among the processes, layer by layer; its parameters become DTensors.

    Args:
        model: from :func:`load_critic` on the host.
        reduced: whether to compute in bfloat16.
    """
    torch, fsdp = imported("torch"), imported("torch.distributed.fsdp")
    named = {*(getattr(model, "_no_split_modules", None) or ())}
    # Gradients are summed in float32; the weights of adapters and head stay in float32.
    exact = fsdp.MixedPrecisionPolicy(param_dtype=torch.bfloat16 if reduced else None, reduce_dtype=torch.float32)
    for part in [*model.modules()]:
        if type(part).__name__ in named:
            fsdp.fully_shard(part, mp_policy=exact)
    return fsdp.fully_shard(model, mp_policy=exact)


def critic_state(model: Any, optimizer: Any, sharded: bool) -> dict[str, Any]:
    """The trained weights and the optimizer, whole. If the critic is sharded, every process must call this."""
    if sharded:
        saved = imported("torch.distributed.checkpoint.state_dict")
        whole = saved.StateDictOptions(full_state_dict=True, cpu_offload=True, ignore_frozen_params=True)
        weights, moments = saved.get_state_dict(model, optimizer, options=whole)
        return {"model": weights, "optimizer": moments}
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    weights = {name: value for name, value in model.state_dict().items() if name in trained}
    return {"model": weights, "optimizer": optimizer.state_dict()}


def load_critic_state(model: Any, optimizer: Any, state: Any, sharded: bool) -> None:
    """Restore :func:`critic_state`, which every process has read."""
    if sharded:
        saved = imported("torch.distributed.checkpoint.state_dict")
        whole = saved.StateDictOptions(full_state_dict=True, strict=False)
        saved.set_state_dict(
            model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"], options=whole
        )
        return
    model.load_state_dict(state["model"], strict=False)
    optimizer.load_state_dict(state["optimizer"])


def _adapted(model: Any, rank: int) -> Any:
    """The model with adapters, scaled by 2, and its head trained."""
    peft = imported("peft")
    return peft.get_peft_model(
        model,
        peft.LoraConfig(
            task_type="TOKEN_CLS",
            r=rank,
            lora_alpha=2 * rank,
            lora_dropout=0.0,
            target_modules=[*LoraSettings().modules],
        ),
    )


def _plain(name: str) -> str:
    """A weight's name without what peft puts into it."""
    return name.removeprefix("base_model.model.").replace(".base_layer", "")


@contextmanager
def _whole() -> Generator[None]:
    """Load all weights in every process, also where the run has the policy's weights read or divided by its engine."""
    held = imported("transformers.integrations.deepspeed")
    config, usual = held._hf_deepspeed_config_weak_ref, os.environ.pop(_LAZY, None)
    held.unset_hf_deepspeed_config()
    try:
        yield
    finally:
        held._hf_deepspeed_config_weak_ref = config
        if usual is not None:
            os.environ[_LAZY] = usual
