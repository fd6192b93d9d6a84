"""Whole runs of the structured game on a Qwen2 of two layers: log, alarms, best step, kill and resume, bad input."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.train.forked import dying_at, in_child, told_always
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import BackendError, ConfigError, InputError
from vouching.methods.base import Row
from vouching.methods.structured.config import StructuredRunConfig
from vouching.methods.structured.game import StructuredGame
from vouching.settings import read_settings
from vouching.train.checkpoint import best_checkpoint, last_checkpoint, step_of
from vouching.train.fit import train_game
from vouching.train.run_folder import read_lines, read_records
from vouching.types import Reward

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
distributed = pytest.importorskip("torch.distributed")

TOML = Path(__file__).parents[2] / "recipes/structured/tiny.toml"


def row(number: int) -> dict[str, Any]:
    asked = f"Is the {('bridge', 'tower', 'river', 'mill')[number % 4]} {'very ' * (number % 3)}old?"
    gold = ("Attributable", "Not Attributable")[number % 2]
    return {"id": f"r{number}", "prompt": [{"role": "user", "content": asked}], "gold": gold}


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("fit")
    write(made / "rows.jsonl", [row(number) for number in range(16)])
    write(made / "dev.jsonl", [row(number) for number in range(16, 20)])
    write_tiny_qwen(made / "qwen", [json.dumps(row(number)) + '{"label": "yes"}' for number in range(16)])
    return made


def overrides(folder: Path) -> list[str]:
    return [f'model="{folder}/qwen"', f'rows=["{folder}/rows.jsonl"]', f'dev=["{folder}/dev.jsonl"]', "device=cpu"]


@pytest.fixture
def config(folder: Path) -> StructuredRunConfig:
    return read_settings(StructuredRunConfig, TOML, overrides(folder))


def test_prompts_that_are_all_too_long_and_a_model_that_is_nowhere_are_told(
    config: StructuredRunConfig, tmp_path: Path
) -> None:
    from vouching.train.fit import train_game

    short = replace(config, sampling=replace(config.sampling, prompt_tokens=3))
    with pytest.raises(InputError, match=r"all 16 rows would be dropped: their prompts have more than 3 tokens"):
        train_game(short, tmp_path / "run")
    with pytest.raises(ConfigError, match="there is no model nowhere: pass a folder"):
        train_game(replace(config, model="nowhere"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_of_the_recipe_leaves_log_transcripts_and_a_model(config: StructuredRunConfig, tmp_path: Path) -> None:
    lines: list[str] = []
    model = train_game(config, tmp_path / "run", report=lines.append)
    records = read_records(tmp_path / "run")
    assert [one["step"] for one in records] == [*range(1, 9)]
    # A model with random weights writes nothing that can be read: every part is 0, and all groups are flat.
    wanted = {"format", "alignment", "chain", "label", "diagnosis", "calibration", "total", "std"}
    parts = {name.split("/")[2]: value for name, value in records[-1].items() if name.startswith("reward/verifier/")}
    assert set(parts) == wanted
    assert set(parts.values()) == {0.0}
    assert records[-1]["groups/verifier/flat"] == 1.0
    assert records[-1]["judge/failed"] == 0.0
    assert {"entropy", "kl", "length/verifier/mean", "oracle/right", "energy/kwh", "time/step"} <= records[-1].keys()
    assert [int(one["step"]) for one in records if "dev/oracle/right" in one] == [4, 8]
    texts = read_lines(tmp_path / "run/transcripts.jsonl")
    assert [one["step"] for one in texts] == [step for step in range(1, 9) for _ in range(2)]
    assert (model / "model.safetensors").is_file()
    note = json.loads((tmp_path / "run/run.json").read_text(encoding="utf-8"))
    assert note["settings"]["sampling"]["group_size"] == 4
    assert note["revision"]
    assert note["units"] == {"rows": 16, "dev": 4}
    assert any(line.startswith("step 8 of 8") for line in lines)


def vowel_run(folder: Path, out: Path, say: Any = lambda line: None, resume: bool = False, **changes: Any) -> None:
    """A run whose reward is the share of vowels, which a model with random weights can learn."""
    from tests.train.engine_runs import vowel_game

    config = replace(read_settings(StructuredRunConfig, TOML, overrides(folder)), **changes)
    plan = replace(config.plan(), game=vowel_game(4), best_by="reward/verifier/total")
    train_game(config, out, resume, say, plan)


def test_a_run_that_was_killed_and_resumed_ends_like_one_that_was_not(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    vowel_run(folder, tmp_path / "whole")
    killed = in_child(told_always(lambda: vowel_run(folder, tmp_path / "cut", dying_at("step 6 "))))
    assert killed == -signal.SIGKILL
    last = last_checkpoint(tmp_path / "cut")
    assert last is not None
    assert step_of(last) == 4
    assert len(read_records(tmp_path / "cut")) == 6
    vowel_run(folder, tmp_path / "cut", resume=True)
    first, second = (
        load_file(tmp_path / out / "checkpoints/checkpoint-8/model.safetensors") for out in ("whole", "cut")
    )
    assert all(torch.equal(first[name], second[name]) for name in first)
    kept = [
        [{name: one[name] for name in one if not name.startswith(("time/", "energy/"))} for one in read_records(out)]
        for out in (tmp_path / "whole", tmp_path / "cut")
    ]
    assert kept[0] == kept[1]
    scored = {
        int(one["step"]): one["dev/reward/verifier/total"] for one in kept[1] if "dev/reward/verifier/total" in one
    }
    best = best_checkpoint(tmp_path / "cut")
    assert best is not None
    assert step_of(best) == max(scored, key=scored.__getitem__)


def test_an_alarm_ends_a_run_that_asks_for_it(folder: Path, tmp_path: Path) -> None:
    settings = [
        "watch.on_alarm=stop",
        "watch.checkpoint_every=50",
        "watch.evaluate_every=50",
        "max_steps=44",
        "dev=[]",
    ]
    lines: list[str] = []
    train_game(
        read_settings(StructuredRunConfig, TOML, [*overrides(folder), *settings]), tmp_path / "run", report=lines.append
    )
    # A model with random weights hardly stops and is never readable, and all groups are flat, which two windows of 20
    # tell in step 40. Each alarm is reported once and its step is saved before the end, so the run may be resumed.
    for step, alarm in ((1, "useless_start"), (5, "useless_start"), (40, "advantage_collapse"), (44, "")):
        last = last_checkpoint(tmp_path / "run")
        assert last is not None
        assert (step_of(last), len(read_records(tmp_path / "run"))) == (step, step)
        told = [line for line in lines if line.startswith("alarm")]
        assert [line.split(" (")[0] for line in told] == ([f"alarm in step {step}: {alarm}"] if alarm else [])
        lines.clear()
        again = read_settings(StructuredRunConfig, TOML, [*overrides(folder), *settings])
        train_game(again, tmp_path / "run", True, lines.append)


def test_a_run_that_uses_rollouts_twice_is_stopped_where_it_can_be_saved(folder: Path, tmp_path: Path) -> None:
    # The alarm begins in step 1, the first of three updates by the same rollouts; the third is the last.
    lines: list[str] = []
    settings = ["watch.on_alarm=stop", "watch.checkpoint_every=51", "updates=3", "max_steps=50", "dev=[]", "kl=0"]
    train_game(
        read_settings(StructuredRunConfig, TOML, [*overrides(folder), *settings]), tmp_path / "run", report=lines.append
    )
    last = last_checkpoint(tmp_path / "run")
    assert last is not None
    assert step_of(last) == len(read_records(tmp_path / "run")) == 3
    assert any(line.startswith("alarm in step 1") for line in lines)


def test_a_run_that_fails_lets_its_processes_go(folder: Path, tmp_path: Path) -> None:
    async def judge(reply: str, row: Row) -> Reward:
        raise BackendError("The judge is down.")

    config = read_settings(StructuredRunConfig, TOML, overrides(folder))
    plan = replace(config.plan(), game=StructuredGame(4, judge), dev=())
    store = distributed.FileStore(str(tmp_path / "meet"), 1)
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    with pytest.raises(BackendError, match="The judge is down"):
        train_game(config, tmp_path / "run", report=lambda line: None, plan=plan)
    assert not distributed.is_initialized()


def test_rows_with_long_prompts_are_left_out_and_told(config: StructuredRunConfig, tmp_path: Path) -> None:
    long = row(99)
    long["prompt"][0]["content"] *= 40
    lines: list[str] = []
    path = write(tmp_path / "rows.jsonl", [*(row(number) for number in range(8)), long])
    one = replace(config, rows=(path,), max_steps=1, dev=())
    # 1 of 9 is 11.1 %, and a run may lose a twentieth unless allow_dropped is higher.
    with pytest.raises(InputError, match=r"1 of 9 rows \(11.1%\) would be dropped.* set sampling.allow_dropped"):
        train_game(one, tmp_path / "run", report=lines.append)
    assert lines == []
    allowed = replace(one, sampling=replace(one.sampling, allow_dropped=0.2))
    train_game(allowed, tmp_path / "run", report=lines.append)
    assert lines[0].startswith("dropped 1 of 9 rows (11.1%): their prompts have more than 96 tokens")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], r"no rows in .*: expected rows with prompt and gold"),
        (
            [{"prompt": [{"role": "user", "content": "Is it?"}]}],
            '"gold" must be Attributable or Not Attributable, got null',
        ),
        ([{"gold": "Attributable"}], 'has no "prompt"'),
        ([row(1), row(1)], "two rows have the id 'r1'"),
        ([row(1)], "lower batch_prompts"),
    ],
)
def test_rows_that_cannot_be_played_on_are_named(
    config: StructuredRunConfig, tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    path = write(tmp_path / "rows.jsonl", rows)
    with pytest.raises(InputError, match=message):
        train_game(replace(config, rows=(path,)), tmp_path / "run", report=lambda line: None)


def test_a_run_that_ended_before_its_first_step_leaves_its_folder_to_another(
    config: StructuredRunConfig, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="lower batch_prompts"):
        train_game(replace(config, batch_prompts=32), tmp_path / "run", report=lambda line: None)
    train_game(replace(config, max_steps=1), tmp_path / "run", report=lambda line: None)
    with pytest.raises(InputError, match="contains a run"):
        train_game(replace(config, max_steps=1), tmp_path / "run", report=lambda line: None)


def test_a_model_that_is_not_there_is_said_so_before_anything_is_written(
    config: StructuredRunConfig, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        train_game(replace(config, model="/nowhere/model"), tmp_path / "run", report=lambda line: None)
    assert not (tmp_path / "run").exists()
