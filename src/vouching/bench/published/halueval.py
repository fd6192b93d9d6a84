"""HaluEval (Li et al. 2023): right and hallucinated answers, replies and summaries, in pairs.

The repository's ``qa_data.json`` (knowledge, question, right_answer, hallucinated_answer), ``dialogue_data.json``
(knowledge, dialogue_history, right_response, hallucinated_response) and ``summarization_data.json`` (document,
right_summary, hallucinated_summary), each JSON lines, kept here with the ending .jsonl. The authors draw one of each
pair; here both are rows. An answer is judged together with its question. Left out: ``general_data.json``, which has no
source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from vouching.bench.rows import BenchRow, Fault, Record, Split, converted, text_of

SOURCE_AND_TEXT = {
    "qa": ("knowledge", "answer"),
    "dialogue": ("knowledge", "response"),
    "summarization": ("document", "summary"),
}


def rows(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """Two rows per record, the right one and the hallucinated one; their part is the task."""
    return chain.from_iterable(converted(path, partial(_pair, task=path.name.partition("_data")[0])) for path in paths)


def _pair(record: Record, name: str, *, task: str) -> Iterator[BenchRow]:
    source, kind = SOURCE_AND_TEXT[task]
    question = f"{text_of(record, 'question')} " if task == "qa" else ""
    for right in (True, False):
        version = "right" if right else "hallucinated"
        yield BenchRow(
            id=f"{task}-{name}-{version}",
            text=question + text_of(record, f"{version}_{kind}"),
            sources=(text_of(record, source),),
            attributable=right,
            is_response=task != "qa",
            part=task,
            pair=f"{task}-{name}",
            preferred=right,
        )
