"""Verdicts and reports to read: in a terminal (rich) and as Markdown. JSON is in ``vouching.types.serial``."""

from __future__ import annotations

from vouching.report.markdown import report_markdown, verdict_markdown
from vouching.report.terminal import print_report, print_verdict

__all__ = ["print_report", "print_verdict", "report_markdown", "verdict_markdown"]
