"""``vouch bench run``: score data sets."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vouching.cli.options import Indexes, WebEngines, given_here, panel
from vouching.cli.streams import Exit, RowProgress, draw, line_seconds, usage_errors, write_error
from vouching.errors import InputError
from vouching.methods.structured.prompt import Wording
from vouching.shortcuts import AuditMethod
from vouching.types import RankMode

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.bench.rows import Split
    from vouching.bench.task import DataSet, Kind, RunOptions, Task

app = typer.Typer()

_CLAIMS, _RANKINGS, _RESPONSES = "For sets of claims", "For sets of rankings", "For your own responses"
_Names = Annotated[
    list[str] | None,
    typer.Argument(help="Data sets of one kind (see vouch bench list), or all for every available set of claims."),
]
_Own = Annotated[
    str | None,
    typer.Option(
        "--input",
        metavar="ROWS",
        help="Your own rows, instead of data sets: a file, or hf:OWNER/NAME:SPLIT; rows of other tools too "
        "(docs/batch.md).",
    ),
]
_Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for rows, figures and report.")]
_Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="The model to measure on claims or rankings: embedded, embedded:small, "
        "embedded:rules, embedded:FOLDER (a round of vouch evolve), a language model such as http://host:8000/v1#name, "
        "or on claims and rankings a scorer such as minicheck:PATH (see vouch models).",
    ),
]
_Split = Annotated[Literal["train", "dev", "test"], typer.Option(help="Split of each set.")]
_Limit = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Draw a stratified sample of at most N rows per set.")
]
_ResumeRun = Annotated[bool, typer.Option("--resume", metavar="", help="Resume the run in DIR.")]
_MaxTokens = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Maximum number of tokens in a reply of a language model.")
]
_Jobs = Annotated[int, panel(_CLAIMS, metavar="N", min=0, help="Number of processes; 0 means one per core.")]
_Wording = Annotated[
    Wording | None,
    panel(
        _CLAIMS,
        help="Prompt of a language model: ours, short (for claims, a third of the tokens), or paper (as SEVA prints "
        "it; for rankings, DiVA).",
    ),
]
_Raw = Annotated[
    bool,
    panel(
        _CLAIMS,
        "--raw",
        metavar="",
        help="Ask a language model once, without schema, repairs or a second question, as papers do; requires --method "
        "structured or label.",
    ),
]
_Seeds = Annotated[
    str,
    panel(_CLAIMS, metavar="N,N", help="With --limit: draw a sample with each seed and report the spread; default: 0."),
]
_Tune = Annotated[
    float | None,
    panel(_CLAIMS, metavar="SHARE", help="Tune a threshold on this share of the rows, and report the others only."),
]
_ScoreModel = Annotated[
    str | None, panel(_RANKINGS, metavar="NAME", help="Scorer or ranker (see vouch rank); default: --model.")
]
_Mode = Annotated[RankMode | None, panel(_RANKINGS, metavar="MODE", help="How to rank (see vouch rank).")]
_SearchModel = Annotated[
    str | None, panel(_RANKINGS, metavar="NAME", help="Language model that searches and compresses the evidence.")
]
_RelevanceModel = Annotated[
    str | None, panel(_RANKINGS, metavar="NAME", help="Language model that judges which answers the evidence supports.")
]
_Method = Annotated[
    AuditMethod | None,
    panel(
        _CLAIMS,
        help="How to judge, as in vouch check.",
    ),
]
_Responses = Annotated[
    str | None, panel(_RESPONSES, metavar="PATH", help="File with your responses, used instead of a model.")
]
_KINDS: Mapping[str, tuple[Kind, ...]] = {
    "model": ("claims", "rankings"),
    "jobs": ("claims",),
    **dict.fromkeys(("score_model", "mode", "search_model", "relevance_model", "index", "web"), ("rankings",)),
    **dict.fromkeys(("method", "raw", "seeds", "tune_threshold"), ("claims",)),
    **dict.fromkeys(("wording", "max_tokens"), ("claims", "rankings")),
    "responses": ("ifeval",),
}
"""The kinds of sets that an option applies to; other options apply to all."""
_RUN_EPILOG = """
**Examples**

vouch bench run wice ragtruth --model embedded:rules --out runs/first

vouch bench run all --limit 200 --out runs/quick --jobs 0

vouch bench run --input mine.jsonl --model openai/gpt-4o-mini --out runs/mine --tune-threshold 0.3

vouch bench run wice --model http://localhost:8000/v1#qwen --method structured --raw --wording paper --limit 200 --seeds
0,1,2 --out runs/raw

vouch bench run fgveribench --score-model discriminative:runs/rank/model --index wiki --out runs/ranked

vouch bench run ifeval --responses responses.jsonl --out runs/ifeval

**Exit status**: 0 done; 2 invalid command line, data set or folder; 3 some rows have no verdict or ranking, or the run
stopped and can be resumed.
"""


@app.command("run", epilog=_RUN_EPILOG)
def run_command(
    context: typer.Context,
    out: _Out,
    names: _Names = None,
    input: _Own = None,
    model: _Model = None,
    split: _Split = "test",
    limit: _Limit = None,
    resume: _ResumeRun = False,
    max_tokens: _MaxTokens = None,
    jobs: _Jobs = 1,
    score_model: _ScoreModel = None,
    mode: _Mode = None,
    search_model: _SearchModel = None,
    relevance_model: _RelevanceModel = None,
    index: Indexes = None,
    web: WebEngines = None,
    method: _Method = None,
    responses: _Responses = None,
    wording: _Wording = None,
    raw: _Raw = False,
    seeds: _Seeds = "0",
    tune_threshold: _Tune = None,
) -> None:
    """Score data sets; write rows, figures with intervals and a report to a folder.

    The kind of the sets determines what is measured and which options apply. On claims, it is a verifier, next to
    simple baselines; on rankings, a scorer or ranker. With --responses, your own responses to ifeval are scored.
    recipes/bench measures language models that answer questions, solve problems or judge.
    """
    from vouching.bench.open import kind_of, measured, open_task
    from vouching.bench.task import RunOptions
    from vouching.rows.pool import cores

    with usage_errors():
        sets, folder = _sets(names or [], input, split)
        kind = kind_of(sets)
        _refuse_unused(context, kind, sets)
        task = open_task(kind, context.params)
        drawn = _seeds(seeds)
        options = RunOptions(measured(kind, context.params), split, limit, drawn, jobs or cores(), resume)
    finish_run(task, sets, folder, out, options)


def finish_run(task: Task[Any], sets: Sequence[DataSet[Any]], folder: Path, out: Path, options: RunOptions) -> None:
    """Run a task with progress, and show its figures. Raises typer.Exit unless every row has a result.

    Args:
        task: the task of the sets.
        sets: the sets to run.
        folder: the folder with the data sets.
        out: the folder for rows, figures and report.
        options: split, limit, jobs and others.
    """
    from vouching.bench.run import run_task

    with usage_errors():
        try:
            with RunProgress() as listener:
                outcome = run_task(task, sets, folder, out, options, listener)
        except OSError as error:
            write_error(f"cannot write to {out}: {error.strerror or error}; free some space and resume with --resume")
            raise typer.Exit(Exit.INCOMPLETE) from None
    results = outcome.results
    if results is None:
        write_error(f"stopped: {outcome.stopped}; fix this and resume with --resume")
        raise typer.Exit(Exit.INCOMPLETE)

    def paint(console: Console) -> None:
        for shown in task.show(results, console.width):
            console.print(shown, highlight=False)
        console.print(f"All figures: {out / 'results.json'}; report: {out / 'report.html'}")

    draw(paint)
    if missing := task.incomplete(results, outcome.unverified):
        write_error(f"{missing}; see {out / 'rows'} for the reasons" if outcome.unverified else missing)
        raise typer.Exit(Exit.INCOMPLETE)


def _sets(names: list[str], input: str | None, split: Split) -> tuple[list[DataSet[Any]], Path]:
    """The sets to run, and the folder of their files. Raises InputError for neither names nor a file, or for both."""
    from vouching.bench.catalog import chosen, data_folder
    from vouching.bench.own import own_set

    if bool(names) == (input is not None):
        raise InputError("pass names of data sets (see vouch bench list), or your own rows with --input")
    if input is not None:
        own, folder = own_set(input, split)
        return [own], folder
    folder = data_folder()
    return chosen(names, folder, split), folder


def _seeds(words: str) -> tuple[int, ...]:
    """The seeds in a list such as "0,1,2". Raises InputError for anything else, and for a seed twice."""
    parts = words.split(",")
    if not all(part.strip().isdecimal() for part in parts) or len({*map(int, parts)}) < len(parts):
        raise InputError(f"--seeds must be different whole numbers with commas between, got {words!r}")
    return tuple(map(int, parts))


class RunProgress(RowProgress):
    """The progress of a run: its rows, then the computation of its figures."""

    def __init__(self) -> None:
        self._share_done = 0.0
        self._begin = time.monotonic()
        super().__init__(lambda: self._share_done)

    def row(self, share: float, problem: str | None) -> None:
        """Count a row."""
        self._share_done = share
        self.advance()
        if problem is not None:
            self.name(problem)

    def phase(self, words: str) -> None:
        """Show what is computed after the rows, if the run takes long."""
        if time.monotonic() - self._begin > line_seconds():
            write_error(words)


def _refuse_unused(context: typer.Context, kind: Kind, sets: Sequence[DataSet[Any]]) -> None:
    """Raise InputError for given options that do not apply to the sets."""
    from vouching.bench.task import ROWS

    for name, kinds in _KINDS.items():
        if kind not in kinds and given_here(context, name):
            have = f"{', '.join(one.name for one in sets)} contain{'s' * (len(sets) == 1)} {ROWS[kind]}"
            raise InputError(f"--{name.replace('_', '-')} cannot be used here: {have}")
