"""What is read of a claim and its sources: the claim as far as it fits, and a few windows.

Left out: the model; training chooses by the same rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vouching.encoder.tokens import SourceTokens, Tokens
from vouching.encoder.weights import Limits
from vouching.encoder.windows import TokenIndex


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is read of one claim."""

    claim: Tokens
    """The claim's tokens, cut to the limit."""
    claim_cut: bool
    """Whether the claim has more tokens than these."""
    windows: NDArray[np.int32]
    """(K, 2) windows that are read."""
    of: int
    """How many windows there are."""


def choose(claim: Tokens, sources: SourceTokens, index: TokenIndex, limits: Limits) -> Chosen:
    """The windows that are read for a claim; every one if there are no more than ``limits.most_windows``.

    >>> from vouching.encoder.tokens import joined
    >>> nothing = joined([])
    >>> empty = SourceTokens(nothing, np.zeros(1, np.int32), ())
    >>> choose(nothing, empty, TokenIndex(nothing.ids), Limits(128, 64, 4)).of
    0
    """
    n = limits.most_claim_tokens
    kept = Tokens(claim.ids[:n], claim.starts[:n], claim.ends[:n])
    windows = sources.windows(limits.most_tokens - len(kept) - 3)
    picked = index.preselect(kept.ids, windows, limits.most_windows)
    return Chosen(kept, len(claim) > n, windows[picked], len(windows))
