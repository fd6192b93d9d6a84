"""An evolution of the embedded verifier on a BERT of two layers, to be killed in the middle of a step.

python embedded_process.py CONFIG OUT [ROUND STEP]
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from recipes.evolve.embedded import EmbeddedEvolveConfig, start_of
from vouching.evolve.loop import evolve
from vouching.settings import read_settings


def run(toml: Path, out: Path, number: int = 0, step: int = 0) -> None:
    """Evolve, and die when the log of a round's training tells of a step."""
    begun = 0

    def tell(line: str) -> None:
        nonlocal begun
        begun += "examples from" in line
        if begun == number and line.startswith(f"step {step} "):
            os.kill(os.getpid(), signal.SIGKILL)

    config = read_settings(EmbeddedEvolveConfig, toml)
    evolve(config, out, start_of(config, tell), resume=True)


if __name__ == "__main__":
    path, folder, *rest = sys.argv[1:]
    run(Path(path), Path(folder), *map(int, rest))
