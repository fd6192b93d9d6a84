"""``vouch check --method checklist`` and ``holistic``: responses put to a language model item by item, or as a whole.

Left out: one page for both methods on the same responses; ``vouch data judged`` joins their reports.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from vouching.cli.check_options import CheckOptions
from vouching.cli.files import STDIN, read_text
from vouching.cli.row_progress import AGAIN, run_rows, tell_stopped
from vouching.cli.row_report import check_report, write_row_report
from vouching.cli.streams import Exit, cannot_write, write_error
from vouching.errors import InputError
from vouching.inputs import as_sources, check_text, row_sources
from vouching.methods.checklist.items import instruction_of, read_items, row_items
from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier, open_checklist
from vouching.models.running import run
from vouching.rows import may_pass
from vouching.rows.journal import Journal, open_journal
from vouching.rows.pool import Waiting
from vouching.rows.read import Row, open_rows
from vouching.rows.run import BatchSummary, Seen
from vouching.types import VERDICT_VERSION, ChecklistItem, Claim, Report, Source, Unverified
from vouching.types.serial import to_json
from vouching.version import __version__

COLUMNS = ("response",)
"""A table of rows must have it."""


def verifier_of(options: CheckOptions) -> ChecklistVerifier:
    """The verifier that the options name, with the checklist of their file.

    Raises:
        InputError: the file of the checklist cannot be used.
        ConfigError: an unknown model, or a setting out of range.
    """
    items: Sequence[ChecklistItem] | None = None
    if options.of_method.checklist is not None:
        listed = read_text(options.of_method.checklist, "--checklist")
        try:
            items = read_items(listed.text)
        except InputError as error:
            raise InputError(f"--checklist {options.of_method.checklist}: {error}") from None
    config = ChecklistConfig(
        threshold=options.threshold,
        votes=options.votes,
        aggregate=options.of_method.aggregate or "threshold",
        seed=options.seed,
        reasons=options.of_method.reasons,
        holistic=options.method == "holistic",
    )
    if options.max_tokens is not None:
        config = replace(config, max_tokens=options.max_tokens)
    return open_checklist(options.model, config, items)


def check_by_items(options: CheckOptions, instruction: str, response: str, sources: Sequence[Source]) -> Report:
    """The report on one response. Raises as :meth:`ChecklistVerifier.verify` does."""
    verifier = verifier_of(options)
    try:
        return run(verifier.verify(instruction, response, sources))
    finally:
        run(verifier.aclose())


def check_item_rows(options: CheckOptions) -> Exit:
    """Check the rows of ``options.input``, write a report for each to ``options.output`` and tell how it went.

    Raises:
        InputError: the input or the output cannot be used, or the output belongs to other rows.
        ConfigError: an unknown model, or a setting out of range.
    """
    assert options.input is not None
    assert options.output is not None
    verifier = verifier_of(options)
    settings = {
        "command": "check", "model": options.model, "threshold": options.threshold,
        "checklist": options.of_method.checklist, "record": VERDICT_VERSION, "vouching": __version__,
        **verifier.decoding,
    }  # fmt: skip
    check_report(options)
    printed = options.output == STDIN
    again = "" if printed else AGAIN
    try:
        with ExitStack() as open_files:
            reader = open_files.enter_context(open_rows(options.input, COLUMNS))
            journal = Journal(sys.stdout.buffer) if printed else open_journal(options.output, settings, options.resume)
            open_files.enter_context(journal)
            summary = run_rows(
                reader, journal, Waiting(lambda: _CheckRow(verifier), verifier.aclose), look,
                again=again, stop_on_problem=options.stop_on_error,
            )  # fmt: skip
    except OSError as error:
        return cannot_write(error, options.output)
    _tell(summary, again)
    if not write_row_report(options):
        return Exit.INCOMPLETE
    counts = summary.counts
    if options.fail and counts["failed"]:
        return Exit.FINDINGS
    incomplete = summary.stopped is not None or summary.problems or counts["unverified"]
    return Exit.INCOMPLETE if incomplete or (options.fail and not summary.rows) else Exit.OK


@dataclass(frozen=True, slots=True)
class _CheckRow:
    """The work on a row: its report as JSON, or why there is none."""

    verifier: ChecklistVerifier

    async def __call__(self, row: Row) -> str:
        try:
            if row.fields is None:
                raise InputError(str(row.problem))
            fields = row.fields
            if fields.get("response") is None:
                raise InputError(f'the row has the keys {[*fields]}, wanted "response", a text')
            given = row_sources(fields, needed=False)
            report = await self.verifier.verify(
                instruction_of(fields),
                check_text(fields["response"], "the response"),
                as_sources(given) if given else (),
                None if self.verifier.config.holistic else row_items(fields),
            )
        except InputError as error:
            return to_json(Unverified(Claim("", id=row.name), "input", f"{row.place}: {error}"))
        return to_json(replace(report, id=row.name))


def look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a record.

    >>> items = [{"kind": "item", "passed": True}, {"kind": "unverified", "reason": "truncated"}]
    >>> dict(look("r.jsonl", {"kind": "report", "id": "a", "findings": items}).counts)
    {'items': 2, 'passed': 1, 'unverified': 1}
    """
    if record["kind"] == "unverified":
        return Seen(record["claim"]["id"], problem=f"{input_name}, {record['message']}")
    findings: list[dict[str, Any]] = record["findings"]
    kinds = ("unverified" if f["kind"] == "unverified" else "passed" if f["passed"] else "failed" for f in findings)
    counts = Counter(kinds)
    strict = {"strict": 1} if counts["passed"] == len(findings) else {}
    return Seen(record["id"], counts={"items": len(findings), **counts, **strict}, again=may_pass(findings))


def _tell(summary: BatchSummary, again: str) -> None:
    """Say on standard error what became of the rows."""
    if summary.stopped is not None:
        tell_stopped(summary.stopped, again)
    elif summary.found and summary.found == summary.rows:
        write_error("nothing to do: the output is finished")
    counts = summary.counts
    parts = [f"{counts[kind]:,} {kind}" for kind in ("passed", "failed", "unverified") if counts[kind]]
    words = f"{summary.rows:,} row{'s' * (summary.rows != 1)}, {counts['strict']:,} with every item passed"
    words += f"; {counts['items']:,} items: {', '.join(parts)}" if parts else ""
    broken = f"; {summary.problems:,} of the rows cannot be used, the output says why" if summary.problems else ""
    write_error(f"{words}{broken}")
