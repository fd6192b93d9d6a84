"""Folding windows: support anywhere is support, and what is left is shared as the window that speaks of it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.encoder.folding import WindowOutputs, fold

SHARES = st.tuples(st.floats(0.01, 1), st.floats(0.01, 1), st.floats(0.01, 1))


def window(
    p: tuple[float, ...], first: int = 0, support: tuple[float, ...] = (0.0,), angles: tuple[float, ...] = (0.0,)
) -> WindowOutputs:
    """A window whose claim tokens all have the state (1, 0) and whose source tokens stand at ``angles`` to it."""
    states = np.array([[np.cos(a), np.sin(a)] for a in angles], np.float32)
    claim = np.tile(np.array([[1.0, 0.0]], np.float32), (len(support), 1))
    logits = np.log(np.array(p, np.float32))
    return WindowOutputs(first, logits, np.zeros(6, np.float32), np.array(support, np.float32), claim, states)


@given(st.lists(SHARES, min_size=1, max_size=5))
def test_the_relation_is_a_distribution_and_its_support_the_highest_of_any_window(
    shares: list[tuple[float, ...]],
) -> None:
    folded = fold([window(share) for share in shares])
    assert folded is not None
    assert folded.relation.sum() == pytest.approx(1, abs=1e-5)
    assert folded.relation[0] == pytest.approx(max(s[0] / sum(s) for s in shares), abs=1e-5)


def test_an_irrelevant_window_changes_nothing() -> None:
    alone = fold([window((0.1, 0.8, 0.1))])
    beside = fold([window((0.1, 0.8, 0.1)), window((0.05, 0.05, 0.9))])
    assert alone is not None
    assert beside is not None
    assert beside.relation == pytest.approx(alone.relation, abs=1e-6)


def test_the_window_with_the_lowest_not_found_splits_the_unsupported_probability() -> None:
    # Supported: .4 of the first. The rest, .6, is shared as in the second (.6 to .1): .6 * 6/7 and .6 * 1/7.
    folded = fold([window((0.4, 0.1, 0.5)), window((0.3, 0.6, 0.1))])
    assert folded is not None
    assert folded.relation == pytest.approx([0.4, 0.6 * 6 / 7, 0.6 / 7], abs=1e-6)


def test_a_token_is_supported_if_one_window_supports_it() -> None:
    folded = fold([window((1, 1, 1), support=(2.0, -3.0)), window((1, 1, 1), support=(-1.0, 0.0))])
    assert folded is not None
    assert folded.support == pytest.approx([1 / (1 + np.exp(-2.0)), 0.5])


def test_the_match_is_the_most_similar_token_of_all_windows() -> None:
    # Angles to the claim's token: 60 and 90 degrees in the first window, 30 in the second, which starts at token 7.
    folded = fold([window((1, 1, 1), angles=(np.pi / 3, np.pi / 2)), window((1, 1, 1), first=7, angles=(np.pi / 6,))])
    assert folded is not None
    assert folded.match.tolist() == [7]
    assert folded.similarity == pytest.approx([np.sqrt(3) / 2], abs=1e-6)


def test_without_a_window_there_is_nothing_to_fold() -> None:
    assert fold([]) is None
