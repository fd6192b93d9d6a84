"""Opens the task of a kind of data set from the options of ``vouch bench run``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from vouching.answering.answer import AnswerConfig, Answerer, open_writer, writer_name
from vouching.answering.prompt import shots_in
from vouching.bench.answer_task import AnswerOptions, AnswersTask
from vouching.bench.answers import AnswerRow, Mark
from vouching.bench.claims import ClaimsTask
from vouching.bench.ifeval import IfevalTask
from vouching.bench.judges import JudgeOptions, JudgesTask
from vouching.bench.math import MathTask
from vouching.bench.ranking_task import RankingsTask, RankOptions
from vouching.bench.raw import Asking
from vouching.bench.task import ROWS, DataSet, Kind, Task
from vouching.bench.taxcalcbench_run import TaxesTask
from vouching.errors import InputError
from vouching.methods.discriminative.marking import Judge, RankQuestion
from vouching.methods.discriminative.open import NO_EVIDENCE_MODES, open_ranker
from vouching.methods.structured.verify import StructuredConfig, open_verifier
from vouching.models.open import open_model
from vouching.rows.pool import cores
from vouching.search.options import SearchOptions
from vouching.shortcuts import open_audit
from vouching.types import Report, Source

Options = Mapping[str, Any]
"""The options of ``vouch bench run`` by name."""


def kind_of(sets: Sequence[DataSet[Any]]) -> Kind:
    """The kind of all sets. Raises InputError if they are of several kinds."""
    first = sets[0]
    if other := next((one for one in sets if one.kind != first.kind), None):
        raise InputError(
            f"{first.name} has {ROWS[first.kind]}, but {other.name} has {ROWS[other.kind]}: run them separately"
        )
    return first.kind


def open_task(kind: Kind, options: Options) -> Task[Any]:
    """The task for sets of a kind. Raises ConfigError or InputError for options that do not fit."""
    return _OPEN[kind](options)


def measured(kind: Kind, options: Options) -> str:
    """The name of the model, scorer or file that a run measures."""
    if kind in ("judges", "ifeval", "math", "taxes"):
        return options["responses"] or " ".join(options["judge"] or ())
    return options["score_model"] or options["model"] or "embedded"


def _claims(options: Options) -> Task[Any]:
    asking = Asking(
        options.get("method"),
        options.get("wording"),
        options.get("tokens"),
        bool(options.get("raw")),
        options.get("tune_threshold"),
    )
    return ClaimsTask(options["model"] or "embedded", options["jobs"] or cores(), asking)


def _rankings(options: Options) -> Task[Any]:
    search = SearchOptions.read(options["index"], options["web"])
    mode, relevance = options["mode"], options["relevance_model"]
    scorer = options["score_model"] or options["model"] or "embedded"
    if mode in NO_EVIDENCE_MODES and (search or relevance):
        raise InputError(f"--mode {mode} uses no evidence: omit the search engines and the relevance model")
    if mode not in NO_EVIDENCE_MODES and not search:
        bare = " or ".join(f"--mode {name}" for name in NO_EVIDENCE_MODES)
        raise InputError(f"no source of evidence: pass --index PATH or --web ENGINE, or {bare}, which need none")
    return RankingsTask(
        RankOptions(
            scorer, mode, options["search_model"], search.arguments, relevance, options["wording"], options["tokens"]
        ),
        lambda: open_ranker(
            scorer,
            mode,
            search_model=options["search_model"],
            engines=search.engines(),
            queries=search.queries,
            wording=options["wording"] or "ours",
            max_tokens=options["tokens"],
        ),
        partial(open_verifier, relevance, StructuredConfig(style="label")) if relevance else None,
    )


def _answers(options: Options) -> Task[Any]:
    judges = options["judge"] or [None]
    if len(judges) > 1:
        raise InputError(f"expected one judge to audit the answers, got {len(judges)}")
    answering = AnswerOptions(
        writer_name(options["model"]),
        options["prompt"],
        options["shots"],
        options["generations"],
        judges[0],
        options["method"] or "blinded",
        options["marker"],
        options["seed"],
        options["max_tokens"],
    )
    marker = answering.marker
    return AnswersTask(answering, lambda: _answerer(answering), partial(_mark, marker) if marker else None)


def _answerer(options: AnswerOptions) -> Answerer:
    shots = None if options.shots is None else shots_in(options.shots)
    config = AnswerConfig(
        options.prompt, options.generations, max_tokens=options.max_tokens, seed=options.seed, shots=shots
    )
    audit = open_audit(options.judge, options.method) if options.judge else _unaudited
    return Answerer(open_writer(options.model), audit, config)


async def _unaudited(question: str, response: str, sources: Sequence[Source]) -> Report:
    return Report(response, tuple(sources), (), question)


def _mark(name: str) -> Mark:
    """Compares answers with the references, by the judge that also marks answers for training pairs."""
    judge = Judge(open_model(name))

    async def mark(row: AnswerRow, answer: str) -> bool | None:
        label, _ = await judge.mark(RankQuestion(row.id, row.question, row.references), answer)
        return None if label is None else label == "correct"

    return mark


def _judges(options: Options) -> Task[Any]:
    judging = JudgeOptions(
        tuple(options["judge"]), options["votes"], seed=options["seed"], max_tokens=options["max_tokens"]
    )
    return JudgesTask(judging, lambda: [open_model(name) for name in judging.judges])


_OPEN: Mapping[Kind, Callable[[Options], Task[Any]]] = {
    "claims": _claims,
    "rankings": _rankings,
    "answers": _answers,
    "judges": _judges,
    "ifeval": lambda options: IfevalTask(options["responses"]),
    "math": lambda options: MathTask(options["responses"]),
    "taxes": lambda options: TaxesTask(options["responses"]),
}
