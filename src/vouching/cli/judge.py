"""What ``vouch check``, ``follow`` and ``audit`` share: a checker, one answer or a file of rows, and what came out.

Not here: which options each has, which are in the modules of the commands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vouching.checker import Checker
from vouching.cli.options import (
    STDIN,
    TextFile,
    argument_text,
    given_sources,
    is_read,
    read_text,
    refuse_row_contradictions,
    refuse_second_stdin,
)
from vouching.cli.streams import AGAIN, Exit, draw, show_rows, tell_rows, write_error, write_result
from vouching.errors import InputError
from vouching.repair import Rest
from vouching.rows import AsyncWorkFactory, BatchSummary, Line, LookIn, Row, RowJob, Seen, Work, count_retryable
from vouching.search.options import SearchOptions
from vouching.types import VERDICT_VERSION, Claim, Report, Source, Unverified, Verdict, VerdictWarning
from vouching.types.serial import to_json
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.models.base import Model
    from vouching.report.page import Record


@dataclass(frozen=True, slots=True)
class Judging:
    """How claims or answers are judged; makes the function from a row to its record, also in worker processes.

    >>> check = Judging("embedded")()
    >>> check(Row(1, "line 1", {"id": "a", "claim": "It opened in 1973.", "source": "It opened in 1973."}))[:51]
    '{"claim":{"text":"It opened in 1973.","id":"a","spa'
    """

    model: str | Model
    """What judges."""
    method: str | None = None
    """Which method; None for what suits the model."""
    threshold: float = 0.5
    """Score from which a claim counts as Attributable, or an item passes."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of the method."""
    search: SearchOptions = field(default_factory=SearchOptions)
    """Where to search for sources."""
    repair_rest: Rest | None = None
    """What to do with claims that have no fix; None for no repair."""
    row_defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What a row has that does not bring its own."""

    def checker(self) -> Checker:
        """What judges. Raises ConfigError for an unknown model, or a setting that does not fit."""
        engines = self.search.engines() if self.search else None
        return Checker(
            self.model, self.threshold, method=self.method, search=engines, queries=self.search.queries, **self.settings
        )

    def __call__(self) -> Work:
        """The function from a row to its line."""
        checker = self.checker()
        return lambda row: self._unread(row) or to_json(checker.check_row(*self._asked(row)))

    def waiting(self, checker: Checker) -> AsyncWorkFactory:
        """The same work with a checker whose model answers many rows at once."""

        async def judge(row: Row) -> str:
            return self._unread(row) or to_json(await checker.acheck_row(*self._asked(row)))

        return AsyncWorkFactory(lambda: judge, checker.aclose)

    def waits(self, checker: Checker) -> bool:
        """Whether others are waited for: a language model, or an engine on the web."""
        return not checker.embedded or self.search.waits

    def note(self, command: str, checker: Checker) -> dict[str, str | float | bool | None]:
        """What makes the lines, for the note beside them."""
        return {
            "command": command,
            "model": self.model if isinstance(self.model, str) else self.model.name,
            "threshold": self.threshold,
            "repair": self.repair_rest,
            "record": VERDICT_VERSION,
            "vouching": __version__,
            **(checker.decoding or {}),
            **(self.search.settings if self.search else {}),
        }

    def _asked(self, row: Row) -> tuple[dict[str, Any], int, Rest | None, str]:
        return {**self.row_defaults, **(row.fields or {})}, row.number, self.repair_rest, row.place

    def _unread(self, row: Row) -> str | None:
        """The line of a row that cannot be read; None for any other."""
        if row.fields is not None:
            return None
        return to_json(Unverified(Claim("", id=row.name), "input", f"{row.place}: {row.problem}"))


@dataclass(slots=True)
class Subject:
    """One text to judge, what it is judged by, and where the record goes, as given."""

    what: str
    """What the argument of the command is called."""
    text: str | None
    """The argument, "-" being standard input."""
    response: str | None
    """Path of a file with the text."""
    source: Sequence[str]
    """Paths of sources."""
    source_text: Sequence[str]
    """Sources themselves."""
    as_json: bool
    """Whether to print JSON."""
    report: str | None
    """Path of a report."""
    warnings: list[VerdictWarning] = field(default_factory=list["VerdictWarning"])
    """What is to be known about the files that were read."""

    def refuse(
        self,
        files: tuple[str | None, str | None, bool],
        others: Mapping[str, object],
        *paths: str | None,
        of_rows: Mapping[str, object],
    ) -> None:
        """Refuse what does not go with a file of rows, or needs one, and a report that could not be written.

        Args:
            files: ``--input``, ``--output`` and ``--resume``.
            others: further options about a single text, with their values.
            paths: further files that are read or written.
            of_rows: further options about a file of rows, with whether each is given.

        Raises:
            InputError: the most important thing that is wrong.
        """
        singles = {
            self.what: self.text, "--response": self.response, "--source": self.source,
            "--source-text": self.source_text, "--json": self.as_json, **others,
        }  # fmt: skip
        refuse_row_contradictions(singles, files, self.report, *paths, of_rows=of_rows)
        _refuse_report(self.report, files[:2], self.response, *self.source)

    def read(self, *others: str) -> tuple[str, list[Source | str]]:
        """The text and the sources.

        Args:
            others: further paths that are read.

        Raises:
            InputError: no text, two of them, one that cannot be read, or standard input twice.
        """
        what, text, path = self.what, self.text, self.response
        if text is None and path is None:
            raise InputError(f"nothing to check: give {what}, --response FILE or --input ROWS (see --help)")
        if text is not None and path is not None:
            raise InputError(f"got {what} and --response, wanted one of them: check them one after the other")
        if text is not None and _is_file(text):
            raise InputError(f"{what} {text} is a file, wanted a text: check what is in it with --response {text}")
        refuse_second_stdin(text, path, *self.source, *others)
        if path is not None:
            found = read_text(path, "--response")
        else:
            found = read_text(STDIN, what) if text == STDIN else TextFile(what, argument_text(text or "", what), ())
        given, warnings = given_sources(self.source, self.source_text)
        self.warnings += [*warnings, *found.warnings]
        return found.text, given

    def finish(self, record: Verdict | Unverified | Report, sources: tuple[Source, ...]) -> None:
        """Write the report on a record and print it. Raises InputError if the report cannot be written."""
        record = replace(record, warnings=(*record.warnings, *self.warnings))
        if self.report is not None:
            title = Path(self.response).name if self.response not in (None, STDIN) else ""
            write_record(self.report, record, sources, title)
        if self.as_json:
            write_result(to_json(record, indent=2 if sys.stdout.isatty() else None) + "\n")
            return
        from vouching.report.terminal import print_report, print_verdict

        if isinstance(record, Report):
            draw(lambda console: print_report(console, record))
        else:
            draw(lambda console: print_verdict(console, record))


def _is_file(text: str) -> bool:
    """Whether a text is the path of a file; a single word could be both, and is a text."""
    try:
        return ("." in text or "/" in text) and Path(text).is_file()
    except (OSError, ValueError):
        return False


def _refuse_report(path: str | None, rows: tuple[str | None, str | None], *read: str | None) -> None:
    """Raise InputError, before anything is judged, if a report could not be written afterwards.

    Args:
        path: of the report; None for none.
        rows: ``--input`` and ``--output``.
        read: paths of what is read.
    """
    from vouching.report.skeleton import page_target

    if path is None:
        return
    if is_read(path, *read):
        raise InputError(f"--report {path} is a file that is read here, and would be lost: name another place")
    input, output = rows
    if input is not None and STDIN in rows:
        raise InputError("got --report with -, but it is made from the files of the rows and the results: name both")
    if output is not None and Path(output).exists() and not Path(output).is_file():
        raise InputError(f"got --report with --output {output}, but it is made from files: name a file")
    page_target(path, markdown=input is None)


def write_record(path: str, record: Verdict | Unverified | Report, sources: tuple[Source, ...], title: str) -> None:
    """Write the report on one record: a page, or Markdown if the path ends in .md. Raises InputError if it cannot."""
    from vouching.report.skeleton import is_markdown

    if not is_markdown(path):
        from vouching.report.page import Entry, write_report

        write_report(path, [Entry(record, sources)], title=title)
        return
    from vouching.report.markdown import report_markdown, verdict_markdown

    text = report_markdown(record) if isinstance(record, Report) else verdict_markdown(record)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"the report cannot be written to {path}: {error.strerror or error}") from None


def exit_status(record: Verdict | Unverified | Report, fail: bool) -> Exit:
    """How the command ends: what is wrong counts under ``fail`` only, what could not be judged always.

    Under ``fail`` an answer without anything to judge does not pass either.
    """
    findings = record.findings if isinstance(record, Report) else (record,)
    found = {finding.status for finding in findings}
    if fail and found & {"mismatch", "not_found"}:
        return Exit.FINDINGS
    return Exit.INCOMPLETE if "unverified" in found or (fail and not findings) else Exit.OK


@dataclass(frozen=True, slots=True)
class RowKind:
    """What a command says about its rows, and how it ends."""

    words: Callable[[BatchSummary], str]
    """What is said behind the number of rows."""
    wrong: Sequence[str]
    """Which counts make ``--fail`` fail."""
    open: Sequence[str]
    """Which counts leave the result incomplete."""
    some: Callable[[BatchSummary], object]
    """Whether there was anything to judge, without which ``--fail`` does not pass."""


def finish_rows(job: RowJob, kind: RowKind, fail: bool, page: RowPage, again: str = AGAIN) -> Exit:
    """Judge the rows of a file, tell how it went and write the page.

    Args:
        job: rows, work and output.
        kind: what to say.
        fail: whether what is wrong ends the command with 1.
        page: the report on the rows.
        again: how to resume, for the message.

    Raises:
        InputError: the input or the output cannot be used, or the output belongs to other rows.
        typer.Exit: the output takes no more.
    """
    summary = show_rows(job, again)
    tell_rows(summary, kind.words(summary))
    if not page.write(job):
        return Exit.INCOMPLETE
    if fail and any(summary.counts[name] for name in kind.wrong):
        return Exit.FINDINGS
    nothing = fail and not kind.some(summary)
    left = not summary.complete or any(summary.counts[name] for name in kind.open)
    return Exit.INCOMPLETE if left or nothing else Exit.OK


@dataclass(frozen=True, slots=True)
class RowPage:
    """The HTML report on a finished file of rows."""

    path: str | None = None
    """Where it goes; None for none."""
    search: SearchOptions = field(default_factory=SearchOptions)
    """Where sources were searched for."""
    threshold: float = 0.5
    """Of the check."""
    make_record: Callable[[Line], Record] | None = None
    """Where a line is no record itself, what makes one of it."""

    def write(self, job: RowJob) -> bool:
        """Write it, if one is wanted; False if it could not be written, and standard error then says why."""
        if self.path is None:
            return True
        from vouching.report.rows import write_row_report

        try:
            write_row_report(self.path, str(job.input), job.output, self.make_record, self.search, self.threshold)
        except InputError as error:
            write_error(
                f"the verdicts are written, the report is not: {error}; --resume with another --report makes it"
            )
            return False
        return True


def look_at(count: Callable[[list[dict[str, Any]]], Mapping[str, int]]) -> LookIn:
    """Tells what a run needs to know about a record: its row, what is wrong with that, and the outcomes to count.

    Args:
        count: gives the counts from the findings of a row that could be used.

    >>> record = {"kind": "unverified", "claim": {"id": "a"}, "reason": "input", "message": "line 3: it is no JSON"}
    >>> look_at(lambda findings: {})("rows.jsonl", record).problem
    'rows.jsonl, line 3: it is no JSON'
    """

    def look(input_name: str, record: Line) -> Seen:
        if record.get("reason") == "input":
            return Seen(record["claim"]["id"], problem=f"{input_name}, {record['message']}")
        whole = record["kind"] == "report"
        findings: list[dict[str, Any]] = record["findings"] if whole else [record]
        name = record["id"] if whole else record["claim"]["id"]
        return Seen(name, counts=count(findings), again=count_retryable(findings))

    return look
