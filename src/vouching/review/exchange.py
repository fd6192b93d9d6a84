"""What review tools of others say about verdicts, taken into the queue; common to all of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from vouching.errors import InputError
from vouching.review.projection import resolved
from vouching.review.queue import ItemTakenError, ReviewQueue
from vouching.types.review import Decision, ItemId, Policy, QueueFilters, Review, ReviewItem
from vouching.types.spans import Label

LABELS: tuple[Label, ...] = ("Attributable", "Not Attributable")
WRONG = "wrong"
"""Name of the spans that reviewers mark, in other tools."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one person says about one verdict, in another tool."""

    reviewer: str
    """Who, by a name of this ledger."""
    item: ItemId
    decision: Decision
    taken: tuple[Policy, int] | None
    """Policy and seed of the export; None if they are not in the file."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    decided: int
    """Decisions that were appended."""
    same: int
    """Decisions that the ledger had already, from an earlier import."""
    refused: tuple[str, ...]
    """Why others were not taken, one sentence each."""


def apply_answers(queue: ReviewQueue, answers: Iterable[Answer]) -> Imported:
    """Append the decisions, unless a reviewer's newest one on a verdict says the same."""
    decided = same = 0
    refused: list[str] = []
    for answer in answers:
        try:
            item = queue.get(answer.item)
            if _is_said(item, answer):
                same += 1
                continue
            queue.decide(answer.reviewer, answer.item, answer.decision, answer.taken)
        except (InputError, ItemTakenError) as error:
            refused.append(f"{answer.item} by {answer.reviewer}: {error}")
        else:
            decided += 1
    return Imported(decided, same, tuple(refused))


def _is_said(item: ReviewItem, answer: Answer) -> bool:
    newest = newest_decisions(item).get(answer.reviewer)
    if newest is None:
        return False
    given = answer.decision
    verdict = {"label": item.verdict.label, "error_type": item.verdict.error_type}
    said = (*resolved(given.label, given.error_type, verdict), given.span, given.fix, given.note)
    return said == (newest.label, newest.error_type, newest.span, newest.fix, newest.note)


def newest_decisions(item: ReviewItem) -> dict[str, Review]:
    """The newest decision of each reviewer that was not taken back."""
    return {one.reviewer: one for one in item.reviews if one.action == "decide" and not one.undone}


def offered(queue: ReviewQueue, policy: Policy, filters: QueueFilters | None, limit: int) -> list[ReviewItem]:
    """The next verdicts by a policy that are not final and have their texts, without taking them."""
    found: list[ReviewItem] = []
    offset = 0
    while len(found) < limit:
        lines = queue.lines(policy, filters, limit=500, offset=offset)
        if not lines:
            break
        offset += len(lines)
        for line in lines:
            wanted = line.state == "disputed" if policy == "disputed" else line.state != "final"
            if not wanted or len(found) == limit:
                continue
            try:
                found.append(queue.get(line.id))
            except InputError:  # its texts were erased
                continue
    return found


def sources_text(item: ReviewItem) -> str:
    """The sources of a verdict as one text to read, each under its title or name."""
    return "\n\n".join(f"[{source.title or source.id}]\n{source.text}" for source in item.sources)


def item_and_taken(data: Mapping[str, Any]) -> tuple[ItemId, tuple[Policy, int] | None] | None:
    """The verdict that a task or a record is about, and how it was taken; None for one that is not of this ledger."""
    try:
        item = ItemId.read(str(data.get("item") or data.get("id") or ""))
    except InputError:
        return None
    policy, seed = data.get("policy"), data.get("seed")
    known = policy in get_args(Policy) and isinstance(seed, int)
    return item, (cast("Policy", policy), cast("int", seed)) if known else None


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files into a new folder. Raises InputError if it exists or cannot be written."""
    try:
        folder.mkdir(parents=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{folder} exists: choose a new folder") from None
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None


def read_objects(path: Path, what: str) -> list[Mapping[str, Any]]:
    """The objects of a file with a JSON list. Raises InputError for any other file."""
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not JSON: pass {what}") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in cast("list[Any]", found)):
        raise InputError(f"{path} is not a list of objects: pass {what}")
    return cast("list[Mapping[str, Any]]", found)


def text_of(given: object) -> str | None:
    """A text that is not empty; None for anything else."""
    return given if isinstance(given, str) and given.strip() else None


def span_of(given: object) -> tuple[int, int] | None:
    """Start and end of an object that has them; None for anything else."""
    if not isinstance(given, Mapping):
        return None
    marked = cast("Mapping[str, Any]", given)
    start, end = marked.get("start"), marked.get("end")
    return (start, end) if isinstance(start, int) and isinstance(end, int) else None


def named(names: Mapping[str, str], ids: Sequence[object], tool: str) -> str:
    """The reviewer of a user of another tool: the name given for one of the user's ids, else one made of the first."""
    known = next((names[str(one)] for one in ids if str(one) in names), None)
    return known or f"{tool}:{next((str(one) for one in ids if one not in (None, '')), 'unknown')}"
