"""Rates over time, calibration and false positives from reviews, the random sample, and audits of blocking."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.review.kept import entry, keep, review_sample, verdict
from vouching.errors import InputError
from vouching.ledger import Entry, Ledger, RetentionRule, open_ledger
from vouching.metrics import clustered_wilson, wilson
from vouching.review import Decision, ItemId, QueueFilters, ReviewQueue
from vouching.review.audits import ENOUGH, blocking_audit
from vouching.review.rates import (
    false_positives_by_caller,
    false_positives_by_overlap,
    periods,
    reliability,
    verbatim_overlap,
)
from vouching.review.reviewed import read_reviewed
from vouching.types.serial import to_python

WRONG = "Not Attributable"


def review_all(queue: ReviewQueue, gold: dict[ItemId, str], policy: str = "sampled", number: int = 10_000) -> None:
    """Decide what is offered by its gold label."""
    for _ in range(number):
        item = queue.take("ann", policy)  # type: ignore[arg-type]
        if item is None:
            return
        queue.decide("ann", item.id, Decision(gold[item.id]))  # type: ignore[arg-type]


def test_labels_and_types_are_counted_by_day_and_by_week(ledger: Ledger) -> None:
    keep(ledger, [0.9, 0.8, 0.1])
    queue = ReviewQueue(ledger)
    [day], [week] = periods(queue), periods(queue, "week")
    assert (day.verdicts, day.labels) == (3, {"Attributable": 2, WRONG: 1}) == (week.verdicts, week.labels)
    assert day.error_types == {"temporal_shift": 1}
    assert day.not_attributable == wilson(1, 3)
    assert week.start <= day.start
    with pytest.raises(InputError, match="by day or week"):
        periods(queue, "month")  # type: ignore[arg-type]


def test_reliability_compares_scores_with_what_reviewers_say(tmp_path: Path) -> None:
    # 20 scores of .95, of which reviewers call 10 Attributable; 20 of .25, of which they call 5 Attributable.
    # ECE = (20 * |.95 - .5| + 20 * |.25 - .25|) / 40 = .225
    # Brier = (10 * .05^2 + 10 * .95^2 + 5 * .75^2 + 15 * .25^2) / 40 = (.025 + 9.025 + 2.8125 + .9375) / 40 = .32
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ids = keep(ledger, [0.95] * 20 + [0.25] * 20)
        queue = ReviewQueue(ledger)
        labels = ["Attributable"] * 10 + [WRONG] * 10 + ["Attributable"] * 5 + [WRONG] * 15
        review_sample(queue, dict(zip(ids, labels, strict=True)))
        found = reliability(read_reviewed(queue), resamples=200)
        audit = blocking_audit(queue, "bot", "scripted")
        [caller] = false_positives_by_caller(read_reviewed(queue))
    assert found.rows == 40
    assert found.ece.estimate == pytest.approx(0.225)
    assert found.brier.estimate == pytest.approx(0.32)
    full = [one for one in found.bins if one.count]
    assert [(one.low, one.count, one.attributable.estimate) for one in full] == [(0.2, 20, 0.25), (0.9, 20, 0.5)]
    assert full[1].attributable == wilson(10, 20)
    assert found.accuracy == wilson(10 + 15, 40)
    # 15 are Attributable; 5 of them were rejected.
    assert (caller.name, caller.reviewed, caller.attributable, caller.rejected) == ("bot", 40, 15, 5)
    assert caller.rate == audit.rate == wilson(5, 15)
    assert not audit.sufficient
    assert f"15 of {ENOUGH} sampled reviews of different Attributable claims" in str(audit.warning)


def test_only_a_random_sample_tells_about_all_verdicts(tmp_path: Path) -> None:
    # Confident verdicts are right, doubtful ones wrong; 100 of each. Of all, half are right.
    dice = random.Random(1)
    scores = [0.99, 0.52] * 100
    dice.shuffle(scores)
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ids = keep(ledger, scores)
        gold = {id: "Attributable" if score > 0.9 else WRONG for id, score in zip(ids, scores, strict=True)}
        queue = ReviewQueue(ledger)
        review_sample(queue, gold, 60, policy="uncertain")
        assert read_reviewed(queue) == []
        assert not any(row.right for row in read_reviewed(queue, every=True))
        review_sample(queue, gold, 50)
        rows = read_reviewed(queue)
    # The sample has the 50 and those of the 60 that would have been drawn before the last of them.
    assert len(rows) > 50
    right = sum(row.right for row in rows)
    interval = wilson(right, len(rows), 0.999)
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low < 0.5 < interval.high


def test_false_positives_by_how_much_of_the_claim_is_copied(tmp_path: Path) -> None:
    assert verbatim_overlap("It rained.", ["So it rained there."]) == 1.0
    assert verbatim_overlap("It rained on us.", ["The sun shone."]) == 0.0
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ids = keep(ledger, [0.1, 0.9])  # their source is "About" and the claim: copied as a whole
        queue = ReviewQueue(ledger)
        review_all(queue, dict.fromkeys(ids, "Attributable"))
        [found] = false_positives_by_overlap(queue, read_reviewed(queue))
    assert (found.name, found.attributable, found.rejected) == ("75 % or more", 2, 1)


def test_an_audit_is_sufficient_for_one_caller_and_model_only(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ids = keep(ledger, [0.9] * ENOUGH)
        queue = ReviewQueue(ledger)
        review_sample(queue, dict.fromkeys(ids, "Attributable"), ENOUGH - 1)
        assert not blocking_audit(queue, "bot").sufficient
        review_sample(queue, dict.fromkeys(ids, "Attributable"))
        audit = blocking_audit(queue, "bot", "scripted")
        assert audit.sufficient
        assert audit.warning is None
        # Without a rejection among 100, the share is below 4 %.
        assert audit.rate.high is not None
        assert audit.rate.high < 0.04
        assert not blocking_audit(queue, "app").sufficient
        assert not blocking_audit(queue, "bot", "another").sufficient


def keep_responses(ledger: Ledger, number: int, scores: list[float]) -> list[ItemId]:
    """Responses with one claim per score; the ids of all their verdicts."""
    reports = [
        {
            "kind": "report",
            "findings": [
                to_python(verdict(score, f"Claim {place} of response {n}.")) for place, score in enumerate(scores)
            ],
        }
        for n in range(number)
    ]
    entries = [
        Entry("s", "check-response", {"response": f"Response {n}.", "sources": [f"Source {n}."]}, report, "bot")
        for n, report in enumerate(reports)
    ]
    return [ItemId(row, place) for row in ledger.append(entries) for place in range(len(scores))]


def test_claims_of_one_response_do_not_count_as_independent(tmp_path: Path) -> None:
    # 12 responses of 10 claims; of each, the first is rejected, and reviewers call all of them Attributable.
    # 120 claims are enough, but of 12 responses: without variation between responses the interval stays that of 120.
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ids = keep_responses(ledger, 12, [0.2] + [0.9] * 9)
        queue = ReviewQueue(ledger)
        [day] = periods(queue)
        assert day.not_attributable == clustered_wilson([1] * 12, [10] * 12)
        review_sample(queue, dict.fromkeys(ids, "Attributable"))
        [caller] = false_positives_by_caller(read_reviewed(queue))
        assert caller.rate == clustered_wilson([1] * 12, [10] * 12)
        assert len({row.group for row in read_reviewed(queue)}) == 12


def test_enough_claims_of_few_responses_are_no_audit(tmp_path: Path) -> None:
    # 11 responses of 10 claims without a rejection: as if 11 claims were reviewed, so up to 26 % may be rejected.
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ids = keep_responses(ledger, 11, [0.9] * 10)
        queue = ReviewQueue(ledger)
        review_sample(queue, dict.fromkeys(ids, "Attributable"))
        audit = blocking_audit(queue, "bot")
        assert audit.distinct == 110 > ENOUGH
        assert audit.rate.high == pytest.approx(wilson(0, 11).high)
        assert "is 26 points wide, more than 20, since many are of the same responses" in str(audit.warning)


def test_the_same_claim_and_sources_again_are_one_review_and_one_group(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        rows = ledger.append(
            [entry(0.9, claim="It opened in 1973.")] * ENOUGH + [entry(0.9, claim="It has two towers.")]
        )
        queue = ReviewQueue(ledger)
        review_sample(queue, {ItemId(row): "Attributable" for row in rows})
        audit = blocking_audit(queue, "bot")
        assert (audit.attributable, audit.distinct, audit.sufficient) == (ENOUGH + 1, 2, False)
        assert f"2 of {ENOUGH} sampled reviews of different" in str(audit.warning)
        assert len({row.group for row in read_reviewed(queue)}) == 2
        # Erased texts cannot be compared: each row is then taken for itself.
        ledger.erase(RetentionRule(ids=tuple(rows)), "asked for")
        assert len({row.said for row in read_reviewed(queue)}) == ENOUGH + 1


def test_verdicts_that_came_after_the_sampling_are_no_part_of_the_sample(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        queue = ReviewQueue(ledger)
        early = keep(ledger, [0.9] * 10)
        review_all(queue, dict.fromkeys(early, "Attributable"))
        late = keep(ledger, [0.51] * 10)
        review_all(queue, dict.fromkeys(late, WRONG), "uncertain")
        assert sorted(row.id for row in read_reviewed(queue)) == early
        assert len(read_reviewed(queue, every=True)) == 20


def test_a_sample_under_filters_does_not_go_beyond_them(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        queue = ReviewQueue(ledger)
        keep(ledger, [0.9, 0.1] * 20, "a", "app")
        bot = keep(ledger, [0.9, 0.1] * 20, "b", "bot")
        while (item := queue.take("ann", "sampled", QueueFilters(caller="bot"))) is not None:
            queue.decide("ann", item.id, Decision())
        assert sorted(row.id for row in read_reviewed(queue, QueueFilters(caller="bot"))) == bot
        # Of all, only what comes before the first verdict of the other caller.
        order = [line.id for line in queue.lines("sampled")]
        first = next(n for n, id in enumerate(order) if id not in bot)
        assert sorted(row.id for row in read_reviewed(queue)) == sorted(order[:first])
        while (item := queue.take("ann", "sampled", QueueFilters(label=WRONG))) is not None:
            queue.decide("ann", item.id, Decision())
        assert sorted(row.id for row in read_reviewed(queue, QueueFilters(caller="app"))) == []


def test_with_two_reviewers_the_sample_stops_where_the_second_one_is_missing(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        queue = ReviewQueue(ledger, reviewers=2)
        keep(ledger, [0.5 + n / 50 for n in range(20)])
        order = [line.id for line in queue.lines("sampled")]
        for id in order:
            queue.take("ann", "sampled")
            queue.decide("ann", id, Decision())
        for id in [*order[:4], *order[6:]]:  # the fifth and sixth lack bob
            queue.decide("bob", id, Decision())
        assert [row.id for row in read_reviewed(queue)] == sorted(order[:4])
