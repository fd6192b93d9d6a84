"""``vouch data``: data made of data; so far, claims changed on purpose (``vouch data perturb``).

Left out: resuming; ten thousand perturbations take less than a minute.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Annotated, cast

import typer

from vouching.cli.row_progress import RowProgress
from vouching.cli.streams import Exit, cannot_write, usage_errors, write_error
from vouching.errors import InputError
from vouching.rows import new_output
from vouching.rows.read import Row, RowReader, open_rows

if TYPE_CHECKING:
    from vouching.perturb import Strategy, Tally
    from vouching.types import Example, Label

app = typer.Typer()

_COLUMNS = ("claim",)
_Input = Annotated[str, typer.Option("--input", metavar="ROWS", help="Rows with claim, source and label; - is stdin.")]
_Output = Annotated[str, typer.Option("--output", metavar="PROBES", help="A new .jsonl file; - prints the lines.")]
_Strategies = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Which strategies, by their names in docs/perturb.md; all without it."),
]
_PerRow = Annotated[int, typer.Option("--per-row", metavar="N", min=1, help="Most perturbations of one row.")]
_Seed = Annotated[int, typer.Option(metavar="N", help="Seed of all that is drawn: equal runs give equal lines.")]
_Most = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Stop after so many perturbations; without it, when the rows end."),
]

_EPILOG = """
**Example**

vouch data perturb --input claims.jsonl --output probes.jsonl --strategies number_change,number_format

**Exit status**: 0 done; 2 the command line, the input or the output cannot be used; 3 some rows could not be used, or
the output takes no more.
"""


@app.callback(invoke_without_command=True)
def data(context: typer.Context) -> None:
    """Make data for training and testing verifiers."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("perturb", epilog=_EPILOG)
def perturb_command(
    input: _Input,
    output: _Output,
    strategies: _Strategies = None,
    per_row: _PerRow = 4,
    seed: _Seed = 0,
    most: _Most = None,
) -> None:
    """Change Attributable claims on purpose: typed, located errors, and rewrites that mean the same.

    Each line is a row with claim, source and label, and says where, how and from what the claim was changed. Rows that
    are Not Attributable are passed over; rows without a label count as Attributable.
    """
    from vouching.perturb import STRATEGIES, Tally, perturb_rows, to_json

    seen, tally = _Seen(), Tally()
    with usage_errors(), ExitStack() as open_files:
        chosen = [name.strip() for name in strategies.split(",")] if strategies is not None else [*STRATEGIES]
        reader = open_files.enter_context(open_rows(input, _COLUMNS))
        progress = open_files.enter_context(RowProgress(reader.share))
        examples = _examples(reader, seen, progress)
        made = perturb_rows(examples, cast("list[Strategy]", chosen), per_row=per_row, seed=seed, tally=tally)
        try:
            sink = open_files.enter_context(new_output(output))
            for perturbation in islice(made, most):
                sink.write(f"{to_json(perturbation)}\n".encode())
            sink.flush()
        except OSError as error:
            raise typer.Exit(cannot_write(error, output, "make room and start again")) from None
    for line in _rows_told(seen):
        write_error(line)
    print(_table(tally), file=sys.stderr)
    write_error(f"{sum(tally.kept.values()):,} perturbations of {sum(seen.counts.values()):,} rows")
    raise typer.Exit(Exit.INCOMPLETE if seen.broken else Exit.OK)


@dataclass(slots=True)
class _Seen:
    """What the rows were."""

    counts: Counter[str] = field(default_factory=Counter[str])
    """Rows by label; "none" for those without one."""
    broken: int = 0
    """Rows that cannot be used."""


def _examples(reader: RowReader, seen: _Seen, progress: RowProgress) -> Iterator[Example]:
    """The rows as examples; those that cannot be used are named."""
    for row in reader:
        progress.advance()
        try:
            example, label = _example(row)
        except InputError as error:
            seen.broken += 1
            progress.name(f"{reader.name}, {row.place}: {error}")
            continue
        seen.counts[label or "none"] += 1
        yield example


def _example(row: Row) -> tuple[Example, Label | None]:
    """A row as an example, and the label it bears. Raises InputError if it is none."""
    from vouching.inputs import labelled_row
    from vouching.types import Example

    found = labelled_row(row)
    example = Example(row.name, found.claim.text, found.sources, found.gold or "Attributable", group=found.group)
    return example, found.gold


def _rows_told(seen: _Seen) -> Iterator[str]:
    """What is to be known about the rows."""
    if seen.counts["none"]:
        yield f"{_rows(seen.counts['none'])} without a label, taken as Attributable: make sure of that"
    if seen.counts["Not Attributable"]:
        yield f"{_rows(seen.counts['Not Attributable'])} Not Attributable, passed over"
    if seen.broken:
        yield f"{_rows(seen.broken)} cannot be used"


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def _table(tally: Tally) -> str:
    """What became of the drafts: kept and dropped, by strategy and filter."""
    from vouching.perturb import ERROR_TYPE_OF, STRATEGIES
    from vouching.perturb.filters import FILTERS

    lines = [f"{'strategy':24}{'error type':24}{'kept':>7}{'dropped':>9}  not"]
    for strategy in filter(tally.drafted.__getitem__, STRATEGIES):
        reasons = [f"{name} {count:,}" for name in FILTERS if (count := tally.dropped[strategy, name])]
        kind, rate = ERROR_TYPE_OF[strategy] or "none", f"{100 * tally.drop_rate(strategy):.0f} %"
        lines.append(f"{strategy:24}{kind:24}{tally.kept[strategy]:>7,}{rate:>9}  {', '.join(reasons)}".rstrip())
    return "\n".join(lines)
