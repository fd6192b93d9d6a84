"""``vouch runs``: training runs, as they lie in their folders; and ``vouch diagnose run``, what is wrong with one.

Left out: starting runs; that is ``vouch train``.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from vouching.cli.diagnose import draw_tables
from vouching.cli.streams import usage_errors, write_error, write_result
from vouching.types.serial import defined

app = typer.Typer()
diagnosis = typer.Typer()

_Run = Annotated[Path, typer.Argument(help="Folder of a run, as vouch train --out wrote it.")]
_Runs = Annotated[list[Path], typer.Argument(help="Folders of runs, as vouch train --out wrote them.")]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON in place of tables.")]
_Root = Annotated[Path, typer.Argument(help="Folder in which runs are looked for, also deeper down.")]
_Report = Annotated[Path, typer.Option("--report", metavar="PATH", help="The page to write, .html.")]
_Export = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the model goes: a new folder.")]


def _epilog(*examples: str, wrong: str = "a folder holds no run, or cannot be used") -> str:
    lines = "\n\n".join(examples)
    headline = "Examples" if len(examples) > 1 else "Example"
    return f"\n**{headline}**\n\n{lines}\n\n**Exit status**: 0 done; 2 {wrong}.\n"


@app.callback(invoke_without_command=True)
def runs(context: typer.Context) -> None:
    """Look at training runs: which there are, how they went, what they left."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list", epilog=_epilog("vouch runs list runs", wrong="there is no such folder"))
def list_command(root: _Root = Path("runs"), as_json: _Json = False) -> None:
    """List the runs in a folder, of which there may be none: steps, reward, loss, carbon, alarms."""
    from vouching.train.run_page import runs_table
    from vouching.train.runs import find_runs

    with usage_errors():
        found = find_runs(root)
    if as_json:
        _print([run.summary() for run in found])
    else:
        draw_tables([runs_table(found)] if found else [])
    if not found:
        write_error(f"there is no run in {root}: vouch train --out makes one")


@app.command("show", epilog=_epilog("vouch runs show runs/grpo"))
def show_command(run: _Run, as_json: _Json = False) -> None:
    """Show one run: alarms, numbers at first and at last, which part of the reward rose when, settings."""
    from vouching.train.run_page import run_tables
    from vouching.train.runs import improvements, read_run

    with usage_errors():
        found = read_run(run)
        tables = [*run_tables(found)]
    if as_json:
        _print(
            {
                **found.summary(),
                "settings": found.settings,
                "improvements": [improvement.summary() for improvement in improvements(found)],
            }
        )
    else:
        draw_tables(tables)


@app.command("compare", epilog=_epilog("vouch runs compare runs/process runs/binary"))
def compare_command(runs: _Runs, as_json: _Json = False) -> None:
    """Compare runs: the settings in which they differ, and their numbers at last."""
    from vouching.train.run_page import comparison
    from vouching.train.runs import differing, read_run

    with usage_errors():
        found = [read_run(run) for run in runs]
    if as_json:
        _print({"settings": differing(found), "runs": [run.summary() for run in found]})
    else:
        draw_tables(comparison(found))


@app.command("plot", epilog=_epilog("vouch runs plot runs/grpo --report grpo.html"))
def plot_command(runs: _Runs, report: _Report) -> None:
    """Write a page with the curves of a run, or of several over each other, and which part rises when."""
    from vouching.train.run_page import write_runs
    from vouching.train.runs import read_run

    with usage_errors():
        write_runs(report, [read_run(run) for run in runs])
    write_error(f"written to {report}")


@app.command("export", epilog=_epilog("vouch runs export runs/7b-lora-128 --out models/verifier-7b"))
def export_command(run: _Run, out: _Export) -> None:
    """Write the model of a run for others: adapters merged, with a card that names data, settings and figures."""
    from vouching.train.export import export_run

    with usage_errors():
        write_error(f"written to {export_run(run, out)}")


@diagnosis.command("run", epilog=_epilog("vouch diagnose run runs/grpo"))
def diagnose_command(run: _Run, as_json: _Json = False) -> None:
    """Tell what went wrong in a training run, and since when: collapse, lost form, length, drift, bias, hacking."""
    from vouching.train.run_page import alarm_table
    from vouching.train.runs import read_run

    with usage_errors():
        found = read_run(run)
    if as_json:
        _print({"steps": found.steps, "alarms": [asdict(alarm) for alarm in found.alarms()]})
    else:
        draw_tables([alarm_table(found)])


def _print(value: Any) -> None:
    write_result(json.dumps(defined(value), indent=2 if sys.stdout.isatty() else None, ensure_ascii=False) + "\n")
