"""Cohen's kappa of reviewers, beside scikit-learn's."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.review.kept import decision, keep
from vouching.ledger import Entry, open_ledger
from vouching.review import Decision, ReviewQueue
from vouching.review.agreement import agreement

WRONG = "Not Attributable"
TYPES = ("temporal_shift", "fabrication", "negation_flip")


def test_kappa_of_labels_and_types_is_that_of_scikit_learn(tmp_path: Path) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    dice = random.Random(0)
    with open_ledger(tmp_path / "ledger.db") as ledger:
        queue = ReviewQueue(ledger, reviewers=2)
        said: dict[str, list[tuple[str, str | None]]] = {"ann": [], "bob": []}
        entries: list[Entry] = []
        for id in keep(ledger, [0.6] * 40):
            truth = dice.choice(["Attributable", WRONG])
            kind = dice.choice(TYPES)
            for name, given in said.items():
                label = truth if dice.random() < 0.8 else WRONG
                typed = (kind if dice.random() < 0.7 else dice.choice(TYPES)) if label == WRONG else None
                given.append((label, typed))
                entries.append(decision(id, label, name, typed))
        ledger.append(entries)
        found = agreement(queue, resamples=200)
    assert found.total is not None
    [pair] = found.pairs
    labels = [[label for label, _ in given] for given in said.values()]
    assert pair.reviewers == ("ann", "bob")
    assert pair.items == 40
    assert pair.label.estimate == pytest.approx(metrics.cohen_kappa_score(*labels))
    both = [(a[1], b[1]) for a, b in zip(*said.values(), strict=True) if a[1] and b[1]]
    assert pair.typed == len(both) > 10
    assert pair.error_type.estimate == pytest.approx(metrics.cohen_kappa_score(*zip(*both, strict=True)))
    assert pair.label.low is not None
    assert pair.label.high is not None
    assert pair.label.low < pair.label.estimate < pair.label.high
    assert found.total.label == pair.label


def test_first_decisions_count_and_few_verdicts_have_no_interval(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        queue = ReviewQueue(ledger, reviewers=2)
        assert agreement(queue).total is None
        ids = keep(ledger, [0.6] * 3)
        for number, id in enumerate(ids):
            queue.decide("ann", id, Decision())
            queue.decide("bob", id, Decision(WRONG if number == 0 else None))
        queue.decide("bob", ids[0], Decision())  # settled afterwards: not independent of what ann said
        total = agreement(queue).total
    assert total is not None
    assert (total.items, total.same_label, total.label.low) == (3, 2, None)
    assert "at least 10" in str(total.label.why_not)


def test_a_first_decision_that_was_taken_back_counts(tmp_path: Path) -> None:
    # On each of 4 verdicts, bob sees what ann said, takes his decision back and agrees: still 2 of 4 the same.
    with open_ledger(tmp_path / "ledger.db") as ledger:
        queue = ReviewQueue(ledger, reviewers=2)
        for number, id in enumerate(keep(ledger, [0.6] * 4)):
            label = "Attributable" if number % 2 else WRONG
            queue.decide("ann", id, Decision(label))  # type: ignore[arg-type]
            queue.decide("bob", id, Decision(WRONG))
            queue.undo("bob")
            queue.decide("bob", id, Decision(label))  # type: ignore[arg-type]
        total = agreement(queue).total
    assert total is not None
    # Observed 2/4; expected: ann is half and half, so 1/2: kappa is 0.
    assert (total.items, total.same_label, total.label.estimate) == (4, 2, 0.0)
