# pyright: basic
"""A critic for PPO: a copy of the model that predicts, before each token, the reward to come.

    values V_t       of the text before token t
    GAE              delta_t = r_t + gamma V_(t+1) - V_t, A_t = delta_t + gamma lambda A_(t+1); r is at the last token
    returns          R_t = A_t + V_t, then A is whitened over all tokens of the step (unbiased variance, as in verl)
    value loss       .5 mean max((v - R)^2, (clip(v, V - c, V + c) - R)^2), v being the value during the update

As in verl it is a separate model with its own optimizer and warm-up; the policy loss stays TRL's. Processes exchange
gradients, so the result does not depend on which process has which rollout; ``critic_model`` says how its weights are
held. Not supported: one set of adapters for policy and critic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vouching.errors import TrainingError
from vouching.methods.base import Processes
from vouching.methods.training import CriticSettings
from vouching.train.advantages import Floats, gae, whiten
from vouching.train.critic_model import critic_state, load_critic_state, shard
from vouching.train.extra import imported
from vouching.types import Group, Rollout

MINIMUM = 2
"""Tokens that have a variance."""


def token_advantages(
    rewards: Sequence[float], values: Sequence[Floats], settings: CriticSettings, processes: Processes | None = None
) -> tuple[list[Floats], list[Floats]]:
    """Advantages and returns of each token of completions with one reward each, at their end.

    Args:
        rewards: one per completion.
        values: (T,) values before each of its tokens, T at least 1.
        settings: gamma, lambda, whether to whiten.
        processes: all must call this.

    >>> plain = CriticSettings(discount=1.0, whiten=False)
    >>> [advantages], [returns] = token_advantages([-1.0], [np.array([-0.5, -0.25])], plain)
    >>> advantages.tolist(), returns.tolist()
    ([-0.5, -0.75], [-1.0, -1.0])
    """
    processes = processes or Processes()
    advantages: list[Floats] = []
    returns: list[Floats] = []
    for reward, guesses in zip(rewards, values, strict=True):
        at_end = np.zeros_like(guesses)
        at_end[-1] = reward
        found = gae(at_end, guesses, settings.discount, settings.trace)
        advantages.append(found[0])
        returns.append(found[1])
    if not settings.whiten:
        return advantages, returns
    parts = processes.gather([np.concatenate([np.zeros(0), *advantages])])
    whole, before = np.concatenate(parts), sum(map(len, parts[: processes.index]))
    if len(whole) >= MINIMUM:
        whole = whiten(whole, np.ones(len(whole)))
    mine = whole[before : before + sum(map(len, advantages))]
    ends = np.cumsum([len(one) for one in advantages])
    return np.split(mine, ends[:-1]) if advantages else [], returns


def clipped_value_loss(guesses: Any, values: Any, returns: Any, mask: Any, clip: float) -> Any:
    """The value loss, summed over tokens.

    Args:
        guesses: (B, T) current values; the gradient flows through these.
        values: (B, T) values when the returns were computed.
        returns: (B, T) targets.
        mask: (B, T) 1 where a token counts.
        clip: how far a value may move.
    """
    held = values + (guesses - values).clamp(-clip, clip)
    worse = ((guesses - returns) ** 2).maximum((held - returns) ** 2)
    return 0.5 * (worse * mask).sum()


class Critic:
    """Predicts values, computes advantages, and learns from the returns.

    Args:
        model: from ``critic_model.load_critic``.
        settings: the settings.
        pad: token of padding.
        rows: completions per forward pass.
        processes: who trains together.
        sharded: whether to divide the model among them; it is then on the host.
        reduced: whether to compute in bfloat16.
    """

    def __init__(
        self,
        model: Any,
        settings: CriticSettings,
        pad: int,
        rows: int,
        processes: Processes | None = None,
        sharded: bool = False,
        reduced: bool = False,
    ) -> None:
        torch = imported("torch")
        self.model, self.settings, self.processes = model, settings, processes or Processes()
        self.sharded, self._reduced = sharded, reduced
        if sharded:
            self.model = shard(model, reduced)
        self._pad, self._rows = pad, rows
        self._trained = [weight for weight in self.model.parameters() if weight.requires_grad]
        self._optimizer = torch.optim.AdamW(self._trained, lr=settings.learning_rate, weight_decay=0.01)
        self._steps, self._device = 0, self._trained[0].device
        self.seen: dict[str, list[float]] = {}
        """What the last step looked like, by the names of the log; the same on all processes."""

    def __call__(self, groups: Sequence[Group]) -> list[Group]:
        """The groups, those of "gae" with the advantage of every token; the critic has learnt from them.

        Every process calls it once per step. Tokens that the policy did not choose have advantage 0.

        Raises:
            TrainingError: the critic's gradient is not finite.
        """
        mine = [one for group in groups if group.estimator == "gae" for one in group.rollouts]
        said = [one for one in mine if any(one.completion_mask)]
        values = self._values(said)
        kept = [guesses[np.array(one.completion_mask, bool)] for one, guesses in zip(said, values, strict=True)]
        rewards = [one.reward.total for one in said if one.reward is not None]
        advantages, returns = token_advantages(rewards, kept, self.settings, self.processes)
        self._learn(said, kept, returns)
        filled = iter(advantages)
        return [
            group
            if group.estimator != "gae"
            else replace(
                group,
                rollouts=tuple(
                    replace(one, advantage=_spread(one, next(filled) if any(one.completion_mask) else np.zeros(0)))
                    for one in group.rollouts
                ),
            )
            for group in groups
        ]

    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on. If the critic is sharded, every process must call this."""
        return critic_state(self.model, self._optimizer, self.sharded) | {"steps": self._steps}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore :meth:`state_dict`."""
        load_critic_state(self.model, self._optimizer, state, self.sharded)
        self._steps = state["steps"]

    def _values(self, said: Sequence[Rollout]) -> list[Floats]:
        """(T,) values before each token of each completion."""
        found: dict[int, Floats] = {}
        with imported("torch").no_grad():
            for places in self._pieces(said):
                guesses = self._guess([said[place] for place in places] or [self._filler]).double().cpu().numpy()
                found |= {
                    place: row[: len(said[place].completion_ids)] for place, row in zip(places, guesses, strict=True)
                }
        return [found[place] for place in range(len(said))]

    def _pieces(self, said: Sequence[Rollout]) -> list[list[int]]:
        """Places of rollouts of similar length; if sharded, equally many pieces in all processes, some empty."""
        places = sorted(range(len(said)), key=lambda at: len(said[at].prompt_ids) + len(said[at].completion_ids))
        found = [places[at : at + self._rows] for at in range(0, len(places), self._rows)]
        most = max(self.processes.gather([len(found)])) if self.sharded else len(found)
        return found + [[] for _ in range(most - len(found))]

    @property
    def _filler(self) -> Rollout:
        """What a process computes while others need its part of the weights."""
        return Rollout("", (self._pad,), (self._pad,), (0,), None, "stop")

    def _guess(self, some: Sequence[Rollout]) -> Any:
        """(B, T) values before each token of the completions, padded on the right."""
        torch = imported("torch")
        lengths = [len(one.prompt_ids) + len(one.completion_ids) for one in some]
        ids = torch.full((len(some), max(lengths)), self._pad, device=self._device)
        mask = torch.zeros_like(ids)
        for row, one in enumerate(some):
            ids[row, : lengths[row]] = torch.tensor([*one.prompt_ids, *one.completion_ids])
            mask[row, : lengths[row]] = 1
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self._reduced):
            scores = self.model(input_ids=ids, attention_mask=mask).logits[..., 0].float()
        width = max(len(one.completion_ids) for one in some)
        # The score at a token is the value after it, so the first value is at the prompt's last token.
        places = torch.tensor([[len(one.prompt_ids) - 1] for one in some]) + torch.arange(width)
        return scores.gather(1, places.to(ids.device).clamp(max=ids.size(1) - 1))

    def _learn(self, said: Sequence[Rollout], values: Sequence[Floats], returns: Sequence[Floats]) -> None:
        """Update on the rollouts of all processes as one batch."""
        torch, settings = imported("torch"), self.settings
        tokens = sum(self.processes.gather([sum(map(len, values))]))
        if not tokens:
            return
        self._steps += 1
        for table in self._optimizer.param_groups:
            table["lr"] = settings.learning_rate * min(1.0, self._steps / max(1, settings.warmup_steps))
        recorded, total = [*zip(said, values, returns, strict=True)], 0.0
        pieces = [[recorded[place] for place in places] for places in self._pieces(said)]
        for _ in range(settings.passes):
            self._optimizer.zero_grad()
            total = 0.0
            for piece in pieces:
                loss = (self._loss(piece) if piece else 0.0 * self._guess([self._filler]).sum()) / tokens
                (loss * self.processes.count if self.sharded else loss).backward()  # FSDP takes the mean
                total += loss.item()
            self._exchange()
            norm = torch.nn.utils.clip_grad_norm_(self._trained, 1.0)
            if not torch.isfinite(norm.full_tensor() if self.sharded else norm):
                raise TrainingError("the critic's gradient is not finite: lower critic.learning_rate")
            self._optimizer.step()
        self._optimizer.zero_grad()  # the policy's update needs the memory
        self._observe(total, values, returns)

    def _loss(self, piece: Sequence[tuple[Rollout, Floats, Floats]]) -> Any:
        torch, some = imported("torch"), [one for one, _, _ in piece]
        guesses = self._guess(some)
        before, after, mask = (torch.zeros_like(guesses) for _ in range(3))
        for row, (one, values, returns) in enumerate(piece):
            kept = torch.tensor(one.completion_mask, dtype=torch.bool).nonzero()[:, 0]
            before[row, kept] = torch.tensor(values).to(before)
            after[row, kept] = torch.tensor(returns).to(after)
            mask[row, kept] = 1.0
        return clipped_value_loss(guesses, before, after, mask, self.settings.clip)

    def _exchange(self) -> None:
        """Sum the gradients of all processes; each has divided by the tokens of all."""
        if self.processes.count == 1 or self.sharded:
            return
        torch = imported("torch")
        for weight in self._trained:
            if weight.grad is None:
                weight.grad = torch.zeros_like(weight)
            torch.distributed.all_reduce(weight.grad)

    def _observe(self, loss: float, values: Sequence[Floats], returns: Sequence[Floats]) -> None:
        guessed, came = (np.concatenate([np.zeros(0), *some]) for some in (values, returns))
        parts = self.processes.gather([(loss, guessed, came)])
        guessed, came = (np.concatenate([part[at] for part in parts]) for at in (1, 2))
        variance = float(came.var())
        self.seen = {
            "critic/loss": [sum(part[0] for part in parts)],
            "critic/value": [float(guessed.mean())],
            "critic/return": [float(came.mean())],
        }
        if variance > 0:
            self.seen["critic/explained"] = [1.0 - float((came - guessed).var()) / variance]


def _spread(one: Rollout, advantages: Floats) -> tuple[float, ...]:
    """Advantages of the trained tokens at their places in the completion."""
    whole = np.zeros(len(one.completion_ids))
    whole[np.array(one.completion_mask, bool)] = advantages
    return tuple(whole.tolist())
