"""The critic: advantages, returns and loss by hand, what it learns, and that it is the same on one process or two."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import ConfigError, TrainingError
from vouching.methods.base import Processes
from vouching.methods.training import CriticSettings
from vouching.train.critic import token_advantages
from vouching.types import Group, Reward, Rollout

PLAIN = CriticSettings(discount=0.5, trace=1.0, whiten=False)


def test_advantages_and_returns_by_hand() -> None:
    # gamma .5, lambda 1, V = (.2, .4, .6), reward -1 at the end: returns of the tokens -.25, -.5, -1.
    # deltas: 0 + .5 * .4 - .2 = 0;  0 + .5 * .6 - .4 = -.1;  -1 - .6 = -1.6
    # A_2 = -1.6;  A_1 = -.1 + .5 * -1.6 = -.9;  A_0 = 0 + .5 * -.9 = -.45
    [advantages], [returns] = token_advantages([-1.0], [np.array([0.2, 0.4, 0.6])], PLAIN)
    assert advantages.tolist() == pytest.approx([-0.45, -0.9, -1.6])
    assert returns.tolist() == pytest.approx([-0.25, -0.5, -1.0])


def test_lambda_shortens_how_far_a_surprise_reaches() -> None:
    # As above with lambda .5: A_1 = -.1 + .25 * -1.6 = -.5;  A_0 = 0 + .25 * -.5 = -.125
    settings = replace(PLAIN, trace=0.5)
    [advantages], [returns] = token_advantages([-1.0], [np.array([0.2, 0.4, 0.6])], settings)
    assert advantages.tolist() == pytest.approx([-0.125, -0.5, -1.6])
    assert returns.tolist() == pytest.approx([0.075, -0.1, -1.0])


def test_whitening_is_over_all_tokens_of_a_step_and_leaves_the_returns() -> None:
    # With V = 0 and gamma 1 the advantages are the rewards: 1, 1 and -1. Mean 1/3, unbiased variance 4/3.
    settings = CriticSettings(discount=1.0)
    advantages, returns = token_advantages([1.0, -1.0], [np.zeros(2), np.zeros(1)], settings)
    spread = (4 / 3) ** 0.5
    assert advantages[0].tolist() == pytest.approx([(2 / 3) / spread] * 2)
    assert advantages[1].tolist() == pytest.approx([(-4 / 3) / spread])
    assert [one.tolist() for one in returns] == [[1.0, 1.0], [-1.0]]


@pytest.mark.parametrize(
    ("rewards", "lengths"), [([], []), ([-1.0], [1])], ids=["nothing was said", "a single token has no variance"]
)
def test_too_little_to_whiten_is_left_as_it_is(rewards: list[float], lengths: list[int]) -> None:
    advantages, _ = token_advantages(rewards, [np.zeros(length) for length in lengths], CriticSettings(discount=1.0))
    assert [one.tolist() for one in advantages] == [[reward] for reward in rewards]


def test_processes_whiten_as_one() -> None:
    rewards, values = [1.0, -1.0, 0.5], [np.array([0.1, 0.2]), np.array([0.3]), np.array([0.0, 0.4, 0.1])]
    whole, _ = token_advantages(rewards, values, CriticSettings())
    plain = [
        token_advantages(rewards[at], values[at], replace(CriticSettings(), whiten=False))[0]
        for at in (slice(0, 1), slice(1, 3))
    ]
    both = [np.concatenate(one) for one in plain]
    found = [
        one
        for index, at in enumerate((slice(0, 1), slice(1, 3)))
        for one in token_advantages(rewards[at], values[at], CriticSettings(), Processes(lambda mine: both, index, 2))[
            0
        ]
    ]
    for one, other in zip(whole, found, strict=True):
        assert one.tolist() == pytest.approx(other.tolist())


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("discount", 1.1, r"critic.discount must be in \[0, 1\], got 1.1"),
        ("trace", -0.1, r"critic.trace must be in \[0, 1\], got -0.1"),
        ("clip", 0.0, "clip"),
        ("learning_rate", 0.0, "learning_rate"),
    ],
)
def test_settings_out_of_range_are_refused(setting: str, value: float, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        CriticSettings(**{setting: value})


torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")
from vouching.train.critic import Critic, clipped_value_loss  # noqa: E402  (needs torch)
from vouching.train.critic_model import load_critic  # noqa: E402  (needs torch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return write_tiny_qwen(tmp_path_factory.mktemp("qwen"), ["The bridge is old.", "The tower is new."])


def said(*rollouts: tuple[tuple[int, ...], tuple[int, ...], float]) -> list[Group]:
    """A group for each prompt, completion and reward."""
    return [
        Group(
            str(at),
            "solver",
            "gae",
            (
                Rollout(
                    "solver",
                    prompt,
                    completion,
                    (1,) * len(completion),
                    None,
                    "stop",
                    reward=Reward(total),
                    group=str(at),
                    estimator="gae",
                ),
            ),
        )
        for at, (prompt, completion, total) in enumerate(rollouts)
    ]


BATCH = said(((5, 6, 7), (8, 9), 1.0), ((5,), (10, 11, 12), -1.0), ((6, 7), (13,), 0.5))


def critic_of(folder: Path, **changed: Any) -> Any:
    rows = changed.pop("rows", 8)
    return Critic(load_critic(str(folder), "cpu"), CriticSettings(**changed), pad=1, rows=rows)


def test_the_clipped_loss_by_hand() -> None:
    # V = 0, R = 1, clip .5. A guess of 2 is held at .5: max((2-1)^2, (.5-1)^2) = 1. One of .9 is held at .5:
    # max(.01, .25) = .25, whose gradient is 0, for the guess has moved far enough. One of .2 is not held: .64.
    guesses = torch.tensor([[2.0, 0.9, 0.2, 7.0]], requires_grad=True)
    mask = torch.tensor([[1.0, 1.0, 1.0, 0.0]])
    loss = clipped_value_loss(guesses, torch.zeros(1, 4), torch.ones(1, 4), mask, 0.5)
    assert loss.item() == pytest.approx(0.5 * (1.0 + 0.25 + 0.64))
    loss.backward()
    # d/dv .5 (v - R)^2 = v - R
    assert guesses.grad.tolist()[0] == pytest.approx([1.0, 0.0, -0.8, 0.0])


def test_a_guess_stands_before_the_token_that_it_is_about(folder: Path) -> None:
    critic = critic_of(folder)
    with torch.no_grad():
        critic.model.score.weight.normal_(std=0.5)
    [group] = BATCH[:1]
    one = group.rollouts[0]
    [values] = critic._values([one])
    with torch.no_grad():
        ids = torch.tensor([[*one.prompt_ids, *one.completion_ids]])
        scores = critic.model(input_ids=ids).logits[0, :, 0]
    # Three tokens of prompt: the guess before the first of the completion is the score at place 2.
    assert values.tolist() == pytest.approx(scores[2:4].tolist(), abs=1e-6)
    # What comes after a token changes nothing of the guess before it.
    other = replace(one, completion_ids=(one.completion_ids[0], 40))
    assert critic._values([other])[0].tolist() == pytest.approx(values.tolist(), abs=1e-6)


def test_a_fresh_critic_guesses_nothing_so_advantages_are_discounted_rewards(folder: Path) -> None:
    filled = critic_of(folder, whiten=False, discount=0.5)(BATCH)
    found = [list(one.advantage) for group in filled for one in group.rollouts if isinstance(one.advantage, tuple)]
    assert found == [[0.5, 1.0], [-0.25, -0.5, -1.0], [0.5]]


def test_tokens_that_the_policy_did_not_choose_have_no_advantage(folder: Path) -> None:
    [group] = BATCH[1:2]
    teacher_forced = replace(group, rollouts=(replace(group.rollouts[0], completion_mask=(1, 0, 1)),))
    [found] = critic_of(folder, whiten=False, discount=0.5)([teacher_forced])
    # The reward is two chosen tokens away from the first.
    assert found.rollouts[0].advantage == (-0.5, 0.0, -1.0)


def test_its_loss_is_half_the_mean_square_over_the_tokens_that_are_trained(folder: Path) -> None:
    # A fresh critic guesses 0, and without discount every token returns the reward: of six tokens two return 1, three
    # -1, one .5, so .5 * (5 + .25) / 6.
    critic = critic_of(folder, discount=1.0)
    critic(BATCH)
    assert critic.seen["critic/loss"] == [pytest.approx(0.4375)]
    # One that guesses something, about a completion whose middle token was not chosen.
    critic = critic_of(folder, discount=1.0)
    with torch.no_grad():
        critic.model.score.weight.normal_(std=0.5)
    [group] = BATCH[1:2]
    one = replace(group.rollouts[0], completion_mask=(1, 0, 1))
    first, _, last = critic._values([one])[0].tolist()
    critic([replace(group, rollouts=(one,))])
    assert critic.seen["critic/loss"] == [pytest.approx(0.5 * ((first + 1) ** 2 + (last + 1) ** 2) / 2, rel=1e-5)]


def test_it_learns_what_comes(folder: Path) -> None:
    critic = critic_of(folder, learning_rate=1e-3, warmup_steps=1, discount=1.0, passes=2)
    losses = []
    for _ in range(20):
        critic(BATCH)
        losses.append(critic.seen["critic/loss"][0])
    assert losses[-1] < 0.1 * losses[0]
    assert critic.seen["critic/explained"][0] > 0.8


def test_padding_and_pieces_change_nothing(folder: Path) -> None:
    updated = []
    for rows in (8, 1):
        critic = critic_of(folder, rows=rows)
        critic(BATCH)
        updated.append(critic.state_dict()["model"])
    assert max(float((updated[0][name] - updated[1][name]).abs().max()) for name in updated[0]) < 1e-6


def test_the_rate_rises_over_the_warm_up(folder: Path) -> None:
    critic = critic_of(folder, learning_rate=1e-3, warmup_steps=4)
    rates = []
    for _ in range(6):
        critic(BATCH)
        rates.append(critic._optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.25e-3, 0.5e-3, 0.75e-3, 1e-3, 1e-3, 1e-3])


def test_it_goes_on_exactly_from_its_state(folder: Path, tmp_path: Path) -> None:
    whole = critic_of(folder, learning_rate=1e-3)
    for _ in range(2):
        whole(BATCH)
    torch.save(whole.state_dict(), tmp_path / "critic.pt")
    again = critic_of(folder, learning_rate=1e-3)
    again.load_state_dict(torch.load(tmp_path / "critic.pt"))
    for critic in (whole, again):
        critic(BATCH)
    first, second = whole.state_dict()["model"], again.state_dict()["model"]
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_gradient_that_is_no_number_ends_the_run_before_it_reaches_the_weights(folder: Path) -> None:
    critic = critic_of(folder)
    with torch.no_grad():
        critic.model.score.weight.fill_(1.0)
    before = {name: value.clone() for name, value in critic.state_dict()["model"].items()}
    with pytest.raises(TrainingError, match="gradient is not finite"):
        critic(said(((5, 6), (7, 8), 1e30)))  # whose square is none
    assert all(torch.equal(before[name], value) for name, value in critic.state_dict()["model"].items())


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot load a critic from .*critic.model"):
        load_critic(str(tmp_path), "cpu")
