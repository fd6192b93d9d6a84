"""The section of docs/figures.md on rankings, from the results of ``vouch bench``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from render_tables import Figures, table

from vouching.bench.ranking_task import HEADINGS, ranking_notes, ranking_rows

NOTE = """
P@1 and tau have 95 % intervals by {method} bootstrap with {resamples:,} resamples. FGVeriBench does not include
passages. The search covers the 16,832 passages that belong to the questions of `multihop`, a set of other questions
from HotpotQA, MuSiQue and 2WikiMultiHopQA. Hardly any of these passages are relevant, so the figures for all rows
show how good a ranking is without evidence. For only a few questions did the search find a passage that is on the
subject and contains the reference answer; for these, the correct answer can be read directly from the passage. No
setting was chosen on this set."""


def ranking_lines(records: Sequence[Figures]) -> Iterator[str]:
    """The section, for each run a table for each set."""
    yield "## Answers to be ranked"
    for record in records:
        settings = record["settings"]
        made_by = f"`{record['command']}` (mode `{settings['mode']}`, vouching {settings['vouching']})"
        yield from ("", f"Measured with {made_by} on {record['date']} ({record['machine']}).{_unshipped(record)}")
        for name, found in record["sets"].items():
            yield from table((f"{name}, `{settings['model']}`", *HEADINGS[1:]), ranking_rows(found))
            yield ""
            yield from (f"- {note}" for note in ranking_notes(found))
    yield NOTE.format(**records[0]["bootstrap"])


def _unshipped(record: Figures) -> str:
    """A sentence on a scorer that nobody else can load."""
    if not record["settings"]["model"].startswith("discriminative:runs/"):
        return ""
    return " The model is not included, and recipes/rank says why its training cannot be repeated exactly."
