"""Answers to be ranked through a ranker: the task of the ranking sets, and its tables.

One process does it: scorers from weights batch rows by themselves, and a language model is waited for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vouching.bench.ranking_figures import METRICS, ranking_figures
from vouching.bench.rankings import RankingRow, ScoredRanking, ranking_work
from vouching.bench.report import interval_words, number_words
from vouching.bench.rows import Fault
from vouching.bench.task import SPOILED, DataSet, Line, Task
from vouching.methods.base import ClaimVerifier
from vouching.methods.discriminative.rank import Ranker
from vouching.rows.pool import AsyncWorkFactory
from vouching.types import RankMode

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


NOT_MEASURED = "not measured"
"""What stands where a figure needs a language model that was not named."""
HEADINGS = ("", "rows >", "failed >", "P@1", "tau", "P@1 without failed", "tau without failed")
BASELINE_NAMES = {
    "random": "drawn at random",
    "first_given": "in the order given",
    "longest": "longest first",
    "overlap": "most words of the question first",
}
"""What the baselines are called."""


class RankingsTask(Task[RankingRow]):
    """What a ranker is measured by.

    Args:
        options: what it is made of, for the record.
        open_ranker: opens it; called at once, so that a wrong setting shows, and again for each set after the first.
        open_judge: opens what says which answers the search supports; None measures no relevance.

    Raises:
        ConfigError: a part cannot be opened.

    >>> from vouching.methods.discriminative.open import open_ranker
    >>> RankingsTask(RankOptions("embedded:rules"), open_ranker).arguments
    '--score-model embedded:rules'
    """

    headings = HEADINGS
    narrow = len(HEADINGS) - 2
    failed_words = "rows without a ranking: {}; they count as wrong"

    def __init__(
        self,
        options: RankOptions,
        open_ranker: Callable[[], Ranker],
        open_judge: Callable[[], ClaimVerifier] | None = None,
    ) -> None:
        self._open = lambda: (open_ranker(), open_judge() if open_judge else None)
        self._opened = [self._open()]
        ranker = self._opened[0][0]
        self.arguments = options.arguments
        self.settings = {**dataclasses.asdict(options), "mode": ranker.mode, "calibrator": ranker.calibrator}

    def work(self) -> AsyncWorkFactory:
        """What scores rows."""
        ranker, judge = self._opened.pop() if self._opened else self._open()

        async def aclose() -> None:
            await ranker.aclose()
            if judge is not None:
                await judge.aclose()

        return AsyncWorkFactory(lambda: ranking_work(ranker, judge.verify if judge else None), aclose, RANKINGS_AT_ONCE)

    def fields(self, name: str, row: RankingRow) -> dict[str, Any]:
        """What the work takes of a row."""
        return dataclasses.asdict(row)

    def set_figures(self, lines: Sequence[Line], resamples: int) -> Mapping[str, Any]:
        """The figures of one set."""
        return ranking_figures(lines, resamples)

    def title(self, results: Mapping[str, Any], rows: int) -> tuple[str, str]:
        """Title and lead of the report."""
        model, mode = results["settings"]["model"], results["settings"]["mode"]
        return f"{model} ranks the answers of {', '.join(results['sets'])}", f"{rows:,} questions, mode {mode}"

    def table(self, found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
        """Rows below ``headings``."""
        return ranking_rows(found)

    def notes(self, found: Mapping[str, Any]) -> Iterator[str]:
        """Sentences below the table."""
        return ranking_notes(found)

    @staticmethod
    def counted(rows: Sequence[RankingRow]) -> Sequence[str]:
        """Questions and answers."""
        return (f"{len(rows):,} questions", f"{sum(len(row.answers) for row in rows):,} answers")

    @staticmethod
    def validate(data_set: DataSet[RankingRow], rows: Sequence[RankingRow]) -> Iterator[Fault]:
        """The gold ranking must have P@1 1 and tau 1, and less where a tenth of the rows is turned around."""
        gold = [row for row in rows if row.worth is not None]
        perfect = ranking_figures([_ranking(row, right=True) for row in gold], resamples=0)["metrics"]
        spoiled = ranking_figures([_ranking(row, right=n % SPOILED != 0) for n, row in enumerate(gold)], resamples=0)
        for name in METRICS if gold else ():
            value = perfect[name]["estimate"]
            if value != 1.0:
                yield Fault("the whole set", f"gold rankings have {name} {value}, wanted 1")
            elif spoiled["metrics"][name]["estimate"] == 1.0:
                yield Fault("the whole set", f"rankings of which a tenth is turned around have {name} 1, wanted less")


def ranking_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """A set's rows below ``HEADINGS``: all of it, its parts, the means over parts, the baselines."""
    if found["metrics"] is None:
        return
    yield _row("all rows", found)
    yield from (_row(name, part) for name, part in found["parts"].items())
    means: Mapping[str, Any] = found["means"] or {}
    for name, mean in means.items():
        yield (f"mean, {name}", "", "", *_figure_rows(mean["metrics"]), *_figure_rows(mean["dropped"]))
    for name, baseline in found["baselines"].items():
        yield (BASELINE_NAMES[name], "", "", *_figure_rows(baseline), "", "")


def ranking_notes(found: Mapping[str, Any]) -> Iterator[str]:
    """What else was measured of a set, a sentence each; and what was not."""
    if found["differences"]:
        told = (
            f"{BASELINE_NAMES[name]} {interval_words(one['tau'], sign=True)} {one['tau']['verdict']}"
            for name, one in found["differences"].items()
        )
        yield f"Difference of tau to: {'; '.join(told)}."
    if found["binary"]:
        accuracy, f1 = (interval_words(found["binary"][key]) for key in ("accuracy", "macro_f1"))
        yield f"Correct against incorrect answer: accuracy {accuracy}, F1 {f1}."
    if found["token_f1"]:
        one = found["token_f1"]
        chosen, chance, best = (interval_words(one[key]) for key in ("chosen", "random", "oracle"))
        answers = " or ".join(map(str, one["answers"]))
        yield f"F1 of the words of the answer chosen among {answers}: {chosen}; drawn at random {chance}, best {best}."
    yield from relevance_notes(found)
    yield from found_notes(found)
    if found["level"]:
        yield f"Rankings with all answers level, which say nothing: {found['level']:,}."
    if found["failed"]:
        why = ", ".join(f"{reason} {count:,}" for reason, count in found["why_failed"].items())
        yield f"Failed rankings count as wrong, P@1 0 and tau -1: {why}."


def relevance_notes(found: Mapping[str, Any]) -> Iterator[str]:
    """Tau by how many answers the search supports."""
    if found["metrics"] is None:
        return
    if found["by_relevance"] is None:
        yield f"Tau by how many answers the search supports: {NOT_MEASURED}, which takes a language model."
        return
    levels = found["by_relevance"]["levels"].items()
    told = (f"{name}: {interval_words(one['metrics']['tau'])} ({one['rows']:,} rows)" for name, one in levels)
    yield f"Tau by how many answers the search supports: {'; '.join(told)}."


def found_notes(found: Mapping[str, Any]) -> Iterator[str]:
    """How often what was found bears on the question."""
    searched = found["found"]
    if searched is None:
        return
    titled, reference, both = (number_words(searched[key]) for key in ("titled", "reference", "both"))
    yield (
        f"Found: a passage titled after something in the question {titled}; of {searched['asked']:,} questions whose "
        f"reference can be looked for, a passage that has it {reference}, both {both}."
    )
    if searched["where_both"]:
        one = searched["where_both"]
        hits, tau = _figure_rows(one["metrics"])
        yield f"Where both are there, {one['rows']:,} questions: P@1 {hits}, tau {tau}."


def _row(name: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        name, f"{found['rows']:,}", f"{found['failed']:,}",
        *_figure_rows(found["metrics"]), *_figure_rows(found["dropped"]),
    )  # fmt: skip


def _figure_rows(metrics: Mapping[str, Any] | None) -> tuple[str, str]:
    known = metrics or {}
    return interval_words(known.get("p_at_1")), interval_words(known.get("tau"))


def _ranking(row: RankingRow, *, right: bool) -> ScoredRanking:
    """The row as ranked by someone who knows the gold, or by one who has it the wrong way round."""
    worth = row.worth or ()
    scores = [value if right else -value for value in worth]
    return {
        "id": row.id, "part": row.part, "worth": worth, "labels": row.labels, "scores": scores, "failed": None,
        "found": None, "supported": None, "longest": scores, "overlap": scores, "token_f1": None, "seconds": 0.0,
        "keys": [row.id],
    }  # fmt: skip
