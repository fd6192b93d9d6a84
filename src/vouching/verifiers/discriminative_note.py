"""The note beside a trained scorer: what it was trained to be shown, and how much of it.

A scorer reads one form of input well, the one it was trained on. ``vouch train rank`` leaves this note in the folder of
the model, and who opens the folder takes the same form. Left out: the settings of the training; its run has them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from pydantic import TypeAdapter, ValidationError

from vouching.errors import ConfigError
from vouching.verifiers.discriminative_input import MAX_TOKENS, Shown

NOTE = "scorer.json"
"""Its file, in the folder of the model or the adapter."""


@dataclass(frozen=True, slots=True)
class ScorerNote:
    """How a scorer is to be asked."""

    shown: Shown = "compressed"
    """What it was shown of a search."""
    most_tokens: int = MAX_TOKENS
    """Tokens of an input, at most."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a value out of range."""
        if self.shown not in get_args(Shown):
            raise ConfigError(f"shown must be one of {', '.join(get_args(Shown))}, got {self.shown!r}")
        if self.most_tokens < 1:
            raise ConfigError(f"most_tokens must be at least 1, got {self.most_tokens}")

    def write(self, folder: Path) -> None:
        """Put the note into a folder."""
        (folder / NOTE).write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")


def read_note(folder: Path) -> ScorerNote | None:
    """The note in a folder; None if there is none, as in a model of others.

    Raises:
        ConfigError: it cannot be read.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> read_note(folder) is None
    True
    >>> ScorerNote("facts", 256).write(folder)
    >>> read_note(folder)
    ScorerNote(shown='facts', most_tokens=256)
    """
    path = folder / NOTE
    if not path.exists():
        return None
    try:
        return TypeAdapter(ScorerNote).validate_json(path.read_bytes())
    except (OSError, ValidationError, ConfigError) as error:
        raise ConfigError(f"{path} is no note of a scorer ({error}): train it anew, or remove the note") from error
