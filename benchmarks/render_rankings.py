"""The section of docs/figures.md on answers to be ranked, from the results of ``vouch bench``.

Left out: figures that others report, which had all of Wikipedia or the web to search.
"""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import Figures, table

from vouching.bench.ranking_tables import HEADINGS, ranking_notes, ranking_rows

NOTE = """
P@1 and tau with 95 % intervals by {method} bootstrap, {resamples:,} resamples. FGVeriBench comes without passages. What
is searched here are the {passages} of all questions of `multihop`, other questions of HotpotQA, MuSiQue and
2WikiMultiHopQA: hardly any of them bears on what is asked, as the lines below the table say, so these figures show what
a ranking is worth without evidence, and not how good the scorer is. Nothing was chosen by this set."""


def ranking_lines(record: Figures) -> Iterator[str]:
    """The section, a table for each set."""
    settings = record["settings"]
    yield "## Answers to be ranked"
    yield ""
    yield (
        f"`{record['command']}`, mode `{settings['mode']}`, vouching {settings['vouching']}; {record['date']}, "
        f"{record['machine']}."
    )
    for name, found in record["sets"].items():
        yield from table((name, *HEADINGS[1:]), ranking_rows(found))
        yield ""
        yield from (f"- {note}" for note in ranking_notes(found))
    yield NOTE.format(passages="16,832 passages", **record["bootstrap"])
