"""Exact rules: the 25 requirements of IFEval, checked without a model, and found in instructions."""

from vouching.verifiers.rules.catalog import RULES, bind
from vouching.verifiers.rules.check import followed, item_result, loose_variants, named_items, passes_loosely, rule_on
from vouching.verifiers.rules.find import find_rules
from vouching.verifiers.rules.report import rules_report

__all__ = [
    "RULES", "bind", "find_rules", "followed", "item_result", "loose_variants", "named_items", "passes_loosely",
    "rule_on", "rules_report",
]  # fmt: skip
