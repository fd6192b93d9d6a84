"""The embedded verifier evolves: its encoder is trained on probes and replay, its combined score recalibrated.

    python recipes/evolve/embedded.py run recipes/evolve/embedded.toml [KEY=VALUE ...] --out DIR [--resume]
    python recipes/evolve/embedded.py test DIR SET ... [--limit N] [--again]

do what ``vouch evolve run`` and ``test`` do for a language model. A round is the student in a folder:

    FOLDER/run/           the training run (see ``recipes/encoder``): run/export verifies, run/model is refined next
    FOLDER/combined.json  the shipped weights of rules and encoder, with a slope and a shift of this round

Of the combined score only slope and shift are fitted, on the same rows in every round including the start: a difference
between rounds is then one of encoders. Not supported: fitting the other weights, which would overfit few rows.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.encoder.export import write_floats
from recipes.encoder.settings import EncoderConfig
from recipes.encoder.train import CHECKPOINT, train_encoder
from vouching.cli.streams import Exit
from vouching.embedded.compared import Compared, compare
from vouching.embedded.scoring import ScoreModel, score_model_of
from vouching.embedded.soft_reading import COMBINED, EXPORT, SoftReader, combined_features
from vouching.embedded.verify import EmbeddedVerifier, Read
from vouching.encoder.encoder import Encoder, load_encoder
from vouching.encoder.reading import SoftReading
from vouching.encoder.weights import find_weights
from vouching.errors import InputError, VouchError
from vouching.evolve.config import EvolveConfig, Start
from vouching.evolve.loop import config_of, evolve_by, score_by
from vouching.evolve.records import Judged, Probe, Row, write_records
from vouching.metrics.calibrators import fit_calibrator
from vouching.reading.evidence import index_sources, shipped_table
from vouching.settings import read_settings
from vouching.text.json_values import parse_json
from vouching.types import Source

RUN, MODEL = "run", "run/model"
LOSSES: Mapping[str, float] = {"token": 0.3, "error": 0.1, "ranking": 0.5}
"""Factors of the losses, as for the shipped encoder."""
_HELD_SHARE, _MIN_HELD = 0.05, 4
"""Share of probes and replay held out for validation, and the minimum number of probes."""


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """How the encoder of the embedded verifier is refined."""

    start: str = ""
    """Folder of a run of ``recipes/encoder`` to start from; empty for the shipped encoder, with its int8 weights
    converted to floats."""
    steps: int = 60
    """Maximum steps of a round."""
    batch_tokens: int = 1024
    """Tokens of a batch, including padding."""
    learning_rate: float = 1.5e-4
    """Maximum, after the warm-up."""
    max_windows: int = 1
    """Windows of a long source that are read in training."""
    checkpoint_every: int = 30
    """Steps between checkpoints."""
    threads: int = 1
    """Threads of torch."""


@dataclass(frozen=True, slots=True)
class EmbeddedEvolveConfig(EvolveConfig):
    """Settings of an evolution of the embedded verifier; the table ``structured`` is not used."""

    embedded: EmbeddedSettings = field(default_factory=EmbeddedSettings)


class ReadingCache:
    """Features of rows: those of the rules, which no round changes, and those of the current encoder.

    A round reads its rows twice, to fit its score and to answer.
    """

    def __init__(self) -> None:
        self._compared: dict[tuple[str, str], Compared] = {}
        self._read: dict[tuple[str, str], SoftReading] = {}
        self._digest: str | None = None

    def compared(self, row: Row) -> Compared:
        """The rules' comparison of a row."""
        key = (row.claim, row.source)
        if key not in self._compared:
            self._compared[key] = compare(row.claim, index_sources([Source(row.source)]))
        return self._compared[key]

    def of(self, encoder: Encoder) -> dict[tuple[str, str], SoftReading]:
        """The readings of an encoder; those of another one are dropped."""
        if self._digest != encoder.weights.digest:
            self._read, self._digest = {}, encoder.weights.digest
        return self._read


class CachedReader(SoftReader):
    """An encoder with a score model that reads a claim with the same source once."""

    def __init__(self, encoder: Encoder, model: ScoreModel, cache: ReadingCache) -> None:
        super().__init__(encoder, model)
        self._of, self._cache = encoder, cache

    def read(self, compared: Compared) -> SoftReading:
        """Read a claim with its sources, or take the reading from the cache."""
        found, key = self._cache.of(self._of), (compared.claim.text, compared.index.sources[0].text)
        if key not in found:
            found[key] = super().read(compared)
        return found[key]


class EmbeddedStudent:
    """The embedded verifier of one round, in a folder as :meth:`start` or :meth:`refine` wrote it.

    Slope and shift of the combined score are fitted on the rows ``fitted_on``. The cache is shared among rounds.
    ``report`` gets lines of progress of a training run; None writes them to standard error.
    """

    def __init__(
        self,
        folder: Path,
        fitted_on: Sequence[Row],
        settings: EmbeddedSettings | None = None,
        seed: int = 0,
        cache: ReadingCache | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self._report = report
        self._folder, self._fitted_on, self._seed = folder, fitted_on, seed
        self._settings = settings or EmbeddedSettings()
        self._cache = cache or ReadingCache()
        model = score_model_of((folder / COMBINED).read_bytes())
        self._verifier = EmbeddedVerifier(soft_reader=CachedReader(load_encoder(folder / EXPORT), model, self._cache))

    @classmethod
    def start(
        cls,
        out: Path,
        fitted_on: Sequence[Row],
        settings: EmbeddedSettings | None = None,
        seed: int = 0,
        cache: ReadingCache | None = None,
        report: Callable[[str], None] | None = None,
    ) -> EmbeddedStudent:
        """The student of round 0: the shipped encoder or that of a run, unchanged.

        Raises WeightsError or ConfigError if there is no such encoder, or it cannot be trained further.
        """
        settings = settings or EmbeddedSettings()
        cache = cache or ReadingCache()
        if not (out / COMBINED).exists():
            begun = Path(settings.start) if settings.start else None
            export = find_weights(begun / "export" if begun else None).folder
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(export, out / EXPORT, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
            if begun:
                shutil.copytree(begun / "model", out / MODEL)
            else:
                write_floats(None, out / MODEL)
            fit_combined(out, fitted_on, cache)
        return cls(out, fitted_on, settings, seed, cache, report)

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self._folder

    def verify(self, rows: Sequence[Row]) -> list[Judged]:
        """One answer per row, in order, without fixes."""
        return [self._judged(row, self._verifier.weigh(self._cache.compared(row))) for row in rows]

    def refine(
        self, round: int, probes: Sequence[Probe], replay: Sequence[Row], rules: Sequence[str], out: Path
    ) -> EmbeddedStudent:
        """The student of the next round, from 1; its encoder is trained on probes and replay with equal weights.

        Claims with an inserted error are paired with their originals. ``rules`` are not used: an encoder has no prompt.
        Raises InputError if there is nothing to train on or ``out`` has another run.
        """
        if not (out / COMBINED).exists():
            out = out.resolve()  # a run that resumes elsewhere has to find its files under the same names
            files = tuple(str(out / f"{name}.jsonl") for name in ("probes", "replay"))
            write_records(Path(files[0]), probes)
            write_records(Path(files[1]), replay)
            settings = self._settings
            limits = find_weights(self._folder / EXPORT).limits
            config = EncoderConfig(
                encoder=str(self._folder.resolve() / MODEL),
                train=(),
                dev=(),
                pairs=files,
                losses=LOSSES,
                validation_share=max(_HELD_SHARE, min(0.5, _MIN_HELD / max(1, len(probes)))),
                max_tokens=limits.max_tokens,
                max_claim_tokens=limits.max_claim_tokens,
                max_windows=settings.max_windows,
                max_steps=settings.steps,
                batch_tokens=settings.batch_tokens,
                learning_rate=settings.learning_rate,
                dropout=0.0,
                evaluate_every=settings.steps,
                device="cpu",
                checkpoint_every=settings.checkpoint_every,
                seed=self._seed * 1_000 + round,
                threads=settings.threads,
            )
            train_encoder(config, out / RUN, resume=True, report=self._report)
            fit_combined(out, self._fitted_on, self._cache)
        (out / RUN / CHECKPOINT).unlink(missing_ok=True)
        return EmbeddedStudent(out, self._fitted_on, self._settings, self._seed, self._cache, self._report)

    def _judged(self, row: Row, read: Read) -> Judged:
        error = self._verifier.error_type(read)
        return Judged(row, read.score, "Attributable" if error is None else "Not Attributable", error)


def fit_combined(folder: Path, rows: Sequence[Row], cache: ReadingCache) -> None:
    """Write the combined score of an encoder: the shipped one, with slope and shift fitted on rows (Platt).

    Sets with rows of both labels have equal weight, and so have the labels in each; sets with one label and rows that
    the encoder does not read are excluded. Written last, the file marks a complete round. Raises InputError if no set
    has both labels.
    """
    record = parse_json(shipped_table("small.json"))
    record["encoder"] = find_weights(folder / EXPORT).digest
    model = score_model_of(json.dumps(record).encode())
    verifier = EmbeddedVerifier(soft_reader=CachedReader(load_encoder(folder / EXPORT), model, cache))
    weights, fitted_on, scores = even_weights(rows), list[Row](), list[float]()
    for row in rows:
        compared = cache.compared(row)
        if row.data_set in weights and (soft := verifier.weigh(compared).soft) is not None:
            fitted_on.append(row)
            scores.append(model.logit(combined_features(compared.kinds, soft)))
    if not fitted_on:
        raise InputError(
            "fitting the score requires a set with rows of both labels, but dev has no such set: add rows of the "
            "missing label to a set"
        )
    counts = [weights[row.data_set][row.attributable] for row in fitted_on]
    fitted = fit_calibrator("platt", [row.attributable for row in fitted_on], scores, counts)
    record["calibration"] = dict(zip(("slope", "shift"), (round(value, 4) for value in fitted.at), strict=True))
    fresh = folder / f"{COMBINED}.new"
    fresh.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    fresh.replace(folder / COMBINED)


def even_weights(rows: Sequence[Row]) -> dict[str, dict[bool, float]]:
    """Weights of rows by set and whether they are Attributable; sets have equal weight, and so have their labels.

    A row of a set with as many of both labels as the mean set has weighs 1. Sets with one label are excluded.

    >>> labels = ("Attributable", "Not Attributable", "Not Attributable")
    >>> even_weights([Row(str(n), "c", "s", label, "wice") for n, label in enumerate(labels)])
    {'wice': {True: 1.5, False: 0.75}}
    """
    counts = Counter((row.data_set, row.attributable) for row in rows)
    both = [name for name in {row.data_set for row in rows} if counts[name, True] and counts[name, False]]
    each = sum(counts[name, label] for name in both for label in (True, False)) / max(1, 2 * len(both))
    return {name: {label: each / counts[name, label] for label in (True, False)} for name in both}


def start_of(config: EmbeddedEvolveConfig, report: Callable[[str], None] | None = None) -> Start:
    """The function that makes the student of round 0; ``report`` gets its training's lines of progress."""
    cache = ReadingCache()

    def start(folder: Path, dev: Sequence[Row]) -> EmbeddedStudent:
        return EmbeddedStudent.start(folder, dev, config.embedded, config.seed, cache, report)

    return start


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an evolution or its test, and print the page of its fingerprint; an exit status as of ``vouch evolve``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="evolve in a new or empty folder, or resume")
    run.add_argument("config", type=Path, help="TOML file with the settings")
    run.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="settings that override those of the file")
    run.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the evolution")
    run.add_argument("--resume", action="store_true", help="resume the evolution in DIR")
    test = commands.add_parser("test", help="score all rounds on test sets, once")
    test.add_argument("folder", type=Path, metavar="DIR", help="folder of the evolution")
    test.add_argument("sets", nargs="+", metavar="SET", help="test sets of claims")
    test.add_argument("--limit", type=int, default=200, metavar="N", help="maximum number of rows per set")
    test.add_argument("--again", action="store_true", help="repeat a test that was already run")
    given = parser.parse_args(arguments)
    say = partial(print, file=sys.stderr, flush=True)
    try:
        if given.command == "run":
            config = read_settings(EmbeddedEvolveConfig, given.config, given.settings)
            page = evolve_by(config, given.out, given.resume, say, start_of(config, say))
        else:
            cache, config = ReadingCache(), config_of(given.folder, EmbeddedEvolveConfig)
            opened = partial(EmbeddedStudent, fitted_on=(), cache=cache)
            page = score_by(config, given.folder, given.sets, given.limit, given.again, say, opened)
    except VouchError as error:
        print(error, file=sys.stderr)
        return Exit.USAGE
    except KeyboardInterrupt:
        print("stopped; run the same command again, an evolution with --resume", file=sys.stderr)
        return Exit.INTERRUPTED
    print(page)
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
