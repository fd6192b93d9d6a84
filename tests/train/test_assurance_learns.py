"""Generator and verifier learn together: more of what is submitted is right, by an oracle that no reward computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")
from tests.train.assurance_learning import learn  # noqa: E402  (needs torch)


def test_what_is_submitted_gets_right_more_often_and_both_policies_learn(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    learnt, told = learn(tmp_path, seed=0)
    assert learnt.lower > 0, learnt
    for name in ("oracle/draft", "oracle/challenge"):
        series = [record[name] for record in told]
        assert np.mean(series[-20:]) > np.mean(series[:20]), name
