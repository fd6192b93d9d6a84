"""The loop of benchmarks/review_loop.py on few rows, with the rules: reviews help, shuffled reviews do not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.review_loop import Loop, read_rows, run, split

DATA = Path(os.environ.get("VOUCH_DATA", ""))
pytestmark = pytest.mark.skipif(
    not (DATA / "attribution" / "train" / "faithdial.jsonl.gz").is_file(),
    reason="VOUCH_DATA has no attribution/train/faithdial",
)


def test_reviews_lower_the_brier_score_of_other_rows_and_shuffled_ones_do_not(tmp_path: Path) -> None:
    found = run(Loop("faithdial", "embedded:rules", reviews=100, evaluated=150), DATA, tmp_path)
    assert found["reviewed"]["verdicts"] == found["reviewed"]["exported"] == 100
    assert found["reviewed"]["ledger_intact"]
    # Two reviewers who are each wrong with probability .1 are both wrong on 1 %, and disagree on 18 %, of which the
    # third one gets a tenth wrong: 2.8 % in all. 11 of 100 has a probability below one in ten thousand.
    assert found["reviewed"]["wrong_after_reviews"] <= 10
    arms = found["measured"]
    assert arms["after (platt)"]["brier_change"][0] < 0 < arms["control (platt)"]["brier_change"][0]
    assert arms["after (platt)"]["ece"][0] < arms["before"]["ece"][0]


def test_rows_to_measure_on_share_nothing_with_the_reviewed_ones() -> None:
    first, rest, documents = split(read_rows(DATA, "faithdial"), Loop())
    assert len(first) == 300
    assert len(rest) == len(documents) == 400
    for key in ("claim", "source", "group"):
        assert not {row.get(key) for row in first} & {row.get(key) for row in rest} - {None}
