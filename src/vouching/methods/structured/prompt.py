"""What a language model is asked: a constant system prompt, then the delimited sources, then the delimited claim.

The constant part and the sources come first, so that a server with a prefix cache reads them once for many claims. The
delimiters have a boundary that occurs in none of the texts; it is a hash of the texts, so their authors cannot know it,
and the same question is the same prompt, which can be cached. Delimiters are no guarantee: a model may still obey a
source; ``recipes/structured/injections.py`` measures how often.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, TypeAlias

from vouching.errors import ConfigError
from vouching.judging.delimiters import boundary, delimiter_prompt
from vouching.judging.windows import Excerpt, Window
from vouching.models.base import Message
from vouching.prompts import Prompt, load_prompt
from vouching.types import Claim

Style: TypeAlias = Literal["structured", "label"]
"""The whole record, or label and confidence alone: the binary baseline."""
Wording: TypeAlias = Literal["ours", "short", "paper"]
"""Which prompt asks for it: ours, ours in few tokens, or SEVA's as printed."""
_PACKAGE = __package__ or ""


@dataclass(frozen=True, slots=True)
class StructuredPrompt:
    """The parts of the prompt."""

    system: str
    """The constant part."""
    user: Prompt
    """Takes ``evidence`` and ``claim``."""
    block: Prompt | None
    """A delimited text: takes ``delimiter``, ``name`` and ``text``. None for texts that are not delimited."""
    again: Prompt
    """Asks again: takes ``fault``."""

    @property
    def digest(self) -> str:
        """SHA-256 of all parts, for provenance."""
        return _digest(self.system, self.user.text, self.block.text if self.block else "", self.again.text)

    def messages(self, claim: Claim, window: Window, seed: int | None = None) -> tuple[Message, ...]:
        """The question about a claim, its ``context`` if it has one, and one window of the sources.

        ``seed`` changes the boundary of the delimiters.
        """
        if self.block is None:
            claimed = f"{claim.context}\n{claim.text}" if claim.context else claim.text
            source = "\n\n".join(f"{excerpt.title}\n{excerpt.text}".strip() for excerpt in window)
            return Message("system", self.system), Message("user", self.user.fill(evidence=source, claim=claimed))
        shown = [text for excerpt in window for text in (excerpt.text, excerpt.title)]
        delimiter = boundary([*shown, claim.text, claim.context], seed)
        block = partial(self.block.fill, delimiter=delimiter)
        evidence = "\n".join(_blocks(block, window))
        stated = block(name="claim", text=claim.text)
        if claim.context:
            stated = f"{block(name='what the claim speaks about', text=claim.context)}\n{stated}"
        return Message("system", self.system), Message("user", self.user.fill(evidence=evidence, claim=stated))


def _blocks(block: Callable[..., str], window: Sequence[Excerpt]) -> Iterator[str]:
    for excerpt in window:
        name = f"source {excerpt.number}"
        if excerpt.title:
            yield block(name=f"title of {name}", text=excerpt.title)
        yield block(name=name, text=excerpt.text)


@cache
def structured_prompt(style: Style = "structured", wording: Wording = "ours") -> StructuredPrompt:
    """The prompt for the whole record or for the label alone, in one of three wordings.

    The prompt for the label is short as it is. Raises ConfigError for the label in SEVA's words: it has none.
    """
    if style == "label":
        if wording == "paper":
            raise ConfigError("SEVA prints no prompt for the label alone: omit the prompt, or choose short")
        return _with_system(load_prompt(_PACKAGE, "prompts/label").text)
    if wording == "ours":
        return _with_system(load_prompt(_PACKAGE, "prompts/system").text)
    name = "short" if wording == "short" else "paper_system"
    system, again = (load_prompt(_PACKAGE, f"prompts/{part}") for part in (name, "again"))
    user = Prompt(load_prompt(_PACKAGE, f"prompts/{wording}_user").text.strip())
    block = Prompt(load_prompt(_PACKAGE, "prompts/short_block").text.strip()) if wording == "short" else None
    return StructuredPrompt(system.text.strip(), user, block, again)


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
