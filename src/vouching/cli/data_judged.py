"""``vouch data judged``: what a verifier said item by item and of the whole, joined with what is true of each response.

Reports of ``vouch check --method checklist`` and ``--method holistic`` and rows of ``--method rules`` become the rows
that ``vouch diagnose verifier --labels`` plans with. Rows belong together by their ids. Left out: files that do not fit
into memory, and labels for each item in a file of their own, as ``vouch data gold`` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated, Any, cast

import typer

from vouching.cli.files import STDIN
from vouching.cli.row_progress import MOST_NAMED
from vouching.cli.streams import Exit, cannot_write, usage_errors, write_error
from vouching.errors import InputError
from vouching.judging.votes import Votes, as_votes
from vouching.methods.checklist.items import INSTRUCTION_KEYS, instruction_of, row_items
from vouching.rows import new_output
from vouching.rows.read import Fields, open_rows

app = typer.Typer()

_Items = Annotated[str, typer.Option("--items", metavar="REPORTS", help="What check --method checklist wrote.")]
_Whole = Annotated[str, typer.Option("--whole", metavar="REPORTS", help="What check --method holistic wrote.")]
_Labels = Annotated[
    str,
    typer.Option(
        "--labels", metavar="ROWS", help="What check --method rules wrote, or rows with id and labels, one per item."
    ),
]
_Output = Annotated[str, typer.Option("--output", metavar="JUDGED", help="A new .jsonl file; - prints the lines.")]

_EPILOG = """
**Example**

vouch data judged --items items.jsonl --whole whole.jsonl --labels ruled.jsonl --output judged.jsonl

**Exit status**: 0 done; 2 the command line or a file cannot be used; 3 some responses are left out, or the output takes
no more.
"""


@app.command("judged", epilog=_EPILOG)
def judged_command(items: _Items, whole: _Whole, labels: _Labels, output: _Output) -> None:
    """Join judgments of the same responses, item by item and as a whole, with labels: rows to plan checklists with.

    Each line has id, group (the prompt), holistic, labels and votes, and gold if the labels have it. A response that is
    not in all three files, or that the judge failed on, is left out and named.
    """
    with usage_errors():
        if [items, whole, labels].count(STDIN) > 1:
            raise InputError("got - more than once, but standard input can be read only once: name the other files")
        records = [_by_name(path) for path in (items, whole, labels)]
        lines, problems = joined(*records)
        try:
            with ExitStack() as open_files:
                sink = open_files.enter_context(new_output(output))
                sink.write("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode())
                sink.flush()
        except OSError as error:
            raise typer.Exit(cannot_write(error, output, "make room and start again")) from None
    for problem in problems[:MOST_NAMED]:
        write_error(problem)
    left_out = f"; {len(problems):,} left out" if problems else ""
    write_error(f"{len(lines):,} response{'s' * (len(lines) != 1)} judged in both ways{left_out}")
    raise typer.Exit(Exit.INCOMPLETE if problems else Exit.OK)


@dataclass(frozen=True, slots=True)
class Named:
    """The rows of a file by their ids."""

    name: str
    """The file, for messages."""
    rows: Mapping[str, Fields]
    """Its rows."""


def joined(items: Named, whole: Named, labels: Named) -> tuple[list[dict[str, Any]], list[str]]:
    """The lines for the planner in the order of the labels, and what is wrong with the responses without one.

    >>> reports = [{"id": "a", "findings": [{"question": "Is it short?", "votes": votes}]} for votes in ([1, 0], [1])]
    >>> files = [Named("reports.jsonl", {"a": report}) for report in reports]
    >>> joined(*files, Named("labels.jsonl", {"a": {"prompt": "Be short.", "labels": [True]}}))[0]
    [{'id': 'a', 'group': 'Be short.', 'holistic': [1], 'labels': [1], 'votes': [[1, 0]]}]
    """
    lines: list[dict[str, Any]] = []
    problems: list[str] = []
    files = (items, whole, labels)
    for name in dict.fromkeys(name for file in (labels, items, whole) for name in file.rows):
        try:
            missing = [file.name for file in files if name not in file.rows]
            if missing:
                raise InputError(f"it is not in {' and '.join(missing)}")
            lines.append(_line(name, *(file.rows[name] for file in files)))
        except InputError as error:
            problems.append(f"{name}: {error}")
    return lines, problems


def _line(name: str, items: Fields, whole: Fields, labels: Fields) -> dict[str, Any]:
    truth, questions = _labels(labels)
    findings, votes = _votes(items, "item by item")
    if len(votes) != len(truth):
        raise InputError(f"it has votes on {len(votes)} items and {len(truth)} labels: both need the same checklist")
    for k, (asked, finding) in enumerate(zip(questions, findings, strict=False)):
        if finding.get("question") != asked:
            voted = finding.get("question")
            raise InputError(f"item {k} is {voted!r:.80} where it was voted on, and {asked!r:.80} by its label")
    _, given = _votes(whole, "as a whole")
    if len(given) != 1:
        raise InputError(f"the report on the whole has {len(given)} findings, wanted that of --method holistic, one")
    # What a rule decides it decides every time alike: its one vote stands for as many as the other items have.
    most = max(map(len, votes))
    cast_KJ = [[*one] * most if len(one) == 1 else [*one] for one in votes]
    group = labels.get("group")
    if group is None and any(labels.get(key) is not None for key in INSTRUCTION_KEYS):
        group = instruction_of(labels)
    return {
        "id": name,
        **({} if group is None else {"group": str(group)}),
        **({} if labels.get("gold") is None else {"gold": labels["gold"]}),
        "holistic": _numbers(given[0]),
        "labels": _numbers(truth),
        "votes": [_numbers(one) for one in cast_KJ],
    }


def _labels(row: Fields) -> tuple[Votes, Sequence[str]]:
    """Whether each item holds, and the items in words where the row has them."""
    key = next((key for key in ("labels", "strict") if row.get(key) is not None), None)
    if key is None:
        problem = f": {row['problem']}" if row.get("problem") else ""
        raise InputError(f'it has no labels{problem}; wanted "labels", or "strict" as rules write it')
    truth = as_votes(row[key], f'"{key}"')
    if not truth or None in truth:
        raise InputError(f'"{key}" is {row[key]!r:.80}, wanted 1 or 0 for each of one or more items')
    return truth, [item.text for item in row_items(row) or ()]


def _votes(report: Fields, how: str) -> tuple[list[Mapping[str, Any]], list[Votes]]:
    """The findings of a report and their votes. Raises InputError if the judge failed."""
    given = report.get("findings")
    if not isinstance(given, list) or not given:
        raise InputError(f"it was not judged {how}: {report.get('message', 'it is no report of vouch check')!s:.200}")
    findings = cast("list[Any]", given)
    if not all(isinstance(one, Mapping) for one in findings):
        raise InputError(f"what was judged {how} is no report of vouch check")
    for one in cast("list[Mapping[str, Any]]", findings):
        if one.get("kind") == "unverified":
            raise InputError(f"the judge failed {how}: {one.get('message', '')!s:.200}")
    return findings, [as_votes(one.get("votes"), f"item {k}") for k, one in enumerate(findings)]


def _numbers(votes: Sequence[bool | None]) -> list[int | None]:
    return [None if vote is None else int(vote) for vote in votes]


def _by_name(path: str) -> Named:
    rows: dict[str, Fields] = {}
    with open_rows(path) as reader:
        for row in reader:
            if row.fields is None:
                raise InputError(f"{reader.name}, {row.place}: {row.problem}")
            claim = row.fields.get("claim")
            # A row that could not be used left a record without findings, whose claim has the row's id.
            own = str(cast("Any", claim)["id"]) if isinstance(claim, Mapping) and "id" in claim else row.name
            if own in rows:
                raise InputError(f"{reader.name}, {row.place}: a second row with the id {own!r}, give each its own")
            rows[own] = row.fields
        return Named(reader.name, rows)
