"""It learns: what an oracle sees rises, and not only the reward."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")
from tests.train.learning import learn  # noqa: E402  (needs torch)


@pytest.mark.parametrize("adapters", [False, True], ids=["all-weights", "adapters"])
def test_the_oracle_metric_rises(tmp_path: Path, adapters: bool) -> None:
    torch.set_num_threads(1)
    learnt = learn(tmp_path, seed=0, adapters=adapters)
    assert learnt.lower > 0, learnt
