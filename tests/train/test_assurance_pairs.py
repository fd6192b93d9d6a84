"""Each role's update is Algorithm 1's: its gradient by hand, and whether the rewarded action becomes likelier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.train.assurance_runs import CHOICES, ask, draft_text, said, task_row
from tests.train.engine_runs import PLAIN, config, tokenizer_of, trainer_of, weights_of
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import ConfigError
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.game import AssuranceGame
from vouching.methods.assurance.task import read_row
from vouching.methods.base import ScriptedSampler
from vouching.methods.training import LoraSettings
from vouching.models.base import Message
from vouching.types import Proposal

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")

from vouching.train.checkpoint import train_from  # noqa: E402
from vouching.train.engine import on_step  # noqa: E402  (needs torch)
from vouching.train.policy import activate  # noqa: E402  (needs peft)

ROWS = [task_row(0), task_row(1)]
"""Of the first "old" is right, of the second "new"."""
GROUP = 0.5 / (0.5 + 1e-4)
"""The advantage of the better one of two drafts, whose deviation is .5; that of a pair is 1."""
Review = Callable[[str], str]
"""What the verifier does, by its prompt."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    said_by_all = [*map(draft_text, CHOICES), *map(said, ("SAC", "NS", "KEEP", "REVISE"))]  # pyright: ignore[reportArgumentType]
    asked = " ".join(f"{role} bridge very not old new" for role in ("draft", "review", "revise", "approve"))
    return write_tiny_qwen(tmp_path_factory.mktemp("pairs"), [asked, *said_by_all] * 8)


def script(model: Path, review: Review) -> ScriptedSampler:
    """It proposes "old", which is right once, with "new" to compare; revisions are "new"; it takes them."""
    tokenizer = tokenizer_of(model)

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        if role == "verifier":
            return review(prompt[-1].content)
        return said("REVISE") if role == "approver" else draft_text("new" if role == "reviser" else CHOICES[number])

    return ScriptedSampler(line, lambda text: tokenizer(text)["input_ids"], (tokenizer.eos_token_id,))


def made(
    model: Path,
    out: Path,
    review: Review,
    plain: bool,
    given: Any = None,
    alone: bool = False,
    margin: float = 0.0,
    **changed: Any,
) -> Any:
    """A trainer; ``plain`` has the gradient as its update, ``given`` are other rows and another script."""
    rows, sampler = given or (ROWS, script(model, review))
    settings = config(
        model,
        **{
            "loss": "token_sum",
            "kl": 0.04,
            "spread": "population",
            "micro_batch": 64,
            "epochs": 100.0,
            "lora": LoraSettings(rank=4, alpha=8.0),
            "sampling": {"group_size": 2},
            **changed,
        },
    )
    game = AssuranceGame(2, 1, ask=ask, force=said, alone=alone, margin=margin)
    return trainer_of(settings, out, game, rows, sampler, **(PLAIN | {"learning_rate": 0.1} if plain else {}))


def logprob(trainer: Any, policy: str, prompt: Sequence[int], reply: Sequence[int]) -> Any:
    """Of a whole reply: the sum over its tokens."""
    activate(trainer.model, policy)
    logits = trainer.model(input_ids=torch.tensor([[*prompt, *reply]])).logits[0, len(prompt) - 1 : -1]
    return logits.log_softmax(-1)[range(len(reply)), list(reply)].sum()


def test_a_step_is_the_gradient_of_algorithm_1(model: Path, tmp_path: Path) -> None:
    # One unit of two is challenged. Line 18: theta by the pairs of both units. Line 19: phi by the proposals of both
    # and by keep or revise where there is a case: that term is there at half of the units. beta has no gradient yet.
    trainer = made(model, tmp_path, lambda prompt: said("SAC" if "not" in prompt else "NS"), plain=True, max_steps=1)
    before, tokenizer = weights_of(trainer), tokenizer_of(model)
    trainer.model.eval()
    loss: Any = 0.0

    def term(policy: str, asked: str, good: str, bad: str) -> Any:
        """-A log pi over a pair, their mean; A = +-1."""
        prompt, right, wrong = (tokenizer(text)["input_ids"] for text in (asked, f"{good}<end>", f"{bad}<end>"))
        return (logprob(trainer, policy, prompt, wrong) - logprob(trainer, policy, prompt, right)) / 2

    for word, good, bad, verdicts in (
        ("very", "old", "new", ("NS", "SAC")),
        ("not", "new", "old", ("SAC", "NS")),
    ):
        first, second = map(said, verdicts)  # pyright: ignore[reportArgumentType]
        loss += GROUP * term("default", f"draft bridge {word}", draft_text(good), draft_text(bad)) / 2
        loss += term("verifier", f"review bridge {word} old", first, second) / 2
    loss += term("default", "approve bridge not old new", said("REVISE"), said("KEEP")) / 2
    loss.backward()
    expected = {name: value.grad.clone() for name, value in trainer.model.named_parameters() if value.grad is not None}
    trainer.model.zero_grad()
    train_from(trainer)
    after = weights_of(trainer)
    for name, gradient in expected.items():
        assert torch.allclose(before[name] - after[name], 0.1 * gradient, rtol=1e-3, atol=1e-6), name
    assert sum(float(gradient.abs().max()) > 1e-4 for gradient in expected.values()) >= 28  # B of 7 x 2 x 2 layers


def margins(trainer: Any, tokenizer: Any) -> dict[tuple[str, str], float]:
    """How much likelier, in logs, each role finds what is rewarded than the other action."""
    found: dict[tuple[str, str], float] = {}
    x, z = Proposal("u0", "old"), Proposal("u0", "new")
    for row in ROWS:
        task, gold = read_row(row)
        state, right = UnitState(task, task.units[0], {}), gold["u0"] == "old"
        for role, policy, values, pair in (
            ("draft", "default", (None, None), (draft_text("old"), draft_text("new"))),
            ("review", "verifier", (x, None), (said("NS"), said("SAC"))),
            ("approve", "default", (x, z), (said("KEEP"), said("REVISE"))),
        ):
            [asked] = ask(role, state, values[0], None, values[1])
            prompt, *replies = (
                tokenizer(text)["input_ids"] for text in (asked.content, *(f"{text}<end>" for text in pair))
            )
            with torch.no_grad():
                likely, other = (float(logprob(trainer, policy, prompt, reply)) for reply in replies)
            found[role, row["id"]] = likely - other if right else other - likely
    return found


def test_what_is_rewarded_becomes_likelier_for_every_role(model: Path, tmp_path: Path) -> None:
    # KEEP and silence on the right proposal, REVISE and a case on the wrong one; one word of the note tells them apart.
    trainer = made(model, tmp_path, lambda prompt: said("SAC"), plain=False, learning_rate=2e-3, max_steps=20, kl=0.2)
    tokenizer, steps = tokenizer_of(model), {1, 5, 20}
    seen = [margins(trainer, tokenizer)]
    on_step(trainer, lambda record, _: seen.append(margins(trainer, tokenizer)) if record["step"] in steps else None)
    train_from(trainer)
    start, one, five, twenty = seen
    for role in ("draft", "review", "approve"):
        # A first step may move the replies to both notes alike, so their sum is looked at.
        assert sum(one[role, name] - start[role, name] for name in ("t0", "t1")) > 0, role
        for name in ("t0", "t1"):
            assert five[role, name] > start[role, name], (role, name)
            assert twenty[role, name] > max(0.5, five[role, name]), (role, name)


def test_a_margin_stops_pairs_that_are_told_apart_and_leaves_drafts_alone(model: Path, tmp_path: Path) -> None:
    ends: list[dict[tuple[str, str], float]] = []
    stopped: list[float] = []
    for margin in (0.0, 1.0):
        trainer = made(
            model,
            tmp_path / f"{margin}",
            lambda prompt: said("SAC"),
            plain=False,
            margin=margin,
            learning_rate=2e-3,
            max_steps=16,
            kl=0.0,
        )
        on_step(trainer, lambda record, _: stopped.append(record.get("pairs/stopped", -1.0)))
        train_from(trainer)
        ends.append(margins(trainer, tokenizer_of(model)))
    free, held = ends
    for name in ("t0", "t1"):
        assert free["review", name] > held["review", name] + 0.5, name
        assert held["review", name] > 0.9, name  # the step that passes the margin is the last
        assert held["draft", name] > 0.9 * free["draft", name], name
    assert stopped[:16] == [-1.0] * 16  # logged only where there is a margin
    assert stopped[16] == 0.0
    assert max(stopped) == 1.0


def test_adapters_drop_nothing_in_training(model: Path, tmp_path: Path) -> None:
    # TRL turns dropout off when it is made, which is before the adapter of the second policy is there.
    trainer = made(model, tmp_path, lambda prompt: said("SAC"), plain=True, lora=LoraSettings(rank=4, dropout=0.5))
    dropped = [module for module in trainer.model.modules() if isinstance(module, torch.nn.Dropout)]
    assert dropped
    assert all(module.p == 0.0 for module in dropped)
    assert {trainer.model.peft_config[name].lora_dropout for name in ("default", "verifier")} == {0.5}


def test_a_loss_that_is_a_mean_over_a_process_is_refused_for_two_policies(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"loss bnpo averages .* does not support a game with 2 policies: use dapo"):
        made(model, tmp_path, lambda prompt: said("SAC"), plain=True, loss="bnpo")


@pytest.mark.parametrize("loss", ["dapo", "token_sum"])
def test_a_batch_without_a_case_teaches_the_generator_by_its_drafts_alone(
    model: Path, tmp_path: Path, loss: str
) -> None:
    [record] = records(made(model, tmp_path, lambda prompt: said("NS"), plain=True, loss=loss, max_steps=1))
    assert (record["said/SAC"], record["groups/generator/count"], record["groups/verifier/count"]) == (0.0, 2.0, 2.0)
    assert not [name for name in record if "approver" in name]
    assert record["gradient/default"] > 0
    assert record["gradient/verifier"] > 0


def test_comparisons_that_are_even_teach_the_generator_nothing(model: Path, tmp_path: Path) -> None:
    # "Old" is wrong once and nothing else is drafted or revised: drafts are alike, and keeping is worth what revising
    # is. The verifier's pair never is even without a cost, since R_V(SAC) = 1 - R_V(NS): it alone is left to learn.
    rows, sampler = [ROWS[1], ROWS[1] | {"id": "again"}], script(model, lambda prompt: said("SAC"))
    even = replace(
        sampler,
        script=lambda prompt, role, number: sampler.script(prompt, "generator" if role == "reviser" else role, 0),
    )
    trainer = made(model, tmp_path, lambda prompt: said("SAC"), plain=True, max_steps=1, given=(rows, even))
    before = weights_of(trainer)
    [record] = records(trainer)
    flat = {role: record[f"groups/{role}/flat"] for role in ("generator", "verifier", "approver")}
    assert flat == {"generator": 1.0, "verifier": 0.0, "approver": 1.0}
    assert record["gradient/default"] == 0.0
    moved = {name for name, value in weights_of(trainer).items() if not torch.equal(value, before[name])}
    assert {name.split(".")[-2] for name in moved} == {"verifier"}


def test_the_generator_alone_is_trained_by_each_loss_of_the_papers_baselines_at_equal_tokens(
    model: Path, tmp_path: Path
) -> None:
    # A draft has 7 tokens and two are drawn, whatever the loss. The paired game has besides a review of 7, a revision
    # of 7 and a choice of 2: 30 tokens, about those of four drafts.
    for loss in ("grpo", "dapo", "gspo"):
        trainer = made(
            model, tmp_path / loss, lambda prompt: said("SAC"), plain=True, alone=True, loss=loss, max_steps=1
        )
        before = weights_of(trainer)
        [record] = records(trainer)
        assert (record["tokens"], record["reward/generator/total"], record["groups/generator/flat"]) == (14.0, 0.5, 0.0)
        moved = {name for name, value in weights_of(trainer).items() if not torch.equal(value, before[name])}
        assert moved
        assert {name.split(".")[-2] for name in moved} == {"default"}
    [record] = records(made(model, tmp_path / "pairs", lambda prompt: said("SAC"), plain=True, max_steps=1))
    assert record["tokens"] == 30.0


def records(trainer: Any) -> list[dict[str, float]]:
    """The numbers of every step of a run."""
    records: list[dict[str, float]] = []
    on_step(trainer, lambda record, _: records.append(record))
    train_from(trainer)
    return records
