# pyright: basic
"""Training on a game, on one page: play, reward, advantages, update, step by step.

    game        plays rows: who speaks, who sees what, what each completion earns      methods/NAME/game
    engine      rewards to advantages, advantages to an update by TRL                  advantages, engine
    log         every number of every step, once                                       run_folder
    monitors    detect early that a run goes wrong, and may end it                     monitor
    checkpoint  what an interrupted run resumes from; the best becomes OUT/model       checkpoint

What a run writes:

    OUT/run.json            resolved settings, revision, versions, digests of the data
    OUT/metrics.jsonl       a line per step
    OUT/transcripts.jsonl   the texts of some rollouts
    OUT/checkpoints/        the latest ones and the best one
    OUT/model/              weights or adapters of the best one
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from vouching.methods.base import Game, Row
from vouching.methods.training import GrpoConfig, Plan
from vouching.models.running import run
from vouching.settings import refuse_missing
from vouching.train.checkpoint import CHECKPOINTS, MODEL, keep_model, last_checkpoint, room_for, step_of, train_from
from vouching.train.engine import end_training, make_trainer, measure, on_step, prompt_lengths, training_arguments
from vouching.train.extra import say_dropped, see_device
from vouching.train.policy import load_policy
from vouching.train.run_folder import RunLog, digest_of_lines, log_to, open_run
from vouching.train.watch import Dev, Watch, also_learnt, steer

STOPPED_BY_ALARM = (
    "stopped by the alarm in step {step:,}: continue with --resume, or start again with the changes that the alarm "
    "suggests"
)


def train_game(
    config: GrpoConfig,
    out: Path,
    resume: bool = False,
    report: Callable[[str], None] | None = None,
    plan: Plan | None = None,
) -> Path:
    """Train a model on a game.

    Args:
        config: the settings.
        out: folder of the run; new or empty, or that of the same run with ``resume``.
        resume: continue from the last checkpoint.
        report: takes lines of progress; None writes them to standard error.
        plan: the game and its rows; None for those of the settings.

    Returns:
        The folder of the resulting model; adapters of further policies are in subfolders, by name.

    Raises:
        MissingExtraError: the extra "train" is not installed.
        ConfigError: the model or a setting cannot be used.
        InputError: rows cannot be used, or ``out`` belongs to another run or cannot be written.
        TrainingError: the gradient is not finite; the last checkpoint is complete.
        BackendError: the judge failed on all rollouts of a step; resuming later may help.
    """
    see_device(config.device)  # before the rows are read
    if plan is None:
        refuse_missing(config, "rows", "dev")
        plan = config.plan()
    arguments = training_arguments(config, out / CHECKPOINTS)
    main = arguments.process_index == 0
    say = log_to(report, main)
    model, tokenizer = load_policy(config.model, config.lora, arguments.bf16)
    learned, scored = (_short_enough(plan.game, tokenizer, some, config, say) for some in (plan.rows, plan.dev))
    with arguments.main_process_first(local=False):
        if main:
            counts = {"rows": len(learned), "dev": len(scored)}
            open_run(out, config, counts, {"rows": _digest(learned), "dev": _digest(scored)}, resume)
    checkpoint = last_checkpoint(out) if resume else None
    trainer = make_trainer(config, arguments, model, tokenizer, plan.game, learned)
    try:
        done, processes, device = step_of(checkpoint) if checkpoint else 0, arguments.world_size, arguments.device.type
        log = RunLog(out, done, config.power, processes, main, device)
        dev = Dev(lambda: measure(trainer, scored, config.seed, plan.scored_by), plan.best_by) if scored else None
        watch = Watch(log, config.watch, say, dev)
        on_step(trainer, lambda record, texts: watch.step(record, texts, trainer.state.max_steps))
        steer(trainer, watch, config.updates)
        also = f"{also_learnt(learned, scored)}; on {device}"
        say(f"{len(learned):,} rows for training, {len(scored):,} for evaluation{also}")
        with room_for(out):
            train_from(trainer, checkpoint)
        if watch.alarm is not None:
            say(STOPPED_BY_ALARM.format(step=watch.alarm.step))
        if main:
            say(f"the weights of step {keep_model(out):,} are in {out / MODEL}")
    finally:
        end_training(trainer)
        run(plan.aclose())
    return out / MODEL


def _short_enough(
    game: Game, tokenizer: object, rows: Sequence[Row], config: GrpoConfig, say: Callable[[str], None]
) -> list[Row]:
    """The rows whose first prompt is short enough; the others are reported, and an error if they are too many."""
    if not rows:
        return []
    limit = config.sampling.prompt_tokens
    kept = [
        row
        for row, tokens in zip(rows, prompt_lengths(tokenizer, game, rows, config.sampling.thinking), strict=True)
        if tokens <= limit
    ]
    say_dropped(
        len(rows) - len(kept),
        len(rows),
        f"prompts have more than {limit:,} tokens (sampling.prompt_tokens)",
        config.sampling.allow_dropped,
        "sampling.allow_dropped",
        say,
    )
    return kept


def _digest(rows: Sequence[Row]) -> str:
    return digest_of_lines(repr(sorted(row.items())) for row in rows)
