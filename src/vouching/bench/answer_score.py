"""One question through the model under test: what is kept of its answer is one JSON object, enough for every figure.

Left out: the audits themselves; ``vouch answer`` shows them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

from vouching.answering.answer import Answered, Answerer
from vouching.bench.answer_sets import AnswerRow
from vouching.bench.judge_protocols import BROKEN
from vouching.errors import InputError, ModelAnswerError, ModelRefusedError
from vouching.metrics import exact_match, token_f1
from vouching.models.running import all_of
from vouching.rows.pool import AsyncWork
from vouching.rows.read import Row

ScoredAnswer: TypeAlias = dict[str, Any]
"""A line of ``rows/<set>.jsonl``; its keys are those that :func:`score_answer` gives."""
Mark: TypeAlias = Callable[[AnswerRow, str], Coroutine[Any, Any, bool | None]]
"""Whether an answer says what the references say, by a judge; None where it failed."""


def answer_work(answerer: Answerer, mark: Mark | None = None) -> AsyncWork:
    """The function from a row of :mod:`vouching.rows` to its line; see :func:`score_answer`."""

    async def work(row: Row) -> str:
        if row.fields is None:
            line = _line(AnswerRow(row.name, "", ()), None, f"{BROKEN}{row.place}: {row.problem}")
        else:
            line = await score_answer(row.fields["row"], answerer, mark)
        return json.dumps(line, ensure_ascii=False)

    return work


async def score_answer(row: AnswerRow, answerer: Answerer, mark: Mark | None = None) -> ScoredAnswer:
    """Have a question answered and keep what the figures need.

    Args:
        row: the question or request.
        answerer: answers; its audit says what is faithful.
        mark: says which answers are right; None leaves that to words.

    Returns:
        id, part, has_reference, answer (that of most drafts), votes, abstained, unusable (how many drafts were cut off
        or empty; what follows is of the others), answers and responses (of each draft),
        exact and f1 (of each draft, and as exact_majority and f1_majority of ``answer``; None without a reference),
        marked and passed (of each draft: whether the judge calls it right, and whether its audit finds no fault; None
        where that is not known), failed (why there is no answer, else None), usage, keys (what ties the row to others).

    Raises:
        ModelError: a model is out of reach, and the same row may be scored later.

    >>> import asyncio
    >>> from vouching.answering.audit import open_audit
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
        return _line(row, None, f"{type(error).__name__}: {error}")
    answers = [draft.reply.answer for draft in answered.drafts]
    marks = await all_of(mark(row, answer) for answer in answers) if mark and row.references else None
    return _line(row, answered, None, marks)


def _line(
    row: AnswerRow, answered: Answered | None, failed: str | None, marks: Sequence[bool | None] | None = None
) -> ScoredAnswer:
    drafts = answered.drafts if answered else ()
    answers = [draft.reply.answer for draft in drafts]
    known = bool(row.references)
    told = {"prompt_tokens": 0, "completion_tokens": 0, "calls": 0}
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
        "usage": {name: getattr(answered.usage, name) if answered else 0 for name in told},
        "keys": _keys(row),
    }


def _keys(row: AnswerRow) -> list[str]:
    # One request stands for a whole task; paragraphs that mislead are shared by questions that have nothing in common.
    shared = [row.question] if row.references else [source.text for source in row.sources]
    return sorted(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16] for text in shared)
