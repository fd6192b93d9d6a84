"""The section of docs/figures.md on retrieval questions."""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import Figures, interval, number, origin, table

NOTES = {
    "sufficient": "Is the context enough? Half of the contexts lack one supporting passage",
    "relevant": "Is the passage relevant? It is if the set marks it as supporting",
    "addresses": "Does the answer address the question? Half of them are values or sentences of passages that do not "
    "support",
}
NOTE = """
Insufficient contexts were made by taking away one supporting passage, and each complete one lost a passage that does
not support, so both have the same length. That is not what a search misses, and a passage that is not marked may hold
the same fact. Questions without passages in the file, or whose passages all support, are left out. "Overlap" is the
share of the question's content words, with the threshold of the best F1 on the training part. The judge was fitted on
the training parts of the same sets. Intervals are 95 %, by question. A context took {milliseconds_per_context} ms, its
answers included."""


def retrieval_lines(record: Figures) -> Iterator[str]:
    """The section, a table for each question."""
    yield from ("## Retrieval questions", "", origin(record))
    for kind, note in NOTES.items():
        yield from ("", f"{note}:")
        rows = [
            (name, how, interval(one["precision"]), interval(one["recall"]), *(number(one[k]) for k in ("f1", "auroc")))
            for name, found in record["sets"].items()
            for how, one in found[kind].items()
        ]
        yield from table(("set", "judge", "precision", "recall", "F1 >", "AUROC >"), rows)
        eces = ", ".join(f"{name} {number(found[kind]['embedded']['ece'])}" for name, found in record["sets"].items())
        yield from ("", f"ECE of `embedded`: {eces}.")
    yield NOTE.format(**record)
