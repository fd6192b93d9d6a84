"""A claim as the encoder read it: plain records without numpy, and the features that score models take from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from vouching.types import ErrorType, Relation, Span


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """One token of the claim and the most similar token of a source (late interaction)."""

    claim_span: Span
    """The token, with offsets in the claim."""
    source_span: Span
    """Its best match, with offsets in its source."""
    similarity: float
    """Cosine of their states, in [-1, 1]."""
    support: float
    """P(the sources support this token), in [0, 1]."""


@dataclass(frozen=True, slots=True)
class SoftReading:
    """A claim as the encoder read it, with uncalibrated probabilities of the model."""

    relation: Mapping[Relation, float]
    """P of supported, contradicted and not_found; they sum to 1."""
    error_type: Mapping[ErrorType, float]
    """P of each error type, given that the claim is not supported; they sum to 1."""
    matches: tuple[TokenMatch, ...]
    """The soft alignment: one entry per claim token that was read, in order; empty without a source."""
    sentence_similarity: float
    """Cosine of the claim with the most similar sentence that was read, in [-1, 1]; 0 without one."""
    windows_read: int
    windows: int
    """Number of windows of the sources."""
    unread: tuple[Span, ...]
    """Source text outside the windows that were read, in order; empty if everything was read."""
    claim_read: int
    """Number of characters of the claim that were read, from its beginning."""

    @property
    def support(self) -> float:
        """P(supported), in [0, 1]."""
        return self.relation["supported"]

    @property
    def tokens(self) -> tuple[TokenMatch, ...]:
        """The tokens whose support says where an error is."""
        return self.matches


def features_of(reading: SoftReading) -> dict[str, float]:
    """Numbers for a score model: late interaction and heads, each in [-1, 1] but for the log-odds of support.

    A claim without a match has similarity 0 and support 0.

    >>> relation = dict(supported=0.8, contradicted=0.1, not_found=0.1)
    >>> sorted(features_of(SoftReading(relation, {}, (), 0.0, 0, 0, (), 0)))
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
"""Features of trained heads; only "contradicted" counts against the claim."""
LATE_INTERACTION_FEATURES = ("match", "lowest_match", "weak_matches", "sentence_match")
"""Features of states alone."""
_LARGEST_LOG_ODDS = 6.0


def _log_odds(p: float) -> float:
    """``log(p / (1 - p))``, clipped to [-6, 6]."""
    p = min(max(p, 1e-9), 1 - 1e-9)
    return max(-_LARGEST_LOG_ODDS, min(_LARGEST_LOG_ODDS, math.log(p / (1 - p))))
