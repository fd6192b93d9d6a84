"""Bounds on the work of a test that hold on a slow and busy machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ends_within(seconds: float = 60) -> Iterator[None]:
    """Fail if what runs inside takes more processor time than that.

    For work that takes at most a few seconds and would take minutes if it grew faster than its input. A machine that
    others use has needed five times the processor time of a quiet one, so a bound is ten times what is usual or more.
    """
    started = time.process_time()
    yield
    spent = time.process_time() - started
    assert spent < seconds, f"{spent:.1f} s of processor time, at most {seconds:g} s were expected"
