"""``vouch check``: a claim or a whole response against its sources.

Left out: many rows at once, and search for sources.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vouching.commands.files import STDIN, TextFile, argument_text, read_text
from vouching.commands.streams import Exit, draw, progress, usage_errors, write_error, write_result
from vouching.errors import InputError
from vouching.types import ItemResult, Report, Source, Unverified, Verdict

if TYPE_CHECKING:
    from vouching.inputs import SourceLike

app = typer.Typer()

_WHAT = "What to check"
_AGAINST = "What to check it against"
_HOW = "How"
_OUTPUT = "Output"

_EPILOG = """
**Examples**

vouch check "It opened in 1937." --source bridge.txt

vouch check --response answer.txt --source a.txt --source b.txt --repair

curl -s https://example.org/notes.txt | vouch check "It rained." --source - --json

**Exit status**: 0 done; 1 under --fail, a claim is not attributable; 2 the command line or a file cannot be used;
3 a claim could not be verified, --fail found no claim, or the result could not be written.
"""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of one ``vouch check``, as given."""

    claim: str | None
    """The statement, or "-" for standard input."""
    response: str | None
    """Path of a whole answer, or "-"."""
    response_text: str | None
    """A whole answer."""
    question: str | None
    """The question the answer is to."""
    source: tuple[str, ...]
    """Paths of sources, or "-"."""
    source_text: tuple[str, ...]
    """Sources themselves."""
    repair: bool
    """Whether to mend the answer."""
    rest: Literal["mark", "remove", "keep"] | None
    """What to do with claims that have no fix; None if not said."""
    threshold: float
    """Score from which a claim counts as Attributable."""
    model: str
    """Name of what judges."""
    fail: bool
    """Whether a claim that is not Attributable fails the command."""
    as_json: bool
    """Whether to print JSON."""
    as_markdown: bool
    """Whether to print Markdown."""


def _panel(title: str, *names: str, **settings: Any) -> Any:
    """An option, listed by ``--help`` under ``title``."""
    return typer.Option(*names, rich_help_panel=title, **settings)


_Claim = Annotated[
    str | None,
    typer.Argument(help="The statement to check; - reads it from standard input."),
]
_Response = Annotated[
    str | None, _panel(_WHAT, metavar="PATH|-", help="A file with a whole answer, checked claim by claim.")
]
_ResponseText = Annotated[str | None, _panel(_WHAT, metavar="TEXT", help="A whole answer, checked claim by claim.")]
_Question = Annotated[str | None, _panel(_WHAT, metavar="TEXT", help="The question the answer is to.")]
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
    _panel(_HOW, metavar="HOW", help="With --repair: mark, remove or keep claims that have no fix (mark)."),
]
_Threshold = Annotated[float, _panel(_HOW, help="Score from 0 to 1 from which a claim counts as attributable.")]
_Model = Annotated[str, _panel(_HOW, metavar="NAME", envvar="VOUCH_MODEL", help="What judges.")]
_Fail = Annotated[bool, _panel(_OUTPUT, "--fail", metavar="", help="Exit with 1 if a claim is not attributable.")]
_Json = Annotated[bool, _panel(_OUTPUT, "--json", metavar="", help="JSON; see vouch schema.")]
_Markdown = Annotated[bool, _panel(_OUTPUT, "--markdown", metavar="", help="Markdown.")]


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
    fail: _Fail = False,
    as_json: _Json = False,
    as_markdown: _Markdown = False,
) -> None:
    """Check a claim, or a whole answer claim by claim, against its sources, and say why.

    Works offline. "Attributable" says that the sources support the claim, not that it is true.
    """
    options = CheckOptions(
        claim, response, response_text, question, tuple(source or ()), tuple(source_text or ()), repair, rest,
        threshold, model, fail, as_json, as_markdown,
    )  # fmt: skip
    with usage_errors():
        record = check(options)
        _write(record, options)
    if options.fail and isinstance(record, Report) and not record.findings:
        write_error("no claim was found: the answer states nothing that could be checked")
    raise typer.Exit(exit_status(record, options.fail))


def check(options: CheckOptions) -> Verdict | Unverified | Report:
    """Read the texts that the options name and check them.

    Raises:
        InputError: The options do not go together, or a text cannot be used.
        ConfigError: An unknown model, or a threshold outside [0, 1].
    """
    _refuse_contradictions(options)
    from vouching.checker import Checker

    checker = Checker(model=options.model, threshold=options.threshold)
    files = _source_files(options.source)
    texts = [argument_text(text, "--source-text") for text in options.source_text]
    sources: list[SourceLike] = [*(Source(file.text, id=file.name) for file in files), *texts]
    subject = _subject(options)
    with progress("Checking"):
        if options.claim is not None:
            record = checker.check(subject.text.strip(), sources)
        else:
            question = None if options.question is None else argument_text(options.question, "--question")
            rest = (options.rest or "mark") if options.repair else None
            record = checker.check_response(subject.text, sources, question, rest)
    warnings = [warning for file in (*files, subject) for warning in file.warnings]
    return replace(record, warnings=(*record.warnings, *warnings))


def exit_status(record: Verdict | Unverified | Report, fail: bool) -> Exit:
    """How the command ends: a claim that is not attributable counts under ``fail`` only, an unverified one always.

    Under ``fail`` an answer without a single claim does not pass either.
    """
    findings = record.findings if isinstance(record, Report) else (record,)
    wrong = any(
        (isinstance(f, Verdict) and not f.attributable) or (isinstance(f, ItemResult) and not f.passed)
        for f in findings
    )
    if fail and wrong:
        return Exit.FINDINGS
    missing = any(isinstance(f, Unverified) for f in findings) or (fail and not findings)
    return Exit.INCOMPLETE if missing else Exit.OK


def _source_files(paths: Sequence[str]) -> list[TextFile]:
    """The sources that are files; where two have the same name, each goes by its path as given."""
    files = [read_text(path, "--source") for path in paths]
    names = Counter(file.name for file in files)
    return [
        replace(file, name=path) if names[file.name] > 1 and path != STDIN else file
        for path, file in zip(paths, files, strict=True)
    ]


def _refuse_contradictions(options: CheckOptions) -> None:
    for complaint in _contradictions(options):
        raise InputError(complaint)


def _contradictions(options: CheckOptions) -> Iterator[str]:
    """What is wrong with the options, most important first."""
    given = {"CLAIM": options.claim, "--response": options.response, "--response-text": options.response_text}
    names = [name for name, value in given.items() if value is not None]
    if not names:
        yield "nothing to check: give a CLAIM, --response FILE or --response-text TEXT (see vouch check --help)"
    if len(names) > 1:
        yield f"got {' and '.join(names)}, wanted one of them: check them one after the other"
    if options.claim is not None and _is_file(options.claim):
        yield f"CLAIM {options.claim} is a file, wanted a statement: check its text with --response {options.claim}"
    if not options.source and not options.source_text:
        yield "no source was given: say what to check against with --source FILE or --source-text TEXT"
    if [options.claim, options.response, *options.source].count(STDIN) > 1:
        yield "got - more than once, but standard input can be read only once: name a file for the others"
    alone = {"--question": options.question is not None, "--repair": options.repair}
    if options.claim is not None and any(alone.values()):
        name = next(name for name, used in alone.items() if used)
        yield f"got {name} with a CLAIM, but it belongs to a whole answer: use --response or --response-text"
    if options.rest and not options.repair:
        yield f"got --rest {options.rest} without --repair: add --repair"
    if options.as_json and options.as_markdown:
        yield "got --json and --markdown, wanted one of them"


def _is_file(claim: str) -> bool:
    """Whether a claim is the path of a file; a single word could be both, and is a claim."""
    try:
        return ("." in claim or "/" in claim) and Path(claim).is_file()
    except (OSError, ValueError):
        return False


def _subject(options: CheckOptions) -> TextFile:
    """The text to check."""
    if options.response is not None:
        return read_text(options.response, "--response")
    if options.claim == STDIN:
        return read_text(STDIN, "CLAIM")
    name = "--response-text" if options.claim is None else "CLAIM"
    return TextFile(name, argument_text(options.claim or options.response_text or "", name), ())


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
