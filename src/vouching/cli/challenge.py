"""``vouch challenge``: structured work verified, or done, unit by unit, with a case against what is wrong.

Left out: files of many tasks; a shell loop over task files does that, and each keeps its own record.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from vouching.cli.options import HOW, OUTPUT, Json, panel
from vouching.cli.streams import Exit, draw, interruptible, progress, usage_errors, write_result
from vouching.errors import InputError
from vouching.types import Assurance

app = typer.Typer()

_WHAT = "What to check or to do"

_EPILOG = """
**Examples**

vouch challenge --task expenses.yaml --proposal proposal.yaml

vouch challenge --task expenses.yaml --proposal proposal.yaml --gold right.yaml --report report.html --fail

vouch challenge --task expenses.yaml --fill --model http://localhost:8000/v1#qwen --output steps.jsonl

**Exit status**: 0 done; 1 under --fail: there is a case against a value that stands, whatever else; 2 the command line
or a file cannot be used; 3 a unit could not be judged or has no value, or a model was not reached; 130 interrupted.
"""


_Task = Annotated[Path, panel(_WHAT, "--task", metavar="PATH", help="The task: a JSON or YAML file.")]
_Proposal = Annotated[
    Path | None, panel(_WHAT, "--proposal", metavar="PATH", help="Values for its units, to be verified.")
]
_Fill = Annotated[
    bool, panel(_WHAT, "--fill", metavar="", help="Generate the values instead, challenge, revise, submit.")
]
_Model = Annotated[
    str | None,
    panel(
        HOW,
        metavar="NAME",
        help="A language model: judges units whose rules are in words; with --fill it also generates and revises.",
    ),
]
_Verifier = Annotated[
    str | None, panel(HOW, metavar="NAME", help="Another language model to judge, if not --model itself.")
]
_Candidates = Annotated[int, panel(HOW, metavar="K", help="Revisions that are drawn after a case, with --fill.")]
_Seed = Annotated[int | None, panel(HOW, metavar="N", help="Of the sampling.")]
_MaxTokens = Annotated[int, panel(HOW, metavar="N", help="Length of a model's reply.")]
_Gold = Annotated[
    Path | None,
    panel(OUTPUT, metavar="PATH", help="The right values, a file like --proposal: counts cases, decides nothing."),
]
_Output = Annotated[
    Path | None, panel(OUTPUT, metavar="PATH", help="With --fill: a line for each unit, as it is decided; .jsonl.")
]
_Resume = Annotated[bool, panel(OUTPUT, "--resume", metavar="", help="Finish an output that was cut short.")]
_Report = Annotated[Path | None, panel(OUTPUT, metavar="PATH", help="Also write a report: .html.")]
_Fail = Annotated[
    bool, panel(OUTPUT, "--fail", metavar="", help="Exit with 1 if there is a case against a value that stands.")
]


@app.command("challenge", epilog=_EPILOG)
def challenge_command(
    task: _Task,
    proposal: _Proposal = None,
    fill: _Fill = False,
    model: _Model = None,
    verifier: _Verifier = None,
    candidates: _Candidates = 5,
    seed: _Seed = None,
    max_tokens: _MaxTokens = 1024,
    gold: _Gold = None,
    output: _Output = None,
    resume: _Resume = False,
    as_json: Json = False,
    report: _Report = None,
    fail: _Fail = False,
) -> None:
    """Verify a filled-in form or report unit by unit, or fill it in: each wrong value gets a case against it.

    A case has a claim, an argument that names the rule, and evidence that can be looked up. Units with executable rules
    are judged offline; the others need a model. Nothing is compared with --gold before it stands.
    """
    from vouching.methods.assurance.model import AssuranceConfig
    from vouching.methods.assurance.steps import challenged
    from vouching.methods.assurance.task import read_proposal, read_task
    from vouching.models.running import run
    from vouching.report.assurance import write_assurance
    from vouching.report.skeleton import page_target

    with usage_errors():
        if fill == (proposal is not None):
            raise InputError("give --proposal PATH to verify values, or --fill to generate them: one of the two")
        if fill and model is None:
            raise InputError("got --fill without --model, but somebody must propose values: name a language model")
        if not fill and output is not None:
            raise InputError("got --output without --fill, but only a fill is kept step by step: take --json")
        if resume and output is None:
            raise InputError("got --resume without --output: name the file to finish")
        if report is not None:
            page_target(report)
        work = read_task(task)
        given = read_proposal(proposal, work) if proposal else None
        right = read_proposal(gold, work) if gold else None
        config = AssuranceConfig(candidates=candidates, max_tokens=max_tokens, seed=seed)
        with progress("Challenging"), interruptible("finish with --resume" if output else ""):
            record = run(challenged(work, given, (model, verifier), config, right, output, resume))
        if report is not None:
            write_assurance(report, record, work)
        _write(record, as_json)
    raise typer.Exit(exit_status(record, fail))


def exit_status(record: Assurance, fail: bool) -> Exit:
    """How the command ends; under ``fail`` a case goes before what could not be judged or has no value.

    >>> exit_status(Assurance("t", (), {}), fail=True)
    <Exit.OK: 0>
    """
    if fail and record.open:
        return Exit.FINDINGS
    return Exit.INCOMPLETE if record.unverified or len(record.submitted) < len(record.units) else Exit.OK


def _write(record: Assurance, as_json: bool) -> None:
    if as_json:
        from vouching.types.serial import to_json

        write_result(to_json(record, indent=2 if sys.stdout.isatty() else None) + "\n")
        return
    from vouching.report.assurance import print_assurance

    draw(lambda console: print_assurance(console, record))
