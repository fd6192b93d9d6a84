"""FACTS Grounding (Jacovi et al. 2025): requests about long documents, to be answered by the model under test.

``examples.csv`` of the public part: system_instruction, user_request, context_document, full_prompt. It has no answers
and no labels. Answers to be judged are put beside it as ``responses.jsonl``: id (which example, from 1), response. The
figure is the share of answers in which everything is supported, ``share_attributable`` in the results. Left out: the
authors' first phase, which asks a judge model whether the request was met.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from vouching.bench.rows import BenchRow, Fault, Record, Split, converted, records, text_of
from vouching.errors import InputError


def rows(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """One row per answer, without a label.

    Args:
        paths: responses.jsonl and examples.csv.
        split: not needed; there is one public part.
    """
    responses, examples = paths
    known = dict(records(examples))
    return converted(responses, partial(_row, known=known))


def _row(record: Record, name: str, *, known: Mapping[str, Record]) -> Iterator[BenchRow]:
    example = known.get(f"row-{name}")
    if example is None:
        raise InputError(f"its id {name} is no example: wanted the number of a row of examples.csv, from 1")
    yield BenchRow(
        id=name,
        text=text_of(record, "response"),
        sources=(text_of(example, "context_document"),),
        attributable=None,
        is_response=True,
    )
