"""``vouch evolve route``: fit a router for specialists, and see by folds whether it beats the best of them.

Left out: opening the specialists; ``evolve.route.RoutedVerifier`` takes any verifiers under their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vouching.cli.streams import usage_errors, write_result
from vouching.errors import InputError
from vouching.rows import json_output

if TYPE_CHECKING:
    from vouching.evolve.paired import Contest
    from vouching.evolve.records import Judged, Row
    from vouching.evolve.route import Router

app = typer.Typer()
ROUTER = "router"
"""What the router is called among those that are compared."""

_Answers = Annotated[
    list[str],
    typer.Argument(metavar="ANSWERS...", help="NAME=PATH of answers, or the folder of an evolution: all its rounds."),
]
_Out = Annotated[Path, typer.Option(metavar="PATH", help="The router: .json.")]
_Against = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=PATH", help="Answers to compare with that the router does not choose among."),
]
_EPILOG = """
**Examples**

vouch evolve route runs/evolve --out router.json

vouch evolve route first=a.judged.jsonl second=b.judged.jsonl --against mean=mean.judged.jsonl --out router.json

**Exit status**: 0 done; 2 the command line, an input or the output cannot be used.
"""


@app.command("route", epilog=_EPILOG)
def route_command(answers: _Answers, out: _Out, against: _Against = None) -> None:
    """Fit a router that sends each claim to the specialist for its kind of text, and measure it by folds.

    Answers are files of vouch evolve run or reflect, all to the same rows, which may guide training and are never those
    of a test. What is printed of the router are answers to documents that it was not fitted on.
    """
    with usage_errors():
        from vouching.evolve.paired import contest
        from vouching.evolve.records import read_record, write_record
        from vouching.evolve.route import Router, best_single, cross_routed, fit_router

        json_output(out, lambda path: read_record(path, Router), "router")
        specialists = dict(pair for given in answers for pair in _read(given))
        others = dict(pair for given in against or () for pair in _read(given))
        router, routed = fit_router(specialists), cross_routed(specialists)
        found = contest(specialists, {**others, ROUTER: routed}, best_single(specialists))
        try:
            write_record(out, router)
        except OSError as error:
            raise InputError(f"{out} cannot be written: {error.strerror or error}") from None
        write_result("\n".join(told(found, router, [one.row for one in routed])) + "\n")


def _read(given: str) -> Iterator[tuple[str, list[Judged]]]:
    """Answers by name. Raises InputError for a file or folder without any."""
    from vouching.evolve.records import read_answers

    name, equals, path = given.partition("=")
    if equals:
        yield name, read_answers(Path(path))
        return
    rounds = sorted(Path(given).glob("round-*/judged.jsonl"), key=lambda path: (len(path.parent.name), path))
    if not rounds:
        raise InputError(f"{given} holds no round-*/judged.jsonl: name the folder of an evolution, or NAME=PATH")
    for path in rounds:
        yield path.parent.name, read_answers(path)


def told(found: Contest, router: Router, rows: Sequence[Row]) -> Iterator[str]:
    """A contest and a router as lines for a terminal."""
    yield f"{'':24}{'mean over sets':>14}  difference to {found.best}, 95 % interval"
    for one in found.contenders:
        difference = one.difference
        interval = f"{_points(difference['low'])} to {_points(difference['high'])}"
        shown = "" if one.name == found.best else f"{_points(difference['estimate'])} ({interval})"
        yield f"{one.name:24}{_percent(one.mean):>14}  {shown}".rstrip()
    yield ""
    yield f"{found.rows:,} rows; {found.left_out:,} that one of them failed on are left out"
    if router.strength is None:
        yield f"The router asks {router.specialists[0]} alone: nothing in the texts tells where another one is better."
        return
    low = next(one.difference["low"] for one in found.contenders if one.name == ROUTER)
    if low is None or low <= 0:
        yield f"The router is not shown to be better than {found.best}: these rows give no reason to use it."
    asked = Counter((row.data_set, router.choose(row.claim, row.source)) for row in rows)
    for data_set in sorted({row.data_set for row in rows}):
        shares = ", ".join(f"{name} {asked[data_set, name]:,}" for name in router.specialists if asked[data_set, name])
        yield f"{data_set:24}asks {shares}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _points(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.1f}"
