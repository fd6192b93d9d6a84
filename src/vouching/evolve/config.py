"""The settings of an evolution, and what they name: the student of round 0, and the verifier that cross-checks.

Not supported: students of other kinds in a settings file; ``evolve.loop`` takes any ``records.Student``, such as the
embedded verifier of ``recipes/evolve/embedded.py``.
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
from vouching.evolve.structured import StructuredSettings, StructuredStudent, start_student

Start: TypeAlias = Callable[[Path, Sequence[Row]], Student]
"""Makes the student of round 0 in a folder, or opens it; it may fit a slope and a shift on the rows of dev."""
Open: TypeAlias = Callable[[Path], Student]
"""Opens the student in a folder for verification."""
Verify: TypeAlias = Callable[[Sequence[Row]], Sequence[Judged]]
"""A second verifier's answers to rows, in order."""


@dataclass(frozen=True, slots=True)
class EvolveConfig:
    """Settings of an evolution. Paths are relative to the working directory. Raises ConfigError if out of range."""

    train: tuple[str, ...] = ()
    """Files of training rows. They share no claim, source or document with those of ``dev``."""
    dev: tuple[str, ...] = ()
    """Files of rows that guide the evolution: verified in every round, and neither training nor test rows."""
    rounds: int = 4
    """Rounds after the start."""
    probes: int = 300
    """Probes of a round."""
    probes_by_round: tuple[int, ...] = ()
    """B_k: probes of each round, instead of ``probes``; empty for equally many in all."""
    replay: int = 300
    """Rows of ``train`` that are replayed in a round."""
    replay_by_round: tuple[int, ...] = ()
    """Rows replayed in each round, instead of ``replay``; empty for equally many in all."""
    source: ProbeSource = "weakness"
    """How probes are selected: see ``evolve.probe``."""
    safe_share: float = 0.15
    """Share of the probes that is still Attributable."""
    sets: tuple[str, ...] = ()
    """Sets that probes may be made from; empty for all of ``train``."""
    smoothed: bool = True
    """Whether weights are shrunk to the mean for types with few rows."""
    cross_check: str = ""
    """A second verifier that every probe has to pass, as vouch check --model names it; empty for none."""
    check_types: bool = False
    """Whether the second verifier must agree on the error type too."""
    gate: Literal["off", "harm", "safety"] = "off"
    """The rule by which a round that loses too much is refused: see ``evolve.gate``. The gate's decision is recorded in
    any case, by "harm" if it is off."""
    max_loss: float = 0.02
    """What a watched set may lose."""
    watched: tuple[str, ...] = ()
    """Sets that can refuse a round; empty for all."""
    resamples: int = 2_000
    """Of the intervals of gate and fingerprint."""
    seed: int = 0
    """Random seed of probes, replay and training."""
    structured: StructuredSettings = field(default_factory=StructuredSettings)

    def __post_init__(self) -> None:
        for name, lowest in (("rounds", 1), ("probes", 1), ("replay", 0), ("resamples", 100), ("seed", 0)):
            if getattr(self, name) < lowest:
                raise ConfigError(f"{name} must be at least {lowest}, got {getattr(self, name)}")
        for name, lowest in (("probes_by_round", 1), ("replay_by_round", 0)):
            given: tuple[int, ...] = getattr(self, name)
            if given and (len(given) != self.rounds or min(given) < lowest):
                raise ConfigError(
                    f"{name} must have a number for each of the {self.rounds} rounds, at least {lowest}, got {[*given]}"
                )
        if self.check_types and not self.cross_check:
            raise ConfigError("check_types requires a second verifier: name one in cross_check")
        for name in ("safe_share", "max_loss"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 0 and below 1, got {getattr(self, name)}")


def probes_of(config: EvolveConfig, number: int) -> int:
    """The number of probes of a round, from 1."""
    return config.probes_by_round[number - 1] if config.probes_by_round else config.probes


def replay_in(config: EvolveConfig, number: int) -> int:
    """The number of rows that are replayed in a round, from 1."""
    return config.replay_by_round[number - 1] if config.replay_by_round else config.replay


def start_of(config: EvolveConfig, report: Callable[[str], None] | None = None) -> Start:
    """The function that makes the student of round 0; ``report`` gets its training's lines of progress."""

    def start(folder: Path, _: Sequence[Row]) -> StructuredStudent:
        return start_student(config.structured, folder, report)

    return start


def second_verifier(config: EvolveConfig) -> Verify | None:
    """The verifier that every probe has to pass; None if none is named. Raises ConfigError if it cannot be opened."""
    if not config.cross_check:
        return None
    checker = Checker(config.cross_check)

    def check(rows: Sequence[Row]) -> list[Judged]:
        return [judged_as(row, checker.check(row.claim, row.source)) for row in rows]

    return check
