"""A response checked against the rules that its instruction asks for.

Left out: what no rule covers; the report says that it was not checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from vouching.types import ChecklistItem, Report, VerdictWarning
from vouching.verifiers.rules.check import item_result
from vouching.verifiers.rules.find import find_rules


def rules_report(instruction: str, response: str, items: Sequence[ChecklistItem] | None = None) -> Report:
    """Check a response by rules alone: no language model, no network.

    Args:
        instruction: what the response was to do.
        response: the response.
        items: what to check; if None, the rules found in the instruction, with a warning that others may be in it.

    Returns:
        ``score`` is the share of items passed; None where there is no item.

    Raises:
        MissingExtraError: a rule needs to know the language, and langdetect is not installed.

    >>> print(rules_report("Name three fruits. Use no commas.", "Apples, pears and plums."))
    1 item: 0 passed, 1 failed
    <BLANKLINE>
    ✗ Is the response free of commas? (rule punctuation:no_comma): It has 1 comma.
    """
    warnings: tuple[VerdictWarning, ...] = ()
    if items is None:
        items = find_rules(instruction)
        some = "The rules were found by reading the question; what else it asks for was not checked."
        warnings = (VerdictWarning("unchecked", some if items else "The question asks for nothing that has a rule."),)
    findings = tuple(item_result(item, response) for item in items)
    score = sum(one.score for one in findings) / len(findings) if findings else None
    return Report(
        response=response, sources=(), findings=findings, question=instruction, score=score, warnings=warnings
    )
