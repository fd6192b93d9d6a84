"""Read judged completions from files: a verifier's votes by item and on the whole response, and the labels.

A row: ``{"id", "group", "gold", "holistic": [1, 0, null], "labels": [1, 0], "votes": [[1, null], [0, 0]]}``; or three
files joined by their ids: the reports of ``vouch follow --method checklist`` and ``--method holistic``, and labels as
``--method rules`` writes them.

Not supported: files that do not fit into memory, and item labels in a separate file, as ``vouch data gold`` writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from recipes.theory.rates import JudgedCompletion
from vouching.errors import InputError
from vouching.judging.votes import Votes, as_votes
from vouching.methods.checklist.items import INSTRUCTION_KEYS, instruction_of, row_items
from vouching.rows import Fields, Row, fields_of, open_rows, read_rows
from vouching.types.visible import shown_json


def read_judged(path: str) -> tuple[list[JudgedCompletion], list[str]]:
    """The judged completions of a file, and the problems of its other rows.

    Raises:
        InputError: the file cannot be read.
    """
    return read_rows(path, lambda row: [judged_completion(row)], ("holistic", "votes"))


def join_judged(items: str, whole: str, labels: str) -> tuple[list[JudgedCompletion], list[str]]:
    """The responses that were judged in both ways, and the problems of the others.

    ``items`` and ``whole`` are paths of reports, ``labels`` of rows with "labels" or "strict", one by item. Raises
    InputError if a file cannot be read or has an id twice.
    """
    lines, problems = joined(*map(_by_name, (items, whole, labels)))
    return [judged_completion(Row(n, f"response {n}", line)) for n, line in enumerate(lines, 1)], problems


def judged_completion(row: Row) -> JudgedCompletion:
    """Parse a row, raising InputError if it is unusable.

    Without ``gold`` a completion is a strict success if all its items hold; without ``group`` it is its own group.
    """
    fields = fields_of(row, "holistic", "labels", "votes")
    labels = [_label(value, "label of an item") for value in _list(fields["labels"], "labels")]
    given = fields.get("gold")
    group = fields.get("group")
    return JudgedCompletion(
        id=row.name,
        group=row.name if group is None else str(group),
        gold=all(labels) if given is None else _label(given, "gold label"),
        holistic=as_votes(_listed(fields["holistic"]), "the whole response"),
        labels=tuple(labels),
        votes=tuple(as_votes(_listed(one), f"item {k}") for k, one in enumerate(_list(fields["votes"], "votes"))),
    )


def _listed(given: object) -> object:
    """A single vote as a list of one; null marks a failed judge and stays."""
    return cast("object", given) if given is None or isinstance(given, list) else [given]


def _label(given: object, what: str) -> bool:
    if not (isinstance(given, bool | int | float) and given in (0, 1)):
        raise InputError(f"the {what} must be true, false, 1 or 0, got {shown_json(given)}")
    return bool(given)


def _list(given: object, name: str) -> list[object]:
    if not isinstance(given, list):
        raise InputError(f'"{name}" must be a list with one entry for each item, got {shown_json(given)}')
    return cast("list[object]", given)


@dataclass(frozen=True, slots=True)
class Named:
    """The rows of a file by their ids."""

    name: str
    """The file, for messages."""
    rows: Mapping[str, Fields]


def joined(items: Named, whole: Named, labels: Named) -> tuple[list[dict[str, Any]], list[str]]:
    """The lines for the planner in the order of the labels, and the problems of the other responses."""
    lines: list[dict[str, Any]] = []
    problems: list[str] = []
    files = (items, whole, labels)
    for name in dict.fromkeys(name for file in (labels, items, whole) for name in file.rows):
        try:
            missing = [file.name for file in files if name not in file.rows]
            if missing:
                raise InputError(f"the row is missing from {' and '.join(missing)}")
            lines.append(_line(name, *(file.rows[name] for file in files)))
        except InputError as error:
            problems.append(f"{name}: {error}")
    return lines, problems


def _line(name: str, items: Fields, whole: Fields, labels: Fields) -> dict[str, Any]:
    truth, questions = _truth(labels)
    findings, votes = _votes(items, "item by item")
    if len(votes) != len(truth):
        raise InputError(
            f"the row has votes on {len(votes)} items but {len(truth)} labels: both must use the same checklist"
        )
    for k, (asked, finding) in enumerate(zip(questions, findings, strict=False)):
        if finding.get("question") != asked:
            voted = finding.get("question")
            raise InputError(f"item {k} is {shown_json(voted, 80)} in the votes but {asked!r:.80} in the labels")
    _, given = _votes(whole, "as a whole")
    if len(given) != 1:
        raise InputError(
            f"the report on the whole response has {len(given)} findings, expected exactly one: use --method holistic"
        )
    # A rule always decides alike: its one vote counts as many times as the other items have votes.
    longest = max(map(len, votes))
    cast_KJ = [[*one] * longest if len(one) == 1 else [*one] for one in votes]
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


def _truth(row: Fields) -> tuple[Votes, Sequence[str]]:
    """Whether each item holds, and the text of the items if the row has it."""
    key = next((key for key in ("labels", "strict") if row.get(key) is not None), None)
    if key is None:
        problem = f": {row['problem']}" if row.get("problem") else ""
        raise InputError(f'the row has no labels{problem}; expected "labels", or "strict" from a check by rules')
    truth = as_votes(row[key], f'"{key}"')
    if not truth or None in truth:
        raise InputError(f'"{key}" must be a list with 1 or 0 for each item, got {shown_json(row[key])}')
    return truth, [item.text for item in row_items(row) or ()]


def _votes(report: Fields, how: str) -> tuple[list[Mapping[str, Any]], list[Votes]]:
    """The findings of a report and their votes. Raises InputError if the judge failed."""
    given = report.get("findings")
    if not isinstance(given, list) or not given:
        raise InputError(
            f"the row was not judged {how}: {report.get('message', 'the line is not a report of vouch follow')!s:.200}"
        )
    findings = cast("list[Any]", given)
    if not all(isinstance(one, Mapping) for one in findings):
        raise InputError(f"the line judged {how} is not a report of vouch follow")
    for one in cast("list[Mapping[str, Any]]", findings):
        if one.get("kind") == "unverified":
            raise InputError(f"the judge failed when judging {how}: {one.get('message', '')!s:.200}")
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
            # The record of an unusable row has no findings; its claim has the row's id.
            own = str(cast("Any", claim)["id"]) if isinstance(claim, Mapping) and "id" in claim else row.name
            if own in rows:
                raise InputError(
                    f"{reader.name}, {row.place}: an earlier row has the id {own!r}: give each row its own id"
                )
            rows[own] = row.fields
        return Named(reader.name, rows)
