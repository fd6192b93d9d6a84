# pyright: basic
"""``vouch train rank``: the run. Read pairs, hold questions out; step, score, save.

    OUT/run.json         settings, revision, versions, data
    OUT/log.jsonl        a line per step and per evaluation
    OUT/checkpoints/     what a killed run goes on from, exactly (TRL's)
    OUT/model/           the scorer, or its adapters: what ``vouch rank --score-model`` opens
    OUT/held.jsonl       the questions held out and those of ``dev``, with the score of every answer

The scorer learns to put the better of two answers above the worse, each with its own evidence (DiVA, 3.2). Several
GPUs: start it with ``torchrun`` or ``accelerate launch``. Left out: choosing the best checkpoint; the last one stays.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError
from vouching.methods.discriminative.config import RankConfig
from vouching.train.checkpoint import go_on, last_checkpoint, step_of
from vouching.train.rank_model import imported, load_scorer, save_scorer
from vouching.train.rank_rows import RankPair, RatedQuestion, digest_of, hold_out, questions_of, read_pairs
from vouching.train.rank_scores import by_question, encoded, scores_of, told, values_of
from vouching.train.rank_trainer import Step, make_trainer, tell_steps, training_arguments
from vouching.train.run_folder import Progress, open_run

HELD = "held.jsonl"
TELL_EVERY = 20
"""Steps between lines of progress."""


@dataclass(frozen=True, slots=True)
class Material:
    """The pairs of a run."""

    train: list[RankPair]
    """What is learned from."""
    held: list[RatedQuestion]
    """Questions held out, which are scored on the way and at the end."""
    dev: list[RatedQuestion]
    """Those of ``dev``, which are scored at the end."""
    counts: dict[str, int]
    """Pairs by set, before the split."""
    digests: dict[str, str]
    """SHA-256 of the pairs of each side, by which a resumed run knows that it has the same."""


def train_rank(
    config: RankConfig, out: Path, resume: bool = False, report: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Train a scorer.

    Args:
        config: the settings.
        out: folder of the run; new or empty, or that of the same run with ``resume``.
        resume: go on where the run's last checkpoint stands; a finished run is only scored and written again.
        report: takes lines of progress; None writes them to standard error.

    Returns:
        The figures of the questions held out and those of ``dev``, see ``rank_scores.scores_of``.

    Raises:
        MissingExtraError: the extra "train" is not installed.
        ConfigError: the model or a setting cannot be used.
        InputError: pairs cannot be used, or ``out`` is of another run or cannot be written.
    """
    torch = imported("torch")
    torch.set_num_threads(config.threads)
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError('device is "cuda", but torch finds no GPU here: set device=auto or device=cpu')
    material = read_material(config)
    arguments = training_arguments(config, out)
    first = arguments.process_index == 0
    say = (report or (lambda line: print(line, file=sys.stderr, flush=True))) if first else (lambda line: None)  # noqa: T201
    model, tokenizer, drawn = load_scorer(config, arguments.bf16 and bool(config.lora_rank or config.deepspeed))
    with arguments.main_process_first(local=False):
        if first:
            open_run(out, config, material.counts, material.digests, resume)
    checkpoint = last_checkpoint(out) if resume else None
    done = step_of(checkpoint) if checkpoint else 0
    trainer = make_trainer(config, arguments, model, tokenizer, material.train, drawn)
    held = Held(material.held, trainer.model, tokenizer, config)
    pairs = config.batch_pairs * config.accumulate * arguments.world_size
    tell_steps(
        trainer, _Watch(held, config.evaluate_every, pairs, lambda steps: Progress(out, done, steps, say), first)
    )
    say(
        f"{sum(material.counts.values()):,} pairs, {len(material.train):,} to train on; {len(material.held):,} "
        f"questions held out; on {arguments.device.type}, from step {done:,}"
    )
    try:
        go_on(trainer, checkpoint)
        asked = [*material.held, *material.dev]
        scores, values = Held(asked, trainer.model, tokenizer, config).score()
        if first:
            save_scorer(trainer.accelerator.unwrap_model(trainer.model), tokenizer, config, out / "model")
            _write_held(out / HELD, asked, values)
    finally:
        trainer.accelerator.end_training()
    say(f"{told(scores)}; saved to {out / 'model'}")
    return scores


def read_material(config: RankConfig) -> Material:
    """Read the pairs and hold questions out.

    Raises:
        InputError: a file or a row cannot be used.
        ConfigError: nothing is left to train on or to score.
    """
    pairs = read_pairs([Path(name) for name in config.pairs])
    train, held = hold_out(pairs, config.held_share, config.seed)
    dev = read_pairs([Path(name) for name in config.dev])
    if shared := {pair.question for pair in dev} & {pair.question for pair in train}:
        raise ConfigError(f"dev has questions that are trained on, such as {min(shared)!r}: give others")
    if not train or not held:
        raise ConfigError(f"{len(train)} pairs to train on, {len(held)} held out: give more pairs")
    counts = Counter(pair.set or "pairs" for pair in pairs)
    digests = {"train": digest_of(train), "held_out": digest_of(held)}
    return Material(train, questions_of(held), questions_of(dev), dict(sorted(counts.items())), digests)


class Held:
    """What is held out, as the model reads it.

    Args:
        questions: the questions.
        model: the scorer, while it is trained.
        tokenizer: its tokenizer.
        config: the settings.
    """

    def __init__(self, questions: Sequence[RatedQuestion], model: Any, tokenizer: Any, config: RankConfig) -> None:
        self._questions, self._model, self._config = questions, model, config
        self._inputs, self._pad = encoded(questions, tokenizer, config), tokenizer.pad_token_id

    def score(self) -> tuple[dict[str, dict[str, float]], list[float]]:
        """The figures as of now, and the scores of all answers that they rest on."""
        values = values_of(self._model, self._inputs, self._pad, self._config.most_tokens)
        return scores_of(self._questions, values), values


class _Watch:
    """Told about every step: scores what is held out when it is time, and keeps the log in the first process."""

    def __init__(
        self, held: Held, evaluate_every: int, pairs: int, open_log: Callable[[int], Progress], keeps_log: bool
    ) -> None:
        self._held, self._evaluate_every, self._pairs = held, evaluate_every, pairs
        self._open_log, self._keeps_log = open_log, keeps_log
        self._log: Progress | None = None

    def __call__(self, step: Step) -> None:
        last = step.number == step.steps
        scores = self._held.score()[0] if last or step.number % self._evaluate_every == 0 else None
        if not self._keeps_log:
            return
        log = self._log = self._log or self._open_log(step.steps)
        log.count(step.number, self._pairs, step.losses)
        if step.number % TELL_EVERY == 0 or last:
            log.tell_losses()
        if scores is not None:
            log.log_scores(step.number, scores, told(scores))
        log.flush()


def _write_held(path: Path, held: Sequence[RatedQuestion], values: Sequence[float]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for one, scores in zip(held, by_question(held, values), strict=True):
            line = {
                "set": one.set, "group": one.group, "question": one.question,
                "answers": [answer.answer for answer in one.answers],
                "labels": [answer.label for answer in one.answers], "scores": [round(score, 6) for score in scores],
            }  # fmt: skip
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
