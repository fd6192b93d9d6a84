"""The engine beside TRL's own trainer: the same completions, the same losses and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.train.engine_runs import (
    PLAIN,
    config,
    greatest_difference,
    rows,
    scripted,
    stop_often,
    texts,
    tokenizer_of,
    trainer_of,
    vowel_game,
    vowels,
    weights_of,
)
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import BackendError, ConfigError, TrainingError
from vouching.methods.base import Row, ScriptedSampler
from vouching.methods.structured.game import Score, StructuredGame
from vouching.methods.training import LoraSettings
from vouching.train.checkpoint import copy_weights, train_from
from vouching.train.engine import make_trainer, measure, on_step, training_arguments
from vouching.train.engine_batch import to_arrays
from vouching.train.engine_table import Round
from vouching.train.policy import load_policy
from vouching.types import Claim, Reward, Rollout, Unverified

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")
pandas = pytest.importorskip("pandas", reason="the extra train (datasets, which brings pandas) is not installed")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return stop_often(write_tiny_qwen(tmp_path_factory.mktemp("qwen"), texts()))


def stock_trainer(settings: Any, out: Path) -> Any:
    """TRL's own trainer with the same settings, rows and reward."""
    import trl
    from datasets import Dataset

    def vowels(completions: Sequence[Any], **_: Any) -> list[float]:
        replies = [one[0]["content"] for one in completions]
        return [sum(letter in "aeiou" for letter in reply) / max(1, len(reply)) for reply in replies]

    arguments = training_arguments(settings, out)
    # TRL accumulates over two batches of 4 where the engine cuts one of 8. Its bnpo is a mean in each batch.
    batches = 1 if settings.loss == "bnpo" else 2
    split = {"per_device_train_batch_size": 8 // batches, "gradient_accumulation_steps": batches}
    for name, value in (PLAIN | split | {"steps_per_generation": batches}).items():
        setattr(arguments, name, value)
    arguments.scale_rewards = "none" if settings.spread == "none" else "group"
    return trl.GRPOTrainer(
        model=settings.model,
        args=arguments,
        processing_class=tokenizer_of(Path(settings.model)),
        reward_funcs=[vowels],
        train_dataset=Dataset.from_list([{"prompt": row["prompt"]} for row in rows()]),
    )


def trained(trainer: Any) -> tuple[list[float], dict[str, Any]]:
    trainer.train()
    return [line["loss"] for line in trainer.state.log_history if "loss" in line], weights_of(trainer)


@pytest.mark.parametrize(
    "changed",
    [
        {"loss": "grpo", "max_steps": 6},  # four steps are an epoch
        {"loss": "dapo", "clip": (0.2, 0.28)},
        {"loss": "gspo"},
        {"loss": "dr_grpo", "spread": "none"},
        {"loss": "bnpo"},
        {"loss": "grpo", "kl": 0.1, "updates": 2, "max_steps": 4},
    ],
    ids=lambda changed: "-".join(str(value) for value in changed.values()),
)
def test_a_game_of_one_role_is_trls_own_trainer(model: Path, tmp_path: Path, changed: dict[str, Any]) -> None:
    settings = config(model, **changed)
    start = weights_of(trainer_of(settings, tmp_path / "none"))
    losses, weights = trained(trainer_of(settings, tmp_path / "ours", **PLAIN))
    expected_losses, expected = trained(stock_trainer(settings, tmp_path / "stock"))
    assert losses == pytest.approx(expected_losses, abs=1e-6)
    assert greatest_difference(weights, expected) < 1e-6
    assert greatest_difference(start, expected) > 1e-5  # something was learnt


# Rows of padding.


@pytest.mark.parametrize("loss", ["grpo", "dapo", "gspo", "dr_grpo", "bnpo"])
def test_no_rollout_is_lost_and_no_weight_changed_by_how_a_step_is_cut(model: Path, tmp_path: Path, loss: str) -> None:
    # The judge fails once a step, so 7 rollouts are left: in one piece, in 4 and 3, in 3, 3 and 1.
    settings = config(model, loss=loss, kl=0.1, max_steps=2)
    updates: list[dict[str, Any]] = []
    for micro_batch in (8, 4, 3):
        given = replace(settings, micro_batch=micro_batch)
        game = StructuredGame(4, silent_once())
        trainer = trainer_of(given, tmp_path / str(micro_batch), game, sampler=scripted(model), **PLAIN)
        updates.append(trained(trainer)[1])
    assert greatest_difference(updates[0], updates[1]) < 1e-6
    assert greatest_difference(updates[0], updates[2]) < 1e-6


def test_bnpo_in_one_batch_is_unchanged_by_padding(model: Path, tmp_path: Path) -> None:
    # A mean over the tokens of a batch, so only rows that are added to a batch can be compared, not another split.
    trainer = trainer_of(config(model, loss="bnpo"), tmp_path, sampler=scripted(model))
    played = trainer.table.play(rows()[:2])
    losses: list[float] = []
    for size in (8, 11):
        arrays = to_arrays(played.rollouts, size, pad=1)
        batch = {name: torch.from_numpy(array) for name, array in arrays.items()}
        batch |= {
            "num_items_in_batch": batch["completion_mask"].sum(),
            "row_scale": torch.tensor(1.0),
            "policy": torch.zeros(size),
        }
        trainer.current_gradient_accumulation_steps = 1
        losses.append(trainer.compute_loss(trainer.model, batch).item())
    assert losses[0] == pytest.approx(losses[1], abs=1e-7)
    assert losses[0] != 0.0


def test_a_token_that_the_policy_did_not_choose_is_read_and_not_trained(model: Path, tmp_path: Path) -> None:
    # Two replies that differ in the last tokens only; with those masked, nothing depends on what they are.
    trainer = trainer_of(config(model, loss="dapo"), tmp_path, sampler=scripted(model))
    losses: list[float] = []
    for end in ((40, 41), (50, 51)):
        said = Rollout("verifier", (9, 10), (20, 21, *end), (1, 1, 0, 0), None, "stop", advantage=(1.0, -2.0, 3.0, 4.0))
        batch = {name: torch.from_numpy(array) for name, array in to_arrays([said], 1, pad=1).items()}
        batch |= {"num_items_in_batch": torch.tensor(2), "row_scale": torch.tensor(1.0), "policy": torch.zeros(1)}
        trainer.current_gradient_accumulation_steps = 1
        losses.append(trainer.compute_loss(trainer.model, batch).item())
    # The ratio is 1 before the update, so the loss is -(1 - 2) / 2 tokens.
    assert losses == pytest.approx([0.5, 0.5], abs=1e-6)


def test_what_another_engine_sampled_is_corrected_for_where_it_said_how_likely_it_was(
    model: Path, tmp_path: Path
) -> None:
    class Told(ScriptedSampler):
        async def sample(self, *arguments: Any, **named: Any) -> Any:
            drawn = await super().sample(*arguments, **named)
            return [
                [replace(one, sampling_logprobs=(-6.0,) * len(one.completion_ids)) for one in said[:2]] + said[2:]
                for said in drawn
            ]

    plain = scripted(model)
    trainer = trainer_of(config(model), tmp_path, sampler=Told(plain.script, plain.encode, plain.end))
    trainer.use_vllm, trainer.vllm_importance_sampling_mode = True, "token_truncate"
    trainer.vllm_importance_sampling_clip_max = 1.5
    batch = trainer._generate_and_score_completions([{"row": 0}] * 4)
    ratio, mask = batch["importance_sampling_ratio"], batch["completion_mask"]
    expected = (batch["old_per_token_logps"] + 6.0).exp().clamp(max=1.5)
    assert torch.allclose(ratio[:2] * mask[:2], expected[:2] * mask[:2])
    assert not torch.allclose(ratio[:2] * mask[:2], mask[:2].float())
    assert torch.equal(ratio[2:], torch.ones_like(ratio[2:]))  # those that were forced, or played by another


# The divergence from the reference.


def test_k1_is_taken_off_the_advantage_of_each_token(model: Path, tmp_path: Path) -> None:
    settings = config(model, kl=0.5, kl_estimator="k1", learning_rate=1e-2, max_steps=2, loss="dapo")
    trainer = trainer_of(settings, tmp_path, sampler=scripted(model))
    records: list[dict[str, float]] = []
    on_step(trainer, lambda record, texts: records.append(record))
    train_from(trainer)
    assert records[0]["kl"] == pytest.approx(0.0, abs=1e-6)  # nothing has moved yet
    assert records[1]["kl"] != 0.0
    batch = trainer._generate_and_score_completions([{"row": 0}] * 4 + [{"row": 1}] * 4)
    plain = torch.tensor([one.advantage for one in trainer.table.play(rows()[:2]).rollouts])
    mask = batch["completion_mask"]
    reference = trainer._get_per_token_logps_and_entropies(
        trainer.ref_model,
        torch.cat([batch["prompt_ids"], batch["completion_ids"]], 1),
        torch.cat([batch["prompt_mask"], mask], 1),
        mask.size(1),
    )[0]
    expected = plain[:, None] - 0.5 * (batch["old_per_token_logps"] - reference) * mask
    assert torch.allclose(batch["advantages"], expected, atol=1e-6)
    assert "ref_per_token_logps" not in batch  # or TRL would add its own estimate


def test_the_gradient_of_k3_is_that_of_the_printed_estimator(model: Path, tmp_path: Path) -> None:
    # Trap: TRL multiplies k3 by the ratio unless told not to, and its gradient is then another one.
    settings = config(model, kl=0.5, learning_rate=1e-2, max_steps=1, loss="grpo")
    trainer = trainer_of(settings, tmp_path, sampler=scripted(model))
    train_from(trainer)  # away from the reference
    batch = trainer._generate_and_score_completions([{"row": 0}] * 4 + [{"row": 1}] * 4)
    batch["advantages"] = torch.zeros_like(batch["advantages"])  # leaves the divergence
    trainer.current_gradient_accumulation_steps = 1
    mask, inputs = batch["completion_mask"], torch.cat([batch["prompt_ids"], batch["completion_ids"]], 1)
    seen = torch.cat([batch["prompt_mask"], mask], 1)
    now = trainer._get_per_token_logps_and_entropies(trainer.model, inputs, seen, mask.size(1))[0]
    gap = batch["ref_per_token_logps"] - now
    by_hand = (0.5 * ((gap.exp() - gap - 1) * mask).sum(1) / mask.sum(1).clamp(min=1)).mean()
    names, weights = zip(*trainer.model.named_parameters(), strict=True)
    expected = torch.autograd.grad(by_hand, weights)
    loss = trainer.compute_loss(trainer.model, batch)
    assert loss.item() == pytest.approx(by_hand.item(), abs=1e-6)
    loss.backward()
    found = {name: weight.grad for name, weight in trainer.model.named_parameters()}
    assert greatest_difference(found, dict(zip(names, expected, strict=True))) < 1e-6
    assert max(one.abs().max().item() for one in expected) > 1e-4


def test_adapters_learn_with_the_model_itself_as_reference(model: Path, tmp_path: Path) -> None:
    # Traps: the adapter must be called "default", and only adapters may move.
    settings = config(model, kl=0.1, lora=LoraSettings(rank=4, alpha=8.0), learning_rate=1e-2)
    trainer = trainer_of(settings, tmp_path)
    before = weights_of(trainer)
    train_from(trainer)
    moved = {name for name, value in weights_of(trainer).items() if not torch.equal(value, before[name])}
    assert moved == {name for name in before if "lora_" in name}
    assert all(".default." in name for name in moved)


@pytest.mark.parametrize("trained_before", [False, True])
def test_adapters_are_gone_on_with_exactly(model: Path, tmp_path: Path, trained_before: bool) -> None:
    # New adapters have the model below them as reference, those of an earlier run a frozen copy of themselves, which is
    # that of the start and not of the checkpoint: the logged divergence shows it.
    def run(out: Path, named: Path, lora: LoraSettings, checkpoint: Path | None = None) -> Any:
        settings = config(named, kl=0.1, lora=lora, learning_rate=1e-2, max_steps=6, watch={"checkpoint_every": 2})
        trainer = make_trainer(
            settings, training_arguments(settings, out), *load_policy(str(named), lora, False), vowel_game(), rows()
        )
        train_from(trainer, checkpoint)
        return trainer

    named, lora = model, LoraSettings(rank=4, alpha=8.0, dropout=0.3)
    if trained_before:
        run(tmp_path / "before", model, lora)
        named, lora = tmp_path / "adapters", LoraSettings()
        copy_weights(tmp_path / "before/checkpoint-6", named)
    whole = run(tmp_path / "whole", named, lora)
    again = run(tmp_path / "again", named, lora, tmp_path / "whole/checkpoint-4")
    assert greatest_difference(weights_of(whole), weights_of(again)) == 0.0
    records = [
        [(line["loss"], line["kl"]) for line in one.state.log_history if "loss" in line] for one in (whole, again)
    ]
    assert records[0] == records[1]
    assert records[0][5][1] > 0
    assert any(".ref." in name for name in weights_of(whole)) == trained_before


def test_a_model_that_comes_from_no_folder_has_no_reference(model: Path, tmp_path: Path) -> None:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    drawn = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=512,
            hidden_size=32,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
        )
    )
    settings = config(model, kl=0.1)
    with pytest.raises(ConfigError, match="the KL reference is loaded from the model's folder"):
        make_trainer(settings, training_arguments(settings, tmp_path), drawn, tokenizer_of(model), vowel_game(), rows())


# What is logged.


def test_every_step_is_told_with_parts_advantages_groups_and_texts(model: Path, tmp_path: Path) -> None:
    trainer = trainer_of(config(model, max_steps=2), tmp_path, sampler=scripted(model), log_completions=True)
    records: list[tuple[dict[str, float], list[dict[str, Any]]]] = []
    on_step(trainer, lambda record, texts: records.append((record, texts)))
    train_from(trainer)
    assert [record["step"] for record, _ in records] == [1, 2]
    record, lines = records[0]
    names = {
        "loss",
        "learning_rate",
        "grad_norm",
        "entropy",
        "time/step",
        "reward/verifier/total",
        "reward/verifier/vowels",
        "reward/verifier/std",
        "advantage/verifier/least",
        "advantage/verifier/greatest",
        "groups/verifier/count",
        "groups/verifier/flat",
        "groups/dropped",
        "length/verifier/mean",
        "length/verifier/cut",
        "judge/failed",
        "readable",
        "oracle/right",
    }
    assert names <= record.keys()
    assert record["groups/verifier/count"] == 2.0
    assert [line["role"] for line in lines] == ["verifier"] * 2
    assert lines[0]["text"]
    # TRL's own table, which overriding the hook would leave empty.
    tables = pandas.read_parquet(tmp_path / "completions" / "completions_00002.parquet")
    assert set(tables["role"]) == {"verifier"}
    assert (tables["total"] == tables["vowels"]).all()
    assert len(tables) == 8


def test_advantages_are_those_of_the_deviation_that_is_asked_for(model: Path, tmp_path: Path) -> None:
    # For 4 rewards the two deviations differ by sqrt(4 / 3), whatever they are (up to TRL's epsilon).
    ends: dict[str, float] = {}
    for spread in ("population", "unbiased"):
        trainer = trainer_of(config(model, spread=spread), tmp_path / spread, sampler=scripted(model))
        ends[spread] = trainer.table.play(rows()[:1]).observed["advantage/verifier/greatest"][0]
    assert ends["population"] / ends["unbiased"] == pytest.approx((4 / 3) ** 0.5, rel=1e-2)


def test_measuring_on_other_rows_changes_nothing_of_the_run(model: Path, tmp_path: Path) -> None:
    def run(measured: bool) -> dict[str, Any]:
        trainer = trainer_of(config(model, max_steps=2), tmp_path / str(measured))
        if measured:
            on_step(trainer, lambda record, texts: found.append(measure(trainer, rows(5))))
        return trained(trainer)[1]

    found: list[dict[str, float]] = []
    assert greatest_difference(run(True), run(False)) == 0.0
    assert found[0]["groups/verifier/count"] == 5.0
    assert found[0]["reward/verifier/total"] == pytest.approx(found[1]["reward/verifier/total"], abs=0.05)


# What ends a run.


def test_a_judge_that_fails_on_everything_ends_the_run_and_keeps_the_checkpoint(model: Path, tmp_path: Path) -> None:
    steps: list[int] = []

    async def judge(reply: str, row: Row) -> Reward:
        if len(steps) >= 2:
            raise BackendError("The judge is down.")
        return await vowels(reply, row)

    trainer = trainer_of(config(model, watch={"checkpoint_every": 1}), tmp_path, StructuredGame(4, judge))
    on_step(trainer, lambda record, texts: steps.append(int(record["step"])))
    with pytest.raises(
        BackendError, match=r"no group of step 3 .* 8 rollouts were not judged \(first failure: The judge is down"
    ):
        train_from(trainer)
    assert steps == [1, 2]
    assert (tmp_path / "checkpoint-2" / "engine.json").exists()


def test_a_gradient_that_is_no_number_ends_the_run_before_it_reaches_the_weights(model: Path, tmp_path: Path) -> None:
    async def overflow(reply: str, row: Row) -> Reward:
        return Reward(float(len(reply)))

    game, states = StructuredGame(4, overflow), []
    trainer = trainer_of(config(model, watch={"checkpoint_every": 1}), tmp_path, game, sampler=scripted(model))

    def break_down(record: dict[str, float], texts: list[dict[str, Any]]) -> None:
        states.append(weights_of(trainer))
        # From the second step on the advantages are infinite, as those of a broken critic might be.
        trainer.table.config = replace(trainer.table.config, loss="dapo", kl=0.0)
        play = trainer.table.play
        trainer.table.play = lambda given: infinite(play(given))

    on_step(trainer, break_down)
    with pytest.raises(TrainingError, match=r"the gradient of step 2 is (nan|inf)"):
        train_from(trainer)
    assert greatest_difference(weights_of(trainer), states[0]) == 0.0
    assert (tmp_path / "checkpoint-1" / "trainer_state.json").exists()


def test_weights_that_nothing_can_be_drawn_from_end_the_run_and_are_not_kept(model: Path, tmp_path: Path) -> None:
    # Adam moves every weight by about the rate: after one update at 1e30 the logits are no numbers.
    changed = config(model, learning_rate=1e30, watch={"checkpoint_every": 1})
    with pytest.raises(TrainingError, match="after step 1 the model's probabilities are not finite"):
        train_from(trainer_of(changed, tmp_path, vowel_game()))
    assert not (tmp_path / "checkpoint-1").exists()


def infinite(played: Round) -> Round:
    groups = tuple(
        replace(group, rollouts=tuple(replace(one, advantage=float("inf")) for one in group.rollouts))
        for group in played.groups
    )
    return replace(played, groups=groups)


def silent_once() -> Score:
    """A judge that fails on the third of every eight replies, and counts vowels in the others."""
    calls = count()

    async def judge(reply: str, row: Row) -> Reward | Unverified:
        if next(calls) % 8 == 2:
            return Unverified(Claim(reply), "undecided", "The judge had no answer.")
        return await vowels(reply, row)

    return judge
