"""Plan verification from labelled completions: checklist or holistic, how many items and votes (Soft-RLVR, 6.3).

The error of a reward against strict success comes in two forms. The measured one is the mean squared error on the
completions and assumes nothing; the predicted one follows from p, q, p', q' and the correlation of errors, and extends
to other numbers of items.

Not supported: the effect of advantages. GRPO subtracts the group's mean and divides by its standard deviation, so a
constant bias, which the MSE counts, does not reach the policy; ``association`` does not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from recipes.theory.quality import (
    VerifierQuality,
    bias_checklist,
    bias_condition,
    item_variance,
    min_size,
    mse_checklist,
    mse_single,
    theorem_1,
)
from recipes.theory.rates import Judged, JudgedCompletion, judged
from vouching.metrics.arrays import FloatArray, quotient
from vouching.metrics.intervals import Interval, Statistic, bca_each, wilson

Choice: TypeAlias = Literal["holistic", "checklist", "undecided"]
TOLERANCE = 0.05
"""More votes or items must lower an MSE by at least this share to be worth their calls."""
MAX_ITEMS = 20
"""End of the curve, unless a checklist is longer."""


@dataclass(frozen=True, slots=True)
class Rate:
    """One of p, q, p', q'."""

    share: Interval
    """With Wilson's interval, which treats judgments as independent."""
    by_group: Interval
    """With a bootstrap interval over prompts; wider where judgments of one response or prompt are correlated."""
    judgments: int


@dataclass(frozen=True, slots=True)
class VotesLine:
    """The measured MSE at a number of votes for each question; None where fewer votes were cast."""

    votes: int
    single: float | None
    """Of the judgment of the whole response."""
    checklist: float | None
    """Of the share of items passed."""


@dataclass(frozen=True, slots=True)
class SizePoint:
    """The predicted MSE at a number of items, with rates and relaxation gaps held fixed."""

    items: int
    single: float
    """Of the judgment of the whole response, which does not depend on K."""
    checklist: float
    """With the estimated correlation of errors."""
    independent: float
    """Without correlation."""


@dataclass(frozen=True, slots=True)
class VerificationPlan:
    """What labelled completions say about both ways of verifying. MSEs are those of the reward, see ``quality``."""

    completions: int
    groups: int
    """Number of prompts."""
    items: float
    """Mean number of items in a checklist."""
    lengths: dict[int, int]
    """Prompts by the number of items in their checklist, shortest first (Fig. 7)."""
    success: float
    """Share of strict successes."""
    gap: float
    """Mean relaxation gap of the failures."""
    spurious: int
    """Successes by the gold label with an item that does not hold: the item is not essential, or a label is wrong."""
    missing: int
    """Failures by the gold label with every item holding: a requirement is missing, or a label is wrong."""
    unclear: tuple[float, float]
    """Share of unclear votes on the whole response and on items."""
    rates: dict[str, Rate]
    """p, q, p_item, q_item, from all votes."""
    quality: VerifierQuality
    correlation: Interval
    """rho of item errors, by bootstrap over prompts."""
    measured: dict[str, Interval]
    """MSE "single", "checklist" and their "difference" (single minus checklist), by bootstrap over prompts."""
    predicted: tuple[float, float]
    """The two MSEs by the theory, at the actual numbers of items; a rho below 0 counts as 0."""
    association: tuple[float, float]
    """Correlation of each reward with S, which ignores scale and offset."""
    condition: dict[str, int]
    """Completions by the bias condition: "success, met", "success, not met", "failure, met", "failure, not met"."""
    promised: float
    """Share of completions for which Theorem 1 guarantees that the checklist's MSE is no larger."""
    by_votes: tuple[VotesLine, ...]
    votes: tuple[int, int]
    """Fewest votes within 5 % of the smallest MSE, on the whole response and on items."""
    curve: tuple[SizePoint, ...]
    items_needed: float
    """Least K with an MSE no larger than that of one judgment; inf if there is none (corollary 3)."""
    items_enough: float
    """K from which more items lower the MSE by less than 5 %; inf if there is none."""
    choice: Choice
    """The smaller measured MSE; undecided if the interval of the difference contains 0 or is not available."""

    @property
    def condition_share(self) -> float:
        """Share of completions that satisfy the bias condition of Proposition 4: last column of Table 2."""
        return (self.condition["success, met"] + self.condition["failure, met"]) / self.completions

    @property
    def informed(self) -> tuple[bool, bool]:
        """Whether judgments of the whole, and of items, are shown to be better than guessing (alpha, alpha' above 0).

        The lower bounds of both rates must sum to more than 1. A judge that guesses teaches nothing, but can have the
        smaller MSE: one that always says no does where few responses succeed.
        """
        return self._above_guessing("p", "q"), self._above_guessing("p_item", "q_item")

    def _above_guessing(self, *names: str) -> bool:
        ends = [(rate.by_group.low, rate.share.low) for rate in map(self.rates.__getitem__, names)]
        # With fewer than ten prompts there is no interval by prompt: use Wilson's.
        return sum(wilsons or 0.0 if grouped is None else grouped for grouped, wilsons in ends) > 1


def plan_verification(
    completions: Sequence[JudgedCompletion], threshold: float = 0.5, seed: int = 0
) -> VerificationPlan:
    """Compare both ways of verifying on labelled completions.

    Args:
        completions: judged in both ways by one verifier.
        threshold: share of yes votes from which a judgment is yes, in (0, 1].
        seed: of the bootstrap.

    Raises InputError without completions, or where one of the four rates cannot be estimated.
    """
    found = judged(completions, threshold=threshold)
    quality = found.quality()
    intervals = bca_each(_statistics(found), found.group_N, resamples=2_000, seed=seed)
    rho = intervals["correlation"].estimate
    known = min(1.0, max(0.0, rho)) if math.isfinite(rho) else 0.0
    success, gap = found.success_N, found.gap_N
    lines = _by_votes(completions, threshold)
    least, enough = _sizes(quality, success, gap, known)
    failures, labels_hold = success == 0, [all(one.labels) for one in completions]
    return VerificationPlan(
        completions=len(completions),
        groups=int(found.group_N.max()) + 1,
        items=float(found.items_N.mean()),
        lengths=_lengths(found),
        success=float(success.mean()),
        gap=float(gap[failures].mean()),
        spurious=sum(one.gold and not hold for one, hold in zip(completions, labels_hold, strict=True)),
        missing=sum(hold and not one.gold for one, hold in zip(completions, labels_hold, strict=True)),
        unclear=_unclear(completions),
        rates=_rates(found, intervals),
        quality=quality,
        correlation=intervals["correlation"],
        measured={name: intervals[name] for name in ("single", "checklist", "difference")},
        predicted=(
            float(mse_single(quality, success).mean()),
            float(mse_checklist(quality, success, gap, found.items_N, known).mean()),
        ),
        association=(_association(found.whole_N, success), _association(found.share_N, success)),
        condition=_condition(quality, success, gap),
        promised=float(theorem_1(quality, success, gap, found.items_N).mean()),
        by_votes=lines,
        votes=(_votes_enough([line.single for line in lines]), _votes_enough([line.checklist for line in lines])),
        curve=_curve(quality, found, known),
        items_needed=least,
        items_enough=enough,
        choice=_choice(intervals["difference"]),
    )


def _statistics(found: Judged) -> dict[str, Statistic]:
    """The statistics to bootstrap, as functions of the completions' weights."""
    products, squares = found.error_products()
    single, checklist = found.errors_single_N, found.errors_checklist_N
    every = np.ones_like(single)
    quotients = found.counts() | {
        "correlation": (products, squares),
        "single": (single, every),
        "checklist": (checklist, every),
        "difference": (single - checklist, every),
    }
    return {name: partial(_ratio, *pair) for name, pair in quotients.items()}


def _ratio(numerator: FloatArray, denominator: FloatArray, weights: FloatArray) -> FloatArray:
    return quotient(weights @ numerator, weights @ denominator)


def _rates(found: Judged, intervals: dict[str, Interval]) -> dict[str, Rate]:
    return {
        name: Rate(wilson(round(right.sum()), round(of.sum())), intervals[name], round(of.sum()))
        for name, (right, of) in found.counts().items()
    }


def _curve(quality: VerifierQuality, found: Judged, correlation: float) -> tuple[SizePoint, ...]:
    success, gap = found.success_N, found.gap_N
    alone = float(mse_single(quality, success).mean())
    return tuple(
        SizePoint(
            items,
            alone,
            float(mse_checklist(quality, success, gap, items, correlation).mean()),
            float(mse_checklist(quality, success, gap, items).mean()),
        )
        for items in range(1, max(MAX_ITEMS, int(found.items_N.max())) + 1)
    )


def _lengths(found: Judged) -> dict[int, int]:
    """A prompt whose completions have checklists of several lengths counts once for each length."""
    pairs = np.unique(np.stack([found.group_N, found.items_N.astype(np.intp)]), axis=1)
    lengths, prompts = np.unique(pairs[1], return_counts=True)
    return dict(zip(lengths.tolist(), prompts.tolist(), strict=True))


def _sizes(quality: VerifierQuality, success: FloatArray, gap: FloatArray, correlation: float) -> tuple[float, float]:
    """Least items for the checklist to be no worse, and for more to change little, on average over completions."""
    squared = float((bias_checklist(quality, success, gap) ** 2).mean())
    noise = float(item_variance(quality, success + gap).mean())
    needed = min_size(squared, noise, float(mse_single(quality, success).mean()), correlation)
    stays = squared + correlation * noise
    enough = min_size(squared, noise, (1 + TOLERANCE) * stays, correlation)
    return needed, enough


def _by_votes(completions: Sequence[JudgedCompletion], threshold: float) -> tuple[VotesLine, ...]:
    whole = min(len(one.holistic) for one in completions)
    item = min(len(votes) for one in completions for votes in one.votes)
    lines: list[VotesLine] = []
    for votes in range(1, max(whole, item) + 1):
        found = judged(completions, min(votes, whole), min(votes, item), threshold)
        single = float(found.errors_single_N.mean()) if votes <= whole else None
        checklist = float(found.errors_checklist_N.mean()) if votes <= item else None
        lines.append(VotesLine(votes, single, checklist))
    return tuple(lines)


def _votes_enough(errors: Sequence[float | None]) -> int:
    """The fewest votes with an error within the tolerance of the smallest."""
    known = [error for error in errors if error is not None]
    return 1 + next(place for place, error in enumerate(known) if error <= (1 + TOLERANCE) * min(known))


def _condition(quality: VerifierQuality, success: FloatArray, gap: FloatArray) -> dict[str, int]:
    met = bias_condition(quality, success, gap)
    return {
        f"{kind}, {words}": int((rows & (met if words == "met" else ~met)).sum())
        for kind, rows in (("success", success == 1), ("failure", success == 0))
        for words in ("met", "not met")
    }


def _association(reward: FloatArray, success: FloatArray) -> float:
    """Pearson's correlation; nan where the reward is always the same."""
    off, centred = reward - reward.mean(), success - success.mean()
    return float(quotient((off * centred).sum(), np.sqrt((off**2).sum() * (centred**2).sum())))


def _unclear(completions: Sequence[JudgedCompletion]) -> tuple[float, float]:
    whole = [vote is None for one in completions for vote in one.holistic]
    items = [vote is None for one in completions for votes in one.votes for vote in votes]
    return sum(whole) / len(whole), sum(items) / len(items)


def _choice(difference: Interval) -> Choice:
    if difference.low is None or difference.high is None or difference.low <= 0 <= difference.high:
        return "undecided"
    return "checklist" if difference.low > 0 else "holistic"
