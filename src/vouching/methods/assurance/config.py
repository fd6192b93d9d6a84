"""The settings of a run of the assurance game: a TOML file, and ``key=value`` over it.

The defaults of ``[game]`` are DPA-GRPO's (App. E). Not supported: a base model for each of the two policies, which are
adapters on one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from vouching.errors import ConfigError
from vouching.methods.assurance.game import AssuranceGame
from vouching.methods.assurance.reward import AssuranceCosts
from vouching.methods.assurance.task import read_work, units_of
from vouching.methods.training import GrpoConfig, Plan, require


@dataclass(frozen=True, slots=True)
class AssuranceSettings:
    """How the game is played; ``sampling`` says how drafts, reviews and choices are drawn."""

    candidates: int = 5
    """K: revisions that are drawn after a case."""
    revision_temperature: float = 0.7
    """Sampling temperature of the revisions."""
    oracle: bool = True
    """Whether gold selects the revision in training; it never does in an evaluation."""
    proposals: bool = True
    """Whether drafts are trained on: ``sampling.group_size`` per unit, with S_x as their reward."""
    intervention_cost: float = 0.0
    """Subtracted from the verifier's reward for a case."""
    revision_cost: float = 0.0
    """Subtracted from the generator's reward for a revision."""
    alone: bool = False
    """Whether the generator plays alone: the paper's baseline."""
    margin: float = 0.0
    """Nats by which the better reply of a pair must be likelier than the worse one for the pair to stop being trained
    on; 0 for never, as in the paper."""

    def __post_init__(self) -> None:
        require(self, above=("candidates", "revision_temperature"), at_least=("margin",))
        AssuranceCosts(self.intervention_cost, self.revision_cost)
        if self.alone and not self.proposals:
            raise ConfigError("game.alone=true and game.proposals=false leave nothing to train: change one of them")


@dataclass(frozen=True, slots=True)
class AssuranceRunConfig(GrpoConfig):
    """A training run; ``rows`` are tasks with their right values."""

    game: AssuranceSettings = field(default_factory=AssuranceSettings)
    """How the game is played."""

    def plan(self) -> Plan:
        """DPA-GRPO's game: two adapters, pairs, groups of drafts; evaluation never selects by gold."""
        rows, dev = read_work(self.rows), read_work(self.dev)
        game = self.played(max(units_of(rows), units_of(dev)))
        return Plan(game, rows, dev, best_by="oracle/submitted", scored_by=replace(game, oracle=False))

    def played(self, turns: int) -> AssuranceGame:
        """The game to train on, for tasks of at most ``turns`` units."""
        return AssuranceGame(
            self.sampling.group_size,
            self.game.candidates,
            self.game.revision_temperature,
            AssuranceCosts(self.game.intervention_cost, self.game.revision_cost),
            self.game.proposals,
            self.game.oracle,
            self.game.alone,
            turns=turns,
            margin=self.game.margin,
        )
