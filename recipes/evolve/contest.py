"""Contest: do specialists behind a router, or their averaged weights, make up a generalist?

    python recipes/evolve/contest.py runs/weakness --against mean=runs/mean.judged.jsonl --out router.json

The answers are files of ``vouch evolve run`` or ``reflect`` on the same rows, which may guide training and must not be
test rows; the router is evaluated on documents that it was not fitted on.

Each contender is compared with the best single specialist: macro F1 by set and its mean over sets, with paired
intervals that resample documents. Rows that any contender failed on are excluded and counted. The best single
specialist is selected on the rows that guide training; the contest may use the same rows only if the router's answers
are cross-validated (``route.cross_routed``). Not supported: a correction for the number of contenders.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from numpy.typing import NDArray

from recipes.evolve.route import Answers, Router, best_single, cross_routed, fit_router
from vouching import metrics
from vouching.bench.intervals import Figure, intervals, plain
from vouching.errors import InputError, VouchError
from vouching.evolve.gate import RESAMPLES, paired
from vouching.evolve.records import Judged, Row, read_answers, read_record, write_record
from vouching.metrics.arrays import FloatArray
from vouching.rows import json_output

ORACLE = "any of them"
"""Name of the upper bound: each row judged by a specialist that is right on it, if there is one."""
ROUTER = "router"
"""Name of the router among the contenders."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One verifier, or one way to combine several."""

    name: str
    sets: Mapping[str, float | None]
    """Macro F1 by set; accuracy of a set with one class."""
    mean: float | None
    """Mean over sets."""
    difference: Figure
    """The mean minus that of the best single specialist, with its paired interval."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Contenders on the same rows."""

    best: str
    """The specialist that the others are compared with."""
    contenders: tuple[Contender, ...]
    """All of them in the order given, then the upper bound of any router."""
    rows: int
    """Rows that all answered."""
    excluded: int
    """Rows that at least one failed on."""


def contest(
    specialists: Mapping[str, Sequence[Judged]],
    others: Mapping[str, Sequence[Judged]],
    best: str,
    resamples: int = RESAMPLES,
) -> Contest:
    """Compare specialists and combinations of them on the same rows.

    ``others`` are answers of a router, of averaged weights, and so on. All are compared with the specialist ``best``,
    which is to be selected on rows that guide training; ``resamples`` 0 omits the intervals. Raises InputError if rows
    differ, no row was answered by all, a name is used twice, or ``best`` is unknown.
    """
    if twice := {*specialists} & {*others, ORACLE}:
        raise InputError(f"the name {min(twice)!r} is used twice: give each verifier a different name")
    if best not in specialists:
        raise InputError(f"unknown specialist {best!r}; expected one of {', '.join(specialists)}")
    answers = {**specialists, **others}
    for several in answers.values():
        paired(specialists[best], several)
    kept = [place for place in range(len(specialists[best])) if all(a[place].label for a in answers.values())]
    if not kept:
        raise InputError("no row was answered by all verifiers: exclude verifiers that gave no answers")
    rows = [specialists[best][place].row for place in kept]
    gold = np.array([row.attributable for row in rows], dtype=bool)
    labels = {
        name: np.array([several[place].label == "Attributable" for place in kept]) for name, several in answers.items()
    }
    right = np.any([labels[name] == gold for name in specialists], axis=0)
    labels[ORACLE] = np.where(right, gold, ~gold)
    groups = metrics.document_numbers(row.keys for row in rows)
    sets = {name: np.array([row.data_set == name for row in rows]) for name in sorted({row.data_set for row in rows})}
    measures = {name: partial(_by_set, gold, label, [*sets.values()]) for name, label in labels.items()}
    differences = intervals(
        {name: partial(_mean_difference, measure, measures[best]) for name, measure in measures.items()},
        groups,
        resamples,
    )
    ones = np.ones((1, len(rows)))
    contenders: list[Contender] = []
    for name, measure in measures.items():
        each = {data_set: plain(value) for data_set, value in zip(sets, measure(ones)[:, 0], strict=True)}
        contenders.append(Contender(name, each, plain(measure(ones).mean(axis=0)[0]), differences[name]))
    return Contest(best, tuple(contenders), len(kept), len(specialists[best]) - len(kept))


def _by_set(
    gold: NDArray[np.bool_], label: NDArray[np.bool_], sets: Sequence[NDArray[np.bool_]], weights: FloatArray
) -> FloatArray:
    """(D, B) metric of each of D sets under each of B weightings of the rows (B, N)."""
    found: list[FloatArray] = []
    for mask in sets:
        measure = metrics.macro_f1 if len({*gold[mask].tolist()}) == 2 else metrics.accuracy
        found.append(measure(gold[mask], label[mask], weights[:, mask]))
    return np.array(found)


def _mean_difference(one: partial[FloatArray], other: partial[FloatArray], weights: FloatArray) -> FloatArray:
    return one(weights).mean(axis=0) - other(weights).mean(axis=0)


def compared(specialists: Answers, others: Answers) -> tuple[Router, Contest, list[Row]]:
    """A router for specialists, its cross-validated contest with them and with ``others``, and the rows."""
    router, by_folds = fit_router(specialists), cross_routed(specialists)
    found = contest(specialists, {**others, ROUTER: by_folds}, best_single(specialists))
    return router, found, [one.row for one in by_folds]


def answers_named(given: Iterable[str]) -> dict[str, list[Judged]]:
    """Answers by name, of NAME=PATH or of all rounds of an evolution's folder. Raises InputError if one has none."""
    found: dict[str, list[Judged]] = {}
    for one in given:
        name, equals, path = one.partition("=")
        rounds = sorted(Path(one).glob("round-*/judged.jsonl"), key=lambda path: (len(path.parent.name), path))
        if not equals and not rounds:
            raise InputError(f"{one} contains no round-*/judged.jsonl: pass a folder of vouch evolve run, or NAME=PATH")
        found |= {name: read_answers(Path(path))} if equals else {p.parent.name: read_answers(p) for p in rounds}
    return found


def contest_lines(found: Contest, router: Router, rows: Sequence[Row]) -> Iterator[str]:
    """A contest and a router as lines for a terminal."""
    yield f"{'':24}{'mean over sets':>14}  difference from {found.best}, 95 % interval"
    for one in found.contenders:
        difference = one.difference
        interval = f"{_points(difference['low'])} to {_points(difference['high'])}"
        shown = "" if one.name == found.best else f"{_points(difference['estimate'])} ({interval})"
        yield f"{one.name:24}{_percent(one.mean):>14}  {shown}".rstrip()
    yield ""
    yield f"rows compared: {found.rows:,}; rows excluded because a verifier failed on them: {found.excluded:,}"
    if router.strength is None:
        yield (
            f"The router always chooses {router.specialists[0]}, because the texts do not show where another verifier "
            "is better."
        )
        return
    low = next(one.difference["low"] for one in found.contenders if one.name == ROUTER)
    if low is None or low <= 0:
        yield f"The router is not significantly better than {found.best}: these rows do not justify its use."
    asked = Counter((row.data_set, router.choose(row.claim, row.source)) for row in rows)
    for data_set in sorted({row.data_set for row in rows}):
        shares = ", ".join(f"{name} {asked[data_set, name]:,}" for name in router.specialists if asked[data_set, name])
        yield f"{data_set:24}routed to {shares}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _points(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit a router, write it, and print how it does; 0, or 2 for answers or a file that cannot be used."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("answers", nargs="+", help="NAME=PATH, or the folder of an evolution: all its rounds")
    parser.add_argument("--out", type=Path, required=True, metavar="PATH", help="file for the router: .json")
    parser.add_argument("--against", action="append", default=[], metavar="NAME=PATH", help="answers only compared")
    given = parser.parse_args(arguments)
    try:
        json_output(given.out, lambda path: read_record(path, Router), "router")
        router, found, rows = compared(answers_named(given.answers), answers_named(given.against))
        write_record(given.out, router)
    except VouchError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(contest_lines(found, router, rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
