"""The settings of an evolution, and what follows from them: the student of round 0, and the verifier that cross-checks.

Not supported: students of other kinds in a settings file; ``evolve.loop`` takes any ``records.Student``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from vouching.checker import Checker
from vouching.errors import ConfigError
from vouching.evolve.probe import ProbeSource
from vouching.evolve.records import Judged, Row, Student, judged_as
from vouching.evolve.refine import EmbeddedSettings, EmbeddedStudent, KeptReadings
from vouching.evolve.structured import StructuredSettings, StructuredStudent, open_student, start_student

Start: TypeAlias = Callable[[Path, Sequence[Row]], Student]
"""Makes the student of round 0 in a folder; it may fit two numbers on the rows of dev. Called again, it opens it."""
Open: TypeAlias = Callable[[Path], Student]
"""Opens the student in a folder, to verify with."""
Verify: TypeAlias = Callable[[Sequence[Row]], Sequence[Judged]]
"""A second verifier's answers to rows, in order."""


@dataclass(frozen=True, slots=True)
class EvolveConfig:
    """What evolves, on what, and under which controls. Paths are relative to the working directory.

    Raises:
        ConfigError: a number out of range.

    >>> EvolveConfig(source="random").probes
    300
    """

    train: tuple[str, ...] = ()
    """Files of rows to learn from. They share no claim, source or document with those of ``dev``."""
    dev: tuple[str, ...] = ()
    """Files of rows that guide: verified in every round, never learned from, and never those of a test."""
    student: Literal["embedded", "structured"] = "embedded"
    """What evolves; its settings are the table of this name."""
    rounds: int = 4
    """Rounds after the start."""
    probes: int = 300
    """Probes of a round, the same whatever their source."""
    replay: int = 300
    """Rows of ``train`` that go along in a round."""
    source: ProbeSource = "weakness"
    """What guides the choice of probes: see ``evolve.probe``."""
    safe_share: float = 0.15
    """Share of the probes that stays Attributable."""
    sets: tuple[str, ...] = ()
    """Sets that probes may be made from; empty for all of ``train``."""
    smoothed: bool = True
    """Whether weights are drawn to the mean where a type has few rows."""
    cross_check: str = ""
    """A second verifier that every probe has to pass, as vouch check --model names it; empty for none."""
    gate: Literal["off", "harm", "safety"] = "off"
    """Whether a round that loses too much is refused, and by which rule: see ``evolve.gate``. What the gate would say
    is written down in any case, by "harm" where it is off."""
    max_loss: float = 0.02
    """What a watched set may lose."""
    watched: tuple[str, ...] = ()
    """Sets that can refuse a round; empty for all."""
    resamples: int = 2_000
    """Of the intervals of gate and fingerprint."""
    seed: int = 0
    """Of all chance."""
    embedded: EmbeddedSettings = field(default_factory=EmbeddedSettings)
    """How the embedded verifier is refined."""
    structured: StructuredSettings = field(default_factory=StructuredSettings)
    """How a language model is refined."""

    def __post_init__(self) -> None:
        for name, least in (("rounds", 1), ("probes", 1), ("replay", 0), ("resamples", 100), ("seed", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be at least {least}, got {getattr(self, name)}")
        for name in ("safe_share", "max_loss"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must lie in 0 to below 1, got {getattr(self, name)}")


def start_of(config: EvolveConfig, report: Callable[[str], None] | None = None) -> Start:
    """What makes the student of round 0; ``report`` takes lines of progress of its training."""
    kept = KeptReadings()

    def start(folder: Path, dev: Sequence[Row]) -> EmbeddedStudent:
        return EmbeddedStudent.start(folder, dev, config.embedded, config.seed, kept, report)

    def start_model(folder: Path, _: Sequence[Row]) -> StructuredStudent:
        return start_student(config.structured, folder, report)

    return start if config.student == "embedded" else start_model


def opened_by(config: EvolveConfig) -> Open:
    """What opens the verifier of a round again, to verify with."""
    kept = KeptReadings()

    def opened(folder: Path) -> EmbeddedStudent:
        return EmbeddedStudent(folder, (), config.embedded, config.seed, kept)

    return opened if config.student == "embedded" else open_student


def second_verifier(config: EvolveConfig) -> Verify | None:
    """The verifier that every probe has to pass; None if none is named. Raises ConfigError if it cannot be opened."""
    if not config.cross_check:
        return None
    checker = Checker(config.cross_check)

    def check(rows: Sequence[Row]) -> list[Judged]:
        return [judged_as(row, checker.check(row.claim, row.source)) for row in rows]

    return check
