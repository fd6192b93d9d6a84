"""The protocol of a verifier of claims, and what every such verifier shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from vouching.errors import ConfigError, ModelError
from vouching.types import ChecklistItem, Claim, Report, Source, Unverified, Verdict

Outcome: TypeAlias = Verdict | Unverified
"""A verdict, or Unverified if the judge failed; Unverified is not a label."""


@runtime_checkable
class ClaimVerifier(Protocol):
    """Judges claims against sources; all sources belong to every claim.

    A class that inherits from it needs only ``verify``, and can be passed to ``Checker``.
    """

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One outcome per claim, in order."""
        ...

    async def support(self, text: str, sources: Sequence[Source]) -> float | None:
        """How much of a longer text the sources support, in [0, 1]; None if the verifier does not measure it."""
        ...

    async def aclose(self) -> None:
        """Close connections; the next call opens them again."""
        ...


class ResponseVerifier(Protocol):
    """Judges a whole response against its sources."""

    async def verify(self, question: str | None, response: str, sources: Sequence[Source]) -> Report:
        """The report on a response; ``question`` is what it answers, if known."""
        ...

    async def aclose(self) -> None:
        """Close connections; the next call opens them again."""
        ...


class InstructionVerifier(Protocol):
    """Judges how well a response follows an instruction."""

    async def verify(
        self,
        question: str | None,
        response: str,
        sources: Sequence[Source] = (),
        items: Sequence[ChecklistItem] | None = None,
    ) -> Report:
        """The report on a response; ``question`` is the instruction, ``items`` what it is judged by."""
        ...

    async def aclose(self) -> None:
        """Close connections; the next call opens them again."""
        ...


@dataclass(frozen=True, slots=True)
class ThresholdConfig:
    """The settings of a verifier with only a threshold. Raises ConfigError if it is outside [0, 1]."""

    threshold: float = 0.5
    """Score from which a claim is Attributable, in [0, 1]."""

    def __post_init__(self) -> None:
        if not _is_share(self.threshold):
            raise ConfigError(f"threshold must be in [0, 1], got {self.threshold!r}")


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and 0.0 <= value <= 1.0


def failed(error: ModelError, claim: Claim) -> Unverified:
    """A model's failure as an outcome; raises it again if a retry may help, so that the caller can wait."""
    if error.can_retry:
        raise error
    return Unverified(claim, "backend", str(error))
