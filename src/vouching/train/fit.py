# pyright: basic
"""Flow 2 on one page: a game is played, rewarded, turned into advantages, and a model updated, step by step.

    game       plays rows: who speaks, who sees what, what each completion earns      games/, rewards/
    engine     turns rewards into advantages and those into an update, by TRL         advantages, train/engine
    log        every number of every step, once                                       train/runlog
    monitors   tell early when a run goes wrong, and may end it                       train/monitor
    checkpoint what a killed run goes on from; the best one becomes OUT/model         train/checkpoint

What a run leaves behind:

    OUT/run.json            settings as resolved, revision, versions, digests of the data
    OUT/metrics.jsonl       a line per step
    OUT/transcripts.jsonl   what was said in some rollouts
    OUT/checkpoints/        the last ones and the best one
    OUT/model/              weights or adapters of the best one

Left out: games of other people's; ``fit`` takes any.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from vouching.errors import InputError
from vouching.methods.assurance.config import AssuranceRunConfig
from vouching.methods.assurance.game import AssuranceGame
from vouching.methods.assurance.reward import AssuranceCosts
from vouching.methods.assurance.task import read_work, units_of
from vouching.methods.base import Game, Row
from vouching.methods.blinded.config import BlindedConfig
from vouching.methods.blinded.game import BlindedGame, Preference, audit_watch
from vouching.methods.blinded.verify import open_blinded
from vouching.methods.checklist.config import ChecklistRunConfig
from vouching.methods.checklist.game import ChecklistGame
from vouching.methods.checklist.replay import Replay
from vouching.methods.checklist.self_game import SelfVerifyGame
from vouching.methods.checklist.verify import open_checklist
from vouching.methods.structured.config import StructuredConfig
from vouching.methods.structured.game import StructuredGame, binary_score, process_score
from vouching.methods.structured.reward_weights import reward_bounds
from vouching.methods.training import GrpoConfig
from vouching.train.checkpoint import CHECKPOINTS, MODEL, keep_model, last_checkpoint, room_for, step_of
from vouching.train.engine import (
    end_training,
    make_trainer,
    measure,
    prompt_lengths,
    tell_steps,
    train_from,
    training_arguments,
)
from vouching.train.lessons import also_learnt, read_gold, read_prompts, read_questions, read_tasks
from vouching.train.policy import load_policy, see_device
from vouching.train.run_folder import RunLog, digest_of_lines, open_run
from vouching.train.watch import Dev, Watch, steer


def train_structured(
    config: StructuredConfig, out: Path, resume: bool = False, report: Callable[[str], None] | None = None
) -> Path:
    """Train a verifier by SEVA's game (section 2.3): G records on each claim, each rewarded part by part.

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
        TrainingError: the gradient is no number; the last checkpoint is whole.
        BackendError: the judge failed in all rollouts of a step; going on later may help.
    """
    see_device(config.device)  # before the rows are read
    process = config.reward == "process"
    score, top = (process_score(config.variant), reward_bounds()[1]) if process else (binary_score(), 1.0)
    game = StructuredGame(config.sampling.group_size, score, top=top)
    rows = (read_prompts(config.rows), read_prompts(config.dev))
    return fit(game, rows, config, out, best_by="oracle/right", resume=resume, report=report)


def train_assurance(
    config: AssuranceRunConfig, out: Path, resume: bool = False, report: Callable[[str], None] | None = None
) -> Path:
    """Train a generator and a verifier of structured work by DPA-GRPO: two adapters, forced pairs, drafts in groups.

    Args and errors are those of :func:`train_structured`; the adapter of the verifier is in ``OUT/model/verifier``.
    """
    see_device(config.device)
    rows = (read_work(config.rows), read_work(config.dev))
    game, blind = assurance_games(config, max(map(units_of, rows)))
    return fit(game, rows, config, out, best_by="oracle/submitted", scored_by=blind, resume=resume, report=report)


def assurance_games(config: AssuranceRunConfig, turns: int) -> tuple[AssuranceGame, AssuranceGame]:
    """What is learnt from, and what is played where a run is only scored: there nobody chooses by what is right.

    >>> learnt, scored = assurance_games(AssuranceRunConfig(rows=("returns",), model="policy"), turns=19)
    >>> learnt.oracle, scored.oracle
    (True, False)
    """
    settings = config.game
    game = AssuranceGame(
        config.sampling.group_size, settings.candidates, settings.revision_temperature,
        AssuranceCosts(settings.intervention_cost, settings.revision_cost), settings.proposals, settings.oracle,
        settings.alone, turns=turns,
    )  # fmt: skip
    return game, replace(game, oracle=False)


def train_checklist(
    config: ChecklistRunConfig, out: Path, resume: bool = False, report: Callable[[str], None] | None = None
) -> Path:
    """Train a generator by checklists: Soft-RLVR with a judge, Soft-SVeRL where the policy judges itself.

    The best checkpoint is chosen by the rules that rows of ``dev`` name, if all do; else by the reward, which a policy
    that judges itself may raise by growing lenient. Arguments, result and errors are those of :func:`train_structured`.
    """
    see_device(config.device)
    rows, settings = (read_tasks(config.rows), read_tasks(config.dev)), config.checklist
    if settings.judge:
        judge = open_checklist(settings.judge, settings.outside(config.seed))
        game: Game = ChecklistGame(judge, config.sampling.group_size, settings.rules)
    else:
        gold = read_gold(settings.gold) if settings.lambda_v else []
        replay = Replay(gold, settings.replay, settings.gold_share, config.seed) if settings.lambda_v else None
        game = SelfVerifyGame(config.sampling.group_size, settings.self_verification, replay)
    ruled = all(row.get("instruction_id_list") for row in rows[1])
    best_by = "oracle/rules" if ruled else "reward/generator/total"
    return fit(game, rows, config, out, best_by=best_by, resume=resume, report=report)


def train_blinded(
    config: BlindedConfig, out: Path, resume: bool = False, report: Callable[[str], None] | None = None,
    preference: Preference | None = None,
) -> Path:  # fmt: skip
    """Train a model that answers from documents by MARCH's game: PPO with a critic, solver and blind checker as one.

    Args and errors are those of :func:`train_structured`; ``preference`` adds a reward of your own to the solver's. The
    best checkpoint is that whose answers the embedded auditor bears out most often, which learns nothing.
    """
    see_device(config.device)
    rows = (read_questions(config.rows), read_questions(config.dev))
    settings = config.game
    game = BlindedGame(
        config.sampling.group_size, settings.votes, settings.rules, settings.min_numbers, settings.checker_learns,
        settings.style, preference, audit_watch(open_blinded()),
    )  # fmt: skip
    return fit(game, rows, config, out, best_by="oracle/borne_out", resume=resume, report=report)


def fit(
    game: Game, rows: tuple[Sequence[Row], Sequence[Row]], config: GrpoConfig, out: Path, *, best_by: str,
    scored_by: Game | None = None, resume: bool = False, report: Callable[[str], None] | None = None,
) -> Path:  # fmt: skip
    """Train a model by a game.

    Args:
        game: what is played.
        rows: what it is played on, and what it is only scored on (may be empty).
        config: the settings.
        out: folder of the run.
        best_by: the figure on the rows that are only scored by which the best checkpoint is chosen.
        scored_by: what is played on rows that are only scored; None for the same game.
        resume: go on where the run's last checkpoint stands.
        report: takes lines of progress; None writes them to standard error.

    Returns:
        The folder of the model that came out. Errors are those of :func:`train_structured`.
    """
    see_device(config.device)
    arguments = training_arguments(config, out / CHECKPOINTS)
    main = arguments.process_index == 0
    say = (report or (lambda line: print(line, file=sys.stderr, flush=True))) if main else (lambda line: None)  # noqa: T201
    model, tokenizer = load_policy(config.model, config.lora, arguments.bf16)
    learned, scored = (_short_enough(game, tokenizer, some, config, say) for some in rows)
    with arguments.main_process_first(local=False):
        if main:
            counts = {"rows": len(learned), "dev": len(scored)}
            open_run(out, config, counts, {"rows": _digest(learned), "dev": _digest(scored)}, resume)
    checkpoint = last_checkpoint(out) if resume else None
    trainer = make_trainer(config, arguments, model, tokenizer, game, learned)
    try:
        log = RunLog(out, step_of(checkpoint) if checkpoint else 0, config.power, arguments.world_size, main)
        dev = Dev(lambda: measure(trainer, scored, config.seed, scored_by), best_by) if scored else None
        watch = Watch(log, config.watch, say, dev)
        tell_steps(trainer, lambda record, texts: watch.step(record, texts, trainer.state.max_steps))
        steer(trainer, watch, config.updates)
        known = also_learnt(learned, scored)
        say(f"{len(learned):,} rows to play on, {len(scored):,} to score{known}; on {arguments.device.type}")
        with room_for(out):
            train_from(trainer, checkpoint)
        if watch.alarm is not None:
            say(f"stopped by an alarm in step {watch.alarm.step:,}: go on with --resume, or lower what it names")
        if main:
            say(f"the weights of step {keep_model(out):,} are in {out / MODEL}")
    finally:
        end_training(trainer)
    return out / MODEL


def _short_enough(
    game: Game, tokenizer: object, rows: Sequence[Row], config: GrpoConfig, say: Callable[[str], None]
) -> list[Row]:
    """The rows whose first prompt is not too long; the others are told."""
    if not rows:
        return []
    most = config.sampling.prompt_tokens
    kept = [row for row, tokens in zip(rows, prompt_lengths(tokenizer, game, rows), strict=True) if tokens <= most]
    if not kept:
        raise InputError(f"all {len(rows):,} prompts have more than {most:,} tokens: raise sampling.prompt_tokens")
    if len(kept) < len(rows):
        say(f"{len(rows) - len(kept):,} of {len(rows):,} rows have prompts of more than {most:,} tokens: left out")
    return kept


def _digest(rows: Sequence[Row]) -> str:
    return digest_of_lines(repr(sorted(row.items())) for row in rows)
