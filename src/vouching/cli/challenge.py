"""``vouch challenge``: judge structured work by its rules. Not supported: files of many tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vouching.cli.keeping import Keeping, LedgerTarget
from vouching.cli.options import HOW, OUTPUT, Json, MaxTokens, panel
from vouching.cli.streams import Exit, draw, interruptible, progress, usage_errors, write_json
from vouching.errors import InputError
from vouching.types import Assurance

app = typer.Typer()

_WORK = "Task"

_CHALLENGE_EPILOG = """
**Examples**

vouch challenge --task expenses.yaml --proposal proposal.yaml

vouch challenge --task expenses.yaml --proposal proposal.yaml --gold right.yaml --report report.html --fail

vouch challenge --task expenses.yaml --fill --model http://localhost:8000/v1#qwen --output steps.jsonl

**Exit status**: 0 done; 1 there is a case against a submitted value (only with --fail); 2 invalid command line or file;
3 a unit could not be judged or has no value, or a model could not be reached; 130 interrupted.
"""


_Task = Annotated[Path, panel(_WORK, "--task", metavar="PATH", help="The task: a JSON or YAML file.")]
_Proposal = Annotated[
    Path | None,
    panel(_WORK, "--proposal", metavar="PATH", help="File with the proposed values of the units, to be verified."),
]
_Fill = Annotated[
    bool, panel(_WORK, "--fill", metavar="", help="Generate the values, then challenge, revise and submit them.")
]
_WorkModel = Annotated[
    str | None,
    panel(
        HOW,
        metavar="NAME",
        help="Language model that judges units whose rules are in words and, with --fill, proposes and revises values.",
    ),
]
_Verifier = Annotated[str | None, panel(HOW, metavar="NAME", help="Language model that judges; default: --model.")]
_Candidates = Annotated[int, panel(HOW, metavar="K", help="With --fill: number of revisions sampled after a case.")]
_WorkSeed = Annotated[int | None, panel(HOW, metavar="N", help="Sampling seed.")]
_Gold = Annotated[
    Path | None,
    panel(
        OUTPUT,
        metavar="PATH",
        help="File in the format of --proposal with the right values, used only to count errors.",
    ),
]
_Steps = Annotated[
    Path | None, panel(OUTPUT, metavar="PATH", help="With --fill: .jsonl file for the steps, one line per unit.")
]
_ResumeSteps = Annotated[bool, panel(OUTPUT, "--resume", metavar="", help="Resume an interrupted run.")]
_WorkReport = Annotated[Path | None, panel(OUTPUT, metavar="PATH", help="Also write a report: .html.")]
_CaseFail = Annotated[
    bool, panel(OUTPUT, "--fail", metavar="", help="Exit with status 1 if there is a case against a submitted value.")
]


@app.command("challenge", epilog=_CHALLENGE_EPILOG)
def challenge_command(
    task: _Task,
    proposal: _Proposal = None,
    fill: _Fill = False,
    model: _WorkModel = None,
    verifier: _Verifier = None,
    candidates: _Candidates = 5,
    seed: _WorkSeed = None,
    max_tokens: MaxTokens = None,
    gold: _Gold = None,
    output: _Steps = None,
    resume: _ResumeSteps = False,
    as_json: Json = False,
    report: _WorkReport = None,
    ledger: LedgerTarget = None,
    fail: _CaseFail = False,
) -> None:
    """Verify a completed form or report, or propose its values first, and make a case against each wrong value.

    A case has a claim, an argument that names the rule, and evidence that can be looked up. Units with executable rules
    are judged offline; the others require a model. A value is compared with --gold only once it is final.
    """
    from pydantic_core import to_jsonable_python

    from vouching.methods.assurance.model import AssuranceConfig
    from vouching.methods.assurance.steps import challenged
    from vouching.methods.assurance.task import read_proposal, read_task
    from vouching.models.running import run
    from vouching.report.assurance import write_assurance
    from vouching.report.skeleton import page_target

    with usage_errors():
        if fill == (proposal is not None):
            raise InputError("pass either --proposal PATH to verify values, or --fill to generate values")
        if fill and model is None:
            raise InputError("--fill requires --model: pass a language model that proposes values")
        if not fill and output is not None:
            raise InputError("--output requires --fill: use --json to print the result")
        if resume and output is None:
            raise InputError("--resume requires --output: pass the file to resume")
        if report is not None:
            page_target(report)
        keeping = Keeping("challenge", ledger)
        keeping.refuse()
        work = read_task(task)
        given = read_proposal(proposal, work) if proposal else None
        right = read_proposal(gold, work) if gold else None
        config = AssuranceConfig(candidates=candidates, max_tokens=max_tokens, seed=seed)
        with progress("Challenging"), interruptible("finish with --resume" if output else ""):
            record = run(challenged(work, given, (model, verifier), config, right, output, resume))
        keeping.result({"task": to_jsonable_python(work), "proposal": to_jsonable_python(given)}, record)
        if report is not None:
            write_assurance(report, record, work)
        _write(record, as_json)
    raise typer.Exit(challenge_status(record, fail))


def challenge_status(record: Assurance, fail: bool) -> Exit:
    """The exit status; with ``fail``, an open case takes precedence over units that are unverified or have no value.

    >>> challenge_status(Assurance("t", (), {}), fail=True)
    <Exit.OK: 0>
    """
    if fail and record.open:
        return Exit.FINDINGS
    return Exit.INCOMPLETE if record.unverified or len(record.submitted) < len(record.units) else Exit.OK


def _write(record: Assurance, as_json: bool) -> None:
    if as_json:
        write_json(record)
        return
    from vouching.report.assurance import print_assurance

    draw(lambda console: print_assurance(console, record))
