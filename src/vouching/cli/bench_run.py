"""``vouch bench run``: which options each kind of set has, and what they open."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vouching.answering.prompt import Style
from vouching.cli.options import Indexes, WebEngines, given_here
from vouching.cli.streams import LINE_SECONDS, Exit, RowProgress, draw, usage_errors, write_error
from vouching.errors import InputError
from vouching.search.options import SearchOptions
from vouching.shortcuts import AuditMethod
from vouching.types import RankMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from vouching.answering.answer import Answerer
    from vouching.bench.answers import AnswerRow, Mark
    from vouching.bench.task import DataSet, Kind, Task
    from vouching.types import Report, Source

app = typer.Typer()

_CLAIMS, _RANKINGS = "Claims to be judged", "Answers to be ranked"
_ANSWERS, _JUDGES, _RESPONSES = "Questions to be answered", "Language models as judges", "Responses of yours"


def _option(panel: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, **settings)


_Names = Annotated[
    list[str], typer.Argument(help="Sets of one kind, see vouch bench list; all is every set of claims that is here.")
]
_Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for rows, figures and report.")]
_Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="What is measured on claims, rankings and questions: embedded, embedded:rules, embedded:FOLDER (a round "
        "of vouch evolve), or a language model such as http://host:8000/v1#name.",
    ),
]
_Split = Annotated[Literal["train", "dev", "test"], typer.Option(help="Which part of each set.")]
_Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Rows per set, drawn by label, for a quick look.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Resume the run that is in DIR.")]
_Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of the sampling of answers and judges.")]
_MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Length of an answer, or of a judge's reply.")]
_Jobs = Annotated[int, _option(_CLAIMS, metavar="N", min=0, help="Processes that score rows; 0 for one per core.")]
_ScoreModel = Annotated[
    str | None,
    _option(_RANKINGS, metavar="NAME", help="What scores or ranks, see vouch rank; without it, what --model names."),
]
_Mode = Annotated[RankMode | None, _option(_RANKINGS, metavar="MODE", help="How answers are ranked, see vouch rank.")]
_SearchModel = Annotated[
    str | None, _option(_RANKINGS, metavar="NAME", help="The language model that searches and compresses.")
]
_RelevanceModel = Annotated[
    str | None,
    _option(_RANKINGS, metavar="NAME", help="The language model that says which answers the search supports."),
]
_Prompt = Annotated[Style, _option(_ANSWERS, help="Asked plainly, step by step, or after answered examples.")]
_Generations = Annotated[int, _option(_ANSWERS, metavar="N", min=1, help="Drafts of each answer; the paper takes 8.")]
_Method = Annotated[AuditMethod, _option(_ANSWERS, help="How --judge audits: asked again blind, or claim by claim.")]
_Marker = Annotated[
    str | None, _option(_ANSWERS, metavar="NAME", help="A language model that holds answers against the known ones.")
]
_Judges = Annotated[
    list[str] | None,
    _option(
        _JUDGES,
        "--judge",
        metavar="NAME",
        help="A language model that judges by the protocol of the set. Repeatable. For questions: what audits each "
        "draft against the documents.",
    ),
]
_Votes = Annotated[int, _option(_JUDGES, metavar="N", min=1, help="Answers of each judge; the majority counts.")]
_Responses = Annotated[
    str | None,
    _option(_RESPONSES, metavar="PATH", help="Rows of responses, which take the place of a model."),
]
_KINDS: Mapping[str, tuple[Kind, ...]] = {
    "model": ("claims", "rankings", "answers"),
    "jobs": ("claims",),
    **dict.fromkeys(("score_model", "mode", "search_model", "relevance_model"), ("rankings",)),
    **dict.fromkeys(("index", "web"), ("rankings",)),
    **dict.fromkeys(("prompt", "generations", "method", "marker"), ("answers",)),
    **dict.fromkeys(("judge", "seed", "max_tokens"), ("answers", "judges")),
    "votes": ("judges",),
    "responses": ("ifeval", "math", "taxes"),
}
"""The kinds of sets that an option applies to; what is not named applies to all."""
_EPILOG = """
**Examples**

vouch bench run wice ragtruth --model embedded:rules --out runs/first

vouch bench run all --limit 200 --out runs/quick --jobs 0

vouch bench run fgveribench --score-model discriminative:runs/rank/model --index wiki --out runs/ranked

vouch bench run hotpotqa musique 2wiki --model http://localhost:8000/v1#qwen --generations 8 --out runs/multihop

vouch bench run contextual_judge_bench --judge http://localhost:8000/v1#qwen --votes 8 --out runs/judge

vouch bench run ifeval --responses responses.jsonl --out runs/ifeval

**Exit status**: 0 done; 2 the command line, a data set or the folder cannot be used; 3 rows without a verdict, an
answer or a ranking, or the run was stopped and can be resumed.
"""


@app.command("run", epilog=_EPILOG)
def run_command(
    context: typer.Context, names: _Names, out: _Out, model: _Model = None, split: _Split = "test",
    limit: _Limit = None, resume: _Resume = False, seed: _Seed = None, max_tokens: _MaxTokens = 1024, jobs: _Jobs = 1,
    score_model: _ScoreModel = None, mode: _Mode = None, search_model: _SearchModel = None,
    relevance_model: _RelevanceModel = None, index: Indexes = None, web: WebEngines = None, prompt: _Prompt = "plain",
    generations: _Generations = 1, method: _Method = "blinded", marker: _Marker = None, judge: _Judges = None,
    votes: _Votes = 1, responses: _Responses = None,
) -> None:  # fmt: skip
    """Score data sets and write rows, figures with intervals and a report into a folder.

    The kind of the sets decides what is done and which options apply. Claims: a verifier beside the overlap of words,
    the length of the claim, always the same label. Answers to be ranked. Questions that a language model answers, with
    an audit. Language models as judges, by the protocol of contextual_judge_bench or facts_grounding, if --judge names
    some. Responses of yours to ifeval, math_500, aime_2024, aime_2025 or taxcalcbench.
    """
    from vouching.bench.catalog import chosen, data_folder
    from vouching.bench.run import run_task
    from vouching.bench.task import RunOptions

    with usage_errors("--judge"):
        folder = data_folder()
        sets = chosen(names, folder, split, judged=bool(judge))
        kind = _one_kind(sets)
        _refuse(context, kind, sets)
        task = _OPEN[kind](context.params)
        measured = responses or " ".join(judge or ()) if kind in _NO_MODEL else score_model or model or "embedded"
        options = RunOptions(measured, split, limit, jobs or _cores(), resume)
        try:
            listener = RunProgress()
            with listener:
                outcome = run_task(task, sets, folder, out, options, listener)
        except OSError as error:
            write_error(f"cannot write to {out}: {error.strerror or error}; make room and resume with --resume")
            raise typer.Exit(Exit.INCOMPLETE) from None
    results = outcome.results
    if results is None:
        write_error(f"stopped: {outcome.stopped}; resume with --resume when that is repaired")
        raise typer.Exit(Exit.INCOMPLETE)

    def paint(console: Console) -> None:
        for shown in task.show(results, console.width):
            console.print(shown, highlight=False)
        console.print(f"All figures: {out / 'results.json'}; to look at: {out / 'report.html'}")

    draw(paint)
    if told := task.incomplete(results, outcome.unverified):
        write_error(f"{told}, {out / 'rows'} says why" if outcome.unverified else told)
        raise typer.Exit(Exit.INCOMPLETE)


class RunProgress(RowProgress):
    """Tells how far a run is: rows while they are scored, then what is computed."""

    def __init__(self) -> None:
        self._share_done = 0.0
        self._begin = time.monotonic()
        super().__init__(lambda: self._share_done)

    def row(self, share: float, problem: str | None) -> None:
        """A row is done."""
        self._share_done = share
        self.advance()
        if problem is not None:
            self.name(problem)

    def phase(self, words: str) -> None:
        """Tell what is done after the rows, in a run that takes its time."""
        if time.monotonic() - self._begin > LINE_SECONDS:
            write_error(words)


def _cores() -> int:
    from vouching.rows.pool import cores

    return cores()


def _one_kind(sets: Sequence[DataSet[Any]]) -> Kind:
    """The kind that all sets are of. Raises InputError if there are several."""
    from vouching.bench.task import ROWS

    first = sets[0]
    if other := next((one for one in sets if one.kind != first.kind), None):
        raise InputError(f"{first.name} has {ROWS[first.kind]}, {other.name} {ROWS[other.kind]}: run them apart")
    return first.kind


def _refuse(context: typer.Context, kind: Kind, sets: Sequence[DataSet[Any]]) -> None:
    """Refuse options that were given and do not apply to the sets."""
    from vouching.bench.task import ROWS

    for name, kinds in _KINDS.items():
        if kind not in kinds and given_here(context, name):
            have = f"{', '.join(one.name for one in sets)} ha{'s' if len(sets) == 1 else 've'} {ROWS[kind]}"
            raise InputError(f"got --{name.replace('_', '-')}, but {have}: leave it out")


def _claims(given: Mapping[str, Any]) -> Task[Any]:
    from vouching.bench.claims import ClaimsTask

    return ClaimsTask(given["model"] or "embedded", given["jobs"] or _cores())


def _rankings(given: Mapping[str, Any]) -> Task[Any]:
    """Raises ConfigError or InputError: options that do not fit each other, or a part that cannot be opened."""
    from vouching.bench.ranking_task import RankingsTask, RankOptions
    from vouching.cli.rank import NEEDS_NOTHING
    from vouching.methods.discriminative.open import open_ranker
    from vouching.methods.structured.verify import StructuredConfig, open_verifier

    search = SearchOptions.read(given["index"], given["web"])
    mode, judged = given["mode"], given["relevance_model"]
    scorer = given["score_model"] or given["model"] or "embedded"
    if mode in NEEDS_NOTHING and (search or judged):
        raise InputError(f"got --mode {mode}, which looks at no evidence, with engines or a relevance model")
    if mode not in NEEDS_NOTHING and not search:
        bare = " or ".join(f"--mode {name}" for name in NEEDS_NOTHING)
        raise InputError(f"nothing to rank by: give --index PATH, --web ENGINE, or {bare}, which look at no evidence")
    return RankingsTask(
        RankOptions(scorer, mode, given["search_model"], search.arguments, judged),
        lambda: open_ranker(
            scorer, mode, search_model=given["search_model"], engines=search.engines(), queries=search.queries
        ),
        partial(open_verifier, judged, StructuredConfig(style="label")) if judged else None,
    )


def _answers(given: Mapping[str, Any]) -> Task[Any]:
    """Raises InputError for more than one judge."""
    from vouching.bench.answer_task import AnswerOptions, AnswersTask

    judges = given["judge"] or [None]
    if len(judges) > 1:
        raise InputError(f"got {len(judges)} judges, but one audits the answers: name one")
    options = AnswerOptions(
        given["model"] or "", given["prompt"], given["generations"], judges[0], given["method"], given["marker"],
        given["seed"], given["max_tokens"],
    )  # fmt: skip
    marker = options.marker
    return AnswersTask(options, lambda: _answerer(options), partial(_mark, marker) if marker else None)


def _answerer(options: Any) -> Answerer:
    from vouching.answering.answer import AnswerConfig, Answerer
    from vouching.cli.answer import writing_model
    from vouching.shortcuts import open_audit

    config = AnswerConfig(options.prompt, options.generations, max_tokens=options.max_tokens, seed=options.seed)
    writer = writing_model(options.model)
    return Answerer(writer, open_audit(options.judge, options.method) if options.judge else _unaudited, config)


async def _unaudited(question: str, response: str, sources: Sequence[Source]) -> Report:
    from vouching.types import Report

    return Report(response, tuple(sources), (), question)


def _mark(name: str) -> Mark:
    """What holds an answer against the references: the judge that also marks answers for pairs."""
    from vouching.models.open import open_model
    from vouching.train.rank_judge import Judge
    from vouching.train.rank_rows import RankQuestion

    judge = Judge(open_model(name))

    async def mark(row: AnswerRow, answer: str) -> bool | None:
        label, _ = await judge.mark(RankQuestion(row.id, row.question, row.references), answer)
        return None if label is None else label == "correct"

    return mark


def _judges(given: Mapping[str, Any]) -> Task[Any]:
    from vouching.bench.judges import JudgeOptions, JudgesTask
    from vouching.models.open import open_model

    options = JudgeOptions(tuple(given["judge"]), given["votes"], seed=given["seed"], max_tokens=given["max_tokens"])
    return JudgesTask(options, lambda: [open_model(name) for name in options.judges])


def _ifeval(given: Mapping[str, Any]) -> Task[Any]:
    from vouching.bench.ifeval import IfevalTask

    return IfevalTask(given["responses"])


def _math(given: Mapping[str, Any]) -> Task[Any]:
    from vouching.bench.math import MathTask

    return MathTask(given["responses"])


def _taxes(given: Mapping[str, Any]) -> Task[Any]:
    from vouching.bench.taxcalcbench_run import TaxesTask

    return TaxesTask(given["responses"])


_OPEN: Mapping[Kind, Callable[[Mapping[str, Any]], Task[Any]]] = {
    "claims": _claims, "rankings": _rankings, "answers": _answers, "judges": _judges, "ifeval": _ifeval, "math": _math,
    "taxes": _taxes,
}  # fmt: skip
"""What opens the task of a kind of set from the options."""
_NO_MODEL = frozenset({"judges", "ifeval", "math", "taxes"})
"""Kinds on which no model that ``--model`` names is measured."""
