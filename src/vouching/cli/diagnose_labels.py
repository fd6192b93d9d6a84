"""``vouch diagnose verifier --labels``: judged completions read, planned with and shown.

A row: ``{"id", "group", "gold", "holistic": [1, 0, null], "labels": [1, 0], "votes": [[1, null], [0, 0]]}``. Left out:
a file that does not fit into memory; the intervals need all rows at once.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from vouching.cli.diagnose import defined, draw_tables, end_with
from vouching.cli.row_progress import MOST_NAMED
from vouching.cli.streams import progress, write_error, write_result
from vouching.errors import InputError
from vouching.rows.read import STDIN, Row, open_rows

if TYPE_CHECKING:
    from vouching.methods.checklist.rates import JudgedCompletion

_COLUMNS = ("holistic", "votes")


def plan_command(file: str, tau: float, seed: int, report: Path | None, as_json: bool) -> NoReturn:
    """Print the plan for a file of judged completions, and write its page.

    Raises:
        InputError: the file cannot be used, or the page not be written.
    """
    from vouching.methods.checklist.plan import plan_verification
    from vouching.report.checklist_plan import plan_tables

    if report is not None:
        from vouching.report.skeleton import page_target

        page_target(report)
    with progress("Reading"):
        rows, broken = _read(file)
        plan = plan_verification(rows, tau, seed)
    if report is not None:
        from vouching.report.checklist_plan import write_plan

        write_plan(report, "standard input" if file == STDIN else Path(file).name, plan)
    if as_json:
        result = defined(asdict(plan) | {"condition_share": plan.condition_share, "informed": plan.informed})
        write_result(json.dumps(result, indent=2 if sys.stdout.isatty() else None) + "\n")
    else:
        draw_tables(plan_tables(plan))
    end_with(broken)


def _read(file: str) -> tuple[list[JudgedCompletion], int]:
    """The rows, and how many cannot be used; the first of these are named."""
    rows: list[JudgedCompletion] = []
    broken = 0
    with open_rows(file, _COLUMNS) as reader:
        for row in reader:
            try:
                rows.append(judged_completion(row))
            except InputError as error:
                broken += 1
                if broken <= MOST_NAMED:
                    write_error(f"{reader.name}, {row.place}: {error}")
    return rows, broken


def judged_completion(row: Row) -> JudgedCompletion:
    """A row as a judged completion. Raises InputError if it is none.

    Without ``gold`` a completion is a strict success if all its items hold; without ``group`` its prompt is its own.

    >>> fields = {"id": "a", "holistic": 1, "labels": [1, 0], "votes": [[1, 1], [0, None]]}
    >>> judged_completion(Row(1, "line 1", fields)).votes
    ((True, True), (False, None))
    """
    from vouching.judging.votes import as_votes
    from vouching.methods.checklist.rates import JudgedCompletion

    if row.fields is None:
        raise InputError(str(row.problem))
    fields = row.fields
    missing = [key for key in ("holistic", "labels", "votes") if fields.get(key) is None]
    if missing:
        raise InputError(f'the row has the keys {[*fields]}, wanted "{missing[0]}"')
    labels = [_label(value, "label of an item") for value in _list(fields["labels"], "labels")]
    given = fields.get("gold")
    group = fields.get("group")
    return JudgedCompletion(
        id=row.name,
        group=row.name if group is None else str(group),
        gold=all(labels) if given is None else _label(given, "gold label"),
        holistic=as_votes(_listed(fields["holistic"]), "the whole"),
        labels=tuple(labels),
        votes=tuple(as_votes(_listed(one), f"item {k}") for k, one in enumerate(_list(fields["votes"], "votes"))),
    )


def _listed(given: object) -> object:
    """A single vote as a list of one; null is none, but what a judge that failed leaves."""
    return cast("object", given) if given is None or isinstance(given, list) else [given]


def _label(given: object, what: str) -> bool:
    if not (isinstance(given, bool | int | float) and given in (0, 1)):
        raise InputError(f"the {what} is {given!r:.80}, wanted true or false, or 1 or 0")
    return bool(given)


def _list(given: object, name: str) -> list[object]:
    if not isinstance(given, list):
        raise InputError(f"its {name} are {given!r:.80}, wanted a list with one entry for each item")
    return cast("list[object]", given)
