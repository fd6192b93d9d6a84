# pyright: basic
"""GRPO training of a model on a game.

The calls of a run, in order:

    arguments = training_arguments(config, out)
    trainer = make_trainer(config, arguments, model, tokenizer, game, rows)
    on_step(trainer, log)
    train_from(trainer, checkpoint)
    end_training(trainer)

TRL does the update; ``engine_trl`` puts the game into it. Dropout is off: the policy must learn as it samples. The run
folder, the log and the monitors are added by ``fit``.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from vouching.errors import ConfigError, InputError, MissingExtraError
from vouching.methods.base import Game, Processes, Row, Sampler
from vouching.methods.training import GrpoConfig
from vouching.models.running import run
from vouching.train.critic import Critic
from vouching.train.critic_model import load_critic
from vouching.train.engine_sampling import PolicySampler, encoded, gathered
from vouching.train.engine_table import Table, figures, observe, top_of
from vouching.train.engine_trl import trainer_class
from vouching.train.extra import imported, optimizer_of, share_of_process
from vouching.train.policy import MAIN, add_adapters, lora_of
from vouching.train.watch import after_steps

StepCallback: TypeAlias = Callable[[dict[str, float], list[dict[str, Any]]], None]
"""Takes the numbers of a step by name (see ``run_folder``) and the texts of some rollouts."""


def training_arguments(config: GrpoConfig, out: Path) -> Any:
    """The settings as TRL's arguments.

    TRL sees one batch per step; ``engine_trl`` splits it itself.

    Raises:
        MissingExtraError: trl is not installed, or vLLM where it is to sample.
        ConfigError: the prompts of a step cannot be divided among the processes, or a checkpoint would fall between
            updates on the same rollouts.
    """
    torch, trl = imported("torch"), imported("trl")
    gpu = config.device != "cpu" and torch.cuda.is_available()
    drawn, (prompts, _) = config.sampling, share_of_process(config.batch_prompts, "batch_prompts")
    if config.watch.checkpoint_every % config.updates:
        raise ConfigError(
            f"watch.checkpoint_every must be a multiple of updates ({config.updates}), got "
            f"{config.watch.checkpoint_every}: a run can only resume exactly where new rollouts are sampled"
        )
    group = max(2, drawn.group_size)  # TRL's minimum; only the first row of a group is read
    return trl.GRPOConfig(
        output_dir=str(out),
        seed=config.seed,
        report_to=[*config.watch.report_to] or "none",
        disable_tqdm=True,
        num_train_epochs=config.epochs,
        max_steps=config.max_steps or -1,
        per_device_train_batch_size=prompts * group,
        gradient_accumulation_steps=1,
        num_generations=group,
        num_iterations=config.updates,
        max_completion_length=drawn.completion_tokens,
        temperature=drawn.temperature,
        top_p=drawn.top_p,
        top_k=drawn.top_k,
        learning_rate=config.learning_rate,
        weight_decay=config.weight_decay,
        lr_scheduler_type=config.schedule,
        warmup_steps=config.warmup,
        loss_type={"gspo": "grpo", "token_sum": "luspo"}.get(config.loss, config.loss),
        importance_sampling_level="sequence" if config.loss == "gspo" else "token",
        epsilon=config.clip[0],
        epsilon_high=config.clip[1],
        beta=config.kl,
        use_bias_correction_kl=False,  # times the ratio, k3's gradient would be the log-ratio: not the papers' term
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="steps",
        save_steps=config.watch.checkpoint_every,
        save_total_limit=config.watch.keep,
        disable_dropout=True,
        use_cpu=not gpu,
        bf16=gpu and config.precision == "bfloat16",
        activation_checkpointing=gpu and config.memory.activation_checkpointing,
        dataloader_pin_memory=gpu,
        remove_unused_columns=False,
        **optimizer_of(config.memory.optimizer),
        **_vllm_arguments(config),
    )


def _vllm_arguments(config: GrpoConfig) -> dict[str, Any]:
    drawn, memory = config.sampling, config.memory
    if drawn.engine == "hf":
        return {}
    if find_spec("vllm") is None:
        raise MissingExtraError("vllm", f"sampling.engine={drawn.engine}", "vllm")
    return {
        "use_vllm": True,
        "vllm_mode": "server" if drawn.engine == "vllm-server" else "colocate",
        "vllm_server_base_url": drawn.server or None,
        "vllm_gpu_memory_utilization": memory.vllm_share,
        "vllm_tensor_parallel_size": memory.vllm_parallel,
        "vllm_enable_sleep_mode": memory.vllm_sleep,
        "vllm_max_model_length": memory.vllm_length or 2 * (drawn.prompt_tokens + drawn.completion_tokens),
    }


def make_trainer(
    config: GrpoConfig,
    arguments: Any,
    model: Any,
    tokenizer: Any,
    game: Game,
    rows: Sequence[Row],
    sampler: Sampler | None = None,
) -> Any:
    """A trainer before its first step.

    Args:
        config: the settings.
        arguments: from :func:`training_arguments`.
        model: a folder, a name on the hub, or a model loaded from one.
        tokenizer: with a chat template, a padding token and an end token.
        game: what is played.
        rows: at least the prompts of one step.
        sampler: the model itself by default; scripted in tests.

    Raises:
        ConfigError: the tokenizer, game, model and settings do not fit together.
        InputError: too few rows, or a row whose prompt is too long.
    """
    drawn, policies, datasets = config.sampling, getattr(game, "policies", (MAIN,)), imported("datasets")
    _refuse_misfits(config, model, game, len(rows), len(policies))
    _see_prompts(prompt_lengths(tokenizer, game, rows, drawn.thinking), rows, drawn.prompt_tokens)
    _shorten_vllm(arguments, model)
    logging.getLogger("trl.trainer.grpo_trainer").addFilter(_of_use)
    trainer = trainer_class()(
        model=model,
        reward_funcs=_no_reward,
        args=arguments,
        processing_class=tokenizer,
        peft_config=lora_of(config.lora),
        train_dataset=datasets.Dataset.from_dict({"row": range(len(rows))}),
    )
    trainer.policies, trainer.thinking = policies, drawn.thinking
    add_adapters(trainer.model, trainer.policies, config.lora)
    imported("trl.trainer.utils").disable_dropout_in_model(trainer.model)  # TRL did so before the others were added
    context = getattr(trainer.model.config, "max_position_embeddings", math.inf)
    if drawn.prompt_tokens + drawn.completion_tokens > context:
        raise ConfigError(
            f"prompts of {drawn.prompt_tokens:,} tokens and completions of {drawn.completion_tokens:,} tokens exceed "
            f"the model's context of {context:,} tokens: lower sampling.prompt_tokens or sampling.completion_tokens"
        )
    accelerator = trainer.accelerator
    processes = Processes(gathered, accelerator.process_index, accelerator.num_processes)
    critic = _critic(config, trainer, processes)
    trainer.table = Table(config, game, rows, sampler or PolicySampler(trainer), processes, critic)
    trainer.remove_callback(imported("transformers").PrinterCallback)
    return trainer


def _refuse_misfits(config: GrpoConfig, model: Any, game: Game, rows: int, policies: int) -> None:
    group_size = config.sampling.group_size
    if game.samples != group_size:
        raise ConfigError(f"the game's samples ({game.samples}) must equal sampling.group_size ({group_size})")
    if rows < config.batch_prompts:
        raise InputError(f"got {rows:,} rows, but a step needs {config.batch_prompts:,}: lower batch_prompts")
    if config.loss == "bnpo" and policies > 1:
        raise ConfigError(
            f"loss bnpo averages over all tokens of a process, so it does not support a game with {policies} "
            "policies: use dapo, which is equivalent in one process and also correct in several"
        )
    named = getattr(getattr(model, "config", None), "_name_or_path", None)
    if config.kl and not config.lora.rank and named == "":
        raise ConfigError("the KL reference is loaded from the model's folder, but this model has none: save it first")


def prompt_lengths(tokenizer: Any, game: Game, rows: Sequence[Row], thinking: str = "default") -> list[int]:
    """Tokens of the first prompt of every row.

    Raises:
        ConfigError: the tokenizer has no chat template, padding token or end token, or cannot switch thinking.
        InputError: a row lacks what the game needs.
    """
    for name, need in (("chat_template", "chat template"), ("pad_token", "padding token"), ("eos_token", "end token")):
        if getattr(tokenizer, name, None) is None:
            raise ConfigError(f"the tokenizer has no {need}: set tokenizer.{name}, or use an instruction-tuned model")
    return [len(ids) for ids in encoded(tokenizer, [game.opening(row) for row in rows], thinking)]


def _critic(config: GrpoConfig, trainer: Any, processes: Processes) -> Critic | None:
    """The critic of a run, sharded if its policy is; None if its advantages need none."""
    settings, arguments = getattr(config, "critic", None), trainer.args
    if settings is None:
        return None
    sharded = trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
    shares = not (sharded or settings.model) and hasattr(trainer.model, "peft_config")
    model = load_critic(
        settings.model or config.model,
        None if sharded else trainer.accelerator.device,
        settings,
        arguments.bf16,
        trainer.model if shares else None,
        config.seed,
    )
    if arguments.activation_checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    return Critic(
        model, settings, trainer.processing_class.pad_token_id, config.micro_batch, processes, sharded, arguments.bf16
    )


def _of_use(record: logging.LogRecord) -> bool:
    """Drop TRL's advice on the loss that implements eq. 8 of MARCH: the user did not choose it by that name."""
    return "luspo" not in record.getMessage()


def on_step(trainer: Any, callback: StepCallback) -> None:
    """Have ``callback`` called after every step, on every process, before a checkpoint is written."""

    def report(state: Any, _: Any, logs: Mapping[str, Any]) -> None:
        named = {"time/step" if name == "step_time" else name: value for name, value in logs.items()}
        numbers = {name: float(value) for name, value in named.items() if isinstance(value, int | float)}
        callback({"step": float(state.global_step), **numbers}, [*trainer.transcripts])
        trainer.transcripts = ()

    after_steps(trainer, report)


def measure(trainer: Any, rows: Sequence[Row], seed: int = 0, game: Game | None = None) -> dict[str, float]:
    """The figures of a game on held-out rows, sampled as in training; the state of the run does not change.

    Args:
        trainer: from :func:`make_trainer`.
        rows: the same on all processes.
        seed: of the sampling: the same at every call, so that only the weights differ.
        game: None for the game of the run.
    """
    torch, accelerator, played = imported("torch"), trainer.accelerator, game or trainer.table.game
    size = max(1, trainer.table.config.batch_prompts // accelerator.num_processes)
    pieces = [rows[at : at + size] for at in range(0, len(rows), size)]
    learning, seen, state = trainer.model.training, [], trainer.table.state_dict()
    trainer.model.eval()
    with torch.random.fork_rng():
        torch.manual_seed(seed * accelerator.num_processes + accelerator.process_index)
        for first in range(0, len(pieces), accelerator.num_processes):
            mine = first + accelerator.process_index
            # A process without a piece plays another's: sampling may need all processes.
            play = run(played.play(trainer.table.sampler, pieces[min(mine, len(pieces) - 1)]))
            seen += [observe([play], (), top_of(played))] if mine < len(pieces) else []
    trainer.model.train(learning)
    trainer.table.load_state_dict(state)
    return figures(gathered(seen))


def end_training(trainer: Any) -> None:
    """Release the processes; without it, runs of several abort now and then at exit."""
    trainer.accelerator.end_training()


def _no_reward(**_: Any) -> list[float]:
    """TRL asks for it and never calls it: the game scores."""
    raise NotImplementedError


def _shorten_vllm(arguments: Any, model: Any) -> None:
    """Ask vLLM for no more than the model's context, which it refuses."""
    context = getattr(getattr(model, "config", None), "max_position_embeddings", 0)
    if arguments.use_vllm and context:
        arguments.vllm_max_model_length = min(arguments.vllm_max_model_length, context)


def _see_prompts(lengths: Sequence[int], rows: Sequence[Row], limit: int) -> None:
    """Raise InputError if a prompt is too long."""
    longest = max(lengths)
    if longest > limit:
        name = rows[lengths.index(longest)].get("id", "?")
        raise InputError(
            f"{sum(length > limit for length in lengths):,} of {len(rows):,} prompts have more than {limit:,} tokens, "
            f"the longest {longest:,} (row {name!r}): remove these rows, or raise sampling.prompt_tokens"
        )
