"""What a policy does to verdicts: shares and errors where the right label is known, and changes from another policy.

Not supported: claims that the judge failed on; they go to review under every policy.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vouching.judging.calibration import LabelledVerdict
from vouching.metrics import Interval
from vouching.report.outcomes import OUTCOMES, OutcomePolicy, PolicyOutcome
from vouching.review.projection import verdicts_in
from vouching.review.reviewed import share_of
from vouching.types import Label, Verdict
from vouching.types.serial import from_json

_WRONG: dict[PolicyOutcome, Label] = {"pass": "Not Attributable", "fail": "Attributable"}
"""The gold label with which an outcome is an error; a review is none."""


@dataclass(frozen=True, slots=True)
class OutcomeRate:
    """The verdicts with one outcome."""

    verdicts: int
    """How many."""
    share: Interval
    """Their share of all, with an interval over groups."""
    wrong: int | None
    """Claims that pass and are Not Attributable, or fail and are Attributable; None for a review."""
    error: Interval | None
    """Share of the wrong ones among them, with an interval over groups; None for a review."""


def outcome_rates(rows: Iterable[LabelledVerdict], policy: OutcomePolicy) -> dict[PolicyOutcome, OutcomeRate]:
    """What passes, goes to review and fails, and the error in it.

    Intervals are Wilson's, with the groups of the rows as units (:func:`vouching.metrics.clustered_wilson`). An error
    rate is an estimate for the claims that the rows are a random sample of.
    """
    decided = [(row, policy.decide(row.verdict)[0]) for row in rows]
    rates: dict[PolicyOutcome, OutcomeRate] = {}
    for outcome in OUTCOMES:
        members = [row for row, found in decided if found == outcome]
        wrong = [(row.group, row.gold == _WRONG.get(outcome)) for row in members]
        rates[outcome] = OutcomeRate(
            len(members),
            share_of((row.group, found == outcome) for row, found in decided),
            sum(one for _, one in wrong) if outcome in _WRONG else None,
            share_of(wrong) if outcome in _WRONG else None,
        )
    return rates


@dataclass(frozen=True, slots=True)
class Change:
    """A verdict that has another outcome under a policy than under the one before."""

    place: str
    """Where it is kept: the line or row and, within a report, the number of the claim."""
    claim: str
    """What was judged."""
    before: PolicyOutcome
    """Its outcome under the policy before."""
    after: PolicyOutcome
    """Its outcome under the policy."""
    rule: str
    """The rule that decides now; "" if none does."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """Kept verdicts under two policies."""

    before: dict[PolicyOutcome, int]
    """Verdicts by outcome under the policy before."""
    after: dict[PolicyOutcome, int]
    """Verdicts by outcome under the policy."""
    changes: tuple[Change, ...]
    """Those that differ, in order."""


def replay(
    records: Iterable[tuple[str, Mapping[str, Any]]], policy: OutcomePolicy, before: OutcomePolicy | None = None
) -> Replayed:
    """Decide kept verdicts by another policy; no judge is asked.

    Args:
        records: verdicts and reports as JSON has them, each with its place; other records have no verdicts.
        policy: the one to try.
        before: the one to compare with; None for the one without rules.

    >>> from vouching import check
    >>> from vouching.report.outcomes import Rule
    >>> from vouching.types.serial import to_python
    >>> kept = to_python(check("It opened in 1937.", "It opened in 1973.", model="embedded:rules"))
    >>> replay([("row 1", kept)], OutcomePolicy({"dates": Rule("review", kind="date")})).changes
    (Change(place='row 1', claim='It opened in 1937.', before='fail', after='review', rule='dates'),)
    """
    earlier, decided, changes = (
        before or OutcomePolicy(),
        Counter[tuple[PolicyOutcome, PolicyOutcome]](),
        list[Change](),
    )
    for place, record in records:
        found = verdicts_in(record)
        for number, fields in found.items():
            verdict = from_json(Verdict, json.dumps(fields))
            (was, _), (now, rule) = earlier.decide(verdict), policy.decide(verdict)
            decided[was, now] += 1
            if was != now:
                where = f"{place}, claim {number + 1}" if "findings" in record else place
                changes.append(Change(where, verdict.claim.text, was, now, rule))
    return Replayed(_counted(decided, 0), _counted(decided, 1), tuple(changes))


def _counted(decided: Mapping[tuple[PolicyOutcome, PolicyOutcome], int], side: int) -> dict[PolicyOutcome, int]:
    return {one: sum(number for pair, number in decided.items() if pair[side] == one) for one in OUTCOMES}
