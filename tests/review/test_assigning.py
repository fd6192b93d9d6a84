"""Assigning verdicts: theirs come first, nobody else gets them, and every assignment stays on record."""

from __future__ import annotations

import pytest

from tests.review.kept import keep, review_sample
from vouching.errors import InputError
from vouching.ledger import Ledger, RetentionRule
from vouching.ledger.ledger import migrate_ledger
from vouching.review import (
    Decision,
    ItemId,
    ItemTakenError,
    QueueFilters,
    ReviewQueue,
    assign,
    assign_next,
    assigned,
    unassign,
)
from vouching.review.reviewed import read_reviewed


def taken(queue: ReviewQueue, reviewer: str, policy: str = "uncertain") -> ItemId | None:
    item = queue.take(reviewer, policy)  # type: ignore[arg-type]
    return None if item is None else item.id


def test_what_is_assigned_comes_first_and_nobody_else_gets_it_until_it_is_released(ledger: Ledger) -> None:
    ids = keep(ledger, [0.51, 0.6, 0.9])  # in the order of "uncertain"
    queue = ReviewQueue(ledger)
    assert assign(queue, "lead", "ann", [ids[2]]) == [ids[2]]
    assert assign(queue, "lead", "ann", [ids[2]]) == []  # it is hers already: no further entry
    assert taken(queue, "ann") == ids[2]  # although it is the most certain one
    assert taken(queue, "bob") == ids[0]
    queue.release("ann")
    with pytest.raises(ItemTakenError, match=r"3\.0 is assigned to ann: take another one"):
        queue.take_item("bob", ids[2])
    with pytest.raises(ItemTakenError, match="is assigned to ann"):
        queue.decide("bob", ids[2], Decision())
    assert unassign(queue, "lead", ids) == [ids[2]]
    assert queue.take_item("bob", ids[2]).assignee is None


def test_an_assignment_ends_with_a_decision_or_a_skip_and_comes_back_by_undo(ledger: Ledger) -> None:
    ids = keep(ledger, [0.6, 0.7])
    queue = ReviewQueue(ledger)
    assert assign(queue, "lead", "ann", ids) == ids
    assert assigned(queue) == {"ann": 2}
    assert queue.decide("ann", ids[0], Decision()).assignee is None
    queue.skip("ann", ids[1])
    assert assigned(queue) == {}
    assert taken(queue, "bob") == ids[1]  # a skip gives it back to everybody
    queue.release("bob")
    found = queue.undo("ann")  # the skip
    assert found is not None
    assert (found.id, found.assignee, taken(queue, "bob")) == (ids[1], "ann", None)


def test_assignments_are_entries_of_the_chain_that_show_who_gave_what_to_whom(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.6])
    queue = ReviewQueue(ledger)
    assign(queue, "lead", "ann", [id])
    assign_again = pytest.raises(InputError, match=r"1\.0 is assigned to ann: release it first")
    with assign_again:
        assign(queue, "lead", "bob", [id])
    unassign(queue, "lead", [id])
    assert [(one.action, one.reviewer, one.assignee) for one in queue.audit(id)] == [
        ("assign", "lead", None), ("assign", "lead", "ann"),
    ]  # fmt: skip
    row = ledger.get(queue.audit(id)[1].id)
    assert (row.kind, row.about, row.caller, row.record) == (
        "assignment", id.row, "lead",
        {"kind": "assignment", "finding": 0, "assignee": "ann", "policy": None, "seed": None},
    )  # fmt: skip
    assert ledger.verify().intact
    assert queue.undo("lead") is None  # an assignment is released, not undone
    ledger.erase(RetentionRule(ids=(id.row,)), "asked for")
    assert queue.audit(id)[1].assignee == "ann"  # names stay, as those of reviewers do


def test_the_next_of_an_order_are_assigned_and_what_others_have_is_passed_over(ledger: Ledger) -> None:
    ids = keep(ledger, [0.51, 0.55, 0.6, 0.9])
    other = keep(ledger, [0.52], "t", "app")
    queue = ReviewQueue(ledger)
    assert taken(queue, "bob") == ids[0]
    assert assign_next(queue, "lead", "ann", 2, "uncertain", QueueFilters(caller="bot")) == ids[1:3]
    assert assign_next(queue, "lead", "cem", 10) == [*other, ids[3]]
    assert assigned(queue) == {"ann": 2, "cem": 2}
    assert [line.id for line in queue.lines(filters=QueueFilters(assignee="ann"))] == ids[1:3]
    assert taken(queue, "ann", "sampled") in ids[1:3]  # by any order


def test_a_lead_passes_on_what_it_has_in_hand_but_takes_nothing_from_others(ledger: Ledger) -> None:
    ids = keep(ledger, [0.51, 0.6])
    queue = ReviewQueue(ledger)
    assert (taken(queue, "lead"), taken(queue, "bob")) == (ids[0], ids[1])
    assert assign(queue, "lead", "ann", [ids[0]]) == [ids[0]]
    with pytest.raises(InputError, match="somebody else has it in hand"):
        assign(queue, "lead", "ann", [ids[1]])
    queue.decide("bob", ids[1], Decision())
    with pytest.raises(InputError, match="is decided already"):
        assign(queue, "lead", "ann", [ids[1]])


def test_of_two_reviewers_the_second_is_assigned_once_the_first_has_decided(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.6])
    queue = ReviewQueue(ledger, reviewers=2)
    assign(queue, "lead", "ann", [id])
    assert taken(queue, "bob") is None
    queue.decide("ann", id, Decision())
    with pytest.raises(InputError, match="they have decided or skipped it"):
        assign(queue, "lead", "ann", [id])
    assign(queue, "lead", "bob", [id])
    assert (taken(queue, "cem"), taken(queue, "bob")) == (None, id)


def test_an_assigned_sample_stays_a_sample_and_what_was_picked_does_not_join_it(ledger: Ledger) -> None:
    ids = keep(ledger, [0.5 + n / 50 for n in range(12)])
    queue = ReviewQueue(ledger)
    order = [line.id for line in queue.lines("sampled")]
    assert assign_next(queue, "lead", "ann", 4, "sampled") == order[:4]
    assign(queue, "lead", "ann", [order[9]])
    while (item := queue.take("ann", "sampled")) is not None and len(read_reviewed(queue, every=True)) < 5:
        assert item.assignee == "ann"
        queue.decide("ann", item.id, Decision())
    assert sorted(row.id for row in read_reviewed(queue)) == sorted(order[:4])
    review_sample(queue, dict.fromkeys(ids, "Attributable"), reviewer="bob")
    policies = {one.item: one.policy for one in queue.audit(reviewer="ann") if one.action == "decide"}
    assert policies == {**dict.fromkeys(order[:4], "sampled"), order[9]: None}


def test_the_assignments_are_read_again_from_the_chains_after_a_migration(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.6])
    queue = ReviewQueue(ledger)
    assign(queue, "lead", "ann", [id])
    target = ledger.store.url.render_as_string(hide_password=False)
    assert migrate_ledger(target, "0002") == "0002"
    assert migrate_ledger(target) == "0003"
    assert assigned(queue) == {"ann": 1}


def test_bad_names_numbers_and_ids_are_refused(ledger: Ledger) -> None:
    [id] = keep(ledger, [0.6])
    queue = ReviewQueue(ledger)
    with pytest.raises(InputError, match="must have a name"):
        assign(queue, "lead", " ", [id])
    with pytest.raises(InputError, match="1 to 500 verdicts can be assigned at once, got 501"):
        assign_next(queue, "lead", "ann", 501)
    with pytest.raises(InputError, match=r"no verdict 99\.0"):
        assign(queue, "lead", "ann", [ItemId(99)])
