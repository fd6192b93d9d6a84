"""Rows in this project's own format: ``id, claim, source, label`` with, in some sets, a group, spans or tokens.

One record is one row. Three sets say more: RAGTruth judges whole responses and marks hallucinated characters,
WiCE's token sets mark unsupported tokens, SEVA's probes name the strategy that made them. Left out: the question, which
no claim verifier reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from vouching.bench.rows import (
    BenchRow,
    Fault,
    Record,
    Split,
    converted,
    label_of,
    list_of,
    offsets_of,
    spans_of,
    text_of,
    texts_of,
)
from vouching.errors import InputError

LABELS = {"Attributable": True, "Not Attributable": False}
_PROBE_LABELS = {"S": True, "C": False, "N": False}
"""Supported, contradicted, no information."""


def claims(
    paths: Sequence[Path], split: Split, *, part: str | None = None, document: str | None = None
) -> Iterator[BenchRow | Fault]:
    """Labelled claims.

    Args:
        paths: the set's one file.
        split: not needed; every split has its own file.
        part: field that names the part of the set a row belongs to.
        document: field that names the document, beside the source text itself.
    """
    return converted(paths[0], partial(_claim, part=part, document=document))


def responses(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """Whole responses with hallucinated spans (RAGTruth); a response with any span is Not Attributable."""
    return converted(paths[0], _response)


def token_claims(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """Claims whose unsupported tokens are marked (WiCE)."""
    return converted(paths[0], _token_claim)


def probes(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """Perturbed claims by strategy (SEVA); those without evidence, most of them, make no row."""
    return converted(paths[0], _probe)


def _claim(record: Record, name: str, *, part: str | None, document: str | None) -> Iterator[BenchRow]:
    yield BenchRow(
        id=name,
        text=text_of(record, "claim"),
        sources=texts_of(record, "source"),
        attributable=label_of(record, "label", LABELS),
        part=_name(record, part),
        document=_name(record, document),
    )


def _response(record: Record, name: str) -> Iterator[BenchRow]:
    response, attributable = text_of(record, "response"), label_of(record, "label", LABELS)
    spans = spans_of(record, "spans", response)
    if attributable == bool(spans):
        raise InputError(f'its label is "{record["label"]}" with {len(spans)} spans: any span is Not Attributable')
    yield BenchRow(
        id=name,
        text=response,
        sources=texts_of(record, "source"),
        attributable=attributable,
        is_response=True,
        part=text_of(record, "task"),
        document=_name(record, "source_id"),
        spans=spans,
    )


def _token_claim(record: Record, name: str) -> Iterator[BenchRow]:
    [row] = _claim(record, name, part=None, document=None)
    tokens, marks = list_of(record, "claim_tokens"), list_of(record, "non_supported_spans")
    if len(tokens) != len(marks):
        raise InputError(f'its "claim_tokens" are {len(tokens)}, its "non_supported_spans" {len(marks)}: one for each')
    offsets = offsets_of(row.text, tokens)
    spans = tuple(place for place, unsupported in zip(offsets, marks, strict=True) if unsupported)
    yield BenchRow(row.id, row.text, row.sources, row.attributable, spans=spans, tokens=offsets)


def _probe(record: Record, name: str) -> Iterator[BenchRow]:
    if record.get("evidence") != []:
        yield BenchRow(
            id=name,
            text=text_of(record, "claim"),
            sources=texts_of(record, "evidence"),
            attributable=label_of(record, "gold_label", _PROBE_LABELS),
            part=text_of(record, "strategy"),
            document=_name(record, "original_id"),
        )


def _name(record: Record, key: str | None) -> str | None:
    """A field as a name; None where there is none."""
    value = None if key is None else record.get(key)
    # BUMP writes some error types both with and without the last word.
    return None if value is None else str(value).removesuffix(" Error")
