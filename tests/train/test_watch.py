"""What is done after a step, without a model: alarms are reported or end the run, and the best step is kept."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from vouching.errors import ConfigError
from vouching.methods.training import OnAlarm, WatchSettings
from vouching.train.checkpoint import CHECKPOINTS, MODEL, best_checkpoint, keep_model, last_checkpoint, step_of
from vouching.train.run_folder import RunLog, read_records
from vouching.train.watch import Dev, Watch


@pytest.mark.parametrize("on_alarm", ["warn", "stop"])
def test_an_alarm_is_told_once_and_ends_a_run_only_if_asked_to(tmp_path: Path, on_alarm: OnAlarm) -> None:
    lines: list[str] = []
    watch = Watch(RunLog(tmp_path), WatchSettings(on_alarm=on_alarm), lines.append)
    for step in range(1, 61):
        watch.step({"step": step, "kl": 0.6}, (), 60)
        # Two windows of twenty steps there must be.
        assert (watch.alarm is not None) == (on_alarm == "stop" and step >= 40)
    assert [line for line in lines if line.startswith("alarm")] == [
        "alarm in step 40: kl_runaway (kl): the divergence from the initial policy is 0.6 per token, compared with 0.6 "
        "at the start: raise kl or lower the learning rate"
    ]


def test_a_line_of_progress_shows_what_is_truncated_and_what_is_readable(tmp_path: Path) -> None:
    lines: list[str] = []
    record = {"step": 1, "loss": 0.0, "length/verifier/cut": 1.0, "length/verifier/mean": 48.0, "readable": 0.25}
    Watch(RunLog(tmp_path), WatchSettings(), lines.append).step(record, (), 1)
    assert lines[0].startswith("step 1 of 1: loss 0, length/verifier/cut 1, readable 0.25; ")
    assert lines[1].startswith("alarm in step 1: useless_start (verifier): 100% of the completions are truncated")


def test_dev_is_scored_where_checkpoints_are_and_at_the_end(tmp_path: Path) -> None:
    scores = iter([3.0, 1.0, 2.0])
    dev = Dev(lambda: {"loss": next(scores)}, "loss", higher_is_better=False)
    watch = Watch(RunLog(tmp_path), WatchSettings(evaluate_every=4, checkpoint_every=2), lambda line: None, dev)
    worth: dict[int, float] = {}
    for step in range(1, 11):
        watch.step({"step": step, "loss": 1.0}, (), 10)
        if watch.worth is not None:
            worth[step] = watch.worth
    assert worth == {4: -3.0, 8: -1.0, 10: -2.0}
    assert [one["dev/loss"] for one in read_records(tmp_path) if "dev/loss" in one] == [3.0, 1.0, 2.0]
    with pytest.raises(ConfigError, match="must be a multiple"):
        Watch(RunLog(tmp_path / "no"), WatchSettings(evaluate_every=3, checkpoint_every=2), lambda line: None, dev)


def test_a_judge_that_fails_on_all_of_dev_ends_no_run_and_gives_no_score(tmp_path: Path) -> None:
    lines: list[str] = []
    dev = Dev(lambda: {"judge/failed": 8.0}, "reward/verifier/total")
    watch = Watch(RunLog(tmp_path), WatchSettings(evaluate_every=1, checkpoint_every=1), lines.append, dev)
    watch.step({"step": 1, "loss": 1.0}, (), 2)
    assert watch.worth is None
    assert lines == [
        "the evaluation on dev in step 1 has no reward/verifier/total, so this step cannot be the best one; "
        "it has judge/failed"
    ]
    assert read_records(tmp_path)[0]["dev/judge/failed"] == 8.0


def test_scoring_dev_costs_energy_too(tmp_path: Path) -> None:
    def slow() -> dict[str, float]:
        time.sleep(0.05)
        return {"loss": 1.0}

    settings = WatchSettings(evaluate_every=2, checkpoint_every=2)
    watch = Watch(RunLog(tmp_path), settings, lambda line: None, Dev(slow, "loss"))
    for step in (1, 2):
        watch.step({"step": step, "time/step": 0.0}, (), 4)
    first, second = read_records(tmp_path)
    assert second["time/all"] >= 0.05
    # 300 W with a PUE of 1.4 for at least 50 ms.
    assert second["energy/kwh"] - first["energy/kwh"] >= 0.3 * 1.4 * 0.05 / 3600 * (1 - 1e-6)


def checkpoint(out: Path, step: int, best: int | None = None) -> Path:
    folder = out / CHECKPOINTS / f"checkpoint-{step}"
    (folder / "ref").mkdir(parents=True)
    for name in ("model.safetensors", "optimizer.pt", "rng_state.pth", "engine.json", "README.md", "tokenizer.json"):
        (folder / name).write_text(f"{name} of step {step}", encoding="utf-8")
    state = json.dumps({"global_step": step, "best_global_step": best})
    (folder / "trainer_state.json").write_text(state, encoding="utf-8")
    return folder


def test_the_best_whole_checkpoint_is_the_model_and_what_only_a_run_needs_stays_behind(tmp_path: Path) -> None:
    checkpoint(tmp_path, 4)
    last = checkpoint(tmp_path, 12, best=4)
    half = checkpoint(tmp_path, 16)
    (half / "trainer_state.json").write_text('{"global_step": 16', encoding="utf-8")
    assert last_checkpoint(tmp_path) == last
    assert step_of(half) == 0
    assert keep_model(tmp_path) == 4
    kept = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / MODEL).iterdir()}
    assert kept == {"model.safetensors": "model.safetensors of step 4", "tokenizer.json": "tokenizer.json of step 4"}
    # A later best replaces it, also where a killed run left half of the one before; one that was removed gives way to
    # the last.
    checkpoint(tmp_path, 20, best=16)
    (tmp_path / f"{MODEL}.old").mkdir()
    (tmp_path / f"{MODEL}.old" / "tokenizer.json").touch()
    assert best_checkpoint(tmp_path) == tmp_path / CHECKPOINTS / "checkpoint-20"
    assert keep_model(tmp_path) == 20
    assert {path.name for path in tmp_path.iterdir()} == {CHECKPOINTS, MODEL}
