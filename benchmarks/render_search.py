"""The section of docs/figures.md on local search, from the results of search.py.

Left out: the questions that settings were chosen by, and search in several steps, which docs/agent.md shows.
"""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import Figures, table

NOTE = """
Recall@5: of the paragraphs that support an answer, the share among the first five passages; 95 % BCa intervals, in
which questions that share such a paragraph are drawn together. Times are of one process, processor time in brackets,
on a machine that had other work at the same time. "shipped" is the encoder that checks claims: it was trained to read a
claim beside a source, and finds nothing by vectors of its own. The million passages are made up, with words by
Zipf's law."""


def search_lines(record: Figures) -> Iterator[str]:
    """Recall by set and way to search, then times."""
    small, large = record["multihop"], record.get("million")
    yield "## Local search"
    for part in filter(None, (small, large)):
        yield from ("", f"`{part['command']}`, vouching {part['version']}; {part['date']}, {part['machine']}.")
    ways = {name: found["held_out"] for name, found in small["recall"].items()}
    sets = next(iter(ways.values()))
    rows = ((name, sets[name]["questions"], *(recall(found[name]) for found in ways.values())) for name in sets)
    yield from table(("questions", "how many >", *ways), rows)
    yield from table(("", "passages >", "build", "query, median", "query, 95 %", "on disk"), times(small, large))
    yield NOTE


def recall(found: Figures) -> str:
    """Recall with its interval."""
    low, high = found["interval"]
    return f"{found['recall_at_5']:.3f} [{low:.3f}, {high:.3f}]"


def times(small: Figures, large: Figures | None) -> Iterator[tuple[object, ...]]:
    """A line for each index."""
    indexes = [("by words", small["build"], small["query"])]
    indexes += [
        (f"with vectors, {name}", built, small[f"query, {name}"])
        for name, built in ((key.removeprefix("build, "), value) for key, value in small.items())
        if f"query, {name}" in small
    ]
    if large:
        indexes.append(("by words", large["build"], large["query"]))
    for name, built, query in indexes:
        yield (
            name, f"{built['passages']:,}", f"{built['seconds']:.0f} s ({built['cpu_seconds']:.0f} s)",
            f"{query['ms_median']:.1f} ms ({query['cpu_ms_median']:.1f} ms)",
            f"{query['ms_p95']:.1f} ms ({query['cpu_ms_p95']:.1f} ms)", f"{built['megabytes']:.0f} MB",
        )  # fmt: skip
