# pyright: basic
"""Several adapters on one model: each is a policy of its own, one of them speaks and learns at a time.

Peft freezes an adapter that is added, and every other one when one is made active; what is frozen when the optimizer is
built, or when a process wraps the model, silently never learns. So all that are trained are released again after every
switch. The first is called "default", which TRL asks for. Left out: adapters of unlike shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vouching.errors import ConfigError
from vouching.train.policy import lora_of
from vouching.train.run_config import LoraSettings

MAIN = "default"
"""The first adapter."""
REFERENCE = "ref"
"""What TRL calls the copy of an adapter that was trained before; of another adapter it is ``ref_NAME``."""


def add_adapters(model: Any, policies: Sequence[str], lora: LoraSettings) -> None:
    """Give a model an adapter for each policy that has none yet, and a frozen copy of each that was trained before.

    Args:
        model: as TRL has made it.
        policies: names, the first "default".
        lora: settings of new adapters.

    Raises:
        ConfigError: several policies and no adapters, or some of those that were trained before are missing.
    """
    if policies[0] != MAIN:
        raise ConfigError(f"the first policy is {policies[0]!r}, wanted {MAIN!r}: it is the one that TRL asks for")
    if len(policies) == 1:
        return
    if not hasattr(model, "peft_config"):
        raise ConfigError(f"the game has {len(policies)} policies and there are no adapters: set lora.rank above 0")
    for name in policies[1:]:
        if name not in model.peft_config:
            if not lora.rank:
                raise ConfigError(f"the model has no adapter for the policy {name!r}: start from the model without any")
            model.add_adapter(name, lora_of(lora))
        elif REFERENCE in model.peft_config:
            model.add_adapter(f"{REFERENCE}_{name}", model.peft_config[name])
            for weight, value in [*model.named_parameters()]:
                if f".{name}." in weight:
                    copy = model.get_parameter(weight.replace(f".{name}.", f".{REFERENCE}_{name}."))
                    copy.data.copy_(value.data)
    activate(model, MAIN)


def activate(model: Any, policy: str) -> None:
    """Let one adapter speak and learn; the others keep the gradients that they have. A model without any is left alone.

    Args:
        model: with its adapters; not wrapped.
        policy: which.
    """
    if hasattr(model, "peft_config"):
        if [*model.active_adapters] != [policy]:
            model.set_adapter(policy)
        release(model)


def release(model: Any) -> None:
    """Let all adapters learn but the references."""
    trained = [name for name in model.peft_config if not name.startswith(REFERENCE)]
    model.base_model.set_requires_grad(trained, True)


def reference_of(model: Any, policy: str) -> str | None:
    """The adapter that holds what a policy was at first; None where that is the model without adapters."""
    name = REFERENCE if policy == MAIN else f"{REFERENCE}_{policy}"
    return name if name in model.peft_config else None


def gradient_norms(model: Any, policies: Sequence[str]) -> dict[str, float]:
    """How far each of several policies is pushed by a step, as the norm of its gradient; nothing for one alone."""
    if len(policies) == 1:
        return {}
    sums = dict.fromkeys(policies, 0.0)
    for weight, value in model.named_parameters():
        name = next((name for name in policies if f".{name}." in weight), None)
        if name is not None and value.grad is not None:
            sums[name] += float(value.grad.norm()) ** 2
    return {name: total**0.5 for name, total in sums.items()}
