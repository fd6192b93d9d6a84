"""``vouch bench``: the public data sets there are, whether they are sound, a run over them, and two runs compared.

Left out: downloading data sets.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vouching.cli.bench_rankings import (
    Mode,
    RelevanceModel,
    ScoreModel,
    SearchModel,
    draw_rankings,
    opened_task,
    refuse_rankings,
)
from vouching.cli.row_progress import LINE_SECONDS, RowProgress
from vouching.cli.search_options import Indexes, Pages, Queries, RecordFile, ReplayFile, SearchOptions, WebEngines
from vouching.cli.streams import Exit, draw, progress, usage_errors, write_error, write_result
from vouching.errors import ConfigError, InputError
from vouching.types.visible import visible_line

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.bench.catalog import DataSet
    from vouching.bench.rankings import RankingRow
    from vouching.bench.rows import BenchRow, Fault, Split

app = typer.Typer()

_LEGEND = """
1st only, 2nd only: rows that one run gets right and the other does not; p: exact McNemar test of these.
Differences: the second run less the first, 95 % by paired bootstrap over groups of rows."""
_MOST_FAULTS = 20
"""Faults of a set that are told one by one."""
_Split = Literal["train", "dev", "test"]
_Names = Annotated[list[str], typer.Argument(help="Sets, or all for every set that is here.")]
_SomeNames = Annotated[list[str] | None, typer.Argument(help="Sets; without any, all that are here.")]
_OneSplit = Annotated[_Split, typer.Option(help="Which part of each set.")]
_AnySplit = Annotated[_Split | None, typer.Option(help="Which part of each set; without it, all parts.")]
_Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="What judges: embedded, embedded:rules, embedded:FOLDER (a round of vouch evolve), or a language model "
        "such as http://host:8000/v1#name.",
    ),
]
_Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for rows, figures and report.")]
_Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Rows per set, drawn by label, for a quick look.")]
_Jobs = Annotated[int, typer.Option(metavar="N", min=0, help="Processes that score rows; 0 for one per core.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Go on with the run that is in DIR.")]
_Run = Annotated[Path, typer.Argument(help="Folder of a run.")]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON in place of a table.")]

_Responses = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="For ifeval and taxcalcbench: rows of responses, which take the place of a model.",
    ),
]

_LIST_EPILOG = """
**Example**

vouch bench list --split test

**Exit status**: 0 done; 2 the command line or a data set cannot be used.
"""
_VALIDATE_EPILOG = """
**Example**

vouch bench validate wice ragtruth --split test

**Exit status**: 0 all is sound; 2 the command line or a file cannot be used; 3 something is wrong.
"""
_COMPARE_EPILOG = """
**Example**

vouch bench compare runs/first runs/second

**Exit status**: 0 done, whatever came out; 2 the runs cannot be read or are not on the same rows.
"""
_EPILOG = """
**Examples**

vouch bench run wice ragtruth --model embedded:rules --out runs/first

vouch bench run all --limit 200 --out runs/quick --jobs 0

vouch bench run ifeval --responses responses.jsonl --out runs/ifeval

vouch bench run taxcalcbench --responses answers.jsonl --out runs/taxes

vouch bench run fgveribench --score-model discriminative:runs/rank/model --index wiki --out runs/ranked

**Exit status**: 0 done; 2 the command line, a data set or the folder cannot be used; 3 rows without a verdict or a
ranking, or the run was stopped and can be resumed.
"""


@app.callback(invoke_without_command=True)
def bench(context: typer.Context) -> None:
    """Run a verifier over public data sets, with intervals and baselines, and compare runs.

    Data sets are read from the folder that the variable VOUCH_DATA names.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list", epilog=_LIST_EPILOG)
def list_command(split: _AnySplit = None) -> None:
    """List the data sets: rows, groups of rows, labels, licence, and how to get those that are not here."""
    from vouching.bench.catalog import DATA_SETS, RANKING_SETS, data_folder
    from vouching.bench.ifeval import about as about_ifeval
    from vouching.bench.report import here_words, missing_words
    from vouching.bench.rows import Fault
    from vouching.bench.taxcalcbench_run import about as about_taxes

    try:
        folder = data_folder()
    except ConfigError as error:
        write_error(str(error))
        folder = None
        here: dict[str, dict[Split, list[BenchRow | RankingRow]]] = {}
    else:
        with usage_errors(), progress("Counting rows"):
            here = {}
            for one, part in _here(folder, split):
                try:
                    rows = [row for row in one.rows(folder, part) if not isinstance(row, Fault)]
                except InputError as error:
                    write_error(f"{one.name}, {part}: {error}")
                    rows = []
                here.setdefault(one.name, {})[part] = rows
    known = {**DATA_SETS, **RANKING_SETS}
    missing = [one for one in known.values() if one.name not in here and (split is None or split in one.files)]

    def paint(console: Console) -> None:
        for name, parts in here.items():
            console.print(here_words(known[name], parts))
        if missing:
            console.print("\nNot here:\n", *map(missing_words, missing), sep="\n", soft_wrap=True)
        console.print("", about_ifeval(folder), about_taxes(folder), sep="\n", soft_wrap=True)

    draw(paint)


@app.command("validate", epilog=_VALIDATE_EPILOG)
def validate_command(names: _SomeNames = None, split: _AnySplit = None) -> None:
    """Check data sets without a model: fields, labels, spans, ids, and that perfect answers score 1."""
    from vouching.bench.catalog import data_folder
    from vouching.bench.validate import validate

    faulty = False
    with usage_errors():
        folder = data_folder()
        if names in (["ifeval"], ["taxcalcbench"]):
            raise typer.Exit(_validate_answered(names[0], folder))
        for data_set, part in _wanted(names, folder, split):
            with progress(f"Reading {data_set.name}"):
                faults = [*validate(data_set, folder, part)]
            faulty = faulty or bool(faults)
            _write_faults(f"{data_set.name}, {part}", faults)
    raise typer.Exit(Exit.INCOMPLETE if faulty else Exit.OK)


def _validate_answered(name: str, folder: Path) -> Exit:
    """Check one of the sets whose answers come from a file."""
    from vouching.bench import ifeval, taxcalcbench_run

    faults = [*(ifeval if name == ifeval.NAME else taxcalcbench_run).validate(folder)]
    _write_faults(name, faults)
    return Exit.INCOMPLETE if faults else Exit.OK


def _write_faults(name: str, faults: list[Fault]) -> None:
    lines = [f"{name}: {f'faults: {len(faults):,}' if faults else 'sound'}"]
    lines += [f"  {visible_line(str(fault))}" for fault in faults[:_MOST_FAULTS]]
    lines += [f"  and {len(faults) - _MOST_FAULTS:,} more"] if len(faults) > _MOST_FAULTS else []
    write_result("".join(f"{line}\n" for line in lines))


@app.command("run", epilog=_EPILOG)
def run_command(
    names: _Names,
    out: _Out,
    model: _Model = "embedded",
    split: _OneSplit = "test",
    limit: _Limit = None,
    jobs: _Jobs = 1,
    resume: _Resume = False,
    score_model: ScoreModel = None,
    mode: Mode = None,
    search_model: SearchModel = None,
    relevance_model: RelevanceModel = None,
    index: Indexes = None,
    web: WebEngines = None,
    pages: Pages = False,
    record: RecordFile = None,
    replay: ReplayFile = None,
    queries: Queries = None,
    responses: _Responses = None,
) -> None:
    """Score data sets and write rows, figures with intervals and a report into a folder.

    Beside the verifier: the overlap of words, the length of the claim, always the same label. Sets of answers to be
    ranked (fgveribench, fgveribench_long, best_of_n) are run apart from those of claims.
    """
    if responses is not None or not {"ifeval", "taxcalcbench"}.isdisjoint(names):
        raise typer.Exit(_run_answered(names, responses, out))
    from vouching.bench.catalog import chosen, chosen_rankings, data_folder
    from vouching.bench.ranking_task import RankOptions
    from vouching.bench.run import run_benchmark, run_task
    from vouching.bench.task import RunOptions
    from vouching.rows.pool import cores

    with usage_errors():
        search = SearchOptions(tuple(index or ()), tuple(web or ()), pages, record, replay, queries)
        ranking = RankOptions(score_model or model, mode, search_model, search.arguments, relevance_model)
        folder = data_folder()
        ranked = chosen_rankings(names)
        options = RunOptions(ranking.score_model if ranked else model, split, limit, jobs or cores(), resume)
        try:
            listener = RunProgress()
            with listener:
                if ranked:
                    outcome = run_task(opened_task(ranking, search, jobs), ranked, folder, out, options, listener)
                else:
                    refuse_rankings(ranking, search, score_model)
                    outcome = run_benchmark(chosen(names, folder, split), folder, out, options, listener)
        except OSError as error:
            write_error(f"cannot write to {out}: {error.strerror or error}; make room and go on with --resume")
            raise typer.Exit(Exit.INCOMPLETE) from None
    if outcome.results is None:
        write_error(f"stopped: {outcome.stopped}; go on with --resume when that is mended")
        raise typer.Exit(Exit.INCOMPLETE)
    (draw_rankings if ranked else _draw_claims)(outcome.results, out)
    if outcome.unverified:
        told = "a ranking: {}; they count as wrong" if ranked else "a verdict: {}; the figures leave them out"
        write_error(f"rows without {told.format(f'{outcome.unverified:,}')}, {out / 'rows'} says why")
        raise typer.Exit(Exit.INCOMPLETE)


def _run_answered(names: list[str], responses: str | None, out: Path) -> Exit:
    """Run one of the sets whose answers come from a file."""
    if "taxcalcbench" in names:
        from vouching.cli.bench_taxes import run_taxes_command

        return run_taxes_command(names, responses, out)
    from vouching.cli.bench_ifeval import run_ifeval_command

    return run_ifeval_command(names, responses, out)


def _draw_claims(results: dict[str, Any], out: Path) -> None:
    from vouching.bench.report import run_notes, run_table

    def paint(console: Console) -> None:
        console.print(run_table(results, console.width))
        for note in run_notes(results):
            console.print(note, markup=False, highlight=False)
        console.print("Difference: AUROC less that of word overlap, 95 % by paired bootstrap over groups of rows.")
        console.print(f"\nAll figures: {out / 'results.json'}; to look at: {out / 'report.html'}")

    draw(paint)


@app.command("compare", epilog=_COMPARE_EPILOG)
def compare_command(first: _Run, second: _Run, as_json: _Json = False) -> None:
    """Compare two runs on the same rows: what the second gains over the first, and whether that could be luck."""
    from vouching.bench.compare import are_rankings, compare_rankings, compare_runs
    from vouching.bench.ranking_task import ranking_comparison_table
    from vouching.bench.report import comparison_table

    with usage_errors(), progress("Comparing"):
        kinds = {are_rankings(folder) for folder in (first, second)}
        if len(kinds) > 1:
            raise InputError(f"{first} and {second} are runs on sets of different kinds: compare runs of the same sets")
        ranked = kinds == {True}
        comparison = (compare_rankings if ranked else compare_runs)(first, second)
    if as_json:
        write_result(json.dumps(comparison, indent=2 if sys.stdout.isatty() else None) + "\n")
    elif ranked:
        draw(lambda console: console.print(ranking_comparison_table(comparison)))
    else:

        def paint(console: Console) -> None:
            console.print(comparison_table(comparison, console.width))
            console.print(_LEGEND)

        draw(paint)


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


def _here(folder: Path, split: Split | None) -> Iterator[tuple[DataSet[Any], Split]]:
    """Every set and part whose files are there."""
    from vouching.bench.catalog import DATA_SETS, RANKING_SETS

    for data_set in (*DATA_SETS.values(), *RANKING_SETS.values()):
        for part in data_set.files:
            if split in (None, part) and data_set.paths(folder, part):
                yield data_set, part


def _wanted(names: list[str] | None, folder: Path, split: Split | None) -> list[tuple[DataSet[Any], Split]]:
    """The sets to validate with their parts: those that are here, of the named ones all that are wanted."""
    from vouching.bench.catalog import ALL, RANKING_SETS, chosen

    here = [*_here(folder, split)]
    if not here:
        raise InputError(f"there is no data set in {folder}: see vouch bench list")
    if not names or ALL in names:
        return here
    wanted: list[tuple[DataSet[Any], Split]] = []
    ranked = [RANKING_SETS[name] for name in dict.fromkeys(names) if name in RANKING_SETS]
    for one in (*chosen([name for name in names if name not in RANKING_SETS], folder, split or "test"), *ranked):
        parts: list[Split] = [split] if split else [part for known, part in here if known == one]
        # A set that is not here is asked for its rows all the same: the refusal says how to get it.
        wanted.extend((one, part) for part in parts or one.files)
    return wanted
