"""Prompt templates: text files beside their verifier, filled in one pass, every placeholder checked.

A placeholder is ``{{name}}``. Values are put in as they are and never read again, so that a source containing
``{{claim}}`` stays a source. Texts of others stand between fence lines, whose boundary nobody who writes one can know.
Left out: conditions and loops; a prompt that needs them is two prompts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from vouching.errors import PromptError
from vouching.text.disguise import readings

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
        return frozenset(_PLACEHOLDER.findall(self.text))

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
        missing, unknown = sorted(self.names - values.keys()), sorted(values.keys() - self.names)
        if missing or unknown:
            raise PromptError(
                f"the prompt has the placeholders {sorted(self.names)}, got values for {sorted(values)}: "
                f"missing {missing}, without a place {unknown}"
            )
        return _PLACEHOLDER.sub(lambda match: values[match.group(1)], self.text)


@cache
def load_prompt(package: str, name: str) -> Prompt:
    """The template ``name`` (a ``.txt`` file) that lies in ``package``. Raises PromptError if there is none."""
    try:
        return Prompt(files(package).joinpath(f"{name}.txt").read_text(encoding="utf-8"))
    except (OSError, ModuleNotFoundError) as error:
        raise PromptError(f"no prompt {name!r} in {package}: {error}") from error


@cache
def fence_prompt() -> Prompt:
    """A text between two fence lines: takes ``fence`` (from :func:`boundary`), ``name`` and ``text``.

    >>> print(fence_prompt().fill(fence="5eed", name="source 1", text="It opened."))
    <<<5eed source 1>>>
    It opened.
    <<<5eed end of source 1>>>
    """
    return Prompt(load_prompt("vouching", "fenced").text.strip())


def boundary(texts: Sequence[str], seed: int | None = None) -> str:
    """16 hexadecimal digits that occur in none of the texts; the same for the same texts and seed.

    The last two texts (claim and context) do not go into it unless they must, so that claims about the same sources
    share their prefix. Who writes these and knows the sources can work it out, so in these it may not occur in any
    disguise either.

    >>> boundary(["a source", "", ""]) == boundary(["a source", "", ""]) != boundary(["a source", "", ""], seed=1)
    True
    """
    attempt = 0
    forms = [*texts, *(form.casefold() for text in texts[-2:] for form in readings(text))]
    while True:
        stuff = repr((seed, attempt, texts[:-2] if not attempt else texts))
        found = hashlib.sha256(stuff.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        if not any(found in form for form in forms):
            return found
        attempt += 1
