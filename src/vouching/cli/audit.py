"""``vouch audit``: ask for the values of an answer again, from the sources only and blind to the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from vouching.cli.judge import Judging, RowKind, RowPage, Subject, exit_status, finish_rows, look_at
from vouching.cli.keeping import Keeping, LedgerTarget
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
    Worded,
    argument_text,
    panel,
)
from vouching.cli.spread import EngineName, Jobs, RayAddress, ShardOf, Spread
from vouching.cli.streams import progress, usage_errors, write_error
from vouching.errors import InputError
from vouching.judging.matching import Match
from vouching.methods.blinded.verify import Scope
from vouching.rows import BatchSummary, RowJob

app = typer.Typer()

_AUDITED = "What to audit"
_FAULTS = ("different", "not_found", "contradictory")
_OPEN = ("leaked", "unverified")

_AUDIT_EPILOG = """
**Examples**

vouch audit "It opened in 1937 and has 2 towers." --source bridge.txt

vouch audit --response answer.txt --source report.txt --model http://localhost:8000/v1#qwen --votes 3 --scope facts

vouch audit --input answers.jsonl --output audits.jsonl --resume

vouch audit --input lake --output audits --jobs 0

**Exit status**: 0 done; 1 the sources give no value, a different value or several values for a number (only with
--fail); 2 invalid command line or file; 3 a question was not asked or not answered, a row could not be used, there was
nothing to ask (only with --fail), a language model could not be reached, or the result could not be written; 130
interrupted.
"""

_Answer = Annotated[str | None, typer.Argument(help="The answer to audit; - reads it from standard input.")]
_AuditResponse = Annotated[str | None, panel(_AUDITED, metavar="PATH|-", help="File with the answer.")]
_AuditQuestion = Annotated[
    str | None, panel(_AUDITED, metavar="TEXT", help="The question that the answer responds to.")
]
_AuditModel = Annotated[
    str,
    panel(
        HOW,
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="Model that asks and answers the questions: embedded, or a language model such as http://host:8000/v1#name.",
    ),
]
_Scope = Annotated[
    Scope | None,
    panel(
        HOW,
        help="Ask about numbers only, or also about dates and names; default: facts for embedded, else numbers.",
    ),
]
_Match = Annotated[
    Match | None,
    panel(HOW, help="Compare values with their units, or as the code published with the method does; default: units."),
]
_AuditFail = Annotated[
    bool,
    panel(OUTPUT, "--fail", metavar="", help="Exit with status 1 if the sources do not support a value in the answer."),
]


@app.command("audit", epilog=_AUDIT_EPILOG)
def audit_command(
    answer: _Answer = None,
    response: _AuditResponse = None,
    question: _AuditQuestion = None,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    model: _AuditModel = "embedded",
    scope: _Scope = None,
    match: _Match = None,
    votes: Votes = 1,
    seed: Seed = None,
    max_tokens: MaxTokens = None,
    wording: Worded = None,
    fail: _AuditFail = False,
    as_json: Json = False,
    report: ReportFile = None,
    ledger: LedgerTarget = None,
    input: Input = None,
    output: Output = None,
    resume: Resume = False,
    jobs: Jobs = 1,
    stop_on_error: StopOnError = False,
    shard: ShardOf = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
) -> None:
    """Audit an answer: derive each of its numbers a second time, using only the sources, and compare.

    Works offline unless a language model is used. Each number becomes a question; the model that answers the question
    sees the sources but not the answer.
    """
    with usage_errors():
        settings = {
            "scope": scope,
            "match": match,
            "votes": votes,
            "seed": seed,
            "max_tokens": max_tokens,
            "wording": wording,
        }
        judging, keeping = Judging(model, "blinded", settings=settings), Keeping("audit", ledger)
        subject = Subject("ANSWER", answer, response, source or (), source_text or (), as_json, report, keeping)
        spread = Spread(shard, engine, ray_address, jobs)
        of_rows, files = {"--stop-on-error": stop_on_error, **spread.given}, (input, output, resume)
        subject.refuse(files, {"--question": question}, of_rows=of_rows)
        if input is not None and output is not None:
            checker = judging.checker()  # an invalid setting shows before any file is created
            job = RowJob(
                input,
                output,
                judging.waiting(checker),
                look_at(_count_pairs),
                judging.note("audit", checker),
                ("response", "claim"),
                resume,
                stop_on_problem=stop_on_error,
                open_work=judging.opened,
                waits=judging.waits(checker),
                table="records",
            )
            raise typer.Exit(finish_rows(keeping.job(job), _PAIRS, fail, RowPage(report), spread))
        text, given = subject.read()
        if not given:
            raise InputError("no source was given: pass --source FILE or --source-text TEXT")
        asked = None if question is None else argument_text(question, "--question")
        checker = judging.checker()
        with progress("Auditing"):
            record = checker.check_response(text, given, asked)
            checker.close()
        subject.finish(record, record.sources)
    if fail and not record.findings:
        write_error("no number was found in the answer, so there is nothing to audit")
    raise typer.Exit(exit_status(record, fail))


def _count_pairs(findings: list[dict[str, Any]]) -> Mapping[str, int]:
    """The number of questions, and of each outcome.

    >>> failed = {"kind": "unverified", "reason": "truncated"}
    >>> dict(_count_pairs([{"kind": "pair", "outcome": "same"}, {"kind": "pair", "outcome": "leaked"}, failed]))
    {'questions': 2, 'same': 1, 'leaked': 1, 'unverified': 1}
    """
    asked = sum(one["kind"] == "pair" for one in findings)
    return {
        "questions": asked,
        **Counter(one["outcome"] if one["kind"] == "pair" else "unverified" for one in findings),
    }


def _pair_words(summary: BatchSummary) -> str:
    counts = summary.counts
    parts = [f"{counts[one]:,} {one.replace('_', ' ')}" for one in ("same", *_FAULTS, *_OPEN) if counts[one]]
    return f", {counts['questions']:,} questions" + (f": {', '.join(parts)}" if parts else "")


_PAIRS = RowKind(_pair_words, wrong=_FAULTS, open=_OPEN, some=lambda summary: summary.counts["questions"])
