"""The queue: who gets which verdict, what decisions do, and what stays on record."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.ledger.conftest import KEY
from tests.review.kept import entry, keep, verdict
from vouching import Checker
from vouching.errors import ConfigError, InputError
from vouching.ledger import Entry, Ledger, RetentionRule, open_ledger
from vouching.review import Decision, ItemId, ItemTakenError, QueueCounts, QueueFilters, ReviewItem, ReviewQueue
from vouching.review.projection import kept_object

WRONG = "Not Attributable"


def taken(found: ReviewItem | None) -> ItemId:
    assert found is not None
    return found.id


def drain(queue: ReviewQueue, reviewer: str, policy: str = "uncertain") -> list[ItemId]:
    """Confirm everything that is offered; the verdicts in their order."""
    found: list[ItemId] = []
    while (item := queue.take(reviewer, policy)) is not None:  # type: ignore[arg-type]
        found.append(item.id)
        queue.decide(reviewer, item.id, Decision())
    return found


def test_the_least_certain_verdict_comes_first(ledger: Ledger) -> None:
    # Confidence is the greater of score and 1 - score: .98, .6, .9, .51; nearest to one half first.
    ids = keep(ledger, [0.98, 0.4, 0.9, 0.51])
    assert drain(ReviewQueue(ledger), "ann") == [ids[3], ids[1], ids[2], ids[0]]


def test_a_sample_is_in_an_order_of_its_seed_that_does_not_depend_on_confidence(ledger: Ledger) -> None:
    ids = keep(ledger, [0.5 + n / 1000 for n in range(200)])
    lines = [[line.id for line in ReviewQueue(ledger, seed=seed).lines("sampled", limit=500)] for seed in (0, 0, 1)]
    assert lines[0] == lines[1] != lines[2]
    assert sorted(lines[0]) == ids
    # The mean rank of the first 50 of 200 in a random order is 99.5 with standard deviation 7.1: within 4 of them.
    place = {id: rank for rank, id in enumerate(ids)}
    assert abs(sum(place[id] for id in lines[0][:50]) / 50 - 99.5) < 4 * 7.1


def test_two_people_never_have_the_same_verdict_in_hand(ledger: Ledger) -> None:
    keep(ledger, [0.6] * 40)
    queue = ReviewQueue(ledger)
    queue.refresh()

    def take(number: int) -> ItemId:
        with open_ledger(ledger.store.url.render_as_string(hide_password=False), key=KEY) as own:
            return taken(ReviewQueue(own).take(f"reviewer {number}"))

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(take, range(24)))
    assert len(set(found)) == 24
    assert queue.counts() == QueueCounts(40, 0, 0, 24)


def test_a_verdict_stays_in_hand_until_its_time_is_over(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.6])
    queue = ReviewQueue(ledger, lock_seconds=0.5)
    assert taken(queue.take("ann")) == id == taken(queue.take("ann"))
    assert queue.take("bob") is None
    with pytest.raises(ItemTakenError, match="somebody else has"):
        queue.take_item("bob", id)
    time.sleep(0.6)
    assert taken(queue.take("bob")) == id
    with pytest.raises(ItemTakenError, match="somebody else took it"):
        queue.decide("ann", id, Decision())
    assert queue.decide("bob", id, Decision()).state == "final"


def test_a_late_decision_is_refused_once_somebody_else_decided(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.6])
    queue = ReviewQueue(ledger, lock_seconds=0.5)
    assert taken(queue.take("ann")) == id
    time.sleep(0.6)
    assert taken(queue.take("bob")) == id
    queue.decide("bob", id, Decision())
    with pytest.raises(ItemTakenError, match="somebody else decided it"):
        queue.decide("ann", id, Decision(WRONG))
    with pytest.raises(ItemTakenError, match="somebody else decided it"):
        queue.skip("ann", id)
    assert [review.reviewer for review in queue.audit(id)] == ["bob"]
    queue.take_item("ann", id)
    assert queue.decide("ann", id, Decision()).state == "final"


def test_a_decision_has_the_policy_by_which_the_verdict_was_taken(ledger: Ledger) -> None:
    keep(ledger, [0.5 + n / 100 for n in range(20)])
    queue = ReviewQueue(ledger)
    [sampled] = queue.lines("sampled", limit=1)
    [doubtful] = queue.lines("uncertain", limit=1)
    assert taken(queue.take("ann", "uncertain")) == doubtful.id
    assert taken(queue.take("ann", "sampled")) == sampled.id == taken(queue.take("ann", "sampled"))
    queue.decide("ann", sampled.id, Decision())
    assert taken(queue.undo("ann")) == sampled.id
    assert queue.decide("ann", sampled.id, Decision(WRONG)).state == "final"
    assert [review.policy for review in queue.audit(sampled.id) if review.action == "decide"] == ["sampled"] * 2


def test_what_is_put_back_is_offered_to_others_and_what_is_skipped_not_to_the_same_person(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.6])
    queue = ReviewQueue(ledger)
    queue.take("ann")
    queue.release("ann")
    assert taken(queue.take("bob")) == id
    queue.skip("bob", id, "I do not know the language.")
    assert queue.take("bob") is None
    assert taken(queue.take("ann")) == id
    queue.release("ann")
    assert queue.undo("bob") is not None  # the skip
    assert taken(queue.take("bob")) == id


def test_a_decision_confirms_or_corrects_and_stays_on_record(ledger: Ledger) -> None:
    ids = keep(ledger, [0.9, 0.2])
    queue = ReviewQueue(ledger)
    fixed = Decision(WRONG, "temporal_shift", (0, 5), "Claim none of s.", "<script>alert(1)</script>")
    found = queue.decide("ann", ids[0], fixed)
    assert found.state == "final"
    [line] = queue.lines(filters=QueueFilters(label="Attributable"))
    assert (line.gold_label, line.gold_type, line.decided) == (WRONG, "temporal_shift", 1)
    [review] = queue.audit(ids[0])
    assert (review.reviewer, review.action, review.before) == (
        "ann",
        "decide",
        {"label": "Attributable", "error_type": None},
    )
    assert (review.label, review.error_type, review.span) == (WRONG, "temporal_shift", (0, 5))
    assert (review.fix, review.note) == (fixed.fix, fixed.note)
    queue.decide("ann", ids[1], Decision())
    assert (queue.audit(ids[1])[0].label, queue.audit(ids[1])[0].error_type) == (WRONG, "temporal_shift")
    row = ledger.get(review.id)
    assert (row.kind, row.about, row.caller, row.label, row.stream) == ("review", ids[0].row, "ann", WRONG, "s")
    assert ledger.get(ids[0].row).label == "Attributable"  # the verdict itself stays
    assert ledger.verify().intact


def test_undo_is_a_further_entry_and_takes_back_only_ones_own_last_decision(ledger: Ledger) -> None:
    ids = keep(ledger, [0.6, 0.7, 0.8])
    queue = ReviewQueue(ledger)
    for reviewer, id in zip(("ann", "ann", "bob"), ids, strict=True):
        queue.decide(reviewer, id, Decision())
    rows = ledger.count()
    found = queue.undo("ann")
    assert found is not None
    assert (found.id, found.state, found.locked_until is not None) == (ids[1], "open", True)
    assert ledger.count() == rows + 1
    undo, decision = queue.audit(ids[1])
    assert (undo.action, undo.undoes, decision.undone) == ("undo", decision.id, True)
    assert taken(queue.undo("ann")) == ids[0]
    assert queue.undo("ann") is None
    assert queue.get(ids[2]).state == "final"


def test_two_reviewers_decide_each_verdict_and_a_third_one_where_they_disagree(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.6])
    queue = ReviewQueue(ledger, reviewers=2)
    assert taken(queue.take("ann")) == taken(queue.take("bob")) == id
    assert queue.take("cem") is None  # both places are taken
    assert queue.decide("ann", id, Decision()).state == "open"
    assert queue.take("ann") is None
    assert queue.decide("bob", id, Decision(WRONG)).state == "disputed"
    assert taken(queue.take("cem", "disputed")) == id
    assert queue.decide("cem", id, Decision(WRONG, "fabrication")).state == "final"
    [line] = queue.lines()
    # Two of three say Not Attributable; of these two one names a type and one none: no majority.
    assert (line.gold_label, line.gold_type) == (WRONG, None)


def test_reviewers_who_disagree_can_settle_it_by_deciding_anew(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.6])
    queue = ReviewQueue(ledger, reviewers=2)
    queue.decide("ann", id, Decision())
    queue.decide("bob", id, Decision(WRONG))
    assert queue.take("ann", "disputed") is None  # offered to others only
    assert queue.take_item("ann", id).state == "disputed"
    assert queue.decide("ann", id, Decision(WRONG)).state == "final"


def test_an_objection_reopens_a_verdict_until_it_is_decided_again(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.2])
    queue = ReviewQueue(ledger)
    queue.decide("ann", id, Decision())
    assert queue.take("ann", "disputed") is None
    assert queue.object("bot", id, "The source does say so.").state == "disputed"
    assert queue.take("bot", "disputed") is None  # whoever objects does not decide it
    assert taken(queue.take("ann", "disputed")) == id
    assert queue.decide("ann", id, Decision("Attributable")).state == "final"
    assert [review.action for review in queue.audit(id)] == ["decide", "object", "decide"]


def test_every_verdict_of_a_report_is_an_item_and_failures_are_none(ledger: Ledger) -> None:
    checker = Checker("embedded:rules", ledger=ledger)
    checker.check_response("It opened in 1937. It has three towers.", "It opened in 1973. It has two towers.")
    ledger.append(
        [
            Entry("s", "check", {}, {"kind": "unverified"}),
            Entry("s", "check", {}, {"kind": "verdict", "score": 7}),
            Entry("s", "follow", {}, {"kind": "report", "findings": [json.loads('{"kind": "item"}')]}),
        ]
    )
    queue = ReviewQueue(ledger)
    assert sorted(line.id.finding for line in queue.lines()) == [0, 1]
    item = queue.take("ann")
    assert item is not None
    assert (item.response, [source.text for source in item.sources]) == (
        "It opened in 1937. It has three towers.",
        ["It opened in 1973. It has two towers."],
    )


def test_filters_restrict_what_is_offered(ledger: Ledger) -> None:
    keep(ledger, [0.6, 0.7], "a", "bot")
    other = keep(ledger, [0.8, 0.2], "b", "app")
    queue = ReviewQueue(ledger)
    assert taken(queue.take("ann", filters=QueueFilters(stream="b", label="Attributable"))) == other[0]
    assert taken(queue.take("ann", filters=QueueFilters(caller="app", label=WRONG))) == other[1]  # puts the other back
    assert queue.counts(QueueFilters(caller="app")) == QueueCounts(2, 0, 0, 1)
    assert queue.take("ann", filters=QueueFilters(until="2020-01-01")) is None


def test_an_erasure_removes_texts_and_keeps_what_was_decided(ledger: Ledger) -> None:
    ids = keep(ledger, [0.6, 0.7])
    queue = ReviewQueue(ledger)
    queue.decide("ann", ids[0], Decision(WRONG, "fabrication", note="personal"))
    ledger.erase(RetentionRule(ids=(ids[0].row, ids[1].row)), "asked for")
    assert queue.take("ann") is None
    with pytest.raises(InputError, match="were erased"):
        queue.get(ids[0])
    [review] = queue.audit()
    assert (review.label, review.error_type, review.note) == (WRONG, "fabrication", "")


def test_a_review_of_the_older_kind_counts_as_a_decision(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.2])
    record = {"kind": "review", "label": None, "error_type": None, "fix": None, "finding": None, "note": ""}
    ledger.append([Entry("s", "review", {}, record, "ann", about=id.row)])
    assert ReviewQueue(ledger).get(id).state == "final"


def test_rows_are_read_once_whoever_appends_meanwhile(ledger: Ledger) -> None:
    queue = ReviewQueue(ledger)

    def append(number: int) -> None:
        for n in range(5):
            ledger.append([entry(0.6, f"stream {number % 2}", claim=f"{number} {n}")])
            queue.refresh()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(append, range(8)))
    assert queue.counts().open == 40


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (Decision("Perhaps"), "unknown label 'Perhaps'"),  # type: ignore[arg-type]
        (Decision(WRONG, "typo"), "unknown error type 'typo'"),  # type: ignore[arg-type]
        (Decision("Attributable", "fabrication"), "has no error type"),
        (Decision(span=(3, 99)), "must be in the claim"),
        (Decision(note="x" * 10_001), "may have 10,000 characters"),
    ],
)
def test_a_decision_that_does_not_fit_is_refused(ledger: Ledger, decision: Decision, words: str) -> None:
    [id] = keep(ledger, [0.6])
    queue = ReviewQueue(ledger)
    with pytest.raises(InputError, match=words):
        queue.decide("ann", id, decision)
    assert queue.audit() == []


def test_bad_settings_names_and_ids_are_refused(ledger: Ledger) -> None:
    with pytest.raises(ConfigError, match="1 or 2, got 3"):
        ReviewQueue(ledger, reviewers=3)
    queue = ReviewQueue(ledger)
    with pytest.raises(InputError, match="must have a name"):
        queue.take(" ")
    with pytest.raises(InputError, match="unknown policy 'best'"):
        queue.take("ann", "best")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"no verdict 99\.0"):
        queue.decide("ann", ItemId(99), Decision())
    with pytest.raises(InputError, match=r"such as 17\.2"):
        ItemId.read("17/2")
    assert verdict(0.6).attributable


@pytest.mark.parametrize("text", [None, "", "[1]", '{"kind":', "[" * 100_000])
def test_texts_that_were_erased_or_damaged_in_the_database_count_as_empty(text: str | None) -> None:
    assert kept_object(text) == {}
