"""LangChain: a runnable that checks an answer, a guard that repairs or stops it, and an evaluator for LangSmith.

    chain = answer | vouch_guard(action="repair")      # {"answer": ..., "documents": [...]} in, a text out
    evaluate(target, data=..., evaluators=[vouch_evaluator()])

Documents of LangChain are sources as they are. Tested with langchain-core 1.8.
"""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from vouching.errors import InputError, VouchError, needed
from vouching.inputs import row_sources
from vouching.integrations.judged_text import JudgedText, ajudge_text, judge_text
from vouching.repair import Rest
from vouching.types.visible import shown_keys

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableLambda

__all__ = ["UnsupportedAnswerError", "vouch_checker", "vouch_evaluator", "vouch_guard"]

Unverified = Literal["pass", "block"]
_ANSWERS = ("answer", "response", "output", "result")


class UnsupportedAnswerError(VouchError):
    """A guard stopped an answer."""

    def __init__(self, judged: JudgedText) -> None:
        super().__init__(f"the answer is not supported by its documents: {judged.reason}")
        self.judged = judged
        """The judgement, with the report."""


def vouch_checker(*, model: str = "embedded", threshold: float = 0.5) -> RunnableLambda[Mapping[str, Any], JudgedText]:
    """A runnable from a mapping with "answer" and "documents" (or "context") to its judgement, sync and async."""

    def checked(given: Mapping[str, Any]) -> JudgedText:
        return judge_text(*_parts(given), model=model, threshold=threshold)

    async def achecked(given: Mapping[str, Any]) -> JudgedText:
        return await ajudge_text(*_parts(given), model=model, threshold=threshold)

    return _runnable(checked, achecked, "vouch_checker")


def vouch_guard(
    action: Literal["block", "repair"] = "block",
    *,
    unverified: Unverified = "block",
    rest: Rest = "mark",
    model: str = "embedded",
    threshold: float = 0.5,
) -> RunnableLambda[Mapping[str, Any], str]:
    """A runnable that lets an answer through, repairs it, or raises UnsupportedAnswerError.

    Args:
        action: what happens to an answer with an unsupported claim.
        unverified: what happens to one that could not be judged.
        rest: for "repair", what to do with claims that have no fix: "mark", "remove" or "keep".
        model: the judge.
        threshold: score from which a claim is attributable, in [0, 1].
    """
    repair_rest = rest if action == "repair" else None

    def let(answer: str, judged: JudgedText) -> str:
        unknown = judged.report is None or any(one.passed is None for one in judged.report.findings)
        if unknown and unverified == "block":
            raise UnsupportedAnswerError(judged)
        if judged.passed is not False or judged.report is None:
            return answer
        if judged.report.revised_response is None:
            raise UnsupportedAnswerError(judged)
        return judged.report.revised_response

    def guarded(given: Mapping[str, Any]) -> str:
        parts = _parts(given)
        return let(parts[0], judge_text(*parts, model=model, threshold=threshold, repair_rest=repair_rest))

    async def aguarded(given: Mapping[str, Any]) -> str:
        parts = _parts(given)
        return let(parts[0], await ajudge_text(*parts, model=model, threshold=threshold, repair_rest=repair_rest))

    return _runnable(guarded, aguarded, "vouch_guard")


def vouch_evaluator(*, model: str = "embedded", threshold: float = 0.5) -> Any:
    """An evaluator for LangSmith's ``evaluate``: the share of supported claims, by the key "attributable".

    Answer and documents are those of ``outputs``; documents may also be in ``inputs``. An answer that could not be
    judged has the score None, and the reason as its comment.
    """

    def attributable(
        inputs: dict[str, Any], outputs: dict[str, Any], reference_outputs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        judged = judge_text(*_parts({**inputs, **outputs}), model=model, threshold=threshold)
        return {"key": "attributable", "score": judged.value, "comment": judged.reason}

    return attributable


def _runnable(sync: Any, twin: Any, name: str) -> Any:
    runnables = needed("langchain_core.runnables", "", "the adapter for LangChain")
    return runnables.RunnableLambda(sync, afunc=twin, name=name)


def _parts(given: Mapping[str, Any]) -> tuple[str, Any, str | None]:
    """The answer, its sources and its question."""
    answer = next((given[key] for key in _ANSWERS if key in given), None)
    answer = getattr(answer, "content", answer)  # a message of a chat model
    if not isinstance(answer, str):
        raise InputError(f'expected a mapping with a text "answer" and "documents"; {shown_keys(given)}')
    question = given.get("question", given.get("query"))
    return answer, row_sources(given), question if isinstance(question, str) else None
