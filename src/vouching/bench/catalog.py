"""The data sets, as literal tables: what each is, who made it, where its files are and how to get them.

Files are looked up in the folder named by ``VOUCH_DATA``. Sets in this project's own format are in
``attribution/<split>/<name>.jsonl.gz``, sets in their authors' format in a folder of their own. Published figures are
shown next to ours; they were not reproduced, and rows, prompts and thresholds may differ. Not supported: downloading;
users accept the terms of each set themselves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, get_args

from vouching.bench import ifeval, published, rankings
from vouching.bench import rows as attribution
from vouching.bench.rows import BenchRow, Split
from vouching.bench.task import DataSet, Kind, PublishedFigure, Read
from vouching.errors import ConfigError, InputError
from vouching.plugins import load_plugin, plugins
from vouching.types.visible import hint

SPLITS: tuple[Split, ...] = get_args(Split)
ALL = "all"
"""Every available set of claims of a split."""


def published_figures(metric: str, where: str, figures: str, remark: str = "") -> tuple[PublishedFigure, ...]:
    """Published figures from a text "system value, system value"; see :class:`~vouching.bench.task.PublishedFigure`."""
    pairs = (figure.rsplit(" ", 1) for figure in figures.split(", "))
    return tuple(PublishedFigure(system, metric, float(value), where, remark) for system, value in pairs)


_SEVA = "SEVA"
_SLICE = "on SEVA's slice of the set, from which these rows are taken"
_SEVA_SYSTEMS = "SEVA-SFT-3B {}, SEVA-GRPO-3B {}, GPT-4o-mini {}, MiniCheck-FT5 {}"

PUBLISHED: dict[str, tuple[PublishedFigure, ...]] = {
    "seva_fever": published_figures("macro_f1", _SEVA, _SEVA_SYSTEMS.format(76.3, 84.9, 91.0, 87.1), _SLICE),
    "seva_halueval": published_figures("macro_f1", _SEVA, _SEVA_SYSTEMS.format(42.0, 39.4, 34.0, 42.4), _SLICE),
    "seva_truthfulqa": published_figures("macro_f1", _SEVA, _SEVA_SYSTEMS.format(72.1, 82.7, 48.6, 59.5), _SLICE),
    "clearfacts": published_figures(
        "macro_f1",
        _SEVA,
        "SEVA-SFT-3B 64.9, SEVA-GRPO-3B 69.0, SEVA-7B LoRA-128 68.5, GPT-4o-mini 69.8, MiniCheck-FT5-770M 68.3, "
        "Llama-3.1-8B 67.2, MiniCheck-7B 81.2, ClearCheck-8B 84",
    ),
    "ragtruth": published_figures(
        "na_f1",
        "LettuceDetect",
        "RAG-HAT 83.9, LettuceDetect-large 79.2, Llama-2-13B fine-tuned 78.7, LettuceDetect-base 76.8, Luna 65.4, "
        "GPT-4 63.4",
        "response level; the fine-tuned models were trained on RAGTruth's training split",
    ),
    "llm_aggrefact": published_figures(
        "mean_balanced_accuracy",
        "the set's leaderboard",
        "Bespoke-MiniCheck-7B 77.4, Claude-3.5-Sonnet 77.2, FactCG-DeBERTa-L 77.2, GPT-4o 75.9, MiniCheck-FT5 75.0, "
        "MiniCheck-DeBERTa-L 74.1, HHEM-2.1 71.8",
    ),
    "faithbench": published_figures(
        "accuracy", "FaithBench", "best detectors 50", "about 50, on a different selection of rows"
    ),
    "contextual_judge_bench": published_figures(
        "pair_accuracy",
        "MARCH",
        "Llama-3.1-8B 29.7, MARCH (STEM) 52.3, MARCH (General) 51.6",
        "judged in both orders; correct only if both judgments are",
    ),
}
_DIVA = "DiVA, Tables 2 and 3"
_DIVA_REMARK = "the authors excluded unreadable rankings; tau times 100"
_RANKERS = (
    "MiniCheck-FT5",
    "MiniCheck-7B",
    "HHEM-2.1-Open",
    "FActScore-GPT-4",
    "Qwen2.5-7B generative",
    "Qwen2.5-7B agentic generative",
    "Qwen2.5-7B agentic scorer",
    "Qwen2.5-7B discriminative",
    "DiVA-Qwen2.5-7B",
    "DiVA-Qwen2.5-7B without compression",
    "DiVA-Qwen3-4B",
)
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
    *published_figures("triviaqa binary accuracy", "DiVA, Table 4", _BINARY.format(59.95, 66.14, 75.98, 88.58)),
    *published_figures("hotpotqa binary accuracy", "DiVA, Table 4", _BINARY.format(61.85, 43.53, 50.20, 70.98)),
)
PUBLISHED["fgveribench_long"] = (
    *published_figures("p_at_1", "DiVA, Table 5", "FActScore-GPT-4 60.62, DiVA-Qwen2.5-7B 59.75, DiVA-Qwen3-4B 65.41"),
    *published_figures("tau", "DiVA, Table 5", "FActScore-GPT-4 45.00, DiVA-Qwen2.5-7B 38.36, DiVA-Qwen3-4B 47.59"),
)
PUBLISHED["best_of_n"] = published_figures(
    "token_f1",
    "DiVA, Table 6, NQ",
    "Llama-3-8B alone 23.82, FActScore-GPT-4 25.81, DiVA-Qwen2.5-7B 24.38, DiVA-Qwen3-4B 26.14",
    "16 answers by Meta-Llama-3-8B-Instruct to each question",
)
PUBLISHED["ragtruth_published"] = PUBLISHED["ragtruth"]


def _own(
    name: str,
    splits: str,
    what: str,
    origin: str,
    licence: str,
    read: Read[BenchRow] = attribution.claim_rows,
    remark: str = "",
) -> DataSet[BenchRow]:
    """A set in this project's own format."""
    files: dict[Split, tuple[str, ...]] = {
        split: (f"attribution/{split}/{name}.jsonl.gz",) for split in SPLITS if split in splits.split()
    }
    return DataSet(name, what, origin, licence, files, read, remark=remark, published=PUBLISHED.get(name, ()))


def _theirs(
    name: str,
    what: str,
    origin: str,
    licence: str,
    files: Mapping[Split, tuple[str, ...]],
    read: Read[BenchRow],
    get: str,
) -> DataSet[BenchRow]:
    """A set in its authors' format."""
    return DataSet(name, what, origin, licence, files, read, get, published=PUBLISHED.get(name, ()))


_by_group = partial(attribution.claim_rows, document="group")
_by_label = partial(attribution.claim_rows, part="fine_label")
_BROKEN = "broken slice: nearly all Attributable claims, and no others, are bare questions"
_PAGES = "fever/wiki-pages/wiki-*.jsonl"
_SUMMEDITS = ("ectsum", "podcast", "qmsumm", "sales_call", "sales_email", "scitldr")

_NLI = {
    "add_one_rte": "Pavlick and Callison-Burch 2016",
    "ambient": "Liu et al. 2023",
    "cad_snli": "Kaushik et al. 2020",
    "entailmentbank_steps_pos": "Dalvi et al. 2021",
    "equate": "Ravichander et al. 2019",
    "evidence_inference_v2": "DeYoung et al. 2020",
    "fever_nli_dev": "Nie et al. 2019",
    "help_and_or": "Yanaka et al. 2019",
    "mnli_dev_matched": "Williams et al. 2018",
    "mnli_dev_mismatched": "Williams et al. 2018",
    "mnli_train_taxinli": "Joshi et al. 2020",
    "negation_nli": "Hossain et al. 2020",
    "paws_wiki_en_dev": "Zhang et al. 2019",
    "sam_nli": "samples of Wikipedia",
    "scitail_dev_test": "Khot et al. 2018",
    "snli_dev_test": "Bowman et al. 2015",
    "snli_train_20k": "Bowman et al. 2015",
    "sra_semeval13": "Dzikovska et al. 2013",
    "tracie_train": "Zhou et al. 2021",
}
_NLI_UNCLEAR = {
    "control": "no source stated",
    "lingnli": "Parrish et al. 2021",
    "mpe": "Lai et al. 2017",
    "rte_glue": "Dagan et al. 2005 to 2009",
}


def _entailment(name: str, origin: str, folder: str) -> DataSet[BenchRow]:
    """A set of entailment pairs, for training only."""
    licence = "see the authors" if folder == "nli" else "none stated, for experiments only"
    files: dict[Split, tuple[str, ...]] = {"train": (f"attribution/{folder}/{name}.jsonl.gz",)}
    return DataSet(name, "sentence pairs labelled for entailment", origin, licence, files, _by_label)


_OWN = (
    _own(
        "attributionbench",
        "dev test",
        "answers by models and people, with the page they cite",
        "Li et al. 2024",
        "none stated",
        partial(attribution.claim_rows, part="group"),
    ),
    _own(
        "bump",
        "train test",
        "news summaries, correct or with one error added by hand",
        "BUMP, Ma et al. 2023",
        "see the authors",
        partial(attribution.claim_rows, part="bump_error_type", document="group"),
    ),
    _own(
        "faithbench",
        "test",
        "summaries by ten models, hard for error detectors",
        "Bao et al. 2025",
        "CC BY-NC-SA",
        _by_label,
    ),
    _own(
        "fever_symmetric",
        "train test",
        "FEVER claims and evidence, rewritten to break shortcuts",
        "Schuster et al. 2019",
        "CC BY-SA 3.0",
    ),
    _own(
        "fool_me_twice",
        "train test",
        "claims written by players to fool others",
        "Eisenschlos et al. 2021",
        "see the authors",
    ),
    _own(
        "healthver",
        "dev test",
        "claims on COVID-19 with sentences from papers; 375 sources are in both dev and test",
        "Sarrouti et al. 2021",
        "none stated",
        _by_label,
    ),
    _own(
        "ragtruth",
        "test",
        "responses by six models, hallucinations marked",
        "RAGTruth, Niu et al. 2024",
        "MIT",
        attribution.responses,
    ),
    _own("seva_fever", "test", "SEVA's slice of FEVER", "SEVA's release", "see the authors"),
    _own("seva_halueval", "test", "SEVA's slice of HaluEval, question answering", "SEVA's release", "see the authors"),
    _own("seva_truthfulqa", "test", "SEVA's slice of TruthfulQA", "SEVA's release", "see the authors", remark=_BROKEN),
    _own(
        "wice",
        "train test",
        "Wikipedia sentences with the articles they cite",
        "Kamoi et al. 2023",
        "ODC-BY",
        _by_label,
    ),
    _own("wice_full", "train", "the claims of wice with whole articles", "Kamoi et al. 2023", "ODC-BY", _by_label),
    _own(
        "wice_spans",
        "train test",
        "unsupported claims from WiCE, with marked tokens",
        "Kamoi et al. 2023",
        "ODC-BY",
        attribution.token_claims,
        "no row is Attributable, so only detecting and locating errors is measured",
    ),
    _own(
        "conjnli",
        "train dev",
        "premises and hypotheses that differ in a conjunction",
        "Saha et al. 2020",
        "see the authors",
        remark="labels were generated by rules",
    ),
    _own("begin", "train", "dialogue replies about a document", "Dziri et al. 2022", "partly CC BY 4.0"),
    _own("breaking_nli", "train", "premises with one word replaced", "Glockner et al. 2018", "CC BY-SA 4.0"),
    _own(
        "factcheck_gpt",
        "train",
        "claims by ChatGPT with web pages found for them",
        "Wang et al. 2023",
        "Apache-2.0",
        _by_label,
    ),
    _own("faithdial", "train", "dialogue replies corrected by people", "Dziri et al. 2022", "see the authors"),
    _own("med", "train", "monotonicity inferences", "Yanaka et al. 2019", "see the authors"),
    *(
        _own(
            f"summedits_{domain}",
            "train",
            f"edited summaries, {domain.replace('_', ' ')}",
            "Laban et al. 2023",
            "CC BY 4.0",
            _by_group,
        )
        for domain in _SUMMEDITS
    ),
    DataSet(
        "seva_v3",
        "claims altered by strategy",
        "SEVA's release",
        "MIT",
        {"test": ("adversarial/seva_v3.jsonl.gz",)},
        attribution.probes,
        remark="only the 42 of 291 claims that come with evidence can be checked",
    ),
)

_THEIRS = (
    _theirs(
        "anli",
        "hypotheses written to mislead models, in three rounds",
        "Nie et al. 2020",
        "CC BY-NC 4.0",
        {split: (f"anli/R[123]/{split}.jsonl",) for split in SPLITS},
        published.anli,
        "unpack https://dl.fbaipublicfiles.com/anli/anli_v1.0.zip and rename the folder to anli",
    ),
    _theirs(
        "clearfacts",
        "claims with corrected labels",
        "Seo et al. 2025",
        "see the dataset card",
        {"test": ("clearfacts/clearfacts.jsonl",)},
        published.clearfacts,
        "convert huggingface.co/datasets/just1nseo/ClearFacts to the data/clearfacts.jsonl of its evaluation code",
    ),
    _theirs(
        "contextual_judge_bench",
        "pairs of responses, one of them preferred",
        "Xu et al. 2025",
        "CC BY 4.0",
        {"test": ("contextual_judge_bench/*.parquet",)},
        published.contextual_judge_bench,
        "download the data folder of huggingface.co/datasets/Salesforce/ContextualJudgeBench",
    ),
    _theirs(
        "facts_grounding",
        "requests about long documents, with your answers",
        "Jacovi et al. 2025",
        "CC BY 4.0",
        {"test": ("facts_grounding/responses.jsonl", "facts_grounding/examples.csv")},
        published.facts_grounding,
        "download examples.csv of huggingface.co/datasets/google/FACTS-grounding-public and write your answers to "
        "responses.jsonl with id and response",
    ),
    _theirs(
        "fever",
        "claims with the Wikipedia sentences that decide them",
        "Thorne et al. 2018",
        "CC BY-SA 3.0",
        {
            "train": ("fever/train.jsonl", _PAGES),
            "dev": ("fever/paper_dev.jsonl", _PAGES),
            "test": ("fever/paper_test.jsonl", _PAGES),
        },
        published.fever,
        "download the files of fever.ai/dataset/fever.html and unpack wiki-pages.zip next to them",
    ),
    _theirs(
        "halueval",
        "pairs of a correct and a hallucinated answer",
        "Li et al. 2023",
        "MIT",
        {"test": ("halueval/*_data.jsonl",)},
        published.halueval,
        "save qa_data.json, dialogue_data.json and summarization_data.json of github.com/RUCAIBox/HaluEval as .jsonl",
    ),
    _theirs(
        "llm_aggrefact",
        "generated claims from eleven sets",
        "Tang et al. 2024",
        "CC BY-ND 4.0, not for training",
        {split: (f"llm_aggrefact/{split}-*.parquet",) for split in SPLITS[1:]},
        published.llm_aggrefact,
        "accept the terms of huggingface.co/datasets/lytang/LLM-AggreFact (gated) and download its data folder",
    ),
    _theirs(
        "ragtruth_published",
        "RAGTruth as published by its authors",
        "Niu et al. 2024",
        "MIT",
        dict.fromkeys(("train", "test"), ("ragtruth/response.jsonl", "ragtruth/source_info.jsonl")),
        published.ragtruth,
        "download the dataset folder of github.com/ParticleMedia/RAGTruth",
    ),
)

_PAIRS = (
    *(_entailment(name, origin, "nli") for name, origin in _NLI.items()),
    *(_entailment(name, origin, "nli_unclear") for name, origin in _NLI_UNCLEAR.items()),
)

_RANKINGS = (
    DataSet(
        "fgveribench",
        "three answers to each question from six sets, ranked by factuality",
        "DiVA, Huang et al.",
        "none stated",
        {"test": tuple(f"fgveribench/{name}.jsonl.gz" for name in rankings.PARTS)},
        rankings.fgveribench,
        "convert DiVA's release, one file per set, to id, question, reference, answers (text, label) and ranking",
        published=PUBLISHED["fgveribench"],
        kind="rankings",
    ),
    DataSet(
        "fgveribench_long",
        "three biographies of each of 160 people, ranked by human labels of their facts",
        "FActScore, Min et al. 2023; ranked by DiVA",
        "MIT",
        {"test": ("fgveribench/factscore.jsonl.gz", "factscore/*.jsonl.gz")},
        rankings.biographies,
        "save factscore.jsonl.gz of DiVA's release there, and the labelled data of github.com/shmsw25/FActScore in "
        "factscore",
        "one of the 160 rows has an empty answer and is excluded",
        published=PUBLISHED["fgveribench_long"],
        kind="rankings",
    ),
    DataSet(
        "own_rankings",
        "three answers to each of your questions, ranked by factuality",
        "your own",
        "yours",
        {"test": ("rankings/*.jsonl*",)},
        rankings.fgveribench,
        "create it with recipes/rank/build.py",
        kind="rankings",
    ),
    DataSet(
        "best_of_n",
        "your answers to questions with known answers, from which one is chosen",
        "your own",
        "yours",
        {"test": ("best_of_n/*.jsonl*",)},
        rankings.samples,
        "write rows of question, reference and answers (a list of strings)",
        published=PUBLISHED["best_of_n"],
        kind="rankings",
    ),
)


_RESPONSES = (
    DataSet(
        "ifeval",
        "541 prompts with 834 requirements checked by rules",
        "Zhou et al. 2023",
        "Apache-2.0",
        {"test": (ifeval.FILE,)},
        ifeval.prompts,
        "download input_data.jsonl of google-research/instruction_following_eval, Apache-2.0",
        kind="ifeval",
    ),
)

DATA_SETS: dict[str, DataSet[Any]] = {
    data_set.name: data_set for data_set in (*_OWN, *_PAIRS, *_THEIRS, *_RANKINGS, *_RESPONSES)
}


def known_sets() -> dict[str, DataSet[Any]]:
    """Our sets and those that other packages add, by name. Raises ConfigError for a plug-in that is no data set."""
    return {**{name: load_plugin(entry, DataSet) for name, entry in plugins("vouching.data_sets").items()}, **DATA_SETS}


def data_folder() -> Path:
    """The folder named by ``VOUCH_DATA``. Raises ConfigError if it is not set or not a folder."""
    named = os.environ.get("VOUCH_DATA")
    if not named:
        raise ConfigError("VOUCH_DATA is not set: set it to the folder with the data sets (see vouch bench list)")
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise ConfigError(f"VOUCH_DATA must be set to the folder with the data sets; {named} is not a folder")
    if folder.name == "attribution" and not (folder / "attribution").is_dir():
        raise ConfigError(f"VOUCH_DATA must be set to the parent folder, {folder.parent}; got {named}")
    return folder


def chosen(names: Sequence[str], folder: Path, split: Split, *, kind: Kind | None = None) -> list[DataSet[Any]]:
    """The sets of these names, each once, in order; "all" stands for the available sets of claims of the split.

    Args:
        names: names of sets.
        folder: the data folder.
        split: the split that "all" needs.
        kind: only sets of this kind; None for any.

    Raises InputError for an unknown name.

    >>> chosen(["wise"], Path(), "test")
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: unknown set 'wise'; did you mean 'wice'?
    """
    known = {name: one for name, one in known_sets().items() if kind in (None, one.kind)}
    found: dict[str, DataSet[Any]] = {}
    for name in names:
        if name == ALL:
            here = {key: one for key, one in known.items() if one.kind == "claims" and one.paths(folder, split)}
            if not here:
                raise InputError(f"{folder} contains no set with a {split} split: see vouch bench list")
            found |= here
        elif name in known:
            found[name] = known[name]
        else:
            near = get_close_matches(name, [*known, ALL], n=1)
            raise InputError(f"unknown set {name!r}{hint(near, 'see vouch bench list')}")
    return [*found.values()]
