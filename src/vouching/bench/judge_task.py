"""Benchmarks in which language models judge, as tasks: what a run does with their rows, and how it is shown.

Left out: several processes; language models are waited for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vouching.bench.catalog import DataSet
from vouching.bench.judge_protocols import JUDGE_SETS, JudgeRow, facts_figures, is_broken, judge_work, pair_figures
from vouching.bench.report import interval_words, number_words, write_tables
from vouching.bench.task import Line, Listener, Task, set_by_set
from vouching.errors import InputError
from vouching.models.base import Model, Sampling
from vouching.rows.pool import Waiting

HEADINGS = ("judge", "figure", "value", "of >")


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How judges are asked; also what makes the lines of a run."""

    judges: tuple[str, ...]
    """The models, by name."""
    votes: int = 1
    """Answers of each to a question, of which the majority counts."""
    temperature: float = 0.6
    """Of the sampling with several votes; a single one is greedy."""
    seed: int | None = None
    """Of the sampling."""
    max_tokens: int = 1024
    """Length of a reply."""

    @property
    def arguments(self) -> str:
        """As on the command line."""
        return " ".join([*(f"--judge {name}" for name in self.judges), f"--votes {self.votes}"])

    def sampling(self) -> Sampling:
        """The same for a model. Raises ConfigError for a number out of range.

        >>> JudgeOptions(("a",)).sampling().temperature
        0.0
        """
        return Sampling(
            self.max_tokens, self.temperature if self.votes > 1 else 0.0, n=self.votes, seed=self.seed
        )  # fmt: skip


def judge_task(options: JudgeOptions, open_judges: Callable[[], Sequence[Model]]) -> Task[JudgeRow]:
    """What judges are measured by, or with.

    Args:
        options: who judges and how.
        open_judges: opens them; called at once, so that a wrong setting shows, and again for each set after the first.

    Raises:
        InputError: no judge, or one twice.
        ConfigError: a judge cannot be opened, or a number out of range.

    >>> from vouching.models import ScriptedModel
    >>> judge_task(JudgeOptions(("scripted",)), lambda: [ScriptedModel([])]).arguments
    '--judge scripted --votes 1'
    """
    if not options.judges or len({*options.judges}) < len(options.judges):
        raise InputError(f"got the judges {', '.join(options.judges) or 'none'}, wanted at least one, each once")
    sampling = options.sampling()
    opened = [open_judges()]

    def work() -> Waiting:
        judges = opened.pop() if opened else open_judges()

        async def aclose() -> None:
            for judge in judges:
                await judge.aclose()

        return Waiting(lambda: judge_work(judges, sampling), aclose)

    def figures(
        scored: Mapping[str, Sequence[Line]], sets: Sequence[DataSet[JudgeRow]], resamples: int, listener: Listener
    ) -> dict[str, Any]:
        return {"sets": set_by_set(partial(_set_figures, options.judges), scored, sets, resamples, listener)}

    return Task(
        arguments=options.arguments,
        settings=dataclasses.asdict(options),
        work=work,
        fields=lambda name, row: {"id": row.id, "part": row.part, "row": row},
        share_of=lambda fields: str(fields["part"]),
        problem=lambda line: line["failed"],
        figures=figures,
        report=write_judge_report,
    )


def chosen_judged(names: Sequence[str]) -> list[DataSet[JudgeRow]]:
    """The sets of these names, each once. Raises InputError for an unknown name.

    >>> [data_set.name for data_set in chosen_judged(["facts_grounding"])]
    ['facts_grounding']
    """
    unknown = next((name for name in names if name not in JUDGE_SETS), None)
    if unknown is not None:
        raise InputError(f"no protocol is called {unknown!r}, wanted one of {', '.join(JUDGE_SETS)}")
    return [JUDGE_SETS[name] for name in dict.fromkeys(names)]


def _set_figures(judges: Sequence[str], lines: Sequence[Line], resamples: int) -> dict[str, Any]:
    rows = [line for line in lines if not is_broken(line)]
    if any("forward" in row for row in rows):
        return {"pairs": {judge: pair_figures(rows, judge, resamples) for judge in judges}, "responses": None}
    return {"pairs": None, "responses": facts_figures(rows, judges, resamples)}


def judge_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """A set's rows below ``HEADINGS``."""
    pairs: Mapping[str, Any] = found["pairs"] or {}
    for judge, one in pairs.items():
        yield judge, "consistent accuracy", interval_words(one["consistent_accuracy"]), f"{one['rows']:,}"
        yield "", "accuracy, mean of both orders", interval_words(one["accuracy"]), f"{one['rows']:,}"
        yield from (("", f"consistent, {name}", number_words(value), "") for name, value in one["parts"].items())
        yield "", "mean of the splits", number_words(one["mean_of_parts"]), ""
        yield "", "votes that cannot be read", f"{one['unreadable']:,}", f"{2 * one['rows']:,}"
    responses: Mapping[str, Any] | None = found["responses"]
    if responses is None:
        return
    total = f"{responses['rows']:,}"
    yield "all judges", "grounded and not disqualified", interval_words(responses["factuality"]), total
    yield "", "grounded", interval_words(responses["unadjusted"]), total
    yield "", "disqualified", f"{responses['disqualified']:,}", total
    if responses["undecided"]:
        yield "", "left out: no judge could tell", f"{responses['undecided']:,}", total
    for judge, one in responses["judges"].items():
        yield judge, "grounded and not disqualified", number_words(one["factuality"]), ""
        yield "", "grounded", number_words(one["unadjusted"]), ""


def write_judge_report(path: Path, results: Mapping[str, Any], scored: Mapping[str, Sequence[Line]]) -> None:
    """Write the HTML report of a run. Raises InputError if the file cannot be written."""
    sets: Mapping[str, Mapping[str, Any]] = results["sets"]
    settings = results["settings"]
    write_tables(
        path,
        results,
        title=f"{', '.join(settings['judges'])} on {', '.join(sets)}",
        lead=f"{sum(map(len, scored.values())):,} rows, {settings['votes']} votes; {results['date']}, "
        f"{results['machine']}",
        headings=HEADINGS,
        tables={name: [*judge_rows(found)] for name, found in sets.items()},
        notes={name: [] for name in sets},
    )
