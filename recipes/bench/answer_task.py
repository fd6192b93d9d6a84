"""The task of sets whose questions a model under test answers.

    exact_match, f1   words of the answer against the references
    judged            a judge with the references calls the answer right
    faithful          the answer's audit finds nothing that the documents do not support

Each is measured per draft (mean over a question's drafts) and "by majority": exact_match and f1 of the answer that most
drafts give; judged and faithful if more than half of the drafts are, judged one by one (MARCH, section 3.2). A question
without an answer counts 0, and so do the words of a draft that is cut off or empty; undecided drafts and unreadable
rows are excluded. Not supported: several processes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from recipes.bench.answers import AnswerRow, Mark, ScoredAnswer, answer_work
from vouching import metrics
from vouching.answering.answer import Answerer
from vouching.answering.prompt import Style
from vouching.bench.intervals import RESAMPLES, Figure, intervals
from vouching.bench.report import interval_words
from vouching.bench.rows import Fault, is_broken
from vouching.bench.task import DataSet, Line, Task
from vouching.judging.votes import majority_of
from vouching.rows.pool import AsyncWorkFactory
from vouching.shortcuts import AuditMethod

ANSWERS_AT_ONCE = 64
"""Rows in flight; each needs several drafts."""
MEASURES = ("exact_match", "f1", "judged", "faithful")


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How questions are answered and judged, by names; also the settings of a run."""

    model: str
    """The model under test."""
    prompt: Style = "plain"
    shots: str | None = None
    """File with the examples of a few-shot prompt; None uses the shipped ones."""
    generations: int = 1
    """Drafts per question."""
    judge: str | None = None
    """The auditor of the drafts; None measures no faithfulness."""
    method: AuditMethod = "blinded"
    """How it audits."""
    marker: str | None = None
    """The language model that compares answers with the references; None compares words only."""
    seed: int | None = None
    max_tokens: int = 1024

    @property
    def arguments(self) -> str:
        """The options on the command line."""
        given = {f"--{key.replace('_', '-')}": value for key, value in dataclasses.asdict(self).items()}
        return " ".join(f"{name} {value}" for name, value in given.items() if value is not None)


class AnswersTask(Task[AnswerRow]):
    """The task of sets of questions. Raises ConfigError if a model cannot be opened.

    Args:
        options: the settings.
        open_answerer: opens the model with its audit; called at once, so that errors show early, and for each set.
        open_mark: opens the judge that compares answers with the references; None compares words only.
    """

    command = "python recipes/bench/run.py answers"
    headings = ("", "rows >", "no answer >", "measure", "per draft", "by majority")
    failed_words = "questions without an answer: {}"

    def __init__(
        self,
        options: AnswerOptions,
        open_answerer: Callable[[], Answerer],
        open_mark: Callable[[], Mark | None] | None = None,
    ) -> None:
        self._open_answerer, self._open_mark = open_answerer, open_mark
        self._opened = [open_answerer()]
        self.arguments = options.arguments
        self.settings = dataclasses.asdict(options)

    def work(self) -> AsyncWorkFactory:
        """The work that scores rows."""
        answerer = self._opened.pop() if self._opened else self._open_answerer()
        mark = self._open_mark() if self._open_mark else None
        return AsyncWorkFactory(lambda: answer_work(answerer, mark), answerer.aclose, ANSWERS_AT_ONCE)

    def set_figures(self, lines: Sequence[Line], resamples: int) -> Mapping[str, Any]:
        """The figures of one set."""
        return answer_figures(lines, resamples)

    def title(self, results: Mapping[str, Any], rows: int) -> tuple[str, str]:
        """Title and lead of the report."""
        settings = results["settings"]
        asked = f"prompt style {settings['prompt']}, drafts per question: {settings['generations']}"
        return f"{settings['model']} on {', '.join(results['sets'])}", f"{rows:,} questions, {asked}"

    def table(self, found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
        """What was measured of all of a set, then of its parts."""
        named: dict[str, Mapping[str, Any]] = {"all rows": found, **found["parts"]}
        for name, one in named.items():
            head = (name, f"{one['rows']:,}", f"{one['failed'] + one['abstained']:,}")
            for measure in (measure for measure in MEASURES if one["metrics"][measure]):
                figures = (interval_words(one["metrics"][key]) for key in (measure, f"{measure}_majority"))
                yield (*head, measure.replace("_", " "), *figures)
                head = ("", "", "")

    def notes(self, found: Mapping[str, Any]) -> Iterator[str]:
        """Sentences below the table."""
        if found["macro"]:
            words = {key: key.removesuffix("_majority").replace("_", " ") for key in found["macro"]}
            means = (f"{words[key]} {value:.3f}" for key, value in found["macro"].items())
            yield f"Mean over the parts, by majority: {', '.join(means)}."
        if found["abstained"] or found["failed"]:
            yield f'Answered "not in the sources": {found["abstained"]:,}; no usable draft: {found["failed"]:,}.'
        if found["unusable"]:
            drafts = "Truncated or empty drafts of questions that also have usable ones"
            yield f'{drafts}: {found["unusable"]:,}; "judged" excludes them.'
        if found["broken"]:
            yield f"Unreadable rows, excluded: {found['broken']:,}."
        calls, read, written = (f"{found[key]:,}" for key in ("calls", "prompt_tokens", "completion_tokens"))
        yield f"Model calls: {calls}; prompt tokens: {read}; completion tokens: {written}."

    @staticmethod
    def validate(data_set: DataSet[AnswerRow], rows: Sequence[AnswerRow]) -> Iterator[Fault]:
        """Duplicate questions, and right answers that do not score 1."""
        seen: set[str] = set()
        for row in rows:
            if row.references and row.question in seen:
                yield Fault(f"row {row.id}", "another row has the same question")
            seen.add(row.question)
            if row.references and metrics.exact_match(row.references[0], row.references) != 1.0:
                yield Fault(f"row {row.id}", f"the reference {row.references[0]!r} does not score 1 against itself")


def answer_figures(rows: Sequence[ScoredAnswer], resamples: int = RESAMPLES) -> dict[str, Any]:
    """All figures of one set, from lines of :func:`~recipes.bench.answers.score_answer`; 0 resamples: no intervals.

    ``macro`` has the means over the parts of the majority figures.
    """
    broken, rows = len(rows), [row for row in rows if not is_broken(row)]
    broken -= len(rows)
    names = [*dict.fromkeys(row["part"] for row in rows)]
    parts = {str(name): [row for row in rows if row["part"] == name] for name in names} if len(names) > 1 else {}
    found = {name: _part(part, resamples) for name, part in parts.items()}
    macro = {
        key: round(sum(values) / len(values), 4)
        for key in (f"{name}_majority" for name in MEASURES)
        if (values := [one["metrics"][key]["estimate"] for one in found.values() if one["metrics"][key] is not None])
    }
    costs = ("calls", "prompt_tokens", "completion_tokens")
    used = {key: sum(row["usage"].get(key, 0) for row in rows) for key in costs}
    return {**_part(rows, resamples), "broken": broken, "parts": found, "macro": macro or None, **used}


def _part(rows: Sequence[ScoredAnswer], resamples: int) -> dict[str, Any]:
    found: dict[str, Figure | None] = {}
    for name, values in _columns(rows).items():
        kept = [(value, row["keys"]) for value, row in zip(values, rows, strict=True) if value is not None]
        if not kept:
            found[name] = None
            continue
        groups = metrics.document_numbers(keys for _, keys in kept)
        found[name] = intervals({name: partial(metrics.mean, [value for value, _ in kept])}, groups, resamples)[name]
    return {
        "rows": len(rows),
        "failed": sum(row["failed"] is not None for row in rows),
        "abstained": sum(row["abstained"] for row in rows),
        "unusable": sum(row.get("unusable", 0) for row in rows),
        "metrics": found,
    }


def _columns(rows: Sequence[ScoredAnswer]) -> dict[str, list[float | None]]:
    """Each figure of each row; None if unknown."""
    judged = any(row["marked"] is not None for row in rows)
    audited = any(one is not None for row in rows for one in row["passed"])
    columns: dict[str, list[float | None]] = {
        "exact_match": [_mean(row, "exact") for row in rows],
        "exact_match_majority": [_whole(row, "exact_majority") for row in rows],
        "f1": [_mean(row, "f1") for row in rows],
        "f1_majority": [_whole(row, "f1_majority") for row in rows],
    }
    for name, key, there in (("judged", "marked", judged), ("faithful", "passed", audited)):
        columns[name] = [_votes(row, key) if there else None for row in rows]
        columns[f"{name}_majority"] = [_majority(row, key) if there else None for row in rows]
    return columns


def _mean(row: ScoredAnswer, key: str) -> float | None:
    if not row["has_reference"]:
        return None
    return sum(row[key]) / (len(row[key]) + row.get("unusable", 0)) if row[key] else 0.0


def _whole(row: ScoredAnswer, key: str) -> float | None:
    return (row[key] or 0.0) if row["has_reference"] else None


def _votes(row: ScoredAnswer, key: str) -> float | None:
    """The share of a row's drafts for which ``key`` is true; 0 without drafts."""
    if row["failed"] is not None:
        return 0.0
    known = [vote for vote in row[key] or () if vote is not None]
    return sum(known) / len(known) if known else None


def _majority(row: ScoredAnswer, key: str) -> float | None:
    if row["failed"] is not None:
        return 0.0
    found = majority_of(row[key] or ())
    return None if found is None else float(found)
