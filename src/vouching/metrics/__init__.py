"""Metrics and their intervals. One idea supports the package: a bootstrap resample is a vector of row weights.

Every metric takes ``weights`` of shape (..., N), how often each of the N rows counts, and returns shape (...). One
function thus gives the point value (None: every row once), ten thousand bootstrap values and the jackknife. Truth,
predictions and ``right`` are (N,) booleans, True for Attributable or right; scores are (N,) finite numbers. Undefined
values are nan, never 0. Arrays that are empty, of different length or of another type raise InputError. See
``docs/bench.md`` for what each number means.
"""

from __future__ import annotations

from vouching.metrics.agreement import (
    RowSpans,
    SpanScores,
    cohen_kappa,
    span_counts,
    span_f1,
    span_precision,
    span_recall,
    span_scores,
    token_counts,
)
from vouching.metrics.answers import exact_match, kendall_tau_b, precision_at_1, token_f1
from vouching.metrics.calibration import (
    Bin,
    accuracy_at_coverage,
    brier,
    brier_skill,
    coverage_points,
    ece,
    reliability_bins,
)
from vouching.metrics.calibrators import fit_calibrator
from vouching.metrics.groups import Spread, document_numbers, spread_over_seeds, stratified_slice
from vouching.metrics.intervals import (
    Interval,
    McNemar,
    Statistic,
    bca,
    bca_each,
    clustered_wilson,
    mcnemar_exact,
    paired_bca,
    wilson,
)
from vouching.metrics.scores import (
    accuracy,
    auroc,
    balanced_accuracy,
    confusion_matrix,
    error_type_distribution,
    macro_f1,
    mean,
    na_f1,
    na_precision,
    na_recall,
    predicted_na_rate,
    roc_points,
    why_undefined,
)

__all__ = [
    "Bin",
    "Interval",
    "McNemar",
    "RowSpans",
    "SpanScores",
    "Spread",
    "Statistic",
    "accuracy",
    "accuracy_at_coverage",
    "auroc",
    "balanced_accuracy",
    "bca",
    "bca_each",
    "brier",
    "brier_skill",
    "clustered_wilson",
    "cohen_kappa",
    "confusion_matrix",
    "coverage_points",
    "document_numbers",
    "ece",
    "error_type_distribution",
    "exact_match",
    "fit_calibrator",
    "kendall_tau_b",
    "macro_f1",
    "mcnemar_exact",
    "mean",
    "na_f1",
    "na_precision",
    "na_recall",
    "paired_bca",
    "precision_at_1",
    "predicted_na_rate",
    "reliability_bins",
    "roc_points",
    "span_counts",
    "span_f1",
    "span_precision",
    "span_recall",
    "span_scores",
    "spread_over_seeds",
    "stratified_slice",
    "token_counts",
    "token_f1",
    "why_undefined",
    "wilson",
]
