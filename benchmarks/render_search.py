"""The section of docs/figures.md on local search, from the results of search.py.

Not shown: the questions that settings were chosen on, and search in several steps, which docs/search.md shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from render_tables import Figures, table

NOTE = """
Recall@5 is the share of the paragraphs supporting an answer that are among the first five passages, with 95 % BCa
intervals; questions that share such a paragraph are resampled together. Times are for one process, with processor
time in brackets. "Before" is the index that tantivy replaced, measured within the same hour on the same machine;
"shipped" is the encoder that checks claims. The million passages are synthetic, with words drawn from Zipf's law."""


def search_lines(record: Figures) -> Iterator[str]:
    """Recall by set and way to search, then times, the index before beside the present one."""
    small, large, before = record["multihop"], record.get("million"), record["before"]
    yield "## Local search"
    for part in filter(None, (small, large)):
        made_by = f"`{part['command']}` (vouching {part['version']})"
        yield from ("", f"Measured with {made_by} on {part['date']} ({part['machine']}).")
    ways = {"words": small["recall"]["words"], "words, before": before["multihop"]["recall"]["words"]}
    ways |= {name: found for name, found in small["recall"].items() if name != "words"}
    sets = ways["words"]["held_out"]
    rows = (
        (name, sets[name]["questions"], *(recall(found["held_out"][name]) for found in ways.values())) for name in sets
    )
    yield from table(("set", "questions >", *ways), rows)
    change = record["difference"]["held_out"]
    low, high = change["interval"]
    size = f"{change['estimate']:+.3f} [{low:+.3f}, {high:+.3f}]"
    yield from ("", f"Compared with the former index, recall by words changed by {size}.")
    indexes = [("by words", small["build"], small["query"])]
    indexes.append(("by words, before", before["multihop"]["build"], before["multihop"]["query"]))
    indexes += [("by words", large["build"], large["query"])] if large else []
    indexes.append(("by words, before", before["million"]["build"], before["million"]["query"]))
    yield from table(("", "passages >", "build", "query, median", "query, 95 %", "on disk"), times(indexes))
    yield from ("", faults("Present index", record["faults"]), faults("Former index", before["faults"]))
    yield NOTE


def faults(name: str, found: Figures) -> str:
    """What killed and competing writers did, in a sentence."""
    return (
        f"{name}: {found['killed']} processes were killed while they were adding to the index; in "
        f"{found['opened_as_before_or_after']} of these cases, it then opened in its state before or after the change. "
        f"Of {found['writers']} concurrent writers, {found['refused']} was refused."
    )


def recall(found: Figures) -> str:
    """Recall with its interval."""
    low, high = found["interval"]
    return f"{found['recall_at_5']:.3f} [{low:.3f}, {high:.3f}]"


def times(indexes: Sequence[tuple[str, Figures, Figures]]) -> Iterator[tuple[object, ...]]:
    """A line for each index."""
    for name, built, query in indexes:
        yield (
            name, f"{built['passages']:,}", f"{built['seconds']:.0f} s ({built['cpu_seconds']:.0f} s)",
            f"{query['ms_median']:.1f} ms ({query['cpu_ms_median']:.1f} ms)",
            f"{query['ms_p95']:.1f} ms ({query['cpu_ms_p95']:.1f} ms)", f"{built['megabytes']:.0f} MB",
        )  # fmt: skip
