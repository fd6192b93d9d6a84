"""Rows of ``vouch context``: a question, what was found for it, and an answer if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vouching.embedded.verify import is_embedded
from vouching.inputs import SourcesLike, check_text, row_sources
from vouching.models import open_model
from vouching.retrieval.judge import acheck_context
from vouching.rows import AsyncWorkFactory, Line, Row, Seen, count_retryable, fields_of, record_work
from vouching.rows.shapes import as_row
from vouching.types import ContextReport, Unverified


def context_work(model: str) -> AsyncWorkFactory:
    """The work of judging the rows of a file. Raises ConfigError for an unknown model."""
    judge = model if is_embedded(model) else open_model(model)

    async def judged(row: Row) -> ContextReport | Unverified:
        found = await acheck_context(*context_row(row), model=judge)
        if isinstance(found, Unverified):
            return replace(found, claim=replace(found.claim, id=row.name))
        return replace(found, id=row.name)

    return AsyncWorkFactory(lambda: record_work(judged), None if isinstance(judge, str) else judge.aclose)


def context_row(row: Row) -> tuple[str, SourcesLike, str | None]:
    """Question, sources and answer of a row, ours or another tool's. Raises InputError if it cannot be used.

    >>> context_row(Row(1, "line 1", {"user_input": "When?", "response": "In 1973.", "retrieved_contexts": ["1973."]}))
    ('When?', ['1973.'], 'In 1973.')
    """
    fields = as_row(fields_of(row))
    question = check_text(fields_of(replace(row, fields=fields), "question")["question"], "the question")
    answer = fields.get("response", fields.get("answer"))
    return question, row_sources(fields), None if answer is None else check_text(answer, "the answer")


def seen_context(input_name: str, line: Line) -> Seen:
    """The counts of a line for a run of rows."""
    if line["kind"] == "unverified":
        name, again = line["claim"]["id"], count_retryable([line])
        if line["reason"] == "input":
            return Seen(name, f"{input_name}, {line['message']}", again=again)
        return Seen(name, counts={"unverified": 1}, again=again)
    held = [finding["holds"] for finding in line["relevant"]]
    counts: dict[str, int] = {"judged": 1, "sufficient": line["sufficient"]["holds"]}
    counts |= {"sources": len(held), "relevant": sum(held)}
    fits: Mapping[str, bool] | None = line["addresses"]
    counts |= {} if fits is None else {"answers": 1, "addressing": fits["holds"]}
    return Seen(line["id"], counts=counts)
