"""Every parser of text from outside, with valid inputs to start from and the errors that it may raise."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import vouching
from tests.house.source_tree import ROOT
from vouching.answering.prompt import read_reply
from vouching.claims import decompose
from vouching.claims.citations import citations_in
from vouching.embedded.scoring import score_model_of
from vouching.encoder.weights import find_weights
from vouching.errors import VouchError
from vouching.evolve.config import EvolveConfig
from vouching.judging.ask import ReplyError
from vouching.judging.calibration import load_calibration
from vouching.methods.assurance.reply import read_case, read_choice, read_line
from vouching.methods.assurance.task import as_task, read_proposal, read_task
from vouching.methods.blinded.fields import find_fields
from vouching.methods.blinded.prompt import read_answers, read_pairs
from vouching.methods.checklist.items import read_items
from vouching.methods.checklist.reply import parse_checklist, read_answer
from vouching.methods.discriminative.factscore import read_facts
from vouching.methods.discriminative.generative import read_places, read_points, verdict_of
from vouching.methods.discriminative.model import NOTE, read_note
from vouching.methods.structured.reply import LabelReply, Reply, parse_reply
from vouching.models.record import Replay
from vouching.models.tools import read_tool_calls
from vouching.reading.plain import as_plain
from vouching.rows.conversations import read_turns
from vouching.rows.read import open_rows
from vouching.search.documents import html_text, pdf_text
from vouching.search.record import Replay as SearchReplay
from vouching.settings import read_settings
from vouching.text.encoding import decode_text
from vouching.text.injection import find_injections
from vouching.text.layout import as_markdown, headings, table_rows
from vouching.text.locate import locate
from vouching.text.sentences import markup_spans, sentence_spans
from vouching.train.encoder_config import EncoderConfig
from vouching.train.runs import read_run
from vouching.types import Verdict
from vouching.types.serial import from_json, to_json


@dataclass(frozen=True)
class Target:
    """A parser with what it accepts."""

    parse: Callable[[str], object]
    seeds: Sequence[str]
    """Valid inputs."""
    allowed: tuple[type[Exception], ...] = (VouchError,)
    """The errors that its documentation names."""
    as_json: bool = False
    """Whether the seeds are JSON, so that values can be replaced by others."""
    share: float = field(default=1.0)
    """How often it is tried, compared with others; less for those that take longer."""


def raw(text: str) -> bytes:
    """The bytes of a file with this text; a lone surrogate becomes bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def of_file(read: Callable[[Path], object], name: str) -> Callable[[str], object]:
    """``read`` applied to a file with the text; ``name`` may have folders."""

    def parse(text: str) -> object:
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw(text))
            return read(path)

    return parse


def rows_of(path: Path) -> object:
    """All rows of a file."""
    with open_rows(str(path)) as reader:
        return list(reader)


def manifest_of(path: Path) -> object:
    """What an index with this manifest says of itself."""
    from vouching.search.index import index_facts

    return index_facts(path.parent)


def layout_of(text: str) -> object:
    """Everything that the layout of a text leads to."""
    markdown = as_markdown(as_plain(text).text)
    spans = sentence_spans(markdown)
    return headings(markdown), table_rows(markdown), markup_spans(markdown), find_injections(markdown, spans)


def events_read(content: bytes) -> list[bytes]:
    """The server-sent events in the bytes of a stream."""
    import asyncio

    from vouching.serve.events import events_of

    async def collected() -> list[bytes]:
        async def chunks() -> AsyncIterator[bytes]:
            for start in range(0, len(content), 999):
                yield content[start : start + 999]

        return [event async for event in events_of(chunks())]

    return asyncio.run(collected())


def cached(path: Path) -> object:
    """An answer asked of a cache in this file."""
    import asyncio

    from vouching.models import Cached, Message, Sampling, ScriptedModel

    async def ask() -> object:
        model = Cached(ScriptedModel(["Yes."]), path)
        try:
            return await model.generate([Message("user", "Is it?")], Sampling())
        finally:
            await model.aclose()

    return asyncio.run(ask())


def _seed(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


_TASK = {
    "task": "t", "data": {"x": [1, 2]}, "rules": [{"id": "R1", "text": "Add.", "value": "sum(data.x)"}],
    "units": [
        {"id": "a", "type": "amount", "rules": ["R1"]}, {"id": "b", "type": "number", "depends_on": ["a"]},
        {"id": "c", "type": "choice", "choices": ["yes", "no"]},
    ],
}  # fmt: skip
TASK = as_task(_TASK)
_YAML = """task: t
data: {x: [1, 2.5, "a"], "9": NO}
rules:
- {id: R1, text: Add., value: sum(data.x)}
units:
- id: a
  type: amount
  rules: [R1]
- {id: b, type: number, depends_on: [a]}
"""
_PROPOSAL = '{"values": {"a": "$1,234.50", "b": 2.5, "c": "yes"}}'
_CASE = json.dumps(
    {"claim_id": "linewise-claim", "overall_verdict": "reject", "overall_confidence": 0.8,
     "line_findings": [{"line": "a", "verdict": "wrong", "confidence": 0.9, "facts": ["x"], "rules": ["R1"],
                        "argument": "The sum is 3.", "correction": 3}]}
)  # fmt: skip
_REPLY = json.dumps(
    {"label": "Not Attributable", "confidence": 0.9, "evidence_alignment": [
        {"claim_span": "1937", "source_span": "1973", "status": "mismatch"}],
     "reasoning_chain": [{"claim_part": "opened in 1937", "source_evidence": "opened in 1973",
                          "judgment": "not_supported", "explanation": "Another year."}],
     "error_type": "temporal_shift", "fix_suggestion": "Change 1937 to 1973."}
)  # fmt: skip
_MANIFEST = (
    '{"max_words": 100, "encoder": null, "digest": null, "state": 1, "numbers": 3, "format": 2, "written_by": "x"}'
)
_CALL = json.dumps(
    {"model": "m", "key": "k", "messages": [], "completions": [
        {"text": "Yes.", "finish_reason": "stop", "usage": {"calls": 1}, "logprobs": [-0.5], "tool_calls": []}]}
)  # fmt: skip
_SEARCH = '{"engine": "e", "query": "q", "limit": 3, "found": [], "error": ""}'
_VERDICT = to_json(vouching.Checker("embedded:rules").check("It opened in 1937.", "It opened in 1973."))
_CALIBRATION = json.dumps(
    {"format": 1, "model": "m", "prompt_hash": "h", "votes": 1, "rows": 9,
     "calibrator": {"kind": "isotonic", "at": [0.1, 0.9], "values": [0.2, 0.8]}}
)  # fmt: skip
_ANSWER = (
    "The bridge opened in **1937**, e.g. for trains.[1]\n\n| Plan | Price |\n|---|---|\n| Basic | $10 |\n\n"
    "- It is 412 m long;\n"
)
_HTML = (
    "<html><title>Mill</title><body><h1>Mill</h1><p>The mill &amp; <b>inn</b> is in Oslo.</p>"
    "<table><tr><th>A</th><td>1</td></tr></table></body></html>"
)
_ROWS = '{"claim": "It opened.", "source": "It opened in 1973.", "label": "Attributable"}\n{"claim": "It closed."}\n'
_CSV = 'claim,source\n"It opened, once","In 1973 ""it"" opened."\nIt closed.,No.\n'
_CHECKED = Path(str(ROOT / "src/vouching/embedded/weights"))

TARGETS: dict[str, Target] = {
    "reply of a structured verifier": Target(
        lambda text: parse_reply(text, Reply), [_REPLY, f"Sure:\n```json\n{_REPLY}\n```"], (ReplyError,), True
    ),
    "reply with a label": Target(
        lambda text: parse_reply(text, LabelReply), ['{"label": "Attributable", "confidence": 1}'], (ReplyError,), True
    ),
    "reply with a safety case": Target(lambda text: read_case(text, TASK.units[0]), [_CASE], (ReplyError,), True),
    "reply with a line": Target(
        lambda text: read_line(text, TASK.units[0]),
        ['{"line": "a", "value": 3, "reason": "Sum."}'],
        (ReplyError,),
        True,
    ),
    "reply with a choice": Target(read_choice, ["KEEP", '{"action": "REVISE", "reason": "Wrong."}'], (ReplyError,)),
    "reply with a checklist": Target(parse_checklist, ["1. Is it short?\n2. Is it in verse?\n   - Does it rhyme?"]),
    "reply about an item": Target(read_answer, ["YES", "**Answer:** No, it is not.", '{"answer": "yes"}']),
    "reply with questions": Target(read_pairs, ["1. [Question: How long is it?] [Answer: 6 km]"]),
    "reply with answers": Target(lambda text: read_answers(text, 3), ['1. Evidence: "It is 6 km." [Answer: 6 km]']),
    "reply with facts": Target(read_facts, ["- It opened.\n- It is long."], (ReplyError,)),
    "reply with places": Target(lambda text: read_places(text, 3), ["[2] > [1] > [3]"], (ReplyError,)),
    "conversation": Target(
        lambda text: [*read_turns(text)],
        [(ROOT / f"tests/data/traces/{name}.json").read_text("utf-8") for name in ("anthropic", "pydantic_ai")],
        as_json=True,
    ),
    "reply with points": Target(read_points, ["Score: 7", "<think>x</think> 0.5"], (ReplyError,)),
    "reply with a verdict": Target(verdict_of, ["Verdict: supported."], (ReplyError,)),
    "reply of a writer": Target(read_reply, ["Reasoning: 64 - 18 = 46\nResponse: It is 46 m.\nAnswer: 46 m"]),
    "tool calls": Target(read_tool_calls, ['<tool_call>{"name": "look", "arguments": {"query": "a"}}</tool_call>']),
    "checklist": Target(read_items, ['["Is it short?"]', '{"text": "Is it short?", "weight": 2}\n'], as_json=False),
    "rows of JSON": Target(of_file(rows_of, "rows.jsonl"), [_ROWS]),
    "rows of CSV": Target(of_file(rows_of, "rows.csv"), [_CSV]),
    "rows of Parquet": Target(of_file(rows_of, "rows.parquet"), ["PAR1\x15\x04PAR1"], share=0.5),
    "task in YAML": Target(of_file(read_task, "task.yaml"), [_YAML]),
    "task in JSON": Target(of_file(read_task, "task.json"), [json.dumps(_TASK)], as_json=True),
    "proposal": Target(of_file(lambda path: read_proposal(path, TASK), "proposal.json"), [_PROPOSAL], as_json=True),
    "settings of a training": Target(
        of_file(lambda path: read_settings(EncoderConfig, path), "run.toml"),
        ['epochs = 3\ntrain = ["train"]\n[shares]\nmed = 0.2\n'],
    ),
    "settings of an evolution": Target(
        of_file(lambda path: read_settings(EvolveConfig, path), "run.toml"), ["rounds = 2\n[student]\nx = 1\n"]
    ),
    "manifest of an index": Target(of_file(manifest_of, "index/index.json"), [_MANIFEST], as_json=True),
    "manifest of an encoder": Target(
        of_file(lambda path: find_weights(path.parent), "encoder.json"),
        [_seed("src/vouching/encoder/weights/encoder.json")],
        as_json=True,
    ),
    "score model": Target(
        lambda text: score_model_of(raw(text)), [(_CHECKED / "rules.json").read_text("utf-8")], as_json=True
    ),
    "calibration": Target(of_file(load_calibration, "calibration.json"), [_CALIBRATION], as_json=True),
    "note of a scorer": Target(
        of_file(lambda path: read_note(path.parent), NOTE), ['{"base": "b", "shown": "full"}'], as_json=True
    ),
    "note of a run": Target(
        of_file(lambda path: read_run(path.parent), "run.json"),
        ['{"kind": "fit", "settings": {}, "seed": 0}'],
        as_json=True,
    ),
    "recording of a model": Target(of_file(Replay, "calls.jsonl"), [_CALL], as_json=True),
    "recording of a search": Target(
        of_file(lambda path: SearchReplay(path, "e"), "search.jsonl"), [_SEARCH], as_json=True
    ),
    "cache of a model": Target(of_file(cached, "cache.sqlite"), ["SQLite format 3\0\x10\0\x01\x01"], share=0.2),
    "verdict": Target(lambda text: from_json(Verdict, raw(text)), [_VERDICT], as_json=True),
    "answer": Target(decompose, [_ANSWER]),
    "layout": Target(layout_of, [_ANSWER, _HTML, "a;b\n1;2\n3;4\n"]),
    "fields": Target(find_fields, ['{"hours": {"Monday": "17:0-21:0"}}', _ANSWER]),
    "quotation": Target(lambda text: locate(text[: len(text) // 3], text), [_ANSWER]),
    "text file": Target(lambda text: decode_text(raw(text), "file"), ["\ufeffcafé\r\n", _ANSWER]),
    "web page": Target(lambda text: html_text(raw(text), "page"), [_HTML], share=0.3),
    "PDF": Target(
        lambda text: pdf_text(BytesIO(raw(text)), "paper"),
        ["%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\ntrailer<</Root 1 0 R>>"],
        share=0.3,
    ),
    "citations": Target(citations_in, ["It opened in 1973 [1], as (Smith, 1999) says. [2]: https://example.org/a"]),
    "events of a stream": Target(lambda text: events_read(raw(text)), [": hello\n\nevent: a\ndata: 1\ndata: 2\n\n"]),
    "instruction": Target(
        lambda text: vouching.check_instruction(text, _ANSWER), ["Answer in at most 20 words, in English."], share=0.5
    ),
    "response to an instruction": Target(
        lambda text: vouching.check_instruction("Answer in 20 words and two bullets, without commas.", text),
        [_ANSWER],
        share=0.5,
    ),
    "claim": Target(
        lambda text: vouching.Checker("embedded:rules").check(text, _ANSWER), ["It opened in 1937."], share=0.5
    ),
    "source": Target(
        lambda text: vouching.Checker("embedded:rules").check("The bridge opened in 1937 for $10.", text),
        [_ANSWER, _HTML],
        share=0.5,
    ),
}
"""By name. Parsers without documented errors raise none but VouchError."""
