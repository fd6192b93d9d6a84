"""``vouch follow``: an answer against its instruction: by exact rules, item by item of a checklist, or as a whole.

Not here: one page for several methods on the same answers; ``vouch diagnose verifier`` compares them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
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
    argument_text,
    given_here,
    panel,
    read_text,
    refuse_second_stdin,
)
from vouching.cli.streams import Exit, progress, usage_errors, write_error
from vouching.errors import InputError
from vouching.judging.votes import Aggregate
from vouching.rows import BatchSummary, RowJob
from vouching.types import ChecklistItem
from vouching.version import __version__

app = typer.Typer()

_WHAT = "What to judge"
_Method = Literal["rules", "checklist", "holistic"]

_EPILOG = """
**Examples**

vouch follow "So be it." --instruction "Use no commas."

vouch follow --method checklist --instruction "Write a haiku." --response answer.txt --model http://localhost:8000/v1#qwen

vouch follow --method holistic --input answers.jsonl --output judged.jsonl --model http://localhost:8000/v1#qwen

**Exit status**: 0 done; 1 under --fail, an item failed; 2 the command line or a file cannot be used; 3 an item could
not be judged, a row could not be used, a language model was not reached, --fail found nothing to judge by, or the
result could not be written; 130 interrupted.
"""

_Answer = Annotated[str | None, typer.Argument(help="The answer to judge; - reads it from standard input.")]
_Response = Annotated[str | None, panel(_WHAT, metavar="PATH|-", help="A file with the answer.")]
_Instruction = Annotated[str | None, panel(_WHAT, metavar="TEXT", help="What the answer is to follow.")]
_How = Annotated[
    _Method,
    panel(
        HOW,
        "--method",
        help="By exact rules for what the instruction asks of the form, or by a language model: item by item of a "
        "checklist, or by one question about the whole.",
    ),
]
_Checklist = Annotated[
    str | None, panel(HOW, metavar="PATH|-", help="Of checklist: a file with its questions; made without it.")
]
_Reasons = Annotated[
    bool, panel(HOW, "--reasons", metavar="", help="Of checklist and holistic: ask why, and for the words that decide.")
]
_Aggregated = Annotated[
    Aggregate | None,
    panel(HOW, help="Of checklist and holistic: how votes become a judgment. (threshold)"),
]
_Model = Annotated[
    str,
    panel(
        HOW,
        metavar="NAME",
        envvar="VOUCH_MODEL",
        show_default=False,
        help="Of checklist and holistic: a language model such as http://host:8000/v1#name or openai/name.",
    ),
]
_Threshold = Annotated[
    float, panel(HOW, "--threshold", help="Of checklist and holistic: score from 0 to 1 from which an item passes.")
]
_Votes = Annotated[
    int,
    panel(
        HOW,
        "--votes",
        metavar="N",
        min=1,
        help="Of checklist and holistic: answers of the language model to each question; see --aggregate.",
    ),
]
_Fail = Annotated[bool, panel(OUTPUT, "--fail", metavar="", help="Exit with 1 if an item failed.")]
_Jobs = Annotated[int, panel(ROWS, metavar="N", min=0, help="Of rules: processes; 0 for one per core.")]


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
    fail: _Fail = False,
    as_json: Json = False,
    report: ReportFile = None,
    input: Input = None,
    output: Output = None,
    resume: Resume = False,
    jobs: _Jobs = 1,
    stop_on_error: StopOnError = False,
) -> None:
    """Judge an answer, or a file of answers, by what the instruction asks: exactly, item by item, or at once.

    The rules need no language model and no sources; they cover what can be counted or looked up in a text. For the
    others, sources are texts that came with the instruction.
    """
    with usage_errors():
        of_model = {
            "--source": source, "--source-text": source_text, "--aggregate": aggregate, "--reasons": reasons,
            "--checklist": checklist, "--threshold": threshold != 0.5, "--votes": votes != 1,
            "--seed": seed is not None, "--max-tokens": max_tokens, "--model": given_here(context, "model"),
        }  # fmt: skip
        _refuse_unused(method, of_model, jobs)
        settings = {"votes": votes, "aggregate": aggregate, "seed": seed, "reasons": reasons, "max_tokens": max_tokens}
        items = _items(checklist, response, input)
        of_rows, defaults = {"--stop-on-error": stop_on_error}, {} if items is None else {"checklist": items}
        judging = Judging(model, method, threshold, {} if method == "rules" else settings, row_defaults=defaults)
        subject = Subject("ANSWER", answer, response, source or (), source_text or (), as_json, report)
        subject.refuse((input, output, resume), {"--instruction": instruction}, of_rows=of_rows)
        if input is not None and output is not None:
            files = (input, output, resume)
            raise typer.Exit(_follow_rows(files, judging, checklist, jobs, stop_on_error, fail, report))
        text, given = subject.read(*filter(None, [checklist]))
        if instruction is None:
            raise InputError("got an answer without the instruction that it is to follow: add --instruction TEXT")
        asked = argument_text(instruction, "--instruction")
        checker = judging.checker()
        with progress("Judging"):
            record = checker.check_instruction(asked, text, items, given)
            checker.close()
        subject.finish(record, record.sources)
    if fail and not record.findings:
        write_error("no rule was found: the instruction asks for nothing that could be checked")
    raise typer.Exit(exit_status(record, fail))


def _refuse_unused(method: _Method, of_model: Mapping[str, object], jobs: int) -> None:
    """Raise InputError for an option that the method has no use for."""
    unused = {name: value for name, value in of_model.items() if method == "rules" and value}
    unused |= {"--checklist": True} if method == "holistic" and of_model["--checklist"] else {}
    unused |= {"--jobs": True} if method != "rules" and jobs != 1 else {}
    for name in unused:
        raise InputError(f"got {name} with --method {method}, which has no use for it: leave it out")


def _items(path: str | None, *others: str | None) -> tuple[ChecklistItem, ...] | None:
    """The checklist of a file. Raises InputError if it cannot be used, or comes from standard input with others."""
    from vouching.methods.checklist.items import read_items

    refuse_second_stdin(path, *others)
    if path is None:
        return None
    listed = read_text(path, "--checklist")
    try:
        return read_items(listed.text)
    except InputError as error:
        raise InputError(f"--checklist {path}: {error}") from None


def _follow_rows(
    files: tuple[str, str, bool], judging: Judging, checklist: str | None, jobs: int, stop: bool, fail: bool,
    report: str | None,
) -> Exit:  # fmt: skip
    """Judge the rows of a file."""
    input, output, resume = files
    if judging.method == "rules":
        from vouching.methods.rules.verify import ruled_report, rules_work, seen_rules

        note = {"command": "follow", "method": "rules", "vouching": __version__}
        job = RowJob(input, output, rules_work, seen_rules, note, ("response",), resume, jobs, stop)
        return finish_rows(job, _RULES, fail, RowPage(report, make_record=ruled_report))
    checker = judging.checker()  # a wrong setting shows before any file is made
    note = {**judging.note("follow", checker), "checklist": checklist}
    job = RowJob(
        input, output, judging.waiting(checker), look_at(_count), note, ("response",), resume, stop_on_problem=stop
    )
    return finish_rows(job, _ITEMS, fail, RowPage(report))


def _count(findings: list[dict[str, Any]]) -> Mapping[str, int]:
    """How many items there are, and how many came out how.

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
    return f", {counts['strict']:,} with every item passed{items}"


def _rule_words(summary: BatchSummary) -> str:
    """IFEval's four levels."""
    counts = summary.counts
    levels: Iterable[tuple[str, str, str]] = (
        ("prompts", "strict prompts", "loose prompts"),
        ("rules", "strict", "loose"),
    )
    words = [
        f"; {what} followed: {counts[strict] / counts[what]:.3f} strictly, {counts[loose] / counts[what]:.3f} loosely"
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
