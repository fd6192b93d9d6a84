# pyright: basic
"""``vouch train sft``: a language model learns to write records by imitation (SEVA, 3.1; Tables 8 and 11).

    OUT/run.json         settings, revision, versions, digests of the data
    OUT/metrics.jsonl    a line per step, see ``run_folder``
    OUT/checkpoints/     what a killed run resumes from, exactly (TRL's), and the best one
    OUT/model/           the weights or adapters of the best checkpoint: where GRPO starts
    OUT/binary/          the same of the first stage, if there is one

It learns chats, as ``vouch data annotate`` writes them: {"messages": [..., {"role": "assistant", "content": "{...}"}]}.
The engine is TRL's ``SFTTrainer``; the loss is that of what the assistant says, not of the prompt. With ``binary`` rows
(claim, source, label) the labels alone are learned first and the records then, by the same weights or adapters. The
paper does not say what its binary stage wrote; here it is the reply of the shipped prompt for label and confidence.
Not supported: packing several chats into one row.
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
from vouching.methods.training import LoraSettings, PowerSettings, WatchSettings, require
from vouching.settings import refuse_missing
from vouching.train.checkpoint import CHECKPOINTS, MODEL, keep_model, last_checkpoint, room_for, step_of, train_from
from vouching.train.extra import imported, see_device
from vouching.train.policy import load_policy, lora_of
from vouching.train.run_folder import RunLog, digest_of_lines, log_to, open_run
from vouching.train.watch import Dev, Watch, also_learnt, steer


@dataclass(frozen=True, slots=True)
class SftConfig:
    """What is trained, on what, and how.

    >>> SftConfig(rows=("sft.jsonl",), model="Qwen/Qwen2.5-3B-Instruct").learning_rate
    2e-05
    """

    rows: tuple[str, ...]
    """Files of chats, as ``vouch data annotate`` writes them. Paths are relative to the working folder."""
    model: str
    """Where to start: a folder, also of adapters, or a name on the Hugging Face hub."""
    binary: tuple[str, ...] = ()
    """Files of rows with claim, source and label, for a first stage that learns the label alone; none without them."""
    dev: tuple[str, ...] = ()
    """Files of chats that are only scored; the checkpoint that knows them best is the one that is kept."""
    epochs: float = 3.0
    """Passes over the rows, in each stage."""
    max_steps: int = 0
    """Steps to stop a stage after, for trials; its schedule ends there too. 0 for none."""
    batch_rows: int = 4
    """Rows that are read at once by one process."""
    accumulate: int = 4
    """Batches of one update."""
    learning_rate: float = 2e-5
    """Highest rate."""
    schedule: Literal["constant", "cosine", "linear"] = "cosine"
    """How the rate goes on after the warm-up."""
    warmup: float = 0.05
    """Share of the steps over which the rate rises."""
    weight_decay: float = 0.01
    """Of AdamW."""
    max_tokens: int = 1280
    """Tokens of a chat, at most; longer ones are left out and counted, since half a record teaches half records."""
    gradient_checkpointing: bool = True
    """Whether to compute activations twice in place of keeping them."""
    precision: Literal["float32", "bfloat16"] = "bfloat16"
    """Of the arithmetic; a CPU always takes float32."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train; "auto" takes a GPU if there is one."""
    seed: int = 0
    """Of the order, new adapters and dropout."""
    lora: LoraSettings = field(default_factory=LoraSettings)
    """Adapters."""
    watch: WatchSettings = field(default_factory=WatchSettings)
    """How the run is watched and kept."""
    power: PowerSettings = field(default_factory=PowerSettings)
    """What its energy is estimated from."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        if not self.rows:
            raise ConfigError("rows names no file: give what  vouch data annotate  wrote")
        require(
            self,
            above=("epochs", "batch_rows", "accumulate", "learning_rate", "max_tokens"),
            at_least=("max_steps", "weight_decay", "seed"),
        )
        if not 0 <= self.warmup < 1:
            raise ConfigError(f"warmup must be from 0 to below 1, got {self.warmup}")


BINARY = "binary"
"""The folder of the first stage, in that of the run."""
_WINDOW = 24_000
"""Characters of sources in a prompt, as ``vouch data annotate`` has it."""
_LABELS = ("Attributable", "Not Attributable")
_IGNORED = -100
"""Label of a token that is not learned."""
_NAMES = {"mean_token_accuracy": "token_accuracy", "loss": "loss", "learning_rate": "learning_rate",
          "grad_norm": "grad_norm", "entropy": "entropy"}  # fmt: skip
"""What is logged, by TRL's name."""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A prompt and what shall be said to it."""

    id: str
    """Name of the row."""
    prompt: tuple[ChatMessage, ...]
    """Chat messages, the last one the user's."""
    completion: str
    """What the assistant shall say."""


def read_chats(paths: Sequence[str]) -> list[TrainingExample]:
    """The chats of files, in order. Raises InputError for a file, a row without ``messages``, or no row at all."""
    return read_files(paths, chat_of, "messages")


def read_labels(paths: Sequence[str]) -> list[TrainingExample]:
    """Labelled claims as lessons of the binary stage. Raises InputError as :func:`read_chats`."""
    return read_files(paths, label_example, "claim, source and label")


def chat_of(fields: Mapping[str, Any], name: str) -> TrainingExample:
    """A row as a chat.

    >>> asked = {"role": "user", "content": "Is it so?"}
    >>> chat_of({"messages": [asked, {"role": "assistant", "content": "Yes."}]}, "row-1").completion
    'Yes.'
    """
    messages = messages_of(fields, "messages")
    if len(messages) < 2 or messages[-1]["role"] != "assistant":
        raise InputError("its messages do not end with one of the assistant: give chats, as  vouch data annotate  does")
    return TrainingExample(name, messages[:-1], messages[-1]["content"])


def label_example(fields: Mapping[str, Any], name: str) -> TrainingExample:
    """A labelled claim as a lesson: the shipped prompt for label and confidence alone, and the label, held for certain.

    >>> label_example({"claim": "It rained.", "source": "It did.", "label": "Attributable"}, "row-1").completion
    '{"label": "Attributable", "confidence": 1.0}'
    """
    label = fields.get("label", fields.get("gold"))
    if label not in _LABELS:
        raise InputError(f'its label is {label!r}, wanted "Attributable" or "Not Attributable"')
    if "claim" not in fields:
        raise InputError(f'the row has the keys {[*fields]}, wanted "claim"')
    evidence = ScreenedSources(as_sources(row_sources(fields)))
    windows = [] if evidence.empty else evidence.windows(_WINDOW)
    if len(windows) != 1:
        raise InputError(f"its sources are empty or do not fit one prompt of {_WINDOW:,} characters")
    asked = structured_prompt("label").messages(as_claim(fields["claim"]), windows[0])
    prompt = tuple({"role": message.role, "content": message.content} for message in asked)
    return TrainingExample(name, prompt, json.dumps({"label": label, "confidence": 1.0}))


def train_sft(config: SftConfig, out: Path, resume: bool = False, report: Callable[[str], None] | None = None) -> Path:
    """Train a model by imitation.

    Args:
        config: the settings.
        out: folder of the run; new or empty, or that of the same run with ``resume``.
        resume: go on where the run's last checkpoint stands.
        report: takes lines of progress; None writes them to standard error.

    Returns:
        The folder of the model that came out.

    Raises:
        MissingExtraError: the extra "train" is not installed.
        ConfigError: the model or a setting cannot be used.
        InputError: rows cannot be used, or ``out`` is of another run or cannot be written.
        TrainingError: the loss is no number; the last checkpoint is whole.
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
                say(f"first stage: {len(first):,} labels")
                _learn_labels(config, arguments, out / BINARY, first, resume, say)
            config = replace(config, model=str(out / BINARY / MODEL), lora=replace(config.lora, rank=0))
        _train(config, out, (chats, dev), resume, say)
    finally:
        # Not before the second stage, which needs them too.
        imported("accelerate").PartialState().destroy_process_group()
    return out / MODEL


def tokens_of(tokenizer: Any, example: TrainingExample) -> tuple[list[int], int]:
    """Token ids of a chat, and how many of them are the prompt's.

    Raises:
        ConfigError: the chat template writes another prompt when an answer follows it.
    """
    asked = [*example.prompt]
    prompt = tokenizer.apply_chat_template(asked, add_generation_prompt=True, return_dict=False)
    whole = tokenizer.apply_chat_template(
        [*asked, {"role": "assistant", "content": example.completion}], return_dict=False
    )
    if whole[: len(prompt)] != prompt:
        raise ConfigError("the chat template changes the prompt when an answer follows: give a model with another one")
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
    config: SftConfig, out: Path, sets: tuple[Sequence[TrainingExample], Sequence[TrainingExample]], resume: bool,
    say: Callable[[str], None],
) -> None:  # fmt: skip
    """One stage: from a model to ``out/model``."""
    arguments = _arguments(config, out)
    model, tokenizer = load_policy(config.model, config.lora, arguments.bf16)
    longest = min(config.max_tokens, getattr(model.config, "max_position_embeddings", config.max_tokens))
    rows, dev = (_rows(tokenizer, examples, longest) for examples in sets)
    say(
        f"{len(rows):,} of {len(sets[0]):,} chats to learn from; {len(sets[0]) - len(rows):,} have more than "
        f"{longest:,} tokens; {len(dev):,} to score{also_learnt(*sets)}; on {arguments.device.type}"
    )
    if not rows:
        raise InputError(f"no chat has {longest:,} tokens or less: raise max_tokens, or give shorter ones")
    checkpoint = last_checkpoint(out) if resume else None
    make = imported("datasets").Dataset.from_list
    trainer = _trainer_class()(
        model=model, args=arguments, train_dataset=make(rows), eval_dataset=make(dev) if dev else None,
        processing_class=tokenizer, peft_config=lora_of(config.lora),
    )  # fmt: skip
    trainer.remove_callback(imported("transformers").PrinterCallback)
    done = 0 if checkpoint is None else step_of(checkpoint)
    log = RunLog(out, done, config.power, arguments.world_size, arguments.process_index == 0)
    scored = Dev(lambda: {"loss": trainer.evaluate()["eval_loss"]}, "loss", higher_is_better=False) if dev else None
    watch = Watch(log, config.watch, say, scored)
    _tell_steps(trainer, watch)
    steer(trainer, watch)
    with room_for(out):
        train_from(trainer, checkpoint)
    if arguments.process_index == 0:
        say(f"the weights of step {keep_model(out):,} are in {out / MODEL}")
    trainer.accelerator.wait_for_everyone()  # a second stage starts from these weights


def _arguments(config: SftConfig, out: Path) -> Any:
    """The settings in TRL's words."""
    torch, trl = imported("torch"), imported("trl")
    gpu = config.device != "cpu" and torch.cuda.is_available()
    return trl.SFTConfig(
        output_dir=str(out / CHECKPOINTS), seed=config.seed, report_to=[*config.watch.report_to] or "none",
        disable_tqdm=True, num_train_epochs=config.epochs, max_steps=config.max_steps or -1,
        per_device_train_batch_size=config.batch_rows, per_device_eval_batch_size=config.batch_rows,
        gradient_accumulation_steps=config.accumulate, learning_rate=config.learning_rate,
        lr_scheduler_type=config.schedule, warmup_steps=config.warmup, weight_decay=config.weight_decay,
        max_length=None, activation_checkpointing=config.gradient_checkpointing and gpu,
        logging_steps=1, logging_nan_inf_filter=False, save_strategy="steps",
        save_steps=config.watch.checkpoint_every, save_total_limit=config.watch.keep, eval_strategy="no",
        use_cpu=not gpu, bf16=gpu and config.precision == "bfloat16", dataloader_pin_memory=gpu,
    )  # fmt: skip


def _rows(tokenizer: Any, examples: Sequence[TrainingExample], longest: int) -> list[dict[str, list[int]]]:
    """The chats that are short enough, as tokens and what is to be learned of them."""
    found = (tokens_of(tokenizer, example) for example in examples)
    return [
        {"input_ids": ids, "labels": [_IGNORED] * prompt + ids[prompt:]} for ids, prompt in found if len(ids) <= longest
    ]


def _tell_steps(trainer: Any, watch: Watch) -> None:
    """Have a watch told about every step, before a checkpoint is written."""

    class Told(imported("transformers").TrainerCallback):
        began = 0.0

        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.began = time.monotonic()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs is None or "loss" not in logs:
                return
            if not all(math.isfinite(logs.get(name, 0.0)) for name in ("loss", "grad_norm")):
                raise TrainingError(
                    f"the loss of step {state.global_step} is {logs['loss']}, its gradient {logs.get('grad_norm')}: "
                    "lower the learning rate; the last checkpoint is from before"
                )
            record = {name: float(logs[theirs]) for theirs, name in _NAMES.items() if theirs in logs}
            spent = time.monotonic() - self.began
            watch.step({"step": state.global_step, **record, "time/step": spent}, (), state.max_steps)

    trainer.add_callback(Told())


@cache
def _trainer_class() -> Any:
    """TRL's trainer without what it does unasked; a class made late, since TRL takes seconds to load."""

    class SftTrainer(imported("trl").SFTTrainer):
        def _send_telemetry(self) -> None:
            """Nothing is reported."""

        def create_model_card(self, *args: Any, **kwargs: Any) -> None:
            """No card; ``vouch runs export`` writes one."""

    return SftTrainer


def _digest(examples: Sequence[TrainingExample]) -> str:
    return digest_of_lines(repr(example) for example in examples)
