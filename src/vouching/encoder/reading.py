"""What the encoder found: one claim beside the windows of its sources, folded into one reading.

Left out: thresholds and labels; they are the verifier's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from vouching.types import ErrorType, Relation, Span


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """One token of the claim and the token of a source that is most like it (late interaction)."""

    claim_span: Span
    """The token, with offsets in the claim."""
    source_span: Span
    """Its best match, with offsets in the source it names."""
    similarity: float
    """Cosine of their states, in [-1, 1]."""
    support: float
    """P(the sources support this token), in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim as the encoder read it. Probabilities are the model's own, not calibrated."""

    relation: Mapping[Relation, float]
    """P of supported, contradicted and not_found; they add up to 1."""
    error_type: Mapping[ErrorType, float]
    """P of each error type, given that the claim is not supported; they add up to 1."""
    matches: tuple[TokenMatch, ...]
    """The soft alignment: one entry for each token of the claim that was read, in order; empty without a source."""
    sentence_similarity: float
    """Cosine of the claim with the most similar sentence that was read, in [-1, 1]; 0 without one."""
    best_sentence: Span | None
    """That sentence."""
    windows_read: int
    """How many windows were read."""
    windows: int
    """How many there are."""
    unread: tuple[Span, ...]
    """What the sources say outside the windows that were read, in order; empty if everything was read."""
    claim_read: int
    """How many characters of the claim were read; what comes after was not."""

    @property
    def support(self) -> float:
        """P(supported), in [0, 1]."""
        return self.relation["supported"]


def features_of(reading: Reading) -> dict[str, float]:
    """Numbers for a score model: late interaction and heads, each in [-1, 1] but for the log-odds of support.

    A claim without a match has similarity 0 and support 0.

    >>> sorted(features_of(Reading(dict(supported=.8, contradicted=.1, not_found=.1), {}, (), 0.0, None, 0, 0, (), 0)))
    ... # doctest: +NORMALIZE_WHITESPACE
    ['contradicted', 'lowest_match', 'lowest_support', 'match', 'sentence_match', 'supported', 'token_support',
     'weak_matches']
    """
    similar = sorted(match.similarity for match in reading.matches) or [0.0]
    support = sorted(match.support for match in reading.matches) or [0.0]
    weakest = max(1, len(similar) // 5)
    return {
        "supported": _log_odds(reading.support),
        "contradicted": reading.relation["contradicted"],
        "token_support": sum(support) / len(support),
        "lowest_support": support[0],
        "match": sum(similar) / len(similar),
        "lowest_match": similar[0],
        "weak_matches": sum(similar[:weakest]) / weakest,
        "sentence_match": reading.sentence_similarity,
    }


HEAD_FEATURES = ("supported", "contradicted", "token_support", "lowest_support")
"""Features that come from trained heads; only "contradicted" speaks against the claim."""
LATE_INTERACTION_FEATURES = ("match", "lowest_match", "weak_matches", "sentence_match")
"""Features that come from states alone."""
_LARGEST_LOG_ODDS = 6.0


def _log_odds(p: float) -> float:
    """``log(p / (1 - p))``, at most 6 from 0."""
    p = min(max(p, 1e-9), 1 - 1e-9)
    return max(-_LARGEST_LOG_ODDS, min(_LARGEST_LOG_ODDS, math.log(p / (1 - p))))
