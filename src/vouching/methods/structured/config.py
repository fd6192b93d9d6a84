"""The settings of a run of SEVA's game: a TOML file, and ``key=value`` over it.

Left out: weights of the parts of the reward; ``vouch reward`` has them, training takes the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vouching.methods.structured.reward_weights import Variant
from vouching.methods.training import GrpoConfig
from vouching.settings import read_settings


@dataclass(frozen=True, slots=True)
class StructuredConfig(GrpoConfig):
    """What is trained, on what, and how; ``rows`` are what ``vouch data annotate --prompts`` wrote.

    >>> StructuredConfig(rows=("prompts.jsonl",), model="runs/sft/model").reward
    'process'
    """

    reward: Literal["process", "binary"] = "process"
    """SEVA's process reward, or 1 for the right label and 0 for the wrong one."""
    variant: Variant = "paper"
    """Rules of the process reward."""


def read_config(path: Path, overrides: Sequence[str] = ()) -> StructuredConfig:
    r"""The settings of a TOML file with ``key=value`` over them; see ``settings.read_settings``.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.toml"
    >>> _ = path.write_text('rows = ["prompts.jsonl"]\nmodel = "runs/sft/model"', encoding="utf-8")
    >>> read_config(path, ["sampling.group_size=4"]).sampling.group_size
    4
    """
    return read_settings(StructuredConfig, path, overrides)
