"""Prompt templates: text files beside their verifier, filled in one pass, every placeholder checked.

A placeholder is ``{{name}}``. Values are inserted as they are and not parsed again, so a source that contains
``{{claim}}`` stays unchanged. Not supported: conditions and loops.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias, get_args

from vouching.errors import ConfigError, PromptError
from vouching.types.visible import shown_names

Wording: TypeAlias = Literal["ours", "paper"]
"""Whose prompts ask: Vouch's, which mark what is data, or those that the method's paper prints, which do not."""
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template with named placeholders."""

    text: str

    @property
    def names(self) -> frozenset[str]:
        """Names of the placeholders."""
        return _names(self.text)

    @property
    def digest(self) -> str:
        """SHA-256 of the template, for provenance."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def fill(self, **values: str) -> str:
        """The template with every placeholder replaced. Raises PromptError unless there is exactly one value for each.

        >>> Prompt("Claim: {{claim}}").fill(claim="{{claim}} is data")
        'Claim: {{claim}} is data'
        """
        if self.names != values.keys():
            missing, unknown = self.names - values.keys(), values.keys() - self.names
            raise PromptError(
                f"the prompt has the placeholders {_listed(self.names)}, got values for {_listed(values)}; "
                f"missing: {_listed(missing)}; unknown: {_listed(unknown)}"
            )
        return _PLACEHOLDER.sub(lambda match: values[match.group(1)], self.text)


def check_wording(wording: str) -> None:
    """Raise ConfigError for a wording that is none."""
    if wording not in get_args(Wording):
        raise ConfigError(f"wording must be one of {', '.join(get_args(Wording))}, got {wording!r}")


@cache
def _names(text: str) -> frozenset[str]:
    return frozenset(_PLACEHOLDER.findall(text))


def _listed(names: Iterable[str]) -> str:
    return shown_names(sorted(names)) or "none"


@cache
def load_prompt(package: str, name: str) -> Prompt:
    """The template ``name`` (a ``.txt`` file) in ``package``. Raises PromptError if there is none."""
    try:
        return Prompt(files(package).joinpath(f"{name}.txt").read_text(encoding="utf-8"))
    except (OSError, ModuleNotFoundError) as error:
        raise PromptError(f"cannot read the prompt {name!r} in {package}: {error}") from error
