"""The settings of a run of the checklist game: a TOML file, and ``key=value`` over it.

The defaults are Soft-SVeRL's, J = 3 (section 6.2), where it publishes them. Left out: a length of answers to items
apart from that of responses; both have ``sampling.completion_tokens``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vouching.errors import ConfigError
from vouching.judging.votes import Aggregate
from vouching.methods.checklist.reward import ChecklistRules
from vouching.methods.checklist.self_game import SelfVerification
from vouching.methods.checklist.verify import ChecklistConfig
from vouching.methods.training import GrpoConfig, require
from vouching.settings import read_settings


@dataclass(frozen=True, slots=True)
class ChecklistSettings:
    """Who judges, how votes become rewards, and what the policy learns besides. Raises ConfigError out of range."""

    judge: str = ""
    """Name of the model that judges, such as http://host:8000/v1#name; empty for the policy itself."""
    holistic: bool = False
    """Whether an outside judge is asked about the whole and not item by item."""
    judge_tokens: int = 1024
    """Length of its answers; a model that thinks needs more."""
    votes: int = 3
    """J: answers to each item."""
    aggregate: Aggregate = "threshold"
    """How votes become a judgment."""
    tau: float = 0.75
    """tau_plus: share of yes from which an item passes, and goes to replay as a yes."""
    tau_minus: float = 0.375
    """Share of yes up to which an item goes to replay as a no."""
    beta: float = 0.5
    """What the soft score counts where not all items pass; not published."""
    lambda_v: float = 1.0
    """Weight of learning to judge; not published. 0 for none."""
    lambda_p: float = 0.1
    """Weight of the penalty on yes for failed responses; 0 for none."""
    gold: tuple[str, ...] = ()
    """Files of labelled items, as ``vouch data gold`` writes them."""
    gold_share: float = 0.5
    """Share of the items to learn from that are gold; the others are replayed. Not published."""
    replay: int = 4096
    """Replayed items that are kept, the newest; 0 learns from gold alone. Not published."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range, or settings that contradict each other."""
        require(self, above=("judge_tokens", "votes"), at_least=("lambda_v", "lambda_p", "replay"))
        _ = self.rules
        if not 0 <= self.gold_share <= 1:
            raise ConfigError(f"gold_share must be in [0, 1], got {self.gold_share}")
        if self.judge and self.gold:
            raise ConfigError(
                f"the judge is {self.judge!r}, who learns nothing, and there is gold to learn from: leave out one"
            )
        if self.holistic and not self.judge:
            raise ConfigError("a policy judges itself item by item: set judge, or holistic=false")
        if not self.judge and self.lambda_v and not self.gold:
            raise ConfigError(
                "gold names no file, and the policy would learn to judge from its own answers alone: give what  vouch "
                "data gold  wrote, set checklist.lambda_v=0, or name a model in checklist.judge"
            )

    @property
    def rules(self) -> ChecklistRules:
        """How votes become rewards."""
        return ChecklistRules(self.tau, self.tau_minus, self.beta, self.aggregate)

    @property
    def self_verification(self) -> SelfVerification:
        """How the policy judges itself."""
        return SelfVerification(self.votes, self.lambda_v, self.lambda_p, self.rules)

    def outside(self, seed: int) -> ChecklistConfig:
        """How an outside judge is asked."""
        return ChecklistConfig(
            self.tau, self.votes, self.aggregate, seed=seed, max_tokens=self.judge_tokens, holistic=self.holistic
        )


@dataclass(frozen=True, slots=True)
class ChecklistRunConfig(GrpoConfig):
    """What is trained, on what, and how; ``rows`` are instructions with checklists.

    >>> settings = ChecklistSettings(gold=("gold.jsonl",))
    >>> ChecklistRunConfig(rows=("checklists.jsonl",), model="policy", checklist=settings).checklist.votes
    3
    """

    checklist: ChecklistSettings = field(default_factory=ChecklistSettings)
    """What is the game's own; there is none without gold, a judge, or lambda_v = 0."""


def read_config(path: Path, overrides: Sequence[str] = ()) -> ChecklistRunConfig:
    r"""The settings of a TOML file with ``key=value`` over them; see ``settings.read_settings``.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.toml"
    >>> text = 'rows = ["checklists.jsonl"]\nmodel = "policy"\n[checklist]\njudge = "http://localhost:8000/v1#judge"'
    >>> _ = path.write_text(text, encoding="utf-8")
    >>> read_config(path, ["checklist.votes=1"]).checklist.votes
    1
    """
    return read_settings(ChecklistRunConfig, path, overrides)
