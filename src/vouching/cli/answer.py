"""``vouch answer``: answer a question from sources, and audit the answer.

Not supported: searching for the sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vouching.answering.prompt import Style
from vouching.cli.judge import write_record
from vouching.cli.keeping import Keeping, LedgerTarget
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
from vouching.cli.streams import (
    Exit,
    draw,
    progress,
    usage_errors,
    write_error,
    write_json,
)
from vouching.errors import InputError
from vouching.shortcuts import AuditMethod

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.answering.answer import Answered

app = typer.Typer()

_Question = Annotated[str, typer.Option(metavar="TEXT", help="The question to answer.")]
_Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", envvar="VOUCH_MODEL", help="Language model that answers, such as http://host:8000/v1#name."
    ),
]
_Prompt = Annotated[
    Style,
    typer.Option(
        help="Prompt style: direct (plain), step by step (cot), with examples (few-shot), or as MARCH asks (paper)."
    ),
]
_Shots = Annotated[
    str | None,
    typer.Option(metavar="ROWS", help="File with your examples for --prompt few-shot (see docs/blinded.md)."),
]
_Generations = Annotated[
    int, typer.Option(metavar="N", min=1, help="Number of drafts; the most frequent answer is used.")
]
_Method = Annotated[
    AuditMethod,
    typer.Option(
        help="How drafts are audited: with blind questions (blinded), or claim by claim (see docs/blinded.md)."
    ),
]
_Judge = Annotated[
    str, typer.Option(metavar="NAME", help="Model that audits the drafts: embedded, or a language model.")
]
_Repair = Annotated[
    Literal["mark", "remove", "keep"] | None,
    typer.Option(help="Apply fixes to the answer and audit it again; mark, remove or keep claims without a fix."),
]
_MaxTokens = Annotated[
    int, typer.Option(metavar="N", min=1, help="Maximum number of tokens in a draft; increase it for reasoning models.")
]
_Fail = Annotated[bool, typer.Option("--fail", metavar="", help="Exit with status 1 if the answer fails the audit.")]
_ReportFile = Annotated[str | None, typer.Option(metavar="PATH", help="Also write a report: .html or .md.")]

_EPILOG = """
**Examples**

vouch answer --question "How high is the tower?" --source tower.txt --model http://localhost:8000/v1#qwen

vouch answer --question "How many are there?" --source a.txt --source b.txt --prompt cot --generations 8 --repair mark

**Exit status**: 0 done; 1 the answer fails the audit (only with --fail); 2 invalid command line or file; 3 the audit is
undecided, the language model could not be reached, or the result could not be written; 130 interrupted.
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
    ledger: LedgerTarget = None,
) -> None:
    """Answer a question from sources with a language model, audit the answer and repair it.

    Each draft is audited against the same sources. With several drafts, the most frequent answer is used, in the
    wording of the draft with the best audit.
    """
    from vouching.answering.answer import AnswerConfig, Answerer, open_writer
    from vouching.answering.prompt import shots_in
    from vouching.shortcuts import open_audit

    with usage_errors("--judge"):
        if not source and not source_text:
            raise InputError("no source was given: pass --source FILE or --source-text TEXT")
        refuse_second_stdin(*(source or ()))
        if shots is not None and prompt != "few-shot":
            raise InputError("--shots requires --prompt few-shot")
        given, _ = given_sources(source or (), source_text or ())
        asked = argument_text(question, "--question")
        examples = None if shots is None else shots_in(shots)
        config = AnswerConfig(prompt, generations, max_tokens=max_tokens, seed=seed, shots=examples)
        if report is not None:
            from vouching.report.skeleton import page_target

            page_target(report, markdown=True)
            if is_read(report, *(source or [])):
                raise InputError(f"--report {report} is an input file and would be overwritten: choose another path")
        keeping = Keeping("audit" if method == "blinded" else "check-response", ledger)
        keeping.refuse()
        writer, audit = open_writer(model), open_audit(judge, method)
        answerer = Answerer(writer, audit, config)
        with progress("Answering"):
            answered = answerer.answer(asked, given, repair)
            answerer.close()
        if answered.report is not None:
            sources = answered.report.sources
            keeping.result({"response": answered.report.response, "question": asked}, answered.report, sources)
        _write_report(answered, report)
    _write(answered, as_json)
    if answered.report is not None and not answered.report.findings:
        advice = ": try --method embedded, which judges claim by claim" if method == "blinded" else ""
        write_error(f"the audit found nothing to judge in the answer{advice}")
    raise typer.Exit(_exit_status(answered, fail))


def _exit_status(answered: Answered, fail: bool) -> Exit:
    """The exit status, by the audit of the answer before repair."""
    if answered.report is None:
        return Exit.OK
    passed = answered.report.passed
    if passed is None:
        return Exit.INCOMPLETE
    return Exit.FINDINGS if fail and not passed else Exit.OK


def _write_report(answered: Answered, path: str | None) -> None:
    if path is None:
        return
    if answered.report is None:
        write_error(f"{path} was not written: the sources do not contain the answer, so there is nothing to report")
        return
    write_record(path, answered.report, answered.report.sources, answered.question)


def _write(answered: Answered, as_json: bool) -> None:
    if as_json:
        write_json(answered.record())
        return
    from vouching.report.terminal import print_report
    from vouching.types.visible import visible, visible_line

    def paint(console: Console) -> None:
        console.print(visible(answered.text) if answered.text else "The sources do not contain the answer.")
        drafts = len(answered.drafts)
        if drafts > 1:
            judged = {True: "yes", False: "no", None: "undecided"}[answered.faithful]
            votes = f"{answered.votes} of {drafts} drafts; faithful by majority vote: {judged}"
            console.print(f"\n{visible_line(answered.answer)}: {votes}")
        if answered.report is not None:
            console.print()
            print_report(console, answered.report)

    draw(paint)
