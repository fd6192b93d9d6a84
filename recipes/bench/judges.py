"""Benchmarks with language models as judges: ContextualJudgeBench and FACTS Grounding.

ContextualJudgeBench (Xu et al. 2025): the model under test compares two responses to a request about a context, in both
orders; it is right if it prefers the better one both times ("consistent accuracy"), and the figure is the mean over
eight splits. FACTS Grounding (Jacovi et al. 2025): several judges say whether a response meets the request, and whether
the document supports it. A judge's score is the share of responses that are grounded and not disqualified; the figure
is the mean over judges. Here a response is disqualified if no judge finds the request met. An unreadable reply counts
as wrong for a judge under test, and is ignored where a response is judged. Departures: the prompts are our own. Not
supported: criteria other than the benchmark's.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from vouching import metrics
from vouching.bench.intervals import RESAMPLES, Figure, intervals, plain
from vouching.bench.published import criterion_of, facts_example
from vouching.bench.report import interval_words, number_words
from vouching.bench.rows import Fault, Record, Split, converted, is_broken, records, text_of, unread
from vouching.bench.task import Line, Task
from vouching.errors import InputError, ModelError
from vouching.judging.ask import ReplyError
from vouching.judging.delimiters import delimited
from vouching.judging.votes import majority_of, voted_share
from vouching.methods.checklist.reply import read_answer
from vouching.methods.discriminative.generative import read_places
from vouching.models.base import Message, Model, Sampling
from vouching.models.running import all_of
from vouching.prompts import load_prompt
from vouching.rows.pool import AsyncWork, AsyncWorkFactory
from vouching.rows.read import Row

Judged: TypeAlias = dict[str, Any]
"""A line of ``rows/<set>.jsonl``."""
_PACKAGE = "recipes.bench"
_TASKS = {
    "judge_pair": "Which response is better?",
    "judge_request": "Does the response do what was asked for?",
    "judge_grounded": "Does the document bear out everything that the response says?",
}


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """What judges see: two responses, the better one first, or a single one."""

    id: str
    request: str
    context: str
    """The document."""
    responses: tuple[str, ...]
    """Two for a comparison, the better one first; or one."""
    part: str | None = None
    """The split of the benchmark."""


def contextual_pairs(paths: Sequence[Path], split: Split) -> Iterator[JudgeRow | Fault]:
    """The pairs of ContextualJudgeBench, from the Parquet files of its repository."""
    return chain.from_iterable(converted(path, partial(_pair, part=criterion_of(path))) for path in paths)


def facts_responses(paths: Sequence[Path], split: Split) -> Iterator[JudgeRow | Fault]:
    """Your responses to the examples of FACTS Grounding: responses.jsonl and examples.csv."""
    responses, examples = paths
    return converted(responses, partial(_facts, known=dict(records(examples))))


def _pair(record: Record, name: str, *, part: str) -> Iterator[JudgeRow]:
    both = (text_of(record, "positive_response"), text_of(record, "negative_response"))
    yield JudgeRow(f"{part}-{name}", text_of(record, "question"), text_of(record, "context"), both, part)


def _facts(record: Record, name: str, *, known: Mapping[str, Record]) -> Iterator[JudgeRow]:
    example = facts_example(name, known)
    document = text_of(example, "context_document")
    yield JudgeRow(name, text_of(example, "user_request"), document, (text_of(record, "response"),))


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How judges are called; also the settings of a run."""

    judges: tuple[str, ...]
    """Names of the models."""
    votes: int = 1
    """Replies of each judge, for a majority vote."""
    temperature: float = 0.6
    """Sampling temperature for several votes; a single vote is greedy."""
    seed: int | None = None
    max_tokens: int = 1024

    @property
    def arguments(self) -> str:
        """The options on the command line."""
        return " ".join([*(f"--judge {name}" for name in self.judges), f"--votes {self.votes}"])

    def sampling(self) -> Sampling:
        """The sampling settings. Raises ConfigError for a number out of range."""
        return Sampling(self.max_tokens, self.temperature if self.votes > 1 else 0.0, n=self.votes, seed=self.seed)


def judge_work(judges: Sequence[Model], sampling: Sampling) -> AsyncWork:
    """The function from a row to its line; see :func:`judge_row`."""

    async def work(row: Row) -> str:
        if row.fields is None:
            return json.dumps({"id": row.name, "part": None, "failed": unread(row)})
        return json.dumps(await judge_row(row.fields["row"], judges, sampling), ensure_ascii=False)

    return work


async def judge_row(row: JudgeRow, judges: Sequence[Model], sampling: Sampling) -> Judged:
    """The votes of each judge on a row; ``sampling.n`` sets the number of votes.

    Returns:
        id, part, failed (the reason, or None) and, by judge: for a pair ``forward`` and ``backward``, whether the
        better response is preferred in first and in second place; for a response ``eligible`` and ``grounded``. Each
        is the majority of readable votes; None without any.

    Raises:
        ModelError: a judge cannot be reached; the row can be retried.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> row = JudgeRow("1", "When?", "It opened in 1973.", ("In 1973.", "In 1937."))
    >>> judge = ScriptedModel(["<verdict>Answer 1 > Answer 2</verdict>"] * 2, name="biased")
    >>> line = asyncio.run(judge_row(row, [judge], Sampling()))
    >>> line["forward"], line["backward"]
    ({'biased': True}, {'biased': False})
    """
    names = [judge.name for judge in judges]
    shown = {"context" if len(row.responses) == 2 else "document": row.context, "request": row.request}
    if len(row.responses) == 2:
        better, worse = row.responses
        asked = {
            "forward": ("judge_pair", {**shown, "answer 1": better, "answer 2": worse}),
            "backward": ("judge_pair", {**shown, "answer 1": worse, "answer 2": better}),
        }
    else:
        alone = {**shown, "response": row.responses[0]}
        asked = {"eligible": ("judge_request", alone), "grounded": ("judge_grounded", alone)}
    line: Judged = {"id": row.id, "part": row.part, "failed": None}
    try:
        for what, (prompt, texts) in asked.items():
            votes = await all_of(_votes(judge, prompt, texts, sampling, what == "backward") for judge in judges)
            line[what] = dict(zip(names, votes, strict=True))
    except ModelError as error:
        if error.can_retry:
            raise
        return {**dict.fromkeys(asked, None), "id": row.id, "part": row.part, "failed": str(error)}
    return line


async def _votes(judge: Model, prompt: str, texts: Mapping[str, str], sampling: Sampling, turned: bool) -> bool | None:
    """The majority of a judge's votes; a tie is a no, None without a readable vote."""
    user = load_prompt(_PACKAGE, "judge_ask").fill(evidence=delimited(texts), task=_TASKS[prompt]).strip()
    messages = Message("system", load_prompt(_PACKAGE, prompt).text.strip()), Message("user", user)
    replies = await judge.generate(messages, sampling)
    read = _prefers_first if prompt == "judge_pair" else _yes
    votes = [read(one.text) for one in replies]
    return majority_of(None if vote is None else vote != turned for vote in votes)


def _prefers_first(reply: str) -> bool | None:
    try:
        first, second = read_places(reply, 2)
    except ReplyError:
        return None
    return None if first == second else first < second


def _yes(reply: str) -> bool | None:
    found = read_answer(reply)
    return None if found is None else found.vote


def pair_figures(rows: Sequence[Judged], judge: str, resamples: int = RESAMPLES) -> dict[str, Any]:
    """Consistent accuracy of one judge, by split and in total; an unreadable vote counts as wrong.

    >>> line = {"id": "1", "part": "refusal", "failed": None, "forward": {"a": True}, "backward": {"a": True}}
    >>> other = {**line, "id": "2", "part": "concise", "backward": {"a": False}}
    >>> found = pair_figures([line, other, other], "a", resamples=0)
    >>> found["parts"], found["mean_of_parts"]
    ({'refusal': 1.0, 'concise': 0.0}, 0.5)
    """
    votes = [[_vote(row, way, judge) for way in ("forward", "backward")] for row in rows]
    both = [float(all(one)) for one in votes]
    each = [sum(vote is True for vote in one) / 2 for one in votes]
    statistics = {"accuracy": partial(metrics.mean, each), "consistent_accuracy": partial(metrics.mean, both)}
    found = intervals(statistics, metrics.document_numbers([row["id"]] for row in rows), resamples)
    names = [*dict.fromkeys(row["part"] for row in rows)]
    parts = {
        name: _mean([value for value, row in zip(both, rows, strict=True) if row["part"] == name]) for name in names
    }
    unreadable = sum(vote is None for one in votes for vote in one)
    mean_of_parts = round(sum(parts.values()) / len(parts), 4) if parts else None
    return {"rows": len(rows), "unreadable": unreadable, **found, "parts": parts, "mean_of_parts": mean_of_parts}


def facts_figures(rows: Sequence[Judged], judges: Sequence[str], resamples: int = RESAMPLES) -> dict[str, Any]:
    """The two phases of FACTS Grounding, by judge and together; a judge without a vote is in no mean.

    factuality is the mean over rows and judges of the share grounded and not disqualified, unadjusted the same with the
    disqualified ones. A row is undecided if no vote says whether it is disqualified or, if not, whether it is grounded.
    >>> line = {"id": "1", "failed": None, "eligible": {"a": True, "b": False}, "grounded": {"a": True, "b": False}}
    >>> short = {**line, "id": "2", "eligible": {"a": False, "b": False}, "grounded": {"a": True, "b": True}}
    >>> lost = {**line, "id": "3", "grounded": {"a": None, "b": None}}
    >>> found = facts_figures([line, short, lost], ["a", "b"], resamples=0)
    >>> found["disqualified"], found["undecided"], found["unadjusted"]["estimate"], found["factuality"]["estimate"]
    (1, 1, 0.75, 0.25)
    """
    fit = [_any(_vote(row, "eligible", judge) for judge in judges) for row in rows]
    grounded = [[_vote(row, "grounded", judge) for judge in judges] for row in rows]
    kept = [[fits and vote for vote in votes] for fits, votes in zip(fit, grounded, strict=True)]
    tables = {"factuality": kept, "unadjusted": grounded}
    return {
        "rows": len(rows),
        "disqualified": fit.count(False),
        "undecided": sum(voted_share(votes) is None for votes in kept),
        **{name: _figure(rows, table, resamples) for name, table in tables.items()},
        "judges": {
            judge: {name: plain(voted_share(votes[place] for votes in table)) for name, table in tables.items()}
            for place, judge in enumerate(judges)
        },
    }


def _figure(rows: Sequence[Judged], votes: Sequence[Sequence[bool | None]], resamples: int) -> Figure:
    """The mean over the rows with a vote."""
    known = [
        (row["id"], share) for row, one in zip(rows, votes, strict=True) if (share := voted_share(one)) is not None
    ]
    if not known:
        return {"estimate": None, "low": None, "high": None, "why_not": "no vote could be read"}
    groups = metrics.document_numbers([name] for name, _ in known)
    return intervals({"mean": partial(metrics.mean, [share for _, share in known])}, groups, resamples)["mean"]


def _any(votes: Iterable[bool | None]) -> bool | None:
    """Whether one of the votes is a yes; None without a vote."""
    known = [vote for vote in votes if vote is not None]
    return any(known) if known else None


def _vote(row: Judged, what: str, judge: str) -> bool | None:
    """A judge's vote; None if there is none."""
    votes: Mapping[str, bool | None] = row.get(what) or {}
    return votes.get(judge)


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


class JudgesTask(Task[JudgeRow]):
    """The task of sets for judges. Raises InputError for no judge or a duplicate, ConfigError for one that cannot open.

    Args:
        options: the judges and settings.
        open_judges: opens the judges; called at once, so that errors show early, and for each set after the first.
    """

    command = "python recipes/bench/run.py judge"
    headings = ("judge", "metric", "value", "out of >")
    failed_words = "rows that could not be judged: {}"

    def __init__(self, options: JudgeOptions, open_judges: Callable[[], Sequence[Model]]) -> None:
        if not options.judges or len({*options.judges}) < len(options.judges):
            got = ", ".join(options.judges) or "none"
            raise InputError(f"expected one or more different judges, got {got}")
        self._judges, self._sampling, self._open = options.judges, options.sampling(), open_judges
        self._opened = [open_judges()]
        self.arguments = options.arguments
        self.settings = dataclasses.asdict(options)

    def work(self) -> AsyncWorkFactory:
        """The work that scores rows."""
        judges = self._opened.pop() if self._opened else self._open()

        async def aclose() -> None:
            for judge in judges:
                await judge.aclose()

        return AsyncWorkFactory(lambda: judge_work(judges, self._sampling), aclose)

    def set_figures(self, lines: Sequence[Line], resamples: int) -> Mapping[str, Any]:
        """The figures of one set."""
        rows = [line for line in lines if not is_broken(line)]
        if any("forward" in row for row in rows):
            return {"pairs": {judge: pair_figures(rows, judge, resamples) for judge in self._judges}, "responses": None}
        return {"pairs": None, "responses": facts_figures(rows, self._judges, resamples)}

    def title(self, results: Mapping[str, Any], rows: int) -> tuple[str, str]:
        """Title and lead of the report."""
        settings = results["settings"]
        named = f"{', '.join(settings['judges'])} on {', '.join(results['sets'])}"
        return named, f"{rows:,} rows, votes per judge: {settings['votes']}"

    def table(self, found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
        """The figures of a set as table rows."""
        pairs: Mapping[str, Any] = found["pairs"] or {}
        for judge, one in pairs.items():
            yield judge, "consistent accuracy", interval_words(one["consistent_accuracy"]), f"{one['rows']:,}"
            yield "", "accuracy, mean of both orders", interval_words(one["accuracy"]), f"{one['rows']:,}"
            yield from (("", f"consistent, {name}", number_words(value), "") for name, value in one["parts"].items())
            yield "", "mean of the splits", number_words(one["mean_of_parts"]), ""
            yield "", "unreadable votes", f"{one['unreadable']:,}", f"{2 * one['rows']:,}"
        responses: Mapping[str, Any] | None = found["responses"]
        if responses is None:
            return
        total = f"{responses['rows']:,}"
        yield "all judges", "grounded and not disqualified", interval_words(responses["factuality"]), total
        yield "", "grounded", interval_words(responses["unadjusted"]), total
        yield "", "disqualified", f"{responses['disqualified']:,}", total
        if responses["undecided"]:
            yield "", "excluded: all judges undecided", f"{responses['undecided']:,}", total
        for judge, one in responses["judges"].items():
            yield judge, "grounded and not disqualified", number_words(one["factuality"]), ""
            yield "", "grounded", number_words(one["unadjusted"]), ""
