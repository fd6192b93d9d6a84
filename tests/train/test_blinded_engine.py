"""PPO in the engine: eq. 8 against a gradient by hand, the critic beside the policy, resuming, two processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.train.blinded_runs import ROWS, by_script, game, ppo, talk, write_model
from tests.train.engine_runs import PLAIN, greatest_difference, trainer_of, weights_of
from tests.train.forked import as_group

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")

from vouching.train.checkpoint import train_from  # noqa: E402
from vouching.train.engine import measure, on_step  # noqa: E402  (needs torch)

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return write_model(tmp_path_factory.mktemp("ppo"))


def told_by(trainer: Any) -> list[dict[str, float]]:
    records: list[dict[str, float]] = []
    on_step(trainer, lambda record, texts: records.append(record))
    train_from(trainer)
    return records


def test_the_update_is_that_of_equation_8(model: Path, tmp_path: Path) -> None:
    # One step of plain gradient descent: the weights move by .01 / (2 |B|) of the sum over all tokens of both roles of
    # A_t grad log pi. The divergence from the reference has no gradient where nothing has moved yet.
    settings = ppo(model, max_steps=1, kl=0.1, batch_prompts=8)
    rollouts = trainer_of(settings, tmp_path / "other", game(), ROWS, talk(model)).table.play(ROWS).rollouts
    trainer = trainer_of(settings, tmp_path / "run", game(), ROWS, talk(model), **PLAIN)
    before = {name: value.detach().clone() for name, value in trainer.model.named_parameters()}
    train_from(trainer)
    after = {name: value.detach().clone() for name, value in trainer.model.named_parameters()}
    assert [one.role for one in rollouts] == ["solver"] * 8 + ["checker"] * 8
    with torch.no_grad():
        for name, value in trainer.model.named_parameters():
            value.copy_(before[name])
    trainer.model.zero_grad()
    for one in rollouts:
        ids = torch.tensor([[*one.prompt_ids, *one.completion_ids]])
        logps = trainer.model(input_ids=ids).logits[0, :-1].log_softmax(-1)[range(ids.size(1) - 1), ids[0, 1:]]
        said = logps[-len(one.completion_ids) :] if one.completion_ids else logps[:0]
        (-(torch.tensor(one.advantage, dtype=torch.float32) * said).sum() / (2 * 8)).backward()
    for name, value in trainer.model.named_parameters():
        assert torch.allclose(after[name], before[name] - 0.01 * value.grad, atol=1e-6), name
    assert greatest_difference(before, after) > 1e-4


@pytest.mark.parametrize("micro_batch", [3, 1])
def test_how_a_step_is_cut_changes_nothing(model: Path, tmp_path: Path, micro_batch: int) -> None:
    updates: list[dict[str, Any]] = []
    for size in (64, micro_batch):
        settings = ppo(model, micro_batch=size, kl=0.1)
        trainer = trainer_of(settings, tmp_path / str(size), game(), ROWS, talk(model), **PLAIN)
        train_from(trainer)
        updates.append(weights_of(trainer))
    assert greatest_difference(*updates) < 1e-5


def test_policy_and_critic_both_move_and_are_told(model: Path, tmp_path: Path) -> None:
    trainer = trainer_of(ppo(model), tmp_path, game(), ROWS, talk(model))
    policy = weights_of(trainer)
    critic = {name: value.clone() for name, value in trainer.table.critic.state_dict()["model"].items()}
    records = told_by(trainer)
    assert greatest_difference(policy, weights_of(trainer)) > 1e-4
    assert greatest_difference(critic, trainer.table.critic.state_dict()["model"]) > 1e-4
    names = {
        "critic/loss",
        "critic/value",
        "critic/return",
        "reward/solver/total",
        "reward/checker/total",
        "questions/asked",
        "cannot_answer",
        "advantage/checker/least",
    }
    assert names <= records[0].keys()
    assert records[0]["critic/value"] == 0.0  # it knows nothing yet
    assert records[0]["groups/solver/flat"] == 0.0  # a group of one has something to learn from


def test_a_sampled_run_goes_on_exactly_from_a_checkpoint(model: Path, tmp_path: Path) -> None:
    from vouching.methods.training import WatchSettings

    settings = ppo(model, max_steps=4, watch=WatchSettings(checkpoint_every=2))
    whole = trainer_of(settings, tmp_path / "whole", game(), ROWS)
    records = told_by(whole)
    again = trainer_of(settings, tmp_path / "again", game(), ROWS)
    train_from(again, tmp_path / "whole/checkpoint-2")
    assert greatest_difference(weights_of(whole), weights_of(again)) == 0.0
    critics = [one.table.critic.state_dict()["model"] for one in (whole, again)]
    assert greatest_difference(*critics) == 0.0
    assert len(records) == 4


def test_measuring_leaves_the_critic_alone(model: Path, tmp_path: Path) -> None:
    trainer = trainer_of(ppo(model), tmp_path, game(), ROWS, talk(model))
    before = {name: value.clone() for name, value in trainer.table.critic.state_dict()["model"].items()}
    found = measure(trainer, ROWS[:3])
    assert found["groups/solver/count"] == 3.0
    assert greatest_difference(before, trainer.table.critic.state_dict()["model"]) == 0.0


def test_two_processes_train_as_one_does(model: Path, tmp_path: Path) -> None:
    alone, both = tmp_path / "alone", tmp_path / "both"
    for out in (alone, both):
        out.mkdir()
    by_script(model, alone)
    as_group(lambda: by_script(model, both))
    one, two = (torch.load(out / "weights.pt", weights_only=True) for out in (alone, both))
    assert greatest_difference(one[0], two[0]) < 1e-5
    assert greatest_difference(one[1], two[1]) < 1e-5
    first, second = (json.loads((out / "records.json").read_text()) for out in (alone, both))
    for name in ("reward/solver/total", "questions/asked", "critic/loss", "critic/return"):
        assert [step[name] for step in first] == pytest.approx([step[name] for step in second], abs=1e-5), name
