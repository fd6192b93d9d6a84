"""Claims and their sources put to a scorer: its own numbers, before any calibration.

What a verifier turns into verdicts and a calibration is fitted on. Left out: searching; sources come with the claims.
"""

from __future__ import annotations

from collections.abc import Sequence

from vouching.errors import ConfigError, ModelError
from vouching.methods.base import failed
from vouching.methods.discriminative.input import Compress, Shown, evidence_text, given, scorer_input
from vouching.methods.discriminative.scorer import Candidate, ScoreOutcome, Scorer
from vouching.types import Claim, Compression, Source, Trajectory, Unverified


class ClaimScorer:
    """Scores claims against sources.

    Args:
        scorer: what scores.
        shown: what a scorer that reads text is shown of the sources; one that reads passages has them all.
        compress: makes the sources short for a claim, where they are shown in a compressed form.

    Raises:
        ConfigError: nothing to compress with where that is needed.

    >>> import asyncio
    >>> from vouching.methods.discriminative.scorer import EmbeddedScorer
    >>> from vouching.methods.embedded.verify import EmbeddedVerifier
    >>> scorer = ClaimScorer(EmbeddedScorer(EmbeddedVerifier()))
    >>> [scored] = asyncio.run(scorer.score([Claim("It opened in 1937.")], [Source("It opened in 1973.")]))
    >>> scored.value < 0.5
    True
    """

    def __init__(self, scorer: Scorer, shown: Shown = "compressed", compress: Compress | None = None) -> None:
        self.scorer = scorer
        """What scores."""
        self.shown: Shown = shown if scorer.reads == "text" else "full"
        """What it is shown."""
        if self.shown in ("compressed", "facts") and compress is None:
            raise ConfigError(f"a scorer that is shown the sources as {shown} needs something that compresses them")
        self._compress = compress

    def digest(self, question: bool = False) -> str:
        """SHA-256 of the form of its input, with or without a question."""
        return self.scorer.digest(self.shown, question)

    async def score(self, claims: Sequence[Claim], sources: Sequence[Source], question: str = "") -> list[ScoreOutcome]:
        """One outcome per claim, in order; the scorer gets all of them at once.

        Raises:
            ModelError: a model is out of reach, and the same call may succeed later.
        """
        searched = given(question, [claim.text for claim in claims], sources)
        made = [await self._candidate(claim, tuple(sources), searched) for claim in claims]
        scored = iter(await self.scorer.score([one for one in made if isinstance(one, Candidate)]))
        return [one if isinstance(one, Unverified) else next(scored) for one in made]

    async def aclose(self) -> None:
        """Let go of the scorer."""
        await self.scorer.aclose()

    async def _candidate(
        self, claim: Claim, sources: tuple[Source, ...], searched: Trajectory
    ) -> Candidate | Unverified:
        part: Compression | None = None
        if self._compress is not None and self.shown in ("compressed", "facts"):
            try:
                part = await self._compress(searched, claim.text)
            except ModelError as error:
                return failed(error, claim)
        read = scorer_input(searched.question, claim.text, evidence_text(self.shown, searched, part))
        return Candidate(searched.question, claim.text, claim, read, sources)
