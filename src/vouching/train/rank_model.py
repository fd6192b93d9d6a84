# pyright: basic
"""The scorer as a torch model: a causal model or an encoder with a linear head of one output.

Left out: loading for use; ``verifiers`` reads what :func:`save_scorer` writes.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError, MissingExtraError
from vouching.methods.discriminative.config import RankConfig
from vouching.methods.discriminative.model import ScorerNote
from vouching.train.encoder_model import encoder_folder

_HEADS = {"classifier", "score"}
"""Names of the head in the classes of transformers."""


def imported(name: str) -> Any:
    """A module of the extra "train". Raises MissingExtraError if it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError("train", "training", name) from error


def base_of(named: str) -> str:
    """Where a model is: the whole path of a folder, also of one inside a package, or the name on the hub as it is.

    Raises:
        ConfigError: there is no such folder or package, and it is no name on the hub.

    >>> base_of("Qwen/Qwen2.5-7B-Instruct")
    'Qwen/Qwen2.5-7B-Instruct'
    """
    if Path(named).expanduser().is_dir():
        return str(Path(named).expanduser().resolve())
    if named.count("/") == 1 and named[0] not in "/.~":
        return named
    return str(encoder_folder(named))


def load_scorer(config: RankConfig, reduced: bool) -> tuple[Any, Any, set[str]]:
    """A model with a new head drawn by the seed, its tokenizer, and the names of the weights that were drawn.

    Args:
        config: the settings.
        reduced: whether to hold the weights in bfloat16.

    Raises:
        ConfigError: it cannot be loaded, or reads fewer tokens than the settings want.
        MissingExtraError: torch or transformers is not installed.
    """
    torch, transformers = imported("torch"), imported("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    base = base_of(config.model)
    try:
        settings = transformers.AutoConfig.from_pretrained(base, num_labels=1)
        # The dropout of the settings is that of the adapters where there are some.
        layers = 0.0 if config.lora_rank else config.dropout
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            if hasattr(settings, name):
                setattr(settings, name, layers)
        tokenizer = transformers.AutoTokenizer.from_pretrained(base)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        settings.pad_token_id = tokenizer.pad_token_id
        transformers.set_seed(config.seed)
        model, told = transformers.AutoModelForSequenceClassification.from_pretrained(
            base, config=settings, dtype=torch.bfloat16 if reduced else torch.float32, output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        absent = "" if Path(base).is_dir() else ", which is no folder here and so was asked of the hub"
        raise ConfigError(f"cannot load a model to train from {base}{absent} ({error}): give another model") from error
    longest = getattr(settings, "max_position_embeddings", config.most_tokens)
    if config.most_tokens > longest:
        raise ConfigError(f"{config.model} reads {longest:,} tokens at most: set most_tokens to that or less")
    if tokenizer.pad_token_id is None:
        raise ConfigError(f"the tokenizer of {config.model} has neither a padding nor an end token: give another model")
    return model, tokenizer, {*told["missing_keys"]}


def lora_of(config: RankConfig, drawn: Collection[str] = ()) -> Any:
    """The settings of the adapters, on every linear layer (the paper does not say where); None to train all weights.

    The head is trained in full beside them, and so is what else was drawn, such as the pooler of DeBERTa: adapters
    alone would be saved without it.

    Args:
        config: the settings.
        drawn: names of the weights that the model's folder does not have.
    """
    if not config.lora_rank:
        return None
    # peft adds the heads by itself, and what lies in a module that is saved must not be named again.
    beside = {name.rpartition(".")[0] for name in drawn if not _HEADS & {*name.split(".")}}
    return imported("peft").LoraConfig(
        task_type="SEQ_CLS", r=config.lora_rank, lora_alpha=config.lora_alpha, lora_dropout=config.dropout,
        target_modules="all-linear", modules_to_save=sorted(beside) or None,
    )  # fmt: skip


def save_scorer(model: Any, tokenizer: Any, config: RankConfig, folder: Path) -> None:
    """Write the model, or its adapters alone, with tokenizer and note: a folder that transformers or peft opens."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    ScorerNote(config.shown, config.most_tokens).write(folder)
