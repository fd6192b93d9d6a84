"""Runs in processes of their own: killed and gone on with, and two that train as one."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.train.engine_runs import greatest_difference, stop_often, texts
from tests.train.forked import as_group, in_child
from tests.train.tiny_qwen import write_tiny_qwen

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
from tests.train.engine_process import one_of_two, to_be_killed  # noqa: E402  (needs torch)

LOSSES = ("grpo", "dapo", "gspo", "dr_grpo")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return stop_often(write_tiny_qwen(tmp_path_factory.mktemp("qwen"), texts()))


def load(path: Path) -> dict[str, Any]:
    return torch.load(path, weights_only=True)


def checkpoint_weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    saved = load_file(folder / "model.safetensors")
    return saved | {"lm_head.weight": saved["model.embed_tokens.weight"]}  # one and the same


def test_a_run_that_is_killed_and_gone_on_with_ends_with_the_same_weights(model: Path, tmp_path: Path) -> None:
    # 6 rows, 2 a step, each rollout used twice: an epoch has 6 steps. Killed in step 9, in the middle of the second.
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert in_child(lambda: to_be_killed(model, killed, 9)) == -signal.SIGKILL
    to_be_killed(model, whole)
    to_be_killed(model, killed, checkpoint=killed / "checkpoint-8")
    weights = load(whole / "weights.pt")
    assert greatest_difference(weights, load(killed / "weights.pt")) == 0.0
    assert greatest_difference(weights, checkpoint_weights(whole / "checkpoint-8")) > 1e-4  # the last steps taught it
    steps, again = ([json.loads(line) for line in (out / "log.jsonl").open()] for out in (whole, killed))
    assert [line["step"] for line in again] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10]
    assert {line["step"]: line["loss"] for line in again} == {line["step"]: line["loss"] for line in steps}
    assert sum(line["groups/resampled"] or 0 for line in steps[8:]) > 0  # that stream of rows was gone on with too


@pytest.mark.parametrize("processes", [2, 4])
def test_several_processes_train_as_one_does(model: Path, tmp_path: Path, processes: int) -> None:
    # The judge fails on replies to some rows, so that one process has fewer rollouts and is filled up.
    alone, both = tmp_path / "alone", tmp_path / "both"
    one_of_two(model, alone, LOSSES)
    as_group(lambda: one_of_two(model, both, LOSSES), processes)
    for loss in LOSSES:
        assert greatest_difference(load(alone / f"{loss}.pt"), load(both / f"{loss}.pt")) < 1e-6, loss
        one, two = (json.loads((out / f"{loss}.json").read_text()) for out in (alone, both))
        for name in ("reward/verifier/total", "length/verifier/mean", "judge/failed", "advantage/verifier/least"):
            assert [line[name] for line in one] == pytest.approx([line[name] for line in two], abs=1e-6), name
        assert sum(line["judge/failed"] for line in one) > 0
