"""``vouch gate``: documents and agents' answers stopped at a gate, for pipelines, pre-commit and agents' hooks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from vouching.checker import Checker
from vouching.cli.keeping import LedgerTarget, kept_in
from vouching.cli.options import AGAINST, HOW, OUTPUT, SourceFiles, SourceTexts, given_sources, panel, read_text
from vouching.cli.streams import Exit, usage_errors, write_error, write_result
from vouching.errors import InputError
from vouching.integrations.accepted import read_accepted, write_accepted
from vouching.integrations.gate import Gated, gate, problem_line
from vouching.integrations.stop_hook import decide_stop, read_stop
from vouching.types import Source, Unverified, Verdict

app = typer.Typer(help="Stop documents and answers that their sources do not support.", no_args_is_help=True)

_DOCS_EPILOG = """
**Examples**

vouch gate docs README.md docs/guide.md --source facts.md

vouch gate docs docs --source facts/ --baseline accepted.json --allowed 0.02 --report vouch.sarif

vouch gate docs docs --source facts/ --policy outcomes.toml

**Exit status**: 0 passed; 1 more claims failed than allowed; 2 invalid command line or file; 3 a claim goes to review
or could not be judged, or a language model could not be reached; 130 interrupted.
"""
_STOP_EPILOG = """
**Examples**

vouch gate stop

vouch gate stop --source notes.md --model embedded:rules

**Exit status**: 0 the agent may stop; 2 it must go on, for the reason on standard error; 3 the record or the judge
cannot be used, so the answer was not checked; 130 interrupted.
"""

_PROSE = (".md", ".markdown", ".txt")
_Documents = Annotated[
    list[str],
    typer.Argument(
        help=f"Documents to check: text files, or folders, of which the files in {', '.join(_PROSE)} count."
    ),
]
_Model = Annotated[
    str, panel(HOW, metavar="NAME", envvar="VOUCH_MODEL", help="The judge of claims, as for vouch check.")
]
_Threshold = Annotated[
    float, panel(HOW, "--threshold", help="Minimum score, from 0 to 1, for a claim to be attributable.")
]
_Allowed = Annotated[float, panel(HOW, metavar="SHARE", help="Share of the claims, from 0 to 1, that may fail.")]
_Baseline = Annotated[
    str | None, panel(HOW, metavar="PATH", help="JSON file of accepted failures; it need not exist yet.")
]
OutcomesFile = Annotated[
    str | None,
    panel(HOW, "--policy", metavar="PATH", help="TOML file of rules for what passes, goes to review and fails."),
]
_Accept = Annotated[
    bool, panel(HOW, "--accept", metavar="", help="Write the failures of these documents to --baseline, and pass.")
]
_Report = Annotated[
    str | None, panel(OUTPUT, "--report", metavar="PATH", help="Also write a report: .xml (JUnit), .sarif or .html.")
]
_Given = Annotated[
    list[str] | None,
    panel(
        AGAINST,
        "--source",
        metavar="PATH|URL",
        help="Document to check against: a file, its web address, or a folder, whose files are read. Can be repeated.",
    ),
]
_BlockUnverified = Annotated[
    bool, panel(HOW, "--block-unverified", metavar="", help="Also block if a claim could not be judged.")
]


@app.command("docs", epilog=_DOCS_EPILOG)
def docs_command(
    documents: _Documents,
    source: _Given = None,
    source_text: SourceTexts = None,
    model: _Model = "embedded",
    threshold: _Threshold = 0.5,
    allowed: _Allowed = 0.0,
    policy: OutcomesFile = None,
    baseline: _Baseline = None,
    accept: _Accept = False,
    report: _Report = None,
    ledger: LedgerTarget = None,
) -> None:
    """Check documents against sources, and pass if few enough claims fail.

    A failure in --baseline does not count, if the document is named by the same path; a claim that changes is judged
    anew. Code blocks, headings and front matter
    are not checked.
    """
    from vouching.report.ci import ci_target, is_ci
    from vouching.report.outcomes import read_outcomes
    from vouching.report.skeleton import page_target

    with usage_errors():
        if accept and baseline is None:
            raise InputError("--accept requires --baseline: pass the file to write")
        if report is not None:
            (ci_target if is_ci(report) else page_target)(report)
        outcomes = read_outcomes(policy)
        known = read_accepted(baseline) if baseline is not None else []
        sources, warnings = given_sources(_files(source or (), "--source"), source_text or ())
        for warning in warnings:
            write_error(warning.message)
        files = [(path, read_text(path, "DOCUMENTS").text) for path in _files(documents, "DOCUMENTS", _PROSE)]
        with kept_in(ledger) as kept:
            checker = Checker(model, threshold, ledger=kept)
            found = gate(files, sources, checker, known, allowed, outcomes)
            checker.close()
        if report is not None:
            _write_report(report, found, sources)
        if accept and baseline is not None:
            names = {text.name for text in found.texts}
            write_accepted(baseline, [*(one for one in known if one.place not in names), *found.entries])
    _show(found, accept)
    raise typer.Exit(Exit.OK if accept and not found.unverified else _status(found))


def _files(paths: Sequence[str], name: str, endings: tuple[str, ...] = ("",)) -> list[str]:
    """The paths, with the files of folders in place of the folders. Raises InputError for a folder without any."""
    listed: list[str] = []
    for path in paths:
        if Path(path).is_dir():
            inside = sorted(
                str(file)
                for file in Path(path).rglob("*")
                if file.is_file() and file.name[0] != "." and file.name.lower().endswith(endings)
            )
            if not inside:
                kinds = f" in {', '.join(endings)}" if endings != ("",) else ""
                raise InputError(f"{name} {path} is a folder without files{kinds}: pass documents")
            listed += inside
        else:
            listed.append(path)
    return listed


def _write_report(path: str, found: Gated, sources: Sequence[Source | str]) -> None:
    from vouching.report.ci import is_ci, write_ci
    from vouching.report.page import Entry, write_report

    if is_ci(path):
        write_ci(path, found.texts)
    else:
        problems = [finding for _, finding in (*found.failed, *found.review, *found.unverified)]
        entries = [Entry(one, [*sources]) for one in problems if isinstance(one, Verdict | Unverified)]
        write_report(path, entries, title="Documents")


def _show(found: Gated, accept: bool) -> None:
    """The problems on standard output, and the sum on standard error."""
    problems = [*(() if accept else (*found.failed, *found.review)), *found.unverified]
    write_result("".join(f"{problem_line(text, finding)}\n" for text, finding in problems))
    for one in () if accept else found.stale:
        write_error(f"accepted, but no longer failing: {one.place}: {one.claim}")
    parts = [
        f"{found.judged:,} claims judged",
        f"{len(found.failed):,} failed ({found.share:.1%}, {found.allowed:.1%} allowed)",
    ]
    parts += [f"{len(found.accepted):,} accepted"] if found.accepted else []
    parts += [f"{len(found.review):,} to review"] if found.review else []
    parts += [f"{len(found.unverified):,} not verified"] if found.unverified else []
    parts += [f"{found.abstained:,} abstentions"] if found.abstained else []
    write_error(
        ", ".join(parts) if found.texts and any(text.findings for text in found.texts) else "no claim was found"
    )
    if accept:
        write_error(f"accepted {len(found.entries):,} failures")


def _status(found: Gated) -> Exit:
    if found.passed is None:
        return Exit.INCOMPLETE
    return Exit.OK if found.passed else Exit.FINDINGS


@app.command("stop", epilog=_STOP_EPILOG)
def stop_command(
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    model: _Model = "embedded",
    threshold: _Threshold = 0.5,
    block_unverified: _BlockUnverified = False,
    ledger: LedgerTarget = None,
) -> None:
    """Decide whether an agent may stop with its answer: a hook that reads a record on standard input.

    The answer is checked against what the agent's tools returned, and against --source. The record is that of Claude
    Code's hook Stop, an OpenAI chat (messages), or a response with sources.
    """
    try:
        with usage_errors():
            given, _ = given_sources(source or (), source_text or ())
            with kept_in(ledger) as kept:
                checker = Checker(model, threshold, ledger=kept)
                decision = decide_stop(read_stop(sys.stdin.read(), given), checker, block_unverified)
                checker.close()
    except typer.Exit:
        # Status 2 would send the agent back to work for a fault that is not its own.
        raise typer.Exit(Exit.INCOMPLETE) from None
    if decision.words:
        print(decision.words, file=sys.stderr)
    raise typer.Exit(2 if decision.blocks else Exit.OK)
