"""The nouns: frozen records that cross module boundaries. Nothing here reads, computes or prints more than itself."""

from vouching.types.assurance import (
    Assurance,
    Evidence,
    Proposal,
    Rule,
    SafetyCase,
    Task,
    TaskUnit,
    UnitResult,
    Value,
    ValueType,
)
from vouching.types.blinded import BlindOutcome, Checked, Pair, PairResult, Question
from vouching.types.checklist import Checklist, ChecklistItem, ItemResult
from vouching.types.labels import ERROR_TYPES, ErrorType, Judgment, Label, Relation, Status
from vouching.types.ranking import RankedAnswer, Ranking, RankMode, Scale
from vouching.types.report import Finding, NonClaim, Report, Totals
from vouching.types.reviewed import REVIEWED_VERSION, ReviewedVerdict
from vouching.types.search import Asked, Compression, EngineKind, SearchEnd, SearchResult, SearchTurn, Trajectory
from vouching.types.spans import Claim, Example, Passage, Source, Span
from vouching.types.training import Group, Reward, Rollout
from vouching.types.verdict import (
    VERDICT_VERSION,
    Alignment,
    Costing,
    Provenance,
    ReasoningStep,
    Unverified,
    Usage,
    Verdict,
    VerdictWarning,
    total_usage,
)

__all__ = [
    "ERROR_TYPES", "REVIEWED_VERSION", "VERDICT_VERSION", "Alignment", "Asked", "Assurance", "BlindOutcome", "Checked",
    "Checklist", "ChecklistItem", "Claim", "Compression", "Costing", "EngineKind", "ErrorType", "Evidence", "Example",
    "Finding", "Group", "ItemResult", "Judgment", "Label", "NonClaim", "Pair", "PairResult", "Passage", "Proposal",
    "Provenance", "Question", "RankMode", "RankedAnswer", "Ranking", "ReasoningStep", "Relation", "Report",
    "ReviewedVerdict", "Reward", "Rollout", "Rule", "SafetyCase", "Scale", "SearchEnd", "SearchResult", "SearchTurn",
    "Source", "Span", "Status", "Task", "TaskUnit", "Totals", "Trajectory", "UnitResult", "Unverified", "Usage",
    "Value", "ValueType", "Verdict", "VerdictWarning", "total_usage",
]  # fmt: skip
