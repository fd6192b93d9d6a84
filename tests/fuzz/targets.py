"""Every parser of text from outside, with valid inputs to start from and the errors that it may raise."""

from __future__ import annotations

import asyncio
import json
import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path

import vouching
from recipes.rank.settings import RankConfig
from tests.fuzz.replies import REPLIES, TASK
from tests.fuzz.target import Target, of_file, raw
from tests.house.source_tree import ROOT
from vouching.claims import decompose
from vouching.claims.citations import citations_in
from vouching.embedded.phrasing import phrased
from vouching.embedded.scoring import score_model_of
from vouching.encoder.weights import find_weights
from vouching.evolve.config import EvolveConfig
from vouching.judging.calibration import load_calibration
from vouching.methods.assurance.task import as_task, read_proposal, read_task
from vouching.methods.blinded.fields import find_fields
from vouching.methods.checklist.items import read_items
from vouching.methods.discriminative.model import NOTE, read_note
from vouching.models import Cached, Message, Sampling, ScriptedModel
from vouching.models.record import Replay
from vouching.reading.plain import as_plain
from vouching.rows.conversations import read_turns
from vouching.rows.read import open_rows
from vouching.search.documents import docx_text, html_text, pdf_text
from vouching.search.record import Replay as SearchReplay
from vouching.search.store import read_manifest
from vouching.serve.policy import read_policy
from vouching.settings import read_settings
from vouching.text.encoding import decode_text
from vouching.text.injection import find_injections
from vouching.text.layout import as_markdown, headings, table_rows
from vouching.text.locate import locate
from vouching.text.sentences import markup_spans, sentence_spans
from vouching.text.structures import structured_pieces
from vouching.train.runs import read_run
from vouching.types import Verdict
from vouching.types.serial import from_json, to_json


def rows_of(path: Path) -> object:
    """All rows of a file."""
    with open_rows(str(path)) as reader:
        return list(reader)


def layout_of(text: str) -> object:
    """Everything that the layout of a text leads to."""
    markdown = as_markdown(as_plain(text).text)
    spans = sentence_spans(markdown)
    return headings(markdown), table_rows(markdown), markup_spans(markdown), find_injections(markdown, spans)


@cache
def _empty_docx() -> bytes:
    from docx import Document

    made = BytesIO()
    Document().save(made)
    return made.getvalue()


def docx_with(text: str) -> object:
    """The text of a Word file whose document is this XML."""
    made = BytesIO()
    with zipfile.ZipFile(BytesIO(_empty_docx())) as empty, zipfile.ZipFile(made, "w") as changed:
        for name in empty.namelist():
            changed.writestr(name, raw(text) if name == "word/document.xml" else empty.read(name))
    return docx_text(made, "letter.docx")


def cached(path: Path) -> object:
    """An answer asked of a cache in this file."""

    async def ask() -> object:
        model = Cached(ScriptedModel(["Yes."]), path)
        try:
            return await model.generate([Message("user", "Is it?")], Sampling())
        finally:
            await model.aclose()

    return asyncio.run(ask())


def _seed(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


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
_MANIFEST = (
    '{"max_words": 100, "encoder": null, "digest": null, "state": 1, "numbers": 3, "format": 2, "written_by": "x"}'
)
_CALL = json.dumps(
    {
        "model": "m",
        "key": "k",
        "messages": [],
        "completions": [
            {"text": "Yes.", "finish_reason": "stop", "usage": {"calls": 1}, "logprobs": [-0.5], "tool_calls": []}
        ],
    }
)
_SEARCH = '{"engine": "e", "query": "q", "most": 3, "passages": [], "error": null}'
_VERDICT = to_json(vouching.Checker("embedded:rules").check("It opened in 1937.", "It opened in 1973."))
_CALIBRATION = json.dumps(
    {
        "format": 1,
        "model": "m",
        "prompt_hash": "h",
        "votes": 1,
        "threshold": 0.5,
        "calibrator": {"kind": "isotonic", "at": [0.1, 0.9], "values": [0.2, 0.8]},
    }
)
_ANSWER = (
    "The bridge opened in **1937**, e.g. for trains.[1]\n\n| Plan | Price |\n|---|---|\n| Basic | $10 |\n\n"
    "- It is 412 m long;\n"
)
_HTML = (
    "<html><title>Mill</title><body><h1>Mill</h1><p>The mill &amp; <b>inn</b> is in Oslo.</p>"
    "<table><tr><th>A</th><td>1</td></tr></table></body></html>"
)
_DOCX = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>A mill.'
    "</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>1973</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body>"
    "</w:document>"
)
_ROWS = '{"claim": "It opened.", "source": "It opened in 1973.", "label": "Attributable"}\n{"claim": "It closed."}\n'
_CSV = 'claim,source\n"It opened, once","In 1973 ""it"" opened."\nIt closed.,No.\n'
_WORK = as_task(TASK)
_CHECKED = Path(str(ROOT / "src/vouching/embedded/weights"))

TARGETS: dict[str, Target] = {
    **REPLIES,
    "recorded conversation": Target(
        lambda text: [*read_turns(text)],
        [(ROOT / f"tests/data/traces/{name}.json").read_text("utf-8") for name in ("anthropic", "pydantic_ai")],
        as_json=True,
    ),
    "checklist": Target(read_items, ['["Is it short?"]', '{"text": "Is it short?", "weight": 2}\n'], as_json=False),
    "rows of JSON": Target(of_file(rows_of, "rows.jsonl"), [_ROWS]),
    "rows of CSV": Target(of_file(rows_of, "rows.csv"), [_CSV]),
    "rows of Parquet": Target(of_file(rows_of, "rows.parquet"), ["PAR1\x15\x04PAR1"], share=0.5),
    "task in YAML": Target(of_file(read_task, "task.yaml"), [_YAML]),
    "task in JSON": Target(of_file(read_task, "task.json"), [json.dumps(TASK)], as_json=True),
    "proposal": Target(of_file(lambda path: read_proposal(path, _WORK), "proposal.json"), [_PROPOSAL], as_json=True),
    "settings of a training": Target(
        of_file(lambda path: read_settings(RankConfig, path), "run.toml"),
        ['epochs = 3\npairs = ["a.jsonl"]\nmargin = 0.2\n'],
    ),
    "settings of an evolution": Target(
        of_file(lambda path: read_settings(EvolveConfig, path), "run.toml"),
        ['rounds = 2\ntrain = ["a.jsonl"]\nsmoothed = false\n'],
    ),
    "manifest of an index": Target(
        of_file(lambda path: read_manifest(path.parent), "index/index.json"), [_MANIFEST], as_json=True
    ),
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
        of_file(lambda path: read_note(path.parent), NOTE), ['{"shown": "full", "max_tokens": 512}'], as_json=True
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
    "row as a phrase": Target(lambda text: [*phrased(text)], ["| a |", "[sale:] negotiable: false"]),
    "structures": Target(
        lambda text: structured_pieces("```\n" + text * 8),
        ["```\n~~~\nx", '{"limits": {"users": 25}}', "```yaml\na:\n  - b: c\n```"],
    ),
    "key of many values": Target(
        lambda text: structured_pieces(json.dumps({text: {str(at): at for at in range(len(text) // 2)}})),
        ["limits"],
        share=0.3,
    ),
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
    "Word file": Target(docx_with, [_DOCX], share=0.1),
    "policy of a server": Target(
        of_file(read_policy, "vouch.toml"), ['[serve]\nworkers = 2\n[judges.default]\nmodel = "embedded"\n']
    ),
    "citations": Target(citations_in, ["It opened in 1973 [1], as (Smith, 1999) says. [2]: https://example.org/a"]),
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
    "claim that is its source": Target(
        lambda text: vouching.Checker("embedded:rules").check(text, text), ["It opened in 1937."], share=0.2
    ),
}
"""By name. Parsers without documented errors raise none but VouchError."""
