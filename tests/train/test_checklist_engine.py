"""Soft-SVeRL in the engine: several roles in one update, two processes as one, a run gone on with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.train.engine_runs import PLAIN, greatest_difference, stop_often, trainer_of, weights_of
from tests.train.forked import as_group
from tests.train.tiny_qwen import write_tiny_qwen

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
from tests.train.checklist_learning import learn  # noqa: E402  (needs torch)
from tests.train.checklist_runs import game, rows, scripted, settings, texts, together  # noqa: E402
from vouching.train.checkpoint import train_from  # noqa: E402
from vouching.train.engine import measure  # noqa: E402
from vouching.train.engine_batch import amounts_of  # noqa: E402
from vouching.train.engine_table import Round  # noqa: E402
from vouching.train.monitor import alarms  # noqa: E402
from vouching.train.run_folder import columns_of  # noqa: E402
from vouching.types import Group  # noqa: E402

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return stop_often(write_tiny_qwen(tmp_path_factory.mktemp("qwen"), texts()))


def test_each_role_has_a_mean_of_its_own_in_the_gradient(model: Path, tmp_path: Path) -> None:
    # Eq. 24: the update by all three is the sum of the updates by each alone, at its weight, by plain gradient descent.
    # Trained alone, a role is the whole batch, so that its factor is 1 and the loss its own mean.
    trainer = trainer_of(settings(model, loss="dapo"), tmp_path / "all", game(), rows(), scripted(model), **PLAIN)
    played = trainer.table.play(rows()[:4])
    roles = ("generator", "verifier", "partition")
    amounts = amounts_of(played.rollouts, "dapo")
    assert len({amounts[role] for role in roles}) == 3  # or weighing them would be no test
    moved = {role: gradient(trainer, [one for one in played.groups if one.role == role]) for role in roles}
    whole = gradient(trainer, played.groups)
    for name, value in whole.items():
        assert torch.allclose(value, sum(moved[role][name] for role in roles), atol=1e-6), name
    assert max(float(value.abs().max()) for value in moved["partition"].values()) > 1e-4


def gradient(trainer: Any, groups: Sequence[Group]) -> dict[str, Any]:
    """Of one step on some groups."""
    from vouching.train.engine_trl import _batch

    trainer.current_gradient_accumulation_steps = 1
    trainer.model.zero_grad()
    batch = _batch(trainer, Round((), tuple(groups), {}))
    trainer.accelerator.backward(trainer.compute_loss(trainer.model, batch))
    return {name: one.grad.clone() for name, one in trainer.model.named_parameters() if one.grad is not None}


def test_two_processes_train_as_one_does(model: Path, tmp_path: Path) -> None:
    # Four instructions with one to three items, so that the processes have unequal rows; what is replayed is shared.
    together(model, tmp_path / "alone")
    as_group(lambda: together(model, tmp_path / "both"))
    for loss in ("grpo", "dapo"):
        one, two = (torch.load(tmp_path / out / f"{loss}.pt", weights_only=True) for out in ("alone", "both"))
        assert greatest_difference(one, two) < 1e-6, loss
        first, second = (json.loads((tmp_path / out / f"{loss}.json").read_text()) for out in ("alone", "both"))
        assert first["state"] == second["state"]
        assert len(first["state"]["replay"]) > 10
        for name in ("reward/generator/total", "reward/verifier/total", "reward/partition/total", "replay/size"):
            ours, theirs = ([line[name] for line in one["records"]] for one in (first, second))
            assert ours == pytest.approx(theirs), name


def test_a_run_that_is_gone_on_with_ends_with_the_same_weights_and_replay(model: Path, tmp_path: Path) -> None:
    changed = {"max_steps": 4, "watch": {"checkpoint_every": 2}, "learning_rate": 1e-3, "batch_prompts": 2}
    whole, again = game(votes=2), game(votes=2)
    first = trainer_of(settings(model, **changed), tmp_path, whole, rows())
    train_from(first)
    second = trainer_of(settings(model, **changed), tmp_path, again, rows())
    train_from(second, tmp_path / "checkpoint-2")
    assert greatest_difference(weights_of(first), weights_of(second)) == 0.0
    assert again.state_dict() == whole.state_dict()
    saved = json.loads((tmp_path / "checkpoint-2" / "engine.json").read_text())["game"]
    assert saved["played"] == 2
    assert 0 < len(saved["replay"]) < len(whole.state_dict()["replay"])


def test_measuring_replays_nothing(model: Path, tmp_path: Path) -> None:
    which = game()
    trainer = trainer_of(settings(model), tmp_path, which, rows(), scripted(model))
    figures = measure(trainer, rows(3))
    assert figures["reward/generator/total"] > 0
    assert which.state_dict() == {"played": 0, "replay": [], "exact": []}


def test_responses_can_become_right_by_a_rule_that_training_does_not_watch(tmp_path: Path) -> None:
    # A policy that judges itself does so with this seed, and not with every one (docs/games.md): no proof that it will.
    # Other seeds, and a judge from outside, are in benchmarks/learning.py.
    learnt, records = learn(tmp_path, seed=0, judge="self")
    assert learnt.lower > 0, learnt
    columns = columns_of(records)
    assert "gap/rules" in columns
    assert "lenient_judge" not in {alarm.kind for alarm in alarms(columns)}
