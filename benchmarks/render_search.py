"""The sections of docs/figures.md on search, from the results of search.py, search_steps.py and search_claims.py.

Not shown: the questions that settings were chosen on.
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
        yield from ("", measured(part))
    ways = {"words": small["recall"]["words"], "words, before": before["multihop"]["recall"]["words"]}
    ways |= {name: found for name, found in small["recall"].items() if name != "words"}
    sets = ways["words"]["held_out"]
    rows = (
        (name, sets[name]["questions"], *(recall(found["held_out"][name]) for found in ways.values())) for name in sets
    )
    yield from table(("set", "questions >", *ways), rows)
    size = gain(record["difference"]["held_out"])
    yield from ("", f"Compared with the former index, recall by words changed by {size}.")
    indexes = [("by words", small["build"], small["query"])]
    indexes.append(("by words, before", before["multihop"]["build"], before["multihop"]["query"]))
    indexes += [("by words", large["build"], large["query"])] if large else []
    indexes.append(("by words, before", before["million"]["build"], before["million"]["query"]))
    yield from table(("", "passages >", "build", "query, median", "query, 95 %", "on disk"), times(indexes))
    yield from ("", faults("Present index", record["faults"]), faults("Former index", before["faults"]))
    yield NOTE


STEPS_NOTE = """
Recall@5 is the share of the supporting paragraphs that are among the five passages kept, from an index of {passages:,}
paragraphs searched by words; 95 % bootstrap intervals resample questions that share a supporting paragraph together.
"Reranked" orders the first ten passages without a second query. {default} queries are the default and take
{milliseconds:.0f} ms on one core, most of it for finding names. The paragraphs come from Wikipedia, where titles are
names, and the constants were chosen on the training questions of the same sets: expect less on other texts. The
intermediate steps of MuSiQue are often not titles. [All figures](results/search_steps.json)."""
CLAIMS_NOTE = """
"Until decided" is how `vouch check` and `Checker` search: with the rules as `verify`, at most five queries. The
figures are the shares of supporting texts among the five passages kept. [All figures](results/search_claims.json)."""
CLAIMS = {
    "multi-hop, right": "multi-hop questions with the right answer",
    "multi-hop, wrong": "the same with a wrong answer",
}


def step_lines(questions: Figures, claims: Figures | None) -> Iterator[str]:
    """What several queries find beyond one: for questions, then for claims."""
    yield from ("## Searching in several steps", "", measured(questions))
    default = f"{questions['default_queries']} queries"
    named = {
        "single": "one query",
        "1 query": "one query, reranked",
        "3 queries": "3 queries",
        default: default,
        "8 queries": "8 queries",
    }
    sets = {**questions["sets"], "all": questions["together"]}
    rows = (
        (
            name,
            one["questions"],
            *(recall(one["arms"][arm]["recall_at_5"]) for arm in named),
            gain(one["arms"][default]["more_than_single"]),
        )
        for name, one in sets.items()
    )
    yield from table(("set", "questions >", *named.values(), f"{default} minus one"), rows)
    took = questions["together"]["arms"][default]["milliseconds"]
    yield STEPS_NOTE.format(default=questions["default_queries"], milliseconds=took, passages=questions["passages"])
    if claims is None:
        return
    arms = {"single": "one query", "steps": "5 queries", "decided": "until decided (default)"}
    found = (
        (
            CLAIMS.get(name, name),
            one["claims"],
            *(recall(one["arms"][arm]["recall_at_5"]) for arm in arms),
            f"{one['arms']['decided']['queries']:.1f}",
            gain(one["arms"]["decided"]["more_than_single"]),
        )
        for name, one in claims["sets"].items()
    )
    yield from ("", measured(claims))
    yield from table(("claims", "rows >", *arms.values(), "queries >", "default minus one"), found)
    yield CLAIMS_NOTE


def measured(record: Figures) -> str:
    """Command, version, date and machine of a result."""
    made_by = f"`{record['command']}` (vouching {record['version']})"
    return f"Measured with {made_by} on {record['date']} ({record['machine']})."


def gain(figure: Figures) -> str:
    """A difference with its interval."""
    low, high = figure["interval"]
    return f"{figure['estimate']:+.3f} [{low:+.3f}, {high:+.3f}]"


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
    return f"{found.get('estimate', found.get('recall_at_5')):.3f} [{low:.3f}, {high:.3f}]"


def times(indexes: Sequence[tuple[str, Figures, Figures]]) -> Iterator[tuple[object, ...]]:
    """A line for each index."""
    for name, built, query in indexes:
        yield (
            name,
            f"{built['passages']:,}",
            f"{built['seconds']:.0f} s ({built['cpu_seconds']:.0f} s)",
            f"{query['ms_median']:.1f} ms ({query['cpu_ms_median']:.1f} ms)",
            f"{query['ms_p95']:.1f} ms ({query['cpu_ms_p95']:.1f} ms)",
            f"{built['megabytes']:.0f} MB",
        )
