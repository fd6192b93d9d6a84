"""``vouch measure`` and ``vouch replay``: what a policy of outcomes does to labelled and to kept verdicts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.calibrate import reviewed_verdicts
from vouching.cli.gate import OutcomesFile
from vouching.cli.ledger import Target
from vouching.cli.streams import Exit, show_rows, usage_errors, write_error, write_json, write_result
from vouching.errors import InputError
from vouching.types.visible import visible_line

if TYPE_CHECKING:
    from vouching.judging.calibration import LabelledVerdict
    from vouching.metrics import Interval
    from vouching.review.outcome_rates import OutcomeRate

app = typer.Typer()

_MEASURE_EPILOG = """
**Examples**

vouch measure dev.jsonl --policy outcomes.toml

vouch measure dev.jsonl --verdicts verdicts.jsonl --policy outcomes.toml --json

vouch measure --ledger verdicts.db --policy outcomes.toml

**Exit status**: 0 done; 2 invalid command line, file or ledger; 3 a language model or the database could not be
reached; 130 interrupted.
"""
_REPLAY_EPILOG = """
**Examples**

vouch replay verdicts.jsonl --policy outcomes.toml

vouch replay --ledger verdicts.db --policy stricter.toml --before outcomes.toml

**Exit status**: 0 done; 2 invalid command line, file or ledger; 3 the database is not available.
"""

_Rows = Annotated[
    str | None, typer.Argument(metavar="[ROWS]", help="Rows with claim, source and label; else --ledger is used.")
]
_Records = Annotated[
    str | None,
    typer.Argument(metavar="[RECORDS]", help="JSON lines of verdicts or reports, as of vouch check --output."),
]
_Verdicts = Annotated[
    str | None, typer.Option(metavar="PATH", help="Verdicts of vouch check on these rows, used instead of new ones.")
]
_Model = Annotated[
    str, typer.Option(metavar="NAME", envvar="VOUCH_MODEL", help="The judge of the rows, as for vouch check.")
]
_Threshold = Annotated[float, typer.Option(help="Minimum score, from 0 to 1, for a claim to be attributable.")]
_Reviewers = Annotated[
    int, typer.Option(metavar="N", min=1, max=2, help="With --ledger: people who decide each verdict, 1 or 2.")
]
_Every = Annotated[
    bool, typer.Option("--every", metavar="", help="With --ledger: every review, not only the random sample.")
]
_Before = Annotated[
    str | None, typer.Option(metavar="PATH", help="The policy to compare with; by default the one without rules.")
]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of text.")]


@app.command("measure", epilog=_MEASURE_EPILOG)
def measure_command(
    rows: _Rows = None,
    ledger: Target = None,
    policy: OutcomesFile = None,
    verdicts: _Verdicts = None,
    model: _Model = "embedded",
    threshold: _Threshold = 0.5,
    reviewers: _Reviewers = 1,
    every: _Every = False,
    as_json: _Json = False,
) -> None:
    """Show which share of the claims passes, goes to review and fails, and the error in it, by gold labels or reviews.

    From a ledger, the reviews of the random sample count. Claims that could not be judged are skipped and counted.
    """
    from vouching.methods.calibrate import labelled_verdicts
    from vouching.report.outcomes import read_outcomes
    from vouching.review.outcome_rates import outcome_rates

    with usage_errors():
        outcomes, missing = read_outcomes(policy), 0
        if rows is None:
            found = reviewed_verdicts((_ledger(ledger), reviewers, every))
        elif verdicts is None:
            found, missing = _judged(rows, model, threshold)
        else:
            found, missing = labelled_verdicts(rows, verdicts)
        if missing:
            write_error(f"skipped {missing:,} rows without a label or a verdict")
        if not found:
            raise InputError(f"{rows} has no row with a label and a verdict: label some rows")
        rates = outcome_rates(found, outcomes)
    if as_json:
        write_json({"verdicts": len(found), "skipped": missing, **{name: asdict(one) for name, one in rates.items()}})
    else:
        write_result("".join(f"{name}: {_shown(one)}\n" for name, one in rates.items()))


def _judged(path: str, model: str, threshold: float) -> tuple[list[LabelledVerdict], int]:
    """The labelled rows with new verdicts, as ``vouch check`` judges a file of rows, and the number of the others."""
    from vouching.cli.check import check_job
    from vouching.cli.judge import Judging
    from vouching.methods.calibrate import labelled_verdicts

    with TemporaryDirectory() as folder:
        verdicts = str(Path(folder) / "verdicts.jsonl")
        summary = show_rows(
            check_job((path, verdicts, False), Judging(model, threshold=threshold)), again="", idle=False
        )
        if summary.stopped is not None:
            raise typer.Exit(Exit.INCOMPLETE)
        return labelled_verdicts(path, verdicts)


def _ledger(given: str | None) -> str:
    """The address of the ledger. Raises InputError if none was given."""
    from vouching.ledger.store import VARIABLE

    target = given or os.environ.get(VARIABLE)
    if not target:
        raise InputError("pass a file, or a ledger with --ledger")
    return target


def _shown(rate: OutcomeRate) -> str:
    """A line on an outcome."""
    words = f"{rate.verdicts:,} claims, {_percent(rate.share)}"
    if rate.wrong is None or rate.error is None or not rate.verdicts:
        return words
    return f"{words}; wrongly: {rate.wrong:,}, {_percent(rate.error)}"


def _percent(interval: Interval) -> str:
    return f"{interval.estimate:.1%} ({interval.low:.1%} to {interval.high:.1%})"


@app.command("replay", epilog=_REPLAY_EPILOG)
def replay_command(
    records: _Records = None,
    ledger: Target = None,
    policy: OutcomesFile = None,
    before: _Before = None,
    as_json: _Json = False,
) -> None:
    """Decide kept verdicts by another policy, without asking a judge again, and show what would change."""
    from vouching.report.outcomes import read_outcomes
    from vouching.review.outcome_rates import replay

    with usage_errors():
        kept = _kept_in_ledger(_ledger(ledger)) if records is None else _kept_lines(records)
        found = replay(kept, read_outcomes(policy), read_outcomes(before))
    if as_json:
        write_json(asdict(found))
        return
    lines = [
        f"{one.place}: {one.before} -> {one.after} ({one.rule or 'no rule'}): {one.claim}" for one in found.changes
    ]
    write_result("".join(f"{visible_line(line)}\n" for line in lines))
    counts = ", ".join(f"{name} {found.before[name]:,} -> {found.after[name]:,}" for name in found.after)
    write_error(f"{sum(found.after.values()):,} verdicts, {len(found.changes):,} change: {counts}")


def _kept_lines(path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The records of a file. Raises InputError for a line that cannot be read."""
    from vouching.rows import open_rows

    with open_rows(path) as lines:
        for line in lines:
            if line.fields is None:
                raise InputError(f"{lines.name}, {line.place}: {line.problem}")
            yield line.place, line.fields


def _kept_in_ledger(target: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The records of a ledger whose texts are kept."""
    from vouching.ledger import open_ledger

    with open_ledger(target, create=False) as ledger:
        yield from ((f"row {row.id}", row.record) for row in ledger.rows() if row.record is not None)
