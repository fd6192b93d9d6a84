"""Gold rows from verdicts that people reviewed: what a ledger exports (``types.reviewed``), read and reconciled.

Of several reviews by one person the last counts. Where persons differ on a label there is no gold row, nor where nobody
could tell; both are counted. Where they differ on the type of an error the row has none. A ledger knows what was asked
and what was queued for review, mostly what was doubtful: its rows teach well and measure badly. Left out: a majority
among three or more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from vouching.errors import InputError
from vouching.evolve.records import Row
from vouching.types import ErrorType, Label, ReviewedVerdict
from vouching.types.serial import from_json

DATA_SET = "reviewed"
"""Name of the set that the rows are of."""


@dataclass(frozen=True, slots=True)
class ReviewedRows:
    """What became of reviews."""

    rows: tuple[Row, ...]
    """A row for each claim and its sources that persons agree on, in the order in which they first appear."""
    reviews: int
    """Reviews that were read."""
    contested: int
    """Claims that persons disagree on."""
    undecided: int
    """Claims that nobody could tell of."""
    overruled: int
    """Rows whose label is not the one that the verdict had."""


def read_reviewed(path: Path) -> ReviewedRows:
    """Read what a ledger exported, one review a line. Raises InputError, with the line, if it cannot be used."""
    reviews: list[ReviewedVerdict] = []
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        reviews.append(from_json(ReviewedVerdict, line))
                    except InputError as error:
                        raise InputError(f"{path}, line {number}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    return gold_rows(reviews)


def gold_rows(reviews: Iterable[ReviewedVerdict]) -> ReviewedRows:
    """Reviews as gold rows; the sources of a claim become one, joined by a blank line.

    >>> from vouching.types import Claim, Source, Verdict
    >>> judged = Verdict(Claim("It opened in 1937."), "Attributable", 0.9, 0.9, 0.5, "supported")
    >>> asked = ("v1", "It opened in 1937.", (Source("It opened in 1973."),))
    >>> said = ReviewedVerdict(*asked, "Not Attributable", judged, "ann", "2026-05-04T09:30:00+00:00", "temporal_shift")
    >>> other = ReviewedVerdict(*asked, None, judged, "bob", "2026-05-04T10:00:00+00:00")
    >>> found = gold_rows([said, other])
    >>> [(row.label, row.error_type) for row in found.rows], found.overruled
    ([('Not Attributable', 'temporal_shift')], 1)
    """
    seen: defaultdict[tuple[str, str], dict[str, ReviewedVerdict]] = defaultdict(dict)
    number = 0
    for review in reviews:
        number += 1
        by_person = seen[review.claim, "\n\n".join(source.text for source in review.sources)]
        before = by_person.get(review.reviewer)
        if before is None or _when(before) <= _when(review):
            by_person[review.reviewer] = review
    rows: list[Row] = []
    contested = undecided = overruled = 0
    for (claim, source), by_person in seen.items():
        told = sorted((one for one in by_person.values() if one.label is not None), key=_when)
        labels: set[Label] = {one.label for one in told if one.label is not None}
        if len(labels) != 1:
            contested += bool(labels)
            undecided += not labels
            continue
        last, [label] = told[-1], labels
        errors: set[ErrorType] = {one.error_type for one in told if one.error_type is not None}
        error = min(errors) if len(errors) == 1 else None
        rows.append(Row(last.id, claim, source, label, DATA_SET, last.group, error))
        overruled += last.overruled
    return ReviewedRows(tuple(rows), number, contested, undecided, overruled)


def _when(review: ReviewedVerdict) -> datetime:
    return datetime.fromisoformat(review.reviewed_at)
