"""Settings shared by training runs, each a table of the TOML file, and those of every GRPO run.

The defaults are SEVA's (Tables 8 and 9). A method adds its own in a subclass of :class:`GrpoConfig` that defines the
game. Not supported: the number of processes and how the model is split among them; ``accelerate launch`` reads these
from its own file.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from vouching.errors import ConfigError
from vouching.methods.base import Game, Row

Spread: TypeAlias = Literal["population", "unbiased", "none"]
"""Divisor of a reward's difference from the mean: the standard deviation with n, with n - 1, or none (Dr. GRPO)."""
OnAlarm: TypeAlias = Literal["warn", "stop"]
"""What a run does when a monitor raises an alarm: log it, or also save and stop."""


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """Adapters; the defaults are SEVA's (Table 8), except the rank."""

    rank: int = 0
    """Rank of the adapters; 0 trains all weights instead."""
    alpha: float = 128.0
    """Scale of the adapters, divided by the rank."""
    dropout: float = 0.05
    """Dropout on the input of the adapters in ``sft``; games disable it."""
    modules: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    """Names of the layers that get adapters."""

    def __post_init__(self) -> None:
        require(self, above=("alpha",), at_least=("rank",))
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"lora.dropout must be at least 0 and below 1, got {self.dropout}")
        if not self.modules:
            raise ConfigError('lora.modules must not be empty: list names of layers, as in ["q_proj", "v_proj"]')


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Monitoring and checkpoints of a run."""

    on_alarm: OnAlarm = "warn"
    """What an alarm does: "warn" logs it, "stop" also saves and ends the run."""
    evaluate_every: int = 50
    """Steps between evaluations on ``dev``."""
    checkpoint_every: int = 25
    """Steps between checkpoints."""
    keep: int = 2
    """Number of checkpoints kept; the best and the last are always kept."""
    transcripts: int = 2
    """Rollouts of a step whose texts are kept."""
    report_to: tuple[str, ...] = ()
    """Further loggers of TRL: "tensorboard", "wandb"."""

    def __post_init__(self) -> None:
        require(self, above=("evaluate_every", "checkpoint_every", "keep"), at_least=("transcripts",))


@dataclass(frozen=True, slots=True)
class PowerSettings:
    """Energy estimate: watts x hours x PUE x carbon intensity. The defaults are SEVA's (App. N).

    >>> power = PowerSettings()
    >>> round(power.kwh(4), 2), round(power.kwh(4) * power.intensity, 2)  # Table 23: 3B SFT on two RTX 6000 Ada
    (1.68, 0.69)
    """

    watts: float | None = None
    """Thermal design power of a device: 300 for an RTX 6000 Ada, 400 for an A100, 700 for an H100. None: 300 for a GPU,
    65 for a CPU."""
    pue: float = 1.4
    """Power usage effectiveness; 1.4 is a typical academic cluster."""
    intensity: float = 0.41
    """Kilograms of CO2e per kWh; .41 is the mean of the United States, eGRID 2023."""

    def __post_init__(self) -> None:
        require(self, at_least=("intensity", *(["watts"] if self.watts is not None else [])))
        if self.pue < 1:
            raise ConfigError(f"power.pue must be at least 1, got {self.pue}")

    def kwh(self, device_hours: float, device: str = "cuda") -> float:
        """Energy of this many hours, summed over devices; ``device`` is their type, as torch names it."""
        watts = self.watts if self.watts is not None else 65.0 if device == "cpu" else 300.0
        return watts * device_hours * self.pue / 1000


def require(settings: Any, above: Sequence[str] = (), at_least: Sequence[str] = ()) -> None:
    """Raise ConfigError for the first setting that is not above 0, or not at least 0.

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
    """The critic and its advantages. Rate, warm-up and gamma are MARCH's; the rest are verl's defaults."""

    model: str = ""
    """Initial weights; empty for those of the policy."""
    rank: int = 0
    """Rank of the critic's own adapters, over frozen layers that it shares with a policy of adapters; 0 trains all."""
    learning_rate: float = 1e-5
    """Peak learning rate of the critic."""
    warmup_steps: int = 10
    """Steps in which its rate rises to the peak."""
    discount: float = 0.998
    """gamma."""
    trace: float = 1.0
    """lambda."""
    clip: float = 0.5
    """How far a value may move from its estimate before the update; beyond that the loss has no gradient."""
    passes: int = 1
    """Updates per step on the same rollouts."""
    whiten: bool = True
    """Whether the advantages of a step are normalised to mean 0 and variance 1."""

    def __post_init__(self) -> None:
        require(self, above=("learning_rate", "clip", "passes"), at_least=("warmup_steps", "rank"))
        for name in ("discount", "trace"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"critic.{name} must be in [0, 1], got {getattr(self, name)}")


Loss: TypeAlias = Literal["grpo", "dapo", "gspo", "dr_grpo", "bnpo", "token_sum"]
"""How the clipped surrogate is averaged; gspo uses sequence-level ratios; token_sum sums over the tokens of each
completion and averages over completions, as in MARCH's eq. 8 and DPA-GRPO's pairs.
"""
Sampling: TypeAlias = Literal["hf", "vllm", "vllm-server"]
"""What samples: the model itself, vLLM in the same process, or a vLLM server."""


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """How rollouts are sampled."""

    group_size: int = 8
    """G: rollouts of a prompt."""
    temperature: float = 1.2
    """Sampling temperature."""
    top_p: float = 0.95
    """Probability mass for nucleus sampling."""
    top_k: int = 0
    """Number of most probable tokens that are drawn from; 0 for all."""
    prompt_tokens: int = 768
    """Longest prompt, in tokens; rows with longer ones are dropped and counted."""
    allow_dropped: float = 0.05
    """Share of the rows that may be dropped; a run that would drop more does not start."""
    completion_tokens: int = 512
    """Longest completion, in tokens."""
    thinking: Literal["default", "on", "off"] = "default"
    """Whether a model that can think does; passed to the chat template as ``enable_thinking``."""
    engine: Sampling = "hf"
    """What samples: transformers ("hf"), vLLM in the same process, or a vLLM server."""
    server: str = ""
    """Address of the vLLM server, e.g. http://host:8000."""
    resample: int = 0
    """DAPO's dynamic sampling: how often a step may resample groups whose rewards are all equal."""

    def __post_init__(self) -> None:
        require(
            self,
            above=("group_size", "temperature", "prompt_tokens", "completion_tokens"),
            at_least=("resample", "top_k"),
        )
        if not 0 <= self.allow_dropped <= 1:
            raise ConfigError(f"allow_dropped must be in [0, 1], got {self.allow_dropped}")
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p must be above 0 and at most 1, got {self.top_p}")
        if (self.engine == "vllm-server") != bool(self.server):
            raise ConfigError(
                f"server must be set if and only if engine is 'vllm-server', got engine {self.engine!r} "
                f"and server {self.server!r}"
            )


Optimizer: TypeAlias = Literal["adamw", "adamw_8bit", "paged_adamw_8bit"]
"""AdamW with moments in float32, in 8 bits, or in 8 bits and moved to the host when the GPU is full (bitsandbytes)."""


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """What a run keeps on a GPU; ``vouch train --plan`` computes it. How a model is sharded is the launcher's."""

    optimizer: Optimizer = "adamw"
    """AdamW with moments in float32, in 8 bits, or in 8 bits and moved to the host when the GPU is full; the last two
    require bitsandbytes."""
    activation_checkpointing: bool = True
    """Whether to recompute activations in the backward pass; on a CPU they are always kept."""
    vllm_share: float = 0.3
    """Share of the GPU that vLLM in the same process may use."""
    vllm_length: int = 0
    """Longest prompt and completion in vLLM; 0 for twice ``prompt_tokens`` and ``completion_tokens``, as a game asks
    longer prompts in its later turns, at most the model's context.
    """
    vllm_parallel: int = 1
    """GPUs that one instance of vLLM is split over."""
    vllm_sleep: bool = True
    """Whether vLLM gives its memory back during the update."""

    def __post_init__(self) -> None:
        require(self, above=("vllm_share", "vllm_parallel"), at_least=("vllm_length",))
        if self.vllm_share >= 1:
            raise ConfigError(f"memory.vllm_share must be below 1, got {self.vllm_share}")


async def _release_nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Plan:
    """The game of a run and its rows."""

    game: Game
    rows: Sequence[Row]
    """Training rows."""
    dev: Sequence[Row]
    """Evaluation rows; may be empty."""
    best_by: str
    """The metric on ``dev`` that selects the best checkpoint."""
    scored_by: Game | None = None
    """The game played on ``dev``; None for ``game``."""
    aclose: Callable[[], Coroutine[Any, Any, None]] = _release_nothing
    """Releases what the game has opened, such as connections to a judge."""


@dataclass(frozen=True, slots=True)
class GrpoConfig:
    """What is trained, on what, and how."""

    compares = True
    """Whether rewards are compared within groups; False with a critic."""
    rows: tuple[str, ...]
    """Files of training rows. Paths are relative to the working folder."""
    model: str
    """Initial weights: a folder, also of adapters, or a name on the Hugging Face hub."""
    dev: tuple[str, ...] = ()
    """Files of held-out rows for evaluation."""
    loss: Loss = "grpo"
    """How the clipped surrogate is averaged; "gspo" is "grpo" with sequence-level ratios."""
    clip: tuple[float, float] = (0.2, 0.2)
    """The ratio of probabilities is clipped to [1 - first, 1 + second]; DAPO uses 0.2 and 0.28."""
    kl: float = 0.001
    """beta: weight of the KL divergence from the initial policy; 0 for none."""
    kl_estimator: Literal["k1", "k1-loss", "k3"] = "k3"
    """"k3" is a term of the loss; "k1" is subtracted from each token's advantage; "k1-loss" is k1 in the loss, whose
    gradient does not depend on the reference, so it does not anchor the policy."""
    spread: Spread = "unbiased"
    """Divisor of a reward's distance from its group's mean; SEVA: unbiased standard deviation, Dr. GRPO: none."""
    learning_rate: float = 2e-6
    """Peak learning rate."""
    weight_decay: float = 0.0
    """Weight decay of AdamW."""
    schedule: Literal["constant", "cosine", "linear"] = "constant"
    """Learning rate after the warm-up."""
    warmup: float = 0.0
    """Share of the steps used for warm-up."""
    epochs: float = 5.0
    """Passes over the rows."""
    max_steps: int = 0
    """Stops after this many steps, where the schedule ends too; 0 for no limit."""
    batch_prompts: int = 64
    """Prompts of a step, all processes together."""
    updates: int = 1
    """Weight updates per step on the same rollouts."""
    micro_batch: int = 8
    """Rollouts per forward pass of one process."""
    precision: Literal["float32", "bfloat16"] = "bfloat16"
    """Precision of the arithmetic; a CPU always uses float32."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device to train on; "auto" uses a GPU if there is one."""
    seed: int = 0
    """Random seed of the row order, the sampling and new adapters."""
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    """How rollouts are sampled."""
    lora: LoraSettings = field(default_factory=LoraSettings)
    """Adapters."""
    memory: MemorySettings = field(default_factory=MemorySettings)
    """What is kept on a GPU."""
    watch: WatchSettings = field(default_factory=WatchSettings)
    """How the run is watched and kept."""
    power: PowerSettings = field(default_factory=PowerSettings)
    """For the estimate of energy."""

    def __post_init__(self) -> None:
        if not self.rows:
            raise ConfigError('rows must not be empty: list files, as in rows=["prompts.jsonl"]')
        require(
            self,
            above=("learning_rate", "epochs", "batch_prompts", "updates", "micro_batch"),
            at_least=("kl", "weight_decay", "max_steps", "seed"),
        )
        if self.compares and self.sampling.group_size < 2:
            raise ConfigError(
                f"group_size must be at least 2, got {self.sampling.group_size}: rewards are compared within a group"
            )
        if not 0 <= self.warmup < 1:
            raise ConfigError(f"warmup must be at least 0 and below 1, got {self.warmup}")
        if not (0 < self.clip[0] < 1 and self.clip[1] > 0):
            raise ConfigError(f"clip must be two numbers above 0, the first below 1, got {[*self.clip]}")

    def plan(self) -> Plan:
        """The game and its rows, read from their files. Raises InputError for unusable rows."""
        raise ConfigError(f"{type(self).__name__} does not define a game: pass a plan to the run")
