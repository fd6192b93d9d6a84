"""Settings that training runs share, each a table of the TOML file; those of every GRPO run; and what a run plays.

The defaults are SEVA's (Tables 8 and 9). A method adds its own in a class that inherits :class:`GrpoConfig` and says
what is played. Not supported: how many processes there are and how the model is cut among them, which ``accelerate
launch`` reads from a file of its own. What no two recipes differ in is a constant beside its use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from vouching.errors import ConfigError
from vouching.methods.base import Game, Row

Spread: TypeAlias = Literal["population", "unbiased", "none"]
"""What a difference from the mean is divided by: the standard deviation with n, with n - 1, or nothing (Dr. GRPO)."""
OnAlarm: TypeAlias = Literal["warn", "stop"]
"""What a run does when a monitor raises an alarm: tell it, or save and end as well."""


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """Adapters; the defaults are SEVA's (Table 8), but for the rank.

    >>> LoraSettings(rank=64).alpha
    128.0
    """

    rank: int = 0
    """Of the adapters; 0 trains all weights."""
    alpha: float = 128.0
    """Their scale, divided by the rank."""
    dropout: float = 0.05
    """Share of their input that is dropped in training."""
    modules: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    """Names of the layers that get one."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        require(self, above=("alpha",), at_least=("rank",))
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"lora.dropout must be from 0 to below 1, got {self.dropout}")
        if not self.modules:
            raise ConfigError('lora.modules names no layer: give some, as in ["q_proj", "v_proj"]')


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """How a run is watched and kept."""

    on_alarm: OnAlarm = "warn"
    """What an alarm of a monitor does."""
    evaluate_every: int = 50
    """Steps between evaluations on ``dev``."""
    checkpoint_every: int = 25
    """Steps between checkpoints."""
    keep: int = 2
    """Checkpoints that are kept, the best one among them; that one and the last are kept in any case."""
    transcripts: int = 2
    """Rollouts of a step whose texts are kept."""
    report_to: tuple[str, ...] = ()
    """Where TRL reports to as well: "tensorboard", "wandb"."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        require(self, above=("evaluate_every", "checkpoint_every", "keep"), at_least=("transcripts",))


@dataclass(frozen=True, slots=True)
class PowerSettings:
    """What energy is estimated from: watts x hours x PUE x carbon intensity. The defaults are SEVA's (App. N).

    >>> power = PowerSettings()
    >>> round(power.kwh(4), 2), round(power.kwh(4) * power.intensity, 2)  # Table 23: 3B SFT on two RTX 6000 Ada
    (1.68, 0.69)
    """

    watts: float = 300.0
    """Thermal design power of a device; 300 is an RTX 6000 Ada, 400 an A100, 700 an H100."""
    pue: float = 1.4
    """Power usage effectiveness of the room: 1.4 is a typical academic cluster."""
    intensity: float = 0.41
    """Kilograms of CO2e per kWh; .41 is the mean of the United States, eGRID 2023."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        require(self, at_least=("watts", "intensity"))
        if self.pue < 1:
            raise ConfigError(f"power.pue must be at least 1, got {self.pue}")

    def kwh(self, device_hours: float) -> float:
        """Energy of so many hours, summed over devices."""
        return self.watts * device_hours * self.pue / 1000


def require(settings: Any, above: Sequence[str] = (), at_least: Sequence[str] = ()) -> None:
    """See that numbers of settings are above 0, or at least 0. Raises ConfigError, naming the first that is not.

    >>> require(LoraSettings(), above=("rank",))
    Traceback (most recent call last):
        ...
    vouching.errors.ConfigError: rank must be above 0, got 0
    """
    for name in above:
        if not getattr(settings, name) > 0:
            raise ConfigError(f"{name} must be above 0, got {getattr(settings, name)}")
    for name in at_least:
        if not getattr(settings, name) >= 0:
            raise ConfigError(f"{name} must be at least 0, got {getattr(settings, name)}")


@dataclass(frozen=True, slots=True)
class CriticSettings:
    """The critic and its advantages. MARCH prints the rate, the warm-up and gamma; the rest are verl's defaults."""

    model: str = ""
    """Where it starts; empty for where the policy does."""
    learning_rate: float = 1e-5
    """Highest rate."""
    warmup_steps: int = 10
    """Steps over which the rate rises."""
    discount: float = 0.998
    """gamma."""
    trace: float = 1.0
    """lambda."""
    clip: float = 0.5
    """How far a guess may move from what it was before the update without the loss telling it to come back."""
    passes: int = 1
    """Updates by the rollouts of a step."""
    whiten: bool = True
    """Whether the advantages of a step get mean 0 and variance 1."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        require(self, above=("learning_rate", "clip", "passes"), at_least=("warmup_steps",))
        for name in ("discount", "trace"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"critic.{name} must be in [0, 1], got {getattr(self, name)}")


Loss: TypeAlias = Literal["grpo", "dapo", "gspo", "dr_grpo", "bnpo", "token_sum"]
"""How the clipped surrogate is averaged; gspo takes the ratio of whole sequences; token_sum is a
sum over the tokens of each completion and a mean over completions, as in MARCH's eq. 8 and DPA-GRPO's pairs."""
Sampling: TypeAlias = Literal["hf", "vllm", "vllm-server"]
"""Who samples: the model itself, vLLM in the same process, or a vLLM server."""


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """How rollouts are drawn."""

    group_size: int = 8
    """G: rollouts of a prompt."""
    temperature: float = 1.2
    """Of the sampling."""
    top_p: float = 0.95
    """Share of the probability that is sampled from."""
    prompt_tokens: int = 768
    """Tokens of a prompt, at most; rows with longer ones are left out and counted."""
    completion_tokens: int = 512
    """Tokens of a completion, at most."""
    engine: Sampling = "hf"
    """Who samples."""
    server: str = ""
    """Address of the vLLM server, as in http://host:8000."""
    resample: int = 0
    """DAPO's dynamic sampling: how often a step may draw again in place of groups whose rewards are all equal."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        require(self, above=("group_size", "temperature", "prompt_tokens", "completion_tokens"), at_least=("resample",))
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p must be above 0 and at most 1, got {self.top_p}")
        if (self.engine == "vllm-server") != bool(self.server):
            raise ConfigError(f"engine is {self.engine!r} and server {self.server!r}: a vllm-server needs an address")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run plays."""

    game: Game
    """The game."""
    rows: Sequence[Row]
    """What it is played on."""
    dev: Sequence[Row]
    """What it is only scored on; may be empty."""
    best_by: str
    """The figure on ``dev`` by which the best checkpoint is chosen."""
    scored_by: Game | None = None
    """What is played on ``dev``; None for the same game."""


@dataclass(frozen=True, slots=True)
class GrpoConfig:
    """What is trained, on what, and how.

    >>> GrpoConfig(rows=("prompts.jsonl",), model="runs/sft/model").sampling.group_size
    8
    """

    compares: ClassVar[bool] = True
    """Whether rewards are compared in groups; not where a critic is what they are compared with."""
    rows: tuple[str, ...]
    """Files of what is played on. Paths are relative to the working folder."""
    model: str
    """Where to start: a folder, also of adapters, or a name on the Hugging Face hub."""
    dev: tuple[str, ...] = ()
    """Files of what is only scored."""
    loss: Loss = "grpo"
    """Which loss."""
    clip: tuple[float, float] = (0.2, 0.2)
    """How far the ratio of probabilities may fall below 1 and rise above it; DAPO takes 0.2 and 0.28."""
    kl: float = 0.001
    """Factor beta on the divergence from where the run started; 0 for none."""
    kl_estimator: Literal["k1", "k1-loss", "k3"] = "k3"
    """Estimator of the divergence; "k1-loss" is k1 in the loss, whose gradient has no reference and does not anchor."""
    spread: Spread = "unbiased"
    """What a reward's distance from the mean of its group is divided by: SEVA's trainer takes the unbiased standard
    deviation; "none" is Dr. GRPO's."""
    learning_rate: float = 2e-6
    """Highest rate."""
    weight_decay: float = 0.0
    """Of AdamW."""
    schedule: Literal["constant", "cosine", "linear"] = "constant"
    """How the rate goes on after the warm-up."""
    warmup: float = 0.0
    """Share of the steps over which the rate rises."""
    epochs: float = 5.0
    """Passes over the rows."""
    max_steps: int = 0
    """Steps to stop after, for trials; the schedule ends there too. 0 for none."""
    batch_prompts: int = 64
    """Prompts of a step, all processes together."""
    updates: int = 1
    """Updates of the weights by the same rollouts."""
    micro_batch: int = 8
    """Rollouts that one process reads at once."""
    precision: Literal["float32", "bfloat16"] = "bfloat16"
    """Of the arithmetic; a CPU always takes float32."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train; "auto" takes a GPU if there is one."""
    seed: int = 0
    """Of the order, the sampling and new adapters."""
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    """How rollouts are drawn."""
    lora: LoraSettings = field(default_factory=LoraSettings)
    """Adapters."""
    watch: WatchSettings = field(default_factory=WatchSettings)
    """How the run is watched and kept."""
    power: PowerSettings = field(default_factory=PowerSettings)
    """What its energy is estimated from."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        if not self.rows:
            raise ConfigError('rows names no file: give some, as in rows=["prompts.jsonl"]')
        require(
            self,
            above=("learning_rate", "epochs", "batch_prompts", "updates", "micro_batch"),
            at_least=("kl", "weight_decay", "max_steps", "seed"),
        )
        if self.compares and self.sampling.group_size < 2:
            raise ConfigError(
                f"group_size must be at least 2, got {self.sampling.group_size}: rewards are compared in groups"
            )
        if not 0 <= self.warmup < 1:
            raise ConfigError(f"warmup must be from 0 to below 1, got {self.warmup}")
        if not (0 < self.clip[0] < 1 and self.clip[1] > 0):
            raise ConfigError(f"clip must be two numbers above 0, the first below 1, got {[*self.clip]}")

    def plan(self) -> Plan:
        """The game of a method and its rows, read from their files. Raises InputError for rows that cannot be used."""
        raise ConfigError(f"{type(self).__name__} names no game: give the run a plan")
