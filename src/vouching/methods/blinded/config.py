"""The settings of a run of MARCH's game: a TOML file, and ``key=value`` over it.

The defaults are the paper's (Table 7, section 3.1). Left out: a proposer that learns, which the paper's does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from vouching.answering.prompt import Style
from vouching.judging.matching import Match
from vouching.methods.blinded.reward import BlindedRules, Scale
from vouching.methods.training import GrpoConfig, Loss, SamplingSettings, require
from vouching.settings import read_settings
from vouching.train.critic import CriticSettings


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
        require(self, above=("votes",), at_least=("min_numbers",))
        BlindedRules(self.scale, self.match, self.min_questions)

    @property
    def rules(self) -> BlindedRules:
        """How an audit becomes a reward."""
        return BlindedRules(self.scale, self.match, self.min_questions)


def _paper() -> SamplingSettings:
    return SamplingSettings(1, temperature=0.6, top_p=1.0, prompt_tokens=24_567, completion_tokens=8_192)


@dataclass(frozen=True, slots=True)
class BlindedConfig(GrpoConfig):
    """What is trained, on what, and how; ``rows`` are questions with documents.

    >>> config = BlindedConfig(rows=("questions.jsonl",), model="meta-llama/Llama-3.1-8B-Instruct")
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


def read_config(path: Path, overrides: Sequence[str] = ()) -> BlindedConfig:
    r"""The settings of a TOML file with ``key=value`` over them; see ``settings.read_settings``.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.toml"
    >>> _ = path.write_text('rows = ["questions.jsonl"]\nmodel = "models/8b"', encoding="utf-8")
    >>> read_config(path, ["game.votes=5", "critic.trace=0.95"]).game.votes
    5
    """
    return read_settings(BlindedConfig, path, overrides)
