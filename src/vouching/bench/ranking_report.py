"""The HTML report of a run of rankings. Left out: charts, and single rankings; ``vouch rank`` shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vouching.bench.ranking_score import ScoredRanking
from vouching.bench.ranking_tables import HEADINGS, ranking_notes, ranking_rows
from vouching.bench.report import write_tables


def write_ranking_report(path: Path, results: Mapping[str, Any], scored: Mapping[str, Sequence[ScoredRanking]]) -> None:
    """Write the report of a run.

    Args:
        path: the file; replaced as a whole.
        results: what results.json holds.
        scored: the lines of each set; the report has none of them.

    Raises:
        InputError: the file cannot be written.
    """
    sets: Mapping[str, Mapping[str, Any]] = results["sets"]
    rows = sum(map(len, scored.values()))
    settings = results["settings"]
    write_tables(
        path,
        results,
        title=f"{settings['model']} ranks the answers of {', '.join(sets)}",
        lead=f"{rows:,} questions, mode {settings['mode']}; {results['date']}, {results['machine']}",
        headings=HEADINGS,
        tables={name: [*ranking_rows(found)] for name, found in sets.items()},
        notes={name: [*ranking_notes(found)] for name, found in sets.items()},
    )
