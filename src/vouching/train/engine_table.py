"""The game of a run at its table: rows in, groups with advantages out, flat groups played again. No torch.

DAPO (section 3.2) draws until every group of the batch has unequal rewards; here a step tries a given number of times,
and what is flat after that stays in and teaches nothing. Rows that are drawn for it come from a stream of their own,
which all processes share and whose place is state. Left out: keeping what was drawn too much for the next step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from vouching.advantages import filled, is_flat
from vouching.games.base import Game, Play, Processes, Row, Sampler, Stateful
from vouching.models.running import run
from vouching.train.critic import Critic
from vouching.train.engine_figures import observe
from vouching.train.grpo_config import GrpoConfig
from vouching.types import Group, Rollout


@dataclass(frozen=True, slots=True)
class Round:
    """What one process has of a step."""

    plays: tuple[Play, ...]
    """All that was played."""
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
        sampler: who speaks.
        processes: who trains together.
        critic: gives the advantages of groups of "gae"; None where there are none.
    """

    def __init__(
        self, config: GrpoConfig, game: Game, rows: Sequence[Row], sampler: Sampler,
        processes: Processes | None = None, critic: Critic | None = None,
    ) -> None:  # fmt: skip
        self.config, self.game, self.rows, self.sampler = config, game, rows, sampler
        self.processes, self.critic = processes or Processes(), critic
        self._drawn = 0
        if isinstance(game, Stateful):
            game.join(self.processes)

    def state_dict(self) -> dict[str, Any]:
        """What a run needs to go on alike: how many rows were drawn again, by all, and what the game remembers."""
        return {"drawn": self._drawn} | ({"game": self.game.state_dict()} if isinstance(self.game, Stateful) else {})

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from :meth:`state_dict`."""
        self._drawn = state["drawn"]
        if isinstance(self.game, Stateful):
            self.game.load_state_dict(state["game"])

    def play(self, rows: Sequence[Row]) -> Round:
        """One step of this process."""
        plays = [run(self.game.play(self.sampler, rows))]
        groups, again = [*plays[0].groups], 0
        for _ in range(self.config.sampling.resample):
            # All processes play equally many, as sampling may need all of them.
            wanted = max(self.processes.gather([_rows_for(groups, len(rows))]))
            if not wanted:
                break
            plays.append(run(self.game.play(self.sampler, self.other_rows(wanted))))
            again += wanted
            _replace_flat(groups, plays[-1].groups)
        guessed = groups if self.critic is None else self.critic(groups)
        trained, seen = filled(guessed, self.config.spread), {} if self.critic is None else self.critic.seen
        observed = observe(plays, trained, top_of(self.game)) | seen | {"groups/resampled": [again]}
        return Round(tuple(plays), trained, observed)

    def other_rows(self, count: int) -> list[Row]:
        """The next rows of the stream that all processes share: ``count`` for this one, and others for the others."""
        first = self._drawn + count * self.processes.index
        self._drawn += count * self.processes.count
        places = [divmod(at, len(self.rows)) for at in range(first, first + count)]
        orders = {turn: self._order(turn) for turn, _ in places}
        return [self.rows[orders[turn][at]] for turn, at in places]

    def _order(self, turn: int) -> list[int]:
        return np.random.default_rng([self.config.seed, turn]).permutation(len(self.rows)).tolist()


def top_of(game: Game) -> float | None:
    """The highest reward that a game says that there is; None if it says none."""
    return getattr(game, "top", None)


def _rows_for(groups: Sequence[Group], rows: int) -> int:
    """Rows that bring as many groups of each role as are flat, if they bring as many as the ``rows`` before did."""
    all_of, flat = (Counter(group.role for group in some) for some in (groups, filter(is_flat, groups)))
    return max((min(count, ceil(count * rows / all_of[role])) for role, count in flat.items()), default=0)


def _replace_flat(groups: list[Group], spare: Sequence[Group]) -> None:
    """Put groups with unequal rewards where flat ones of the same role stand."""
    for group in spare:
        places = [at for at, old in enumerate(groups) if is_flat(old) and old.role == group.role]
        if places and not is_flat(group):
            groups[places[0]] = group
