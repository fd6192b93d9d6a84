"""Sets whose questions a model under test answers: multi-hop questions, and requests about documents.

Multi-hop questions have right answers (HotpotQA, MuSiQue, 2WikiMultiHopQA, each with its paragraphs). Requests have
none: what a model writes is judged against the documents. Those of RAGTruth are its three tasks, questions about
passages, summaries of news and texts about records of a business, each document once; those of FaithBench summaries;
those of FACTS Grounding its own. Left out: the authors' words for the requests, for which RAGTruth and FaithBench have
ours, and answers of other models, which ``bench run`` judges.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vouching.bench.catalog import DataSet
from vouching.bench.multihop import FILES, MultihopRow, MultihopSet, multihop_row
from vouching.bench.publishers import PublishedFigure
from vouching.bench.rows import Fault, Record, Split, converted, text_of
from vouching.errors import InputError
from vouching.inputs import as_sources
from vouching.types import Source

TASKS: Mapping[str, str] = {
    "summary": "Summarise this news article in about 100 words.",
    "data2txt": "This is the record of a business. Write an overview of it, with what its customers say, in 100 to 200 "
    "words.",
    "faithbench": "Summarise this passage in a few sentences, with its main points.",
}
"""The requests of tasks whose rows have none."""
_MARCH = "MARCH, Table 5"


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A question or a request with what it is to be answered from."""

    id: str
    """Its id, unique in its set."""
    question: str
    """What the model is asked."""
    sources: tuple[Source, ...]
    """The documents."""
    references: tuple[str, ...] = ()
    """The right answer and other ways to put it; none for a request, whose answer is a text."""
    part: str | None = None
    """Part of the set that is reported apart: the task."""
    document: str | None = None
    """Name of the document, where rows share one."""


def multihop_answers(paths: Sequence[Path], split: Split) -> Iterator[AnswerRow | Fault]:
    """Multi-hop questions, each with all of its paragraphs."""
    return converted(paths[0], lambda record, _: [answer_row(multihop_row(record))])


def answer_row(row: MultihopRow) -> AnswerRow:
    """A multi-hop question as one to be answered.

    >>> row = MultihopRow("1", "Who built it?", ("Ada",), (Source("Ada built it.", "a"),), frozenset(["a"]))
    >>> answer_row(row).references
    ('Ada',)
    """
    return AnswerRow(row.id, row.question, row.passages, row.answers)


def ragtruth_requests(paths: Sequence[Path], split: Split) -> Iterator[AnswerRow | Fault]:
    """RAGTruth's requests, each once."""
    return _once(converted(paths[0], _ragtruth))


def faithbench_requests(paths: Sequence[Path], split: Split) -> Iterator[AnswerRow | Fault]:
    """FaithBench's passages, each once, to be summarised."""
    return _once(converted(paths[0], _faithbench))


def facts_requests(paths: Sequence[Path], split: Split) -> Iterator[AnswerRow | Fault]:
    """The requests of FACTS Grounding, in the order of examples.csv."""
    return converted(paths[0], _facts)


def _once(rows: Iterator[AnswerRow | Fault]) -> Iterator[AnswerRow | Fault]:
    seen: set[str] = set()
    for row in rows:
        if isinstance(row, Fault) or row.id not in seen:
            yield row
        if isinstance(row, AnswerRow):
            seen.add(row.id)


def _ragtruth(record: Record, name: str) -> Iterator[AnswerRow]:
    task, document = text_of(record, "task"), str(record.get("source_id") or name)
    if task not in TASKS and task != "qa":
        raise InputError(f'its "task" is {task!r}, wanted qa, summary or data2txt')
    question = text_of(record, "question") if task == "qa" else TASKS[task]
    yield AnswerRow(f"{task}-{document}", question, as_sources(text_of(record, "source")), (), task, document)


def _faithbench(record: Record, name: str) -> Iterator[AnswerRow]:
    source = text_of(record, "source")
    document = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    yield AnswerRow(document, TASKS["faithbench"], as_sources(source), (), None, document)


def _facts(record: Record, name: str) -> Iterator[AnswerRow]:
    system, request = record.get("system_instruction"), text_of(record, "user_request")
    asked = f"{system}\n\n{request}" if isinstance(system, str) and system.strip() else request
    number = name.removeprefix("row-")
    yield AnswerRow(number, asked, as_sources(text_of(record, "context_document")), (), None, None)


def _multihop(name: MultihopSet, origin: str, licence: str, published: str) -> DataSet[AnswerRow]:
    files: dict[Split, tuple[str, ...]] = {
        split: (f"multihop/{file}.jsonl.gz",) for (one, split), file in FILES.items() if one == name
    }
    figures = tuple(
        PublishedFigure(system, "judged by majority", float(percent), _MARCH, "500 questions of dev")
        for system, percent in (one.rsplit(" ", 1) for one in published.split(", "))
    )
    return DataSet(
        name, "multi-hop questions with their paragraphs", origin, licence, files, multihop_answers,
        "rows of the authors with their paragraphs, one a line", published=figures,
    )  # fmt: skip


def _requests(
    name: str, what: str, origin: str, licence: str, file: str,
    read: Callable[[Sequence[Path], Split], Iterator[AnswerRow | Fault]], published: tuple[PublishedFigure, ...] = (),
) -> DataSet[AnswerRow]:  # fmt: skip
    return DataSet(name, what, origin, licence, {"test": (file,)}, read, "see vouch bench list", published=published)


_consistency = partial(PublishedFigure, where="MARCH, Table 2")
_SETS = (
    _multihop("hotpotqa", "Yang et al. 2018", "CC BY-SA 4.0",
              "Llama-3.1-8B 35.0, MARCH general 56.4, MARCH with ten shots 73.6"),
    _multihop("musique", "Trivedi et al. 2022", "CC BY 4.0",
              "Llama-3.1-8B 5.6, MARCH general 18.4, MARCH with ten shots 40.8"),
    _multihop("2wiki", "Ho et al. 2020", "Apache-2.0",
              "Llama-3.1-8B 17.4, MARCH general 38.6, MARCH with ten shots 69.4"),
    _requests("ragtruth_requests", "RAGTruth's requests by task", "RAGTruth, Niu et al. 2024", "MIT",
              "attribution/test/ragtruth.jsonl.gz", ragtruth_requests,
              (_consistency("Llama-3.1-8B", "summary faithful by majority", 71.33),
               _consistency("MARCH general", "summary faithful by majority", 92.67),
               _consistency("Llama-3.1-8B", "data2txt faithful by majority", 48.67, remark="28.67 in its Table 6"),
               _consistency("MARCH general", "data2txt faithful by majority", 72.0),
               _consistency("Llama-3.1-8B", "qa faithful by majority", 63.31),
               _consistency("MARCH general", "qa faithful by majority", 83.45))),
    _requests("faithbench_requests", "passages to be summarised", "Bao et al. 2025", "CC BY-NC-SA",
              "attribution/test/faithbench.jsonl.gz", faithbench_requests,
              (_consistency("Llama-3.1-8B", "faithful by majority", 37.5),
               _consistency("MARCH general", "faithful by majority", 52.78))),
    _requests("facts_requests", "requests about long documents", "Jacovi et al. 2025", "CC BY 4.0",
              "facts_grounding/examples.csv", facts_requests,
              (_consistency("Llama-3.1-8B", "faithful by majority", 57.09, where="MARCH, Figure 2"),
               _consistency("MARCH general", "faithful by majority", 80.12, where="MARCH, Figure 2"))),
)  # fmt: skip

ANSWER_SETS: dict[str, DataSet[AnswerRow]] = {data_set.name: data_set for data_set in _SETS}
"""Every set that is answered, by name."""


def chosen_answers(names: Sequence[str]) -> list[DataSet[AnswerRow]]:
    """The sets of these names, each once, in the order given.

    Raises:
        InputError: an unknown name.

    >>> [data_set.name for data_set in chosen_answers(["musique", "2wiki", "musique"])]
    ['musique', '2wiki']
    """
    unknown = next((name for name in names if name not in ANSWER_SETS), None)
    if unknown is not None:
        raise InputError(f"no set of questions is called {unknown!r}, wanted one of {', '.join(ANSWER_SETS)}")
    return [ANSWER_SETS[name] for name in dict.fromkeys(names)]
