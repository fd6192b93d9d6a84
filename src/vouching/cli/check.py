"""``vouch check``: check claims and answers against their sources, claim by claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
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
from vouching.cli.keeping import Keeping, LedgerTarget
from vouching.cli.options import (
    HOW,
    OUTPUT,
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
    read_text,
)
from vouching.cli.spread import EngineName, Jobs, RayAddress, ShardOf, Spread
from vouching.cli.streams import Exit, progress, usage_errors, write_error, write_result
from vouching.errors import InputError
from vouching.models.running import run
from vouching.rows import BatchSummary, LookIn, RowJob, open_rows
from vouching.rows.shapes import TEXT_COLUMNS
from vouching.search.options import SearchOptions
from vouching.shortcuts import judge_turns
from vouching.types import Report, Unverified, Verdict
from vouching.types.visible import visible_line

app = typer.Typer()

_WHAT = "What to check"
_NO_CLAIM = "without a claim"
_MIN_EQUAL = 20
"""Verdicts from which a run without any other one says so; fewer are equal by chance."""

_EPILOG = """
**Examples**

vouch check "It opened in 1937." --source bridge.txt

vouch check --response answer.txt --source a.txt --source b.txt --repair mark

curl -s https://example.org/notes.txt | vouch check "It rained." --source - --json

vouch check "It opened in 1937." --index notes --web wikipedia --web pages

vouch check --trace messages.json --fail

vouch check --input rows.jsonl --output verdicts.jsonl --jobs 0 --resume

vouch check "It rained." --source notes.txt --model http://localhost:8000/v1#qwen --votes 3

**Exit status**: 0 done; 1 a claim is not attributable (only with --fail); 2 invalid command line or file; 3 a claim
could not be verified, is undecided (--min-confidence) or has no evidence, a row could not be used, there was nothing to
check (only with --fail), a language model could not be reached, or the result could not be written; 130 interrupted.
"""

_Claim = Annotated[str | None, typer.Argument(help="The claim to check; - reads it from standard input.")]
_Response = Annotated[
    str | None, panel(_WHAT, metavar="PATH|-", help="File with a whole answer to check claim by claim.")
]
_Question = Annotated[
    str | None,
    panel(_WHAT, metavar="TEXT", help="The question that the answer responds to; CLAIM may be a short answer to it."),
]
_Trace = Annotated[
    str | None,
    panel(
        _WHAT,
        metavar="PATH|-",
        help="Messages of a conversation, as JSON or JSON lines: each answer is checked against what tools returned, "
        "and what documents and system messages said, before it.",
    ),
]
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
        help="The judge: embedded, embedded:small (at most a third of the time), embedded:rules (faster still, but "
        "misses paraphrases), embedded:FOLDER (a round of vouch "
        "evolve), a language model such as http://host:8000/v1#name or openai/name, a decision model such as "
        "decision:http://host:8000/v1#name, a scorer such as minicheck:PATH (see vouch models), or several with "
        "commas, of which the next is asked where one is undecided.",
    ),
]
_Threshold = Annotated[
    float, panel(HOW, "--threshold", help="Minimum score, from 0 to 1, for a claim to be attributable.")
]
_MinConfidence = Annotated[
    float,
    panel(HOW, "--min-confidence", help="Confidence, from 0 to 1, below which a verdict is reported as undecided."),
]
_Prefer = Annotated[
    Literal["newest", "listed"] | None,
    panel(HOW, help="Which source decides where two disagree: the newest, or the one listed first; default: neither."),
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


@app.command("check", epilog=_EPILOG)
def check_command(
    claim: _Claim = None,
    response: _Response = None,
    question: _Question = None,
    trace: _Trace = None,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    index: Indexes = None,
    web: WebEngines = None,
    repair: _Repair = None,
    threshold: _Threshold = 0.5,
    min_confidence: _MinConfidence = 0.0,
    model: _Model = "embedded",
    method: _Method = None,
    prefer: _Prefer = None,
    votes: Votes = 1,
    max_tokens: MaxTokens = None,
    fail: _Fail = False,
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
    """Check a claim, a whole answer claim by claim, or a file of either, against its sources, and explain why.

    Works offline unless a language model, a web search or a web address is used. "Attributable" means that the sources
    support the claim, not that it is true.
    """
    with usage_errors():
        search, settings = SearchOptions.read(index, web), {"votes": votes, "max_tokens": max_tokens, "prefer": prefer}
        judging = Judging(model, method, threshold, settings, search, repair, min_confidence)
        keeping = Keeping("check", ledger)
        subject = Subject("CLAIM", claim, response, source or (), source_text or (), as_json, report, keeping)
        spread = Spread(shard, engine, ray_address, jobs)
        files, asked_too = (input, output, resume), {"--question": question, "--trace": trace}
        of_rows = {"--stop-on-error": stop_on_error, **spread.given}
        subject.refuse(files, asked_too, search.record, search.replay, of_rows=of_rows)
        if input is not None and output is not None:
            job = keeping.job(check_job((input, output, resume), judging, stop=stop_on_error))
            raise typer.Exit(_finish(job, fail, RowPage(report, search, threshold), model, spread))
        if trace is not None:
            raise typer.Exit(_check_trace(trace, subject, judging, question, fail))
        record = _check_text(subject, judging, question)
    if fail and isinstance(record, Report) and not record.findings:
        write_error(f"no claim was found: {record.without_claims}")
    raise typer.Exit(exit_status(record, fail))


def _check_trace(trace: str, subject: Subject, judging: Judging, question: str | None, fail: bool) -> Exit:
    """Judge each answer of a conversation, print its report, and return the exit status."""
    given = {
        "CLAIM": subject.text,
        "--response": subject.response,
        "--question": question,
        "--source": subject.source,
        "--source-text": subject.source_text,
        "--report": subject.report,
    }
    if others := [name for name, value in given.items() if value]:
        raise InputError(f"--trace has its own questions and sources, and its reports are printed: omit {others[0]}")
    subject.keeping.refuse()
    messages, checker = read_text(trace, "--trace"), judging.checker()
    with progress("Checking"):
        reports = run(judge_turns(checker, messages.text, repair_rest=judging.repair_rest))
        checker.close()
    for number, report in enumerate(reports, 1):
        if not subject.as_json:
            write_result(f"{'' if number == 1 else chr(10)}Turn {number}: {visible_line(report.question or '')}\n")
        subject.finish(report, report.sources)
        if not subject.as_json:
            write_result("".join(f"  {line}\n" for line in _supporting(report)))
    findings = tuple(finding for report in reports for finding in report.findings)
    return exit_status(replace(reports[0], findings=findings), fail)


def _supporting(report: Report) -> list[str]:
    """For each source that supports claims, which claims of the report these are."""
    claims: dict[str, list[str]] = {}
    for number, finding in enumerate(report.findings, 1):
        if isinstance(finding, Verdict) and finding.attributable:
            spans = [part.source_span for part in finding.evidence_alignment if part.source_span]
            for name in dict.fromkeys(span.source_id or "" for span in spans):
                claims.setdefault(name, []).append(str(number))
    return [f"Supported by {visible_line(name)}: {', '.join(numbers)}" for name, numbers in claims.items()]


def _check_text(subject: Subject, judging: Judging, question: str | None) -> Verdict | Unverified | Report:
    """Judge a single text and print the record."""
    text, given = subject.read()
    if not given and not judging.search:
        raise InputError(
            "no source was given: pass --source FILE or --source-text TEXT, or search with --index PATH or --web ENGINE"
        )
    checker = judging.checker()
    with progress("Checking"):
        if subject.text is not None and question is None:
            if judging.repair_rest:
                raise InputError("--repair applies only to a whole answer: pass --response FILE instead of CLAIM")
            [record], sources = checker.check_with_sources([text.strip()], given)
        else:
            asked = None if question is None else argument_text(question, "--question")
            sources = (record := checker.check_response(text, given, asked, judging.repair_rest)).sources
        checker.close()
    subject.finish(record, sources)
    return record


def _finish(job: RowJob, fail: bool, page: RowPage, model: str, spread: Spread) -> Exit:
    """Judge the rows, and report what each model of a cascade decided."""
    status = finish_rows(job, CLAIMS, fail, page, spread)
    if "," in model and Path(job.output).is_file():
        from vouching.methods.cascade.summary import cascade_words

        with open_rows(job.output) as lines:
            for words in cascade_words(line.fields or {} for line in lines):
                write_error(words)
    return status


def check_job(files: tuple[str, str, bool], judging: Judging, jobs: int = 1, stop: bool = False) -> RowJob:
    """The job that checks a file of rows.

    Args:
        files: input and output, and whether to resume.
        judging: how to judge.
        jobs: number of processes; 0 for one per core.
        stop: whether to stop before the first row that cannot be used.

    Raises:
        ConfigError: an unknown model or an invalid setting; raised before any file is created.
    """
    checker = judging.checker()
    waits = judging.waits(checker)
    work = judging.waiting(checker) if waits else judging
    input, output, resume = files
    return RowJob(
        input,
        output,
        work,
        LOOK,
        judging.note("check", checker),
        TEXT_COLUMNS,
        resume,
        jobs,
        stop,
        open_work=judging.opened,
        waits=waits,
        table="records",
    )


def _count(findings: list[dict[str, Any]]) -> Mapping[str, int]:
    return Counter(str(finding.get("label", finding["kind"])) for finding in findings) if findings else {_NO_CLAIM: 1}


LOOK: LookIn = look_at(_count)


def _words(summary: BatchSummary) -> str:
    """A summary of the claims; an answer may have any number of them."""
    counts = summary.counts
    outcomes = {
        "attributable": counts["Attributable"],
        "not attributable": counts["Not Attributable"],
        "not verified": counts["unverified"],
        _NO_CLAIM: counts[_NO_CLAIM],
    }
    words = ", ".join(f"{count:,} {name}" for name, count in outcomes.items() if count)
    claims = sum(outcomes.values()) - counts[_NO_CLAIM]
    more = f", {claims:,} claim{'s' * (claims != 1)}" if claims != summary.rows else ""
    judged = counts["Attributable"], counts["Not Attributable"]
    equal = "" if min(judged) or max(judged) < _MIN_EQUAL else "; all verdicts are equal: try rows with known labels"
    return f"{more}{f': {words}' if words else ''}{equal}"


CLAIMS = RowKind(
    _words,
    wrong=("Not Attributable",),
    open=("unverified",),
    some=lambda summary: summary.rows and not summary.counts[_NO_CLAIM],
)
