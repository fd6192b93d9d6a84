"""Settings for every test: the same examples on every machine, no clock that fails a slow one, and one thread.

A child forked by a process whose OpenMP threads have run waits for them forever, so they must never start.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Collect tests alone, and no doctests of their files.

    A file that cannot be imported would be skipped as one without doctests, which also hides the error from pytest.
    """
    collectors = yield
    return [one for one in collectors if type(one).__name__ != "DoctestModule"]
