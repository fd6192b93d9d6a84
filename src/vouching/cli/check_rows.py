"""``vouch check --input``: each row of a file gives a line of output, in order; a run that was cut short is resumed.

Left out: rows that lean on each other. What makes a run resumable is in ``vouching.rows``.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vouching.cli.check_options import CheckOptions
from vouching.cli.files import STDIN
from vouching.cli.row_progress import AGAIN, run_rows, tell_stopped
from vouching.cli.row_report import check_report, write_row_report
from vouching.cli.search_options import SearchOptions
from vouching.cli.streams import Exit, cannot_write, write_error
from vouching.errors import InputError
from vouching.repair import Rest
from vouching.rows import may_pass
from vouching.rows.journal import Journal, Settings, open_journal
from vouching.rows.pool import PATIENCE, ROWS_AT_ONCE, Waiting, cores
from vouching.rows.read import Row, open_rows
from vouching.rows.run import BatchSummary, Seen
from vouching.rows.worker import Work
from vouching.types import VERDICT_VERSION, Claim, Unverified
from vouching.types.serial import to_json
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.checker import Checker
    from vouching.models.base import Model

COLUMNS = ("claim", "response")
"""A table of rows must have one of these columns."""
_NO_CLAIM = "without a claim"


@dataclass(frozen=True, slots=True)
class CheckWork:
    """Makes the function from a row to its record as JSON; goes to worker processes.

    >>> check = CheckWork("embedded", 0.5)()
    >>> check(Row(1, "line 1", {"id": "a", "claim": "It opened in 1973.", "source": "It opened in 1973."}))[:51]
    '{"claim":{"text":"It opened in 1973.","id":"a","spa'
    """

    model: str | Model
    """What judges."""
    threshold: float
    """Score from which a claim counts as Attributable."""
    repair_rest: Rest | None = None
    """What to do with claims that have no fix; None for no repair."""
    method: str | None = None
    """How a language model is asked."""
    votes: int = 1
    """How many answers of a language model decide."""
    seed: int | None = None
    """Seed of a language model's sampling."""
    max_tokens: int | None = None
    """Length of a language model's reply; None for the usual one."""
    search: SearchOptions = field(default_factory=SearchOptions)
    """Where to search for sources."""

    def __call__(self) -> Work:
        """Load the model. Raises ConfigError for an unknown one, or a number out of range."""
        checker = self.checker()
        return lambda row: (
            _unreadable(row) or to_json(checker.check_row(row.fields or {}, row.number, self.repair_rest, row.place))
        )

    def waiting(self, checker: Checker) -> Waiting:
        """The same work with a checker whose model answers many rows at once."""

        async def check(row: Row) -> str:
            return _unreadable(row) or to_json(
                await checker.acheck_row(row.fields or {}, row.number, self.repair_rest, row.place)
            )

        return Waiting(lambda: check, checker.aclose)

    def checker(self) -> Checker:
        """What checks the rows."""
        from vouching.checker import Checker

        return Checker(
            self.model,
            self.threshold,
            method=self.method,
            votes=self.votes,
            seed=self.seed,
            max_tokens=self.max_tokens,
            search=self.search.engines() if self.search else None,
            queries=self.search.queries,
        )

    def settings(self, checker: Checker) -> dict[str, str | float | bool | None]:
        """What makes the lines, for the note beside them."""
        return {
            "command": "check",
            "model": self.model if isinstance(self.model, str) else self.model.name,
            "threshold": self.threshold,
            "repair": self.repair_rest,
            "record": VERDICT_VERSION,
            "vouching": __version__,
            **(checker.decoding or {}),
            **(self.search.settings if self.search else {}),
        }


def _unreadable(row: Row) -> str | None:
    """The line of a row that cannot be read; None for any other."""
    if row.fields is not None:
        return None
    return to_json(Unverified(Claim("", id=row.name), "input", f"{row.place}: {row.problem}"))


def check_rows(options: CheckOptions, patience: float = PATIENCE, again: str = AGAIN) -> Exit:
    """Check the rows of ``options.input``, write a line for each to ``options.output`` and tell how it went.

    Args:
        options: what to check and how.
        patience: seconds of work before worker processes are started, with several jobs.
        again: how to go on with a run that stops early, for the message.

    Raises:
        InputError: the input, the output or the report cannot be used, or the output belongs to other rows.
        ConfigError: an unknown model, or a threshold outside [0, 1].
    """
    assert options.input is not None
    assert options.output is not None
    assert options.method not in ("rules", "checklist", "holistic", "blinded")  # it has rows of its own
    work = CheckWork(
        options.model, options.threshold, options.repair_rest, options.method, options.votes, options.seed,
        options.max_tokens, options.search,
    )  # fmt: skip
    checker = work.checker()  # a wrong setting shows before any file is made
    waits = not checker.embedded or options.search.waits
    if waits and options.jobs != 1:
        what = "a web engine" if checker.embedded else "a language model"
        raise InputError(
            f"got --jobs {options.jobs} with {what}, which is waited for: leave it out, one process has "
            f"{ROWS_AT_ONCE} rows under way at once"
        )
    check_report(options)
    try:
        with ExitStack() as open_files:
            reader = open_files.enter_context(open_rows(options.input, COLUMNS))
            journal = open_files.enter_context(_output(options, work.settings(checker)))
            make_work = work.waiting(checker) if waits else work
            summary = run_rows(
                reader, journal, make_work, look, again=again if _can_resume(options.output) else "",
                jobs=options.jobs or cores(), stop_on_problem=options.stop_on_error, patience=patience,
            )  # fmt: skip
    except OSError as error:
        return cannot_write(error, options.output)
    _tell(summary, options.output, again)
    if not write_row_report(options):
        return Exit.INCOMPLETE
    return exit_status(summary, options.fail)


def look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a record: its row, what is wrong with that, and the outcomes to count.

    >>> record = {"kind": "unverified", "claim": {"id": "a"}, "reason": "input", "message": "line 3: it is no JSON"}
    >>> seen = look("rows.jsonl", record)
    >>> seen.name, seen.problem, dict(seen.counts)
    ('a', 'rows.jsonl, line 3: it is no JSON', {'unverified': 1})
    """
    whole = record["kind"] == "report"
    findings: list[dict[str, Any]] = record["findings"] if whole else [record]
    counts = Counter(str(finding.get("label", finding["kind"])) for finding in findings)
    return Seen(
        name=record["id"] if whole else record["claim"]["id"],
        problem=f"{input_name}, {record['message']}" if record.get("reason") == "input" else None,
        counts=counts if findings else {_NO_CLAIM: 1},
        again=may_pass(findings),
    )


def exit_status(summary: BatchSummary, fail: bool) -> Exit:
    """How the command ends, over all finished rows: the same as for one claim or answer, see ``check.exit_status``."""
    if fail and summary.counts["Not Attributable"]:
        return Exit.FINDINGS
    nothing = not summary.rows or summary.counts[_NO_CLAIM]
    incomplete = summary.stopped is not None or summary.counts["unverified"] or (fail and nothing)
    return Exit.INCOMPLETE if incomplete else Exit.OK


def _output(options: CheckOptions, settings: Settings) -> Journal:
    assert options.output is not None
    if options.output == STDIN:
        return Journal(sys.stdout.buffer)
    return open_journal(options.output, settings, options.resume)


def _tell(summary: BatchSummary, output: str, again: str) -> None:
    """Say on standard error what became of the rows."""
    if summary.stopped is not None:
        tell_stopped(summary.stopped, again if _can_resume(output) else "")
    elif summary.found and summary.found == summary.rows:
        write_error(f"nothing to do: {output} is finished")
    outcomes = {
        "attributable": summary.counts["Attributable"],
        "not attributable": summary.counts["Not Attributable"],
        "not verified": summary.counts["unverified"],
        "without a claim": summary.counts[_NO_CLAIM],
    }
    words = ", ".join(f"{count:,} {name}" for name, count in outcomes.items() if count)
    broken = f"; {summary.problems:,} of the rows cannot be used, the output says why" if summary.problems else ""
    claims = summary.counts.total() - summary.counts[_NO_CLAIM]
    # An answer has any number of claims.
    more = f", {claims:,} claim{'s' * (claims != 1)}" if claims != summary.rows else ""
    write_error(f"{summary.rows:,} row{'s' * (summary.rows != 1)}{more}{f': {words}' if words else ''}{broken}")


def _can_resume(output: str) -> bool:
    return output != STDIN and Path(output).is_file()
