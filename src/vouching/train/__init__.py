"""Training: runs that can be killed and resumed, each described by one TOML file.

Public names are loaded when they are first used; none of them is that of a module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.methods.training import Plan, PowerSettings
    from vouching.train.advantages import filled
    from vouching.train.fit import train_game
    from vouching.train.monitor import MONITORS, Finding, alarms, rolling
    from vouching.train.trainers import TRAINERS, run_settings, train

__all__ = [
    "MONITORS",
    "TRAINERS",
    "Finding",
    "Plan",
    "PowerSettings",
    "alarms",
    "filled",
    "rolling",
    "run_settings",
    "train",
    "train_game",
]

__getattr__, __dir__ = lazily(__name__)
