"""A scorer that reads passages in windows, of which the best counts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from vouching.methods.discriminative.input import Shown
from vouching.methods.discriminative.scorer import NO_EVIDENCE, Candidate, Reads, Scored, ScoreOutcome
from vouching.models.batching import RowScores
from vouching.types import Scale, Unverified, Usage, VerdictWarning


@dataclass(frozen=True, slots=True)
class Rows:
    """What a model is shown for one claim."""

    ids: list[tuple[int, ...]]
    """Token ids: for each window, a row for each part of the claim."""
    cut: int = 0
    """Number of rows whose window was cut."""
    parts: int = 1
    """Parts of the claim."""


class WindowScorer:
    """Probability of support: the best window for each part of the claim, and the mean over its parts.

    Args:
        name: as on the command line.
        form: the form of the input, to which a calibration belongs.
        rows: the model.
        encode: what it is shown for a claim.
    """

    scale: Scale = "unit"
    reads: Reads = "passages"
    shown: Shown | None = None

    def __init__(self, name: str, form: str, rows: RowScores, encode: Callable[[Candidate], Rows]) -> None:
        self.name, self._form, self._rows, self._encode = name, form, rows, encode

    def digest(self, shown: Shown, question: bool = True) -> str:
        """It has one form."""
        return self._form

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """The probability of each; Unverified without a window, or if a number is not finite."""
        started = time.perf_counter()
        encoded = [self._encode(candidate) for candidate in candidates]
        numbers = iter(await self._rows.numbers([row for rows in encoded for row in rows.ids]))
        seconds = (time.perf_counter() - started) / max(1, len(candidates))
        outcomes: list[ScoreOutcome] = []
        for candidate, rows in zip(candidates, encoded, strict=True):
            found = [*islice(numbers, len(rows.ids))]
            usage = Usage(seconds, sum(map(len, rows.ids)), 0, len(rows.ids))
            if not found:
                outcomes.append(Unverified(candidate.claim, "no_evidence", NO_EVIDENCE))
            elif not all(map(math.isfinite, found)):
                outcomes.append(broken(candidate, self.name))
            else:
                best = [max(found[part :: rows.parts]) for part in range(rows.parts)]
                outcomes.append(Scored(sum(best) / len(best), cut_warnings(rows.cut), usage=usage))
        return outcomes

    async def aclose(self) -> None:
        """Stop the thread of the model."""
        await self._rows.aclose()


def broken(candidate: Candidate, name: str) -> Unverified:
    """The outcome for a number that is not finite."""
    return Unverified(candidate.claim, "undecided", f"{name} gave a number that is not finite: its weights are broken")


def cut_warnings(cut: int) -> tuple[VerdictWarning, ...]:
    """The warning about windows that were cut, if there are any."""
    message = f"{cut} windows of the evidence were longer than the limit of the model; their ends were cut off."
    return (VerdictWarning("truncated", message),) if cut else ()
