"""What a cascade decided, by model: share, cost and expected loss, from the lines of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class _Decided:
    claims: int = 0
    seconds: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    loss: float = 0.0

    def words(self, name: str, total: int) -> str:
        each = f"{self.seconds / self.claims:.3f} s and {self.tokens / self.claims:,.0f} tokens a claim"
        each += f", cost {self.cost / self.claims:.2g}" if self.cost else ""
        return (
            f"{name} decided {self.claims:,} of {total:,} claims ({self.claims / total:.0%}): {each}, "
            f"expected loss {self.loss / self.claims:.3f}"
        )


def cascade_words(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each model that decided claims, and one for all and one for the claims not verified, if there are any.

    The expected loss is the mean of 1 - confidence: the expected share of wrong labels, if the confidences are
    calibrated. The cost of a claim is that of all models that were asked for it.

    >>> verdict = {"kind": "verdict", "confidence": 0.9, "usage": {"seconds": 0.5, "prompt_tokens": 7,
    ...     "completion_tokens": 1}, "provenance": {"model": "embedded:rules"}}
    >>> cascade_words([verdict])[0]
    'embedded:rules decided 1 of 1 claims (100%): 0.500 s and 8 tokens a claim, expected loss 0.100'
    """
    models: dict[str, _Decided] = {}
    failed = 0
    for line in lines:
        for finding in line.get("findings", [line]):
            failed += finding.get("kind") == "unverified"
            if finding.get("kind") != "verdict":
                continue
            one = models.setdefault(finding["provenance"]["model"], _Decided())
            one.claims += 1
            one.seconds += finding["usage"]["seconds"]
            one.tokens += finding["usage"]["prompt_tokens"] + finding["usage"]["completion_tokens"]
            one.cost += finding["usage"].get("cost", 0.0)
            one.loss += 1.0 - finding["confidence"]
    decided = sum(one.claims for one in models.values())
    total = decided + failed
    whole = _Decided(
        decided,
        sum(one.seconds for one in models.values()),
        sum(one.tokens for one in models.values()),
        sum(one.cost for one in models.values()),
        sum(one.loss for one in models.values()),
    )
    listed = [*models.items(), *([("all models", whole)] if len(models) > 1 else [])]
    said = [one.words(name, total) for name, one in listed]
    return [*said, *([f"no model verified {failed:,} of {total:,} claims ({failed / total:.0%})"] if failed else [])]
