"""A cascade of verifiers (FrugalGPT, Chen et al. 2023, section 3): cheap ones first.

A verdict stands if its confidence reaches the limit of its model; otherwise, and where a model fails, the next model is
asked. The last one always decides. The limit of a model is the ``confident_from`` of its calibration (see
:func:`vouching.judging.calibration.confident_from`), or ``CONFIDENT``. Departures from FrugalGPT: the confidence is the
verifier's own, not that of a separate scorer, and the order is given. Not supported: combining the scores of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vouching.errors import ConfigError, ModelError
from vouching.judging.calibration import find_calibration
from vouching.judging.verifier import ClaimVerifier, Outcome, ThresholdConfig
from vouching.types import Claim, Source, Unverified, Verdict, total_usage

CONFIDENT = 0.9
"""Confidence from which the verdict of a model without a calibration stands."""


@dataclass(frozen=True, slots=True)
class CascadeConfig(ThresholdConfig):
    """The settings of a cascade; each model gets those that it takes."""

    votes: int = 1
    """Replies of a language model, for a majority vote."""
    max_tokens: int | None = None
    """Maximum length of a language model's reply; None for its default."""
    prefer: str | None = None
    """Which source decides where two disagree, for the embedded verifier."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One model of a cascade."""

    name: str
    verifier: ClaimVerifier
    confident_from: float = CONFIDENT
    """Confidence from which its verdict stands; the last model's always does."""
    calibrator: str | None = None
    """Name of the calibration that the limit belongs to; a verdict to which it was not applied needs ``CONFIDENT``."""

    def is_sure(self, verdict: Verdict) -> bool:
        """Whether a verdict of this model stands."""
        applied = self.calibrator is None or self.calibrator in (verdict.provenance.calibrator or "")
        return verdict.confidence >= (self.confident_from if applied else CONFIDENT)


class CascadeVerifier:
    """Asks each model only for the claims that those before it left undecided.

    >>> import asyncio
    >>> from vouching.methods import open_embedded
    >>> stages = [Stage("rules", open_embedded("embedded:rules"), 0.99), Stage("both", open_embedded())]
    >>> [verdict] = asyncio.run(CascadeVerifier(stages).verify([Claim("It opened.")], [Source("It was opened late.")]))
    >>> verdict.provenance.model, verdict.provenance.asked
    ('embedded', ('rules',))
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        if len(stages) < 2:
            raise ConfigError(f"a cascade requires at least two models, got {len(stages)}")
        self.stages = tuple(stages)

    @property
    def decoding(self) -> dict[str, str | float | None]:
        """The limit of each model before the last."""
        return {f"confident_from {stage.name}": stage.confident_from for stage in self.stages[:-1]}

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One outcome per claim, in order; its usage is that of all models that were asked.

        Where the last model fails, the outcome is its Unverified, with the last verdict that was not sure enough. A
        model that is out of reach hands over as one that fails does; raises ModelError if that is the last one.
        """
        found: list[list[Outcome]] = [[] for _ in claims]
        left = list(range(len(claims)))
        for stage in self.stages:
            asked = [claims[place] for place in left]
            try:
                outcomes = await stage.verifier.verify(asked, sources) if asked else []
            except ModelError as error:
                if stage is self.stages[-1]:
                    raise
                outcomes = [Unverified(claim, "backend", str(error)) for claim in asked]
            for place, outcome in zip(left, outcomes, strict=True):
                found[place].append(outcome)
            left = [
                place
                for place, outcome in zip(left, outcomes, strict=True)
                if isinstance(outcome, Unverified) or not stage.is_sure(outcome)
            ]
        return [self._decided(outcomes) for outcomes in found]

    async def support(self, text: str, sources: Sequence[Source]) -> float | None:
        """That of the first model."""
        return await self.stages[0].verifier.support(text, sources)

    async def aclose(self) -> None:
        """Close all models."""
        for stage in self.stages:
            await stage.verifier.aclose()

    def _decided(self, outcomes: Sequence[Outcome]) -> Outcome:
        last, usage = outcomes[-1], total_usage(outcomes)
        if isinstance(last, Unverified):
            unsure = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
            return replace(last, usage=usage, verdict=unsure[-1] if unsure else last.verdict)
        asked = tuple(stage.name for stage in self.stages[: len(outcomes) - 1])
        return replace(last, usage=usage, provenance=replace(last.provenance, asked=asked))


def open_cascade(name: str, config: CascadeConfig | None = None) -> CascadeVerifier:
    """A cascade by the names of its models, with commas between them.

    Raises ConfigError for an unknown model, or one that does not judge claims.
    """
    from vouching.methods import method_for

    settings = config or CascadeConfig()
    stages: list[Stage] = []
    for model in (part.strip() for part in name.split(",")):
        method, _ = method_for(model)
        given = {"threshold": settings.threshold, "votes": settings.votes, "prefer": settings.prefer}
        given = {key: value for key, value in given.items() if key in method.takes}
        if settings.max_tokens is not None and "max_tokens" in method.takes:
            given["max_tokens"] = settings.max_tokens
        verifier = method.open(model, given)
        own: str = getattr(getattr(verifier, "model", None), "name", model)
        calibration = find_calibration(own)
        limit = calibration.measured.get("confident_from", CONFIDENT) if calibration else CONFIDENT
        stages.append(Stage(model, verifier, limit, calibration and calibration.name))
    return CascadeVerifier(stages)
