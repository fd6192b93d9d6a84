"""``vouch answer``: a question answered from its sources by a language model, the answer audited and repaired.

Left out: a search for the sources; ``vouch index search`` finds passages.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vouching.answering.prompt import Style
from vouching.cli.judge import write_record
from vouching.cli.options import (
    Json,
    Seed,
    SourceFiles,
    SourceTexts,
    argument_text,
    given_sources,
    is_read,
    refuse_second_stdin,
)
from vouching.cli.streams import Exit, draw, progress, usage_errors, write_error, write_result
from vouching.errors import ConfigError, InputError
from vouching.rows import read_as
from vouching.shortcuts import AuditMethod

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.answering.answer import Answered
    from vouching.answering.prompt import Shot
    from vouching.models.base import Model

app = typer.Typer()

_Question = Annotated[str, typer.Option(metavar="TEXT", help="What to answer.")]
_Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", envvar="VOUCH_MODEL", help="The language model that writes, as http://host:8000/v1#name."
    ),
]
_Prompt = Annotated[Style, typer.Option(help="How it is asked: plainly, step by step, or after answered examples.")]
_Shots = Annotated[
    str | None,
    typer.Option(metavar="ROWS", help="With --prompt few-shot: your examples, see docs/answer.md."),
]
_Generations = Annotated[int, typer.Option(metavar="N", min=1, help="Drafts, of which the majority's answer is taken.")]
_Method = Annotated[
    AuditMethod,
    typer.Option(help="How each draft is judged: asked again blind, or claim by claim; see docs/answer.md."),
]
_Judge = Annotated[str, typer.Option(metavar="NAME", help="What judges: embedded, or a language model.")]
_Repair = Annotated[
    Literal["mark", "remove", "keep"] | None,
    typer.Option(help="Apply the fixes to the answer and audit it again; mark, remove or keep what has no fix."),
]
_MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Length of a draft; a model that thinks needs more.")]
_Fail = Annotated[bool, typer.Option("--fail", metavar="", help="Exit with 1 if the answer's audit finds a fault.")]
_ReportFile = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Also write a report on the answer: .html, or .md for Markdown."),
]

_EPILOG = """
**Examples**

vouch answer --question "How high is the tower?" --source tower.txt --model http://localhost:8000/v1#qwen

vouch answer --question "How many are there?" --source a.txt --source b.txt --prompt cot --generations 8 --repair mark

**Exit status**: 0 done; 1 under --fail, the audit finds a fault; 2 the command line or a file cannot be used; 3 the
audit could not tell, the language model was not reached, or the result could not be written; 130 interrupted.
"""


@app.command("answer", epilog=_EPILOG)
def answer_command(
    question: _Question,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    model: _Model = None,
    prompt: _Prompt = "plain",
    shots: _Shots = None,
    generations: _Generations = 1,
    method: _Method = "blinded",
    judge: _Judge = "embedded",
    repair: _Repair = None,
    seed: Seed = None,
    max_tokens: _MaxTokens = 1024,
    fail: _Fail = False,
    as_json: Json = False,
    report: _ReportFile = None,
) -> None:
    """Answer a question from sources by a language model, audit the answer and repair it.

    Each draft is audited against the same sources. With several drafts the answer that most of them give is taken, and
    of these drafts the one that its audit finds best.
    """
    from vouching.answering.answer import AnswerConfig, Answerer
    from vouching.shortcuts import open_audit

    with usage_errors("--judge"):
        if not source and not source_text:
            raise InputError("no source was given: say what to answer from with --source FILE or --source-text TEXT")
        refuse_second_stdin(*(source or ()))
        if shots is not None and prompt != "few-shot":
            raise InputError(
                "got --shots without --prompt few-shot, which alone shows examples: add it, or leave it out"
            )
        given, _ = given_sources(source or (), source_text or ())
        asked = argument_text(question, "--question")
        config = AnswerConfig(prompt, generations, max_tokens=max_tokens, seed=seed, shots=_shots(shots))
        if report is not None:
            from vouching.report.skeleton import page_target

            page_target(report, markdown=True)
            if is_read(report, *(source or [])):
                raise InputError(f"--report {report} is a source, and would be lost: name another place")
        writer, audit = writing_model(model), open_audit(judge, method)
        answerer = Answerer(writer, audit, config)
        with progress("Answering"):
            answered = answerer.answer(asked, given, repair)
            answerer.close()
        _write_report(answered, report)
    _write(answered, as_json)
    if answered.report is not None and not answered.report.findings:
        advice = ": --method embedded judges claim by claim" if method == "blinded" else ""
        write_error(f"the audit found nothing to judge in the answer{advice}")
    raise typer.Exit(_exit_status(answered, fail))


def writing_model(name: str | None) -> Model:
    """The language model that writes. Raises ConfigError if none is named, or if the name is no language model's.

    >>> writing_model(None)
    Traceback (most recent call last):
    ...
    vouching.errors.ConfigError: an answer is written by a language model, and none is named: set VOUCH_MODEL or ...
    """
    from vouching.models.open import FORMS, open_model

    if not name or name.startswith("embedded"):
        got = f"got {name}, which writes nothing" if name else "and none is named"
        raise ConfigError(
            f"an answer is written by a language model, {got}: set VOUCH_MODEL or give --model NAME; names look like "
            f"{FORMS}"
        )
    return open_model(name)


def _shots(path: str | None) -> tuple[Shot, ...] | None:
    from vouching.answering.prompt import read_shots

    if path is None:
        return None
    try:
        return read_shots(read_as(path, lambda fields, name: fields))
    except InputError as error:
        raise InputError(f"--shots {path}: {error}") from None


def _exit_status(answered: Answered, fail: bool) -> Exit:
    """How the command ends: by the audit of the answer before repair, as ``vouch check`` does."""
    if answered.report is None:
        return Exit.OK
    good = answered.report.passed
    if good is None:
        return Exit.INCOMPLETE
    return Exit.FINDINGS if fail and not good else Exit.OK


def _write_report(answered: Answered, path: str | None) -> None:
    if path is None:
        return
    if answered.report is None:
        write_error(f"{path} was not written: the sources do not hold the answer, so there is nothing to report on")
        return
    write_record(path, answered.report, answered.report.sources, answered.question)


def _write(answered: Answered, as_json: bool) -> None:
    if as_json:
        write_result(json.dumps(answered.record(), indent=2 if sys.stdout.isatty() else None) + "\n")
        return
    from vouching.report.terminal import print_report
    from vouching.types.visible import visible, visible_line

    def paint(console: Console) -> None:
        console.print(visible(answered.text) if answered.text else "The sources do not hold the answer.")
        drafts = len(answered.drafts)
        if drafts > 1:
            judged = {True: "yes", False: "no", None: "not known"}[answered.faithful]
            console.print(
                f"\n{visible_line(answered.answer)}: {answered.votes} of {drafts} drafts; most are faithful: {judged}"
            )
        if answered.report is not None:
            console.print()
            print_report(console, answered.report)

    draw(paint)
