"""The data sets for language models that answer, solve or judge: what each is and where its files are.

Published figures are shown next to ours; they were not reproduced, and rows, prompts and thresholds may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from recipes.bench.answer_task import AnswersTask
from recipes.bench.answers import facts_requests, faithbench_requests, multihop_answers, ragtruth_requests
from recipes.bench.judges import JudgesTask, contextual_pairs, facts_responses
from recipes.bench.multihop import FILES, MultihopSet
from recipes.bench.problems import MathTask, problems
from recipes.bench.tax_answers import TaxesTask
from recipes.taxes.taxcalcbench import tax_cases
from vouching.bench.catalog import DATA_SETS, published_figures
from vouching.bench.rows import Split
from vouching.bench.task import DataSet, PublishedFigure, Read, Task
from vouching.errors import InputError
from vouching.types.visible import hint


def _multihop(name: MultihopSet, origin: str, licence: str, published: str) -> DataSet[Any]:
    files: dict[Split, tuple[str, ...]] = {
        split: (f"multihop/{file}.jsonl.gz",) for (one, split), file in FILES.items() if one == name
    }
    figures = published_figures("judged by majority", "MARCH, Table 5", published, "500 questions of dev")
    what, get = "multi-hop questions with their paragraphs", "save the authors' rows with paragraphs, one per line"
    return DataSet(name, what, origin, licence, files, multihop_answers, get, "", figures)


def _requests(
    name: str, what: str, origin: str, licence: str, file: str, read: Read[Any], *published: PublishedFigure
) -> DataSet[Any]:
    return DataSet(name, what, origin, licence, {"test": (file,)}, read, "see recipes/bench/README.md", "", published)


def _faithful(part: str, figures: str, where: str = "MARCH, Table 2", remark: str = "") -> tuple[PublishedFigure, ...]:
    return published_figures(f"{part} faithful by majority".strip(), where, figures, remark)


_ANSWERS = (
    _multihop(
        "hotpotqa",
        "Yang et al. 2018",
        "CC BY-SA 4.0",
        "Llama-3.1-8B 35.0, MARCH general 56.4, MARCH with ten shots 73.6",
    ),
    _multihop(
        "musique", "Trivedi et al. 2022", "CC BY 4.0", "Llama-3.1-8B 5.6, MARCH general 18.4, MARCH with ten shots 40.8"
    ),
    _multihop(
        "2wiki", "Ho et al. 2020", "Apache-2.0", "Llama-3.1-8B 17.4, MARCH general 38.6, MARCH with ten shots 69.4"
    ),
    _requests(
        "ragtruth_requests",
        "RAGTruth's requests by task",
        "RAGTruth, Niu et al. 2024",
        "MIT",
        "attribution/test/ragtruth.jsonl.gz",
        ragtruth_requests,
        *_faithful("summary", "Llama-3.1-8B 71.33, MARCH general 92.67"),
        *_faithful("data2txt", "Llama-3.1-8B 48.67", remark="28.67 in its Table 6"),
        *_faithful("data2txt", "MARCH general 72.0"),
        *_faithful("qa", "Llama-3.1-8B 63.31, MARCH general 83.45"),
    ),
    _requests(
        "faithbench_requests",
        "passages to summarise",
        "Bao et al. 2025",
        "CC BY-NC-SA",
        "attribution/test/faithbench.jsonl.gz",
        faithbench_requests,
        *_faithful("", "Llama-3.1-8B 37.5, MARCH general 52.78"),
    ),
    _requests(
        "facts_requests",
        "requests about long documents",
        "Jacovi et al. 2025",
        "CC BY 4.0",
        "facts_grounding/examples.csv",
        facts_requests,
        *_faithful("", "Llama-3.1-8B 57.09, MARCH general 80.12", "MARCH, Figure 2"),
    ),
)


def _math(name: str, what: str, get: str, licence: str = "none stated") -> DataSet[Any]:
    return DataSet(name, what, "", licence, {"test": (f"{name}/*.*",)}, problems, get)


_PROBLEMS = (
    _math(
        "math_500",
        "500 problems from MATH, Hendrycks et al. 2021",
        "download test.jsonl of huggingface.co/datasets/HuggingFaceH4/MATH-500",
        "MIT",
    ),
    _math(
        "aime_2024",
        "30 problems with whole-number answers",
        "download the Parquet file in the data folder of huggingface.co/datasets/HuggingFaceH4/aime_2024",
    ),
    _math(
        "aime_2025",
        "30 problems with whole-number answers",
        "download test.jsonl of huggingface.co/datasets/"
        "math-ai/aime25, or aime2025-I.jsonl and aime2025-II.jsonl of huggingface.co/datasets/opencompass/AIME2025",
    ),
)
_TAXES = DataSet(
    "taxcalcbench",
    "nineteen lines of Form 1040 for 51 returns of 2024",
    "Bock et al. 2025",
    "see the authors",
    {"test": ("taxcalcbench/**/input.json",)},
    tax_cases,
    "copy ty24/test_data of github.com/column-tax/tax-calc-bench there, or the output of recipes/taxes/make.py",
)
ANSWERS = {one.name: one for one in _ANSWERS}
"""Sets whose questions a model answers."""
JUDGED = {
    name: replace(DATA_SETS[name], what=what, read=read, published=())
    for name, what, read in (
        ("contextual_judge_bench", "pairs of responses, compared in both orders", contextual_pairs),
        ("facts_grounding", "your responses, judged in two phases", facts_responses),
    )
}
"""Sets that language models judge by the set's protocol; ``vouch bench run`` has a verifier judge their claims."""
SOLVED = {one.name: one for one in (*_PROBLEMS, _TAXES)}
"""Sets with one right answer to each row, to which files of responses are compared."""
GENERATED = {"ifeval": DATA_SETS["ifeval"], **SOLVED}
"""Sets that a model can write responses to."""
TASKS: Mapping[str, type[Task[Any]]] = {
    **dict.fromkeys(ANSWERS, AnswersTask),
    **dict.fromkeys(JUDGED, JudgesTask),
    **{name: TaxesTask if name == _TAXES.name else MathTask for name in SOLVED},
}
"""The task of each set."""


def chosen(names: Sequence[str], known: Mapping[str, DataSet[Any]]) -> list[DataSet[Any]]:
    """The sets of these names, each once, in order.

    >>> chosen(["musiqe"], ANSWERS)
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: unknown set 'musiqe'; did you mean 'musique'?
    """
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise InputError(f"unknown set {name!r}{hint(near, 'expected one of ' + ', '.join(known))}")
    return [known[name] for name in dict.fromkeys(names)]
