"""It learns: what an oracle sees rises, and not only the reward."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
from tests.train.learning import learn  # noqa: E402  (needs torch)


def test_the_oracle_metric_rises(tmp_path: Path) -> None:
    # Adapters, and other seeds, are in benchmarks/learning.py.
    torch.set_num_threads(1)
    learnt = learn(tmp_path, seed=0, adapters=False, steps=40)
    assert learnt.lower > 0, learnt
