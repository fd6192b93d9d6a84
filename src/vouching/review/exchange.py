"""Verdicts as tasks of other review tools, and what people say there taken into the queue; common to all tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from vouching.errors import InputError
from vouching.review.projection import resolved
from vouching.review.queue import ItemTakenError, ReviewQueue
from vouching.text.json_values import parse_json
from vouching.types.review import Decision, ItemId, Policy, QueueFilters, Review, ReviewItem
from vouching.types.spans import ErrorType, Label

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


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of others: how verdicts become its files, and its objects the decisions of people."""

    what: str
    """What a file to import has, for messages."""
    files: Callable[[list[ReviewItem], Policy, ReviewQueue, Mapping[str, str]], Mapping[str, str]]
    """Texts by file name, of verdicts that were chosen by a policy; the last argument is as in :meth:`export`."""
    answers: Callable[[Mapping[str, Any], Mapping[str, str]], Iterator[Answer]]
    """What people say in one object of an imported file."""

    def export(
        self,
        queue: ReviewQueue,
        folder: Path,
        policy: Policy = "uncertain",
        filters: QueueFilters | None = None,
        limit: int = 100,
        names: Mapping[str, str] | None = None,
    ) -> int:
        """Write the next verdicts by a policy to a new folder; returns their number.

        ``names`` are reviewers by the id of their user in the tool: their decisions go along.
        """
        items = _offered(queue, policy, filters, limit)
        _write_files(folder, self.files(items, policy, queue, names or {}))
        return len(items)

    def take(self, queue: ReviewQueue, path: Path, names: Mapping[str, str] | None = None) -> Imported:
        """Take what people said in a file as decisions.

        ``names`` are reviewers by the id of their user; others are named after the tool. Raises InputError for a file
        that is no export.
        """
        objects = _read_objects(path, self.what)
        return _apply_answers(queue, (answer for one in objects for answer in self.answers(one, names or {})))


def _apply_answers(queue: ReviewQueue, answers: Iterable[Answer]) -> Imported:
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


def _offered(queue: ReviewQueue, policy: Policy, filters: QueueFilters | None, limit: int) -> list[ReviewItem]:
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


def _write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files into a new folder. Raises InputError if it exists or cannot be written."""
    try:
        folder.mkdir(parents=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{folder} exists: choose a new folder") from None
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None


def _read_objects(path: Path, what: str) -> list[Mapping[str, Any]]:
    """The objects of a file with a JSON list. Raises InputError for any other file."""
    try:
        found: Any = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise InputError(f"{path} is not JSON: pass {what}") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in cast("list[Any]", found)):
        raise InputError(f"{path} is not a list of objects: pass {what}")
    return cast("list[Mapping[str, Any]]", found)


def decision_of(said: Mapping[str, object]) -> Decision | None:
    """The decision of label, error_type, span (an object), fix and note; None without a label."""
    label, kind = said.get("label"), said.get("error_type")
    if label not in LABELS:
        return None
    kind = cast("ErrorType | None", kind) if label == "Not Attributable" else None
    fix, note = _text_of(said.get("fix")), _text_of(said.get("note"))
    return Decision(label, kind, _span_of(said.get("span")), fix, note or "")


def _text_of(given: object) -> str | None:
    """A text that is not empty; None for anything else."""
    return given if isinstance(given, str) and given.strip() else None


def _span_of(given: object) -> tuple[int, int] | None:
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
