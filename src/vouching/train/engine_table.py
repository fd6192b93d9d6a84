"""Plays the game of a run: rows in, groups with advantages and the numbers of the step out. No torch.

DAPO (section 3.2) samples until every group of the batch has unequal rewards. Here a step retries a given number of
times; groups that are flat after that stay and give no gradient. The extra rows come from a stream that all processes
share; its position is part of the state. Not supported: keeping surplus samples for the next step.

Numbers have the names of :mod:`vouching.train.run_folder`. Values, not means, are gathered from all processes, so that
a mean is over all rollouts. What the update did (loss, entropy, divergence) is logged by the engine.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, TypeAlias

import numpy as np

from vouching.methods.base import MIN_GROUP, Game, Play, Processes, Row, Sampler, Stateful
from vouching.methods.training import GrpoConfig
from vouching.models.running import run
from vouching.train.advantages import filled, is_flat
from vouching.train.critic import Critic
from vouching.types import Group, Rollout

Observed: TypeAlias = Mapping[str, Sequence[float]]
"""Values by name, one for each rollout or group that has one."""
_NEARLY = 0.95
"""Share of the highest reward from which a group is at the top: a stated confidence, for example, is never quite 1."""


def observe(plays: Sequence[Play], trained: Sequence[Group], top: float | None = None) -> dict[str, list[float]]:
    """What one process saw in one step: values by name.

    Rewards and lengths are those of everything played: a mean over groups chosen for their spread would not be the
    policy's.

    Args:
        plays: all that was played, also what is not trained on.
        trained: the groups that are, with their advantages.
        top: the highest reward of the game, or None if unknown.
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
    role, whole = group.role, [one for one in group.rollouts if one.finish_reason != "thought"]
    rewards = [one.reward for one in whole if one.reward is not None]
    seen[f"groups/{role}/count"].append(1)
    seen[f"groups/{role}/flat"].append(is_flat(group))
    if rewards and group.estimator in ("group", "pair"):  # other estimators do not compare rewards
        seen[f"reward/{role}/std"].append(float(np.std([reward.total for reward in rewards])))
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
    seen[f"length/{role}/thought"].extend(one.finish_reason == "thought" for one in group.rollouts)


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


@dataclass(frozen=True, slots=True)
class Round:
    """One process's part of a step."""

    plays: tuple[Play, ...]
    groups: tuple[Group, ...]
    """What to learn from, with advantages."""
    observed: Mapping[str, Sequence[float]]
    """What was seen; see ``engine_figures``."""

    @property
    def rollouts(self) -> list[Rollout]:
        """Of all groups."""
        return [one for group in self.groups for one in group.rollouts]


class Table:
    """Plays a game step by step.

    Args:
        config: the settings.
        game: what is played.
        rows: what it is played on.
        sampler: samples completions.
        processes: who trains together.
        critic: computes the advantages of groups of "gae"; None where there are none.
    """

    def __init__(
        self,
        config: GrpoConfig,
        game: Game,
        rows: Sequence[Row],
        sampler: Sampler,
        processes: Processes | None = None,
        critic: Critic | None = None,
    ) -> None:
        self.config, self.game, self.rows, self.sampler = config, game, rows, sampler
        self.processes, self.critic = processes or Processes(), critic
        self._drawn = 0
        if isinstance(game, Stateful):
            game.join(self.processes)

    def state_dict(self) -> dict[str, Any]:
        """What exact resuming needs: how many extra rows were drawn by all processes, and the state of the game."""
        return {"drawn": self._drawn} | ({"game": self.game.state_dict()} if isinstance(self.game, Stateful) else {})

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore :meth:`state_dict`."""
        self._drawn = state["drawn"]
        if isinstance(self.game, Stateful):
            self.game.load_state_dict(state["game"])

    def play(self, rows: Sequence[Row]) -> Round:
        """One step of this process."""
        plays = [run(self.game.play(self.sampler, rows))]
        groups, again = [*plays[0].groups], 0
        for _ in range(self.config.sampling.resample):
            # All processes play equally many rows: sampling may need all of them.
            wanted = max(self.processes.gather([_rows_for(groups, len(rows))]))
            if not wanted:
                break
            plays.append(run(self.game.play(self.sampler, self.other_rows(wanted))))
            again += wanted
            _replace_flat(groups, plays[-1].groups)
        groups, lost = without_cut_thoughts(groups)
        guessed = groups if self.critic is None else self.critic(groups)
        trained, seen = filled(guessed, self.config.spread), {} if self.critic is None else self.critic.seen
        observed = observe(plays, trained, top_of(self.game)) | seen | {"groups/resampled": [again]}
        observed["groups/dropped"] = [*observed["groups/dropped"], lost]
        return Round(tuple(plays), trained, observed)

    def other_rows(self, count: int) -> list[Row]:
        """The next ``count`` rows for this process, from the stream that all processes share."""
        first = self._drawn + count * self.processes.index
        self._drawn += count * self.processes.count
        places = [divmod(at, len(self.rows)) for at in range(first, first + count)]
        orders = {turn: self._order(turn) for turn, _ in places}
        return [self.rows[orders[turn][at]] for turn, at in places]

    def _order(self, turn: int) -> list[int]:
        return np.random.default_rng([self.config.seed, turn]).permutation(len(self.rows)).tolist()


def without_cut_thoughts(groups: Sequence[Group]) -> tuple[list[Group], int]:
    """Groups without rollouts whose thought was cut off, and how many groups were dropped for it.

    What such a policy would have replied is unknown: its reward is that of an empty reply, which is not its failure. A
    pair without one of its sides, and a group with fewer than two members to compare, teach nothing.
    """
    kept: list[Group] = []
    for group in groups:
        whole = tuple(one for one in group.rollouts if one.finish_reason != "thought")
        least = {"pair": len(group.rollouts), "group": MIN_GROUP}.get(group.estimator, 1)
        if len(whole) == len(group.rollouts):
            kept.append(group)
        elif len(whole) >= least:
            kept.append(replace(group, rollouts=whole))
    return kept, len(groups) - len(kept)


def top_of(game: Game) -> float | None:
    """The highest reward of a game, or None if it states none."""
    return getattr(game, "top", None)


def _rows_for(groups: Sequence[Group], rows: int) -> int:
    """How many rows bring as many groups per role as are flat, at the rate of the ``rows`` before."""
    all_of, flat = (Counter(group.role for group in some) for some in (groups, filter(is_flat, groups)))
    return max((min(count, ceil(count * rows / all_of[role])) for role, count in flat.items()), default=0)


def _replace_flat(groups: list[Group], spare: Sequence[Group]) -> None:
    """Replace flat groups by groups of the same role with unequal rewards."""
    for group in spare:
        places = [at for at, old in enumerate(groups) if is_flat(old) and old.role == group.role]
        if places and not is_flat(group):
            groups[places[0]] = group
