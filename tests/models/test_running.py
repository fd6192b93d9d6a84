"""The loop behind the synchronous front."""

from __future__ import annotations

import asyncio
import gc
import os
import time

import pytest

from vouching.models.running import run

LIMIT = 5.0
"""Seconds after which a loop that nobody wakes up looks around by itself."""


async def woken_by_a_thread() -> int:
    return await asyncio.wait_for(asyncio.to_thread(lambda: 7), LIMIT)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_that_frees_its_parents_loop_leaves_the_parent_awake() -> None:
    run(woken_by_a_thread())
    child = os.fork()
    if child == 0:
        try:
            run(asyncio.sleep(0))  # a loop of the child's own takes the place of the parent's
            gc.collect()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    begun = time.monotonic()
    assert run(woken_by_a_thread()) == 7
    assert time.monotonic() - begun < LIMIT / 2
