"""Vouch checks what language models say against the evidence, and says why.

>>> import vouching
>>> verdict = vouching.check("The bridge opened in 1937.", "The bridge opened to traffic in 1973.")
>>> verdict.label, verdict.fix_suggestion
('Not Attributable', 'Change 1937 to 1973.')

Names are loaded on first use, so that importing the package is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.checker import Checker
    from vouching.claims import with_verdicts
    from vouching.client import AsyncClient, Client
    from vouching.errors import BackendError, ConfigError, InputError, MissingExtraError, VouchError
    from vouching.evidence_windows import score_pairs
    from vouching.retrieval.judge import acheck_context, check_context
    from vouching.shortcuts import (
        acheck,
        acheck_instruction,
        acheck_many,
        acheck_response,
        arank,
        check,
        check_instruction,
        check_many,
        check_response,
        check_trace,
        open_audit,
        rank,
    )
    from vouching.types import Claim, Ranking, Report, Source, Span, Unverified, Verdict

__all__ = [
    "AsyncClient",
    "BackendError",
    "Checker",
    "Claim",
    "Client",
    "ConfigError",
    "InputError",
    "MissingExtraError",
    "Ranking",
    "Report",
    "Source",
    "Span",
    "Unverified",
    "Verdict",
    "VouchError",
    "__version__",
    "acheck",
    "acheck_context",
    "acheck_many",
    "acheck_instruction",
    "acheck_response",
    "arank",
    "check",
    "check_context",
    "check_instruction",
    "check_many",
    "check_response",
    "check_trace",
    "open_audit",
    "rank",
    "score_pairs",
    "with_verdicts",
]

__getattr__, __dir__ = lazily(__name__)
