"""Verdicts and reports to read: in a terminal (rich), as Markdown, as one HTML file. JSON is in ``vouching.types``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.report.assurance import print_assurance, write_assurance
    from vouching.report.markdown import report_markdown, verdict_markdown
    from vouching.report.outcomes import OutcomePolicy, Rule, read_outcomes
    from vouching.report.page import Entry, write_report
    from vouching.report.terminal import print_ranking, print_report, print_verdict

__all__ = [
    "Entry",
    "OutcomePolicy",
    "Rule",
    "print_assurance",
    "print_ranking",
    "print_report",
    "print_verdict",
    "read_outcomes",
    "report_markdown",
    "verdict_markdown",
    "write_assurance",
    "write_report",
]

__getattr__, __dir__ = lazily(__name__)
