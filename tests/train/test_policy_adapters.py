"""Two policies on one model: both learn, the base does not, no batch mixes them, each has a reference of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.train.assurance_runs import game, talk, task_row, two_policies, write_model
from tests.train.engine_runs import PLAIN, greatest_difference, trainer_of, weights_of
from vouching.errors import ConfigError
from vouching.methods.training import LoraSettings

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")

from vouching.train.checkpoint import train_from  # noqa: E402
from vouching.train.engine import on_step  # noqa: E402  (needs torch)
from vouching.train.policy import activate  # noqa: E402  (needs peft)

ROWS = [task_row(number, 1 + number % 2) for number in range(8)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return write_model(tmp_path_factory.mktemp("two"), ROWS)


def moved(trainer: Any, before: dict[str, Any]) -> set[str]:
    return {name for name, value in weights_of(trainer).items() if not torch.equal(value, before[name])}


def test_both_adapters_move_and_the_base_does_not(model: Path, tmp_path: Path) -> None:
    trainer = trainer_of(two_policies(model, learning_rate=1e-2), tmp_path, game(), ROWS, talk(model))
    before = weights_of(trainer)
    records: list[dict[str, float]] = []
    on_step(trainer, lambda record, texts: records.append(record))
    train_from(trainer)
    found = moved(trainer, before)
    assert found == {name for name in before if "lora_" in name}
    assert {name.split(".")[-2] for name in found} == {"default", "verifier"}
    assert all(record["gradient/default"] > 0 and record["gradient/verifier"] > 0 for record in records)
    assert {"case/1", "oracle/submitted", "reward/verifier/outcome", "kl"} <= records[0].keys()


def test_a_model_that_writes_nothing_readable_teaches_the_verifier_alone(model: Path, tmp_path: Path) -> None:
    # Drafts are all worth 0 and no case is raised; both actions of the verifier are given, so that it learns the form.
    trainer = trainer_of(two_policies(model, max_steps=1), tmp_path, game(), ROWS)
    before = weights_of(trainer)
    records: list[dict[str, float]] = []
    on_step(trainer, lambda record, texts: records.append(record))
    train_from(trainer)
    assert {name.split(".")[-2] for name in moved(trainer, before)} == {"verifier"}
    first = records[0]
    assert (first["readable/generator"], first["case/none"], first["gradient/default"]) == (0.0, 1.0, 0.0)


def test_a_role_that_writes_no_token_at_all_has_no_part_in_the_update(model: Path, tmp_path: Path) -> None:
    # Under a loss that counts tokens its share is none. Drafts are all empty, so that no value is right.
    said = talk(model)
    mute = replace(
        said,
        end=(),
        script=lambda prompt, role, number: "" if role == "generator" else said.script(prompt, role, number),
    )
    settings = two_policies(model, max_steps=1, loss="dapo", kl=0.1)
    trainer = trainer_of(settings, tmp_path, game(), ROWS, mute)
    before = weights_of(trainer)
    train_from(trainer)
    assert "verifier" in {name.split(".")[-2] for name in moved(trainer, before)}


@pytest.mark.parametrize("loss", ["grpo", "dapo"])
def test_how_a_step_is_cut_changes_nothing_for_either_policy(model: Path, tmp_path: Path, loss: str) -> None:
    updates: list[dict[str, Any]] = []
    for micro_batch in (64, 3):
        settings = two_policies(model, micro_batch=micro_batch, loss=loss)
        trainer = trainer_of(
            settings, tmp_path / str(micro_batch), game(), ROWS, talk(model), **PLAIN | {"learning_rate": 0.1}
        )
        before = weights_of(trainer)
        train_from(trainer)
        updates.append(weights_of(trainer))
        assert greatest_difference(before, updates[-1]) > 1e-4
    assert greatest_difference(*updates) < 1e-6


def test_rewards_of_one_policy_never_reach_the_other(model: Path, tmp_path: Path) -> None:
    # Only pairs of the verifier differ in reward: no case is ever raised, drafts are not learnt from, no divergence.
    sampler = talk(model)
    silent = replace(
        sampler,
        script=lambda prompt, role, number: (
            '{"verdict": "correct"}' if role == "verifier" else sampler.script(prompt, role, number)
        ),
    )
    settings = two_policies(model, kl=0.0)
    trainer = trainer_of(settings, tmp_path, game(proposals=False), ROWS, silent)
    before = weights_of(trainer)
    train_from(trainer)
    assert {name.split(".")[-2] for name in moved(trainer, before)} == {"verifier"}


@pytest.mark.parametrize("estimator", ["k1", "k1-loss", "k3"])
def test_each_role_has_a_divergence_from_the_reference_of_its_own_mean(
    model: Path, tmp_path: Path, estimator: str
) -> None:
    settings = two_policies(model, kl=0.5, kl_estimator=estimator, learning_rate=1e-2, max_steps=1)
    trainer = trainer_of(settings, tmp_path, game(), ROWS, talk(model))
    train_from(trainer)  # away from the reference
    batch = trainer._generate_and_score_completions([{"row": 1}] * 2 + [{"row": 2}] * 2)
    rollouts = trainer.table.play([ROWS[1], ROWS[2]]).rollouts  # of two units and of one; that one has a case
    counts = {role: sum(one.role == role for one in rollouts) for role in ("generator", "verifier", "approver")}
    assert counts["approver"] == 2
    mask = batch["completion_mask"]
    ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], 1)
    seen = torch.cat([batch["prompt_mask"], mask], 1)
    for row, one in enumerate(rollouts):
        one_row = slice(row, row + 1)
        activate(trainer.model, one.policy)
        asked = (ids[one_row], seen[one_row], mask.size(1))
        with torch.no_grad():
            now = trainer._get_per_token_logps_and_entropies(trainer.model, *asked)[0][0]
            with trainer.model.disable_adapter():
                then = trainer._get_per_token_logps_and_entropies(trainer.model, *asked)[0][0]
        fall = {"k1": now - then, "k1-loss": torch.ones_like(now), "k3": 1 - (then - now).exp()}[estimator]
        # grpo averages over rows; keep or revise is a mean over units, and there is a choice at one of three.
        factor = len(rollouts) / counts[one.role] / (3 if one.role == "approver" else 1)
        expected = factor * (one.advantage - 0.5 * fall * mask[row])
        kept = mask[row].bool()
        assert torch.allclose(batch["advantages"][row][kept], expected[kept].float(), atol=1e-5), one.role
    assert trainer.beta == 0.0  # or TRL would add its own
    assert "ref_per_token_logps" not in batch


def test_without_adapters_there_is_one_policy(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"a game with 2 policies requires adapters: set lora\.rank"):
        trainer_of(two_policies(model, lora=LoraSettings()), tmp_path, game(), ROWS)


def test_a_run_that_goes_on_from_a_checkpoint_trains_both_adapters_on(model: Path, tmp_path: Path) -> None:
    settings = two_policies(model, max_steps=4, learning_rate=1e-2, watch={"checkpoint_every": 2})
    whole = trainer_of(settings, tmp_path / "whole", game(), ROWS, talk(model))
    train_from(whole)
    again = trainer_of(settings, tmp_path / "again", game(), ROWS, talk(model))
    train_from(again, tmp_path / "whole/checkpoint-2")
    assert greatest_difference(weights_of(whole), weights_of(again)) == 0.0
    early = trainer_of(settings, tmp_path / "early", game(), ROWS, talk(model))
    early._load_from_checkpoint(str(tmp_path / "whole/checkpoint-2"))
    names = {name.split(".")[-2] for name in moved(whole, weights_of(early))}
    assert names == {"default", "verifier"}  # the last two steps taught both


def test_adapters_of_an_earlier_run_are_trained_on_from_where_they_were(model: Path, tmp_path: Path) -> None:
    from vouching.train.engine import make_trainer, training_arguments
    from vouching.train.policy import load_policy

    settings = two_policies(model, learning_rate=1e-2, watch={"checkpoint_every": 2})
    first = trainer_of(settings, tmp_path / "first", game(), ROWS, talk(model))
    train_from(first)
    settings = replace(settings, model=str(tmp_path / "first/checkpoint-2"), lora=LoraSettings())
    loaded, tokenizer = load_policy(settings.model, settings.lora, reduced=False)
    arguments = training_arguments(settings, tmp_path / "second")
    second = make_trainer(settings, arguments, loaded, tokenizer, game(), ROWS, talk(model))
    records: list[dict[str, float]] = []
    on_step(second, lambda record, texts: records.append(record))
    before = weights_of(second)
    for name, value in weights_of(first).items():
        assert torch.equal(before[name], value), name
    train_from(second)
    assert {name.split(".")[-2] for name in moved(second, before)} == {"default", "verifier"}
    assert records[0]["kl"] == pytest.approx(0.0, abs=1e-6)  # from these adapters, not from the bare model
    assert records[1]["kl"] > 1e-6
