"""A student without weights, for the loop: it finds the errors of the types that it has just learned from.

    python scholar.py CONFIG OUT STAGE ROUND

runs an evolution of it that ends as by a power cut: before or after it refines in a round, or before it answers.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vouching.evolve.config import EvolveConfig
from vouching.evolve.loop import evolve
from vouching.evolve.records import Judged, Probe, Row
from vouching.settings import read_settings

ENOUGH = 10


@dataclass(frozen=True)
class Scholar:
    """Finds an error if its last round had enough probes of the type; forgets what it did not see then."""

    folder: Path
    dies: tuple[str, int] = ("", 0)

    def verify(self, rows: Sequence[Row]) -> list[Judged]:
        self.die("verify")
        known = json.loads((self.folder / "known.json").read_text(encoding="utf-8"))
        return [
            Judged(row, 0.1, "Not Attributable", row.error_type)
            if known.get(row.error_type, 0) >= ENOUGH
            else Judged(row, 0.9, "Attributable")
            for row in rows
        ]

    def refine(
        self, round: int, probes: Sequence[Probe], replay: Sequence[Row], rules: Sequence[str], out: Path
    ) -> Scholar:
        student = Scholar(out, self.dies)
        if not (out / "known.json").exists():
            student.die("before")
            kinds = [probe.error_type for probe in probes if probe.error_type]
            learn(out, {kind: kinds.count(kind) for kind in kinds})
            student.die("after")
        return student

    def die(self, stage: str) -> None:
        """End as by a power cut, if this is the moment."""
        if self.dies == (stage, int(self.folder.parent.name.removeprefix("round-"))):
            os.kill(os.getpid(), signal.SIGKILL)


def learn(folder: Path, known: dict[str, int]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "known.json").write_text(json.dumps(known, sort_keys=True), encoding="utf-8")


def start(folder: Path, dev: Sequence[Row], dies: tuple[str, int] = ("", 0)) -> Scholar:
    """One that has learned nothing yet."""
    learn(folder, {})
    return Scholar(folder, dies)


if __name__ == "__main__":
    toml, out, stage, number = sys.argv[1:]
    evolve(
        read_settings(EvolveConfig, Path(toml)), Path(out), lambda folder, dev: start(folder, dev, (stage, int(number)))
    )
