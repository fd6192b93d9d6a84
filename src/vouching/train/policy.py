# pyright: basic
"""The language model that is trained: a whole model, new adapters, or adapters trained before.

Several adapters on one model are one policy each; one of them is active at a time. Peft freezes an adapter that is
added, and every other one when one is activated; what is frozen when the optimizer is built, or when a process wraps
the model, silently never learns. So all trained adapters are unfrozen again after every switch. The first is called
"default", as TRL expects. Not supported: quantised weights, adapters of different shapes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError
from vouching.methods.training import LoraSettings
from vouching.text.json_values import parse_json
from vouching.train.extra import base_of, imported

ADAPTER = "adapter_config.json"
"""The file that marks a folder of adapters."""


def load_policy(named: str, lora: LoraSettings, reduced: bool) -> tuple[Any, Any]:
    """A causal language model and its tokenizer; adapters of an earlier run stay adapters and are trained further.

    Args:
        named: a folder, also of adapters, or a name on the Hugging Face hub.
        lora: settings of new adapters.
        reduced: whether to hold frozen weights, those below adapters, in bfloat16.

    Raises:
        ConfigError: it cannot be loaded, has no chat template or padding token, or already has adapters and the run is
            to add some.
        MissingExtraError: torch, transformers or peft is not installed.
    """
    torch, transformers = imported("torch"), imported("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")  # from TRL's calls
    try:
        place = base_of(named)
    except ConfigError:
        raise ConfigError(
            f"there is no model {named}: pass a folder, or the name of a model on the Hugging Face hub, such as "
            "Qwen/Qwen2.5-3B-Instruct"
        ) from None
    adapted = (Path(place) / ADAPTER).is_file()
    if adapted and lora.rank:
        raise ConfigError(
            f"{named} has adapters, but lora.rank is {lora.rank}: set lora.rank=0 to continue training them"
        )
    dtype = torch.bfloat16 if reduced and (adapted or lora.rank) else torch.float32
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place)
        base = adapter_base(Path(place)) if adapted else place
        model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=dtype)
        if adapted:
            model = imported("peft").PeftModel.from_pretrained(model, place, is_trainable=True)
            for other in sorted(Path(place).glob(f"*/{ADAPTER}")):  # those of the other policies of a game
                model.load_adapter(str(other.parent), other.parent.name, is_trainable=True)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        absent = "" if Path(place).is_dir() else ", which is not a local folder, from the Hugging Face hub"
        raise ConfigError(f"cannot load the model {named}{absent} ({error}): use another model") from error
    if tokenizer.chat_template is None:
        raise ConfigError(f"the tokenizer of {named} has no chat template: use an instruction-tuned model")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.pad_token is None:
        raise ConfigError(f"the tokenizer of {named} has neither a padding token nor an end token: use another model")
    return model, tokenizer


def adapter_base(folder: Path) -> str:
    """The base model of a folder of adapters. Raises ConfigError if the folder does not name it."""
    try:
        found = parse_json((folder / ADAPTER).read_text(encoding="utf-8")).get("base_model_name_or_path")
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {folder / ADAPTER} ({error})") from None
    if not isinstance(found, str) or not found:
        raise ConfigError(f"{folder / ADAPTER} does not name the base model of the adapters")
    return found


def lora_of(lora: LoraSettings) -> Any:
    """The settings of new adapters for peft; None to train all weights."""
    if not lora.rank:
        return None
    return imported("peft").LoraConfig(
        task_type="CAUSAL_LM",
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=[*lora.modules],
    )


MAIN = "default"
"""The first adapter."""
REFERENCE = "ref"
"""TRL's name for the copy of an adapter that was trained before; for other adapters it is ``ref_NAME``."""


def add_adapters(model: Any, policies: Sequence[str], lora: LoraSettings) -> None:
    """Add an adapter for each policy that has none, and a frozen copy of each that was trained before.

    Args:
        model: as made by TRL.
        policies: names, the first "default".
        lora: settings of new adapters.

    Raises:
        ConfigError: several policies and no adapters, or some adapters of an earlier run are missing.
    """
    if policies[0] != MAIN:
        raise ConfigError(f"the first policy must be {MAIN!r}, the name that TRL uses, got {policies[0]!r}")
    if len(policies) == 1:
        return
    if not hasattr(model, "peft_config"):
        raise ConfigError(f"a game with {len(policies)} policies requires adapters: set lora.rank above 0")
    for name in policies[1:]:
        if name not in model.peft_config:
            if not lora.rank:
                raise ConfigError(
                    f"the model has no adapter for the policy {name!r}: start from a model without adapters"
                )
            model.add_adapter(name, lora_of(lora))
        elif REFERENCE in model.peft_config:
            model.add_adapter(f"{REFERENCE}_{name}", model.peft_config[name])
            for weight, value in [*model.named_parameters()]:
                if f".{name}." in weight:
                    copy = model.get_parameter(weight.replace(f".{name}.", f".{REFERENCE}_{name}."))
                    copy.data.copy_(value.data)
    activate(model, MAIN)


def activate(model: Any, policy: str) -> None:
    """Make one adapter active; the others keep their gradients. No effect on a model without adapters."""
    if hasattr(model, "peft_config"):
        if [*model.active_adapters] != [policy]:
            model.set_adapter(policy)
        release(model)


def release(model: Any) -> None:
    """Unfreeze all adapters except the references."""
    trained = [name for name in model.peft_config if not name.startswith(REFERENCE)]
    model.base_model.set_requires_grad(trained, True)


def reference_of(model: Any, policy: str) -> str | None:
    """The adapter that holds a policy's initial weights; None if that is the model without adapters."""
    name = REFERENCE if policy == MAIN else f"{REFERENCE}_{policy}"
    return name if name in model.peft_config else None


def gradient_norms(model: Any, policies: Sequence[str]) -> dict[str, float]:
    """Norm of each policy's gradient; empty if there is only one policy."""
    if len(policies) == 1:
        return {}
    sums = dict.fromkeys(policies, 0.0)
    for weight, value in model.named_parameters():
        name = next((name for name in policies if f".{name}." in weight), None)
        if name is not None and value.grad is not None:
            sums[name] += float(value.grad.norm()) ** 2
    return {name: total**0.5 for name, total in sums.items()}
