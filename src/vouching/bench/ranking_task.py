"""The task of ranking sets, and its tables. One process is enough: scorers batch rows, and language models wait."""

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
from vouching.judging.verifier import ClaimVerifier
from vouching.methods.discriminative.rank import Ranker
from vouching.rows.pool import AsyncWorkFactory
from vouching.types import RankMode

RANKINGS_AT_ONCE = 64
"""Rows in flight; each has several answers."""


@dataclass(frozen=True, slots=True)
class RankOptions:
    """How answers are ranked, by names; also the settings of a run."""

    score_model: str = "embedded"
    """The scorer or ranker."""
    mode: RankMode | None = None
    """None for the mode that suits it."""
    search_model: str | None = None
    """The language model that searches and compresses; None for word matching."""
    search: str = ""
    """The search engines, as on the command line."""
    relevance_model: str | None = None
    """The language model that judges which answers the evidence supports; None measures no relevance."""
    wording: str | None = None
    """Prompts of the language models: "ours" or "paper"; None for ours."""
    max_tokens: int | None = None
    """Token limit of the language models' replies; None for their defaults."""

    @property
    def arguments(self) -> str:
        """The options on the command line."""
        named = {
            "--score-model": self.score_model,
            "--mode": self.mode,
            "--search-model": self.search_model,
            "--relevance-model": self.relevance_model,
            "--wording": self.wording,
            "--max-tokens": self.max_tokens,
        }
        return " ".join([*(f"{name} {value}" for name, value in named.items() if value), *self.search.split()])


NOT_MEASURED = "not measured"
"""Replaces a figure that needs a language model."""
HEADINGS = ("", "rows >", "failed >", "P@1", "tau", "P@1 without failed", "tau without failed")
BASELINE_NAMES = {
    "random": "random order",
    "first_given": "given order",
    "longest": "longest first",
    "overlap": "most question words first",
}


class RankingsTask(Task[RankingRow]):
    """The task of ranking sets. Raises ConfigError if a model cannot be opened.

    Args:
        options: the settings.
        open_ranker: opens the ranker; called at once, so that errors show early, and for each set after the first.
        open_judge: opens the judge of which answers the evidence supports; None measures no relevance.
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
        """The work that scores rows."""
        ranker, judge = self._opened.pop() if self._opened else self._open()

        async def aclose() -> None:
            await ranker.aclose()
            if judge is not None:
                await judge.aclose()

        return AsyncWorkFactory(lambda: ranking_work(ranker, judge.verify if judge else None), aclose, RANKINGS_AT_ONCE)

    def fields(self, name: str, row: RankingRow) -> dict[str, Any]:
        """The fields of a row."""
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
        """The gold ranking must have P@1 1 and tau 1, and less if a tenth of the rows is reversed."""
        gold = [row for row in rows if row.worth is not None]
        perfect = ranking_figures([_ranking(row, right=True) for row in gold], resamples=0)["metrics"]
        spoiled = ranking_figures([_ranking(row, right=n % SPOILED != 0) for n, row in enumerate(gold)], resamples=0)
        for name in METRICS if gold else ():
            value = perfect[name]["estimate"]
            if value != 1.0:
                yield Fault("the whole set", f"{name} of the gold rankings is {value}, expected 1")
            elif spoiled["metrics"][name]["estimate"] == 1.0:
                yield Fault("the whole set", f"{name} is 1 with a tenth of the rankings reversed, expected less than 1")


def ranking_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Table rows of a set: the whole set, its parts, the means over parts, the baselines."""
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
    """Sentences about a set: further figures, and what was not measured."""
    if found["differences"]:
        differences = (
            f"{BASELINE_NAMES[name]} {interval_words(one['tau'], sign=True)} {one['tau']['verdict']}"
            for name, one in found["differences"].items()
        )
        yield f"Difference in tau from each baseline: {'; '.join(differences)}."
    if found["binary"]:
        accuracy, f1 = (interval_words(found["binary"][key]) for key in ("accuracy", "macro_f1"))
        yield f"Correct versus incorrect answers: accuracy {accuracy}, F1 {f1}."
    if found["token_f1"]:
        one = found["token_f1"]
        chosen, chance, best = (interval_words(one[key]) for key in ("chosen", "random", "oracle"))
        answers = " or ".join(map(str, one["answers"]))
        yield f"Token F1 of the answer chosen from {answers}: {chosen}; random choice {chance}, best choice {best}."
    yield from relevance_notes(found)
    yield from found_notes(found)
    if found["level"]:
        yield f"Rankings with all answers tied: {found['level']:,}."
    if found["failed"]:
        why = ", ".join(f"{reason} {count:,}" for reason, count in found["why_failed"].items())
        yield f"Failed rankings, counted as wrong (P@1 0, tau -1): {why}."


def relevance_notes(found: Mapping[str, Any]) -> Iterator[str]:
    """Tau by the number of answers that the evidence supports."""
    if found["metrics"] is None:
        return
    if found["by_relevance"] is None:
        yield f"Tau by number of answers that the evidence supports: {NOT_MEASURED}; this requires a language model."
        return
    levels = found["by_relevance"]["levels"].items()
    taus = (f"{name}: {interval_words(one['metrics']['tau'])} ({one['rows']:,} rows)" for name, one in levels)
    yield f"Tau by number of answers that the evidence supports: {'; '.join(taus)}."


def found_notes(found: Mapping[str, Any]) -> Iterator[str]:
    """How the passages relate to the question."""
    searched = found["found"]
    if searched is None:
        return
    titled, reference, both = (number_words(searched[key]) for key in ("titled", "reference", "both"))
    yield (
        f"Search: for a share of {titled} of the questions, the title of a retrieved passage is in the question. Of "
        f"the {searched['asked']:,} questions with a usable reference, a share of {reference} have a passage with "
        f"the reference; for a share of {both}, both are true."
    )
    if searched["where_both"]:
        one = searched["where_both"]
        hits, tau = _figure_rows(one["metrics"])
        yield f"On the {one['rows']:,} questions for which both are true: P@1 {hits}, tau {tau}."


def _row(name: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        name,
        f"{found['rows']:,}",
        f"{found['failed']:,}",
        *_figure_rows(found["metrics"]),
        *_figure_rows(found["dropped"]),
    )


def _figure_rows(metrics: Mapping[str, Any] | None) -> tuple[str, str]:
    known = metrics or {}
    return interval_words(known.get("p_at_1")), interval_words(known.get("tau"))


def _ranking(row: RankingRow, *, right: bool) -> ScoredRanking:
    """The row as ranked by an oracle, or in reverse."""
    worth = row.worth or ()
    scores = [value if right else -value for value in worth]
    return {
        "id": row.id,
        "part": row.part,
        "worth": worth,
        "labels": row.labels,
        "scores": scores,
        "failed": None,
        "found": None,
        "supported": None,
        "longest": scores,
        "overlap": scores,
        "token_f1": None,
        "seconds": 0.0,
        "keys": [row.id],
    }
