"""Rules found in the text of an instruction: what can be verified with no language model.

Precision goes before recall: what is said of a part, in a quotation, in a question or only roughly gives no rule. Left
out: languages other than English, and every requirement for which there is no exact checker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vouching.methods.rules.directions import Direction, directions
from vouching.methods.rules.find_counts import frequency_rules, length_rules, list_rules, paragraph_rules
from vouching.methods.rules.find_form import answer_rules, case_rules, language_rules, mark_rules
from vouching.methods.rules.find_words import end_rules, word_rules
from vouching.types import ChecklistItem

_FINDERS: tuple[Callable[[Direction], Iterator[ChecklistItem]], ...] = (
    length_rules, list_rules, paragraph_rules, frequency_rules,
    word_rules, end_rules,
    case_rules, language_rules, mark_rules, answer_rules,
)  # fmt: skip
_CASES = ("change_case:english_capital", "change_case:english_lowercase")


def find_rules(instruction: str) -> tuple[ChecklistItem, ...]:
    """The rule items that an instruction asks for, in its order; each names the words that ask for it.

    >>> found = find_rules("Write a poem in at least 20 words. Do not use any commas.")
    >>> [(item.rule, item.span.text) for item in found]
    [('length_constraints:number_words', 'at least 20 words'), ('punctuation:no_comma', 'Do not use any commas')]
    """
    found: list[ChecklistItem] = []
    for said in directions(instruction):
        for finder in _FINDERS:
            found += [item for item in finder(said) if all(item.text != known.text for known in found)]
    return tuple(sorted(_consistent(found), key=lambda item: item.span.start if item.span else 0))


def _consistent(items: list[ChecklistItem]) -> list[ChecklistItem]:
    """Without rules that say the same twice, or that cannot hold together."""
    languages = {item.arguments["language"] for item in items if item.rule == "language:response_language"}
    cases = {item.rule for item in items}.intersection(_CASES)
    if len(cases) > 1 or languages - {"en"}:
        items = [item for item in items if item.rule not in _CASES]
    elif cases:  # which ask for English by themselves
        items = [item for item in items if item.rule != "language:response_language"]
    # Two languages, or two endings, are two wishes of which nobody can tell the right one.
    for rule in ("language:response_language", "startend:end_checker"):
        if sum(item.rule == rule for item in items) > 1:
            items = [item for item in items if item.rule != rule]
    return items
