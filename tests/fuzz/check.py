"""The property of every target: whatever the text, it returns or raises a documented error, and soon."""

from __future__ import annotations

import time
import warnings

from tests.fuzz.target import Target

SLOWEST = 20.0
"""Seconds of processor time for one small text."""
LONGEST = 5_000
"""Characters of a message."""


def check(target: Target, text: str) -> str:
    """Parse a text: "read", or the name of the documented error.

    Raises AssertionError for another error than the target may raise, or if it takes too long.
    """
    message, outcome = "none", "read"
    started = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.parse(text)
    except target.allowed as error:
        message, outcome = str(error), type(error).__name__
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} escaped: {error}") from error
    assert message.strip(), "an error without a message"
    assert len(message) <= LONGEST, f"a message of {len(message)} characters"
    assert time.process_time() - started < SLOWEST, "too slow"
    return outcome
