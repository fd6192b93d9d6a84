"""The settings of a run of MARCH's game: a TOML file, and ``key=value`` over it.

The defaults are the paper's (Table 7, section 3.1). Left out: a proposer that learns, which the paper's does not.
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
from vouching.rows.read import with_unique_ids


@dataclass(frozen=True, slots=True)
class BlindedSettings:
    """How the game is played; ``sampling.group_size`` is the number of responses to a question."""

    votes: int = 3
    """J: checkers of each response."""
    scale: Scale = "-1/0"
    """How faults become a reward."""
    match: Match = "units"
    """How answers are compared; "released" is the paper's code."""
    min_questions: int = 3
    """k: questions that a response with as many numbers must be asked; 0 is without that rule."""
    min_numbers: int = 0
    """Numbers that a response must state; where every question asks for some, 1 keeps the solver from silence."""
    checker_learns: bool = True
    """Whether the checker is trained as well, or the solver alone."""
    style: Style = "plain"
    """How the solver is asked: "plain", "cot" or "few-shot"."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        require(self, above=("votes",))
        _ = self.rules

    @property
    def rules(self) -> BlindedRules:
        """How an audit becomes a reward."""
        return BlindedRules(self.scale, self.match, self.min_questions, self.min_numbers)


def _paper() -> SamplingSettings:
    return SamplingSettings(1, temperature=0.6, top_p=1.0, prompt_tokens=24_567, completion_tokens=8_192)


@dataclass(frozen=True, slots=True)
class BlindedRunConfig(GrpoConfig):
    """What is trained, on what, and how; ``rows`` are questions with documents.

    >>> config = BlindedRunConfig(rows=("questions.jsonl",), model="meta-llama/Llama-3.1-8B-Instruct")
    >>> config.loss, config.game.votes, config.critic.discount
    ('token_sum', 3, 0.998)
    """

    compares: ClassVar[bool] = False
    """A critic is what rewards are compared with."""
    loss: Loss = "token_sum"
    """Which loss; the paper's is eq. 8."""
    learning_rate: float = 1e-6
    """Highest rate of the policy."""
    epochs: float = 1.0
    """Passes over the rows."""
    batch_prompts: int = 32
    """Questions of a step, all processes together."""
    sampling: SamplingSettings = field(default_factory=_paper)
    """How rollouts are drawn."""
    game: BlindedSettings = field(default_factory=BlindedSettings)
    """How the game is played."""
    critic: CriticSettings = field(default_factory=CriticSettings)
    """The critic."""

    def plan(self, preference: Preference | None = None) -> Plan:
        """MARCH's game, solver and blind checker as one; ``preference`` adds a reward of your own to the solver's.

        The best checkpoint is that whose answers the embedded auditor bears out most often, which learns nothing.
        """
        settings = self.game
        game = BlindedGame(
            self.sampling.group_size, settings.votes, settings.rules, settings.checker_learns,
            settings.style, preference, audit_watch(open_blinded()),
        )  # fmt: skip
        return Plan(game, read_questions(self.rows), read_questions(self.dev), best_by="oracle/supported")


def read_questions(paths: Sequence[str]) -> list[dict[str, Any]]:
    """Questions with documents, in order. Raises InputError for one that is unfit, or named twice."""
    return with_unique_ids(read_files(paths, question_row, "question and sources"))


def question_row(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A row whose question and documents can be read.

    >>> question_row({"question": "How long?", "source": "6 km."}, "row-1")["id"]
    'row-1'
    """
    read_row(fields)
    return {**fields, "id": name}
