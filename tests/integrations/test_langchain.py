"""The adapters for LangChain, in real chains, and by LangSmith's own evaluator."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="langchain-core is not installed")

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from tests.cli.chat_server import chat_server
from vouching.integrations.langchain import UnsupportedAnswerError, vouch_checker, vouch_evaluator, vouch_guard

DOCUMENTS = [Document("The bridge opened in 1973. It has two towers.", metadata={"source": "bridge.txt"})]
WRONG = {"answer": "The bridge opened in 1937.", "documents": DOCUMENTS}
RIGHT = {"answer": "The bridge has two towers.", "documents": DOCUMENTS}


def test_a_chain_checks_what_it_answers_sync_async_and_in_batches() -> None:
    chain = RunnableLambda(lambda answer: {"answer": answer, "documents": DOCUMENTS}) | vouch_checker()
    assert chain.invoke("The bridge opened in 1937.").passed is False
    assert asyncio.run(chain.ainvoke("The bridge has two towers.")).passed is True
    assert [one.value for one in chain.batch([WRONG["answer"], RIGHT["answer"]])] == [0.0, 1.0]
    report = chain.invoke("The bridge opened in 1937.").report
    assert report.findings[0].evidence_alignment[-1].source_span.source_id == "bridge.txt"


def test_the_guard_blocks_or_repairs_and_lets_the_rest_through() -> None:
    assert vouch_guard().invoke(RIGHT) == RIGHT["answer"]
    with pytest.raises(UnsupportedAnswerError, match="Change 1937 to 1973"):
        vouch_guard().invoke(WRONG)
    assert vouch_guard("repair").invoke(WRONG) == "The bridge opened in 1973."
    assert asyncio.run(vouch_guard("repair").ainvoke(WRONG)) == "The bridge opened in 1973."


def test_an_answer_that_could_not_be_judged_passes_only_by_policy() -> None:
    for answer in ("who knows", 503):
        with chat_server(lambda prompt, answer=answer: answer) as name:
            with pytest.raises(UnsupportedAnswerError):
                vouch_guard(model=name).invoke(RIGHT)
            assert vouch_guard(model=name, unverified="pass").invoke(RIGHT) == RIGHT["answer"]


def test_langsmith_runs_the_evaluator() -> None:
    from langsmith.evaluation import run_evaluator
    from langsmith.schemas import Run

    judge: Any = vouch_evaluator()
    evaluator = run_evaluator(lambda run, example: judge(run.inputs, run.outputs))
    fields: dict[str, Any] = {"id": "00000000-0000-0000-0000-000000000001", "name": "r", "run_type": "chain"}
    fields |= {"trace_id": fields["id"], "start_time": "2026-01-01T00:00:00Z"}
    run = Run(**fields, inputs={"question": "When?"}, outputs={"answer": WRONG["answer"], "documents": DOCUMENTS})
    result = evaluator.evaluate_run(run)
    assert (result.key, result.score) == ("attributable", 0.0)
    assert "Change 1937 to 1973." in (result.comment or "")
