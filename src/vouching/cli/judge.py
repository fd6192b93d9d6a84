"""Shared by ``vouch check``, ``follow`` and ``audit``: the checker, one text or a file of rows, and the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vouching.checker import Checker
from vouching.cli.keeping import Keeping
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
from vouching.cli.spread import Spread
from vouching.cli.streams import Exit, draw, write_error, write_json, write_summary
from vouching.errors import InputError
from vouching.repair import Rest
from vouching.rows import AsyncWorkFactory, BatchSummary, Line, LookIn, Row, RowJob, Seen, Work, count_retryable
from vouching.rows.lines import unusable
from vouching.search.options import SearchOptions
from vouching.types import VERDICT_VERSION, Report, Source, Unverified, Verdict, VerdictWarning
from vouching.types.serial import to_line
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.models.base import Model
    from vouching.report.page import Record


ALONE = Spread()
"""A single file, or the folder as a whole on this machine."""


@dataclass(frozen=True, slots=True)
class Judging:
    """How claims or answers are judged; creates the work for rows, also in worker processes.

    >>> check = Judging("embedded")()
    >>> check(Row(1, "line 1", {"id": "a", "claim": "It opened in 1973.", "source": "It opened in 1973."}))[:51]
    '{"id":"a","claim":{"text":"It opened in 1973.","id"'
    """

    model: str | Model
    method: str | None = None
    """None for the method that suits the model."""
    threshold: float = 0.5
    """Score from which a claim is Attributable, or an item passes."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of the method."""
    search: SearchOptions = field(default_factory=SearchOptions)
    repair_rest: Rest | None = None
    """What to do with claims that have no fix; None for no repair."""
    min_confidence: float = 0.0
    """Confidence below which a verdict is undecided."""
    row_defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields for rows that do not have them."""

    def checker(self) -> Checker:
        """The checker. Raises ConfigError for an unknown model or an invalid setting."""
        engines = self.search.engines() if self.search else None
        return Checker(
            self.model,
            self.threshold,
            method=self.method,
            search=engines,
            queries=self.search.queries,
            min_confidence=self.min_confidence,
            **self.settings,
        )

    def __call__(self) -> Work:
        """The function from a row to its line."""
        checker = self.checker()

        def judge(row: Row) -> str:
            if (line := self._unreadable(row)) is not None:
                return line
            return to_line(checker.check_row(*self._arguments(row)))

        return judge

    def waiting(self, checker: Checker) -> AsyncWorkFactory:
        """The same work with a checker that handles many rows concurrently."""

        async def judge(row: Row) -> str:
            if (line := self._unreadable(row)) is not None:
                return line
            return to_line(await checker.acheck_row(*self._arguments(row)))

        return AsyncWorkFactory(lambda: judge, checker.aclose)

    def opened(self) -> Work | AsyncWorkFactory:
        """The work in another process or on another machine."""
        checker = self.checker()
        return self.waiting(checker) if self.waits(checker) or checker.judges != "claims" else self()

    def waits(self, checker: Checker) -> str | None:
        """What the work waits for: a language model, or a web search engine; None for nothing."""
        if not checker.embedded:
            return "a language model"
        return "a web engine" if self.search.waits else None

    def note(self, command: str, checker: Checker) -> dict[str, str | float | bool | None]:
        """The settings that determine the lines, for the note next to them."""
        return {
            "command": command,
            "model": self.model if isinstance(self.model, str) else self.model.name,
            "threshold": self.threshold,
            "repair": self.repair_rest,
            **({"min_confidence": self.min_confidence} if self.min_confidence else {}),
            **({"prefer": self.settings["prefer"]} if self.settings.get("prefer") else {}),
            "record": VERDICT_VERSION,
            "vouching": __version__,
            **(checker.decoding or {}),
            **(self.search.settings if self.search else {}),
        }

    def _arguments(self, row: Row) -> tuple[dict[str, Any], int, Rest | None, str]:
        return {**self.row_defaults, **(row.fields or {})}, row.number, self.repair_rest, row.place

    def _unreadable(self, row: Row) -> str | None:
        """The line of a row that cannot be read; None for other rows."""
        if row.fields is not None:
            return None
        return to_line(unusable(row, row.problem))


@dataclass(slots=True)
class Subject:
    """One text to judge, its sources, and where the record goes, as given on the command line."""

    what: str
    """Name of the command's argument."""
    text: str | None
    """The argument; "-" for standard input."""
    response: str | None
    """Path of a file with the text."""
    source: Sequence[str]
    """Paths of sources."""
    source_text: Sequence[str]
    as_json: bool
    report: str | None
    """Path of a report."""
    keeping: Keeping = field(default_factory=lambda: Keeping("check", None))
    """Where the record is kept."""
    warnings: list[VerdictWarning] = field(default_factory=list["VerdictWarning"])
    """Warnings about the files that were read."""

    def refuse(
        self,
        files: tuple[str | None, str | None, bool],
        others: Mapping[str, object],
        *paths: str | None,
        of_rows: Mapping[str, object],
    ) -> None:
        """Raise InputError for options that contradict a file of rows or need one, and for an unusable report path.

        Args:
            files: ``--input``, ``--output`` and ``--resume``.
            others: further options for a single text, with their values.
            paths: further files that are read or written.
            of_rows: further options for a file of rows, with whether they were given.
        """
        singles = {
            self.what: self.text,
            "--response": self.response,
            "--source": self.source,
            "--source-text": self.source_text,
            "--json": self.as_json,
            **others,
        }
        refuse_row_contradictions(singles, files, self.report, *paths, of_rows=of_rows)
        _refuse_report(self.report, files[:2], self.response, *self.source)

    def read(self, *others: str) -> tuple[str, list[Source | str]]:
        """The text and the sources; ``others`` are further paths that are read. Raises InputError."""
        what, text, path = self.what, self.text, self.response
        if text is None and path is None:
            raise InputError(f"no text was given: pass {what}, --response FILE or --input ROWS (see --help)")
        if text is not None and path is not None:
            raise InputError(f"{what} and --response cannot be used together")
        if text is not None and _is_file(text):
            raise InputError(f"{what} must be text, got the file {text}: check its content with --response {text}")
        refuse_second_stdin(text, path, *self.source, *others)
        self.keeping.refuse()
        if path is not None:
            found = read_text(path, "--response")
        else:
            found = read_text(STDIN, what) if text == STDIN else TextFile(what, argument_text(text or "", what), ())
        given, warnings = given_sources(self.source, self.source_text)
        self.warnings += [*warnings, *found.warnings]
        return found.text, given

    def finish(self, record: Verdict | Unverified | Report, sources: tuple[Source, ...]) -> None:
        """Keep the record, write the report and print it. Raises InputError if the report cannot be written."""
        record = replace(record, warnings=(*record.warnings, *self.warnings))
        if isinstance(record, Report):
            asked = "instruction" if self.keeping.kind == "follow" else "question"
            self.keeping.result({"response": record.response, asked: record.question}, record, sources)
        else:
            self.keeping.result({"claim": record.claim.text}, record, sources)
        if self.report is not None:
            file = self.response if self.response != STDIN else None
            write_record(self.report, record, sources, file)
        if self.as_json:
            write_json(record)
            return
        from vouching.report.terminal import print_report, print_verdict

        if isinstance(record, Report):
            draw(lambda console: print_report(console, record))
        else:
            draw(lambda console: print_verdict(console, record))


def _is_file(text: str) -> bool:
    """Whether a text is the path of a file; a single word counts as a text."""
    try:
        return ("." in text or "/" in text) and Path(text).is_file()
    except (OSError, ValueError):
        return False


def _refuse_report(path: str | None, rows: tuple[str | None, str | None], *read: str | None) -> None:
    """Raise InputError early if the report could not be written; ``read`` are paths of files that are read."""
    from vouching.report.ci import ci_target, is_ci
    from vouching.report.skeleton import page_target

    if path is None:
        return
    if is_read(path, *read):
        raise InputError(f"--report {path} is an input file and would be overwritten: choose another path")
    input, output = rows
    if input is not None and STDIN in rows:
        raise InputError("--report requires files for --input and --output, got -")
    if output is not None and Path(output).exists() and not Path(output).is_file():
        raise InputError(f"--report requires a regular file for --output, got {output}")
    if is_ci(path):
        ci_target(path)
    else:
        page_target(path, markdown=input is None)


def write_record(
    path: str, record: Verdict | Unverified | Report, sources: tuple[Source, ...], file: str | None
) -> None:
    """Write the report on one record: HTML, Markdown, JUnit XML or SARIF, by the ending of the path.

    ``file`` is the file that was checked, if any. Raises InputError if the report cannot be written.
    """
    from vouching.report.ci import CheckedText, is_ci, write_ci
    from vouching.report.skeleton import is_markdown

    title = Path(file).name if file is not None else ""
    if is_ci(path):
        findings, text = (record.findings, record.response) if isinstance(record, Report) else ((record,), None)
        write_ci(path, [CheckedText(file or "claim", findings, file, text if file is not None else None)])
        return
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
    """The exit status: negative findings count only with ``fail``, findings that could not be verified always.

    With ``fail``, an answer without anything to judge is incomplete.
    """
    findings = record.findings if isinstance(record, Report) else (record,)
    found = {finding.status for finding in findings}
    if fail and found & {"mismatch", "not_found"}:
        return Exit.FINDINGS
    return Exit.INCOMPLETE if "unverified" in found or (fail and not findings) else Exit.OK


@dataclass(frozen=True, slots=True)
class RowKind:
    """How a command reports on its rows, and its exit status."""

    words: Callable[[BatchSummary], str]
    """The text after the number of rows."""
    wrong: Sequence[str]
    """Counts that make ``--fail`` fail."""
    open: Sequence[str]
    """Counts that make the result incomplete."""
    some: Callable[[BatchSummary], object]
    """Whether there was anything to judge; if not, ``--fail`` does not pass."""


def finish_rows(job: RowJob, kind: RowKind, fail: bool, page: RowPage, spread: Spread = ALONE) -> Exit:
    """Judge the rows of a file or a folder, report on them, write the page and return the exit status.

    Args:
        job: rows, work and output.
        kind: how to report.
        fail: whether negative findings end the command with 1.
        page: the HTML report.
        spread: how the rows are spread over processes and machines.
    """
    if page.path is not None and spread.wanted(str(job.input)):
        raise InputError("--report requires a single file of rows for --input")
    summary = spread.rows(job)
    write_summary(summary, kind.words(summary))
    if not page.write(job):
        return Exit.INCOMPLETE
    if fail and any(summary.counts[name] for name in kind.wrong):
        return Exit.FINDINGS
    nothing = fail and not kind.some(summary)
    left = not summary.complete or any(summary.counts[name] for name in kind.open)
    return Exit.INCOMPLETE if left or nothing else Exit.OK


@dataclass(frozen=True, slots=True)
class RowPage:
    """The HTML report on a completed file of rows."""

    path: str | None = None
    """None for no report."""
    search: SearchOptions = field(default_factory=SearchOptions)
    threshold: float = 0.5
    make_record: Callable[[Line], Record] | None = None
    """Converts a line to a record, if it is not one."""

    def write(self, job: RowJob) -> bool:
        """Write it, if requested; False after reporting that it cannot be written."""
        if self.path is None:
            return True
        from vouching.report.ci import is_ci, write_ci
        from vouching.report.rows import checked_rows, write_row_report

        try:
            if is_ci(self.path):
                write_ci(self.path, checked_rows(str(job.input), job.output, self.make_record))
                return True
            write_row_report(self.path, str(job.input), job.output, self.make_record, self.search, self.threshold)
        except InputError as error:
            write_error(
                f"the verdicts were written, but the report was not: {error}; use --resume with another --report"
            )
            return False
        return True


def look_at(count: Callable[[list[dict[str, Any]]], Mapping[str, int]]) -> LookIn:
    """A :data:`LookIn` for records; ``count`` returns the counts of the findings of a row.

    >>> record = {"kind": "unverified", "claim": {"id": "a"}, "reason": "input", "message": "line 3: invalid JSON"}
    >>> look_at(lambda findings: {})("rows.jsonl", record).problem
    'rows.jsonl, line 3: invalid JSON'
    """
    return _RecordLook(count)


@dataclass(frozen=True, slots=True)
class _RecordLook:
    """What :func:`look_at` returns; picklable if ``count`` is."""

    count: Callable[[list[dict[str, Any]]], Mapping[str, int]]

    def __call__(self, input_name: str, record: Line) -> Seen:
        if record.get("reason") == "input":
            return Seen(record["claim"]["id"], problem=f"{input_name}, {record['message']}")
        whole = record["kind"] == "report"
        findings: list[dict[str, Any]] = record["findings"] if whole else [record]
        name = record["id"] if whole else record["claim"]["id"]
        return Seen(name, counts=self.count(findings), again=count_retryable(findings))
