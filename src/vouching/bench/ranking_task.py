"""Answers to be ranked through a ranker: the task of the ranking sets.

Left out: several processes; scorers from weights batch rows by themselves, and a language model is waited for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vouching.batch.waiting import Waiting
from vouching.bench.catalog import DataSet
from vouching.bench.ranking_figures import ranking_figures
from vouching.bench.ranking_report import write_ranking_report
from vouching.bench.ranking_score import ranking_work
from vouching.bench.rankings import RankingRow
from vouching.bench.task import Line, Listener, Task, set_by_set
from vouching.types import RankMode
from vouching.verifiers.base import ClaimVerifier
from vouching.verifiers.discriminative_rank import Ranker

RANKINGS_AT_ONCE = 64
"""Rows under way at the same time; each asks about several answers."""


@dataclass(frozen=True, slots=True)
class RankOptions:
    """How answers are ranked, by names; also what makes the lines of a run."""

    score_model: str = "embedded"
    """What scores or ranks."""
    mode: RankMode | None = None
    """How; None for what suits it."""
    search_model: str | None = None
    """The language model that searches and compresses; None for words alone."""
    search: str = ""
    """The engines, as they are named on the command line."""
    relevance_model: str | None = None
    """The language model that says which answers the search supports; None measures no relevance."""

    @property
    def arguments(self) -> str:
        """As on the command line."""
        named = {
            "--score-model": self.score_model, "--mode": self.mode, "--search-model": self.search_model,
            "--relevance-model": self.relevance_model,
        }  # fmt: skip
        return " ".join([*(f"{name} {value}" for name, value in named.items() if value), *self.search.split()])


def ranking_task(
    options: RankOptions, open_ranker: Callable[[], Ranker], open_judge: Callable[[], ClaimVerifier] | None = None
) -> Task[RankingRow]:
    """What a ranker is measured by.

    Args:
        options: what it is made of, for the record.
        open_ranker: opens it; called at once, so that a wrong setting shows, and again for each set after the first.
        open_judge: opens what says which answers the search supports; None measures no relevance.

    Raises:
        ConfigError: a part cannot be opened.

    >>> from vouching.verifiers.discriminative_open import open_ranker
    >>> ranking_task(RankOptions("embedded:rules"), open_ranker).arguments
    '--score-model embedded:rules'
    """
    opened = [(open_ranker(), open_judge() if open_judge else None)]
    mode, calibrator = opened[0][0].mode, opened[0][0].calibrator

    def work() -> Waiting:
        ranker, judge = opened.pop() if opened else (open_ranker(), open_judge() if open_judge else None)

        async def aclose() -> None:
            await ranker.aclose()
            if judge is not None:
                await judge.aclose()

        return Waiting(lambda: ranking_work(ranker, judge.verify if judge else None), aclose, RANKINGS_AT_ONCE)

    return Task(
        arguments=options.arguments,
        settings={**dataclasses.asdict(options), "mode": mode, "calibrator": calibrator},
        work=work,
        fields=lambda name, row: dataclasses.asdict(row),
        share_of=lambda fields: str(fields["part"]),
        problem=lambda line: line["failed"],
        figures=_figures,
        report=write_ranking_report,
    )


def _figures(
    scored: Mapping[str, Sequence[Line]], sets: Sequence[DataSet[RankingRow]], resamples: int, listener: Listener
) -> dict[str, Any]:
    return {"sets": set_by_set(ranking_figures, scored, sets, resamples, listener)}
