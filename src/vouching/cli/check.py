"""``vouch check``: a claim, a whole answer claim by claim, or a file of either, against sources given or searched for.

Not here: a question with a single claim, and rows that lean on each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

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
    ROWS,
    Indexes,
    Input,
    Json,
    MaxTokens,
    Output,
    ReportFile,
    Resume,
    SourceFiles,
    SourceTexts,
    StopOnError,
    Votes,
    WebEngines,
    argument_text,
    panel,
)
from vouching.cli.streams import progress, usage_errors, write_error
from vouching.errors import InputError
from vouching.rows import ROWS_AT_ONCE, BatchSummary, LookIn, RowJob
from vouching.search.options import SearchOptions
from vouching.types import Report

app = typer.Typer()

_WHAT = "What to check"
_NO_CLAIM = "without a claim"

_EPILOG = """
**Examples**

vouch check "It opened in 1937." --source bridge.txt

vouch check --response answer.txt --source a.txt --source b.txt --repair mark

curl -s https://example.org/notes.txt | vouch check "It rained." --source - --json

vouch check "It opened in 1937." --index notes --web wikipedia --web pages

vouch check --input rows.jsonl --output verdicts.jsonl --jobs 0 --resume

vouch check "It rained." --source notes.txt --model http://localhost:8000/v1#qwen --votes 3

**Exit status**: 0 done; 1 under --fail, a claim is not attributable; 2 the command line or a file cannot be used; 3 a
claim could not be verified or no evidence was found for it, a row could not be used, a language model was not reached,
--fail found nothing to check, or the result could not be written; 130 interrupted.
"""

_Claim = Annotated[str | None, typer.Argument(help="The statement to check; - reads it from standard input.")]
_Response = Annotated[
    str | None, panel(_WHAT, metavar="PATH|-", help="A file with a whole answer, checked claim by claim.")
]
_Question = Annotated[str | None, panel(_WHAT, metavar="TEXT", help="The question that the answer is to.")]
_Repair = Annotated[
    Literal["mark", "remove", "keep"] | None,
    panel(HOW, help="Apply the fixes to the answer and check it again; mark, remove or keep claims that have no fix."),
]
_Model = Annotated[
    str,
    panel(
        HOW,
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="What judges: embedded, embedded:rules (faster, blind to paraphrase), embedded:FOLDER (a round of vouch "
        "evolve), a language model such as http://host:8000/v1#name or openai/name, or a scorer such as "
        "minicheck:PATH.",
    ),
]
_Threshold = Annotated[float, panel(HOW, "--threshold", help="Score from 0 to 1 from which a claim is attributable.")]
_Method = Annotated[
    Literal["embedded", "structured", "label"] | None,
    panel(
        HOW,
        help="How it judges: without a language model, or by asking one for the whole record or for the label alone. "
        "(what suits the model: embedded or structured)",
    ),
]
_Fail = Annotated[bool, panel(OUTPUT, "--fail", metavar="", help="Exit with 1 if a claim is not attributable.")]
_Jobs = Annotated[int, panel(ROWS, metavar="N", min=0, help="Processes that check rows; 0 for one per core.")]


@app.command("check", epilog=_EPILOG)
def check_command(
    claim: _Claim = None,
    response: _Response = None,
    question: _Question = None,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    index: Indexes = None,
    web: WebEngines = None,
    repair: _Repair = None,
    threshold: _Threshold = 0.5,
    model: _Model = "embedded",
    method: _Method = None,
    votes: Votes = 1,
    max_tokens: MaxTokens = None,
    fail: _Fail = False,
    as_json: Json = False,
    report: ReportFile = None,
    input: Input = None,
    output: Output = None,
    resume: Resume = False,
    jobs: _Jobs = 1,
    stop_on_error: StopOnError = False,
) -> None:
    """Check a claim, a whole answer claim by claim, or a file of either, against its sources, and say why.

    Works offline unless a language model or a web engine is named. "Attributable" says that the sources support the
    claim, not that it is true.
    """
    with usage_errors():
        search = SearchOptions.read(index, web)
        settings = {"votes": votes, "max_tokens": max_tokens}
        judging = Judging(model, method, threshold, settings, search, repair)
        subject = Subject("CLAIM", claim, response, source or (), source_text or (), as_json, report)
        of_rows = {"--jobs": jobs != 1, "--stop-on-error": stop_on_error}
        asked = {"--question": question}
        subject.refuse((input, output, resume), asked, search.record, search.replay, of_rows=of_rows)
        if input is not None and output is not None:
            job = check_job((input, output, resume), judging, jobs, stop_on_error)
            raise typer.Exit(finish_rows(job, CLAIMS, fail, RowPage(report, search, threshold)))
        text, given = subject.read()
        if not given and not search:
            raise InputError(
                "no source was given: say what to check against with --source FILE or --source-text TEXT, or where to "
                "search with --index PATH or --web ENGINE"
            )
        checker = judging.checker()
        with progress("Checking"):
            if claim is not None:
                for name in (name for name, value in (("--question", question), ("--repair", repair)) if value):
                    raise InputError(f"got {name} with a CLAIM, but it belongs to a whole answer: use --response")
                [record], sources = checker.check_with_sources([text.strip()], given)
            else:
                asked = None if question is None else argument_text(question, "--question")
                record = checker.check_response(text, given, asked, repair)
                sources = record.sources
            checker.close()
        subject.finish(record, sources)
    if fail and isinstance(record, Report) and not record.findings:
        write_error("no claim was found: the answer states nothing that could be checked")
    raise typer.Exit(exit_status(record, fail))


def check_job(files: tuple[str, str, bool], judging: Judging, jobs: int = 1, stop: bool = False) -> RowJob:
    """The rows to check.

    Args:
        files: input and output, and whether to resume.
        judging: how.
        jobs: how many processes; 0 for one per core.
        stop: whether to stop before the first row that cannot be used.

    Raises:
        ConfigError: an unknown model, or a setting that does not fit: it shows before any file is made.
        InputError: several processes for what is waited for.
    """
    checker = judging.checker()
    waits = judging.waits(checker)
    if waits and jobs != 1:
        what = "a web engine" if checker.embedded else "a language model"
        raise InputError(
            f"got --jobs {jobs} with {what}, which is waited for: leave it out, one process has {ROWS_AT_ONCE} rows "
            "under way at once"
        )
    work = judging.waiting(checker) if waits else judging
    input, output, resume = files
    note = judging.note("check", checker)
    return RowJob(input, output, work, LOOK, note, ("claim", "response"), resume, jobs, stop)


def _count(findings: list[dict[str, Any]]) -> Mapping[str, int]:
    return Counter(str(finding.get("label", finding["kind"])) for finding in findings) if findings else {_NO_CLAIM: 1}


LOOK: LookIn = look_at(_count)
"""Tells what a run needs to know about a line."""


def _words(summary: BatchSummary) -> str:
    """What became of the claims of the rows, of which an answer has any number."""
    counts = summary.counts
    outcomes = {
        "attributable": counts["Attributable"],
        "not attributable": counts["Not Attributable"],
        "not verified": counts["unverified"] + summary.problems,
        _NO_CLAIM: counts[_NO_CLAIM],
    }
    words = ", ".join(f"{count:,} {name}" for name, count in outcomes.items() if count)
    claims = sum(outcomes.values()) - counts[_NO_CLAIM]
    more = f", {claims:,} claim{'s' * (claims != 1)}" if claims != summary.rows else ""
    return f"{more}{f': {words}' if words else ''}"


CLAIMS = RowKind(
    _words,
    wrong=("Not Attributable",),
    open=("unverified",),
    some=lambda summary: summary.rows and not summary.counts[_NO_CLAIM],
)
"""What is said of rows with claims."""
