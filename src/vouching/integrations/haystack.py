"""Haystack: a component that checks replies against the documents of a pipeline, and repairs or drops them.

    pipeline.add_component("vouch", VouchChecker(action="repair"))
    pipeline.connect("generator.replies", "vouch.replies")
    pipeline.connect("retriever.documents", "vouch.documents")

Tested with haystack-ai 3.4.
"""
# pyright: basic, reportMissingImports=false, reportCallIssue=false, reportAttributeAccessIssue=false
# pyright: reportInvalidTypeForm=false, reportArgumentType=false
# Where Haystack is not installed, the type checker takes this very file for it.

from __future__ import annotations

from typing import Any, Literal

from haystack import Document, component, default_to_dict

from vouching.integrations.judged_text import judge_text

__all__ = ["VouchChecker"]


@component
class VouchChecker:
    """Judges each reply against all documents.

    Args:
        action: "annotate" returns the replies as they are, "repair" with their fixes, "drop" only the supported ones.
        model: the judge.
        threshold: score from which a claim is attributable, in [0, 1].
    """

    def __init__(
        self,
        action: Literal["annotate", "repair", "drop"] = "annotate",
        model: str = "embedded",
        threshold: float = 0.5,
    ) -> None:
        self.action, self.model, self.threshold = action, model, threshold

    def to_dict(self) -> dict[str, Any]:
        """The component as a pipeline stores it."""
        return default_to_dict(self, action=self.action, model=self.model, threshold=self.threshold)

    @component.output_types(replies=list[str], passed=list[bool | None], judgements=list[dict[str, Any]])
    def run(self, replies: list[Any], documents: list[Document], query: str | None = None) -> dict[str, Any]:
        """The replies, whether each passed (None if it could not be judged), and score and reason of each."""
        kept: list[str] = []
        passed: list[bool | None] = []
        judgements: list[dict[str, Any]] = []
        rest = "mark" if self.action == "repair" else None
        for reply in replies:
            text = reply if isinstance(reply, str) else reply.text
            judged = judge_text(text, [*documents], query, model=self.model, threshold=self.threshold, repair_rest=rest)
            revised = judged.report.revised_response if judged.report is not None else None
            passed.append(judged.passed)
            judgements.append({"score": judged.value, "reason": judged.reason})
            if self.action != "drop" or judged.passed:
                kept.append(text if revised is None else revised)
        return {"replies": kept, "passed": passed, "judgements": judgements}
