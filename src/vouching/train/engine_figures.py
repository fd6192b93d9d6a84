"""What one step of a game looked like, as numbers: rewards by part, advantages, groups, lengths, failures.

The names are those of :mod:`vouching.train.runlog`. Each process observes its own rollouts; the values, not their
means, are put together, so that a mean over processes is the mean over all rollouts. Left out: what the update did
(loss, entropy, divergence); the engine knows that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from vouching.advantages import is_flat
from vouching.games.base import Play
from vouching.types import Group, Rollout

Observed: TypeAlias = Mapping[str, Sequence[float]]
"""Values by name, one for each rollout or group that has one."""
_NEARLY = 0.95
"""Share of the highest reward from which a group is at the top: a stated confidence, say, never is quite 1."""


def observe(plays: Sequence[Play], trained: Sequence[Group], top: float | None = None) -> dict[str, list[float]]:
    """What one process saw in one step.

    Args:
        plays: all that was played, also what is not trained on.
        trained: the groups that are, with their advantages.
        top: the highest reward of the game; None if it has none that is known.

    Returns:
        Values by name. Rewards and lengths are those of everything played: a mean over groups that were chosen for
        their spread would not be the policy's.
    """
    seen: defaultdict[str, list[float]] = defaultdict(list)
    for play in plays:
        seen["judge/failed"].append(len(play.failures))
        seen["groups/dropped"].append(play.dropped)
        for name, values in play.measures.items():
            seen[name].extend(values)
        for group in play.groups:
            _observe_group(group, seen, top)
    for group in trained:
        ends = [end for one in group.rollouts for end in _ends(one)]
        seen[f"advantage/{group.role}/least"].append(min(ends))
        seen[f"advantage/{group.role}/greatest"].append(max(ends))
    return dict(seen)


def figures(observed: Sequence[Observed]) -> dict[str, float]:
    """The numbers of a step, over all processes.

    >>> figures([{"reward/verifier/total": [1.0, 0.0], "judge/failed": [1]}, {"judge/failed": [2]}])
    {'judge/failed': 3.0, 'reward/verifier/total': 0.5}
    """
    names = sorted({name for one in observed for name in one})
    values = {name: [value for one in observed for value in one.get(name, ())] for name in names}
    return {name: _reduced(name, found) for name, found in values.items() if found}


def _observe_group(group: Group, seen: defaultdict[str, list[float]], top: float | None) -> None:
    role, rewards = group.role, [one.reward for one in group.rollouts if one.reward is not None]
    seen[f"groups/{role}/count"].append(1)
    seen[f"groups/{role}/flat"].append(is_flat(group))
    if group.estimator in ("group", "pair"):  # elsewhere rewards are not compared with each other
        seen[f"reward/{role}/deviation"].append(float(np.std([reward.total for reward in rewards])))
        if top is not None:
            learnt = min(reward.total for reward in rewards) >= _NEARLY * top
            seen[f"groups/{role}/top"].append(learnt)
            seen[f"groups/{role}/stuck"].append(is_flat(group) and not learnt)
    for reward in rewards:
        seen[f"reward/{role}/total"].append(reward.total)
        for part, value in reward.parts.items():
            seen[f"reward/{role}/{part}"].append(value)
    seen[f"length/{role}/mean"].extend(len(one.completion_ids) for one in group.rollouts)
    seen[f"length/{role}/cut"].extend(one.finish_reason == "length" for one in group.rollouts)


def _ends(one: Rollout) -> tuple[float, ...]:
    if one.advantage is None:
        return (0.0,)
    return (min(one.advantage), max(one.advantage)) if isinstance(one.advantage, tuple) else (one.advantage,)


def _reduced(name: str, values: Sequence[float]) -> float:
    match name.rsplit("/", 1)[-1]:
        case "least":
            return float(min(values))
        case "greatest":
            return float(max(values))
        case "failed" | "dropped" | "count" | "resampled":
            return float(sum(values))
        case _:
            return float(np.mean(values))
