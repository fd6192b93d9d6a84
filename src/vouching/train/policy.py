# pyright: basic
"""The language model that is trained: a whole model, new adapters on one, or adapters that were trained before.

Left out: quantised weights.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError
from vouching.train.rank_model import base_of, imported
from vouching.train.run_config import LoraSettings

ADAPTER = "adapter_config.json"
"""The file by which a folder is one of adapters."""


def load_policy(named: str, lora: LoraSettings, reduced: bool) -> tuple[Any, Any]:
    """A causal language model and its tokenizer; adapters of an earlier run stay adapters and go on being trained.

    Args:
        named: a folder, also of adapters, or a name on the Hugging Face hub.
        lora: what adapters the run is to add.
        reduced: whether to hold weights that are not trained, those below adapters, in bfloat16.

    Raises:
        ConfigError: it cannot be loaded, has no chat template or token to fill up with, or has adapters already and
            the run is to add some.
        MissingExtraError: torch, transformers or peft is not installed.
    """
    torch, transformers = imported("torch"), imported("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")  # of TRL's calls, not of ours
    try:
        place = base_of(named)
    except ConfigError:
        raise ConfigError(
            f"there is no model {named}: name a folder, or one of the Hugging Face hub, such as "
            "Qwen/Qwen2.5-3B-Instruct"
        ) from None
    adapted = (Path(place) / ADAPTER).is_file()
    if adapted and lora.rank:
        raise ConfigError(f"{named} has adapters and lora.rank is {lora.rank}: set it to 0 to train those on")
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
        absent = "" if Path(place).is_dir() else ", which is no folder here and so was asked of the hub"
        raise ConfigError(f"cannot load a model to train from {named}{absent} ({error}): give another model") from error
    if tokenizer.chat_template is None:
        raise ConfigError(f"the tokenizer of {named} has no chat template: take an instruction-tuned model")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.pad_token is None:
        raise ConfigError(f"the tokenizer of {named} has neither a padding nor an end token: give another model")
    return model, tokenizer


def adapter_base(folder: Path) -> str:
    """Where the model is that adapters in a folder are for. Raises ConfigError if they do not say."""
    try:
        found = json.loads((folder / ADAPTER).read_text(encoding="utf-8")).get("base_model_name_or_path")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder / ADAPTER} cannot be read ({error})") from None
    if not isinstance(found, str) or not found:
        raise ConfigError(f"{folder / ADAPTER} does not say which model the adapters are for")
    return found


def lora_of(lora: LoraSettings) -> Any:
    """The settings of new adapters in peft's words; None to train all weights."""
    if not lora.rank:
        return None
    return imported("peft").LoraConfig(
        task_type="CAUSAL_LM", r=lora.rank, lora_alpha=lora.alpha, lora_dropout=lora.dropout,
        target_modules=[*lora.modules],
    )  # fmt: skip


def see_device(wanted: str) -> None:
    """Raise MissingExtraError without torch, and ConfigError if a GPU is wanted and there is none."""
    if not imported("torch").cuda.is_available() and wanted == "cuda":
        raise ConfigError('device is "cuda", but torch finds no GPU here: set device=auto or device=cpu')
