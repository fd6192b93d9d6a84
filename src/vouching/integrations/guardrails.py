"""Guardrails: a validator of texts, whose fix is the repaired text.

    guard = Guard().use(Attributable(on_fail="fix"))
    guard.validate(answer, metadata={"sources": documents, "question": question})

A text that could not be judged fails, since a guard must not let it pass unseen; with ``unverified="pass"`` it passes.
Tested with guardrails-ai 0.11.
"""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any, Literal

from guardrails.validator_base import FailResult, PassResult, ValidationResult, Validator, register_validator

from vouching.integrations.judged_text import judge_text

__all__ = ["Attributable"]


@register_validator(name="vouch/attributable", data_type="string")
class Attributable(Validator):
    """Passes a text whose claims the sources of the metadata support.

    Args:
        model: the judge.
        threshold: score from which a claim is attributable, in [0, 1].
        unverified: what happens to a text that could not be judged.
        on_fail: what Guardrails does with a text that fails.
    """

    required_metadata_keys = ["sources"]  # noqa: RUF012 - the base class declares it as a list

    def __init__(
        self,
        model: str = "embedded",
        threshold: float = 0.5,
        unverified: Literal["pass", "block"] = "block",
        on_fail: Any = None,
    ) -> None:
        super().__init__(on_fail=on_fail, model=model, threshold=threshold, unverified=unverified)
        self._judge, self._threshold, self._unverified = model, threshold, unverified

    def _validate(self, value: Any, metadata: dict[str, Any]) -> ValidationResult:
        judged = judge_text(
            str(value),
            metadata["sources"],
            metadata.get("question"),
            model=self._judge,
            threshold=self._threshold,
            repair_rest="mark",
        )
        details = {"score": judged.value}
        unknown = judged.report is None or any(one.passed is None for one in judged.report.findings)
        if judged.passed or (judged.report is not None and not judged.report.findings):
            return PassResult(metadata=details)
        if unknown and judged.passed is not False and self._unverified == "pass":
            return PassResult(metadata=details)
        fix = None if unknown or judged.report is None else judged.report.revised_response
        return FailResult(error_message=judged.reason, fix_value=fix, metadata=details)
