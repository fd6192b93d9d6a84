"""``vouch context``: is what was retrieved enough for a question, or for each of a file, and is an answer one."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from vouching.cli.judge import ALONE
from vouching.cli.keeping import Keeping, LedgerTarget
from vouching.cli.options import (
    HOW,
    OUTPUT,
    Input,
    Json,
    Output,
    Resume,
    SourceFiles,
    SourceTexts,
    argument_text,
    given_sources,
    panel,
    read_text,
    refuse_row_contradictions,
    refuse_second_stdin,
)
from vouching.cli.streams import Exit, progress, usage_errors, write_json, write_result, write_summary
from vouching.embedded.verify import is_embedded
from vouching.errors import InputError
from vouching.inputs import as_sources
from vouching.rows import BatchSummary, RowJob
from vouching.rows.shapes import TEXT_COLUMNS
from vouching.types import VERDICT_VERSION
from vouching.types.serial import to_python
from vouching.types.visible import visible
from vouching.version import __version__

app = typer.Typer()

_EPILOG = """
**Examples**

vouch context "When did it open?" --source bridge.txt --source castle.txt

vouch context "Who built it?" --source a.txt --source b.txt --response answer.txt --fail

vouch context --input questions.jsonl --output contexts.jsonl

**Exit status**: 0 done; 1 the sources are not enough, or the answer does not address the question (only with --fail);
2 invalid command line or file; 3 a question could not be judged, a row could not be used, a language model could not
be reached, or the result could not be written; 130 interrupted.
"""

_Question = Annotated[str | None, typer.Argument(help="The question; - reads it from standard input.")]
_Response = Annotated[
    str | None, panel("What to check", metavar="PATH|-", help="File with the answer to the question.")
]
_Model = Annotated[
    str,
    panel(
        HOW, metavar="NAME", envvar="VOUCH_MODEL", help="The judge: embedded, or a language model as in vouch check."
    ),
]
_Fail = Annotated[
    bool,
    panel(
        OUTPUT, "--fail", metavar="", help="Exit with status 1 if the sources are not enough or the answer is not one."
    ),
]


@app.command("context", epilog=_EPILOG)
def context_command(
    question: _Question = None,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    response: _Response = None,
    model: _Model = "embedded",
    fail: _Fail = False,
    as_json: Json = False,
    ledger: LedgerTarget = None,
    input: Input = None,
    output: Output = None,
    resume: Resume = False,
) -> None:
    """Judge whether sources are enough for a question, which are relevant, and whether an answer addresses it.

    Whether the sources support the answer is another question: see vouch check. A row has question, sources and, if
    there is one, answer or response.
    """
    from vouching.retrieval.judge import check_context

    with usage_errors():
        keeping = Keeping("context", ledger)
        singles = {"QUESTION": question, "--response": response, "--source": source, "--source-text": source_text}
        refuse_row_contradictions({**singles, "--json": as_json}, (input, output, resume))
        if input is not None and output is not None:
            summary = ALONE.rows(keeping.job(_job(input, output, resume, model)))
            raise typer.Exit(_summarize(summary, fail))
        if question is None:
            raise InputError("no question was given: pass QUESTION, or --input ROWS (see --help)")
        refuse_second_stdin(question, response, *(source or ()))
        keeping.refuse()
        if not (source or source_text):
            raise InputError("no source was given: pass --source FILE or --source-text TEXT")
        given, _ = given_sources(source or (), source_text or ())
        answer = None if response is None else read_text(response, "--response").text
        asked = argument_text(question, "QUESTION")
        with progress("Judging"):
            record = check_context(asked, given, answer, model=model)
        keeping.result({"question": asked, "answer": answer}, record, as_sources(given))
    if as_json:
        write_json(to_python(record))
    else:
        write_result(f"{visible(str(record))}\n")
    if record.kind == "unverified":
        raise typer.Exit(Exit.INCOMPLETE)
    raise typer.Exit(Exit.FINDINGS if fail and not record.passed else Exit.OK)


def _job(input: str, output: str, resume: bool, model: str) -> RowJob:
    """The job that judges a file of rows. Raises ConfigError for an unknown model."""
    from vouching.retrieval.rows import context_work, seen_context

    work = context_work(model)  # an unknown model shows before any file is created
    settings = {"command": "context", "model": model, "record": VERDICT_VERSION, "vouching": __version__}
    waits = None if is_embedded(model) else "a language model"
    columns = ("question", *TEXT_COLUMNS)
    opens = partial(context_work, model)
    return RowJob(input, output, work, seen_context, settings, columns, resume, open_work=opens, waits=waits)


def _summarize(summary: BatchSummary, fail: bool) -> Exit:
    """Report on the rows and return the exit status."""
    counts = summary.counts
    words = f", {counts['sufficient']:,} sufficient; {counts['relevant']:,} of {counts['sources']:,} sources relevant"
    words += f"; {counts['addressing']:,} of {counts['answers']:,} answers address it" if counts["answers"] else ""
    words += f"; {counts['unverified']:,} unverified" if counts["unverified"] else ""
    write_summary(summary, words)
    failed = counts["sufficient"] < counts["judged"] or counts["addressing"] < counts["answers"]
    if fail and failed:
        return Exit.FINDINGS
    return Exit.OK if summary.complete and not counts["unverified"] else Exit.INCOMPLETE
