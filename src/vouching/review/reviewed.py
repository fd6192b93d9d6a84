"""Reviewed verdicts as numbers, and which of them are a random sample.

Verdicts that were reviewed because they were uncertain or disputed are not typical: a rate over them is not the rate
over all. Rates and calibration therefore use a sample by default. The policy "sampled" offers verdicts in a random
order that does not depend on them, so everything up to the last one that was taken by it is a random sample, also what
had been reviewed for another reason and was therefore not offered again. Verdicts that came later do not belong to it
until the order comes past them. It stops at the first verdict that was there to be drawn and is not final, such as one
that filters excluded or that lacks its second reviewer; skipped and erased ones are passed over.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import and_, exists, select

from vouching.ledger.tables import CONTENTS, REVIEW_EVENTS, REVIEW_ITEMS
from vouching.metrics import Interval, clustered_wilson, document_numbers
from vouching.review.conditions import conditions_of, start_of
from vouching.review.projection import kept_object
from vouching.review.queue import ReviewQueue
from vouching.rows.shapes import SOURCE_KEYS
from vouching.types.review import ItemId, QueueFilters


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A verdict whose reviews are final."""

    id: ItemId
    at: str
    """When the verdict was appended."""
    caller: str
    model: str | None
    label: str
    """The verdict's."""
    error_type: str | None
    """The verdict's."""
    score: float
    confidence: float
    gold_label: str
    """The reviewers'."""
    gold_type: str | None
    """The reviewers'; None if they gave none, or do not agree."""
    sampled: bool
    """Whether it belongs to the random sample."""
    said: str
    """The same for verdicts on the same claim and sources, and for those of one row whose texts were erased."""
    group: int
    """The same for verdicts that depend on each other."""

    @property
    def right(self) -> bool:
        """Whether the verdict has the reviewers' label."""
        return self.label == self.gold_label

    @property
    def attributable(self) -> bool:
        """Whether the reviewers say that it is Attributable."""
        return self.gold_label == "Attributable"


def read_reviewed(queue: ReviewQueue, filters: QueueFilters | None = None, every: bool = False) -> list[Reviewed]:
    """The final verdicts of the random sample, or with ``every`` all of them, in the order of the ledger."""
    queue.refresh()
    columns = (
        REVIEW_ITEMS.c.row_id,
        REVIEW_ITEMS.c.finding,
        REVIEW_ITEMS.c.at,
        REVIEW_ITEMS.c.caller,
        REVIEW_ITEMS.c.model,
        REVIEW_ITEMS.c.label,
        REVIEW_ITEMS.c.error_type,
        REVIEW_ITEMS.c.score,
        REVIEW_ITEMS.c.confidence,
        REVIEW_ITEMS.c.gold_label,
        REVIEW_ITEMS.c.gold_type,
        REVIEW_ITEMS.c.draw,
        CONTENTS.c.inputs,
        CONTENTS.c.record,
    )
    joined = REVIEW_ITEMS.outerjoin(CONTENTS, CONTENTS.c.id == REVIEW_ITEMS.c.row_id)
    asked = select(*columns).select_from(joined).where(queue.is_state("final"), *conditions_of(filters))
    asked = asked.order_by(REVIEW_ITEMS.c.row_id, REVIEW_ITEMS.c.finding)
    samples = _samples(queue, filters).items()
    found: list[tuple[ItemId, bool, str, dict[str, Any]]] = []
    kept = [name for name in Reviewed.__dataclass_fields__ if name not in {"id", "sampled", "said", "group"}]
    with queue.ledger.store.read() as connection:
        for row in connection.execute(asked).mappings():
            sampled = any(one.has(row["row_id"], place(row["draw"], seed)) for seed, one in samples)
            if every or sampled:
                id = ItemId(row["row_id"], row["finding"])
                said = _said(id, kept_object(row["inputs"]), kept_object(row["record"]))
                found.append((id, sampled, said, {name: row[name] for name in kept}))
    groups = document_numbers((("row", id.row), ("said", said)) for id, _, said, _ in found)
    return [
        Reviewed(id, sampled=sampled, said=said, group=int(group), **values)
        for (id, sampled, said, values), group in zip(found, groups, strict=True)
    ]


def share_of(rows: Iterable[tuple[Hashable, bool]]) -> Interval:
    """The share of rows that count, as (group, whether it counts), with an interval that treats groups as the units."""
    counts: dict[Hashable, list[int]] = defaultdict(lambda: [0, 0])
    for group, hit in rows:
        counts[group][0] += hit
        counts[group][1] += 1
    return clustered_wilson([hits for hits, _ in counts.values()], [size for _, size in counts.values()])


def _said(id: ItemId, inputs: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """A digest of the claim and of the texts it was judged against, else the row: erased texts cannot be compared."""
    findings = record.get("findings", [record])
    try:
        claim = findings[id.finding]["claim"]["text"]
    except (LookupError, TypeError):
        return f"row {id.row}"
    given = [inputs.get(key) or record.get(key) for key in SOURCE_KEYS]
    texts = [_text_of(one) for many in given for one in (cast("list[Any]", many) if isinstance(many, list) else [many])]
    return hashlib.sha256(json.dumps([claim, texts], sort_keys=True).encode()).hexdigest()


def _text_of(source: Any) -> Any:
    """The text of a source or the digest that names it, without its id and title."""
    given = cast("dict[str, Any]", source) if isinstance(source, dict) else {}
    return given.get("text") or given.get("digest") or cast("Any", source)


def place(draw: float, seed: int) -> float:
    """The place in the random order of a seed, in [0, 1)."""
    return (draw - start_of(seed)) % 1.0


@dataclass(frozen=True, slots=True)
class _Sample:
    """How far the sample of one seed goes."""

    reached: tuple[tuple[float, int], ...]
    """Places of verdicts that were taken by it and decided, each with an id: older rows were there to be drawn."""
    stop: float
    """The first place at which a verdict that was there to be drawn is not final."""

    def has(self, row: int, place: float) -> bool:
        return place < self.stop and _was_drawn(self.reached, row, place)


def _was_drawn(reached: Iterable[tuple[float, int]], row: int, place: float) -> bool:
    """Whether the order came past a place when this row was there already."""
    return any(place <= end and row < known for end, known in reached)


def _samples(queue: ReviewQueue, filters: QueueFilters | None) -> dict[int, _Sample]:
    """The sample of each seed among the verdicts that meet the filters."""
    on = and_(REVIEW_ITEMS.c.row_id == REVIEW_EVENTS.c.row_id, REVIEW_ITEMS.c.finding == REVIEW_EVENTS.c.finding)
    asked = (
        select(REVIEW_EVENTS.c.seed, REVIEW_ITEMS.c.draw, REVIEW_EVENTS.c.id)
        .join(REVIEW_ITEMS, on)
        .where(
            REVIEW_EVENTS.c.action == "decide",
            REVIEW_EVENTS.c.policy == "sampled",
            REVIEW_EVENTS.c.seed.is_not(None),
            ~REVIEW_EVENTS.c.undone,
            *conditions_of(filters),
        )
    )
    skipped = exists().where(on, REVIEW_EVENTS.c.action == "skip", ~REVIEW_EVENTS.c.undone)
    has_texts = exists().where(CONTENTS.c.id == REVIEW_ITEMS.c.row_id, CONTENTS.c.record.is_not(None))
    left = select(REVIEW_ITEMS.c.row_id, REVIEW_ITEMS.c.draw).where(
        ~queue.is_state("final"), has_texts, ~skipped, *conditions_of(filters)
    )
    found: dict[int, list[tuple[float, int]]] = defaultdict(list)
    with queue.ledger.store.read() as connection:
        for seed, draw, known in connection.execute(asked):
            found[seed].append((place(draw, seed), known))
        waiting = [(row, draw) for row, draw in connection.execute(left)] if found else []
    samples: dict[int, _Sample] = {}
    for seed, given in found.items():
        reached = _frontier(given)
        stops = [at for row, draw in waiting if _was_drawn(reached, row, at := place(draw, seed))]
        samples[seed] = _Sample(reached, min(stops, default=1.0))
    return samples


def _frontier(given: Iterable[tuple[float, int]]) -> tuple[tuple[float, int], ...]:
    """Those that no other one exceeds in both place and id."""
    kept: list[tuple[float, int]] = []
    for end, known in sorted(given, reverse=True):
        if not kept or known > kept[-1][1]:
            kept.append((end, known))
    return tuple(kept)
