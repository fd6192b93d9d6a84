"""How far reviewers agree: Cohen's kappa of labels and of error types, with intervals.

Kappa is taken over the verdicts that two people decided, also those where one of them took that back since. The first
decision of each reviewer counts, also if it was taken back: a later one may follow what another reviewer said. Of more
than two reviewers, the first two count. Pairs are compared with each other, and all pairs together with the reviewers
of each pair in the order of their names. Not supported: coefficients for more than two reviewers at once (Fleiss,
Krippendorff).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import and_, select

from vouching.ledger.tables import REVIEW_EVENTS, REVIEW_ITEMS
from vouching.metrics import Interval, bca, cohen_kappa, document_numbers
from vouching.review.conditions import conditions_of
from vouching.review.queue import ReviewQueue
from vouching.types.review import ItemId, QueueFilters


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two reviewers on the verdicts that both decided."""

    reviewers: tuple[str, str]
    """Their names, in order."""
    items: int
    """Verdicts that both decided, also if a decision was taken back since."""
    same_label: int
    """Of these, those with the same label from both."""
    label: Interval
    """Cohen's kappa of the labels; without bounds, and with the reason, for few verdicts."""
    typed: int
    """Verdicts that both called Not Attributable, with an error type from both."""
    same_type: int
    """Of these, those with the same error type from both."""
    error_type: Interval
    """Cohen's kappa of the error types."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """All pairs of reviewers together, and each pair."""

    total: PairAgreement | None
    """All pairs; its names are empty. None if no verdict has two reviewers."""
    pairs: tuple[PairAgreement, ...]
    """Each pair, the one with the most verdicts first."""


_Said = tuple[str, str | None]
"""A label and an error type."""


@dataclass(frozen=True, slots=True)
class _Both:
    reviewers: tuple[str, str]
    row: int
    said: tuple[_Said, _Said]


def agreement(queue: ReviewQueue, filters: QueueFilters | None = None, resamples: int = 2000) -> Agreement:
    """Agreement on the verdicts that two people decided, by the first decision of each, also if it was taken back.

    Intervals resample rows of the ledger, since the verdicts of one response are not independent.
    """
    both = _read(queue, filters)
    if not both:
        return Agreement(None, ())
    by_pair: dict[tuple[str, str], list[_Both]] = defaultdict(list)
    for one in both:
        by_pair[one.reviewers].append(one)
    pairs = [_agreement_of(names, found, resamples) for names, found in by_pair.items()]
    pairs.sort(key=lambda pair: (-pair.items, pair.reviewers))
    return Agreement(_agreement_of(("", ""), both, resamples), tuple(pairs))


def _read(queue: ReviewQueue, filters: QueueFilters | None) -> list[_Both]:
    queue.refresh()
    on = and_(REVIEW_ITEMS.c.row_id == REVIEW_EVENTS.c.row_id, REVIEW_ITEMS.c.finding == REVIEW_EVENTS.c.finding)
    asked = (
        select(REVIEW_EVENTS)
        .join(REVIEW_ITEMS, on)
        .where(REVIEW_EVENTS.c.action == "decide", *conditions_of(filters))
        .order_by(REVIEW_EVENTS.c.id)
    )
    first: dict[ItemId, dict[str, _Said]] = defaultdict(dict)
    with queue.ledger.store.read() as connection:
        for row in connection.execute(asked).mappings():
            said = (str(row["label"]), row["error_type"])
            first[ItemId(row["row_id"], row["finding"])].setdefault(row["reviewer"], said)
    both: list[_Both] = []
    for item, given in sorted(first.items()):
        names = sorted([*given][:2])
        if len(names) == 2:
            both.append(_Both((names[0], names[1]), item.row, (given[names[0]], given[names[1]])))
    return both


def _agreement_of(names: tuple[str, str], both: Sequence[_Both], resamples: int) -> PairAgreement:
    labels = [(one.said[0][0], one.said[1][0]) for one in both]
    typed = [(one.row, one.said[0][1], one.said[1][1]) for one in both if one.said[0][1] and one.said[1][1]]
    types = [(str(first), str(second)) for _, first, second in typed]
    return PairAgreement(
        names,
        len(labels),
        sum(a == b for a, b in labels),
        _kappa(labels, [one.row for one in both], resamples),
        len(types),
        sum(a == b for a, b in types),
        _kappa(types, [row for row, _, _ in typed], resamples),
    )


def _kappa(said: Sequence[tuple[str, str]], rows: Sequence[int], resamples: int) -> Interval:
    """Kappa with its interval; without any verdict, undefined."""
    if not said:
        return Interval(float("nan"), None, None, 0.95, "BCa", "no verdict has two such decisions")
    statistic = partial(cohen_kappa, [first for first, _ in said], [second for _, second in said])
    return bca(statistic, document_numbers((row,) for row in rows), resamples=resamples)
