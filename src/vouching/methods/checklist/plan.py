"""Which verification to train with, how many items and votes: from labelled completions (Soft-RLVR, section 6.3).

Two ways to say how far a reward is from strict success, side by side: measured, the mean squared distance on the
completions themselves, which assumes nothing; and by the theory from p, q, p', q' and the correlation of errors, which
can say what other numbers of items would do. Left out: what an advantage makes of a reward. GRPO subtracts the group's
mean and divides by its spread, so a constant bias, which the MSE counts, does not reach the policy; ``association`` is
free of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from vouching.methods.checklist.rates import Judged, JudgedCompletion, judged
from vouching.methods.checklist.theory import (
    VerifierQuality,
    bias_checklist,
    bias_condition,
    item_variance,
    min_size,
    mse_checklist,
    mse_single,
    theorem_1,
)
from vouching.metrics.arrays import FloatArray, quotient
from vouching.metrics.intervals import Interval, Statistic, bca_each, wilson

Choice: TypeAlias = Literal["holistic", "checklist", "undecided"]
TOLERANCE = 0.05
"""More votes or items that lower an MSE by less than this share of it are not worth their calls."""
MAX_ITEMS = 20
"""Where the curve ends, unless a checklist is longer."""


@dataclass(frozen=True, slots=True)
class Rate:
    """One of p, q, p', q'."""

    share: Interval
    """With Wilson's interval, which takes judgments as independent."""
    by_group: Interval
    """With an interval by bootstrap over prompts; wider where items of a response or responses to a prompt agree."""
    judgments: int
    """How many it was estimated from."""


@dataclass(frozen=True, slots=True)
class VotesLine:
    """The measured MSE with so many votes on each question."""

    votes: int
    """How many."""
    single: float | None
    """Of the judgment of the whole; None where fewer votes were cast."""
    checklist: float | None
    """Of the share of items passed, likewise."""


@dataclass(frozen=True, slots=True)
class SizePoint:
    """The MSE by the theory with so many items, rates and relaxation gaps held as they are."""

    items: int
    """K."""
    single: float
    """Of the judgment of the whole, the same everywhere."""
    checklist: float
    """With the correlation of errors that was found."""
    independent: float
    """With none."""


@dataclass(frozen=True, slots=True)
class VerificationPlan:
    """What labelled completions say about both ways of verifying. MSE is that of the reward: ``checklist_theory``."""

    completions: int
    """How many."""
    groups: int
    """Prompts."""
    items: float
    """Mean number of items of a checklist."""
    lengths: dict[int, int]
    """Prompts by the number of items of their checklist, shortest first (Fig. 7)."""
    success: float
    """Share of strict successes."""
    gap: float
    """Mean relaxation gap of the failures."""
    spurious: int
    """Strict successes by the gold label with an item that does not hold: it is not essential, or a label is wrong."""
    missing: int
    """Failures by the gold label with every item holding: a requirement is missing, or a label is wrong."""
    unclear: tuple[float, float]
    """Share of unclear votes, on the whole and on items."""
    rates: dict[str, Rate]
    """p, q, p_item, q_item, with all votes that were cast."""
    quality: VerifierQuality
    """Their estimates."""
    correlation: Interval
    """rho of item errors, by bootstrap over prompts."""
    measured: dict[str, Interval]
    """MSE of "single" and "checklist" and their "difference" (single less checklist), by bootstrap over prompts."""
    predicted: tuple[float, float]
    """The same two MSEs by the theory, at the completions' own numbers of items; a rho below 0 counts as 0."""
    association: tuple[float, float]
    """Correlation of each reward with S; what is left of it when scale and offset do not matter."""
    condition: dict[str, int]
    """Completions by the bias condition: "success, met", "success, not met", "failure, met", "failure, not met"."""
    promised: float
    """Share of the completions for which Theorem 1 promises the checklist's MSE to be no larger."""
    by_votes: tuple[VotesLine, ...]
    """Measured MSE by votes."""
    votes: tuple[int, int]
    """Votes within 5 % of the least MSE, on the whole and on items."""
    curve: tuple[SizePoint, ...]
    """MSE by the theory over items."""
    items_needed: float
    """Least K with an MSE no larger than that of one judgment; inf if there is none (corollary 3)."""
    items_enough: float
    """K from which further items lower the MSE by less than 5 % of it; inf if there is none."""
    choice: Choice
    """What has the smaller measured MSE; undecided if the interval of the difference holds 0 or was refused."""

    @property
    def condition_share(self) -> float:
        """Share of the completions that satisfy the bias condition of Proposition 4: Table 2's last column."""
        return (self.condition["success, met"] + self.condition["failure, met"]) / self.completions

    @property
    def informed(self) -> tuple[bool, bool]:
        """Whether judgments of the whole, and of items, are shown to be better than guessing: alpha, alpha' above 0.

        Shown by the lower ends of both rates, which sum to more than 1. A judge that guesses can have the smaller MSE,
        as one has that always says no where few responses succeed, and teaches nothing.
        """
        return self._above_guessing("p", "q"), self._above_guessing("p_item", "q_item")

    def _above_guessing(self, *names: str) -> bool:
        ends = [(rate.by_group.low, rate.share.low) for rate in map(self.rates.__getitem__, names)]
        # Without an interval by prompt, with fewer than ten of them, Wilson's has to do.
        return sum(wilsons or 0.0 if grouped is None else grouped for grouped, wilsons in ends) > 1


def plan_verification(
    completions: Sequence[JudgedCompletion], threshold: float = 0.5, seed: int = 0
) -> VerificationPlan:
    """Compare both ways of verifying on completions whose labels are known.

    Args:
        completions: judged in both ways by one verifier.
        threshold: share of yes among the votes from which a judgment is yes, in (0, 1].
        seed: of the bootstrap.

    Raises:
        InputError: no completions, or none to estimate one of the four rates from.

    >>> rows = [JudgedCompletion(str(n), str(n), n % 3 > 0, (n % 2 > 0,), (True, n % 3 > 0), ((True,), (n % 3 > 0,)))
    ...     for n in range(30)]
    >>> plan = plan_verification(rows)
    >>> plan.choice, plan.measured["checklist"].estimate.__round__(3), plan.measured["single"].estimate
    ('checklist', 0.083, 0.5)
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
    """What bootstrap intervals are wanted of, as functions of the weights of completions."""
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
    """A prompt whose completions have checklists of several lengths counts for each of them."""
    pairs = np.unique(np.stack([found.group_N, found.items_N.astype(np.intp)]), axis=1)
    lengths, prompts = np.unique(pairs[1], return_counts=True)
    return dict(zip(lengths.tolist(), prompts.tolist(), strict=True))


def _sizes(quality: VerifierQuality, success: FloatArray, gap: FloatArray, correlation: float) -> tuple[float, float]:
    """Items from which the checklist is no worse, and from which more change little, in the mean over completions."""
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
    """The least number of votes with an error within the tolerance of the least."""
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
    off, apart = reward - reward.mean(), success - success.mean()
    return float(quotient((off * apart).sum(), np.sqrt((off**2).sum() * (apart**2).sum())))


def _unclear(completions: Sequence[JudgedCompletion]) -> tuple[float, float]:
    whole = [vote is None for one in completions for vote in one.holistic]
    items = [vote is None for one in completions for votes in one.votes for vote in votes]
    return sum(whole) / len(whole), sum(items) / len(items)


def _choice(difference: Interval) -> Choice:
    if difference.low is None or difference.high is None or difference.low <= 0 <= difference.high:
        return "undecided"
    return "checklist" if difference.low > 0 else "holistic"
