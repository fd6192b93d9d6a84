"""Settings for every test: the same examples on every machine, and no clock that fails a slow one."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")
