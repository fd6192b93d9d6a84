# pyright: basic
"""``vouch train sft``: a language model learns to write records by imitation (SEVA, 3.1; Tables 8 and 11).

    OUT/run.json         settings, revision, versions, digests of the data
    OUT/metrics.jsonl    a line per step, see ``run_folder``
    OUT/checkpoints/     for exact resuming (TRL's), and the best one
    OUT/model/           weights or adapters of the best checkpoint: where GRPO starts
    OUT/binary/          the same for the first stage, if there is one

Rows are chats, as ``vouch data annotate`` writes them: {"messages": [..., {"role": "assistant", "content": "{...}"}]}.
TRL's ``SFTTrainer`` trains on the assistant's tokens only. With ``binary`` rows (claim, source, label) a first stage
learns the labels alone, and the second continues with the same weights or adapters. The paper does not say what its
binary stage wrote; here it is the reply to the shipped prompt for label and confidence. Not supported: packing.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from vouching.errors import ConfigError, InputError, TrainingError
from vouching.inputs import as_claim, as_sources, row_sources
from vouching.judging.windows import ScreenedSources
from vouching.methods.read import ChatMessage, messages_of, read_files
from vouching.methods.structured.prompt import structured_prompt
from vouching.methods.training import LoraSettings, Optimizer, PowerSettings, WatchSettings, require
from vouching.settings import refuse_missing
from vouching.train.checkpoint import CHECKPOINTS, MODEL, keep_model, last_checkpoint, room_for, step_of, train_from
from vouching.train.extra import imported, optimizer_of, say_dropped, see_device, share_of_process
from vouching.train.policy import load_policy, lora_of
from vouching.train.run_folder import RunLog, digest_of_lines, log_to, open_run
from vouching.train.watch import Dev, Watch, also_learnt, steer
from vouching.types.visible import shown_json, value_fault


@dataclass(frozen=True, slots=True)
class SftConfig:
    """Settings of the training by imitation.

    >>> SftConfig(rows=("sft.jsonl",), model="Qwen/Qwen2.5-3B-Instruct").learning_rate
    2e-05
    """

    rows: tuple[str, ...]
    """Files of chats, as ``vouch data annotate`` writes them. Paths are relative to the working folder."""
    model: str
    """Model to start from: a folder, also of adapters, or a name on the Hugging Face hub."""
    binary: tuple[str, ...] = ()
    """Files of rows with claim, source and label, for a first stage that learns the label alone."""
    dev: tuple[str, ...] = ()
    """Files of held-out chats; the checkpoint with the lowest loss on them is kept."""
    epochs: float = 3.0
    """Passes over the rows, in each stage."""
    max_steps: int = 0
    """Steps after which a stage ends, for trials; its schedule ends there too. 0 for no limit."""
    batch_prompts: int = 16
    """Chats per update, over all processes."""
    micro_batch: int = 4
    """Most chats per forward pass of a process."""
    learning_rate: float = 2e-5
    """Peak learning rate."""
    schedule: Literal["constant", "cosine", "linear"] = "cosine"
    """Learning-rate schedule after the warm-up."""
    warmup: float = 0.05
    """Share of the steps used for warm-up."""
    weight_decay: float = 0.01
    """AdamW's weight decay."""
    max_tokens: int = 1280
    """Longest chat, in tokens; longer ones are dropped and counted, since a truncated record would teach truncation."""
    allow_dropped: float = 0.05
    """Share of the chats that may be dropped; a run that would drop more does not start."""
    optimizer: Optimizer = "adamw"
    """AdamW with moments in float32, in 8 bits, or in 8 bits and paged (bitsandbytes)."""
    gradient_checkpointing: bool = True
    """Whether to recompute activations instead of keeping them."""
    precision: Literal["float32", "bfloat16"] = "bfloat16"
    """Precision of the arithmetic; a CPU always uses float32."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device to train on; "auto" uses a GPU if there is one."""
    seed: int = 0
    """Random seed of the row order, new adapters and dropout."""
    lora: LoraSettings = field(default_factory=LoraSettings)
    """Adapters."""
    watch: WatchSettings = field(default_factory=WatchSettings)
    """How the run is watched and kept."""
    power: PowerSettings = field(default_factory=PowerSettings)
    """For the estimate of energy."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        if not self.rows:
            raise ConfigError("rows must not be empty: add a file written by vouch data annotate")
        require(
            self,
            above=("epochs", "batch_prompts", "micro_batch", "learning_rate", "max_tokens"),
            at_least=("max_steps", "weight_decay", "seed"),
        )
        if not 0 <= self.allow_dropped <= 1:
            raise ConfigError(f"allow_dropped must be in [0, 1], got {self.allow_dropped}")
        if not 0 <= self.warmup < 1:
            raise ConfigError(f"warmup must be at least 0 and below 1, got {self.warmup}")


BINARY = "binary"
"""Folder of the first stage inside the run folder."""
_WINDOW = 24_000
"""Characters of sources in a prompt, as in ``vouch data annotate``."""
_LABELS = ("Attributable", "Not Attributable")
_IGNORED = -100
"""Label of a token that is not trained."""
_NAMES = {
    "mean_token_accuracy": "token_accuracy",
    "loss": "loss",
    "learning_rate": "learning_rate",
    "grad_norm": "grad_norm",
    "entropy": "entropy",
}
"""What is logged, by TRL's name."""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A prompt and its completion."""

    id: str
    prompt: tuple[ChatMessage, ...]
    """Chat messages, the last one the user's."""
    completion: str


def read_chats(paths: Sequence[str]) -> list[TrainingExample]:
    """The chats of files, in order. Raises InputError for a file, a row without ``messages``, or no row at all."""
    return read_files(paths, chat_of, "messages")


def read_labels(paths: Sequence[str]) -> list[TrainingExample]:
    """Labelled claims as training examples of the binary stage. Raises InputError as :func:`read_chats`."""
    return read_files(paths, label_example, "claim, source and label")


def chat_of(fields: Mapping[str, Any], name: str) -> TrainingExample:
    """A row as a chat.

    >>> asked = {"role": "user", "content": "Is it so?"}
    >>> chat_of({"messages": [asked, {"role": "assistant", "content": "Yes."}]}, "row-1").completion
    'Yes.'
    """
    messages = messages_of(fields, "messages")
    if len(messages) < 2 or messages[-1]["role"] != "assistant":
        raise InputError('"messages" must end with a reply of the assistant: use chats written by vouch data annotate')
    return TrainingExample(name, messages[:-1], messages[-1]["content"])


def label_example(fields: Mapping[str, Any], name: str) -> TrainingExample:
    """A labelled claim as a training example: the shipped prompt for label and confidence; the label, confidence 1.

    >>> label_example({"claim": "It rained.", "source": "It did.", "label": "Attributable"}, "row-1").completion
    '{"label": "Attributable", "confidence": 1.0}'
    """
    label = fields.get("label", fields.get("gold"))
    if label not in _LABELS:
        raise InputError(f"unknown label {shown_json(label)}; expected one of {', '.join(_LABELS)}")
    if fields.get("claim") is None:
        raise InputError(value_fault(fields, "claim"))
    evidence = ScreenedSources(as_sources(row_sources(fields)))
    windows = [] if evidence.empty else evidence.windows(_WINDOW)
    if len(windows) != 1:
        raise InputError(f"the sources must not be empty and must fit into one prompt of {_WINDOW:,} characters")
    asked = structured_prompt("label").messages(as_claim(fields["claim"]), windows[0])
    prompt = tuple({"role": message.role, "content": message.content} for message in asked)
    return TrainingExample(name, prompt, json.dumps({"label": label, "confidence": 1.0}))


def train_sft(config: SftConfig, out: Path, resume: bool = False, report: Callable[[str], None] | None = None) -> Path:
    """Train a model by imitation; the folder of the resulting model.

    Args:
        config: the settings.
        out: folder of the run; new or empty, or that of the same run with ``resume``.
        resume: continue from the last checkpoint.
        report: takes lines of progress; None writes them to standard error.

    Raises:
        MissingExtraError: the extra "train" is not installed.
        ConfigError: the model or a setting cannot be used.
        InputError: rows cannot be used, or ``out`` belongs to another run or cannot be written.
        TrainingError: the loss is not finite; the last checkpoint is complete.
    """
    see_device(config.device)
    refuse_missing(config, "binary", "rows", "dev")
    first, chats, dev = read_labels(config.binary), read_chats(config.rows), read_chats(config.dev)
    arguments = _arguments(config, out)
    main = arguments.process_index == 0
    say = log_to(report, main)
    try:
        with arguments.main_process_first(local=False):
            if main:
                sets = {"rows": chats, "dev": dev, BINARY: first}
                counts = {name: len(examples) for name, examples in sets.items()}
                open_run(out, config, counts, {name: _digest(examples) for name, examples in sets.items()}, resume)
        if first:
            if not (out / BINARY / MODEL).is_dir():
                say(f"first stage: training on {len(first):,} labels")
                _learn_labels(config, arguments, out / BINARY, first, resume, say)
            config = replace(config, model=str(out / BINARY / MODEL), lora=replace(config.lora, rank=0))
        _train(config, out, (chats, dev), resume, say)
    finally:
        # Not before the second stage, which needs them too.
        imported("accelerate").PartialState().destroy_process_group()
    return out / MODEL


def tokens_of(tokenizer: Any, example: TrainingExample) -> tuple[list[int], int]:
    """Token ids of a chat, and how many of them are the prompt's. Raises ConfigError for an unusable chat template."""
    asked = [*example.prompt]
    prompt = tokenizer.apply_chat_template(asked, add_generation_prompt=True, return_dict=False)
    whole = tokenizer.apply_chat_template(
        [*asked, {"role": "assistant", "content": example.completion}], return_dict=False
    )
    if whole[: len(prompt)] != prompt:
        raise ConfigError("the chat template changes the prompt when an answer is appended: use another model")
    return whole, len(prompt)


def _learn_labels(
    config: SftConfig,
    arguments: Any,
    folder: Path,
    first: Sequence[TrainingExample],
    resume: bool,
    say: Callable[[str], None],
) -> None:
    """The first stage, a run in a folder of its own."""
    stage = replace(config, rows=config.binary, binary=(), dev=())
    with arguments.main_process_first(local=False):
        if arguments.process_index == 0:
            open_run(folder, stage, {"rows": len(first)}, {"rows": _digest(first)}, resume or not folder.exists())
    _train(stage, folder, (first, []), resume, say)


def _train(
    config: SftConfig,
    out: Path,
    sets: tuple[Sequence[TrainingExample], Sequence[TrainingExample]],
    resume: bool,
    say: Callable[[str], None],
) -> None:
    """One stage: from a model to ``out/model``."""
    arguments = _arguments(config, out)
    model, tokenizer = load_policy(config.model, config.lora, arguments.bf16)
    longest = min(config.max_tokens, getattr(model.config, "max_position_embeddings", config.max_tokens))
    rows, dev = (_rows(tokenizer, examples, longest) for examples in sets)
    say(
        f"chats for training: {len(rows):,} of {len(sets[0]):,}; chats for evaluation: "
        f"{len(dev):,}{also_learnt(*sets)}; on {arguments.device.type}"
    )
    for found, examples in ((rows, sets[0]), (dev, sets[1])):
        say_dropped(
            len(examples) - len(found),
            len(examples),
            f"chats have more than {longest:,} tokens (max_tokens)",
            config.allow_dropped,
            "allow_dropped",
            say,
        )
    checkpoint = last_checkpoint(out) if resume else None
    make = imported("datasets").Dataset.from_list
    trainer = _trainer_class()(
        model=model,
        args=arguments,
        train_dataset=make(rows),
        eval_dataset=make(dev) if dev else None,
        processing_class=tokenizer,
        peft_config=lora_of(config.lora),
    )
    trainer.remove_callback(imported("transformers").PrinterCallback)
    done = 0 if checkpoint is None else step_of(checkpoint)
    main = arguments.process_index == 0
    log = RunLog(out, done, config.power, arguments.world_size, main, arguments.device.type)
    scored = Dev(lambda: {"loss": trainer.evaluate()["eval_loss"]}, "loss", higher_is_better=False) if dev else None
    watch = Watch(log, config.watch, say, scored)
    _feed(trainer, watch)
    steer(trainer, watch)
    with room_for(out):
        train_from(trainer, checkpoint)
    if main:
        say(f"the weights of step {keep_model(out):,} are in {out / MODEL}")
    trainer.accelerator.wait_for_everyone()  # a second stage starts from these weights


def _arguments(config: SftConfig, out: Path) -> Any:
    """The settings as TRL's arguments."""
    torch, trl = imported("torch"), imported("trl")
    gpu = config.device != "cpu" and torch.cuda.is_available()
    piece, pieces = share_of_process(config.batch_prompts, "batch_prompts", config.micro_batch)
    return trl.SFTConfig(
        output_dir=str(out / CHECKPOINTS),
        seed=config.seed,
        report_to=[*config.watch.report_to] or "none",
        disable_tqdm=True,
        num_train_epochs=config.epochs,
        max_steps=config.max_steps or -1,
        per_device_train_batch_size=piece,
        per_device_eval_batch_size=piece,
        gradient_accumulation_steps=pieces,
        learning_rate=config.learning_rate,
        lr_scheduler_type=config.schedule,
        warmup_steps=config.warmup,
        weight_decay=config.weight_decay,
        max_length=None,
        activation_checkpointing=config.gradient_checkpointing and gpu,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="steps",
        save_steps=config.watch.checkpoint_every,
        save_total_limit=config.watch.keep,
        eval_strategy="no",
        use_cpu=not gpu,
        bf16=gpu and config.precision == "bfloat16",
        dataloader_pin_memory=gpu,
        **optimizer_of(config.optimizer),
    )


def _rows(tokenizer: Any, examples: Sequence[TrainingExample], longest: int) -> list[dict[str, list[int]]]:
    """The chats that are short enough, as tokens and labels."""
    found = (tokens_of(tokenizer, example) for example in examples)
    return [
        {"input_ids": ids, "labels": [_IGNORED] * prompt + ids[prompt:]} for ids, prompt in found if len(ids) <= longest
    ]


def _feed(trainer: Any, watch: Watch) -> None:
    """Have a watch called after every step, before a checkpoint is written."""

    class AfterStep(imported("transformers").TrainerCallback):
        began = 0.0

        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.began = time.monotonic()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs is None or "loss" not in logs:
                return
            if not all(math.isfinite(logs.get(name, 0.0)) for name in ("loss", "grad_norm")):
                raise TrainingError(
                    f"the loss of step {state.global_step} is {logs['loss']} and the norm of its gradient "
                    f"{logs.get('grad_norm', 'unknown')}: start again with a lower learning rate; the last checkpoint "
                    "was written before this step"
                )
            record = {name: float(logs[theirs]) for theirs, name in _NAMES.items() if theirs in logs}
            spent = time.monotonic() - self.began
            watch.step({"step": state.global_step, **record, "time/step": spent}, (), state.max_steps)

    trainer.add_callback(AfterStep())


@cache
def _trainer_class() -> Any:
    """TRL's trainer without telemetry and model card; a class made late, since TRL takes seconds to import."""

    class SftTrainer(imported("trl").SFTTrainer):
        def _send_telemetry(self) -> None:
            """Nothing is reported."""

        def create_model_card(self, *args: Any, **kwargs: Any) -> None:
            """No card; ``vouch runs export`` writes one."""

    return SftTrainer


def _digest(examples: Sequence[TrainingExample]) -> str:
    return digest_of_lines(repr(example) for example in examples)
