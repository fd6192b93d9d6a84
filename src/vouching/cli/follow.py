"""``vouch follow``: judge answers by their instructions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
    Worded,
    argument_text,
    given_here,
    panel,
    read_text,
    refuse_second_stdin,
)
from vouching.cli.spread import EngineName, Jobs, RayAddress, ShardOf, Spread
from vouching.cli.streams import Exit, progress, usage_errors, write_error
from vouching.errors import InputError
from vouching.judging.votes import Aggregate
from vouching.rows import BatchSummary, Line, RowJob
from vouching.types import ChecklistItem, Report
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.report.page import Record

app = typer.Typer()

_WHAT = "What to judge"
_Method = Literal["rules", "checklist", "holistic"]

_EPILOG = """
**Examples**

vouch follow "So be it." --instruction "Use no commas."

vouch follow --method checklist --instruction "Write a haiku." --response answer.txt --model http://localhost:8000/v1#qwen

vouch follow --input lake --output judged --jobs 0

vouch follow --method holistic --input answers.jsonl --output judged.jsonl --model http://localhost:8000/v1#qwen

**Exit status**: 0 done; 1 an item failed (only with --fail); 2 invalid command line or file; 3 an item could not be
judged, a row could not be used, there was nothing to judge (only with --fail), a language model could not be reached,
or the result could not be written; 130 interrupted.
"""

_Answer = Annotated[str | None, typer.Argument(help="The answer to judge; - reads it from standard input.")]
_Response = Annotated[str | None, panel(_WHAT, metavar="PATH|-", help="File with the answer.")]
_Instruction = Annotated[
    str | None, panel(_WHAT, metavar="TEXT", help="The instruction that the answer should follow.")
]
_How = Annotated[
    _Method,
    panel(
        HOW,
        "--method",
        help="How to judge: rules checks the format with exact rules, checklist asks a language model about each item "
        "of a checklist, and holistic asks it one question about the whole answer.",
    ),
]
_Checklist = Annotated[
    str | None,
    panel(HOW, metavar="PATH|-", help="For checklist: file with the questions; by default, they are generated."),
]
_Reasons = Annotated[
    bool, panel(HOW, "--reasons", metavar="", help="For checklist and holistic: ask for reasons and quotes.")
]
_Aggregated = Annotated[
    Aggregate | None, panel(HOW, help="For checklist and holistic: how to combine votes; default: threshold.")
]
_Model = Annotated[
    str,
    panel(
        HOW,
        metavar="NAME",
        envvar="VOUCH_MODEL",
        show_default=False,
        help="For checklist and holistic: a language model such as http://host:8000/v1#name or openai/name.",
    ),
]
_Threshold = Annotated[
    float,
    panel(HOW, "--threshold", help="For checklist and holistic: minimum score, from 0 to 1, for an item to pass."),
]
_Votes = Annotated[
    int,
    panel(HOW, "--votes", metavar="N", min=1, help="For checklist and holistic: number of replies per question."),
]
_Fail = Annotated[bool, panel(OUTPUT, "--fail", metavar="", help="Exit with status 1 if an item failed.")]


@app.command("follow", epilog=_EPILOG)
def follow_command(
    context: typer.Context,
    answer: _Answer = None,
    response: _Response = None,
    instruction: _Instruction = None,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    method: _How = "rules",
    checklist: _Checklist = None,
    reasons: _Reasons = False,
    aggregate: _Aggregated = None,
    threshold: _Threshold = 0.5,
    model: _Model = "embedded",
    votes: _Votes = 1,
    seed: Seed = None,
    max_tokens: MaxTokens = None,
    wording: Worded = None,
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
    """Judge how well answers follow their instructions: by exact rules, item by item, or as a whole.

    Rules need no language model and no sources; they cover what can be counted or looked up in a text. For the other
    methods, sources are texts that came with the instruction.
    """
    with usage_errors():
        of_model = {
            "--source": source,
            "--source-text": source_text,
            "--aggregate": aggregate,
            "--reasons": reasons,
            "--checklist": checklist,
            "--threshold": threshold != 0.5,
            "--votes": votes != 1,
            "--seed": seed is not None,
            "--max-tokens": max_tokens,
            "--model": given_here(context, "model"),
            "--wording": wording,
        }
        _refuse_unused(method, of_model)
        spread = Spread(shard, engine, ray_address, jobs)
        settings = {"votes": votes, "aggregate": aggregate, "seed": seed, "reasons": reasons}
        settings |= {"max_tokens": max_tokens, "wording": wording}
        items, keeping = _items(checklist, response, input), Keeping("follow", ledger)
        defaults = {} if items is None else {"checklist": items}
        judging = Judging(model, method, threshold, {} if method == "rules" else settings, row_defaults=defaults)
        subject = Subject("ANSWER", answer, response, source or (), source_text or (), as_json, report, keeping)
        of_rows = {"--stop-on-error": stop_on_error, **spread.given}
        subject.refuse((input, output, resume), {"--instruction": instruction}, of_rows=of_rows)
        if input is not None and output is not None:
            job, kind, make_record = _job((input, output, resume), judging, checklist, stop_on_error)
            page = RowPage(report, make_record=make_record)
            raise typer.Exit(finish_rows(keeping.job(job), kind, fail, page, spread))
        record = _follow_text(subject, judging, instruction, checklist, items)
    raise typer.Exit(_status(record, fail))


def _follow_text(
    subject: Subject,
    judging: Judging,
    instruction: str | None,
    checklist: str | None,
    items: tuple[ChecklistItem, ...] | None,
) -> Report:
    """Judge a single answer and print the record."""
    text, given = subject.read(*filter(None, [checklist]))
    if instruction is None:
        raise InputError("the answer has no instruction: pass --instruction TEXT")
    asked = argument_text(instruction, "--instruction")
    checker = judging.checker()
    with progress("Judging"):
        record = checker.check_instruction(asked, text, items, given)
        checker.close()
    subject.finish(record, record.sources)
    return record


def _status(record: Report, fail: bool) -> Exit:
    if fail and not record.findings:
        write_error("no rule was found: the instruction contains nothing that can be checked")
    return exit_status(record, fail)


def _refuse_unused(method: _Method, of_model: Mapping[str, object]) -> None:
    """Raise InputError for an option that the method does not use."""
    unused = {name: value for name, value in of_model.items() if method == "rules" and value}
    unused |= {"--checklist": True} if method == "holistic" and of_model["--checklist"] else {}
    for name in unused:
        raise InputError(f"{name} cannot be used with --method {method}")


def _items(path: str | None, *others: str | None) -> tuple[ChecklistItem, ...] | None:
    """The checklist of a file. Raises InputError if it is invalid, or if standard input is named twice."""
    from vouching.methods.checklist.items import read_items

    refuse_second_stdin(path, *others)
    if path is None:
        return None
    listed = read_text(path, "--checklist")
    try:
        return read_items(listed.text)
    except InputError as error:
        raise InputError(f"--checklist {path}: {error}") from None


def _job(
    files: tuple[str, str, bool], judging: Judging, checklist: str | None, stop: bool
) -> tuple[RowJob, RowKind, Callable[[Line], Record] | None]:
    """The job that judges rows, how to report on it, and what makes a record of a line that is none."""
    input, output, resume = files
    if judging.method == "rules":
        from vouching.rules.verify import ruled_report, rules_work, seen_rules

        note = {"command": "follow", "method": "rules", "vouching": __version__}
        job = RowJob(
            input, output, rules_work, seen_rules, note, ("response",), resume, stop_on_problem=stop, table="rules"
        )
        return job, _RULES, ruled_report
    checker = judging.checker()  # an invalid setting shows before any file is created
    note = {**judging.note("follow", checker), "checklist": checklist}
    job = RowJob(
        input,
        output,
        judging.waiting(checker),
        look_at(_count),
        note,
        ("response",),
        resume,
        stop_on_problem=stop,
        open_work=judging.opened,
        waits=judging.waits(checker),
        table="records",
    )
    return job, _ITEMS, None


def _count(findings: list[dict[str, Any]]) -> Mapping[str, int]:
    """The number of items, and of each outcome.

    >>> dict(_count([{"kind": "item", "passed": True}, {"kind": "unverified", "reason": "truncated"}]))
    {'items': 2, 'passed': 1, 'unverified': 1}
    """
    kinds = ("unverified" if f["kind"] == "unverified" else "passed" if f["passed"] else "failed" for f in findings)
    counts = Counter(kinds)
    strict = {"strict": 1} if counts["passed"] == len(findings) else {}
    return {"items": len(findings), **counts, **strict}


def _item_words(summary: BatchSummary) -> str:
    counts = summary.counts
    parts = [f"{counts[kind]:,} {kind}" for kind in ("passed", "failed", "unverified") if counts[kind]]
    items = f"; {counts['items']:,} items: {', '.join(parts)}" if parts else ""
    return f", {counts['strict']:,} with all items passed{items}"


def _rule_words(summary: BatchSummary) -> str:
    """The four accuracies of IFEval."""
    counts = summary.counts
    levels: Iterable[tuple[str, str, str]] = (
        ("prompts", "strict prompts", "loose prompts"),
        ("rules", "strict", "loose"),
    )
    words = [
        f"; {what} followed: {counts[strict] / counts[what]:.3f} strict, {counts[loose] / counts[what]:.3f} loose"
        for what, strict, loose in levels
        if counts[what]
    ]
    words += [f"; {counts['without rules']:,} without a rule"] if counts["without rules"] else []
    return "".join(words)


_ITEMS = RowKind(_item_words, wrong=("failed",), open=("unverified",), some=lambda summary: summary.rows)
_RULES = RowKind(
    _rule_words,
    wrong=("broken",),
    open=(),
    some=lambda summary: summary.rows and not summary.counts["without rules"],
)
