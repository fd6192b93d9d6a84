"""From an answer to its claims, and from their verdicts to the report."""

from vouching.claims.api_answers import Answer, AnswerLike, read_answer, with_verdicts
from vouching.claims.confidence import check_min_confidence, decided
from vouching.claims.decomposition import Decomposition, decompose
from vouching.claims.missing import about_sources
from vouching.claims.summary import claims_report

__all__ = [
    "Answer",
    "AnswerLike",
    "Decomposition",
    "about_sources",
    "check_min_confidence",
    "claims_report",
    "decided",
    "decompose",
    "read_answer",
    "with_verdicts",
]
