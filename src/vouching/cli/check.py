"""``vouch check``: a claim or a whole response against its sources, given or searched for.

Files of rows are in ``check_rows``. Left out: a question with a single claim.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vouching.cli.check_options import CheckMethod, CheckOptions, MethodOptions, refuse_contradictions
from vouching.cli.files import STDIN, TextFile, argument_text, read_text, source_files
from vouching.cli.search_options import Indexes, Pages, Queries, RecordFile, ReplayFile, SearchOptions, WebEngines
from vouching.cli.streams import Exit, draw, progress, usage_errors, write_error, write_result
from vouching.judging.votes import Aggregate
from vouching.types import ItemResult, PairResult, Report, Source, Unverified, Verdict

app = typer.Typer()

_WHAT = "What to check"
_AGAINST = "What to check it against"
_HOW = "How"
_OUTPUT = "Output"
_ROWS = "Many rows"

_EPILOG = """
**Examples**

vouch check "It opened in 1937." --source bridge.txt

vouch check --response answer.txt --source a.txt --source b.txt --repair

curl -s https://example.org/notes.txt | vouch check "It rained." --source - --json

vouch check "It opened in 1937." --index notes --web wikipedia

vouch check --input rows.jsonl --output verdicts.jsonl --jobs 0 --resume

vouch check "It rained." --source notes.txt --model http://localhost:8000/v1#qwen --votes 3

vouch check --method rules --question "Use no commas." --response answer.txt

vouch check --method checklist --question "Write a haiku." --response answer.txt --model http://localhost:8000/v1#qwen

**Exit status**: 0 done; 1 under --fail, a claim is not attributable or an item failed; 2 the command line or a file
cannot be used; 3 a claim could not be verified or no evidence was found for it, a row could not be used, a language
model was not reached, --fail found nothing to check, or the result could not be written; 130 interrupted.
"""


def _panel(title: str, *names: str, **settings: Any) -> Any:
    """An option, listed by ``--help`` under ``title``."""
    return typer.Option(*names, rich_help_panel=title, **settings)


_NO_CLAIM = "no claim was found: the answer states nothing that could be checked"
_NOTHING = {
    "rules": "no rule was found: the question asks for nothing that could be checked",
    "blinded": "no number was found: the answer states nothing that could be asked about",
}

_Claim = Annotated[
    str | None,
    typer.Argument(help="The statement to check; - reads it from standard input."),
]
_Response = Annotated[
    str | None, _panel(_WHAT, metavar="PATH|-", help="A file with a whole answer, checked claim by claim.")
]
_ResponseText = Annotated[str | None, _panel(_WHAT, metavar="TEXT", help="A whole answer, checked claim by claim.")]
_Question = Annotated[
    str | None,
    _panel(_WHAT, metavar="TEXT", help="The question the answer is to, or the instruction it should follow."),
]
_SourceFiles = Annotated[
    list[str] | None, _panel(_AGAINST, metavar="PATH|-", help="A text file to check against. Repeatable.")
]
_SourceTexts = Annotated[
    list[str] | None, _panel(_AGAINST, metavar="TEXT", help="A text to check against. Repeatable.")
]
_Repair = Annotated[
    bool, _panel(_HOW, "--repair", metavar="", help="Apply the fixes to the answer and check it again.")
]
_Rest = Annotated[
    Literal["mark", "remove", "keep"] | None,
    _panel(_HOW, metavar="HOW", help="With --repair: mark, remove or keep claims that have no fix. (mark)"),
]
_Threshold = Annotated[
    float, _panel(_HOW, help="Score from 0 to 1 from which a claim counts as attributable, or an item passes.")
]
_Model = Annotated[
    str,
    _panel(
        _HOW,
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="What judges: embedded, embedded:rules (faster, blind to paraphrase), embedded:FOLDER (a round of vouch "
        "evolve), a language model such as http://host:8000/v1#name or openai/name, or a scorer such as "
        "minicheck:PATH.",
    ),
]
_Method = Annotated[
    CheckMethod | None,
    _panel(
        _HOW,
        metavar="NAME",
        help="How a language model is asked: structured (whole record) or label. (structured) Or rules, which needs "
        "none: the answer is checked against what --question asks of its form. Or checklist or holistic: it is judged "
        "by all that --question asks, item by item or at once. Or blinded: its numbers are asked for again from the "
        "sources alone, offline or by a language model.",
    ),
]
_ChecklistFile = Annotated[
    str | None,
    _panel(_HOW, metavar="PATH|-", help="With --method checklist: a file with its questions; made without it."),
]
_Reasons = Annotated[
    bool, _panel(_HOW, "--reasons", metavar="", help="With --method checklist: ask why, and for the words that decide.")
]
_Aggregate = Annotated[
    Aggregate | None,
    _panel(_HOW, metavar="HOW", help="With --method checklist or holistic: how votes become a judgment. (threshold)"),
]
_Scope = Annotated[
    Literal["numbers", "facts"] | None,
    _panel(_HOW, metavar="WHAT", help="With --method blinded: ask about numbers, or dates and names too."),
]
_Match = Annotated[
    Literal["units", "released"] | None,
    _panel(_HOW, metavar="HOW", help="With --method blinded: compare with units, or as the paper's code does. (units)"),
]
_Votes = Annotated[
    int,
    _panel(
        _HOW,
        metavar="N",
        min=1,
        help="Answers of a language model, of which the majority decides; of items, the share of yes.",
    ),
]
_Seed = Annotated[int | None, _panel(_HOW, metavar="N", help="Seed of a language model's sampling; without it, none.")]
_MaxTokens = Annotated[
    int | None,
    _panel(_HOW, metavar="N", min=1, help="Length of a language model's reply; one that thinks needs more. (1024)"),
]
_Fail = Annotated[
    bool, _panel(_OUTPUT, "--fail", metavar="", help="Exit with 1 if a claim is not attributable, or an item failed.")
]
_Json = Annotated[bool, _panel(_OUTPUT, "--json", metavar="", help="Print the record as JSON; see vouch schema.")]
_Markdown = Annotated[bool, _panel(_OUTPUT, "--markdown", metavar="", help="Print Markdown.")]
_ReportFile = Annotated[str | None, _panel(_OUTPUT, metavar="PATH", help="Also write an HTML report.")]
_Input = Annotated[
    str | None,
    _panel(_ROWS, metavar="PATH|-", help="Rows to check: .jsonl, .jsonl.gz, .csv or .parquet; see docs/batch.md."),
]
_Output = Annotated[
    str | None, _panel(_ROWS, metavar="PATH|-", help="Where the verdicts go, one line per row: .jsonl.")
]
_Resume = Annotated[
    bool, _panel(_ROWS, "--resume", metavar="", help="Finish an output; try rows again that failed for now.")
]
_Jobs = Annotated[int, _panel(_ROWS, metavar="N", help="Processes that check rows; 0 for one per core.")]
_StopOnError = Annotated[
    bool, _panel(_ROWS, "--stop-on-error", metavar="", help="Stop at the first row that cannot be used.")
]


@app.command("check", epilog=_EPILOG)
def check_command(
    claim: _Claim = None,
    response: _Response = None,
    response_text: _ResponseText = None,
    question: _Question = None,
    source: _SourceFiles = None,
    source_text: _SourceTexts = None,
    repair: _Repair = False,
    rest: _Rest = None,
    threshold: _Threshold = 0.5,
    model: _Model = "embedded",
    method: _Method = None,
    checklist: _ChecklistFile = None,
    reasons: _Reasons = False,
    aggregate: _Aggregate = None,
    scope: _Scope = None,
    match: _Match = None,
    votes: _Votes = 1,
    seed: _Seed = None,
    max_tokens: _MaxTokens = None,
    index: Indexes = None,
    web: WebEngines = None,
    pages: Pages = False,
    record: RecordFile = None,
    replay: ReplayFile = None,
    queries: Queries = None,
    fail: _Fail = False,
    as_json: _Json = False,
    as_markdown: _Markdown = False,
    report: _ReportFile = None,
    input: _Input = None,
    output: _Output = None,
    resume: _Resume = False,
    jobs: _Jobs = 1,
    stop_on_error: _StopOnError = False,
) -> None:
    """Check a claim, a whole answer claim by claim, or a file of either, against its sources, and say why.

    Works offline unless a language model or a web engine is named. "Attributable" says that the sources support the
    claim, not that it is true.
    """
    options = CheckOptions(
        claim, response, response_text, question, tuple(source or ()), tuple(source_text or ()), repair, rest,
        threshold, model, fail, as_json, as_markdown, report, input, output, resume, jobs, stop_on_error, method,
        votes, seed, max_tokens, SearchOptions(tuple(index or ()), tuple(web or ()), pages, record, replay, queries),
        MethodOptions(checklist, reasons, aggregate, scope, match),
    )  # fmt: skip
    with usage_errors():
        refuse_contradictions(options)
        if options.input is not None:
            raise typer.Exit(_check_rows(options))
        outcome, sources = check(options)
        _write_report(outcome, sources, options)
        _write(outcome, options)
    if options.fail and isinstance(outcome, Report) and not outcome.findings:
        write_error(_NOTHING.get(options.method or "", _NO_CLAIM))
    raise typer.Exit(exit_status(outcome, options.fail))


def check(options: CheckOptions) -> tuple[Verdict | Unverified | Report, tuple[Source, ...]]:
    """Read the texts that the options name and check them; what came out, and the sources, also those found.

    Raises:
        InputError: A text, an index or the path of the report cannot be used.
        ConfigError: An unknown model or engine, or a threshold outside [0, 1].
    """
    from vouching.checker import Checker

    if options.report is not None:
        from vouching.report.skeleton import page_target

        page_target(options.report)
    if options.method in ("rules", "checklist", "holistic", "blinded"):
        return _as_a_whole(options)
    checker = Checker(
        options.model,
        options.threshold,
        method=options.method,
        votes=options.votes,
        seed=options.seed,
        max_tokens=options.max_tokens,
        search=options.search.engines() if options.search else None,
        queries=options.search.queries,
    )
    files = source_files(options.source)
    texts = [argument_text(text, "--source-text") for text in options.source_text]
    given = [*(Source(file.text, id=file.name) for file in files), *texts]
    subject = _subject(options)
    with progress("Checking"):
        if options.claim is not None:
            [record], sources = checker.check_with_sources([subject.text.strip()], given)
        else:
            question = None if options.question is None else argument_text(options.question, "--question")
            record = checker.check_response(subject.text, given, question, options.repair_rest)
            sources = record.sources
        checker.close()
    warnings = [warning for file in (*files, subject) for warning in file.warnings]
    return replace(record, warnings=(*record.warnings, *warnings)), sources


def exit_status(record: Verdict | Unverified | Report, fail: bool) -> Exit:
    """How the command ends: a claim that is not attributable counts under ``fail`` only, an unverified one always.

    Under ``fail`` an answer without a single claim does not pass either.
    """
    findings = record.findings if isinstance(record, Report) else (record,)
    wrong = any(
        (isinstance(f, Verdict) and not f.attributable)
        or (isinstance(f, PairResult) and f.outcome not in ("same", "leaked"))
        or (isinstance(f, ItemResult) and not f.passed)
        for f in findings
    )
    if fail and wrong:
        return Exit.FINDINGS
    missing = any(
        isinstance(f, Unverified) or (isinstance(f, PairResult) and f.outcome == "leaked") for f in findings
    ) or (fail and not findings)
    return Exit.INCOMPLETE if missing else Exit.OK


def _check_rows(options: CheckOptions) -> Exit:
    """Check a file of rows."""
    if options.method == "rules":
        from vouching.cli.check_rules import check_rule_rows

        return check_rule_rows(options)
    if options.method == "blinded":
        from vouching.cli.check_blinded import check_blinded_rows

        return check_blinded_rows(options)
    if options.by_instruction:
        from vouching.cli.check_checklist import check_item_rows

        return check_item_rows(options)
    from vouching.cli.check_rows import check_rows

    return check_rows(options)


def _as_a_whole(options: CheckOptions) -> tuple[Report, tuple[Source, ...]]:
    """The whole answer, checked against what the question asks, or audited blind."""
    subject, question = _subject(options), argument_text(options.question or "", "--question")
    if options.method == "rules":
        from vouching.methods.rules import rules_report

        report = rules_report(question, subject.text)
        return replace(report, warnings=(*report.warnings, *subject.warnings)), report.sources
    from vouching.inputs import as_sources

    files = source_files(options.source)
    texts = [argument_text(text, "--source-text") for text in options.source_text]
    given = [*(Source(file.text, id=file.name) for file in files), *texts]
    sources = as_sources(given) if given else ()
    with progress("Checking"):
        if options.method == "blinded":
            from vouching.cli.check_blinded import check_blind

            report = check_blind(options, question or None, subject.text, sources)
        else:
            from vouching.cli.check_checklist import check_by_items

            report = check_by_items(options, question, subject.text, sources)
    warnings = [warning for file in (*files, subject) for warning in file.warnings]
    return replace(report, warnings=(*report.warnings, *warnings)), report.sources


def _subject(options: CheckOptions) -> TextFile:
    """The text to check."""
    if options.response is not None:
        return read_text(options.response, "--response")
    if options.claim == STDIN:
        return read_text(STDIN, "CLAIM")
    name = "--response-text" if options.claim is None else "CLAIM"
    return TextFile(name, argument_text(options.claim or options.response_text or "", name), ())


def _write_report(record: Verdict | Unverified | Report, sources: tuple[Source, ...], options: CheckOptions) -> None:
    if options.report is None:
        return
    from vouching.report.page import Entry, write_report

    title = Path(options.response).name if options.response not in (None, STDIN) else ""
    write_report(options.report, [Entry(record, sources)], title=title)


def _write(record: Verdict | Unverified | Report, options: CheckOptions) -> None:
    if options.as_json:
        from vouching.types.serial import to_json

        write_result(to_json(record, indent=2 if sys.stdout.isatty() else None) + "\n")
    elif options.as_markdown:
        from vouching.report.markdown import report_markdown, verdict_markdown

        write_result(report_markdown(record) if isinstance(record, Report) else verdict_markdown(record))
    else:
        from vouching.report.terminal import print_report, print_verdict

        if isinstance(record, Report):
            draw(lambda console: print_report(console, record))
        else:
            draw(lambda console: print_verdict(console, record))
