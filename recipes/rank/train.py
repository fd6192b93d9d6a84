# pyright: basic
"""Trains a scorer of answers: read pairs, hold questions out; step, score, save.

    python recipes/rank/train.py recipes/rank/cpu.toml [KEY=VALUE ...] --out DIR [--resume]

    OUT/run.json         settings, revision, versions, data
    OUT/log.jsonl        a line per step and per evaluation
    OUT/checkpoints/     for exact resuming (TRL's)
    OUT/model/           the scorer, or its adapters: what ``vouch rank --score-model`` opens
    OUT/held.jsonl       the held-out questions and those of ``dev``, with the score of every answer

The scorer learns to score the better of two answers higher, each with its own evidence (DiVA, 3.2). Several GPUs: start
it with ``torchrun`` or ``accelerate launch``. Not supported: choosing the best checkpoint (the last one is kept).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.rank.model import load_scorer, make_trainer, save_scorer, training_arguments
from recipes.rank.progress import Progress
from recipes.rank.rows import RankPair, RatedQuestion, digest_of, hold_out, input_of, questions_of, read_pairs
from recipes.rank.settings import RankConfig
from vouching.cli.streams import Exit
from vouching.errors import ConfigError, VouchError
from vouching.methods.discriminative.input import encode
from vouching.metrics import kendall_tau_b, precision_at_1
from vouching.settings import read_settings
from vouching.train.checkpoint import last_checkpoint, step_of, train_from
from vouching.train.extra import imported, see_device
from vouching.train.run_folder import log_to, open_run
from vouching.train.watch import after_steps

_AT_ONCE = 32
"""Inputs of the maximal length that are read at once."""


def encoded(questions: Sequence[RatedQuestion], tokenizer: Any, config: RankConfig) -> list[tuple[int, ...]]:
    """Token ids of every answer of every question, in order."""
    return [
        encode(tokenizer, input_of(one.question, answer, one.history, config.shown), config.max_tokens).ids
        for one in questions
        for answer in one.answers
    ]


def values_of(model: Any, inputs: Sequence[tuple[int, ...]], pad: int, max_tokens: int) -> list[float]:
    """The raw scores of inputs, in order."""
    torch = imported("torch")
    values = [0.0] * len(inputs)
    was_training = model.training
    model.eval()
    with torch.no_grad(), torch.autocast(model.device.type, torch.bfloat16, enabled=model.device.type == "cuda"):
        for numbers in batches_by_length([len(ids) for ids in inputs], _AT_ONCE * max_tokens):
            longest = max(len(inputs[i]) for i in numbers)
            ids = torch.tensor([[*inputs[i], *[pad] * (longest - len(inputs[i]))] for i in numbers])
            mask = torch.tensor([[1] * len(inputs[i]) + [0] * (longest - len(inputs[i])) for i in numbers])
            logits = model(input_ids=ids.to(model.device), attention_mask=mask.to(model.device)).logits
            for i, value in zip(numbers, logits.squeeze(-1).float().tolist(), strict=True):
                values[i] = value
    model.train(was_training)
    return values


def batches_by_length(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Numbers of rows in batches, shortest rows first, of at most ``max_tokens`` after padding (or of one row).

    >>> batches_by_length([9, 2, 3], max_tokens=8)
    [[1, 2], [0]]
    """
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batches and (len(batches[-1]) + 1) * lengths[row] <= max_tokens:
            batches[-1].append(row)
        else:
            batches.append([row])
    return batches


def by_question(questions: Sequence[RatedQuestion], values: Sequence[float]) -> Iterator[list[float]]:
    """The scores of each question, from those of all answers in order."""
    at = 0
    for one in questions:
        yield [*values[at : at + len(one.answers)]]
        at += len(one.answers)


def scores_of(questions: Sequence[RatedQuestion], values: Sequence[float]) -> dict[str, dict[str, float]]:
    """Figures by set, and over all questions ("all").

    Returns:
        By set: ``questions``; ``p_at_1``, the share with a best answer on top; ``tau``, the mean of Kendall's tau-b, 0
        where all scores are equal; ``chance``, ``p_at_1`` of a random order.

    >>> from recipes.rank.rows import RatedAnswer, RatedQuestion
    >>> answers = (RatedAnswer("1973", "correct"), RatedAnswer("1937", "incorrect"))
    >>> scores_of([RatedQuestion("", "q", "When?", answers)], [0.4, 0.1])
    {'all': {'questions': 1, 'p_at_1': 1.0, 'tau': 1.0, 'chance': 0.5}}
    """
    places: defaultdict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for one, scores in zip(questions, by_question(questions, values), strict=True):
        worth = one.worth
        tau = float(kendall_tau_b(worth, scores))
        row = (
            float(precision_at_1(worth, scores)),
            0.0 if math.isnan(tau) else tau,
            worth.count(max(worth)) / len(worth),
        )
        places["all"].append(row)
        if one.set:
            places[one.set].append(row)
    found: dict[str, dict[str, float]] = {}
    for place, rows in sorted(places.items()):
        hits, taus, chances = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        found[place] = {
            "questions": len(rows),
            "p_at_1": round(hits, 4),
            "tau": round(taus, 4),
            "chance": round(chances, 4),
        }
    return found


def summary_line(scores: Mapping[str, Mapping[str, float]]) -> str:
    """Figures in one line, for progress.

    >>> summary_line({"all": {"questions": 9, "p_at_1": 0.75, "tau": 0.5, "chance": 0.3}})
    'P@1 / tau: all .750 / .500'
    """
    parts = (f"{place} {found['p_at_1']:.3f} / {found['tau']:.3f}" for place, found in scores.items())
    return f"P@1 / tau: {', '.join(parts)}".replace(" 0.", " .")


HELD = "held.jsonl"
TELL_EVERY = 20
"""Steps between lines of progress."""


@dataclass(frozen=True, slots=True)
class Material:
    """The pairs of a run."""

    train: list[RankPair]
    """To train on."""
    held: list[RatedQuestion]
    """Held-out questions, scored during training and at the end."""
    dev: list[RatedQuestion]
    """Questions of ``dev``, scored at the end."""
    counts: dict[str, int]
    """Pairs by set, before the split."""
    digests: dict[str, str]
    """SHA-256 of the pairs of each part, to check them when a run resumes."""


def train_rank(
    config: RankConfig, out: Path, resume: bool = False, report: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Train a scorer; the figures of the held-out questions and those of ``dev``, see ``scores_of``.

    Args:
        config: the settings.
        out: folder of the run; new or empty, or that of the same run with ``resume``.
        resume: continue from the last checkpoint; a finished run is only scored and written again.
        report: takes lines of progress; None writes them to standard error.

    Raises:
        MissingExtraError: the extra "train" is not installed.
        ConfigError: the model or a setting cannot be used.
        InputError: pairs cannot be used, or ``out`` belongs to another run or cannot be written.
    """
    torch = imported("torch")
    torch.set_num_threads(config.threads)
    see_device(config.device)
    material = read_material(config)
    arguments = training_arguments(config, out)
    first = arguments.process_index == 0
    say = log_to(report, first)
    model, tokenizer, drawn = load_scorer(config, arguments.bf16 and bool(config.lora_rank or config.deepspeed))
    with arguments.main_process_first(local=False):
        if first:
            open_run(out, config, material.counts, material.digests, resume)
    checkpoint = last_checkpoint(out) if resume else None
    done = step_of(checkpoint) if checkpoint else 0
    trainer = make_trainer(config, arguments, model, tokenizer, material.train, drawn)
    held = Held(material.held, trainer.model, tokenizer, config)
    pairs = config.batch_pairs
    after_steps(
        trainer, _Watch(held, config.evaluate_every, pairs, lambda steps: Progress(out, done, steps, say), first)
    )
    say(
        f"pairs: {sum(material.counts.values()):,}, {len(material.train):,} of them for training; held-out questions "
        f"for evaluation: {len(material.held):,}; on {arguments.device.type}, starting at step {done:,}"
    )
    try:
        train_from(trainer, checkpoint)
        asked = [*material.held, *material.dev]
        scores, values = Held(asked, trainer.model, tokenizer, config).score()
        if first:
            save_scorer(trainer.accelerator.unwrap_model(trainer.model), tokenizer, config, out / "model")
            _write_held(out / HELD, asked, values)
    finally:
        trainer.accelerator.end_training()
    say(f"{summary_line(scores)}; saved to {out / 'model'}")
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
        raise ConfigError(
            f"dev has questions that are also in the training pairs, such as {min(shared)!r}: use other questions"
        )
    if not train or not held:
        raise ConfigError(f"got {len(train)} pairs for training and {len(held)} for evaluation: provide more pairs")
    counts = Counter(pair.set or "pairs" for pair in pairs)
    digests = {"train": digest_of(train), "held_out": digest_of(held)}
    return Material(train, questions_of(held), questions_of(dev), dict(sorted(counts.items())), digests)


class Held:
    """Held-out questions as the model reads them."""

    def __init__(self, questions: Sequence[RatedQuestion], model: Any, tokenizer: Any, config: RankConfig) -> None:
        self._questions, self._model, self._config = questions, model, config
        self._inputs, self._pad = encoded(questions, tokenizer, config), tokenizer.pad_token_id

    def score(self) -> tuple[dict[str, dict[str, float]], list[float]]:
        """The current figures, and the scores of all answers."""
        values = values_of(self._model, self._inputs, self._pad, self._config.max_tokens)
        return scores_of(self._questions, values), values


class _Watch:
    """Called after every step: scores the held-out questions when due, and keeps the log in the first process."""

    def __init__(
        self, held: Held, evaluate_every: int, pairs: int, open_log: Callable[[int], Progress], keeps_log: bool
    ) -> None:
        self._held, self._evaluate_every, self._pairs = held, evaluate_every, pairs
        self._open_log, self._keeps_log = open_log, keeps_log
        self._log: Progress | None = None

    def __call__(self, state: Any, _: Any, logs: Mapping[str, float]) -> None:
        number, last = state.global_step, state.global_step == state.max_steps
        scores = self._held.score()[0] if last or number % self._evaluate_every == 0 else None
        if not self._keeps_log:
            return
        log = self._log = self._log or self._open_log(state.max_steps)
        log.count(number, self._pairs, {"total": logs["loss"], "gap": logs["gap"], "order": logs["order"]})
        if number % TELL_EVERY == 0 or last:
            log.report_losses()
        if scores is not None:
            log.log_scores(number, scores, summary_line(scores))
        log.flush()


def _write_held(path: Path, held: Sequence[RatedQuestion], values: Sequence[float]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for one, scores in zip(held, by_question(held, values), strict=True):
            line = {
                "set": one.set,
                "group": one.group,
                "question": one.question,
                "answers": [answer.answer for answer in one.answers],
                "labels": [answer.label for answer in one.answers],
                "scores": [round(score, 6) for score in scores],
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and save; 0, 2 for settings, pairs or a folder that cannot be used, or 130 if interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("config", type=Path, help="TOML file with the settings of the run")
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="settings that override those of the file")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the run")
    parser.add_argument("--resume", action="store_true", help="resume the run in DIR")
    given = parser.parse_args(arguments)
    try:
        train_rank(read_settings(RankConfig, given.config, given.settings), given.out, given.resume)
    except VouchError as error:
        print(error, file=sys.stderr)
        return Exit.USAGE
    except KeyboardInterrupt:
        print(f"stopped; resume with --resume --out {given.out}", file=sys.stderr)
        return Exit.INTERRUPTED
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
