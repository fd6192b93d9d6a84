"""Opens the task of a kind of data set from the options of ``vouch bench run``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from vouching.bench.claims import ClaimsTask
from vouching.bench.ifeval import IfevalTask
from vouching.bench.ranking_task import RankingsTask, RankOptions
from vouching.bench.raw import Asking
from vouching.bench.task import ROWS, DataSet, Kind, Task
from vouching.errors import InputError
from vouching.methods.discriminative.open import NO_EVIDENCE_MODES, open_ranker
from vouching.methods.structured.verify import StructuredConfig, open_verifier
from vouching.rows.pool import cores
from vouching.search.options import SearchOptions

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
    if kind == "ifeval":
        return options["responses"]
    return options["score_model"] or options["model"] or "embedded"


def _claims(options: Options) -> Task[Any]:
    asking = Asking(
        options.get("method"),
        options.get("wording"),
        options.get("max_tokens"),
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
            scorer,
            mode,
            options["search_model"],
            search.arguments,
            relevance,
            options["wording"],
            options["max_tokens"],
        ),
        lambda: open_ranker(
            scorer,
            mode,
            search_model=options["search_model"],
            engines=search.engines(),
            queries=search.queries,
            wording=options["wording"] or "ours",
            max_tokens=options["max_tokens"],
        ),
        partial(open_verifier, relevance, StructuredConfig(style="label")) if relevance else None,
    )


_OPEN: Mapping[Kind, Callable[[Options], Task[Any]]] = {
    "claims": _claims,
    "rankings": _rankings,
    "ifeval": lambda options: IfevalTask(options["responses"]),
}
