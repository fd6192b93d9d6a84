"""What every verifier of claims offers. A claim goes in with its sources, a verdict or an honest failure comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from vouching.errors import ModelError
from vouching.types import Claim, Source, Unverified, Verdict

Outcome: TypeAlias = Verdict | Unverified
"""A verdict, or Unverified where the judge failed. Unverified is no label."""


class ClaimVerifier(Protocol):
    """Judges claims against sources; all sources belong to every claim."""

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One outcome per claim, in order."""
        ...

    async def support(self, text: str, sources: Sequence[Source]) -> float | None:
        """How much of a longer text the sources have, in [0, 1]; None if the verifier has no such measure."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and the like; a verifier that is used again opens them again."""
        ...


def failed(error: ModelError, claim: Claim) -> Unverified:
    """The failure of a model as an outcome; one that may succeed later is raised, for the caller to wait.

    >>> from vouching.errors import ModelRefusedError
    >>> failed(ModelRefusedError("no such model"), Claim("It opened.")).reason
    'backend'
    """
    if error.can_retry:
        raise error
    return Unverified(claim, "backend", str(error))
