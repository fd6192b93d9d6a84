"""Texts that break careless code: the material of the properties of the text layer."""

from __future__ import annotations

import time
from collections.abc import Callable

from hypothesis import strategies as st

ANY_TEXT = st.one_of(
    st.text(st.characters(codec=None), max_size=80),
    st.lists(
        st.sampled_from(
            [*" .,'’-\"“”&\n\t", "\0", "\ud800", "\u202e", "İ", "ß", "👩‍🔬", "שלום", "东京", "한국", "Ann", "the",
             "The", "of", "U.S.", "not", "never", "may", "May", "all", "5", "3.5", "WHO", "``", "''", "—", "n't", "'s"]
        ),
        max_size=40,
    ).map("".join),
)  # fmt: skip
"""Any string at all, lone surrogates included, and strings of the pieces that rules look at."""


def growth(work: Callable[[str], object], piece: str, times: int = 2_000) -> float:
    """How many times longer ``work`` takes on four times the text: about 4 if it is linear, 16 if quadratic."""

    def seconds(text: str) -> float:
        measured: list[float] = []
        for _ in range(3):
            started = time.process_time()
            work(text)
            measured.append(time.process_time() - started)
        return min(measured)

    return seconds(piece * 4 * times) / max(seconds(piece * times), 1e-4)
