"""Settings for every test: the same examples on every machine, no clock that fails a slow one, and one thread.

A child forked by a process whose OpenMP threads have run waits for them forever, so they must never start.
"""

from __future__ import annotations

import os

from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")
