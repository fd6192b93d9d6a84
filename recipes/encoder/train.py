# pyright: basic
"""Trains the encoder of the embedded verifier: read, split, encode; step, score, save; export.

    python recipes/encoder/train.py recipes/encoder/attribution.toml [KEY=VALUE ...] --out DIR [--resume]

    OUT/run.json         settings, revision, versions, data
    OUT/log.jsonl        a line per step and per evaluation
    OUT/checkpoint.pt    for exact resuming
    OUT/model/           the torch model, from which a next stage can start
    OUT/export/          what ``vouching.encoder.load_encoder`` reads

A cross-encoder learns the relation of claim and source from rows of many sets, unsupported tokens from marked ones, and
to rank a claim above the same claim with an error. Not supported: several GPUs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.encoder.batches import EncodedRow, EncodedUnit, batch_of, encode_units, order_of_batches
from recipes.encoder.export import export_encoder
from recipes.encoder.model import (
    ENCODER,
    answers_of,
    load_model,
    longest_input,
    losses_of,
    read_batch,
    save_model,
    scores_of,
    summary_line,
)
from recipes.encoder.rows import Split, Unit, hold_out, read_set, read_sets, row_weights, without_shared
from recipes.encoder.settings import EncoderConfig
from recipes.rank.progress import Progress
from vouching.bench.catalog import data_folder
from vouching.cli.streams import Exit
from vouching.encoder.tokens import PairTokenizer
from vouching.encoder.weights import MANIFEST, TOKENIZER, Limits
from vouching.errors import ConfigError, InputError, VouchError, cause_of
from vouching.settings import read_settings, recorded_settings
from vouching.text.json_values import parse_json
from vouching.train.extra import encoder_folder, imported, see_device
from vouching.train.run_folder import log_to, open_run

CHECKPOINT = "checkpoint.pt"
TELL_EVERY = 20
"""Steps between lines of progress."""
MIN_COMPARED = 300
"""Rows on which an export is compared with torch, if available: with few, chance would decide."""
_LONGEST_GRADIENT = 1.0
_WARMUP = 0.06
"""Share of the steps for warm-up."""
_WEIGHT_DECAY = 0.01
"""Not on biases and norms."""


@dataclass(frozen=True, slots=True)
class Material:
    """The rows of a run, encoded."""

    train: list[EncodedUnit]
    """To train on."""
    held: list[EncodedUnit]
    """To score: held-out groups, and the sets of ``dev``."""
    held_places: list[str]
    """The set of each unit of ``held``."""
    pad: int
    """Token id of padding."""
    counts: Mapping[str, int]
    """Units by set, before the split."""
    digests: Mapping[str, str]
    """Of the split, see ``encoder_rows.Split``; without the sets of ``dev``."""

    @property
    def held_rows(self) -> list[EncodedRow]:
        """The rows of ``held``."""
        return [row for unit in self.held for row in unit.rows]

    @property
    def compared(self) -> list[EncodedRow]:
        """What an export is compared on: ``held_rows``, filled up with training rows if these are few."""
        more = max(0, MIN_COMPARED - len(self.held_rows))
        return [*self.held_rows, *islice((row for unit in self.train for row in unit.rows), more)]


@dataclass
class Run:
    """The state of a run that a step changes."""

    config: EncoderConfig
    model: Any
    """The torch model."""
    optimizer: Any
    """AdamW."""
    device: Any
    """Where the model is."""
    steps: int = 0
    """How many steps it has in all."""
    step: int = 0
    """How many are done."""

    @property
    def half(self) -> bool:
        """Whether products of matrices are in bfloat16."""
        return self.device.type == "cuda" or self.config.device == "cpu-bfloat16"

    def state(self) -> dict[str, Any]:
        """Everything that the next step depends on."""
        torch = imported("torch", ENCODER)
        cuda = torch.cuda.get_rng_state_all() if self.device.type == "cuda" else []
        return {
            "step": self.step,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "cuda": cuda,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a saved state."""
        torch = imported("torch", ENCODER)
        self.step = state["step"]
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        if state["cuda"] and self.device.type == "cuda":
            torch.cuda.set_rng_state_all(state["cuda"])


def train_encoder(
    config: EncoderConfig, out: Path, resume: bool = False, report: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Train an encoder and export it; the figures of the last evaluation, see ``encoder_model.scores_of``.

    Args:
        config: the settings.
        out: folder of the run; new or empty, or that of the same run with ``resume``.
        resume: continue from the run's checkpoint; a finished run is only exported again.
        report: takes lines of progress; None writes them to standard error.

    Raises:
        MissingExtraError: the extra "train", or onnx for the export, is not installed.
        ConfigError: VOUCH_DATA, the encoder or a setting cannot be used.
        InputError: rows cannot be used, or ``out`` belongs to another run or cannot be written.
    """
    torch = imported("torch", ENCODER)
    say = log_to(report)
    torch.set_num_threads(config.threads)
    folder = encoder_folder(config.encoder)
    tokenizer = PairTokenizer(folder / TOKENIZER)
    run = start(config, folder, tokenizer.size)
    material = read_material(config, tokenizer)
    run.steps = len(batches(config, material))
    open_run(out, config, material.counts, material.digests, resume)
    state = load_checkpoint(out) if resume else None
    if state:
        run.restore(state)
    progress = Progress(out, run.step, run.steps, say)
    sets, dev = len(material.counts), f", including all of {' and '.join(config.dev)}" if config.dev else ""
    units = f"{sum(material.counts.values()):,} examples from {sets} set{'s' * (sets != 1)}"
    split = f"{len(material.train):,} for training, {len(material.held):,} for evaluation{dev}"
    say(f"{units}: {split}; {run.steps:,} steps on {run.device.type}, starting at step {run.step:,}")
    if find_spec("onnx") is None:
        say("onnx is not installed, so the model will not be exported: install it and run again with --resume")
    scores = train(run, material, out, progress) or score(run, material)
    save_model(run.model, folder / TOKENIZER, out / "model")
    export_encoder(run.model, config, folder / TOKENIZER, out / "export", scores, material.digests, material.compared)
    say(f"exported to {out / 'export'}")
    return scores


def split_units(config: EncoderConfig) -> Split:
    """The units of the sets, split into training and held-out ones.

    The split depends on every file that the settings name, pairs included.
    """
    sets = read_sets(_folders(config.train), config.shares, config.max_rows, config.seed, config.rows)
    for name in config.pairs:
        place = f"pairs/{Path(name).name.partition('.')[0]}"
        sets[place] = read_set(Path(name), place, config.max_rows, config.seed)
    sets = without_shared(sets, read_sets(_folders(config.disjoint_from), {}, config.max_rows, config.seed))
    train, held = hold_out(sets, config.validation_rows, config.seed, config.validation_share)
    return Split({place: len(units) for place, units in sets.items()}, train, held)


def split_of_export(folder: Path) -> Split:
    """The split of an export's run, made again from its settings and checked against its record.

    Raises:
        InputError: the manifest cannot be read or does not record the split, or the files that the settings name now
            give another split, so that seemingly held-out rows may have been trained on.
    """
    manifest = folder / MANIFEST
    try:
        trained = parse_json(manifest.read_bytes())["trained"]
        config = recorded_settings(EncoderConfig, trained["settings"])
        recorded = trained.get("split")
    except ConfigError as error:
        raise InputError(f"{manifest}: {error}; rename the setting in that file") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"cannot read from {manifest} how the encoder was trained ({cause_of(error)}): export it again"
        ) from None
    if recorded is None:
        raise InputError(
            f"{manifest} does not record which rows the run held out: train the encoder again, or export "
            "its run again with recipes/encoder/train.py --resume"
        )
    split = split_units(config)
    if differing := [side for side, digest in split.digests.items() if recorded.get(side) != digest]:
        raise InputError(
            f"the rows recorded in {manifest} as {' and '.join(differing)} differ from those that its settings select "
            f"now, because {' or '.join([*config.pairs, 'a set in VOUCH_DATA'])} has changed: restore the files of the "
            "run, or train again"
        )
    return split


def _folders(parts: Sequence[str]) -> list[Path]:
    """Folders of those sets; training on files of pairs alone needs no ``VOUCH_DATA``."""
    return [data_folder() / "attribution" / part for part in parts]


def read_material(config: EncoderConfig, tokenizer: PairTokenizer) -> Material:
    """Read the sets, hold groups out, and encode everything."""
    split = split_units(config)
    dev = read_sets(_folders(config.dev), {}, config.validation_rows, config.seed)
    train, held = [*split.train], [*split.held, *(unit for units in dev.values() for unit in units)]
    if not train or not held:
        raise ConfigError(f"got {len(train)} examples for training and {len(held)} for evaluation: provide more rows")
    limits = Limits(config.max_tokens, config.max_claim_tokens, config.max_windows)

    def encoded(units: list[Unit], weights: list[float]) -> list[EncodedUnit]:
        return encode_units(units, weights, tokenizer, limits)

    return Material(
        encoded(train, row_weights(train, config.shares)),
        encoded(held, [1.0] * len(held)),
        [unit[0].place for unit in held],
        tokenizer.pad,
        split.counts,
        split.digests,
    )


def start(config: EncoderConfig, folder: Path, vocabulary: int) -> Run:
    """A run before its first step; its number of steps is not known yet.

    Raises:
        ConfigError: the encoder is too small for the tokenizer or the settings, or there is no such device.
    """
    torch = imported("torch", ENCODER)
    see_device(config.device)
    device = torch.device("cuda" if torch.cuda.is_available() and config.device in ("auto", "cuda") else "cpu")
    model = load_model(folder, config.seed, config.dropout)
    for limit, has, need, needed in (
        ("its vocabulary has", model["bert"].config.vocab_size, "its tokenizer has", vocabulary),
        ("it reads at most", longest_input(model), "max_tokens is", config.max_tokens),
    ):
        if needed > has:
            raise ConfigError(f"{config.encoder} is too small: {limit} {has:,} tokens, but {need} {needed:,}")
    model = model.to(device).train()
    # A batch has few of the words, and embeddings are half of all weights: sparse updates save a sixth of the time.
    model["bert"].get_input_embeddings().requires_grad_(False)
    learned = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in learned if p.ndim >= 2], "weight_decay": _WEIGHT_DECAY},
        {"params": [p for p in learned if p.ndim < 2], "weight_decay": 0.0},
    ]
    return Run(config, model, torch.optim.AdamW(groups, lr=config.learning_rate, fused=True), device)


def batches(config: EncoderConfig, material: Material) -> list[list[int]]:
    """The units of every step, in order: all epochs, or up to ``max_steps``."""
    order = [
        batch
        for epoch in range(config.epochs)
        for batch in order_of_batches(material.train, config.batch_tokens, config.seed, epoch)
    ]
    return order[: config.max_steps or None]


def rate_at(step: int, steps: int, config: EncoderConfig) -> float:
    """The learning rate of a step: linear warm-up, then linear decay to 0 after the last.

    >>> config = EncoderConfig(learning_rate=1.0)
    >>> [round(rate_at(step, 34, config), 2) for step in (0, 1, 2, 18, 33)]  # 2 of 34 steps up, 32 down
    [0.5, 1.0, 1.0, 0.5, 0.03]
    """
    rising = max(1, round(_WARMUP * steps))
    return config.learning_rate * min((step + 1) / rising, (steps - step) / max(1, steps - rising))


def train(run: Run, material: Material, out: Path, progress: Progress) -> dict[str, Any]:
    """Run the remaining steps; the figures of the last evaluation, none if no step was left."""
    order = batches(run.config, material)
    scores: dict[str, Any] = {}
    end = min(run.steps, run.config.stop_at or run.steps)
    while run.step < end:
        units = [material.train[i] for i in order[run.step]]
        losses = step(run, batch_of(units, material.pad))
        run.step += 1
        progress.count(run.step, sum(unit.windows for unit in units), losses)
        last = run.step == end
        if run.step % TELL_EVERY == 0 or last:
            progress.report_losses()
        if evaluated := (run.step % run.config.evaluate_every == 0 or last):
            scores = score(run, material)
            progress.log_scores(run.step, scores, summary_line(scores))
        if evaluated or run.step % run.config.checkpoint_every == 0:
            # The log first: lines after the checkpoint are dropped when resuming, missing ones would stay missing.
            progress.flush()
            save_checkpoint(out, run.state())
    return scores


def step(run: Run, batch: Any) -> dict[str, float]:
    """One optimizer step; the losses before it."""
    torch = imported("torch", ENCODER)
    for group in run.optimizer.param_groups:
        group["lr"] = rate_at(run.step, run.steps, run.config)
    losses = losses_of(read_batch(run.model, batch, run.device, run.half), batch, run.config)
    run.optimizer.zero_grad(set_to_none=True)
    losses.total.backward()
    torch.nn.utils.clip_grad_norm_(run.model.parameters(), _LONGEST_GRADIENT)
    run.optimizer.step()
    return losses.numbers()


def save_checkpoint(folder: Path, state: Mapping[str, Any]) -> None:
    """Write the checkpoint of a run atomically. Raises InputError; the previous checkpoint then stays."""
    torch = imported("torch", ENCODER)
    fresh = folder / f"{CHECKPOINT}.new"
    try:
        with fresh.open("wb") as file:
            torch.save(dict(state), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(folder / CHECKPOINT)
    except (OSError, RuntimeError) as error:  # torch reports a full disk as a RuntimeError
        fresh.unlink(missing_ok=True)
        raise InputError(f"cannot write {fresh} ({error}): free some space and continue with --resume") from error


def load_checkpoint(folder: Path) -> dict[str, Any] | None:
    """The checkpoint of a run; None if it has none yet. Raises InputError if it cannot be read."""
    torch = imported("torch", ENCODER)
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises what pickle and zipfile raise
        raise InputError(f"{path} is damaged or is not a checkpoint: delete it to start over") from error


def score(run: Run, material: Material) -> dict[str, Any]:
    """Figures of the held-out rows."""
    config = run.config
    answers = answers_of(run.model, material.held, material.pad, config.batch_tokens, run.device, run.half)
    return scores_of(material.held_places, material.held, answers)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and export; 0, 2 for settings, rows or a folder that cannot be used, or 130 if interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("config", type=Path, help="TOML file with the settings of the run")
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="settings that override those of the file")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the run")
    parser.add_argument("--resume", action="store_true", help="resume the run in DIR")
    given = parser.parse_args(arguments)
    try:
        train_encoder(read_settings(EncoderConfig, given.config, given.settings), given.out, given.resume)
    except VouchError as error:
        print(error, file=sys.stderr)
        return Exit.USAGE
    except KeyboardInterrupt:
        print(f"stopped; resume with --resume --out {given.out}", file=sys.stderr)
        return Exit.INTERRUPTED
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
