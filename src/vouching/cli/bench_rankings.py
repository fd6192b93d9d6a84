"""``vouch bench run`` on sets of answers to be ranked: its options, what they open, and what is shown.

Left out: the run itself; ``bench.run`` has it for all kinds of sets.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.search_options import SearchOptions
from vouching.cli.streams import draw
from vouching.errors import InputError
from vouching.types import RankMode

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.bench.ranking_task import RankOptions
    from vouching.bench.rankings import RankingRow
    from vouching.bench.task import Task
    from vouching.methods.discriminative.rank import Ranker

PANEL = "Sets of answers to be ranked"


def _panel(**settings: Any) -> Any:
    return typer.Option(rich_help_panel=PANEL, **settings)


ScoreModel = Annotated[
    str | None, _panel(metavar="NAME", help="What scores or ranks, see vouch rank; without it, what --model names.")
]
"""``--score-model``"""
Mode = Annotated[RankMode | None, _panel(metavar="MODE", help="How answers are ranked, see vouch rank.")]
"""``--mode``"""
SearchModel = Annotated[str | None, _panel(metavar="NAME", help="The language model that searches and compresses.")]
"""``--search-model``"""
RelevanceModel = Annotated[
    str | None, _panel(metavar="NAME", help="The language model that says which answers the search supports.")
]
"""``--relevance-model``"""


def draw_rankings(results: dict[str, Any], out: Path) -> None:
    """Show the figures of a run."""
    from vouching.bench.ranking_task import ranking_notes, ranking_table

    def paint(console: Console) -> None:
        for name, found in results["sets"].items():
            console.print(f"{name}: {found['what']}{f' ({remark})' if (remark := found['remark']) else ''}\n")
            console.print(ranking_table(found, console.width))
            for note in ranking_notes(found):
                console.print(note, markup=False, highlight=False)
            console.print()
        console.print(f"All figures: {out / 'results.json'}; to look at: {out / 'report.html'}")

    draw(paint)


def opened_task(options: RankOptions, search: SearchOptions, jobs: int) -> Task[RankingRow]:
    """What the ranking sets are run with.

    Raises:
        ConfigError, InputError: options that do not fit each other, or a part that cannot be opened.
    """
    from vouching.bench.ranking_task import ranking_task
    from vouching.cli.rank import NEEDS_NOTHING
    from vouching.methods.discriminative.open import open_ranker
    from vouching.methods.structured.verify import StructuredConfig, open_verifier

    for complaint in search.complaints():
        raise InputError(complaint)
    if jobs != 1:
        raise InputError(f"got --jobs {jobs}, but answers are ranked in one process: leave it out")
    if options.mode in NEEDS_NOTHING and (search or options.relevance_model):
        raise InputError(f"got --mode {options.mode}, which looks at no evidence, with engines or a relevance model")
    if options.mode not in NEEDS_NOTHING and not search:
        raise InputError("nothing to rank by: give --index PATH or --web ENGINE, or a --mode that needs nothing")
    judged = options.relevance_model

    def ranker() -> Ranker:
        return open_ranker(
            options.score_model, options.mode, search_model=options.search_model, engines=search.engines(),
            queries=search.queries,
        )  # fmt: skip

    return ranking_task(
        options, ranker, partial(open_verifier, judged, StructuredConfig(style="label")) if judged else None
    )


def refuse_rankings(options: RankOptions, search: SearchOptions, score_model: str | None) -> None:
    """Refuse options that sets of claims do not have."""
    given = {
        "--score-model": score_model, "--mode": options.mode, "--search-model": options.search_model,
        "--relevance-model": options.relevance_model, "--index or --web": search,
        "--pages, --record, --replay or --queries": search.pages or search.record or search.replay or search.queries,
    }  # fmt: skip
    if name := next((name for name, value in given.items() if value), None):
        raise InputError(f"got {name}, but these sets are claims with their sources: leave it out")
