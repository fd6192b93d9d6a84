"""A solver learns from checkers that are itself: the right year is stated more often, by an oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
from tests.train.blinded_learning import learn  # noqa: E402  (needs torch)


def test_the_oracle_metric_rises(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    learnt = learn(tmp_path, seed=0, prompts=8, steps=30)
    assert learnt.lower > 0, learnt
