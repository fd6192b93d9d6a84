"""Weights divided among processes (FSDP2, DeepSpeed's ZeRO-3) are trained as in one process, and divided as planned."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.train import blinded_runs
from tests.train.engine_runs import greatest_difference, stop_often, texts
from tests.train.forked import as_group
from tests.train.tiny_qwen import write_tiny_qwen

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
from tests.train.sharded import FSDP2, ZERO3, cases, resumed, run_cases  # noqa: E402  (needs torch)
from vouching.train.planner import critic_shape_of, plan_of, shape_of  # noqa: E402


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("models")
    return cases(stop_often(write_tiny_qwen(folder / "policy", texts())), blinded_runs.write_model(folder / "solver"))


@pytest.fixture(scope="module")
def alone(chosen: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("alone")
    run_cases(chosen, out, {})
    return out


def see_equal(chosen: dict[str, Any], alone: Path, both: Path) -> None:
    for name in chosen:
        one, two = (torch.load(out / f"{name}.pt", weights_only=True) for out in (alone, both))
        assert greatest_difference(one["policy"], two["policy"]) < 1e-6, name
        if one["critic"] is not None:
            assert greatest_difference(one["critic"], two["critic"]) < 1e-5, name
        logs = [json.loads((out / f"{name}.json").read_text())["steps"] for out in (alone, both)]
        losses, others = ([step["loss"] for step in log] for log in logs)
        assert losses == pytest.approx(others, abs=1e-5), name


def test_two_processes_that_share_all_weights_by_fsdp2_train_as_one_does(
    chosen: dict[str, Any], alone: Path, tmp_path: Path
) -> None:
    as_group(lambda: run_cases(chosen, tmp_path / "both", FSDP2), 2, FSDP2)
    see_equal(chosen, alone, tmp_path / "both")
    for name, (settings, _) in chosen.items():
        held = json.loads((tmp_path / "both" / f"{name}.json").read_text())["held"]
        shape, critic = shape_of(settings.model, settings.lora), critic_shape_of(settings)
        plan = plan_of(settings, shape, 2, 0.0, sharded=True, reduced=False, critic=critic).update
        # Plain gradient descent has no moments; adapters of AdamW and the critic do.
        parts = ["weights", "reference", *(["optimizer"] if settings.lora.rank else [])]
        for part in [*parts, *(["critic"] if critic else [])]:
            assert held[part] == pytest.approx(plan[part], rel=0.02), (name, part)


def test_four_processes_that_share_all_weights_by_fsdp2_train_as_one_does(
    chosen: dict[str, Any], alone: Path, tmp_path: Path
) -> None:
    some = {name: chosen[name] for name in ("reference", "critic-adapters")}
    as_group(lambda: run_cases(some, tmp_path / "all", FSDP2), 4, FSDP2)
    see_equal(some, alone, tmp_path / "all")


def test_a_sharded_run_with_a_sharded_critic_goes_on_from_a_checkpoint(chosen: dict[str, Any], tmp_path: Path) -> None:
    settings, _ = chosen["critic"]
    as_group(lambda: resumed(settings, tmp_path), 2, FSDP2)
    whole, again = torch.load(tmp_path / "ends.pt", weights_only=True)
    assert greatest_difference(whole, again) == 0.0


@pytest.mark.skipif(find_spec("deepspeed") is None, reason="deepspeed, which is built from source, is not installed")
def test_two_processes_that_share_all_weights_by_zero3_train_as_one_does(
    chosen: dict[str, Any], alone: Path, tmp_path: Path
) -> None:
    as_group(lambda: run_cases(chosen, tmp_path / "both", ZERO3), 2, ZERO3)
    see_equal(chosen, alone, tmp_path / "both")
