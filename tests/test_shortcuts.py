"""A response judged by its instruction, in one call."""

from __future__ import annotations

import pytest

import vouching
from vouching.errors import ConfigError, InputError
from vouching.models import ScriptedModel

ASKED = "Describe the sea. Use no commas."
ITEMS = "1. Is it about the sea?\n2. Is it short?"


def test_without_a_model_the_rules_of_the_instruction_decide_and_the_rest_is_said_to_be_unchecked() -> None:
    report = vouching.check_instruction(ASKED, "Wide, blue.")
    assert [(one.rule, one.passed) for one in report.findings] == [("punctuation:no_comma", False)]
    assert report.score == 0.0
    assert [warning.kind for warning in report.warnings] == ["unchecked"]
    assert vouching.check_instruction("Describe the sea.", "Wide.").score is None  # nothing was checked


def test_a_checklist_may_be_text_or_a_list_with_rules() -> None:
    judge = ScriptedModel({"the sea\\?": "yes", "short": "no"})
    assert vouching.check_instruction(ASKED, "Wide, blue.", ITEMS, model=judge).score == 0.5
    mixed = ["Is it short?", {"rule": "punctuation:no_comma"}]
    found = vouching.check_instruction(ASKED, "Wide.", mixed, model=judge).findings
    assert [one.passed for one in found] == [False, True]


def test_the_whole_is_judged_at_once_on_request() -> None:
    judge = ScriptedModel({"fulfil everything": "yes"})
    report = vouching.check_instruction(ASKED, "Wide.", model=judge, holistic=True, votes=2)
    assert report.findings[0].votes == (True, True)


def test_what_rules_cannot_do_is_refused() -> None:
    with pytest.raises(InputError, match="'Is it short\\?' has no rule: choose a rule, or pass a language model"):
        vouching.check_instruction(ASKED, "Wide.", ["Is it short?"])
    with pytest.raises(ConfigError, match="settings and sources require a model"):
        vouching.check_instruction(ASKED, "Wide.", votes=3)
    with pytest.raises(InputError, match="the checklist has no items"):
        vouching.check_instruction(ASKED, "Wide.", [])
    with pytest.raises(InputError, match="the instruction must be a string, got 7"):
        vouching.check_instruction(7, "Wide.")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the instruction must not be empty"):
        vouching.check_instruction(" ", "Wide.")


def test_one_text_is_no_list_of_answers_and_answers_may_come_one_by_one() -> None:
    with pytest.raises(InputError, match=r"answers must be a list of strings, got one string: pass \['1973'\]"):
        vouching.rank("When did it open?", "1973", "The bridge opened in 1973.")
    ranked = vouching.rank("When did it open?", iter(["1937", "1973"]), "The bridge opened in 1973.")  # type: ignore[arg-type]
    assert [answer.text for answer in ranked.answers] == ["1973", "1937"]
