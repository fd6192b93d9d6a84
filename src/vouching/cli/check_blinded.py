"""``vouch check --method blinded``: answers audited by questions that are answered from the sources alone.

Left out: several processes; a language model is waited for, and the embedded pair takes milliseconds a row.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from vouching.cli.check_options import CheckOptions
from vouching.cli.files import STDIN
from vouching.cli.row_progress import AGAIN, run_rows, tell_stopped
from vouching.cli.row_report import check_report, write_row_report
from vouching.cli.streams import Exit, cannot_write, write_error
from vouching.errors import InputError
from vouching.inputs import as_sources, check_text, row_sources
from vouching.methods.blinded.verify import BlindedConfig, BlindedVerifier, open_blinded
from vouching.models.running import run
from vouching.rows import may_pass
from vouching.rows.journal import Journal, open_journal
from vouching.rows.pool import Waiting
from vouching.rows.read import Row, open_rows
from vouching.rows.run import BatchSummary, Seen
from vouching.types import VERDICT_VERSION, Claim, Report, Source, Unverified
from vouching.types.serial import to_json
from vouching.version import __version__

COLUMNS = ("response", "claim")
"""A table of rows must have one of them."""
_FAULTS = ("different", "not_found", "contradictory")
_OPEN = ("leaked", "unverified")


def verifier_of(options: CheckOptions) -> BlindedVerifier:
    """The auditor that the options name. Raises ConfigError for an unknown model, or a setting that does not fit."""
    from vouching.methods.embedded.verify import is_embedded

    own = options.of_method
    scope = own.scope or ("facts" if is_embedded(options.model) else "numbers")
    config = BlindedConfig(scope, own.match or "units", votes=options.votes, seed=options.seed)
    if options.max_tokens is not None:
        config = replace(config, max_tokens=options.max_tokens)
    return open_blinded(options.model, config)


def check_blind(options: CheckOptions, question: str | None, response: str, sources: Sequence[Source]) -> Report:
    """The report on one response. Raises as :meth:`BlindedVerifier.verify` does."""
    verifier = verifier_of(options)
    try:
        return run(verifier.verify(question, response, sources))
    finally:
        run(verifier.aclose())


def check_blinded_rows(options: CheckOptions) -> Exit:
    """Check the rows of ``options.input``, write a report for each to ``options.output`` and tell how it went.

    Raises:
        InputError: the input or the output cannot be used, or the output belongs to other rows.
        ConfigError: an unknown model, or a setting that does not fit it.
    """
    assert options.input is not None
    assert options.output is not None
    check_report(options)
    verifier = verifier_of(options)
    settings = {
        "command": "check", "model": options.model, "record": VERDICT_VERSION, "vouching": __version__,
        **verifier.decoding,
    }  # fmt: skip
    printed = options.output == STDIN
    again = "" if printed else AGAIN
    try:
        with ExitStack() as open_files:
            reader = open_files.enter_context(open_rows(options.input, COLUMNS))
            journal = Journal(sys.stdout.buffer) if printed else open_journal(options.output, settings, options.resume)
            open_files.enter_context(journal)
            summary = run_rows(
                reader, journal, Waiting(lambda: _AuditRow(verifier), verifier.aclose), look,
                again=again, stop_on_problem=options.stop_on_error,
            )  # fmt: skip
    except OSError as error:
        return cannot_write(error, options.output)
    _tell(summary, again)
    if not write_row_report(options):
        return Exit.INCOMPLETE
    counts = summary.counts
    if options.fail and any(counts[fault] for fault in _FAULTS):
        return Exit.FINDINGS
    incomplete = summary.stopped is not None or summary.problems or any(counts[one] for one in _OPEN)
    return Exit.INCOMPLETE if incomplete or (options.fail and not counts["questions"]) else Exit.OK


@dataclass(frozen=True, slots=True)
class _AuditRow:
    """The work on a row: its report as JSON, or why there is none."""

    verifier: BlindedVerifier

    async def __call__(self, row: Row) -> str:
        try:
            if row.fields is None:
                raise InputError(str(row.problem))
            fields = row.fields
            text = fields.get("response", fields.get("claim"))
            if text is None:
                raise InputError(f'the row has the keys {[*fields]}, wanted "response"')
            question = fields.get("question")
            report = await self.verifier.verify(
                None if question is None else check_text(question, "the question"),
                check_text(text, "the response"),
                as_sources(row_sources(fields)),
            )
        except InputError as error:
            return to_json(Unverified(Claim("", id=row.name), "input", f"{row.place}: {error}"))
        return to_json(replace(report, id=row.name))


def look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a record.

    >>> failed = {"kind": "unverified", "reason": "truncated"}
    >>> pairs = [{"kind": "pair", "outcome": "same"}, {"kind": "pair", "outcome": "leaked"}, failed]
    >>> dict(look("r.jsonl", {"kind": "report", "id": "a", "findings": pairs}).counts)
    {'questions': 2, 'same': 1, 'leaked': 1, 'unverified': 1}
    """
    if record["kind"] == "unverified":
        return Seen(record["claim"]["id"], problem=f"{input_name}, {record['message']}")
    findings: list[dict[str, Any]] = record["findings"]
    asked = sum(one["kind"] == "pair" for one in findings)
    outcomes = Counter(one["outcome"] if one["kind"] == "pair" else "unverified" for one in findings)
    return Seen(record["id"], counts={"questions": asked, **outcomes}, again=may_pass(findings))


def _tell(summary: BatchSummary, again: str) -> None:
    """Say on standard error what became of the rows."""
    if summary.stopped is not None:
        tell_stopped(summary.stopped, again)
    elif summary.found and summary.found == summary.rows:
        write_error("nothing to do: the output is finished")
    counts = summary.counts
    kinds = ("same", *_FAULTS, *_OPEN)
    parts = [f"{counts[kind]:,} {kind.replace('_', ' ')}" for kind in kinds if counts[kind]]
    words = f"{summary.rows:,} row{'s' * (summary.rows != 1)}, {counts['questions']:,} questions"
    words += f": {', '.join(parts)}" if parts else ""
    broken = f"; {summary.problems:,} of the rows cannot be used, the output says why" if summary.problems else ""
    write_error(f"{words}{broken}")
