"""What the publishers of data sets and models report on them, to stand beside our own figures.

Every number is the publisher's own; none was measured here, and rows, prompts and thresholds may differ from ours. In
per cent, as printed. Left out: figures without a set that ``catalog.py`` names.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One system's figure on one set."""

    system: str
    """The model, as its publisher calls it."""
    metric: str
    """Name of the metric as in our results: macro_f1, na_f1, accuracy, pair_accuracy, mean_balanced_accuracy."""
    percent: float
    """The value, in per cent."""
    where: str
    """Where it is printed."""
    remark: str = ""
    """What to know before comparing."""


def _table(metric: str, where: str, figures: str, remark: str = "") -> tuple[PublishedFigure, ...]:
    """Figures written as "system value, system value"."""
    pairs = (figure.rsplit(" ", 1) for figure in figures.split(", "))
    return tuple(PublishedFigure(system, metric, float(value), where, remark) for system, value in pairs)


_SEVA = "SEVA"
_SLICE = "on their slice of the set, from which these rows are taken"
_SEVA_SYSTEMS = "SEVA-SFT-3B {}, SEVA-GRPO-3B {}, GPT-4o-mini {}, MiniCheck-FT5 {}"

PUBLISHED: dict[str, tuple[PublishedFigure, ...]] = {
    "seva_fever": _table("macro_f1", _SEVA, _SEVA_SYSTEMS.format(76.3, 84.9, 91.0, 87.1), _SLICE),
    "seva_halueval": _table("macro_f1", _SEVA, _SEVA_SYSTEMS.format(42.0, 39.4, 34.0, 42.4), _SLICE),
    "seva_truthfulqa": _table("macro_f1", _SEVA, _SEVA_SYSTEMS.format(72.1, 82.7, 48.6, 59.5), _SLICE),
    "clearfacts": _table(
        "macro_f1",
        _SEVA,
        "SEVA-SFT-3B 64.9, SEVA-GRPO-3B 69.0, SEVA-7B LoRA-128 68.5, GPT-4o-mini 69.8, MiniCheck-FT5-770M 68.3, "
        "Llama-3.1-8B 67.2, MiniCheck-7B 81.2, ClearCheck-8B 84",
    ),
    "ragtruth": _table(
        "na_f1",
        "LettuceDetect",
        "RAG-HAT 83.9, LettuceDetect-large 79.2, Llama-2-13B fine-tuned 78.7, LettuceDetect-base 76.8, Luna 65.4, "
        "GPT-4 63.4",
        "response level; the fine-tuned ones were trained on RAGTruth's own training part",
    ),
    "llm_aggrefact": _table(
        "mean_balanced_accuracy",
        "the set's leaderboard",
        "Bespoke-MiniCheck-7B 77.4, Claude-3.5-Sonnet 77.2, FactCG-DeBERTa-L 77.2, GPT-4o 75.9, MiniCheck-FT5 75.0, "
        "MiniCheck-DeBERTa-L 74.1, HHEM-2.1 71.8",
    ),
    "faithbench": _table("accuracy", "FaithBench", "best detectors 50", "about 50; on another cut of the rows"),
    "contextual_judge_bench": _table(
        "pair_accuracy", "MARCH", "Llama-3.1-8B 29.7, MARCH (STEM) 52.3, MARCH (General) 51.6",
        "judged twice in both orders, right only if both are",
    ),
}  # fmt: skip
PUBLISHED["ragtruth_published"] = PUBLISHED["ragtruth"]
