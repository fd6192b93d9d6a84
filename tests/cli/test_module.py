"""``python -m vouching``."""

from __future__ import annotations

import subprocess
import sys


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "vouching", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("vouch ")
