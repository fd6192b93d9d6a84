"""ContextualJudgeBench (Xu et al. 2025): pairs of responses to a question about a context, one preferred.

Parquet of the Hugging Face repository, one file for each of eight criteria (faithfulness, completeness, conciseness,
refusal; for questions and summaries): question, context, positive_response, negative_response, question_id. Its rows
have no label, only a preference: the figure is the share of pairs whose preferred response scores higher. Support by
the context is what the faithfulness files ask about; for the others a verifier has no reason to be right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from vouching.bench.rows import BenchRow, Fault, Record, Split, converted, text_of


def rows(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """Two rows per pair; their part is the criterion."""
    return chain.from_iterable(
        converted(path, partial(_pair, criterion=path.name.partition("-")[0].removesuffix(".parquet")))
        for path in paths
    )


def _pair(record: Record, name: str, *, criterion: str) -> Iterator[BenchRow]:
    for preferred in (True, False):
        version = "positive" if preferred else "negative"
        yield BenchRow(
            id=f"{criterion}-{name}-{version}",
            text=text_of(record, f"{version}_response"),
            sources=(text_of(record, "context"),),
            attributable=None,
            is_response=True,
            part=criterion,
            pair=f"{criterion}-{name}",
            preferred=preferred,
        )
