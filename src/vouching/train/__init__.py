"""Training: runs that can be killed and resumed, each described by one TOML file.

Public names are loaded when they are first used; none of them is that of a module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vouching.methods.training import Plan, PowerSettings
    from vouching.train.advantages import filled
    from vouching.train.fit import train_game
    from vouching.train.monitor import MONITORS, Finding, alarms, rolling
    from vouching.train.trainers import TRAINERS, run_settings, train

_HOME = {
    "Plan": "vouching.methods.training",
    "PowerSettings": "vouching.methods.training",
    "filled": "vouching.train.advantages",
    "train_game": "vouching.train.fit",
    "MONITORS": "vouching.train.monitor",
    "Finding": "vouching.train.monitor",
    "alarms": "vouching.train.monitor",
    "rolling": "vouching.train.monitor",
    "TRAINERS": "vouching.train.trainers",
    "run_settings": "vouching.train.trainers",
    "train": "vouching.train.trainers",
}

__all__ = [
    "MONITORS", "TRAINERS", "Finding", "Plan", "PowerSettings", "alarms", "filled", "rolling", "run_settings", "train",
    "train_game",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'vouching.train' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
