"""Prompt templates: text files beside their verifier, filled in one pass, every placeholder checked.

A placeholder is ``{{name}}``. Values are put in as they are and never read again, so that a source containing
``{{claim}}`` stays a source.
Left out: conditions and loops; a prompt that needs them is two prompts.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from vouching.errors import PromptError

_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template with named placeholders."""

    text: str
    """The template."""

    @property
    def names(self) -> frozenset[str]:
        """Names of the placeholders.

        >>> sorted(Prompt("Claim: {{claim}} Source: {{source}}").names)
        ['claim', 'source']
        """
        return _names(self.text)

    @property
    def digest(self) -> str:
        """SHA-256 of the template, for provenance.

        >>> len(Prompt("x").digest)
        64
        """
        return hashlib.sha256(self.text.encode()).hexdigest()

    def fill(self, **values: str) -> str:
        """The template with every placeholder replaced, in one pass.

        Raises:
            PromptError: a placeholder without a value, or a value without a placeholder.

        >>> Prompt("Claim: {{claim}}").fill(claim="{{claim}} is data")
        'Claim: {{claim}} is data'
        """
        if self.names != values.keys():
            missing, unknown = sorted(self.names - values.keys()), sorted(values.keys() - self.names)
            raise PromptError(
                f"the prompt has the placeholders {sorted(self.names)}, got values for {sorted(values)}: "
                f"missing {missing}, without a place {unknown}"
            )
        return _PLACEHOLDER.sub(lambda match: values[match.group(1)], self.text)


@cache
def _names(text: str) -> frozenset[str]:
    return frozenset(_PLACEHOLDER.findall(text))


@cache
def load_prompt(package: str, name: str) -> Prompt:
    """The template ``name`` (a ``.txt`` file) that lies in ``package``. Raises PromptError if there is none."""
    try:
        return Prompt(files(package).joinpath(f"{name}.txt").read_text(encoding="utf-8"))
    except (OSError, ModuleNotFoundError) as error:
        raise PromptError(f"no prompt {name!r} in {package}: {error}") from error
