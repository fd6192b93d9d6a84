"""What a language model is asked: a constant system prompt, then the delimited sources, then the delimited claim.

The constant part and the sources come first, so that a server with a prefix cache reads them once for many claims. The
delimiters have a boundary that occurs in none of the texts; it is a hash of the texts, so their authors cannot know it,
and the same question is the same prompt, which can be cached. Delimiters are no guarantee: a model may still obey a
source; ``vouch diagnose verifier --injections`` measures how often.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from vouching.judging.delimiters import boundary, delimiter_prompt
from vouching.judging.windows import Excerpt, Window
from vouching.models.base import Message
from vouching.prompts import Prompt, load_prompt
from vouching.types import Claim

Style: TypeAlias = Literal["structured", "label"]
"""The whole record, or label and confidence alone: the binary baseline."""
NOT_FOUND = "NOT_FOUND"
"""Stands for a source span that does not exist (SEVA)."""
_PACKAGE = __package__ or ""


@dataclass(frozen=True, slots=True)
class StructuredPrompt:
    """The parts of the prompt."""

    system: str
    """The constant part."""
    user: Prompt
    """Takes ``evidence`` and ``claim``."""
    block: Prompt
    """A delimited text: takes ``delimiter``, ``name`` and ``text``."""
    again: Prompt
    """Asks again: takes ``fault``."""

    @property
    def digest(self) -> str:
        """SHA-256 of all parts, for provenance."""
        return _digest(self.system, self.user.text, self.block.text, self.again.text)

    def messages(self, claim: Claim, window: Window, seed: int | None = None) -> tuple[Message, ...]:
        """The question about a claim, its ``context`` if it has one, and one window of the sources.

        ``seed`` changes the boundary of the delimiters.
        """
        shown = [text for excerpt in window for text in (excerpt.text, excerpt.title)]
        delimiter = boundary([*shown, claim.text, claim.context], seed)
        evidence = "\n".join(self._blocks(delimiter, window))
        stated = self._block(delimiter, "claim", claim.text)
        if claim.context:
            stated = f"{self._block(delimiter, 'what the claim speaks about', claim.context)}\n{stated}"
        return Message("system", self.system), Message("user", self.user.fill(evidence=evidence, claim=stated))

    def _blocks(self, delimiter: str, window: Sequence[Excerpt]) -> Iterator[str]:
        for excerpt in window:
            name = f"source {excerpt.number}"
            if excerpt.title:
                yield self._block(delimiter, f"title of {name}", excerpt.title)
            yield self._block(delimiter, name, excerpt.text)

    def _block(self, delimiter: str, name: str, text: str) -> str:
        return self.block.fill(delimiter=delimiter, name=name, text=text)


@cache
def structured_prompt(style: Style = "structured") -> StructuredPrompt:
    """The shipped prompt, for the whole record or for the label alone."""
    return _with_system(load_prompt(_PACKAGE, f"prompts/{'system' if style == 'structured' else style}").text)


@cache
def teacher_prompt() -> StructuredPrompt:
    """The prompt for a teacher: the shipped one plus demands for completeness and two examples (SEVA App. K.3)."""
    system = load_prompt(_PACKAGE, "prompts/system").text
    return _with_system(load_prompt(_PACKAGE, "prompts/teacher").fill(system=system.rstrip()))


@cache
def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _with_system(system: str) -> StructuredPrompt:
    user, again = (load_prompt(_PACKAGE, f"prompts/{name}") for name in ("user", "again"))
    return StructuredPrompt(system.strip(), Prompt(user.text.strip()), delimiter_prompt(), again)
