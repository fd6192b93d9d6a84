"""Effects of arms, paired by seed and prompt, with an interval over both and a decision about a paper's claim.

An arm's outcomes are a table of seeds x prompts; two arms of one experiment have the same seeds and prompts. Resampled
are seeds and prompts at once (the crossed bootstrap of Owen 2007), of each one fewer than there are, so that the
variance of a mean is not underestimated for few seeds (Rao & Wu 1988). With three seeds that differ much, an interval
still contains the true mean less often than its level says (a test measures it); a claim therefore also needs all
seeds to agree. The rule is fixed before the arms are run, in ``design/0011-small-worlds.md``. Not supported:
corrections for several claims.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vouching.errors import InputError

Decision: TypeAlias = Literal["holds", "in part", "does not hold here", "undecided at this size"]
Expects: TypeAlias = Literal["more", "no more"]
"""What a claim says about the first of two arms."""
RESAMPLES = 4_000
MIN_SEEDS = 3
"""Fewer seeds decide nothing: between them, the spread over seeds is unknown."""
POWER = 0.8
"""Power at which the minimum detectable effect is stated."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The mean difference of two arms."""

    mean: float
    low: float
    """Ends of the 95 % interval, by percentiles."""
    high: float
    detectable: float
    """Size of an effect that such an experiment shows in 80 % of cases: 2.8 standard errors."""
    seeds: int
    prompts: int
    agree: bool
    """Whether the mean of every seed has the same sign."""


def effect_of(first: ArrayLike, second: ArrayLike, level: float = 0.95, seed: int = 0) -> Effect:
    """The first arm's outcomes less the second's, paired.

    Args:
        first: (S, P) outcomes by seed and prompt.
        second: the same of the arm to compare with.
        level: of the interval, in (0, 1).
        seed: of the resamples.

    Raises:
        InputError: tables of different or unusable shape, or with numbers that are not finite.

    >>> effect = effect_of([[1, 1, 0, 1]] * 3, [[0, 1, 0, 0]] * 3)
    >>> effect.mean, effect.low >= 0.0
    (0.5, True)
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
    drawn = resampled_means(tables[0] - tables[1], seed)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    quantiles = NormalDist().inv_cdf((1 + level) / 2) + NormalDist().inv_cdf(POWER)
    by_seed = (tables[0] - tables[1]).mean(axis=1)
    agree = bool((by_seed > 0).all() or (by_seed < 0).all())
    spread = float(quantiles * drawn.std(ddof=1))
    return Effect(float(by_seed.mean()), float(low), float(high), spread, *shapes[0], agree)


def resampled_means(table: NDArray[np.float64], seed: int = 0) -> NDArray[np.float64]:
    """(R,) means of a table (S, P) over resamples of its seeds and prompts."""
    draw = np.random.default_rng(seed)
    seeds, prompts = table.shape
    by_seed = draw.multinomial(seeds - 1, [1 / seeds] * seeds, size=RESAMPLES) / (seeds - 1)
    by_prompt = draw.multinomial(prompts - 1, [1 / prompts] * prompts, size=RESAMPLES) / (prompts - 1)
    return ((by_seed @ table) * by_prompt).sum(axis=1)


def decide(effect: Effect, smallest: float, expects: Expects = "more") -> Decision:
    """Whether a paper's claim about the first arm, as compared with the second, holds.

    ``smallest`` is the smallest effect that matters. The first arm has *more* if the interval is above 0 and all seeds
    agree, and *no more* if the interval is below ``smallest``; where both are true, there is more but less than
    matters, and the claim holds in part. Otherwise, and with fewer than three seeds, it is undecided. A claim of
    *no more* does not hold where the first arm has more.

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
    more = effect.low > 0 and effect.agree
    if effect.seeds < MIN_SEEDS or not (more or effect.high < smallest):
        return "undecided at this size"
    if more and effect.high < smallest:
        return "in part"
    return "holds" if more == (expects == "more") else "does not hold here"
