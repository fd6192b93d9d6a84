"""RAGTruth (Niu et al. 2024) as published: responses of six models with marked hallucinations, and their sources.

``response.jsonl``: id, source_id, model, labels (start, end, text, label_type, ...), split (train, test), quality,
response. ``source_info.jsonl``: source_id, task_type (QA, Data2txt, Summary), source_info (a text; for QA an object
with question and passages; for Data2txt an object with the data). Responses whose quality is not "good" (refused though
the answer was there, cut off) make no row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from vouching.bench.rows import BenchRow, Fault, Record, Split, converted, records, spans_of, text_of
from vouching.errors import InputError

TASKS = {"QA": "qa", "Data2txt": "data2txt", "Summary": "summary"}


def rows(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """One row per response of the split; Not Attributable if anything in it is marked; its part is the task.

    Args:
        paths: response.jsonl and source_info.jsonl.
        split: which responses.
    """
    responses, sources = paths
    known = {str(source.get("source_id")): source for _, source in records(sources)}
    return converted(responses, partial(_row, known=known, split=split))


def _row(record: Record, name: str, *, known: Mapping[str, Record], split: Split) -> Iterator[BenchRow]:
    if text_of(record, "split") != split or text_of(record, "quality") != "good":
        return
    number, response = str(record.get("source_id")), text_of(record, "response")
    if number not in known:
        raise InputError(f"its source_id {number} is not in source_info.jsonl")
    source = known[number]
    spans = spans_of(record, "labels", response)
    yield BenchRow(
        id=name,
        text=response,
        sources=(_source_text(source.get("source_info")),),
        attributable=not spans,
        is_response=True,
        part=TASKS.get(text_of(source, "task_type"), text_of(source, "task_type")),
        document=number,
        spans=spans,
    )


def _source_text(info: object) -> str:
    """What the model was given: a text, the passages of a question, or data as indented JSON."""
    if isinstance(info, Mapping):
        fields = cast("Mapping[str, Any]", info)
        return text_of(fields, "passages") if "passages" in fields else json.dumps(info, indent=1, ensure_ascii=False)
    return text_of({"source_info": info}, "source_info")
