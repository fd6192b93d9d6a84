"""``vouch challenge``: structured work verified, or done, unit by unit, with a case against what is wrong.

Left out: files of many tasks; a shell loop over task files does that, and each keeps its own record.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.streams import Exit, draw, interruptible, progress, usage_errors, write_result
from vouching.errors import InputError
from vouching.types import Assurance, Task, TaskUnit

if TYPE_CHECKING:
    from vouching.methods.assurance.model import AssuranceVerifier
    from vouching.methods.assurance.verify import Step
    from vouching.models.wrappers import Metered

app = typer.Typer()

_WHAT = "What to check or to do"
_HOW = "How"
_OUT = "Results"

_EPILOG = """
**Examples**

vouch challenge --task expenses.yaml --proposal proposal.yaml

vouch challenge --task expenses.yaml --proposal proposal.yaml --gold right.yaml --report report.html --fail

vouch challenge --task expenses.yaml --fill --model http://localhost:8000/v1#qwen --output steps.jsonl

**Exit status**: 0 done; 1 under --fail: there is a case against a value that stands, whatever else; 2 the command line
or a file cannot be used; 3 a unit could not be judged or has no value, or a model was not reached; 130 interrupted.
"""


def _panel(title: str, *names: str, **settings: Any) -> Any:
    """An option, listed by ``--help`` under ``title``."""
    return typer.Option(*names, rich_help_panel=title, **settings)


_Task = Annotated[Path, _panel(_WHAT, "--task", metavar="PATH", help="The task: a JSON or YAML file.")]
_Proposal = Annotated[
    Path | None, _panel(_WHAT, "--proposal", metavar="PATH", help="Values for its units, to be verified.")
]
_Fill = Annotated[
    bool, _panel(_WHAT, "--fill", metavar="", help="Generate the values instead, challenge, revise, submit.")
]
_Model = Annotated[
    str | None,
    _panel(
        _HOW,
        metavar="NAME",
        help="A language model: judges units whose rules are in words; with --fill it also generates and revises.",
    ),
]
_Verifier = Annotated[
    str | None, _panel(_HOW, metavar="NAME", help="Another language model to judge, if not --model itself.")
]
_Candidates = Annotated[int, _panel(_HOW, metavar="K", help="Revisions that are drawn after a case, with --fill.")]
_Seed = Annotated[int | None, _panel(_HOW, metavar="N", help="Of the sampling.")]
_MaxTokens = Annotated[int, _panel(_HOW, metavar="N", help="Length of a model's reply.")]
_Gold = Annotated[
    Path | None,
    _panel(_OUT, metavar="PATH", help="The right values, a file like --proposal: counts cases, decides nothing."),
]
_Output = Annotated[
    Path | None, _panel(_OUT, metavar="PATH", help="With --fill: a line for each unit, as it is decided; .jsonl.")
]
_Resume = Annotated[bool, _panel(_OUT, "--resume", metavar="", help="Finish an output that was cut short.")]
_Json = Annotated[bool, _panel(_OUT, "--json", metavar="", help="JSON; see vouch schema assurance.")]
_Report = Annotated[Path | None, _panel(_OUT, metavar="PATH", help="Write an HTML report.")]
_Fail = Annotated[
    bool, _panel(_OUT, "--fail", metavar="", help="Exit with 1 if there is a case against a value that stands.")
]


@dataclass(frozen=True, slots=True)
class ChallengeOptions:
    """The options of one ``vouch challenge``, as given."""

    task: Path
    """File of the task."""
    proposal: Path | None = None
    """File of the values to verify."""
    fill: bool = False
    """Whether to generate the values."""
    model: str | None = None
    """Generates, and judges unless ``verifier`` does."""
    verifier: str | None = None
    """Judges."""
    candidates: int = 5
    """Revisions after a case."""
    seed: int | None = None
    """Of the sampling."""
    max_tokens: int = 1024
    """Length of a reply."""
    gold: Path | None = None
    """File of the right values."""
    output: Path | None = None
    """Where steps are kept."""
    resume: bool = False
    """Whether to finish such a file."""

    @property
    def settings(self) -> dict[str, str | int | None]:
        """What makes the steps."""
        from vouching.methods.assurance.model import prompt_digest

        return {
            "model": self.model, "verifier": self.verifier, "candidates": self.candidates, "seed": self.seed,
            "max_tokens": self.max_tokens, "prompts": prompt_digest(),
        }  # fmt: skip


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
    as_json: _Json = False,
    report: _Report = None,
    fail: _Fail = False,
) -> None:
    """Verify a filled-in form or report unit by unit, or fill it in: each wrong value gets a case against it.

    A case has a claim, an argument that names the rule, and evidence that can be looked up. Units with executable rules
    are judged offline; the others need a model. Nothing is compared with --gold before it stands.
    """
    options = ChallengeOptions(
        task, proposal, fill, model, verifier, candidates, seed, max_tokens, gold, output, resume
    )  # fmt: skip
    with usage_errors():
        for complaint in complaints(options):
            raise InputError(complaint)
        if report is not None:
            from vouching.report.skeleton import page_target

            page_target(report)
        work, record = challenged(options)
        if report is not None:
            from vouching.report.assurance import write_assurance

            write_assurance(report, record, work)
        _write(record, as_json)
    raise typer.Exit(exit_status(record, fail))


def complaints(options: ChallengeOptions) -> Iterator[str]:
    """What is wrong with the options, most important first."""
    if options.fill == (options.proposal is not None):
        yield "give --proposal PATH to verify values, or --fill to generate them: one of the two"
    if options.fill and options.model is None:
        yield "got --fill without --model, but somebody must propose values: name a language model"
    if not options.fill and options.output is not None:
        yield "got --output without --fill, but only a fill is kept step by step: take --json"
    if options.resume and options.output is None:
        yield "got --resume without --output: name the file to finish"


def challenged(options: ChallengeOptions) -> tuple[Task, Assurance]:
    """The task, and what came out.

    Raises:
        InputError: a file cannot be used.
        ConfigError: an unknown model, or a setting out of range.
        ModelError: a model is out of reach.
    """
    from vouching.methods.assurance.model import ModelGenerator
    from vouching.methods.assurance.task import read_proposal, read_task
    from vouching.methods.assurance.verify import challenge, fill
    from vouching.models.running import run

    task = read_task(options.task)
    given = read_proposal(options.proposal, task) if options.proposal else {}
    gold = read_proposal(options.gold, task) if options.gold else None
    generating, verifier, metered = _roles(options)
    steps: dict[str, Step] = {}
    with ExitStack() as open_files:
        keep = _keeper(options, task, steps, open_files)
        with progress("Challenging"), interruptible("finish with --resume" if options.output else ""):
            try:
                if options.fill:
                    assert generating is not None
                    generator = ModelGenerator(generating, _config(options))
                    record = run(fill(task, generator, verifier, done=dict(steps), on_step=keep))
                else:
                    record = run(challenge(task, given, verifier, on_step=keep))
            finally:
                for one in metered:
                    run(one.aclose())
    from vouching.cli.challenge_steps import case_counts
    from vouching.types import total_usage

    cases = case_counts(task, steps, gold) if gold is not None else {}
    return task, replace(record, cases=cases, usage=total_usage(metered))


def _config(options: ChallengeOptions) -> Any:
    from vouching.methods.assurance.model import AssuranceConfig

    return AssuranceConfig(candidates=options.candidates, max_tokens=options.max_tokens, seed=options.seed)


def _roles(options: ChallengeOptions) -> tuple[Metered | None, AssuranceVerifier, list[Metered]]:
    """The model that generates, the verifier, and the models that were opened."""
    from vouching.methods.assurance.model import AssuranceVerifier, ModelVerifier
    from vouching.models.open import open_model
    from vouching.models.wrappers import Metered

    generating = Metered(open_model(options.model)) if options.model else None
    judging = Metered(open_model(options.verifier)) if options.verifier else generating
    opened = [one for one in (generating, judging if judging is not generating else None) if one is not None]
    return generating, AssuranceVerifier(ModelVerifier(judging, _config(options)) if judging else None), opened


def _keeper(options: ChallengeOptions, task: Task, steps: dict[str, Step], open_files: ExitStack) -> Any:
    """What notes each step, in memory and in the output; ``steps`` gets those that the output has already."""
    from vouching.cli.challenge_steps import open_steps, settings_line, step_line

    file = None
    if options.output is not None:
        file, done = open_steps(options.output, settings_line(task, options.settings), task, options.resume)
        open_files.enter_context(file)
        steps.update(done)

    def keep(unit: TaskUnit, step: Step) -> None:
        steps[unit.id] = step
        if file is not None:
            file.write(f"{step_line(unit, step)}\n")
            file.flush()

    return keep


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
