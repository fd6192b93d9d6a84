"""The embedded verifier as a student: its encoder learns from probes and replay, its combined score is set anew.

    FOLDER/run/           the training run (see ``vouch train encoder``): run/export answers, run/model goes on
    FOLDER/combined.json  weights of rules and encoder as they ship, with a slope and a shift of this round

What a round changes is the encoder. Of the combined score only slope and shift are fitted, on the same rows in every
round, the first included: a difference between rounds is then one of encoders. Left out: fitting the other weights
anew; they would learn what is odd about few rows.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vouching.encoder.encoder import Encoder, load_encoder
from vouching.encoder.reading import SoftReading
from vouching.encoder.weights import find_weights
from vouching.errors import InputError
from vouching.evolve.records import Judged, Probe, Row, write_records
from vouching.methods.embedded.evidence import SourceIndex, index_sources, shipped_table
from vouching.methods.embedded.features import Segment
from vouching.methods.embedded.scoring import ScoreModel, load_score_model, score_model_of
from vouching.methods.embedded.soft_reading import COMBINED, EXPORT, SoftReader, combined_features
from vouching.methods.embedded.verify import Compared, EmbeddedVerifier, Read, compare
from vouching.metrics.calibrators import fit_calibrator
from vouching.train.checkpoint import CHECKPOINT
from vouching.types import Source

RUN, MODEL = "run", "run/model"
LOSSES: Mapping[str, float] = {"token": 0.3, "error": 0.1, "ranking": 0.5}
"""Factors of the losses, as in the run of the encoder that ships."""
_HELD_SHARE, _MIN_HELD = 0.05, 4
"""Share of probes and replay that a round only scores itself on, and how many probes at least."""


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """How the encoder of the embedded verifier is refined.

    >>> EmbeddedSettings(steps=30).batch_tokens
    1024
    """

    start: str = ""
    """Folder of a run of ``vouch train encoder`` to start from; empty for the encoder that ships, whose int8 weights
    are taken back to floats."""
    steps: int = 60
    """Steps of a round, at most."""
    batch_tokens: int = 1024
    """Tokens of a batch, padding included."""
    learning_rate: float = 1.5e-4
    """Highest rate, after the warm-up."""
    max_windows: int = 1
    """Windows of a long source that are read in training."""
    checkpoint_every: int = 30
    """Steps between checkpoints."""
    threads: int = 1
    """Threads of torch."""


class KeptReadings:
    """What rules and encoders made of rows: the rules' part for good, the encoder's as long as it is the same one.

    No round changes what the rules see, and a round reads its rows twice, to fit its score and to answer.
    """

    def __init__(self) -> None:
        self._compared: dict[tuple[str, str], Compared] = {}
        self._read: dict[tuple[str, str], SoftReading] = {}
        self._digest: str | None = None

    def compared(self, row: Row) -> Compared:
        """A row as the rules see it."""
        key = (row.claim, row.source)
        if key not in self._compared:
            self._compared[key] = compare(row.claim, index_sources([Source(row.source)]))
        return self._compared[key]

    def of(self, encoder: Encoder) -> dict[tuple[str, str], SoftReading]:
        """The readings of an encoder; those of another are let go of."""
        if self._digest != encoder.weights.digest:
            self._read, self._digest = {}, encoder.weights.digest
        return self._read


class KeptReader(SoftReader):
    """An encoder with a score model that reads a claim beside the same source once."""

    def __init__(self, encoder: Encoder, model: ScoreModel, kept: KeptReadings) -> None:
        super().__init__(encoder, model)
        self._of, self._kept = encoder, kept

    def read(self, claim: str, segments: Sequence[Segment], index: SourceIndex) -> SoftReading:
        """Read a claim beside its sources, or remember what came of it."""
        found, key = self._kept.of(self._of), (claim, index.sources[0].text)
        if key not in found:
            found[key] = super().read(claim, segments, index)
        return found[key]


class EmbeddedStudent:
    """The embedded verifier of one round.

    Args:
        folder: as :meth:`start` or :meth:`refine` wrote it.
        fitted_on: rows that slope and shift of the combined score are fitted on, of both labels.
        settings: how it is refined.
        seed: of order and dropout.
        kept: what was made of rows before, shared among rounds.
        report: takes lines of progress of a training run; None writes them to standard error.

    Raises:
        WeightsError: the folder is not whole.
    """

    def __init__(
        self,
        folder: Path,
        fitted_on: Sequence[Row],
        settings: EmbeddedSettings | None = None,
        seed: int = 0,
        kept: KeptReadings | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self._report = report
        self._folder, self._fitted_on, self._seed = folder, fitted_on, seed
        self._settings = settings or EmbeddedSettings()
        self._kept = kept or KeptReadings()
        model = score_model_of((folder / COMBINED).read_bytes())
        self._verifier = EmbeddedVerifier(soft_reader=KeptReader(load_encoder(folder / EXPORT), model, self._kept))

    @classmethod
    def start(
        cls,
        out: Path,
        fitted_on: Sequence[Row],
        settings: EmbeddedSettings | None = None,
        seed: int = 0,
        kept: KeptReadings | None = None,
        report: Callable[[str], None] | None = None,
    ) -> EmbeddedStudent:
        """The student of round 0: the encoder that ships or that of a run, as it is.

        Raises:
            WeightsError, ConfigError: there is no such encoder, or it cannot be trained further.
            MissingExtraError: the extra "train" is not installed.
        """
        from vouching.train.encoder_export import write_floats

        settings = settings or EmbeddedSettings()
        kept = kept or KeptReadings()
        if not (out / COMBINED).exists():
            begun = Path(settings.start) if settings.start else None
            export = find_weights(begun / "export" if begun else None).folder
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(export, out / EXPORT, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
            if begun:
                shutil.copytree(begun / "model", out / MODEL)
            else:
                write_floats(None, out / MODEL)
            fit_combined(out, fitted_on, kept)
        return cls(out, fitted_on, settings, seed, kept, report)

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self._folder

    def verify(self, rows: Sequence[Row]) -> list[Judged]:
        """One answer per row, in order. No fix is looked for."""
        return [self._judged(row, self._verifier.weigh(self._kept.compared(row))) for row in rows]

    def refine(
        self, round: int, probes: Sequence[Probe], replay: Sequence[Row], rules: Sequence[str], out: Path
    ) -> EmbeddedStudent:
        """The student of the next round; its encoder learned from probes and replay, which count alike.

        Args:
            round: which round it is, from 1; each has an order of its own.
            probes: what to learn from; claims with an error go beside what they were before.
            replay: rows of the data that it learned from before.
            rules: not used; an encoder has no prompt.
            out: a folder of its own.

        Raises:
            InputError: there is nothing to learn from, or the folder holds another run.
            ConfigError: the encoder cannot be trained or exported.
            MissingExtraError: the extra "train" is not installed.
        """
        from vouching.train.encoder import train_encoder
        from vouching.train.encoder_config import EncoderConfig

        if not (out / COMBINED).exists():
            out = out.resolve()  # a run that goes on elsewhere has to find its files under the same names
            files = tuple(str(out / f"{name}.jsonl") for name in ("probes", "replay"))
            write_records(Path(files[0]), probes)
            write_records(Path(files[1]), replay)
            settings = self._settings
            limits = find_weights(self._folder / EXPORT).limits
            config = EncoderConfig(
                encoder=str(self._folder.resolve() / MODEL), train=(), dev=(), pairs=files, losses=LOSSES,
                validation_share=max(_HELD_SHARE, min(0.5, _MIN_HELD / max(1, len(probes)))),
                max_tokens=limits.max_tokens, max_claim_tokens=limits.max_claim_tokens,
                max_windows=settings.max_windows, max_steps=settings.steps, batch_tokens=settings.batch_tokens,
                learning_rate=settings.learning_rate, dropout=0.0, evaluate_every=settings.steps, device="cpu",
                checkpoint_every=settings.checkpoint_every, seed=self._seed * 1_000 + round, threads=settings.threads,
            )  # fmt: skip
            train_encoder(config, out / RUN, resume=True, report=self._report)
            fit_combined(out, self._fitted_on, self._kept)
        (out / RUN / CHECKPOINT).unlink(missing_ok=True)
        return EmbeddedStudent(out, self._fitted_on, self._settings, self._seed, self._kept, self._report)

    def _judged(self, row: Row, read: Read) -> Judged:
        error = self._verifier.error_type(read)
        return Judged(row, read.score, "Attributable" if error is None else "Not Attributable", error)


def fit_combined(folder: Path, rows: Sequence[Row], kept: KeptReadings) -> None:
    """Write the combined score of an encoder: as it ships, with slope and shift fitted on rows (Platt).

    Sets with rows of both labels count alike, and so do the labels in each; sets with one are left out. Written last of
    all, the file tells that a round is whole. Rows that the encoder is not asked about say nothing of it.

    Raises:
        InputError: no set has rows of both labels.
    """
    record = json.loads(shipped_table("combined.json"))
    record["encoder"] = find_weights(folder / EXPORT).digest
    model, rules = score_model_of(json.dumps(record).encode()), load_score_model("rules")
    verifier = EmbeddedVerifier(soft_reader=KeptReader(load_encoder(folder / EXPORT), model, kept))
    weights, fitted_on, scores = even_weights(rows), list[Row](), list[float]()
    for row in rows:
        compared = kept.compared(row)
        if row.data_set in weights and (soft := verifier.weigh(compared).soft) is not None:
            fitted_on.append(row)
            scores.append(model.logit(combined_features(rules.logit(compared.features), soft)))
    if not fitted_on:
        raise InputError("no set of dev has rows of both labels, which the score is fitted on: add some to a set")
    counts = [weights[row.data_set][row.attributable] for row in fitted_on]
    fitted = fit_calibrator("platt", [row.attributable for row in fitted_on], scores, counts)
    record["calibration"] = dict(zip(("slope", "shift"), (round(value, 4) for value in fitted.at), strict=True))
    fresh = folder / f"{COMBINED}.new"
    fresh.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    fresh.replace(folder / COMBINED)


def even_weights(rows: Sequence[Row]) -> dict[str, dict[bool, float]]:
    """What a row counts for, by set and whether it is Attributable, so that sets count alike and so do their labels.

    A row of a set with as many of both labels as the mean set has counts 1. Sets with one label are left out.

    >>> rows = [Row(str(n), "c", "s", "Not Attributable" if n else "Attributable", "a") for n in range(4)]
    >>> even_weights([*rows, Row("4", "c", "s", "Not Attributable", "b")])["a"][True]
    2.0
    """
    counts = Counter((row.data_set, row.attributable) for row in rows)
    both = [name for name in {row.data_set for row in rows} if counts[name, True] and counts[name, False]]
    each = sum(counts[name, label] for name in both for label in (True, False)) / max(1, 2 * len(both))
    return {name: {label: each / counts[name, label] for label in (True, False)} for name in both}
