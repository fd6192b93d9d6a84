"""Settings of MARCH's game, with the paper's defaults (Table 7, section 3.1).

Not supported: training the proposer, which the paper does not train either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from vouching.answering.prompt import Style
from vouching.judging.matching import Match
from vouching.methods.blinded.game import BlindedGame, Preference, audit_watch, read_row
from vouching.methods.blinded.reward import BlindedRules, Scale
from vouching.methods.blinded.verify import open_blinded
from vouching.methods.read import read_files
from vouching.methods.training import CriticSettings, GrpoConfig, Loss, Plan, SamplingSettings, require
from vouching.prompts import Wording, check_wording
from vouching.rows.read import with_unique_ids


@dataclass(frozen=True, slots=True)
class BlindedSettings:
    """How the game is played; ``sampling.group_size`` is the number of responses to a question."""

    votes: int = 3
    """J: checkers of each response."""
    scale: Scale = "-1/0"
    """How faults become a reward; the best published results come from "-1/0"."""
    match: Match = "units"
    """How answers are compared; "released" is the paper's code."""
    min_questions: int = 3
    """k: questions for a response that states as many numbers; 0 turns the rule off."""
    fine_missing: bool = True
    """Whether questions missing to k are faults; without, k is only asked for in the prompt, as in the paper."""
    min_numbers: int = 0
    """Numbers that a response must state; 1 prevents empty answers where every question asks for a number."""
    on_topic: bool = False
    """Whether a question about a name that the user's question does not have is a fault; not in the paper."""
    wording: Wording = "ours"
    """Prompts of proposer and checker: ours, or as the paper prints them (App. A.2 and A.3)."""
    checker_learns: bool = True
    """Whether to train the checker too, not the solver alone."""
    style: Style = "plain"
    """Prompt of the solver: "plain", "cot", "few-shot", or as the paper prints it (App. A.1), "paper"."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        require(self, above=("votes",))
        check_wording(self.wording)
        _ = self.rules

    @property
    def rules(self) -> BlindedRules:
        """How an audit becomes a reward."""
        required = (self.min_questions, self.min_numbers, self.on_topic, self.fine_missing)
        return BlindedRules(self.scale, self.match, *required)


def _paper() -> SamplingSettings:
    return SamplingSettings(1, temperature=0.6, top_p=1.0, prompt_tokens=24_567, completion_tokens=8_192)


@dataclass(frozen=True, slots=True)
class BlindedRunConfig(GrpoConfig):
    """Settings of a training run; ``rows`` are questions with documents."""

    compares: ClassVar[bool] = False
    """Rewards are compared with a critic's values, not within a group."""
    loss: Loss = "token_sum"
    """How the clipped surrogate is averaged; "token_sum" is eq. 8 of the paper."""
    learning_rate: float = 1e-6
    """Peak learning rate of the policy."""
    epochs: float = 1.0
    """Passes over the rows."""
    batch_prompts: int = 32
    """Questions of a step, all processes together."""
    sampling: SamplingSettings = field(default_factory=_paper)
    """How rollouts are sampled: one response to a question, temperature 0.6, the paper's lengths."""
    game: BlindedSettings = field(default_factory=BlindedSettings)
    """How the game is played."""
    critic: CriticSettings = field(default_factory=CriticSettings)
    """The critic and its advantages."""

    def plan(self, preference: Preference | None = None) -> Plan:
        """MARCH's game with solver and checker as one policy; ``preference`` adds a second reward for the solver.

        The best checkpoint is the one whose answers the embedded auditor, which is not trained, supports most often.
        """
        settings = self.game
        game = BlindedGame(
            self.sampling.group_size,
            settings.votes,
            settings.rules,
            settings.checker_learns,
            settings.style,
            preference,
            audit_watch(open_blinded()),
            settings.wording,
        )
        return Plan(game, read_questions(self.rows), read_questions(self.dev), best_by="oracle/supported")


def read_questions(paths: Sequence[str]) -> list[dict[str, Any]]:
    """Questions with documents, in order. Raises InputError for an unusable row or a repeated id."""
    return with_unique_ids(read_files(paths, question_row, "question and sources"))


def question_row(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A row whose question and documents can be read."""
    read_row(fields)
    return {**fields, "id": name}
