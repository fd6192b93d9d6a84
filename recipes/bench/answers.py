"""Sets whose questions a model under test answers: multi-hop questions, and requests about documents.

Multi-hop questions have right answers (HotpotQA, MuSiQue, 2WikiMultiHopQA, each with its paragraphs). Requests have
none; responses are judged against the documents. RAGTruth's are questions about passages, summaries of news and texts
about records of a business, each document once; FaithBench's are summaries; FACTS Grounding has its own. Departures:
our own wording of the requests of RAGTruth and FaithBench. Not supported: responses of other models, which ``bench
run`` judges.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from vouching.answering.answer import Answered, Answerer
from vouching.bench.multihop import MultihopRow, multihop_row
from vouching.bench.rows import Fault, Record, Split, converted, text_of, unread
from vouching.errors import InputError, ModelAnswerError, ModelRefusedError
from vouching.inputs import as_sources
from vouching.metrics import exact_match, token_f1
from vouching.models.running import all_of
from vouching.rows.pool import AsyncWork
from vouching.rows.read import Row
from vouching.types import Source

TASKS: Mapping[str, str] = {
    "summary": "Summarise this news article in about 100 words.",
    "data2txt": "This is the record of a business. Write an overview of it, with what its customers say, in 100 to 200 "
    "words.",
    "faithbench": "Summarise this passage in a few sentences, with its main points.",
}
"""The requests of tasks that come without one."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A question or a request with its documents."""

    id: str
    """Unique in its set."""
    question: str
    sources: tuple[Source, ...]
    references: tuple[str, ...] = ()
    """The right answer and its variants; none for a request."""
    part: str | None = None
    """Part of the set that is reported separately: the task."""
    document: str | None = None
    """Name of the document, if rows share one."""


def multihop_answers(paths: Sequence[Path], split: Split) -> Iterator[AnswerRow | Fault]:
    """Multi-hop questions, each with all of its paragraphs."""
    return converted(paths[0], lambda record, _: [answer_row(multihop_row(record))])


def answer_row(row: MultihopRow) -> AnswerRow:
    """The row of a multi-hop question."""
    return AnswerRow(row.id, row.question, row.passages, row.answers)


def ragtruth_requests(paths: Sequence[Path], split: Split) -> Iterator[AnswerRow | Fault]:
    """RAGTruth's requests, each once."""
    return _once(converted(paths[0], _ragtruth))


def faithbench_requests(paths: Sequence[Path], split: Split) -> Iterator[AnswerRow | Fault]:
    """FaithBench's passages, each once, to be summarized."""
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
        raise InputError(f"unknown task {task!r}; expected one of qa, summary, data2txt")
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


ScoredAnswer: TypeAlias = dict[str, Any]
"""A line of ``rows/<set>.jsonl``; see :func:`score_answer`."""
Mark: TypeAlias = Callable[[AnswerRow, str], Coroutine[Any, Any, bool | None]]
"""Whether an answer agrees with the references; None if the judge failed."""


def answer_work(answerer: Answerer, mark: Mark | None = None) -> AsyncWork:
    """The function from a row to its line; see :func:`score_answer`."""

    async def work(row: Row) -> str:
        if row.fields is None:
            line = _line(AnswerRow(row.name, "", ()), None, unread(row))
        else:
            line = await score_answer(row.fields["row"], answerer, mark)
        return json.dumps(line, ensure_ascii=False)

    return work


async def score_answer(row: AnswerRow, answerer: Answerer, mark: Mark | None = None) -> ScoredAnswer:
    """Answer a question and keep what the figures need.

    Args:
        row: the question or request.
        answerer: answers; its audit decides what is faithful.
        mark: judges whether answers are right; None compares words only.

    Returns:
        id, part, has_reference, answer (of most drafts), votes, abstained, unusable (number of drafts cut off or empty,
        which the other fields exclude), answers and responses (per draft), exact and f1 (per draft; as exact_majority
        and f1_majority of ``answer``; None without a reference), marked and passed (per draft: whether the judge calls
        it right, whether its audit passes; None if unknown), failed (why there is no answer, or None), usage, keys.

    Raises:
        ModelError: a model cannot be reached; the row can be retried.

    >>> import asyncio
    >>> from vouching import open_audit
    >>> from vouching.models import ScriptedModel
    >>> from vouching.types import Source
    >>> answerer = Answerer(ScriptedModel(["Answer: in 1973"]), open_audit("embedded:rules", "embedded"))
    >>> row = AnswerRow("q", "When did it open?", (Source("It opened in 1973.", "a"),), ("1973",))
    >>> line = asyncio.run(score_answer(row, answerer))
    >>> line["exact_majority"], round(line["f1_majority"], 3)
    (0.0, 0.667)
    """
    try:
        write = answerer.aanswer if row.references else answerer.awrite
        answered = await write(row.question, row.sources)
    except (InputError, ModelAnswerError, ModelRefusedError) as error:
        return _line(row, None, str(error))
    answers = [draft.reply.answer for draft in answered.drafts]
    marks = await all_of(mark(row, answer) for answer in answers) if mark and row.references else None
    return _line(row, answered, None, marks)


def _line(
    row: AnswerRow, answered: Answered | None, failed: str | None, marks: Sequence[bool | None] | None = None
) -> ScoredAnswer:
    drafts = answered.drafts if answered else ()
    answers = [draft.reply.answer for draft in drafts]
    known = bool(row.references)
    costs = ("prompt_tokens", "completion_tokens", "calls")
    return {
        "id": row.id,
        "part": row.part,
        "has_reference": known,
        "answer": answered.answer if answered else None,
        "votes": answered.votes if answered else 0,
        "abstained": answered.abstained if answered else False,
        "unusable": answered.unusable if answered else 0,
        "answers": answers,
        "responses": [draft.reply.response for draft in drafts],
        "exact": [exact_match(answer, row.references) for answer in answers] if known else None,
        "f1": [token_f1(answer, row.references) for answer in answers] if known else None,
        "exact_majority": exact_match(answered.answer, row.references) if known and answered else None,
        "f1_majority": token_f1(answered.answer, row.references) if known and answered else None,
        "marked": None if marks is None else [*marks],
        "passed": [draft.passed for draft in drafts],
        "failed": failed,
        "usage": {name: getattr(answered.usage, name) if answered else 0 for name in costs},
        "keys": _keys(row),
    }


def _keys(row: AnswerRow) -> list[str]:
    # A request is shared by a whole task, and distracting paragraphs by unrelated questions.
    shared = [row.question] if row.references else [source.text for source in row.sources]
    return sorted(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16] for text in shared)
