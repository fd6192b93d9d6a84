"""Writes the files of this folder with the tools themselves: ``python make.py TOOL``, in an environment with that tool.

README.md names the versions, and how to install each tool.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
QUESTION = "When did the bridge open?"
ANSWER = "The bridge opened in 1973. It has 3 towers."
REFERENCE = "It opened in 1973."
TEXTS = ["The bridge opened to traffic in 1973.", "The bridge has two towers."]


def ragas() -> None:
    tool: Any = import_module("ragas")
    sample = tool.SingleTurnSample(user_input=QUESTION, retrieved_contexts=TEXTS, response=ANSWER, reference=REFERENCE)
    dataset = tool.EvaluationDataset(samples=[sample])
    dataset.to_jsonl(HERE / "ragas.jsonl")
    dataset.to_csv(HERE / "ragas.csv")
    dataset.to_hf_dataset().to_parquet(HERE / "ragas.parquet")


def deepeval() -> None:
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
    case = import_module("deepeval.test_case").LLMTestCase(
        input=QUESTION, actual_output=ANSWER, expected_output=REFERENCE, retrieval_context=TEXTS
    )
    dataset: Any = import_module("deepeval.dataset").EvaluationDataset()
    dataset.add_test_case(case)
    for kind in ("json", "csv"):
        dataset.save_as(file_type=kind, directory=str(HERE), file_name="deepeval", include_test_cases=True)
    run: Any = import_module("deepeval.test_run.test_run").TestRun(
        identifier="bridge", testCases=[], metricsScores=[], hyperparameters=None
    )
    api: Any = import_module("deepeval.test_run.api").LLMApiTestCase(
        name="test_case_0",
        input=QUESTION,
        actualOutput=ANSWER,
        retrievalContext=TEXTS,
        success=True,
        metricsData=[],
        runDuration=0.0,
        evaluationCost=None,
        order=0,
    )
    run.test_cases.append(api)
    saved = {"testRunData": run.model_dump(by_alias=True, exclude_none=True, mode="json")}
    (HERE / "deepeval_run.json").write_text(f"{json.dumps(saved, indent=1)}\n")


def trulens() -> None:
    os.environ["TRULENS_OTEL_TRACING"] = "0"  # with it, records have no contexts
    core: Any = import_module("trulens.core")
    virtual: Any = import_module("trulens.apps.virtual")
    context = {"args": [QUESTION], "rets": TEXTS}
    record = virtual.VirtualRecord(
        main_input=QUESTION, main_output=ANSWER, calls={core.Select.RecordCalls.context_call.get_context: context}
    )
    (HERE / "trulens.json").write_text(record.model_dump_json())
    with tempfile.TemporaryDirectory() as folder:
        session = core.TruSession(database_url=f"sqlite:///{folder}/trulens.sqlite")
        virtual.TruVirtual(app_name="bridge", app_version="1", app=virtual.VirtualApp()).add_record(record)
        table, _ = session.get_records_and_feedback()
    table.to_csv(HERE / "trulens.csv", index=False)


def documents() -> None:
    langchain: Any = import_module("langchain_core.documents")
    llama: Any = import_module("llama_index.core.schema")
    haystack: Any = import_module("haystack")
    node = llama.TextNode(text=TEXTS[0], id_="n1", metadata={"file_name": "bridge.pdf", "page_label": "3"})
    [chain, index, stack] = [
        f"{name} {import_module('importlib.metadata').version(name)}"
        for name in ("langchain-core", "llama-index-core", "haystack-ai")
    ]
    found = {
        chain: langchain.Document(TEXTS[0], metadata={"source": "bridge.pdf", "page": 2}).model_dump(),
        index: node.to_dict(),
        f"{index}, with score": llama.NodeWithScore(node=node, score=0.5).to_dict(),
        stack: haystack.Document(content=TEXTS[0], meta={"file_path": "bridge.pdf", "page_number": 3}).to_dict(
            flatten=False
        ),
    }
    (HERE / "documents.json").write_text(f"{json.dumps(found, indent=1)}\n")


def promptfoo() -> None:
    provider = (
        f"module.exports = class {{ id() {{ return 'fixed'; }} "
        f"async callApi() {{ return {{ output: {json.dumps(ANSWER)} }}; }} }};"
    )
    config = {
        "prompts": ["Context: {{context}}\nQuestion: {{query}}"],
        "providers": ["./provider.js"],
        "tests": [{"vars": {"query": QUESTION, "context": "\n".join(TEXTS)}}],
    }
    quiet = dict.fromkeys(("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE"), "1")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "provider.js").write_text(provider)
        Path(folder, "config.json").write_text(json.dumps(config))
        for name in ("promptfoo.json", "promptfoo.jsonl"):
            command = ["promptfoo", "eval", "-c", "config.json", "--no-cache", "--no-table", "--output", name]
            subprocess.run(command, cwd=folder, env={**os.environ, **quiet, "PROMPTFOO_CONFIG_DIR": folder}, check=True)
            (HERE / name).write_text(Path(folder, name).read_text())


def openai() -> None:
    chat: Any = import_module("openai.types.chat")
    function = {"name": "search", "arguments": "{}"}
    call = {"id": "c1", "type": "function", "function": function}
    asked = chat.ChatCompletionMessage(role="assistant", content=None, tool_calls=[call]).model_dump()
    answer = chat.ChatCompletionMessage(role="assistant", content=ANSWER).model_dump()
    user: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": QUESTION}]}
    found = {"role": "tool", "tool_call_id": "c1", "content": "\n".join(TEXTS)}
    given = [{"title": title, "text": text} for title, text in zip(("Opening", "Towers"), TEXTS, strict=True)]
    told = [{"role": "system", "content": "Answer from the documents."}, {"role": "user", "content": QUESTION}, answer]
    rows = [{"messages": told, "documents": given}, {"messages": [user, asked, found, answer]}]
    (HERE / "openai.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def openai_evals() -> None:
    types: Any = import_module("openai.types.evals.runs")
    source: Any = import_module("openai.types.evals.create_eval_jsonl_run_data_source")
    item = {"query": QUESTION, "context": TEXTS, "ideal": REFERENCE}
    row = source.SourceFileContentContent(item=item, sample={"output_text": ANSWER})
    (HERE / "openai_evals.jsonl").write_text(f"{row.model_dump_json()}\n")
    prompt = f"Context:\n{TEXTS[0]}\n{TEXTS[1]}\n\nQuestion: {QUESTION}"
    usage = {"cached_tokens": 0, "completion_tokens": 14, "prompt_tokens": 31, "total_tokens": 45}
    sample = {
        "error": None,
        "finish_reason": "stop",
        "input": [{"role": "developer", "content": "Answer briefly."}, {"role": "user", "content": prompt}],
        "max_completion_tokens": 2048,
        "model": "gpt-4.1",
        "output": [{"role": "assistant", "content": ANSWER}],
        "seed": 42,
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": usage,
    }
    result = {"name": "String check-a2486074", "sample": None, "passed": False, "score": 0.0}
    given = ({"input": QUESTION, "retrieved_contexts": TEXTS}, {"passages_file": "bridge.txt"})
    items = [
        types.OutputItemListResponse.construct(
            id=f"outputitem_{number}",
            created_at=1743092076,
            datasource_item=item,
            datasource_item_id=number,
            eval_id="eval_67abd54d",
            object="eval.run.output_item",
            results=[result],
            run_id="evalrun_67abd54d",
            sample=sample,
            status="fail",
        ).model_dump()
        for number, item in enumerate(given, 1)
    ]
    page = {"object": "list", "data": items, "first_id": "outputitem_1", "last_id": "outputitem_2", "has_more": False}
    (HERE / "openai_evals.json").write_text(f"{json.dumps(page, indent=1)}\n")


def lettucedetect() -> None:
    data: Any = import_module("lettucedetect.datasets.hallucination_dataset")
    start = ANSWER.index("It has")
    marked = [{"start": start, "end": len(ANSWER), "label": "Evident Conflict"}]
    context = "\n".join(TEXTS)
    more = {"split": "test", "task_type": "QA", "dataset": "ragtruth", "language": "en"}
    samples = [
        data.HallucinationSample(f"User request: {QUESTION}\n\n{context}", ANSWER, marked, **more),
        data.HallucinationSample(
            f"User request: {QUESTION}\n\n{context}", ANSWER, marked, **more, context=context, question=QUESTION
        ),
    ]
    (HERE / "lettucedetect.json").write_text(f"{json.dumps([one.to_json() for one in samples], indent=1)}\n")


TOOLS: dict[str, Callable[[], None]] = {
    made.__name__: made
    for made in (ragas, deepeval, trulens, documents, promptfoo, openai, openai_evals, lettucedetect)
}

if __name__ == "__main__":
    for tool in sys.argv[1:]:
        TOOLS[tool]()
