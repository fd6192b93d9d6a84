"""``vouch check --method rules``: what an instruction asks for, checked exactly, for one response or a file of rows.

Left out: the lines of IFEval's four levels on the page; standard error has them.
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, cast

from vouching.cli.check_options import CheckOptions
from vouching.cli.files import STDIN
from vouching.cli.row_progress import AGAIN, run_rows, tell_stopped
from vouching.cli.row_report import check_report, write_row_report
from vouching.cli.streams import Exit, cannot_write, write_error
from vouching.errors import InputError
from vouching.inputs import check_text
from vouching.methods.rules import find_rules, followed, named_items, rules_report
from vouching.rows.journal import Journal, open_journal
from vouching.rows.pool import cores
from vouching.rows.read import Row, open_rows
from vouching.rows.run import BatchSummary, Seen
from vouching.rows.worker import Work
from vouching.types import Claim, Report, Unverified
from vouching.version import __version__

COLUMNS = ("response",)
"""A table of rows must have it."""
_NAMES = "instruction_id_list"


def check_rule_rows(options: CheckOptions) -> Exit:
    """Check the rows of ``options.input``, write a line for each to ``options.output`` and tell how it went.

    Raises:
        InputError: the input or the output cannot be used, or the output belongs to other rows.
        MissingExtraError: a rule needs to know the language, and langdetect is not installed.
    """
    assert options.input is not None
    assert options.output is not None
    settings = {"command": "check", "method": "rules", "vouching": __version__}
    check_report(options)
    again = "" if options.output == STDIN else AGAIN
    try:
        with ExitStack() as open_files:
            reader = open_files.enter_context(open_rows(options.input, COLUMNS))
            printed = options.output == STDIN
            journal = Journal(sys.stdout.buffer) if printed else open_journal(options.output, settings, options.resume)
            open_files.enter_context(journal)
            summary = run_rows(
                reader, journal, rules_work, look, again=again,
                jobs=options.jobs or cores(), stop_on_problem=options.stop_on_error,
            )  # fmt: skip
    except OSError as error:
        return cannot_write(error, options.output)
    _tell(summary, again)
    if not write_row_report(options, _report):
        return Exit.INCOMPLETE
    if options.fail and summary.counts["strict"] < summary.counts["rules"]:
        return Exit.FINDINGS
    nothing = options.fail and (summary.counts["without rules"] or not summary.rows)
    return Exit.INCOMPLETE if summary.stopped is not None or summary.problems or nothing else Exit.OK


def rules_work() -> Work:
    """The function from a row to its line.

    >>> row = {"id": "a", "prompt": "Use no commas.", "response": "So be it."}
    >>> line = json.loads(rules_work()(Row(1, "line 1", row)))
    >>> line["instruction_id_list"], line["strict"], line["loose"], line["detected"]
    (['punctuation:no_comma'], [True], [True], True)
    """
    return _line


def look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a line.

    >>> look("r.jsonl", {"id": "a", "strict": [True, False], "loose": [True, True]}).counts["loose prompts"]
    1
    """
    if record["strict"] is None:
        return Seen(str(record["id"]), problem=f"{input_name}, {record['problem']}")
    strict, loose = record["strict"], record["loose"]
    if not strict:
        return Seen(str(record["id"]), counts={"without rules": 1})
    counts = {
        "prompts": 1,
        "strict prompts": int(all(strict)),
        "loose prompts": int(all(loose)),
        "rules": len(strict),
        "strict": sum(strict),
        "loose": sum(loose),
    }
    return Seen(str(record["id"]), counts=counts)


def _line(row: Row) -> str:
    """The row with its outcomes; one that cannot be used has none, and says why."""
    fields = dict(row.fields or {})
    if str(fields.get("id")) != row.name:
        fields["id"] = row.name
    try:
        if row.fields is None:
            raise InputError(str(row.problem))
        return json.dumps({**fields, **_outcome(fields)}, ensure_ascii=False)
    except InputError as error:
        return json.dumps({**fields, "strict": None, "loose": None, "problem": f"{row.place}: {error}"})


def _outcome(fields: dict[str, Any]) -> dict[str, Any]:
    """What a row gets; where it names no rules, those found in its prompt. Raises InputError if it cannot be used."""
    if fields.get("response") is None:
        raise InputError(f'the row has the keys {[*fields]}, wanted "response", a text')
    response = check_text(fields["response"], "the response")
    named: dict[str, Any] = {}
    if fields.get(_NAMES) is not None:
        items = named_items(fields)
    elif fields.get("prompt") is not None:
        items = find_rules(check_text(fields["prompt"], "the prompt"))
        named = {_NAMES: [item.rule for item in items], "kwargs": [dict(item.arguments) for item in items]}
        named["detected"] = True
    else:
        raise InputError(f'the row has the keys {[*fields]}, wanted "{_NAMES}" and "kwargs", or "prompt"')
    strict, loose = followed(items, response)
    return {**named, "strict": strict, "loose": loose}


def _report(line: dict[str, Any]) -> Report | Unverified:
    """A line as the report that its outcomes stand for."""
    if line["strict"] is None:
        return Unverified(Claim("", id=str(line["id"])), "input", str(line["problem"]))
    prompt = line.get("prompt")
    report = rules_report(prompt if isinstance(prompt, str) else "", line["response"], named_items(line))
    return replace(report, question=report.question or None, id=str(line["id"]))


def _tell(summary: BatchSummary, again: str) -> None:
    """Say on standard error what became of the rows: IFEval's four levels."""
    if summary.stopped is not None:
        tell_stopped(summary.stopped, again)
    counts = cast("dict[str, int]", summary.counts)
    words = f"{summary.rows:,} row{'s' * (summary.rows != 1)}"
    for level, of in (("prompts", "prompts"), ("rules", "rules")):
        if counts[of]:
            strict, loose = (counts[f"{how} prompts" if level == "prompts" else how] for how in ("strict", "loose"))
            words += f"; {level} followed: {strict / counts[of]:.3f} strictly, {loose / counts[of]:.3f} loosely"
    if counts["without rules"]:
        words += f"; {counts['without rules']:,} without a rule"
    if summary.problems:
        words += f"; {summary.problems:,} of the rows cannot be used, the output says why"
    write_error(words)
