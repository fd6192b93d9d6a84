"""A run of rankings as rows of words: the same for the terminal and for the report.

Left out: charts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from vouching.bench.report import interval_words, number_words
from vouching.bench.tables import WIDE, plain_table

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
        yield (f"mean, {name}", "", "", *_figures(mean["metrics"]), *_figures(mean["dropped"]))
    for name, baseline in found["baselines"].items():
        yield (BASELINE_NAMES[name], "", "", *_figures(baseline), "", "")


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
        hits, tau = _figures(one["metrics"])
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
        name, f"{found['rows']:,}", f"{found['failed']:,}", *_figures(found["metrics"]), *_figures(found["dropped"])
    )  # fmt: skip


def _figures(metrics: Mapping[str, Any] | None) -> tuple[str, str]:
    known = metrics or {}
    return interval_words(known.get("p_at_1")), interval_words(known.get("tau"))
