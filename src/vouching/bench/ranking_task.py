"""Answers to be ranked through a ranker: the task of the ranking sets.

Left out: several processes; scorers from weights batch rows by themselves, and a language model is waited for.

The HTML report of a run of rankings. Left out: charts, and single rankings; ``vouch rank`` shows them.

A run of rankings as rows of words: the same for the terminal and for the report.

Left out: charts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from vouching.bench.catalog import DataSet
from vouching.bench.ranking_figures import ranking_figures
from vouching.bench.ranking_score import ScoredRanking, ranking_work
from vouching.bench.rankings import RankingRow
from vouching.bench.report import WIDE, interval_words, number_words, plain_table, write_tables
from vouching.bench.task import Line, Listener, Task, set_by_set
from vouching.methods.base import ClaimVerifier
from vouching.methods.discriminative.rank import Ranker
from vouching.rows.pool import Waiting
from vouching.types import RankMode

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


def ranking_table(found: Mapping[str, Any], width: int) -> Table:
    """The rows of a set for a terminal; without the failed ones from ``WIDE`` columns on."""
    headings = HEADINGS if width >= WIDE else HEADINGS[:-2]
    table = plain_table(*headings)
    for row in ranking_rows(found):
        table.add_row(*row[: len(headings)])
    return table


def ranking_comparison_table(comparison: Mapping[str, Any]) -> Table:
    """Differences of the second run against the first."""
    table = plain_table("set", "rows >", "P@1", "tau")
    for name, found in comparison["sets"].items():
        for what, one in ((key, value) for key, value in found.items() if key != "rows"):
            differences = (one[metric]["difference"] for metric in ("p_at_1", "tau"))
            words = [f"{interval_words(each, sign=True)} {each['verdict']}" for each in differences]
            table.add_row(f"{name}, {what}", f"{found['rows']:,}" if what == "all rows" else "", *words)
    return table


def _row(name: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        name, f"{found['rows']:,}", f"{found['failed']:,}",
        *_figure_rows(found["metrics"]), *_figure_rows(found["dropped"]),
    )  # fmt: skip


def _figure_rows(metrics: Mapping[str, Any] | None) -> tuple[str, str]:
    known = metrics or {}
    return interval_words(known.get("p_at_1")), interval_words(known.get("tau"))


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

    >>> from vouching.methods.discriminative.open import open_ranker
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
