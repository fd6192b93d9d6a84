"""Readers of public sets in the format of their authors, with files and fields in the docstring of each reader.

A changed format is reported as a fault.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, cast

from vouching.bench.rows import (
    BenchRow,
    Fault,
    Record,
    Split,
    converted,
    label_of,
    list_of,
    records,
    spans_of,
    text_of,
    texts_of,
)
from vouching.errors import InputError

Rows: TypeAlias = Iterator[BenchRow | Fault]
FeverPages: TypeAlias = Mapping[str, Mapping[int, str]]
"""The sentences of FEVER's pages, by name of the page and number."""


def anli(paths: Sequence[Path], split: Split) -> Rows:
    """ANLI (Nie et al. 2020): uid, context, hypothesis, label (e, n, c); the part is the round, a folder.

    Only entailment is Attributable.
    """

    def row(record: Record, name: str, *, part: str) -> Iterator[BenchRow]:
        label = label_of(record, "label", {"e": True, "n": False, "c": False})
        context = (text_of(record, "context"),)
        yield BenchRow(text_of(record, "uid"), text_of(record, "hypothesis"), context, label, part=part)

    return chain.from_iterable(converted(path, partial(row, part=path.parent.name)) for path in paths)


def clearfacts(paths: Sequence[Path], split: Split) -> Rows:
    """ClearFacts (Seo et al. 2025): claims with rechecked labels and the documents they were judged by.

    ``data/clearfacts.jsonl`` of the authors' repository: statement, reference_documents (a list of texts), label (S,
    NS), category (the original data set, which is the part). Not supported: GrayFacts, which has no clear labels.
    """

    def row(record: Record, name: str) -> Iterator[BenchRow]:
        label = label_of(record, "label", {"S": True, "NS": False})
        documents, part = texts_of(record, "reference_documents"), text_of(record, "category")
        yield BenchRow(name, text_of(record, "statement"), documents, label, part=part)

    return converted(paths[0], row)


def llm_aggrefact(paths: Sequence[Path], split: Split) -> Rows:
    """LLM-AggreFact (Tang et al. 2024): eleven sets of generated claims with their documents.

    Parquet of the Hugging Face repository: dataset (the part), doc, claim, label (1 supported, 0 not). Ids count within
    a file. The authors report the mean over the sets of balanced accuracy, ``mean_balanced_accuracy`` in the results.
    """

    def row(record: Record, name: str, *, file: str) -> Iterator[BenchRow]:
        label, part = label_of(record, "label", {1: True, 0: False}), text_of(record, "dataset")
        yield BenchRow(f"{file}-{name}", text_of(record, "claim"), (text_of(record, "doc"),), label, part=part)

    return chain.from_iterable(converted(path, partial(row, file=path.stem)) for path in paths)


def contextual_judge_bench(paths: Sequence[Path], split: Split) -> Rows:
    """ContextualJudgeBench (Xu et al. 2025) for a verifier: two rows for each pair of responses, one preferred.

    Parquet of the Hugging Face repository, a file for each of eight criteria (faithfulness, completeness, conciseness,
    refusal; for questions and summaries): question, context, positive_response, negative_response. There is no label:
    the figure is the share of pairs whose preferred response scores higher. Only the faithfulness files are about
    support by the context, which a verifier judges.
    """

    def pair(record: Record, name: str, *, criterion: str) -> Iterator[BenchRow]:
        for preferred in (True, False):
            version = "positive" if preferred else "negative"
            yield BenchRow(
                id=f"{criterion}-{name}-{version}",
                text=text_of(record, f"{version}_response"),
                sources=(text_of(record, "context"),),
                attributable=None,
                is_response=True,
                part=criterion,
                pair=f"{criterion}-{name}",
                preferred=preferred,
            )

    return chain.from_iterable(converted(path, partial(pair, criterion=criterion_of(path))) for path in paths)


def criterion_of(path: Path) -> str:
    """The criterion of a file of ContextualJudgeBench, from its name."""
    return path.name.partition("-")[0].removesuffix(".parquet")


def facts_grounding(paths: Sequence[Path], split: Split) -> Rows:
    """FACTS Grounding (Jacovi et al. 2025) for a verifier: your answers to its examples, without labels.

    ``examples.csv`` of the public part, and beside it ``responses.jsonl``: id (which example, from 1), response. The
    figure is the share of fully supported answers, ``share_attributable`` in the results. Not supported: whether the
    request was met, which needs judges.
    """

    def row(record: Record, name: str, *, known: Mapping[str, Record]) -> Iterator[BenchRow]:
        example, response = facts_example(name, known), text_of(record, "response")
        yield BenchRow(name, response, (text_of(example, "context_document"),), None, is_response=True)

    responses, examples = paths
    return converted(responses, partial(row, known=dict(records(examples))))


def facts_example(name: str, known: Mapping[str, Record]) -> Record:
    """The example of a response of FACTS Grounding. Raises InputError if there is none."""
    if f"row-{name}" not in known:
        raise InputError(f"unknown id {name!r}; expected the number of a row of examples.csv, counted from 1")
    return known[f"row-{name}"]


_HALUEVAL = {
    "qa": ("knowledge", "answer"),
    "dialogue": ("knowledge", "response"),
    "summarization": ("document", "summary"),
}
"""The fields of source and text in HaluEval's three files."""


def halueval(paths: Sequence[Path], split: Split) -> Rows:
    """HaluEval (Li et al. 2023): right and hallucinated answers, replies and summaries; two rows for each pair.

    The repository's ``qa_data.json`` (knowledge, question, right_answer, hallucinated_answer), ``dialogue_data.json``
    (knowledge, right_response, hallucinated_response) and ``summarization_data.json`` (document, right_summary,
    hallucinated_summary), saved as .jsonl; the task is the part. The authors sample one of each pair. An answer is
    judged together with its question. Not supported: ``general_data.json``, which has no sources.
    """

    def pair(record: Record, name: str, *, task: str) -> Iterator[BenchRow]:
        source, kind = _HALUEVAL[task]
        question = f"{text_of(record, 'question')} " if task == "qa" else ""
        for right in (True, False):
            version = "right" if right else "hallucinated"
            yield BenchRow(
                id=f"{task}-{name}-{version}",
                text=question + text_of(record, f"{version}_{kind}"),
                sources=(text_of(record, source),),
                attributable=right,
                is_response=task != "qa",
                part=task,
                pair=f"{task}-{name}",
                preferred=right,
            )

    return chain.from_iterable(converted(path, partial(pair, task=path.name.partition("_data")[0])) for path in paths)


_RAGTRUTH_TASKS = {"QA": "qa", "Data2txt": "data2txt", "Summary": "summary"}


def ragtruth(paths: Sequence[Path], split: Split) -> Rows:
    """RAGTruth (Niu et al. 2024) as published; a response with a marked span is Not Attributable.

    ``response.jsonl``: id, source_id, labels (start, end, text, ...), split (train, test), quality, response.
    ``source_info.jsonl``: source_id, task_type (the part), source_info (a text; for QA an object with question and
    passages; for Data2txt an object with the data). Responses whose quality is not "good" (unjustified refusals,
    truncated ones) yield no row.
    """
    responses, sources = paths
    known = {str(source.get("source_id")): source for _, source in records(sources)}
    return converted(responses, partial(_ragtruth, known=known, split=split))


def _ragtruth(record: Record, name: str, *, known: Mapping[str, Record], split: Split) -> Iterator[BenchRow]:
    if text_of(record, "split") != split or text_of(record, "quality") != "good":
        return
    number, response = str(record.get("source_id")), text_of(record, "response")
    if number not in known:
        raise InputError(f"the source_id {number} is not in source_info.jsonl")
    source = known[number]
    spans = spans_of(record, "labels", response)
    yield BenchRow(
        id=name,
        text=response,
        sources=(_source_text(source.get("source_info")),),
        attributable=not spans,
        is_response=True,
        part=_RAGTRUTH_TASKS.get(text_of(source, "task_type"), text_of(source, "task_type")),
        document=number,
        spans=spans,
    )


def _source_text(info: object) -> str:
    """The model's input: a text, the passages of a question, or data as indented JSON."""
    if isinstance(info, Mapping):
        fields = cast("Mapping[str, Any]", info)
        return text_of(fields, "passages") if "passages" in fields else json.dumps(info, indent=1, ensure_ascii=False)
    return text_of({"source_info": info}, "source_info")


_FEVER_LABELS = {"SUPPORTS": True, "REFUTES": False, "NOT ENOUGH INFO": False}
_MARKS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "-COLON-": ":",
    "_": " ",
}
"""FEVER's escapes in names of pages."""
_MARK = re.compile("|".join(map(re.escape, _MARKS)))


def fever(paths: Sequence[Path], split: Split) -> Rows:
    """FEVER (Thorne et al. 2018): claims about Wikipedia with the deciding sentences.

    Claims: id, label (SUPPORTS, REFUTES, NOT ENOUGH INFO; the part), claim, evidence, a list of sets of
    [annotation id, evidence id, page, sentence number]. ``wiki-pages/wiki-*.jsonl``: id, text, lines, which are
    "number<tab>sentence<tab>links...". Names of pages are compared in NFC, as accents are encoded in several ways. A
    row's sources are the named sentences, page by page. Claims without enough information name none and yield no row.
    """
    claims, *pages = paths
    return converted(claims, partial(fever_row, pages=fever_pages(claims, pages)))


def fever_pages(claims: Path, files: Sequence[Path]) -> FeverPages:
    """The sentences of the pages that the claims of a file cite, from the files of wiki-pages."""
    named: set[str] = set()
    for _, claim in records(claims):
        with suppress(InputError):  # reported when the claim is converted
            named |= {page for page, _ in _places(claim)}
    wiki = ((_nfc(name), page) for path in files for name, page in records(path))
    return {name: _sentences(page) for name, page in wiki if name in named}


def fever_row(record: Record, name: str, *, pages: FeverPages) -> Iterator[BenchRow]:
    """A claim of FEVER with its sources; none without enough information. Raises InputError for a missing page."""
    claim, attributable = text_of(record, "claim"), label_of(record, "label", _FEVER_LABELS)
    places = sorted(set(_places(record)))
    if not places:
        return
    sources: list[str] = []
    for page in dict.fromkeys(page for page, _ in places):
        if page not in pages:
            raise InputError(f"the evidence cites the page {page!r}, which no page file contains")
        numbers = [number for named, number in places if named == page]
        missing = [str(number) for number in numbers if number not in pages[page]]
        if missing:
            raise InputError(
                f"the evidence cites sentences that the page {page!r} does not contain: {', '.join(missing)}"
            )
        sources.append("\n".join([_readable(page), *(pages[page][number] for number in numbers)]))
    yield BenchRow(name, claim, tuple(sources), attributable, part=str(record["label"]).lower())


def _places(record: Record) -> list[tuple[str, int]]:
    """Page and sentence number of all evidence."""
    evidence = list_of(record, "evidence")
    try:
        entries = [(page, number) for evidence_set in evidence for _, _, page, number in evidence_set]
        return [(_nfc(str(page)), int(number)) for page, number in entries if page is not None]
    except (TypeError, ValueError):
        expected = "sets of [annotation id, evidence id, page, sentence number]"
        raise InputError(f'"evidence" must contain {expected}') from None


def _sentences(page: Record) -> dict[int, str]:
    """The non-empty sentences of a page by number."""
    cells = (line.split("\t") for line in str(page.get("lines", "")).split("\n"))
    return {int(cell[0]): _readable(cell[1]) for cell in cells if len(cell) > 1 and cell[0].isdigit() and cell[1]}


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _readable(text: str) -> str:
    return _MARK.sub(lambda mark: _MARKS[mark.group()], text)
