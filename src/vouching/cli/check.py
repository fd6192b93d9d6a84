"""``vouch check`` and ``vouch audit``: check claims and answers against their sources.

``check`` judges claim by claim; ``audit`` asks for the values of an answer again, from the sources only and blind to
the answer. Not supported: several processes for ``audit``.
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
    Seed,
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
from vouching.judging.matching import Match
from vouching.methods.blinded.verify import Scope
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

**Exit status**: 0 done; 1 a claim is not attributable (only with --fail); 2 invalid command line or file; 3 a claim
could not be verified or has no evidence, a row could not be used, there was nothing to check (only with --fail), a
language model could not be reached, or the result could not be written; 130 interrupted.
"""

_Claim = Annotated[str | None, typer.Argument(help="The claim to check; - reads it from standard input.")]
_Response = Annotated[
    str | None, panel(_WHAT, metavar="PATH|-", help="File with a whole answer to check claim by claim.")
]
_Question = Annotated[str | None, panel(_WHAT, metavar="TEXT", help="The question that the answer responds to.")]
_Repair = Annotated[
    Literal["mark", "remove", "keep"] | None,
    panel(HOW, help="Apply fixes to the answer and check it again; mark, remove or keep claims without a fix."),
]
_Model = Annotated[
    str,
    panel(
        HOW,
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="The judge: embedded, embedded:rules (faster, but misses paraphrases), embedded:FOLDER (a round of vouch "
        "evolve), a language model such as http://host:8000/v1#name or openai/name, or a scorer such as "
        "minicheck:PATH.",
    ),
]
_Threshold = Annotated[
    float, panel(HOW, "--threshold", help="Minimum score, from 0 to 1, for a claim to be attributable.")
]
_Method = Annotated[
    Literal["embedded", "structured", "label"] | None,
    panel(
        HOW,
        help="How to judge: embedded uses no language model, structured asks one for a full record, and label asks one "
        "for a label only; default: embedded or structured, depending on the model.",
    ),
]
_Fail = Annotated[bool, panel(OUTPUT, "--fail", metavar="", help="Exit with status 1 if a claim is not attributable.")]
_Jobs = Annotated[
    int, panel(ROWS, metavar="N", min=0, help="Number of processes that check rows; 0 means one per core.")
]


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
    """Check a claim, a whole answer claim by claim, or a file of either, against its sources, and explain why.

    Works offline unless a language model or a web search is used. "Attributable" means that the sources support the
    claim, not that it is true.
    """
    with usage_errors():
        search = SearchOptions.read(index, web)
        settings = {"votes": votes, "max_tokens": max_tokens}
        judging = Judging(model, method, threshold, settings, search, repair)
        subject = Subject("CLAIM", claim, response, source or (), source_text or (), as_json, report)
        of_rows = {"--jobs": jobs != 1, "--stop-on-error": stop_on_error}
        question_given = {"--question": question}
        subject.refuse((input, output, resume), question_given, search.record, search.replay, of_rows=of_rows)
        if input is not None and output is not None:
            job = check_job((input, output, resume), judging, jobs, stop_on_error)
            raise typer.Exit(finish_rows(job, CLAIMS, fail, RowPage(report, search, threshold)))
        text, given = subject.read()
        if not given and not search:
            raise InputError(
                "no source was given: pass --source FILE or --source-text TEXT, or search with --index PATH or "
                "--web ENGINE"
            )
        checker = judging.checker()
        with progress("Checking"):
            if claim is not None:
                for name in (name for name, value in (("--question", question), ("--repair", repair)) if value):
                    raise InputError(f"{name} applies only to a whole answer: pass --response FILE instead of CLAIM")
                [record], sources = checker.check_with_sources([text.strip()], given)
            else:
                asked = None if question is None else argument_text(question, "--question")
                record = checker.check_response(text, given, asked, repair)
                sources = record.sources
            checker.close()
        subject.finish(record, sources)
    if fail and isinstance(record, Report) and not record.findings:
        write_error("no claim was found: the answer states nothing that can be checked")
    raise typer.Exit(exit_status(record, fail))


def check_job(files: tuple[str, str, bool], judging: Judging, jobs: int = 1, stop: bool = False) -> RowJob:
    """The job that checks a file of rows.

    Args:
        files: input and output, and whether to resume.
        judging: how to judge.
        jobs: number of processes; 0 for one per core.
        stop: whether to stop before the first row that cannot be used.

    Raises:
        ConfigError: an unknown model or an invalid setting; raised before any file is created.
        InputError: several processes with a language model or a web search.
    """
    checker = judging.checker()
    waits = judging.waits(checker)
    if waits and jobs != 1:
        what = "a web engine" if checker.embedded else "a language model"
        raise InputError(
            f"--jobs {jobs} cannot be used with {what}: one process handles {ROWS_AT_ONCE} rows concurrently"
        )
    work = judging.waiting(checker) if waits else judging
    input, output, resume = files
    note = judging.note("check", checker)
    return RowJob(input, output, work, LOOK, note, ("claim", "response"), resume, jobs, stop)


def _count(findings: list[dict[str, Any]]) -> Mapping[str, int]:
    return Counter(str(finding.get("label", finding["kind"])) for finding in findings) if findings else {_NO_CLAIM: 1}


LOOK: LookIn = look_at(_count)


def _words(summary: BatchSummary) -> str:
    """A summary of the claims; an answer may have any number of them."""
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


_AUDITED = "What to audit"
_FAULTS = ("different", "not_found", "contradictory")
_OPEN = ("leaked", "unverified")

_AUDIT_EPILOG = """
**Examples**

vouch audit "It opened in 1937 and has 2 towers." --source bridge.txt

vouch audit --response answer.txt --source report.txt --model http://localhost:8000/v1#qwen --votes 3 --scope facts

vouch audit --input answers.jsonl --output audits.jsonl --resume

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
    fail: _AuditFail = False,
    as_json: Json = False,
    report: ReportFile = None,
    input: Input = None,
    output: Output = None,
    resume: Resume = False,
    stop_on_error: StopOnError = False,
) -> None:
    """Audit an answer: derive each of its numbers a second time, using only the sources, and compare.

    Works offline unless a language model is used. Each number becomes a question; the model that answers the question
    sees the sources but not the answer.
    """
    with usage_errors():
        settings = {"scope": scope, "match": match, "votes": votes, "seed": seed, "max_tokens": max_tokens}
        judging = Judging(model, "blinded", settings=settings)
        subject = Subject("ANSWER", answer, response, source or (), source_text or (), as_json, report)
        subject.refuse((input, output, resume), {"--question": question}, of_rows={"--stop-on-error": stop_on_error})
        if input is not None and output is not None:
            checker = judging.checker()  # an invalid setting shows before any file is created
            job = RowJob(
                input, output, judging.waiting(checker), look_at(_count_pairs), judging.note("audit", checker),
                ("response", "claim"), resume, stop_on_problem=stop_on_error,
            )  # fmt: skip
            raise typer.Exit(finish_rows(job, _PAIRS, fail, RowPage(report)))
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
