"""What the adapters to training frameworks share: a scoring function that finds its arguments in a row by their names.

Left out: scoring functions that are coroutines.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from vouching.errors import ConfigError
from vouching.types import Reward, Unverified

Score: TypeAlias = Callable[..., Reward | Unverified]
"""Takes a reply and fields of its row by name, and gives a reward, or Unverified if its judge failed."""


class RowScore:
    """Scores replies by ``score``, which takes what else it needs from the row.

    Args:
        score: its first parameter is the reply; the others are names of fields.
        settings: arguments that are the same for all rows.

    Raises:
        ConfigError: a setting that ``score`` does not take.

    >>> from vouching.methods.structured.reward import structured_reward
    >>> score = RowScore(structured_reward, {"variant": "paper"})
    >>> score('{"label": "yes"}', {"gold": "Attributable", "year": 1973}).total
    0.395
    """

    def __init__(self, score: Score, settings: Mapping[str, Any]) -> None:
        parameters = [*inspect.signature(score).parameters.values()][1:]
        names = [parameter.name for parameter in parameters]
        self.name: str = getattr(score, "__name__", type(score).__name__)
        """What the scores are called in logs."""
        stranger = next((name for name in settings if name not in names), None)
        if stranger is not None:
            raise ConfigError(f"{self.name} takes no {stranger!r}, only {', '.join(names)}")
        self.fields = [name for name in names if name not in settings]
        """What ``score`` takes from a row, if it is there."""
        self._needed = [one.name for one in parameters if one.default is one.empty and one.name not in settings]
        self._score = score
        self._settings = dict(settings)

    def __call__(self, reply: str, row: Mapping[str, Any]) -> Reward | Unverified:
        """The score of a reply.

        Raises:
            ConfigError: the row lacks a field that the scoring function cannot do without.
        """
        missing = [name for name in self._needed if name not in row]
        if missing:
            raise ConfigError(f"{self.name} needs {' and '.join(map(repr, missing))} of each row, got {[*row]}")
        return self._score(reply, **{name: row[name] for name in self.fields if name in row}, **self._settings)
