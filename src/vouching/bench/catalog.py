"""The data sets there are: what each is, whose it is, where its files lie and how to get them.

Files are looked for in the folder that ``VOUCH_DATA`` names. Sets in this project's own format lie in
``attribution/<split>/<name>.jsonl.gz``, sets in their authors' format in a folder of their own. Left out: downloading;
whoever fetches a set accepts its terms.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar, get_args

from vouching.bench import rankings
from vouching.bench import rows as attribution
from vouching.bench.published import (
    anli,
    clearfacts,
    contextual_judge_bench,
    facts_grounding,
    fever,
    halueval,
    llm_aggrefact,
    ragtruth,
)
from vouching.bench.publishers import PUBLISHED, PublishedFigure
from vouching.bench.rankings import RankingRow
from vouching.bench.rows import BenchRow, Fault, Split
from vouching.errors import ConfigError, InputError

SPLITS: tuple[Split, ...] = get_args(Split)
ALL = "all"
"""Stands for every set of a split whose files are there."""
RowT = TypeVar("RowT")
Read: TypeAlias = Callable[[Sequence[Path], Split], Iterator[RowT | Fault]]


@dataclass(frozen=True, slots=True)
class DataSet(Generic[RowT]):
    """A data set and where to find it."""

    name: str
    """What it is called on the command line."""
    what: str
    """What its rows are, in a few words."""
    origin: str
    """Whose it is: authors and year, or an address."""
    licence: str
    """Terms, as its authors state them; "none stated" if they state none."""
    files: Mapping[Split, tuple[str, ...]]
    """For each split it has, its files below the data folder; patterns for several of a kind."""
    read: Read[RowT]
    """Reads these files, in this order."""
    get: str = (
        "convert the authors' rows: id, claim, source, label (Attributable | Not Attributable), see docs/bench.md"
    )
    """How to obtain it."""
    remark: str = ""
    """What must be said wherever a figure of it is shown."""
    published: tuple[PublishedFigure, ...] = field(default=())
    """Figures that others report on it."""

    def paths(self, folder: Path, split: Split) -> list[Path] | None:
        """Its files in the data folder, in order; None if any is missing."""
        found = [sorted(folder.glob(pattern)) for pattern in self.files.get(split, ())]
        return [path for paths in found for path in paths] if found and all(found) else None

    def rows(self, folder: Path, split: Split) -> Iterator[RowT | Fault]:
        """Its rows, and what is wrong with those that cannot be used.

        Raises:
            InputError: it has no such split, or its files are not there; the message says how to get them.
        """
        if split not in self.files:
            raise InputError(f"{self.name} has no {split} split, it has {', '.join(self.files)}: add --split")
        paths = self.paths(folder, split)
        if paths is None:
            wanted = " and ".join(self.files[split])
            raise InputError(f"{self.name} is not here: wanted {wanted} in {folder}; to get it: {self.get}")
        return self.read(paths, split)


def _own(
    name: str, splits: str, what: str, origin: str, licence: str, read: Read[BenchRow] = attribution.claims,
    remark: str = "",
) -> DataSet[BenchRow]:  # fmt: skip
    """A set in this project's own format."""
    files: dict[Split, tuple[str, ...]] = {
        split: (f"attribution/{split}/{name}.jsonl.gz",) for split in SPLITS if split in splits.split()
    }
    return DataSet(name, what, origin, licence, files, read, remark=remark, published=PUBLISHED.get(name, ()))


def _theirs(
    name: str, what: str, origin: str, licence: str, files: Mapping[Split, tuple[str, ...]],
    read: Read[BenchRow], get: str,
) -> DataSet[BenchRow]:  # fmt: skip
    """A set in its authors' format."""
    return DataSet(name, what, origin, licence, files, read, get, published=PUBLISHED.get(name, ()))


_by_group = partial(attribution.claims, document="group")
_by_label = partial(attribution.claims, part="fine_label")
_BROKEN = "broken slice: nearly every Attributable claim is a bare question, and no other is"
_PAGES = "fever/wiki-pages/wiki-*.jsonl"
_SUMMEDITS = ("ectsum", "podcast", "qmsumm", "sales_call", "sales_email", "scitldr")

_NLI = {
    "add_one_rte": "Pavlick and Callison-Burch 2016", "ambient": "Liu et al. 2023", "cad_snli": "Kaushik et al. 2020",
    "entailmentbank_steps_pos": "Dalvi et al. 2021", "equate": "Ravichander et al. 2019",
    "evidence_inference_v2": "DeYoung et al. 2020", "fever_nli_dev": "Nie et al. 2019",
    "help_and_or": "Yanaka et al. 2019",
    "mnli_dev_matched": "Williams et al. 2018", "mnli_dev_mismatched": "Williams et al. 2018",
    "mnli_train_taxinli": "Joshi et al. 2020", "negation_nli": "Hossain et al. 2020",
    "paws_wiki_en_dev": "Zhang et al. 2019", "sam_nli": "samples of Wikipedia", "scitail_dev_test": "Khot et al. 2018",
    "snli_dev_test": "Bowman et al. 2015", "snli_train_20k": "Bowman et al. 2015",
    "sra_semeval13": "Dzikovska et al. 2013", "tracie_train": "Zhou et al. 2021",
}  # fmt: skip
_NLI_UNCLEAR = {"control": "no source stated", "lingnli": "Parrish et al. 2021", "mpe": "Lai et al. 2017",
                "rte_glue": "Dagan et al. 2005 to 2009"}  # fmt: skip


def _entailment(name: str, origin: str, folder: str) -> DataSet[BenchRow]:
    """A set of entailment pairs; all of it is for training."""
    licence = "see the authors" if folder == "nli" else "none stated: for experiments only"
    files: dict[Split, tuple[str, ...]] = {"train": (f"attribution/{folder}/{name}.jsonl.gz",)}
    return DataSet(name, "pairs of sentences, judged for entailment", origin, licence, files, _by_label)


_OWN = (
    _own("attributionbench", "dev test", "answers of models and people with the page they cite", "Li et al. 2024",
         "none stated", partial(attribution.claims, part="group")),
    _own("bump", "train test", "news summaries, right or with one edit by a person", "BUMP, Ma et al. 2023",
         "see the authors", partial(attribution.claims, part="bump_error_type", document="group")),
    _own("faithbench", "test", "summaries by ten models, hard for detectors", "Bao et al. 2025", "CC BY-NC-SA",
         _by_label),
    _own("fever_symmetric", "train test", "FEVER claims and evidence, rewritten to break shortcuts",
         "Schuster et al. 2019", "CC BY-SA 3.0"),
    _own("fool_me_twice", "train test", "claims written by players to fool others", "Eisenschlos et al. 2021",
         "see the authors"),
    _own("healthver", "dev test", "claims on COVID-19 with sentences of papers; 375 sources are in both dev and test",
         "Sarrouti et al. 2021", "none stated", _by_label),
    _own("ragtruth", "test", "responses of six models with marked hallucinations", "RAGTruth, Niu et al. 2024", "MIT",
         attribution.responses),
    _own("seva_fever", "test", "SEVA's slice of FEVER", "SEVA's release", "see the authors"),
    _own("seva_halueval", "test", "SEVA's slice of HaluEval, question and answer", "SEVA's release", "see the authors"),
    _own("seva_truthfulqa", "test", "SEVA's slice of TruthfulQA", "SEVA's release", "see the authors", remark=_BROKEN),
    _own("wice", "train test", "sentences of Wikipedia with the articles they cite", "Kamoi et al. 2023", "ODC-BY",
         _by_label),
    _own("wice_full", "train", "the same, with whole articles", "Kamoi et al. 2023", "ODC-BY", _by_label),
    _own("wice_spans", "train test", "unsupported claims of WiCE with the tokens at fault", "Kamoi et al. 2023",
         "ODC-BY", attribution.token_claims, "no Attributable row: only finding errors and their place is measured"),
    _own("conjnli", "train dev", "premises and hypotheses that differ around conjunctions", "Saha et al. 2020",
         "see the authors", remark="labels were made by rules"),
    _own("begin", "train", "replies in dialogues about a document", "Dziri et al. 2022", "CC BY 4.0 in part"),
    _own("breaking_nli", "train", "premises with one word replaced", "Glockner et al. 2018", "CC BY-SA 4.0"),
    _own("factcheck_gpt", "train", "claims of ChatGPT with pages found for them", "Wang et al. 2023", "Apache-2.0",
         _by_label),
    _own("faithdial", "train", "replies in dialogues, mended by people", "Dziri et al. 2022", "see the authors"),
    _own("med", "train", "inferences on monotonicity", "Yanaka et al. 2019", "see the authors"),
    *(_own(f"summedits_{domain}", "train", f"edited summaries, {domain.replace('_', ' ')}", "Laban et al. 2023",
           "CC BY 4.0", _by_group) for domain in _SUMMEDITS),
    DataSet(
        "seva_v3", "perturbed claims by strategy", "SEVA's release", "MIT", {"test": ("adversarial/seva_v3.jsonl.gz",)},
        attribution.probes, remark="only the 42 of 291 claims that come with evidence can be checked",
    ),
)  # fmt: skip

_THEIRS = (
    _theirs(
        "anli", "hypotheses written to mislead models, three rounds", "Nie et al. 2020", "CC BY-NC 4.0",
        {split: (f"anli/R[123]/{split}.jsonl",) for split in SPLITS}, anli.rows,
        "unpack https://dl.fbaipublicfiles.com/anli/anli_v1.0.zip and name the folder anli",
    ),
    _theirs(
        "clearfacts", "claims with labels checked again", "Seo et al. 2025", "see its card",
        {"test": ("clearfacts/clearfacts.jsonl",)}, clearfacts.rows,
        "huggingface.co/datasets/just1nseo/ClearFacts, as the data/clearfacts.jsonl that its evaluation code reads",
    ),
    _theirs(
        "contextual_judge_bench", "pairs of responses, one preferred", "Xu et al. 2025", "CC BY 4.0",
        {"test": ("contextual_judge_bench/*.parquet",)}, contextual_judge_bench.rows,
        "the folder data of huggingface.co/datasets/Salesforce/ContextualJudgeBench",
    ),
    _theirs(
        "facts_grounding", "requests about long documents, with answers of yours", "Jacovi et al. 2025", "CC BY 4.0",
        {"test": ("facts_grounding/responses.jsonl", "facts_grounding/examples.csv")}, facts_grounding.rows,
        "examples.csv of huggingface.co/datasets/google/FACTS-grounding-public; responses.jsonl is yours: id, response",
    ),
    _theirs(
        "fever", "claims about Wikipedia with the deciding sentences", "Thorne et al. 2018", "CC BY-SA 3.0",
        {"train": ("fever/train.jsonl", _PAGES), "dev": ("fever/paper_dev.jsonl", _PAGES),
         "test": ("fever/paper_test.jsonl", _PAGES)}, fever.rows,
        "the files of fever.ai/dataset/fever.html with wiki-pages.zip unpacked beside them",
    ),
    _theirs(
        "halueval", "right and hallucinated answers, in pairs", "Li et al. 2023", "MIT",
        {"test": ("halueval/*_data.jsonl",)}, halueval.rows,
        "qa_data.json, dialogue_data.json and summarization_data.json of github.com/RUCAIBox/HaluEval, saved as .jsonl",
    ),
    _theirs(
        "llm_aggrefact", "generated claims of eleven sets", "Tang et al. 2024", "CC BY-ND 4.0, not to be trained on",
        {split: (f"llm_aggrefact/{split}-*.parquet",) for split in SPLITS[1:]}, llm_aggrefact.rows,
        "accept the terms of huggingface.co/datasets/lytang/LLM-AggreFact (gated) and take its folder data",
    ),
    _theirs(
        "ragtruth_published", "RAGTruth as its authors publish it", "Niu et al. 2024", "MIT",
        dict.fromkeys(("train", "test"), ("ragtruth/response.jsonl", "ragtruth/source_info.jsonl")), ragtruth.rows,
        "the folder dataset of github.com/ParticleMedia/RAGTruth",
    ),
)  # fmt: skip

_PAIRS = (
    *(_entailment(name, origin, "nli") for name, origin in _NLI.items()),
    *(_entailment(name, origin, "nli_unclear") for name, origin in _NLI_UNCLEAR.items()),
)

DATA_SETS: dict[str, DataSet[BenchRow]] = {data_set.name: data_set for data_set in (*_OWN, *_PAIRS, *_THEIRS)}
"""Every set of claims and responses, by name."""

_RANKINGS = (
    DataSet(
        "fgveribench", "three answers to each question of six sets, ranked by factuality", "DiVA, Huang et al.",
        "none stated", {"test": tuple(f"fgveribench/{name}.jsonl.gz" for name in rankings.PARTS)}, rankings.fgveribench,
        "rows of DiVA's release, a file for each set: id, question, reference, answers (text, label), ranking",
        published=PUBLISHED["fgveribench"],
    ),
    DataSet(
        "fgveribench_long", "three biographies of each of 160 people, ranked by people's labels of their facts",
        "FActScore, Min et al. 2023; ranked by DiVA", "MIT",
        {"test": ("fgveribench/factscore.jsonl.gz", "factscore/*.jsonl.gz")}, rankings.biographies,
        "factscore.jsonl.gz of DiVA's release, and the labelled data of github.com/shmsw25/FActScore in factscore",
        "one of the 160 rows has an empty answer and is left out",
        published=PUBLISHED["fgveribench_long"],
    ),
    DataSet(
        "own_rankings", "three answers to each question of yours, ranked by factuality", "your own", "yours",
        {"test": ("rankings/*.jsonl*",)}, rankings.fgveribench, "make one with vouch bench build-ranking",
    ),
    DataSet(
        "best_of_n", "answers of yours to questions with known answers, of which one is chosen", "your own", "yours",
        {"test": ("best_of_n/*.jsonl*",)}, rankings.samples,
        "write rows: question, reference, answers (a list of texts)",
        published=PUBLISHED["best_of_n"],
    ),
)  # fmt: skip

RANKING_SETS: dict[str, DataSet[RankingRow]] = {data_set.name: data_set for data_set in _RANKINGS}
"""Every set of answers to be ranked, by name."""


def data_folder() -> Path:
    """The folder that ``VOUCH_DATA`` names.

    Raises:
        ConfigError: the variable is not set, or names no folder.
    """
    named = os.environ.get("VOUCH_DATA")
    if not named:
        raise ConfigError("VOUCH_DATA is not set: let it name the folder with the data sets (see vouch bench list)")
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise ConfigError(f"VOUCH_DATA is {named}, which is no folder: let it name the folder with the data sets")
    if folder.name == "attribution" and not (folder / "attribution").is_dir():
        raise ConfigError(f"VOUCH_DATA is {named}, wanted the folder above it: {folder.parent}")
    return folder


def chosen(names: Sequence[str], folder: Path, split: Split) -> list[DataSet[BenchRow]]:
    """The sets of claims of these names, each once, in the order given; "all" is every one of the split that is here.

    Raises:
        InputError: an unknown name (the nearest is told), or "all" where there is no set.

    >>> [data_set.name for data_set in chosen(["wice", "bump", "wice"], Path(), "test")]
    ['wice', 'bump']
    >>> chosen(["wise"], Path(), "test")
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: there is no set named 'wise'; did you mean wice? See vouch bench list
    """
    found: dict[str, DataSet[BenchRow]] = {}
    for name in names:
        if name == ALL:
            here = {key: data_set for key, data_set in DATA_SETS.items() if data_set.paths(folder, split)}
            if not here:
                raise InputError(f"there is no set of the {split} split in {folder}: see vouch bench list")
            found |= here
        elif name in DATA_SETS:
            found[name] = DATA_SETS[name]
        else:
            raise InputError(_unknown(name))
    return [*found.values()]


def chosen_rankings(names: Sequence[str]) -> list[DataSet[RankingRow]] | None:
    """The sets of answers to be ranked of these names, each once; None if they are names of other sets.

    Raises:
        InputError: sets of both kinds, which are run apart; or an unknown name among these.

    >>> [data_set.name for data_set in chosen_rankings(["fgveribench"])], chosen_rankings(["wice"])
    (['fgveribench'], None)
    """
    ranked = [name for name in names if name in RANKING_SETS]
    if not ranked:
        return None
    other = next((name for name in names if name not in RANKING_SETS), None)
    if other in DATA_SETS or other == ALL:
        raise InputError(f"{ranked[0]} has answers to be ranked, {other} claims to be judged: run them apart")
    if other is not None:
        raise InputError(_unknown(other))
    return [RANKING_SETS[name] for name in dict.fromkeys(names)]


def _unknown(name: str) -> str:
    near = get_close_matches(name, [*DATA_SETS, *RANKING_SETS, ALL], n=1)
    advice = f"did you mean {near[0]}? See" if near else "see"
    return f"there is no set named {name!r}; {advice} vouch bench list"
