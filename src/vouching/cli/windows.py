"""``vouch windows``: claims against their documents, as a whole and window by window, as MiniCheck scores pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from vouching.cli.check import CLAIMS, check_job
from vouching.cli.judge import Judging, RowPage, Subject, exit_status, finish_rows
from vouching.cli.keeping import Keeping, LedgerTarget
from vouching.cli.options import HOW, Input, Json, Output, Resume, SourceFiles, SourceTexts, panel
from vouching.cli.streams import draw, progress, usage_errors, write_json
from vouching.errors import InputError
from vouching.evidence_windows import judge_windows
from vouching.models.running import run
from vouching.search.passages import MIN_WORDS, PASSAGE_WORDS
from vouching.types.serial import to_python

app = typer.Typer()

_EPILOG = """
**Examples**

vouch windows "It opened in 1937." --source report.txt

vouch windows --input pairs.jsonl --output scores.jsonl --max-words 400

**Exit status**: 0 done; 2 invalid command line or file; 3 a claim could not be verified, a row could not be used, or
a language model could not be reached.
"""

_Claim = Annotated[str | None, typer.Argument(help="The claim to check; - reads it from standard input.")]
_Model = Annotated[
    str, panel(HOW, metavar="NAME", envvar="VOUCH_MODEL", help="The judge, as for vouch check; default: embedded.")
]
_Threshold = Annotated[
    float, panel(HOW, "--threshold", help="Minimum score, from 0 to 1, for a claim to be attributable.")
]
_MaxWords = Annotated[int, panel(HOW, metavar="N", min=MIN_WORDS, help="Maximal number of words of a window.")]


@app.command("windows", epilog=_EPILOG)
def windows_command(
    claim: _Claim = None,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    model: _Model = "embedded",
    threshold: _Threshold = 0.5,
    max_words: _MaxWords = PASSAGE_WORDS,
    as_json: Json = False,
    input: Input = None,
    output: Output = None,
    resume: Resume = False,
    ledger: LedgerTarget = None,
) -> None:
    """Check claims as vouch check does, and say how far each window of the sources alone supports them.

    Rows have a claim with "sources", "contexts" or "doc". Each line of the output is the verdict against the whole
    document, and its "windows": source_id, start, end (characters) and score, null where the judge failed.
    """
    with usage_errors():
        judging = Judging(model, None, threshold, window_words=max_words)
        keeping = Keeping("check", ledger)
        subject = Subject("CLAIM", claim, None, source or (), source_text or (), as_json, None, keeping)
        subject.refuse((input, output, resume), {}, of_rows={})
        if input is not None and output is not None:
            job = keeping.job(check_job((input, output, resume), judging))
            raise typer.Exit(finish_rows(job, CLAIMS, False, RowPage()))
        text, given = subject.read()
        if not given:
            raise InputError("no source was given: pass --source FILE or --source-text TEXT")
        checker = judging.checker()
        with progress("Checking"):
            [record], sources = checker.check_with_sources([text.strip()], given)
            windows = run(judge_windows(checker, text.strip(), sources, max_words))
            checker.close()
        record = replace(record, warnings=(*record.warnings, *subject.warnings))
        keeping.result({"claim": text.strip()}, record, sources)
        if as_json:
            write_json({**to_python(record), "windows": [one.fields for one in windows]})
        else:
            from vouching.report.terminal import print_verdict, print_windows

            draw(lambda console: print_verdict(console, record))
            draw(lambda console: print_windows(console, [(one.span, one.score) for one in windows]))
    raise typer.Exit(exit_status(record, False))
