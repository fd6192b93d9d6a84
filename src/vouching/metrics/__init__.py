"""Metrics and their intervals. One idea carries the layer: a bootstrap resample is a vector of row weights.

Every metric takes ``weights`` of shape (..., N), how often each of the N rows counts, and returns shape (...). The same
function so gives the point value (None: every row once), ten thousand bootstrap values and the jackknife. What is
undefined is nan, never 0. ``docs/metrics.md`` says what each number means.
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
from vouching.metrics.groups import Spread, document_numbers, spread_over_seeds, stratified_slice
from vouching.metrics.intervals import Interval, McNemar, Statistic, bca, bca_each, mcnemar_exact, paired_bca, wilson
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
    "accuracy", "auroc", "balanced_accuracy", "confusion_matrix", "error_type_distribution", "macro_f1", "mean",
    "na_f1", "na_precision", "na_recall", "predicted_na_rate", "roc_points", "why_undefined",
    "Bin", "accuracy_at_coverage", "brier", "brier_skill", "coverage_points", "ece", "reliability_bins",
    "Interval", "McNemar", "Statistic", "bca", "bca_each", "mcnemar_exact", "paired_bca", "wilson",
    "RowSpans", "SpanScores", "cohen_kappa", "span_counts", "span_f1", "span_precision", "span_recall", "span_scores",
    "token_counts", "kendall_tau_b", "precision_at_1", "document_numbers", "Spread", "spread_over_seeds",
    "stratified_slice", "exact_match", "token_f1",
]  # fmt: skip
