"""``vouch audit``: answers audited by questions that are answered from the sources alone, blind to the answer.

Not here: several processes; a language model is waited for, and the embedded pair takes milliseconds a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from vouching.cli.judge import (
    Judging,
    RowKind,
    RowPage,
    Subject,
    exit_status,
    finish_rows,
    look_at,
)
from vouching.cli.options import (
    HOW,
    OUTPUT,
    Input,
    Json,
    MaxTokens,
    Output,
    ReportFile,
    Resume,
    Seed,
    SourceFiles,
    SourceTexts,
    StopOnError,
    Votes,
    argument_text,
    panel,
)
from vouching.cli.streams import progress, usage_errors, write_error
from vouching.errors import InputError
from vouching.judging.matching import Match
from vouching.methods.blinded.verify import Scope
from vouching.rows import BatchSummary, RowJob

app = typer.Typer()

_WHAT = "What to audit"
_FAULTS = ("different", "not_found", "contradictory")
_OPEN = ("leaked", "unverified")

_EPILOG = """
**Examples**

vouch audit "It opened in 1937 and has 2 towers." --source bridge.txt

vouch audit --response answer.txt --source report.txt --model http://localhost:8000/v1#qwen --votes 3 --scope facts

vouch audit --input answers.jsonl --output audits.jsonl --resume

**Exit status**: 0 done; 1 under --fail, the sources give another value, none, or several; 2 the command line or a file
cannot be used; 3 a question was not put or not answered, a row could not be used, a language model was not reached,
--fail found nothing to ask about, or the result could not be written; 130 interrupted.
"""

_Answer = Annotated[str | None, typer.Argument(help="The answer to audit; - reads it from standard input.")]
_Response = Annotated[str | None, panel(_WHAT, metavar="PATH|-", help="A file with the answer.")]
_Question = Annotated[str | None, panel(_WHAT, metavar="TEXT", help="The question that the answer is to.")]
_Model = Annotated[
    str,
    panel(
        HOW,
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="What asks and answers: embedded, or a language model such as http://host:8000/v1#name.",
    ),
]
_Scope = Annotated[
    Scope | None, panel(HOW, help="Ask about numbers, or dates and names too. (facts; numbers for a language model)")
]
_Match = Annotated[Match | None, panel(HOW, help="Compare with units, or as the paper's code does. (units)")]
_Fail = Annotated[
    bool, panel(OUTPUT, "--fail", metavar="", help="Exit with 1 if the sources do not give the answer's value.")
]


@app.command("audit", epilog=_EPILOG)
def audit_command(
    answer: _Answer = None,
    response: _Response = None,
    question: _Question = None,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    model: _Model = "embedded",
    scope: _Scope = None,
    match: _Match = None,
    votes: Votes = 1,
    seed: Seed = None,
    max_tokens: MaxTokens = None,
    fail: _Fail = False,
    as_json: Json = False,
    report: ReportFile = None,
    input: Input = None,
    output: Output = None,
    resume: Resume = False,
    stop_on_error: StopOnError = False,
) -> None:
    """Ask for the numbers of an answer again, from its sources alone and blind to the answer, and compare.

    Works offline unless a language model is named. Each number becomes a question; whoever answers it sees the sources
    and not the answer.
    """
    with usage_errors():
        settings = {"scope": scope, "match": match, "votes": votes, "seed": seed, "max_tokens": max_tokens}
        judging = Judging(model, "blinded", settings=settings)
        subject = Subject("ANSWER", answer, response, source or (), source_text or (), as_json, report)
        subject.refuse((input, output, resume), {"--question": question}, of_rows={"--stop-on-error": stop_on_error})
        if input is not None and output is not None:
            checker = judging.checker()  # a wrong setting shows before any file is made
            job = RowJob(
                input, output, judging.waiting(checker), look_at(_count), judging.note("audit", checker),
                ("response", "claim"), resume, stop_on_problem=stop_on_error,
            )  # fmt: skip
            raise typer.Exit(finish_rows(job, _PAIRS, fail, RowPage(report)))
        text, given = subject.read()
        if not given:
            raise InputError("no source was given: say what to ask with --source FILE or --source-text TEXT")
        asked = None if question is None else argument_text(question, "--question")
        checker = judging.checker()
        with progress("Auditing"):
            record = checker.check_response(text, given, asked)
            checker.close()
        subject.finish(record, record.sources)
    if fail and not record.findings:
        write_error("no number was found: the answer states nothing that could be asked about")
    raise typer.Exit(exit_status(record, fail))


def _count(findings: list[dict[str, Any]]) -> Mapping[str, int]:
    """How many questions there are, and how many came out how.

    >>> failed = {"kind": "unverified", "reason": "truncated"}
    >>> dict(_count([{"kind": "pair", "outcome": "same"}, {"kind": "pair", "outcome": "leaked"}, failed]))
    {'questions': 2, 'same': 1, 'leaked': 1, 'unverified': 1}
    """
    asked = sum(one["kind"] == "pair" for one in findings)
    return {
        "questions": asked,
        **Counter(one["outcome"] if one["kind"] == "pair" else "unverified" for one in findings),
    }


def _words(summary: BatchSummary) -> str:
    counts = summary.counts
    parts = [f"{counts[one]:,} {one.replace('_', ' ')}" for one in ("same", *_FAULTS, *_OPEN) if counts[one]]
    return f", {counts['questions']:,} questions" + (f": {', '.join(parts)}" if parts else "")


_PAIRS = RowKind(_words, wrong=_FAULTS, open=_OPEN, some=lambda summary: summary.counts["questions"])
