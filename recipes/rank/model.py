# pyright: basic
"""The scorer as a torch model, a causal model or an encoder with a linear head of one output, and what trains it.

TRL's ``RewardTrainer`` takes -log sigmoid of the difference; here the loss is the hinge of DiVA's Eq. 1. Two defaults
are undone: it reports its use to a server, and it disables every dropout, that of the adapters too. Tested with TRL
1.16. What :func:`save_scorer` writes is loaded for use by ``methods.discriminative``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recipes.rank.rows import RankPair
from recipes.rank.settings import RankConfig
from vouching.errors import ConfigError, MissingExtraError
from vouching.methods.discriminative.input import encode
from vouching.methods.discriminative.model import ScorerNote
from vouching.train.checkpoint import CHECKPOINTS
from vouching.train.extra import base_of, imported, share_of_process

_HEADS = {"classifier", "score"}
"""Names of the head in the classes of transformers."""


def load_scorer(config: RankConfig, reduced: bool) -> tuple[Any, Any, set[str]]:
    """A model with a new head drawn by the seed, its tokenizer, and the names of newly drawn weights.

    Raises:
        ConfigError: it cannot be loaded, or its context is shorter than the settings need.
        MissingExtraError: torch or transformers is not installed.
    """
    torch, transformers = imported("torch"), imported("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    base = base_of(config.model)
    try:
        settings = transformers.AutoConfig.from_pretrained(base, num_labels=1)
        # With adapters, the dropout of the settings is theirs.
        layers = 0.0 if config.lora_rank else config.dropout
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            if hasattr(settings, name):
                setattr(settings, name, layers)
        tokenizer = transformers.AutoTokenizer.from_pretrained(base)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        settings.pad_token_id = tokenizer.pad_token_id
        transformers.set_seed(config.seed)
        model, loaded = transformers.AutoModelForSequenceClassification.from_pretrained(
            base, config=settings, dtype=torch.bfloat16 if reduced else torch.float32, output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        absent = "" if Path(base).is_dir() else ", which is not a local folder, from the Hugging Face hub"
        raise ConfigError(f"cannot load the model {base}{absent} ({error}): use another model") from error
    longest = getattr(settings, "max_position_embeddings", config.max_tokens)
    if config.max_tokens > longest:
        raise ConfigError(
            f"{config.model} reads at most {longest:,} tokens, but max_tokens is {config.max_tokens:,}: lower "
            "max_tokens"
        )
    if tokenizer.pad_token_id is None:
        raise ConfigError(
            f"the tokenizer of {config.model} has neither a padding token nor an end token: use another model"
        )
    return model, tokenizer, {*loaded["missing_keys"]}


def lora_of(config: RankConfig, drawn: Collection[str] = ()) -> Any:
    """The settings of the adapters, on every linear layer (the paper does not say where); None to train all weights.

    The head is trained in full beside them, and so are the other newly drawn weights (``drawn``), such as the pooler of
    DeBERTa: adapters alone would be saved without them.
    """
    if not config.lora_rank:
        return None
    # peft adds the heads itself, and parts of a saved module must not be named again.
    beside = {name.rpartition(".")[0] for name in drawn if not _HEADS & {*name.split(".")}}
    return imported("peft").LoraConfig(
        task_type="SEQ_CLS",
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=config.dropout,
        target_modules="all-linear",
        modules_to_save=sorted(beside) or None,
    )


def save_scorer(model: Any, tokenizer: Any, config: RankConfig, folder: Path) -> None:
    """Write the model, or its adapters alone, with tokenizer and note, for transformers or peft to open."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    ScorerNote(config.shown, config.max_tokens).write(folder)


def margin_loss(better: Any, worse: Any, margin: float) -> Any:
    """``mean max(0, margin - (better - worse))`` over (B,) scores of better and worse answers (DiVA, Eq. 1).

    >>> import numpy as np
    >>> float(margin_loss(np.array([1.0, 0.5]), np.array([0.0, 0.75]), margin=0.25))  # (0 + .5) / 2
    0.25
    """
    return (margin - (better - worse)).clip(min=0).mean()


def training_arguments(config: RankConfig, out: Path) -> Any:
    """The settings as TRL's arguments. Raises MissingExtraError without trl, and ConfigError without the device."""
    torch, trl = imported("torch"), imported("trl")
    if config.deepspeed and find_spec("deepspeed") is None:
        raise MissingExtraError("", f"deepspeed={config.deepspeed}", "deepspeed")
    gpu = config.device != "cpu" and torch.cuda.is_available()
    piece, pieces = share_of_process(config.batch_pairs, "batch_pairs", config.micro_batch)
    return trl.RewardConfig(
        output_dir=str(out / CHECKPOINTS),
        seed=config.seed,
        report_to="none",
        disable_tqdm=True,
        num_train_epochs=config.epochs,
        max_steps=config.max_steps or -1,
        per_device_train_batch_size=piece,
        gradient_accumulation_steps=pieces,
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=config.warmup,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_steps=config.checkpoint_every,
        save_total_limit=1,
        use_cpu=not gpu,
        bf16=gpu and config.precision == "bfloat16",
        activation_checkpointing=gpu,
        dataloader_pin_memory=gpu,
        deepspeed=config.deepspeed or None,
        max_length=None,
        disable_dropout=False,
    )


def make_trainer(
    config: RankConfig,
    arguments: Any,
    model: Any,
    tokenizer: Any,
    pairs: Sequence[RankPair],
    drawn: Collection[str] = (),
) -> Any:
    """A trainer before its first step; ``model``, ``tokenizer`` and ``drawn`` are those of :func:`load_scorer`."""
    rows = [
        {
            "chosen_ids": [*encode(tokenizer, pair.read("better", config.shown), config.max_tokens).ids],
            "rejected_ids": [*encode(tokenizer, pair.read("worse", config.shown), config.max_tokens).ids],
        }
        for pair in pairs
    ]
    trainer = _trainer_class()(
        model=model,
        args=arguments,
        train_dataset=imported("datasets").Dataset.from_list(rows),
        processing_class=tokenizer,
        peft_config=lora_of(config, drawn),
    )
    trainer.margin = config.margin
    trainer.remove_callback(imported("transformers").PrinterCallback)
    return trainer


@cache
def _trainer_class() -> Any:
    """The trainer's class, made late: TRL takes seconds to import and may not be installed."""
    trl = imported("trl")

    class RankTrainer(trl.RewardTrainer):
        """Margin ranking."""

        margin = 0.1

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            """The hinge over the pairs of a batch, whose first half are the better answers."""
            outputs = model(**inputs)
            better, worse = outputs.logits.squeeze(-1).float().chunk(2)
            gap = (better - worse).detach()
            for name, value in (("gap", gap), ("order", (gap > 0).float())):
                self._metrics["train"][name].append(self.accelerator.gather(value).mean().item())
            loss = margin_loss(better, worse, self.margin)
            return (loss, outputs) if return_outputs else loss

        def _send_telemetry(self) -> None:
            """Nothing is reported."""

        def create_model_card(self, *args: Any, **kwargs: Any) -> None:
            """No card; the run's own files say more."""

    return RankTrainer
