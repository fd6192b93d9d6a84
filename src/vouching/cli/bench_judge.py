"""``vouch bench judge``: language models as judges, by the protocols of ContextualJudgeBench and FACTS Grounding.

Left out: two such runs compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.bench import RunProgress
from vouching.cli.streams import Exit, draw, usage_errors, write_error

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer()

_Names = Annotated[list[str], typer.Argument(help="contextual_judge_bench or facts_grounding.")]
_Judges = Annotated[
    list[str], typer.Option("--judge", metavar="NAME", help="A language model that judges. Repeatable.")
]
_Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for rows, figures and report.")]
_Votes = Annotated[int, typer.Option(metavar="N", min=1, help="Answers of each judge, of which the majority counts.")]
_Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Rows per set, drawn by split, for a quick look.")]
_Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of the sampling; without it, none.")]
_MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Length of a reply.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Go on with the run that is in DIR.")]

_EPILOG = """
**Example**

vouch bench judge contextual_judge_bench --judge http://localhost:8000/v1#qwen --votes 8 --out runs/judge

**Exit status**: 0 done; 2 the command line, a data set or the folder cannot be used; 3 rows that no judge could be
asked about, or the run was stopped and can be resumed.
"""


@app.command("judge", epilog=_EPILOG)
def judge_command(
    names: _Names,
    judge: _Judges,
    out: _Out,
    votes: _Votes = 1,
    limit: _Limit = None,
    seed: _Seed = None,
    max_tokens: _MaxTokens = 1024,
    resume: _Resume = False,
) -> None:
    """Measure language models as judges, or judge responses with several of them, by a benchmark's own protocol.

    contextual_judge_bench: which of two responses is better, in both orders. facts_grounding: your responses, each
    judged twice, for what was asked and for what the document bears out.
    """
    from vouching.bench.catalog import data_folder
    from vouching.bench.judge_task import JudgeOptions, chosen_judged, judge_task
    from vouching.bench.run import run_task
    from vouching.bench.task import RunOptions
    from vouching.models.open import open_model

    with usage_errors():
        options = JudgeOptions(tuple(judge), votes, seed=seed, max_tokens=max_tokens)
        task = judge_task(options, lambda: [open_model(name) for name in judge])
        run_options = RunOptions(" ".join(judge), "test", limit, 1, resume)
        try:
            listener = RunProgress()
            with listener:
                outcome = run_task(task, chosen_judged(names), data_folder(), out, run_options, listener)
        except OSError as error:
            write_error(f"cannot write to {out}: {error.strerror or error}; make room and go on with --resume")
            raise typer.Exit(Exit.INCOMPLETE) from None
    if outcome.results is None:
        write_error(f"stopped: {outcome.stopped}; go on with --resume when that is mended")
        raise typer.Exit(Exit.INCOMPLETE)
    _draw(outcome.results, out)
    if outcome.unverified:
        write_error(f"not judged: {outcome.unverified:,}; {out / 'rows'} says why")
        raise typer.Exit(Exit.INCOMPLETE)


def _draw(results: dict[str, Any], out: Path) -> None:
    from vouching.bench.judge_task import HEADINGS, judge_rows
    from vouching.bench.report import plain_table

    def paint(console: Console) -> None:
        for name, found in results["sets"].items():
            console.print(f"{name}: {found['what']}\n")
            table = plain_table(*HEADINGS)
            for row in judge_rows(found):
                table.add_row(*row)
            console.print(table, "")
        console.print(f"All figures: {out / 'results.json'}; to look at: {out / 'report.html'}")

    draw(paint)
