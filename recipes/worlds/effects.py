"""Effects of arms, paired by seed and prompt, with an interval over both and a decision about a paper's claim.

An arm's outcomes are a table of seeds x prompts; two arms of one experiment have the same seeds and prompts. The
variance of their mean difference is that of a two-way table with random rows and columns (Searle, Casella & McCulloch
1992, chapter 4), so that an interval is meant for other seeds and other prompts; its degrees of freedom are
Satterthwaite's. A bootstrap over seeds and prompts together would count the rest of the variance three times, and its
intervals are too narrow where seeds differ much. The rule is in ``design/0011-small-worlds.md``.
Not supported: corrections for several claims.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vouching.errors import InputError, needed

Decision: TypeAlias = Literal["holds", "in part", "does not hold here", "undecided at this size"]
Expects: TypeAlias = Literal["more", "no more", "the same"]
"""What a claim says about the first of two arms."""
MIN_SEEDS = 3
"""Fewer seeds decide nothing: between them, the spread over seeds is unknown."""
POWER = 0.8
"""Power at which the minimum detectable effect is stated."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The mean difference of two arms."""

    mean: float
    low: float
    """Ends of the 95 % interval."""
    high: float
    detectable: float
    """An effect of this size has an interval above 0 in about 80 % of experiments with this spread."""
    seeds: int
    prompts: int
    agree: bool
    """Whether the mean of every seed has the same sign."""


def effect_of(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Effect:
    """The first arm's outcomes less the second's, paired.

    Args:
        first: (S, P) outcomes by seed and prompt.
        second: the same of the arm to compare with.
        level: of the interval, in (0, 1).

    Raises:
        InputError: tables of different or unusable shape, or with numbers that are not finite.
        MissingExtraError: SciPy is not installed.

    >>> effect = effect_of([[1, 1, 0, 1]] * 3, [[0, 1, 0, 0]] * 3)
    >>> effect.mean, round(effect.high, 2)  # only prompts differ: 3.18 standard errors of .29, 3 degrees of freedom
    (0.5, 1.42)
    """
    tables = [np.asarray(table, dtype=float) for table in (first, second)]
    shapes = [table.shape for table in tables]
    if shapes[0] != shapes[1] or len(shapes[0]) != 2 or min(shapes[0]) < 2 or not all(np.isfinite(tables).ravel()):
        raise InputError(
            "two arms are compared on the same seeds and prompts: expected two finite tables of one shape, with at "
            f"least 2 seeds and 2 prompts, got {shapes[0]} and {shapes[1]}"
        )
    if not 0 < level < 1:
        raise InputError(f"level must be above 0 and below 1, got {level}")
    difference = tables[0] - tables[1]
    variance, freedom = variance_of_mean(difference)
    quantile = needed("scipy.special", "train", "an interval of effects").stdtrit  # of Student's t
    half, power = (float(quantile(freedom, at)) * math.sqrt(variance) for at in ((1 + level) / 2, POWER))
    by_seed = difference.mean(axis=1)
    agree = bool((by_seed > 0).all() or (by_seed < 0).all())
    mean = float(by_seed.mean())
    return Effect(mean, mean - half, mean + half, half + power, *shapes[0], agree)


def variance_of_mean(table: NDArray[np.float64]) -> tuple[float, float]:
    """Variance of the mean of a table (S, P) over its seeds and prompts, and its degrees of freedom.

    With mean squares M of seeds, prompts and the rest, it is (M_seed + M_prompt - M_rest) / SP; the variance of seeds
    or prompts that comes out negative counts as none.

    >>> variance_of_mean(np.array([[0.0, 1.0], [2.0, 3.0]]))  # 2 / 2 between seeds, .5 / 2 between prompts
    (1.25, 1.4705882352941178)
    """
    seeds, prompts = table.shape
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    rest = table - rows[:, None] - columns[None, :] + table.mean()
    squares = (prompts * rows.var(ddof=1), seeds * columns.var(ddof=1), (rest**2).sum() / (seeds - 1) / (prompts - 1))
    by_seed, by_prompt, left = map(float, squares)
    free = (seeds - 1, prompts - 1, (seeds - 1) * (prompts - 1))
    parts = [(by_seed, free[0]), (by_prompt, free[1]), (-left, free[2])]
    if by_seed <= left or by_prompt <= left:
        parts = [max((by_seed, free[0]), (by_prompt, free[1]), (left, free[2]), key=lambda part: part[0])]
    total = sum(part for part, _ in parts)
    freedom = total**2 / sum(part**2 / number for part, number in parts) if total > 0 else free[0]
    return total / (seeds * prompts), freedom


def decide(effect: Effect, smallest: float, expects: Expects = "more") -> Decision:
    """Whether a paper's claim about the first arm, as compared with the second, holds.

    ``smallest`` is the smallest effect that matters. The first arm has *more* if the interval is above 0 and all seeds
    agree; *no more* if the interval is below ``smallest``; *the same* if it is also above minus that. Where there is
    more, but less than matters, the claim holds in part. Otherwise, and with fewer than three seeds, it is undecided.
    A claim of *more* does not hold where there is no more, one of *no more* where there is more, and one of *the same*
    where the interval is above 0 or below it and reaches what matters.

    >>> decide(Effect(0.2, 0.1, 0.3, 0.1, seeds=3, prompts=100, agree=True), smallest=0.05)
    'holds'
    >>> still = Effect(0.0, -0.02, 0.02, 0.03, seeds=3, prompts=100, agree=False)
    >>> decide(still, smallest=0.05), decide(still, smallest=0.05, expects="no more")
    ('does not hold here', 'holds')
    >>> decide(Effect(0.1, -0.1, 0.3, 0.3, seeds=3, prompts=100, agree=False), smallest=0.05)
    'undecided at this size'
    """
    if not smallest > 0:
        raise InputError(f"the smallest effect that matters must be above 0, got {smallest}")
    more, less = effect.low > 0 and effect.agree, effect.high < 0 and effect.agree
    if effect.seeds < MIN_SEEDS:
        return "undecided at this size"
    if expects == "the same":
        if -smallest < effect.low and effect.high < smallest:
            return "holds"
        return "does not hold here" if more or less else "undecided at this size"
    if not (more or effect.high < smallest):
        return "undecided at this size"
    if more and effect.high < smallest:
        return "in part"
    return "holds" if more == (expects == "more") else "does not hold here"
