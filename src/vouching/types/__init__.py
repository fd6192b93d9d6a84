"""The nouns: frozen records that cross module boundaries. They only hold data and show themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily
from vouching.types.assurance import (
    Assurance,
    EvidencePointer,
    Proposal,
    Rule,
    SafetyCase,
    Task,
    TaskUnit,
    UnitResult,
    Value,
    ValueType,
)
from vouching.types.citations import CitationOutcome, CitationResult
from vouching.types.findings import (
    BlindOutcome,
    Checked,
    Checklist,
    ChecklistItem,
    ItemResult,
    Pair,
    PairResult,
    Question,
)
from vouching.types.report import REVIEWED_VERSION, Finding, NonClaim, Report, ReviewedVerdict, Totals
from vouching.types.retrieval import ContextFinding, ContextReport
from vouching.types.search import (
    Asked,
    Compression,
    EngineKind,
    RankedAnswer,
    Ranking,
    RankMode,
    Scale,
    SearchEnd,
    SearchResult,
    SearchTurn,
    Trajectory,
)
from vouching.types.spans import (
    ERROR_TYPES,
    Claim,
    ErrorType,
    Example,
    Judgment,
    Label,
    Passage,
    Relation,
    Source,
    Span,
    Status,
)
from vouching.types.training import Group, Reward, Rollout
from vouching.types.verdict import (
    NOT_FOUND,
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

if TYPE_CHECKING:
    from vouching.types.serial import from_json, json_schema, to_json

__all__ = [
    "ERROR_TYPES",
    "NOT_FOUND",
    "REVIEWED_VERSION",
    "VERDICT_VERSION",
    "Alignment",
    "Asked",
    "Assurance",
    "BlindOutcome",
    "Checked",
    "Checklist",
    "ChecklistItem",
    "CitationOutcome",
    "CitationResult",
    "Claim",
    "Compression",
    "ContextFinding",
    "ContextReport",
    "Costing",
    "EngineKind",
    "ErrorType",
    "EvidencePointer",
    "Example",
    "Finding",
    "Group",
    "ItemResult",
    "Judgment",
    "Label",
    "NonClaim",
    "Pair",
    "PairResult",
    "Passage",
    "Proposal",
    "Provenance",
    "Question",
    "RankMode",
    "RankedAnswer",
    "Ranking",
    "ReasoningStep",
    "Relation",
    "Report",
    "ReviewedVerdict",
    "Reward",
    "Rollout",
    "Rule",
    "SafetyCase",
    "Scale",
    "SearchEnd",
    "SearchResult",
    "SearchTurn",
    "Source",
    "Span",
    "Status",
    "Task",
    "TaskUnit",
    "Totals",
    "Trajectory",
    "UnitResult",
    "Unverified",
    "Usage",
    "Value",
    "ValueType",
    "Verdict",
    "VerdictWarning",
    "from_json",
    "json_schema",
    "to_json",
    "total_usage",
]

__getattr__, __dir__ = lazily(__name__)
