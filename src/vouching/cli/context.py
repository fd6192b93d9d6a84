"""``vouch context``: is what was retrieved enough for a question, and does an answer address it."""

from __future__ import annotations

from typing import Annotated

import typer

from vouching.cli.options import (
    HOW,
    OUTPUT,
    Json,
    SourceFiles,
    SourceTexts,
    argument_text,
    given_sources,
    panel,
    read_text,
    refuse_second_stdin,
)
from vouching.cli.streams import Exit, progress, usage_errors, write_json, write_result
from vouching.errors import InputError
from vouching.types.serial import to_python
from vouching.types.visible import visible

app = typer.Typer()

_EPILOG = """
**Examples**

vouch context "When did it open?" --source bridge.txt --source castle.txt

vouch context "Who built it?" --source a.txt --source b.txt --response answer.txt --fail

**Exit status**: 0 done; 1 the sources are not enough, or the answer does not address the question (only with --fail);
2 invalid command line or file; 3 nothing could be judged, or a language model could not be reached.
"""

_Question = Annotated[str, typer.Argument(help="The question; - reads it from standard input.")]
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
    question: _Question,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    response: _Response = None,
    model: _Model = "embedded",
    fail: _Fail = False,
    as_json: Json = False,
) -> None:
    """Judge whether sources are enough for a question, which are relevant, and whether an answer addresses it.

    Whether the sources support the answer is another question: see vouch check.
    """
    from vouching.retrieval.judge import check_context

    with usage_errors():
        refuse_second_stdin(question, response, *(source or ()))
        if not (source or source_text):
            raise InputError("no source was given: pass --source FILE or --source-text TEXT")
        given, _ = given_sources(source or (), source_text or ())
        answer = None if response is None else read_text(response, "--response").text
        with progress("Judging"):
            record = check_context(argument_text(question, "QUESTION"), given, answer, model=model)
    if as_json:
        write_json(to_python(record))
    else:
        write_result(f"{visible(str(record))}\n")
    if record.kind == "unverified":
        raise typer.Exit(Exit.INCOMPLETE)
    failed = not record.sufficient.holds or (record.addresses is not None and not record.addresses.holds)
    raise typer.Exit(Exit.FINDINGS if fail and failed else Exit.OK)
