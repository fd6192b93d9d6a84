"""Settings that runs of language models share, each a table of the TOML file: adapters, what is watched, power.

Left out: how many processes and how the model is cut among them; ``accelerate launch`` has a file of its own for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from vouching.errors import ConfigError

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
