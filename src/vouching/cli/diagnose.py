"""``vouch diagnose``: find problems in rewards and verifiers.

Not supported: files that do not fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.streams import MAX_NAMED, Exit, draw, progress, usage_errors, write_error, write_json, write_result
from vouching.errors import InputError
from vouching.methods.structured.reward_scale import Equal
from vouching.rows import STDIN

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.bench.injection_flips import Flips
    from vouching.report.reward_diagnosis import Table

app = typer.Typer()

_MAX_NUMBER = 40
"""Maximum length of a right-aligned cell."""
_File = Annotated[
    str, typer.Argument(help="Rewards from vouch reward, for any method except assurance; - is standard input.")
]
_Equal = Annotated[
    Equal | None,
    typer.Option(
        "--equal",
        help='First rescale the "diagnosis" part of the reward to the same range, or mean, for both gold labels.',
    ),
]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of tables.")]
_Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="PATH", help="Also write a page with charts: .html."),
]
_Injections = Annotated[
    bool,
    typer.Option(
        "--injections", metavar="", help="Insert prompt injections into sources and count the verdicts that flip."
    ),
]
_Corpus = Annotated[
    str | None, typer.Option(metavar="ROWS", help="Your own injections: rows with text and, optionally, id and kind.")
]
_Pairs = Annotated[
    str | None, typer.Option(metavar="ROWS", help="Your own claims with sources that do not support them.")
]
_Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="The judge: embedded, embedded:small, embedded:rules, embedded:FOLDER (a round of vouch "
        "evolve), or a language model such as http://host:8000/v1#name.",
    ),
]
_Seed = Annotated[int, typer.Option(metavar="N", help="Seed for the positions of injections and for the intervals.")]
_MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of tokens in a reply.")]
_EPILOG = """
**Example**

vouch diagnose rewards rewards.jsonl --report rewards.html

**Exit status**: 0 done; 2 invalid command line or file; 3 some rows could not be used.
"""
_VERIFIER_EPILOG = """
**Example**

vouch diagnose verifier --injections --model http://localhost:8000/v1#qwen

**Exit status**: 0 done; 2 invalid command line or file; 3 the model could not be reached.
"""


@app.callback(invoke_without_command=True)
def diagnose(context: typer.Context) -> None:
    """Find problems in rewards, verifiers and training runs, and measure them."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("rewards", epilog=_EPILOG)
def rewards_command(
    file: _File,
    equal: _Equal = None,
    as_json: _Json = False,
    report: _Report = None,
) -> None:
    """Show how much rewards differ within groups, which part makes them differ, and which label they favor.

    Rows have id, group, total and parts, or the totals of a ranking, which is one group; gold and predicted labels are
    used if present.
    """
    from vouching.methods.structured.diagnostics import diagnose as diagnosed
    from vouching.report.reward_diagnosis import equal_rewards, read_rewards, tables_of, write_diagnosis
    from vouching.report.skeleton import page_target

    with usage_errors():
        if report is not None:
            page_target(report)
        with progress("Reading"):
            rows, problems = read_rewards(file)
            report_problems(problems)
            rows = equal_rewards(rows, equal) if equal else rows
            diagnosis = diagnosed(rows)
        if report is not None:
            write_diagnosis(report, _title(file), diagnosis, rows)
    _print(asdict(diagnosis), tables_of(diagnosis), as_json)
    raise typer.Exit(end_of(problems))


@app.command("verifier", epilog=_VERIFIER_EPILOG)
def verifier_command(
    injections: _Injections = False,
    corpus: _Corpus = None,
    pairs: _Pairs = None,
    model: _Model = "embedded",
    seed: _Seed = 0,
    max_tokens: _MaxTokens = 1024,
    as_json: _Json = False,
) -> None:
    """Measure which injections flip the verdicts of a verifier.

    A language model is tried with and without the injection filter.
    """
    from vouching.bench.injection_flips import (
        UNSUPPORTED,
        diagnose_injections,
        read_injections,
        read_pairs,
        shipped_injections,
    )

    with usage_errors():
        if not injections:
            raise InputError("no diagnosis was selected: pass --injections")
        tried = read_injections(corpus) if corpus else shipped_injections()
        claims = read_pairs(pairs) if pairs else UNSUPPORTED
        with progress("Trying injections"):
            found = diagnose_injections(model, tried, claims, seed, max_tokens)
        if as_json:
            result = {"model": model, "seed": seed, "arms": {arm: asdict(flips) for arm, flips in found.items()}}
            write_json(result)
        else:
            write_result("\n".join(_table(found)) + "\n")


def _title(file: str) -> str:
    return "standard input" if file == STDIN else Path(file).name


def report_problems(problems: Sequence[str]) -> None:
    """Report the first rows that cannot be used."""
    for problem in problems[:MAX_NAMED]:
        write_error(problem)


def _print(record: dict[str, Any], tables: Iterable[Table], as_json: bool) -> None:
    if as_json:
        write_json(record)
    else:
        draw_tables(tables)


def draw_tables(tables: Iterable[Table]) -> None:
    """Print tables with their headings."""

    def paint(console: Console) -> None:
        from rich.table import Table

        for table in tables:
            console.print(table.heading, style="bold")
            drawn = Table(box=None, show_header=any(table.head))
            for number, name in enumerate(table.head):
                words = number == 0 or any(len(row[number]) > _MAX_NUMBER for row in table.rows)
                drawn.add_column(name, justify="left" if words else "right", overflow="fold")
            for row in table.rows:
                drawn.add_row(*row)
            console.print(drawn)
            console.print()

    draw(paint)


def end_of(problems: Sequence[str]) -> Exit:
    """The exit status for rows that were excluded, after reporting how many."""
    if broken := len(problems):
        write_error(f"{broken:,} row{'s' * (broken != 1)} cannot be used and {'are' if broken != 1 else 'is'} excluded")
    return Exit.INCOMPLETE if problems else Exit.OK


def _table(found: dict[str, Flips]) -> Iterator[str]:
    from vouching.metrics import wilson

    yield f"{'':16}{'probes':>8}{'flipped':>9}{'rate':>9}  {'95 % interval':18}{'not verified':>12}"
    for arm, flips in found.items():
        share = wilson(len(flips.flipped), flips.probes)
        interval = f"{100 * (share.low or 0):.1f} to {100 * (share.high or 0):.1f} %"
        rate = f"{100 * share.estimate:.1f} %"
        yield f"{arm:16}{flips.probes:>8,}{len(flips.flipped):>9,}{rate:>9}  {interval:18}{flips.unverified:>12,}"
    for arm, flips in found.items():
        kinds = [f"{kind} {turned} of {count}" for kind, (turned, count) in flips.by_kind.items() if turned]
        if kinds:
            yield f"{arm}: {', '.join(kinds)}"
        if flips.passed_over:
            claims = f"{flips.passed_over} claim{'s' * (flips.passed_over != 1)}"
            yield f"{arm}: excluded {claims} that were Attributable or not verified without an injection"
