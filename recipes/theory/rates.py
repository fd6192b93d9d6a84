"""Estimate p, q, p', q' and the errors of a verifier's rewards on labelled completions.

A completion has a gold label, votes on the whole response, and labels and votes of its items. Votes become judgments by
a threshold on the share of yes; an unclear vote counts as no. Fewer votes are simulated by the mean over all subsets of
those cast, which assumes nothing about how votes depend on each other.

Not supported: predicting more votes than were cast.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recipes.theory.quality import VerifierQuality, yes_rate
from vouching.errors import InputError
from vouching.judging.votes import Votes
from vouching.metrics.arrays import FloatArray
from vouching.metrics.groups import document_numbers

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class JudgedCompletion:
    """A response with its labels and a verifier's votes in both ways of asking."""

    id: str
    group: str
    """Its prompt; completions of one prompt are not independent."""
    gold: bool
    """S: whether the response is a strict success."""
    holistic: Votes
    """Votes on the whole response."""
    labels: tuple[bool, ...]
    """(K,) whether each item holds."""
    votes: tuple[Votes, ...]
    """(K,) votes on each item."""

    def __post_init__(self) -> None:
        """Raise InputError for a checklist without items, labels without votes, or no vote at all."""
        if not self.labels or len(self.labels) != len(self.votes):
            raise InputError(
                f"expected labels and votes for the same items, at least one; got {len(self.labels)} labels and votes "
                f"on {len(self.votes)} items"
            )
        if not self.holistic or not all(self.votes):
            raise InputError(
                "the whole response or one of its items has no votes: omit responses that could not be verified"
            )


@dataclass(frozen=True, slots=True)
class Judged:
    """Judgments of N completions with M items in total; with fewer votes than were cast they are probabilities."""

    success_N: FloatArray
    """S, 0 or 1."""
    gap_N: FloatArray
    """Delta: share of items that hold, minus S."""
    items_N: FloatArray
    """K."""
    group_N: NDArray[np.intp]
    """Index of the prompt."""
    whole_N: FloatArray
    """Judgments of the whole response."""
    row_M: NDArray[np.intp]
    """Completion of each item."""
    label_M: FloatArray
    """Whether an item holds."""
    passed_M: FloatArray
    """Judgments of the items."""

    def per_row(self, values_M: FloatArray) -> FloatArray:
        """Sum the values of items by completion: (M,) -> (N,)."""
        return np.bincount(self.row_M, weights=values_M, minlength=len(self.success_N)).astype(np.float64)

    @property
    def share_N(self) -> FloatArray:
        """Mean share of items passed, the reward of Eq. 5."""
        return self.per_row(self.passed_M) / self.items_N

    @property
    def errors_single_N(self) -> FloatArray:
        """Squared distance of the judgment of the whole from S; its mean is the measured MSE."""
        return np.where(self.success_N == 1, 1 - self.whole_N, self.whole_N)

    @property
    def errors_checklist_N(self) -> FloatArray:
        """Squared distance of the share of items passed from S."""
        drawing = self.per_row(self.passed_M * (1 - self.passed_M)) / self.items_N**2
        return (self.share_N - self.success_N) ** 2 + drawing

    def counts(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Correct judgments and judgments in each completion, for p, q, p_item and q_item: (N,), (N,)."""
        won, held = self.success_N, self.label_M
        return {
            "p": (won * self.whole_N, won),
            "q": ((1 - won) * (1 - self.whole_N), 1 - won),
            "p_item": (self.per_row(held * self.passed_M), self.per_row(held)),
            "q_item": (self.per_row((1 - held) * (1 - self.passed_M)), self.per_row(1 - held)),
        }

    def quality(self) -> VerifierQuality:
        """The four rates. Raises InputError for one without judgments to estimate it from."""
        rates: dict[str, float] = {}
        needed = {
            "p": "strict success",
            "q": "failure",
            "p_item": "item that holds",
            "q_item": "item that does not hold",
        }
        for name, (right, of) in self.counts().items():
            if not of.sum():
                raise InputError(f"{name} cannot be estimated: there is no {needed[name]} among the completions")
            rates[name] = float(right.sum() / of.sum())
        return VerifierQuality(**rates)

    def error_products(self) -> tuple[FloatArray, FloatArray]:
        """Sums over pairs of items of a completion: products of their errors, and mean squares of their errors."""
        quality = self.quality()
        off_M = self.passed_M - yes_rate(quality.p_item, quality.q_item, self.label_M)
        products = self.per_row(off_M) ** 2 - self.per_row(off_M**2)
        squares = self.per_row(off_M**2 + self.passed_M * (1 - self.passed_M))
        return products, (self.items_N - 1) * squares


def judged(
    completions: Sequence[JudgedCompletion],
    whole: int | None = None,
    item: int | None = None,
    threshold: float = 0.5,
) -> Judged:
    """The judgments by a number of votes.

    Args:
        completions: at least one.
        whole: number of votes on the whole response, at most the fewest of any completion; None for all.
        item: number of votes on an item, likewise.
        threshold: tau, in (0, 1]: share of yes votes from which a judgment is yes (Eq. 8).
    """
    if not completions:
        raise InputError("there are no judged responses: expected at least one")
    if not 0 < threshold <= 1:
        raise InputError(f"the threshold must be in (0, 1], got {threshold}")
    labels = [np.array(one.labels, dtype=np.float64) for one in completions]
    success = np.array([one.gold for one in completions], dtype=np.float64)
    sizes = np.array([len(one) for one in labels])
    return Judged(
        success_N=success,
        gap_N=np.array([one.mean() for one in labels]) - success,
        items_N=sizes.astype(np.float64),
        group_N=document_numbers([(one.group,) for one in completions]),
        whole_N=np.array([pass_chance(one.holistic, whole, threshold) for one in completions]),
        row_M=np.repeat(np.arange(len(sizes)), sizes),
        label_M=np.concatenate(labels),
        passed_M=np.array([pass_chance(cast, item, threshold) for one in completions for cast in one.votes]),
    )


def pass_chance(votes: Votes, drawn: int | None = None, threshold: float = 0.5) -> float:
    """Probability that ``drawn`` of the votes, chosen at random, have a share of yes of at least ``threshold``."""
    cast, yes = len(votes), sum(vote is True for vote in votes)
    size = cast if drawn is None else drawn
    if not 1 <= size <= cast:
        raise InputError(f"{cast} votes were cast, so {size} of them cannot be drawn")
    needed = math.ceil(threshold * size - _ROUNDING)
    ways = sum(math.comb(yes, count) * math.comb(cast - yes, size - count) for count in range(needed, size + 1))
    return ways / math.comb(cast, size)
