"""Texts that break careless code: the material of the properties of the text layer."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from hypothesis import strategies as st

HOSTILE_PIECES = (
    *" .,'’-\"“”&\n\t",
    "\0",
    "\ud800",
    "\u202e",
    "İ",
    "ß",
    "👩‍🔬",
    "שלום",
    "东京",
    "한국",
    "Ann",
    "the",
    "The",
    "of",
    "U.S.",
    "not",
    "never",
    "may",
    "May",
    "all",
    "5",
    "3.5",
    "WHO",
    "``",
    "''",
    "—",
    "n't",
    "'s",
)
"""What rules look at, and what breaks them."""
ANY_TEXT = st.one_of(
    st.text(st.characters(codec=None), max_size=80),
    st.lists(st.sampled_from(HOSTILE_PIECES), max_size=40).map("".join),
)
"""Any string at all, lone surrogates included, and strings of the pieces that rules look at."""


def growth(work: Callable[[str], object], piece: str, times: int = 2_000) -> float:
    """How many times longer ``work`` takes on four times the text: about 4 if it is linear, 16 if quadratic."""
    quarter, whole = (min(_seconds(work, piece * often) for _ in range(3)) for often in (times, 4 * times))
    return whole / max(quarter, 1e-4)


def takes_linear_time(work: Callable[[str], object], piece: str, times: int) -> bool:
    """Whether ``work`` takes less than 9 times longer on a text than on its quarter, or less than two seconds.

    Linear work takes 4 times as long and quadratic work 16 times, on any machine; below two seconds the ratio would
    measure noise. ``times`` is chosen so large that quadratic work takes many seconds.
    """
    for _ in range(3):  # other work on the machine only ever adds time: what looks too slow is measured again
        quarter, whole = (_seconds(work, piece * often) for often in (times // 4, times))
        if whole < max(2, 9 * quarter):
            return True
    return False


def _seconds(work: Callable[[str], object], text: str) -> float:
    gc.disable()  # what it takes depends on how much the tests before have left behind
    try:
        started = time.process_time()
        work(text)
        return time.process_time() - started
    finally:
        gc.enable()
