"""What can be trained, by name: the games of the methods, and what is trained without a game."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from vouching.methods import METHODS
from vouching.settings import read_settings


@dataclass(frozen=True, slots=True)
class Trainer:
    """A way to train; its parts are named "module:attribute" and imported on use."""

    config: str
    """The dataclass of its settings."""
    run: str
    """What trains: takes the settings, the folder of the run, ``resume`` and ``report``."""


TRAINERS: Mapping[str, Trainer] = {
    **{
        name: Trainer(one.config, "vouching.train.fit:train_game")
        for name, one in METHODS.items()
        if one.game and one.config
    },
    "sft": Trainer("vouching.train.sft:SftConfig", "vouching.train.sft:train_sft"),
}


def train(
    method: str,
    config: Path,
    settings: Sequence[str],
    out: Path,
    resume: bool = False,
    report: Callable[[str], None] | None = None,
) -> None:
    """Run the training that a TOML file describes.

    Args:
        method: a name in ``TRAINERS``.
        config: the file.
        settings: ``key=value`` that override the file.
        out: folder of the run; new or empty, or that of the same run with ``resume``.
        resume: continue from the last checkpoint.
        report: takes lines of progress; None writes them to standard error.

    Raises:
        MissingExtraError, ConfigError, InputError, TrainingError, BackendError: see ``fit.train_game``.
    """
    _loaded(TRAINERS[method].run)(run_settings(method, config, settings), out, resume, report)


def plan(method: str, config: Path, settings: Sequence[str], target: str) -> tuple[list[str], bool]:
    """The memory of a run as lines of text, and whether it fits. Raises ConfigError; nothing is loaded.

    Args:
        method: a name in ``TRAINERS``.
        config: the file.
        settings: ``key=value`` that override the file.
        target: GPUS:MEMORY, as ``planner.read_target`` reads it.
    """
    from vouching.train.planner import plan_lines

    return plan_lines(run_settings(method, config, settings), target)


def run_settings(method: str, config: Path, settings: Sequence[str] = ()) -> Any:
    """The settings of a run: those of its file, overridden by ``key=value``. Raises ConfigError.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.toml"
    >>> _ = path.write_text("rows = ['a.jsonl']", encoding="utf-8")
    >>> run_settings("sft", path, ["model=qwen", "learning_rate=2e-5"]).learning_rate
    2e-05
    """
    return read_settings(_loaded(TRAINERS[method].config), config, settings)


def _loaded(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
