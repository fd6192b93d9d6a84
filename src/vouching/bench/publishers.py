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
    """Name of the metric as in our results: macro_f1, na_f1, accuracy, pair_accuracy, mean_balanced_accuracy; or with
    the part of the set before it, "general p_at_1"."""
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
_DIVA = "DiVA, Tables 2 and 3"
_DIVA_REMARK = "rows whose ranking could not be read were left out there; tau times 100"
_RANKERS = ("MiniCheck-FT5", "MiniCheck-7B", "HHEM-2.1-Open", "FActScore-GPT-4", "Qwen2.5-7B generative",
            "Qwen2.5-7B agentic generative", "Qwen2.5-7B agentic scorer", "Qwen2.5-7B discriminative",
            "DiVA-Qwen2.5-7B", "DiVA-Qwen2.5-7B without compression", "DiVA-Qwen3-4B")  # fmt: skip
_RANKED = {
    "general p_at_1": (64.60, 71.26, 64.30, 72.59, 70.96, 79.95, 79.89, 72.24, 88.41, 82.90, 87.66),
    "general tau": (56.29, 64.61, 54.20, 67.39, 60.78, 74.14, 73.91, 60.41, 85.55, 78.99, 82.90),
    "multi-hop p_at_1": (51.48, 58.01, 53.99, 71.50, 56.43, 65.68, 71.58, 62.48, 79.89, 67.83, 83.61),
    "multi-hop tau": (45.69, 50.48, 42.52, 62.25, 38.34, 54.33, 54.58, 43.34, 74.61, 58.05, 74.48),
}
PUBLISHED["fgveribench"] = tuple(
    PublishedFigure(system, metric, percent, _DIVA, _DIVA_REMARK)
    for metric, figures in _RANKED.items()
    for system, percent in zip(_RANKERS, figures, strict=True)
)
_BINARY = "FActScore-GPT-4 {}, Qwen2.5-7B generative {}, Qwen2.5-7B agentic generative {}, DiVA-Qwen2.5-7B {}"
PUBLISHED["fgveribench"] += (
    *_table("triviaqa binary accuracy", "DiVA, Table 4", _BINARY.format(59.95, 66.14, 75.98, 88.58)),
    *_table("hotpotqa binary accuracy", "DiVA, Table 4", _BINARY.format(61.85, 43.53, 50.20, 70.98)),
)
PUBLISHED["fgveribench_long"] = (
    *_table("p_at_1", "DiVA, Table 5", "FActScore-GPT-4 60.62, DiVA-Qwen2.5-7B 59.75, DiVA-Qwen3-4B 65.41"),
    *_table("tau", "DiVA, Table 5", "FActScore-GPT-4 45.00, DiVA-Qwen2.5-7B 38.36, DiVA-Qwen3-4B 47.59"),
)
PUBLISHED["best_of_n"] = _table(
    "token_f1", "DiVA, Table 6, NQ", "Llama-3-8B alone 23.82, FActScore-GPT-4 25.81, DiVA-Qwen2.5-7B 24.38, "
    "DiVA-Qwen3-4B 26.14", "16 answers of Meta-Llama-3-8B-Instruct to each question",
)  # fmt: skip
PUBLISHED["ragtruth_published"] = PUBLISHED["ragtruth"]
