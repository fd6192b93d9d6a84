"""The embedded verifier as a student: its encoder learns from probes and replay, its combined score is set anew.

    FOLDER/model/         the float encoder, from which the next round starts
    FOLDER/export/        the int8 encoder that answers
    FOLDER/combined.json  weights of rules and encoder as they ship, with a slope and a shift of this round
    FOLDER/run.json ...   the training run (see ``vouch train encoder``)

What a round changes is the encoder. Of the combined score only slope and shift are fitted, on the same rows in every
round, the first included: a difference between rounds is then one of encoders. Left out: fitting the other weights
anew; they would learn what is odd about few rows.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vouching.encoder.encoder import load_encoder
from vouching.encoder.reading import Reading
from vouching.encoder.weights import MANIFEST, find_weights
from vouching.evolve.records import Judged, Probe, Row, write_records
from vouching.metrics.calibrators import fit_calibrator
from vouching.types import Source
from vouching.verifiers.embedded.evidence import index_sources
from vouching.verifiers.embedded.scoring import load_score_model, score_model_of
from vouching.verifiers.embedded.shipped import shipped_table
from vouching.verifiers.embedded.soft_reading import SoftReader, combined_features
from vouching.verifiers.embedded.verifier import Compared, EmbeddedVerifier, Read, compare

MODEL, EXPORT, COMBINED, CHECKPOINT = "model", "export", "combined.json", "checkpoint.pt"
LOSSES: Mapping[str, float] = {"token": 0.3, "error": 0.1, "ranking": 0.5}
"""Factors of the losses, as in the run of the encoder that ships."""


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """How the encoder of the embedded verifier is refined.

    >>> EmbeddedSettings(steps=60).batch_tokens
    2048
    """

    start: str = ""
    """Folder of a run of ``vouch train encoder`` to start from; empty for the encoder that ships, whose int8 weights
    are taken back to floats."""
    steps: int = 90
    """Steps of a round, at most."""
    batch_tokens: int = 2048
    """Tokens of a batch, padding included."""
    learning_rate: float = 5e-5
    """Highest rate, after the warm-up."""
    most_windows: int = 1
    """Windows of a long source that are read in training."""
    checkpoint_every: int = 30
    """Steps between checkpoints."""
    threads: int = 1
    """Threads of torch."""


@dataclass
class Compares:
    """What the rules made of rows. No round changes that, so that every student of an evolution can share it."""

    found: dict[tuple[str, str], Compared] = field(default_factory=dict[tuple[str, str], Compared])
    """By claim and source."""

    def of(self, row: Row) -> Compared:
        """A row as the rules see it."""
        key = (row.claim, row.source)
        if key not in self.found:
            self.found[key] = compare(row.claim, index_sources([Source(row.source)]))
        return self.found[key]


class EmbeddedStudent:
    """The embedded verifier of one round.

    Args:
        folder: as :meth:`start` or :meth:`refine` wrote it.
        fitted_on: rows that slope and shift of the combined score are fitted on, of both labels.
        settings: how it is refined.
        seed: of order and dropout.
        compares: what the rules made of rows, shared among rounds; a new one if left out.

    Raises:
        WeightsError: the folder is not whole.
    """

    def __init__(
        self,
        folder: Path,
        fitted_on: Sequence[Row],
        settings: EmbeddedSettings | None = None,
        seed: int = 0,
        compares: Compares | None = None,
    ) -> None:
        self._folder, self._fitted_on, self._seed = folder, fitted_on, seed
        self._settings = settings or EmbeddedSettings()
        self._compares = compares or Compares()
        self._verifier = open_embedded_round(folder)

    @classmethod
    def start(
        cls,
        out: Path,
        fitted_on: Sequence[Row],
        settings: EmbeddedSettings | None = None,
        seed: int = 0,
        compares: Compares | None = None,
    ) -> EmbeddedStudent:
        """The student of round 0: the encoder that ships or that of a run, as it is.

        Raises:
            WeightsError, ConfigError: there is no such encoder, or it cannot be trained further.
            MissingExtraError: the extra "train" is not installed.
        """
        from vouching.train.encoder_floats import write_floats

        settings = settings or EmbeddedSettings()
        compares = compares or Compares()
        if not (out / COMBINED).exists():
            begun = Path(settings.start) if settings.start else None
            export = find_weights(begun / EXPORT if begun else None).folder
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(export, out / EXPORT, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
            if begun:
                shutil.copytree(begun / MODEL, out / MODEL)
            else:
                write_floats(None, out / MODEL)
            fit_combined(out, fitted_on, compares)
        return cls(out, fitted_on, settings, seed, compares)

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self._folder

    def verify(self, rows: Sequence[Row]) -> list[Judged]:
        """One answer per row, in order. No fix is looked for."""
        return [self._judged(row, self._verifier.weigh(self._compares.of(row))) for row in rows]

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
            files = tuple(str(out.with_name(f"{out.name}-{name}.jsonl")) for name in ("probes", "replay"))
            write_records(Path(files[0]), probes)
            write_records(Path(files[1]), replay)
            settings = self._settings
            limits = find_weights(self._folder / EXPORT).limits
            config = EncoderConfig(
                encoder=str(self._folder / MODEL), train=(), dev=(), pairs=files, losses=LOSSES, validation_share=0.05,
                most_tokens=limits.most_tokens, most_claim_tokens=limits.most_claim_tokens,
                most_windows=settings.most_windows, most_steps=settings.steps, batch_tokens=settings.batch_tokens,
                learning_rate=settings.learning_rate, dropout=0.0, evaluate_every=settings.steps, device="cpu",
                checkpoint_every=settings.checkpoint_every, seed=self._seed * 1_000 + round, threads=settings.threads,
            )  # fmt: skip
            train_encoder(config, out, resume=True)
            fit_combined(out, self._fitted_on, self._compares)
        (out / CHECKPOINT).unlink(missing_ok=True)
        return EmbeddedStudent(out, self._fitted_on, self._settings, self._seed, self._compares)

    def _judged(self, row: Row, read: Read) -> Judged:
        error = self._verifier.error_type(read)
        return Judged(row, read.score, "Attributable" if error is None else "Not Attributable", error)


def open_embedded_round(folder: Path, threshold: float = 0.5) -> EmbeddedVerifier:
    """The embedded verifier of a round, as a verifier like any other.

    Raises:
        WeightsError: the folder is not whole.
        OSError: its combined.json cannot be read.
    """
    model = score_model_of((folder / COMBINED).read_bytes())
    return EmbeddedVerifier(threshold, soft_reader=SoftReader(load_encoder(folder / EXPORT), model))


def fit_combined(folder: Path, rows: Sequence[Row], compares: Compares) -> None:
    """Write the combined score of an encoder: as it ships, with slope and shift fitted on rows (Platt).

    Every set and both of its labels count alike. Written last of all, it tells that a round is whole.

    Args:
        folder: has the encoder in ``export``.
        rows: to fit on.
        compares: what the rules made of them.
    """
    record = json.loads(shipped_table("combined.json"))
    record["encoder"] = load_encoder(folder / EXPORT).weights.digest
    reader = SoftReader(load_encoder(folder / EXPORT), score_model_of(json.dumps(record).encode()))
    rules, kept, scores = load_score_model("rules"), list[Row](), list[float]()
    for row in rows:
        compared = compares.of(row)
        if not compared.is_empty:
            soft: Reading = reader.read(row.claim, compared.segments, compared.index)
            kept.append(row)
            scores.append(reader.model.logit(combined_features(rules.logit(compared.features), soft)))
    fitted = fit_calibrator("platt", [row.attributable for row in kept], scores, even_weights(kept))
    slope, shift = (round(value, 4) for value in fitted.at)
    record["calibration"] = {"slope": slope, "shift": shift}
    fresh = folder / f"{COMBINED}.new"
    fresh.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    fresh.replace(folder / COMBINED)


def even_weights(rows: Sequence[Row]) -> NDArray[np.float64]:
    """What each row counts for, so that sets count alike and in each the labels that it has; 1 on average.

    >>> rows = [Row("1", "c", "s", "Attributable", "a"), Row("2", "c", "s", "Not Attributable", "a")]
    >>> rows += [Row(str(number), "c", "s", "Not Attributable", "b") for number in (3, 4)]
    >>> even_weights(rows).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    labels = {name: {row.attributable for row in rows if row.data_set == name} for name in {r.data_set for r in rows}}
    counts: dict[tuple[str, bool], int] = {}
    for row in rows:
        counts[row.data_set, row.attributable] = counts.get((row.data_set, row.attributable), 0) + 1
    each = len(rows) / len(labels)
    return np.array(
        [each / len(labels[row.data_set]) / counts[row.data_set, row.attributable] for row in rows], np.float64
    )


def is_whole(folder: Path) -> bool:
    """Whether a student lies in a folder, finished."""
    return (folder / COMBINED).is_file() and (folder / EXPORT / MANIFEST).is_file()
