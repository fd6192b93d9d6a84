"""Intervals against scipy, against what they promise, and their honest refusals."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from tests.metrics.made_rows import made_rows
from vouching import metrics as m
from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray


def _bounds(interval: m.Interval) -> FloatArray:
    assert interval.why_not is None
    assert interval.low is not None
    assert interval.high is not None
    return np.array([interval.low, interval.high])


def test_the_bca_interval_of_a_skewed_mean_equals_that_of_scipy() -> None:
    values = np.random.default_rng(5).lognormal(sigma=1.2, size=30)
    ours = _bounds(m.bca(partial(m.mean, values), groups=30))
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="BCa", rng=1).confidence_interval
    plain = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=1).confidence_interval
    # Monte-Carlo error of one bound with 10,000 resamples: about 2 % of the width; both have it, and the upper tail is
    # long. The percentile interval, without bias and acceleration, is farther away than that.
    width = theirs.high - theirs.low
    assert_allclose(ours, theirs, atol=0.06 * width)
    assert abs(ours[1] - plain.high) > 0.12 * width


def test_the_bca_interval_of_a_biased_statistic_equals_that_of_scipy() -> None:
    values = np.random.default_rng(3).normal(size=20)

    def variance(weights: FloatArray) -> FloatArray:
        total = weights.sum(axis=-1)
        return weights @ values**2 / total - (weights @ values / total) ** 2

    ours = _bounds(m.bca(variance, groups=20))
    theirs = stats.bootstrap((values,), np.var, n_resamples=10_000, method="BCa", rng=1).confidence_interval
    # Resampled variances are 1/20 too small in the mean, so the bias counts: without it the bounds move by a tenth.
    assert_allclose(ours, theirs, atol=0.04 * (theirs.high - theirs.low))


@pytest.mark.parametrize(("hits", "rows"), [(5, 15), (8, 20), (14, 20), (7, 40)])
def test_the_bca_interval_of_a_share_is_the_one_of_its_exact_distribution(hits: int, rows: int) -> None:
    share = hits / rows
    drawn = stats.binom(rows, share)  # the resampled number of hits, exactly; it equals ``hits`` often: half each way
    bias = stats.norm.ppf(drawn.cdf(hits - 1) + drawn.pmf(hits) / 2)
    # Leaving a row out moves the share by (x - share) / (rows - 1): a sixth of the skewness over the root of the rows.
    acceleration = (1 - 2 * share) / (6 * np.sqrt(rows * share * (1 - share)))
    z = bias + stats.norm.ppf([0.025, 0.975])
    expected = drawn.ppf(stats.norm.cdf(bias + z / (1 - acceleration * z))) / rows
    assert_allclose(_bounds(m.bca(partial(m.mean, np.arange(rows) < hits), groups=rows)), expected)


def test_the_bca_interval_of_auroc_equals_that_of_scipy() -> None:
    rows = made_rows(60, seed=2)

    def area(truth: FloatArray, scores: FloatArray, axis: int) -> FloatArray:
        ranks, upper = stats.rankdata(scores, axis=axis), truth.sum(axis)
        won = (ranks * truth).sum(axis) - upper * (upper + 1) / 2
        return won / (upper * (truth.shape[axis] - upper))

    data = (rows.truth.astype(float), rows.scores)
    theirs = stats.bootstrap(data, area, paired=True, n_resamples=10_000, method="BCa", rng=1).confidence_interval
    ours = _bounds(m.bca(partial(m.auroc, rows.truth, rows.scores), groups=60))
    assert_allclose(ours, theirs, atol=0.04 * (theirs.high - theirs.low))


def test_with_more_groups_than_blocks_the_interval_still_equals_that_of_scipy() -> None:
    values = np.sort(np.random.default_rng(6).lognormal(sigma=1.5, size=2_500))
    ours = _bounds(m.bca(partial(m.mean, values), groups=2_500, resamples=4_000))
    theirs = stats.bootstrap((values,), np.mean, n_resamples=4_000, method="BCa", rng=1, batch=200).confidence_interval
    assert_allclose(ours, theirs, atol=0.08 * (theirs.high - theirs.low))


def test_copies_of_a_row_in_one_group_add_no_information() -> None:
    values = np.random.default_rng(7).random(40)
    alone = m.bca(partial(m.mean, values), groups=40, resamples=1_000)
    copied = m.bca(partial(m.mean, np.repeat(values, 4)), np.repeat(np.arange(40), 4), resamples=1_000)
    assert_allclose(_bounds(copied), _bounds(alone))
    # Taken for 160 independent rows, the interval would be half as wide: 1 / sqrt(4).
    fooled = m.bca(partial(m.mean, np.repeat(values, 4)), groups=160, resamples=1_000)
    assert_allclose(np.ptp(_bounds(fooled)) / np.ptp(_bounds(copied)), 0.5, atol=0.06)


def test_intervals_by_document_have_their_level_where_rows_of_a_document_are_alike() -> None:
    # 300 worlds: 40 documents of 5 claims, the same chance of being right within a document, 1/2 over all.
    random, held = np.random.default_rng(8), np.zeros(2)
    document = np.repeat(np.arange(40), 5)
    for _ in range(300):
        right = random.random(200) < random.beta(0.5, 0.5, size=40)[document]
        for place, groups in enumerate((document, 200)):
            low, high = _bounds(m.bca(partial(m.mean, right), groups, resamples=400))
            held[place] += low <= 0.5 <= high
    by_document, by_row = held / 300
    # 95 % of 300 has a standard error of 1.3 points, and few documents cost BCa another point or two.
    assert 0.90 <= by_document <= 0.98
    # Within a document the correlation is 1 / (.5 + .5 + 1) = .5, so the variance is 1 + 4 x .5 = 3 times as large, and
    # an interval by row is one of 1.96 / sqrt(3) = 1.13 standard errors: 74 %.
    assert by_row < 0.82


def test_group_numbers_may_have_gaps_any_order_and_any_type() -> None:
    values = np.random.default_rng(9).random(24)
    groups = np.arange(24) // 2
    expected = m.bca(partial(m.mean, values), groups, resamples=300)
    assert m.bca(partial(m.mean, values), 1000 + 7 * groups, resamples=300) == expected
    assert m.bca(partial(m.mean, values), [f"doc-{n:02}" for n in groups], resamples=300) == expected


def test_the_seed_decides_the_interval() -> None:
    area = partial(m.auroc, made_rows(50).truth, made_rows(50).scores)
    one, same, other = (m.bca(area, groups=50, resamples=300, seed=seed) for seed in (0, 0, 1))
    assert one == same
    assert one != other


def test_a_higher_level_gives_a_wider_interval() -> None:
    area = partial(m.auroc, made_rows(50).truth, made_rows(50).scores)
    narrow, wide = (_bounds(m.bca(area, groups=50, level=level)) for level in (0.8, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_a_difference_is_taken_within_each_resample() -> None:
    rows = made_rows(80)
    better = partial(m.auroc, rows.truth, rows.scores)
    shifted = partial(m.auroc, rows.truth, rows.scores + 0.01 * (np.arange(80) % 5))
    paired = _bounds(m.paired_bca(better, shifted, groups=80))
    apart = np.ptp(_bounds(m.bca(better, groups=80)))
    # The two move together from resample to resample, so their difference varies far less than either.
    assert np.ptp(paired) < apart / 2


def test_the_difference_of_a_statistic_with_itself_has_no_interval() -> None:
    area = partial(m.auroc, made_rows(50).truth, made_rows(50).scores)
    interval = m.paired_bca(area, area, groups=50, resamples=200)
    assert (interval.estimate, interval.low, interval.high) == (0, None, None)
    assert interval.why_not == "every resample gives the same value: the rows do not vary"


def test_fewer_than_ten_groups_are_refused_whatever_the_number_of_rows() -> None:
    interval = m.bca(partial(m.mean, np.arange(90.0)), np.arange(90) % 9)
    assert interval.estimate == 44.5
    assert (interval.low, interval.high) == (None, None)
    assert interval.why_not == "an interval needs at least 10 groups of rows, got 9"


def test_three_rows_have_an_estimate_and_no_interval() -> None:
    interval = m.bca(partial(m.auroc, [True, False, False], [0.9, 0.5, 0.1]), groups=3)
    assert (interval.estimate, interval.low) == (1, None)
    assert interval.why_not == "an interval needs at least 10 groups of rows, got 3"


@pytest.mark.parametrize("rows", [3, 30])
def test_an_undefined_statistic_is_refused_as_such(rows: int) -> None:
    interval = m.bca(partial(m.auroc, [True] * rows, np.linspace(0, 1, rows)), groups=rows, resamples=200)
    assert np.isnan(interval.estimate)
    assert interval.why_not == "undefined on these rows"


def test_resamples_of_one_class_are_excluded_and_counted() -> None:
    # 3 of 30 rows: (9/10)^30 = 4.2 % of the resamples have none of them. 1 of 30: 36 %, more than the tenth allowed.
    scores = np.random.default_rng(10).random(30)
    some = m.bca(partial(m.auroc, np.arange(30) < 3, scores), groups=30)
    assert 350 <= some.excluded <= 500
    assert some.why_not is None
    few = m.bca(partial(m.auroc, np.arange(30) < 1, scores), groups=30)
    assert 3_400 <= few.excluded <= 3_850
    assert few.why_not == f"undefined in {few.excluded} of 10000 resamples: too few rows of one class"


def test_a_perfect_score_has_no_bootstrap_interval_and_a_wilson_interval() -> None:
    assert m.bca(partial(m.mean, [True] * 50), groups=50, resamples=200).why_not is not None
    assert_allclose(_bounds(m.wilson(50, 50)), [0.929, 1], atol=5e-4)  # 50 / (50 + 1.96^2)


def test_rounding_is_not_variation() -> None:
    # Sums of .1 end in different last digits; their means are all .1, and the difference of two such means is 0.
    tenth, split = partial(m.mean, [0.1] * 50), partial(m.mean, [0.3] * 50)
    same = "every resample gives the same value: the rows do not vary"
    assert m.bca(tenth, groups=50).why_not == same
    assert m.paired_bca(tenth, lambda weights: split(weights) / 3, groups=50).why_not == same


def test_an_estimate_outside_all_resamples_is_refused() -> None:
    def everyone_or_noise(weights: FloatArray) -> FloatArray:
        return np.where((weights == 1).all(axis=-1), 9.0, weights[:, 0])

    interval = m.bca(everyone_or_noise, groups=20, resamples=200)
    assert interval.why_not == "all resamples are on one side of the estimate"


def test_where_the_jackknife_does_not_vary_the_interval_is_bias_corrected_only() -> None:
    # The median of 19 zeros, 3 halves and 19 ones stays one half whichever row is left out, and moves in resamples.
    values = np.repeat([0.0, 0.5, 1.0], [19, 3, 19])

    def median(weights: FloatArray) -> FloatArray:
        reached = np.cumsum(weights, axis=-1) >= weights.sum(axis=-1, keepdims=True) / 2
        return values[reached.argmax(axis=-1)]

    interval = m.bca(median, groups=41)
    assert (interval.method, interval.estimate) == ("BC", 0.5)
    assert_allclose(_bounds(interval), [0, 1])


def test_an_interval_without_skew_is_still_a_bca_interval() -> None:
    assert m.bca(partial(m.mean, [0.0, 1.0] * 10), groups=20, resamples=200).method == "BCa"


def test_where_the_correction_for_skew_breaks_down_the_interval_is_refused() -> None:
    # One of 30 rows decides the value: acceleration .16, near its limit of 1/6. The trifle makes the estimate higher
    # than 99 % of the resamples: bias about 2.4. At this level z is 4.9, and .16 (2.4 + 4.9) exceeds 1.
    def decided_by_one_row(weights: FloatArray) -> FloatArray:
        return 1.0 * (weights[:, 0] > 0) + 1e-6 * (weights[:, 1:5] == 1).all(axis=-1)

    interval = m.bca(decided_by_one_row, groups=30, level=1 - 1e-6)
    assert interval.why_not == "a few rows determine the value: correcting for skew is unstable"
    assert m.bca(decided_by_one_row, groups=30, level=0.5).why_not is None


def test_several_statistics_share_their_resamples_and_equal_themselves_alone() -> None:
    rows = made_rows(60)
    statistics = {"auroc": partial(m.auroc, rows.truth, rows.scores), "ece": partial(m.ece, rows.truth, rows.scores)}
    together = m.bca_each(statistics, groups=60, resamples=500)
    assert together == {name: m.bca(statistic, groups=60, resamples=500) for name, statistic in statistics.items()}


def test_memory_stays_flat_for_thousands_of_rows() -> None:
    rows = made_rows(2_700)
    tracemalloc.start()
    m.bca(partial(m.auroc, rows.truth, rows.scores), groups=2_700, resamples=2_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All weights at once would be 2,000 x 2,700 x 8 bytes = 43 MB, and auroc makes several arrays of that size.
    assert peak < 64e6


@pytest.mark.parametrize(
    "options", [{"level": 1.0}, {"level": 0.0}, {"resamples": 99}, {"seed": -1}, {"level": float("nan")}]
)
def test_settings_out_of_range_are_rejected(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match="expected a level in"):
        m.bca(partial(m.mean, np.arange(20.0)), groups=20, **options)


def test_missing_rows_and_misshapen_statistics_are_rejected() -> None:
    with pytest.raises(InputError, match="groups must be a number of rows or one group per row"):
        m.bca(partial(m.mean, [1.0]), groups=0)
    with pytest.raises(InputError, match=r"cannot be computed for the 21 rows: weights must have shape \(..., 20\)"):
        m.bca(partial(m.mean, np.arange(20.0)), groups=21)
    with pytest.raises(InputError, match="a statistic must map weights"):
        m.bca(lambda weights: weights, groups=20)


@pytest.mark.parametrize(("successes", "n"), [(0, 7), (1, 7), (7, 7), (13, 40), (999, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_wilson_equals_that_of_scipy(successes: int, n: int, level: float) -> None:
    theirs = stats.binomtest(successes, n).proportion_ci(level, "wilson")
    assert_allclose(_bounds(m.wilson(successes, n, level)), [theirs.low, theirs.high], atol=1e-12)


def test_wilson_ends_exactly_at_zero_and_one() -> None:
    assert [m.wilson(0, n).low for n in range(1, 40)] == [0.0] * 39
    assert [m.wilson(n, n).high for n in range(1, 40)] == [1.0] * 39


def test_a_share_of_no_rows_is_undefined() -> None:
    interval = m.wilson(0, 0)
    assert np.isnan(interval.estimate)
    assert interval.why_not == "no rows"
    for successes, n in ((-1, 3), (4, 3), (0, -1)):
        with pytest.raises(InputError, match="0 <= successes <= n"):
            m.wilson(successes, n)


def test_rows_that_stand_alone_have_the_interval_of_wilson() -> None:
    assert m.clustered_wilson([1, 0] * 20, [1, 1] * 20) == m.wilson(20, 40)
    assert m.clustered_wilson([1, 0], [1, 1], [20, 20]) == m.wilson(20, 40)
    assert m.clustered_wilson([], []).why_not == "no rows"


def test_rows_that_are_all_alike_within_their_group_count_once() -> None:
    # 30 groups of 4 equal rows: the variance of the share is that of 30 rows, so the design effect is
    # (120 - 1) / (30 - 1) = 4.1034, and with t(119) = 1.9801 and t(29) = 2.0452, n = 120 / 4.1034 * .9374 = 27.41.
    interval = m.clustered_wilson([4, 0, 0], [4, 4, 4], [10, 10, 10])
    ratio = stats.t.ppf(0.975, 119) / stats.t.ppf(0.975, 29)
    n, z = 120 / (119 / 29) * ratio**2, stats.norm.ppf(0.975)
    assert n == pytest.approx(27.41, abs=0.01)
    # Wilson's bounds are where (p - 1/3)^2 = z^2 p (1 - p) / n.
    for bound in _bounds(interval):
        assert (bound - 1 / 3) ** 2 == pytest.approx(z**2 * bound * (1 - bound) / n, rel=1e-4)


def test_without_a_way_to_estimate_it_the_dependence_is_taken_as_complete() -> None:
    assert m.clustered_wilson([0] * 12, [5] * 12).high == pytest.approx(m.wilson(0, 12).high)
    assert _bounds(m.clustered_wilson([5, 5, 0, 0], [5] * 4)) == pytest.approx(_bounds(m.wilson(2, 4)))


def test_the_interval_by_groups_has_its_level_where_that_of_independent_rows_has_not() -> None:
    # 60 responses of 1 to 8 claims whose error rates are Beta(.4, 1.6), mean .2. The true share is in a 95 % interval
    # in 95 % of 600 samples, with a standard deviation of .9 points: at least 92 %.
    random = np.random.default_rng(5)
    inside, naive = 0, 0
    for _ in range(600):
        sizes = random.integers(1, 9, 60)
        hits = random.binomial(sizes, random.beta(0.4, 1.6, 60))
        low, high = _bounds(m.clustered_wilson(hits, sizes))
        inside += low <= 0.2 <= high
        low, high = _bounds(m.wilson(int(hits.sum()), int(sizes.sum())))
        naive += low <= 0.2 <= high
    assert inside / 600 >= 0.92
    assert naive / 600 < 0.85


def test_groups_that_do_not_fit_are_refused() -> None:
    for hits, sizes in (([2], [1]), ([1, 1], [1]), ([0], [0]), ([-1], [2])):
        with pytest.raises(InputError, match="one number of successes per group"):
            m.clustered_wilson(hits, sizes)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 1), (5, 1), (1, 5), (4, 4), (30, 12), (700, 800)])
def test_mcnemar_equals_the_binomial_test_of_scipy(only_a: int, only_b: int) -> None:
    a = [True] * (only_a + 3) + [False] * (only_b + 2)
    b = [False] * only_a + [True] * (3 + only_b) + [False] * 2
    found = m.mcnemar_exact(a, b)
    assert (found.only_a, found.only_b) == (only_a, only_b)
    assert_allclose(found.p_value, stats.binomtest(only_a, only_a + only_b).pvalue)


def test_systems_that_never_differ_have_a_p_value_of_one() -> None:
    assert m.mcnemar_exact([True, False], [True, False]) == m.McNemar(0, 0, 1.0)


def test_a_very_lopsided_split_of_many_rows_does_not_overflow() -> None:
    # 2 / 2^1100 is below the smallest double; 2^1100 is above the largest.
    assert m.mcnemar_exact([True] * 1_100, [False] * 1_100).p_value == 0
    assert m.mcnemar_exact([True, False] * 10_000, [False, True] * 10_000).p_value == 1
