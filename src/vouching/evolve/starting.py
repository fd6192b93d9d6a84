"""From settings to what an evolution starts with: the student of round 0 and the verifier that cross-checks.

Left out: students of other kinds; ``evolve.loop`` takes any that has the methods of ``records.Student``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from vouching.evolve.config import EvolveConfig
from vouching.evolve.final import Open
from vouching.evolve.loop import Start, Verify
from vouching.evolve.records import Judged, Row, judged_as
from vouching.evolve.refine import EmbeddedStudent, KeptReadings
from vouching.evolve.structured import StructuredStudent, open_student, start_student


def start_of(config: EvolveConfig, report: Callable[[str], None] | None = None) -> Start:
    """What makes the student of round 0.

    Args:
        config: the settings.
        report: takes lines of progress of its training.
    """
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
    from vouching.checker import Checker

    checker = Checker(config.cross_check)

    def check(rows: Sequence[Row]) -> list[Judged]:
        return [judged_as(row, checker.check(row.claim, row.source)) for row in rows]

    return check
