"""Both policies of DPA-GRPO learn, by an oracle: what is submitted, and what is challenged."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")
from tests.train.assurance_learning import learn  # noqa: E402  (needs torch)


def test_more_of_what_is_submitted_is_right_and_more_challenges_are(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    learnt, records = learn(tmp_path, seed=0, steps=40)
    assert learnt.submitted.lower > 0, learnt
    assert learnt.challenge.lower > 0, learnt
    # Neither is bought by a lost form: nine of ten reviews can be read to the end.
    assert min(record["readable/verifier"] for record in records[-10:]) > 0.75
