"""Exact rules: the 25 requirements of IFEval, checked without a model, and found in instructions."""

from vouching.methods.rules.catalog import RULES, bind
from vouching.methods.rules.find import find_rules
from vouching.methods.rules.verify import (
    followed,
    item_result,
    loose_variants,
    named_items,
    passes_loosely,
    rule_on,
    rules_report,
)

__all__ = [
    "RULES", "bind", "find_rules", "followed", "item_result", "loose_variants", "named_items", "passes_loosely",
    "rule_on", "rules_report",
]  # fmt: skip
