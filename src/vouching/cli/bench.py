"""``vouch bench``: list and validate public data sets, compare runs; ``bench_run`` has ``run``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vouching.cli import bench_run
from vouching.cli.streams import (
    Exit,
    draw,
    progress,
    usage_errors,
    write_error,
    write_json,
    write_result,
)
from vouching.errors import ConfigError, InputError
from vouching.types.visible import visible_line

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.bench.rows import Fault, Split
    from vouching.bench.task import DataSet

app = typer.Typer()
app.add_typer(bench_run.app)

_LEGEND = """
1st only and 2nd only count the rows that only that run gets right; p is from an exact McNemar test on these rows.
Differences are the second run minus the first, with 95 % intervals by a paired bootstrap over groups of rows."""
_MAX_FAULTS = 20
"""Faults of a set that are listed one by one."""
_SomeNames = Annotated[list[str] | None, typer.Argument(help="Names of data sets; default: all available sets.")]
_AnySplit = Annotated[
    Literal["train", "dev", "test"] | None, typer.Option(help="Split of each set; default: all splits.")
]
_Run = Annotated[Path, typer.Argument(help="Folder of a run.")]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of a table.")]

_LIST_EPILOG = """
**Example**

vouch bench list --split test

**Exit status**: 0 done; 2 invalid command line or data set.
"""
_VALIDATE_EPILOG = """
**Example**

vouch bench validate wice ragtruth --split test

**Exit status**: 0 no faults; 2 invalid command line or file; 3 faults were found.
"""
_COMPARE_EPILOG = """
**Example**

vouch bench compare runs/first runs/second

**Exit status**: 0 done, whatever the result; 2 the runs cannot be read or do not have the same rows.
"""


@app.callback(invoke_without_command=True)
def bench(context: typer.Context) -> None:
    """Run a verifier or a language model over public data sets, with intervals and baselines, and compare runs.

    Data sets are read from the folder named by the environment variable VOUCH_DATA.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list", epilog=_LIST_EPILOG)
def list_command(split: _AnySplit = None) -> None:
    """List data sets: rows, groups of rows, labels, license, and how to obtain missing sets."""
    from vouching.bench.catalog import data_folder, known_sets
    from vouching.bench.rows import Fault

    with usage_errors():
        known = known_sets()
    here: dict[str, dict[Split, list[Any]]] = {}
    try:
        folder = data_folder()
    except ConfigError as error:
        write_error(str(error).removesuffix(" (see vouch bench list)"))
    else:
        with usage_errors(), progress("Counting rows"):
            for one, part in _available(folder, split):
                try:
                    rows = [row for row in one.rows(folder, part) if not isinstance(row, Fault)]
                except InputError as error:
                    write_error(f"{one.name}, {part}: {error}")
                    rows = []
                here.setdefault(one.name, {})[part] = rows
    missing = [one for one in known.values() if one.name not in here and (split is None or split in one.files)]

    def paint(console: Console) -> None:
        for name, parts in here.items():
            _paint_set(console, known[name], parts)
        if missing:
            console.print("\nNot available here:\n", *map(missing_text, missing), sep="\n", soft_wrap=True)

    draw(paint)


def _about(data_set: DataSet[Any]) -> str:
    return "; ".join(filter(None, (f"{data_set.name}: {data_set.what}", data_set.origin, data_set.licence)))


def _paint_set(console: Console, data_set: DataSet[Any], parts: dict[Split, list[Any]]) -> None:
    """Show an available set and the counts of each of its parts."""
    from rich.table import Column, Table

    from vouching.bench.run import TASKS

    columns = (Column(justify=side) for side in ("left", "right", "right", "right"))
    counts = Table(*columns, show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for split, rows in parts.items():
        counts.add_row(f"  {split}", *TASKS[data_set.kind].counted(rows))
    console.print(_about(data_set), counts, *([f"  note  {data_set.remark}"] if data_set.remark else []), sep="\n")


def missing_text(data_set: DataSet[Any]) -> str:
    """A missing set, how to obtain it and where to put it."""
    files = dict.fromkeys(pattern for patterns in data_set.files.values() for pattern in patterns)
    return f"{_about(data_set)}\n  obtain   {data_set.get}\n  save as  {', '.join(files)}"


@app.command("validate", epilog=_VALIDATE_EPILOG)
def validate_command(names: _SomeNames = None, split: _AnySplit = None) -> None:
    """Check data sets without a model: fields, labels, spans, ids, and that perfect answers score 1."""
    from vouching.bench.catalog import data_folder
    from vouching.bench.run import validate

    faulty = False
    with usage_errors():
        folder = data_folder()
        for data_set, part in _chosen(names, folder, split):
            with progress(f"Reading {data_set.name}"):
                faults = [*validate(data_set, folder, part)]
            faulty = faulty or bool(faults)
            write_faults(f"{data_set.name}, {part}", faults)
    raise typer.Exit(Exit.INCOMPLETE if faulty else Exit.OK)


def write_faults(name: str, faults: list[Fault]) -> None:
    """Print the faults of a set, or that it is valid."""
    lines = [f"{name}: {f'{len(faults):,} fault' + 's' * (len(faults) != 1) if faults else 'valid'}"]
    lines += [f"  {visible_line(str(fault))}" for fault in faults[:_MAX_FAULTS]]
    lines += [f"  and {len(faults) - _MAX_FAULTS:,} more"] if len(faults) > _MAX_FAULTS else []
    write_result("".join(f"{line}\n" for line in lines))


def _available(folder: Path, split: Split | None) -> Iterator[tuple[DataSet[Any], Split]]:
    """Every set and split whose files are available."""
    from vouching.bench.catalog import known_sets

    for data_set in known_sets().values():
        for part in data_set.files:
            if split in (None, part) and data_set.paths(folder, part):
                yield data_set, part


def _chosen(names: list[str] | None, folder: Path, split: Split | None) -> list[tuple[DataSet[Any], Split]]:
    """The sets and splits to validate."""
    from vouching.bench.catalog import ALL, chosen

    available = [*_available(folder, split)]
    if not available:
        raise InputError(f"no data set was found in {folder}: see vouch bench list")
    if not names or ALL in names:
        return available
    found: list[tuple[DataSet[Any], Split]] = []
    for one in chosen(names, folder, split or "test"):
        parts: list[Split] = [split] if split else [part for known, part in available if known == one]
        # A missing set is read all the same: its error says how to obtain it.
        found.extend((one, part) for part in parts or one.files)
    return found


@app.command("compare", epilog=_COMPARE_EPILOG)
def compare_command(first: _Run, second: _Run, as_json: _Json = False) -> None:
    """Compare two runs on the same rows: the differences, their intervals and significance."""
    from vouching.bench.claims import comparison_table
    from vouching.bench.compare import compare
    from vouching.bench.report import difference_table

    with usage_errors(), progress("Comparing"):
        kind, comparison = compare(first, second)
    if as_json:
        write_json(comparison)
        return

    def paint(console: Console) -> None:
        if kind == "claims":
            console.print(
                comparison_table(comparison, console.width), *_without_interval(comparison), _LEGEND, sep="\n"
            )
        else:
            console.print(difference_table(comparison))

    draw(paint)


def _without_interval(comparison: Mapping[str, Any]) -> Iterator[str]:
    """Why the difference of a set has no interval."""
    for name, found in comparison["sets"].items():
        difference = found["auroc"]["difference"]
        if difference is not None and difference["verdict"] == "no interval":
            yield f"{name} has no interval: {difference['why_not']}"
