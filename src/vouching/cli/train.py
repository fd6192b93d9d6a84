"""``vouch train``, ``vouch runs`` and ``vouch diagnose run``: start, show and diagnose training runs.

Not supported: custom games; use ``vouching.train.fit``.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from vouching.cli.streams import Exit, draw_tables, usage_errors, write_error, write_json
from vouching.errors import InputError

app = typer.Typer()
Method: TypeAlias = Literal["structured", "checklist", "blinded", "assurance", "sft"]
"""The names of ``vouching.train.trainers.TRAINERS``."""

_EPILOG = """
**Methods**

structured: trains a verifier by GRPO on several records per claim, each rewarded part by part. Prompts come from vouch
data annotate --prompts, and the initial model comes from vouch train sft.

checklist: trains a generator by GRPO on the share of checklist items that its responses pass. A judge scores each item,
or the policy judges itself and also learns to judge. Rows come from vouch data checklist, and labelled items come from
vouch data gold.

blinded: trains a model that answers from documents by PPO; the same model, as a blind checker, audits every answer.
Rows are questions with their documents.

assurance: trains a generator and a verifier of structured work against each other, as adapters on one model, in
DIR/model and DIR/model/verifier. Rows are tasks with their right values, or folders of tasks.

sft: trains a language model to write records, by supervised fine-tuning. Rows come from vouch data annotate. vouch
train structured starts from DIR/model.

**Examples**

vouch train sft recipes/structured/3b-sft.toml 'rows=["sft.jsonl"]' --out runs/3b-sft

vouch train structured recipes/structured/3b-grpo.toml model=runs/3b-sft/model 'rows=["prompts.jsonl"]' --out runs/grpo

vouch train checklist recipes/checklist/soft-rlvr.toml checklist.judge=http://localhost:8000/v1#judge --out runs/soft

python recipes/taxes/make.py --out returns --count 400

vouch train assurance recipes/assurance/dpa-4b.toml 'rows=["returns"]' 'dev=[]' --out runs/dpa-4b

**Exit status**: 0 done; 2 invalid setting, row or folder; 3 the judge could not be reached; 130 interrupted (resume
with --resume).
"""


@app.command("train", epilog=_EPILOG)
def train_command(
    method: Annotated[Method, typer.Argument(help="Training method, described below.")],
    config: Annotated[Path, typer.Argument(help="TOML file with the settings of the run.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the run: checkpoint, log and results.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Argument(help="Settings that override those of the file, such as epochs=2.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", metavar="", help="Resume the run in DIR.")] = False,
    plan: Annotated[
        str | None, typer.Option(metavar="GPUS:GB", help="Only compute the memory on GPUs or a CPU: 2:48, cpu:16.")
    ] = None,
) -> None:
    """Train a verifier, or a model whose answers are verified. Requires the extra "train".

    Every step is logged (see vouch runs), and monitors raise alarms early. An interrupted and resumed run gives the
    same result as an uninterrupted one.
    """
    with usage_errors():
        from vouching.train.trainers import plan as plan_memory
        from vouching.train.trainers import train

        if plan is not None:
            lines, fits = plan_memory(method, config, settings or (), plan)
            print("\n".join(lines))
            raise typer.Exit(Exit.OK if fits else Exit.USAGE)
        if out is None:
            raise InputError("--out is missing: name a folder for the run, or compute its memory with --plan")
        try:
            train(method, config, settings or (), out, resume)
        except KeyboardInterrupt:
            write_error(f"stopped; resume with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None


runs_app = typer.Typer()
diagnose_app = typer.Typer()

_Run = Annotated[Path, typer.Argument(help="Folder of a run, from vouch train --out.")]
_Runs = Annotated[list[Path], typer.Argument(help="Folders of runs, from vouch train --out.")]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of tables.")]
_Root = Annotated[Path, typer.Argument(help="Folder to search for runs, with its subfolders.")]
_Report = Annotated[Path, typer.Option("--report", metavar="PATH", help="The page: .html.")]
_Export = Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder for the model.")]


def _epilog(*examples: str, wrong: str = "a folder contains no run, or is invalid") -> str:
    lines = "\n\n".join(examples)
    headline = "Examples" if len(examples) > 1 else "Example"
    return f"\n**{headline}**\n\n{lines}\n\n**Exit status**: 0 done; 2 {wrong}.\n"


@runs_app.callback(invoke_without_command=True)
def runs(context: typer.Context) -> None:
    """List, show, compare, plot and export training runs."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@runs_app.command("list", epilog=_epilog("vouch runs list runs", wrong="the folder does not exist"))
def list_command(root: _Root = Path("runs"), as_json: _Json = False) -> None:
    """List the runs in a folder: steps, reward, loss, carbon, alarms."""
    from vouching.train.run_page import runs_table
    from vouching.train.runs import find_runs

    with usage_errors():
        found = find_runs(root)
    if as_json:
        write_json([run.summary() for run in found])
    else:
        draw_tables([runs_table(found)] if found else [])
    if not found:
        write_error(f"no run was found in {root}: create one with vouch train --out")


@runs_app.command("show", epilog=_epilog("vouch runs show runs/grpo"))
def show_command(run: _Run, as_json: _Json = False) -> None:
    """Show one run: alarms, first and last metrics, when each part of the reward improved, settings."""
    from vouching.train.run_page import run_tables
    from vouching.train.runs import improvements, read_run

    with usage_errors():
        found = read_run(run)
        tables = [*run_tables(found)]
    if as_json:
        record = {"settings": found.settings, "improvements": [asdict(one) for one in improvements(found)]}
        write_json({**found.summary(), **record})
    else:
        draw_tables(tables)


@runs_app.command("compare", epilog=_epilog("vouch runs compare runs/process runs/binary"))
def compare_command(runs: _Runs, as_json: _Json = False) -> None:
    """Compare runs: the settings in which they differ, and their final metrics."""
    from vouching.train.run_page import comparison
    from vouching.train.runs import differing, read_run

    with usage_errors():
        found = [read_run(run) for run in runs]
    if as_json:
        write_json({"settings": differing(found), "runs": [run.summary() for run in found]})
    else:
        draw_tables(comparison(found))


@runs_app.command("plot", epilog=_epilog("vouch runs plot runs/grpo --report grpo.html"))
def plot_command(runs: _Runs, report: _Report) -> None:
    """Write a page with the curves of one or more runs, and when each part of the reward improved."""
    from vouching.train.run_page import write_runs
    from vouching.train.runs import read_run

    with usage_errors():
        write_runs(report, [read_run(run) for run in runs])
    write_error(f"written to {report}")


_Step = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Step of a kept checkpoint; default: the best one.")
]


@runs_app.command("export", epilog=_epilog("vouch runs export runs/7b-lora-128 --out models/verifier-7b"))
def export_command(run: _Run, out: _Export, step: _Step = None) -> None:
    """Export the model of a run: merge its adapters, and write a model card with data, settings and figures."""
    from vouching.train.export import export_run

    with usage_errors():
        write_error(f"written to {export_run(run, out, step)}")


@diagnose_app.command("run", epilog=_epilog("vouch diagnose run runs/grpo"))
def diagnose_command(run: _Run, as_json: _Json = False) -> None:
    """Report problems of a training run and when they began: collapse, format, length, drift, bias, reward hacking."""
    from vouching.train.run_page import alarm_table
    from vouching.train.runs import read_run

    with usage_errors():
        found = read_run(run)
    if as_json:
        write_json({"steps": found.steps, "alarms": [asdict(alarm) for alarm in found.alarms()]})
    else:
        draw_tables([alarm_table(found)])


@diagnose_app.callback(invoke_without_command=True)
def diagnose(context: typer.Context) -> None:
    """Find problems in training runs."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
