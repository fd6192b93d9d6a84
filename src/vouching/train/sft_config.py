"""The settings of one supervised run: a TOML file, and ``key=value`` over it.

The defaults are SEVA's for the whole 3B model (Table 8). Left out: settings that no two recipes differ in; those are
constants beside their use, or TRL's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from vouching.errors import ConfigError
from vouching.methods.training import LoraSettings, PowerSettings, WatchSettings, require
from vouching.settings import read_settings


@dataclass(frozen=True, slots=True)
class SftConfig:
    """What is trained, on what, and how.

    >>> SftConfig(rows=("sft.jsonl",), model="Qwen/Qwen2.5-3B-Instruct").learning_rate
    2e-05
    """

    rows: tuple[str, ...]
    """Files of chats, as ``vouch data annotate`` writes them. Paths are relative to the working folder."""
    model: str
    """Where to start: a folder, also of adapters, or a name on the Hugging Face hub."""
    binary: tuple[str, ...] = ()
    """Files of rows with claim, source and label, for a first stage that learns the label alone; none without them."""
    dev: tuple[str, ...] = ()
    """Files of chats that are only scored; the checkpoint that knows them best is the one that is kept."""
    epochs: float = 3.0
    """Passes over the rows, in each stage."""
    most_steps: int = 0
    """Steps to stop a stage after, for trials; its schedule ends there too. 0 for none."""
    batch_rows: int = 4
    """Rows that are read at once by one process."""
    accumulate: int = 4
    """Batches of one update."""
    learning_rate: float = 2e-5
    """Highest rate."""
    schedule: Literal["constant", "cosine", "linear"] = "cosine"
    """How the rate goes on after the warm-up."""
    warmup: float = 0.05
    """Share of the steps over which the rate rises."""
    weight_decay: float = 0.01
    """Of AdamW."""
    most_tokens: int = 1280
    """Tokens of a chat, at most; longer ones are left out and counted, since half a record teaches half records."""
    gradient_checkpointing: bool = True
    """Whether to compute activations twice in place of keeping them."""
    precision: Literal["float32", "bfloat16"] = "bfloat16"
    """Of the arithmetic; a CPU always takes float32."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train; "auto" takes a GPU if there is one."""
    seed: int = 0
    """Of the order, new adapters and dropout."""
    lora: LoraSettings = field(default_factory=LoraSettings)
    """Adapters."""
    watch: WatchSettings = field(default_factory=WatchSettings)
    """How the run is watched and kept."""
    power: PowerSettings = field(default_factory=PowerSettings)
    """What its energy is estimated from."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        if not self.rows:
            raise ConfigError("rows names no file: give what  vouch data annotate  wrote")
        require(
            self,
            above=("epochs", "batch_rows", "accumulate", "learning_rate", "most_tokens"),
            at_least=("most_steps", "weight_decay", "seed"),
        )
        if not 0 <= self.warmup < 1:
            raise ConfigError(f"warmup must be from 0 to below 1, got {self.warmup}")


def read_config(path: Path, overrides: Sequence[str] = ()) -> SftConfig:
    r"""The settings of a TOML file with ``key=value`` over them; see ``settings.read_settings``.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.toml"
    >>> _ = path.write_text('rows = ["sft.jsonl"]\nmodel = "runs/base"', encoding="utf-8")
    >>> read_config(path, ["lora.rank=64"]).lora.rank
    64
    """
    return read_settings(SftConfig, path, overrides)
