"""Checklists made by a scripted model: made again where lint finds faults, and what becomes of those that stay."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from vouching.errors import InputError, ModelRefusedError, ModelUnavailableError
from vouching.methods.checklist.make import ATTEMPTS, ChecklistMaker, Made, lint_by_model
from vouching.methods.checklist.prompt import conversation_text
from vouching.models import ScriptedModel
from vouching.models.scripted import Script

ASKED = 'Write exactly three bullet points about Paris. Do not use the word "travel".'
GOOD = '1. Does it have exactly three bullet points?\n2. Is each about Paris?\n3. Does it avoid the word "travel"?'
ONE_FAULT = f"{GOOD}\n4. Is it engaging?"
TWO_FAULTS = f"{ONE_FAULT}\n5. Is it creative?"


def made(script: Script, **options: Any) -> tuple[Made, ScriptedModel]:
    model = ScriptedModel(script)
    return asyncio.run(ChecklistMaker(model, **options).make(ASKED)), model


def test_a_list_without_faults_is_taken_at_once() -> None:
    found, model = made([GOOD])
    assert found.checklist is not None
    assert [item.text for item in found.checklist.items] == [line[3:] for line in GOOD.splitlines()]
    assert (found.attempts, found.faults, found.checklist.instruction) == (1, (), ASKED)
    assert (model.asked[0].sampling.temperature, model.asked[0].sampling.seed) == (0.0, 0)


def test_a_list_with_faults_goes_back_with_them() -> None:
    found, model = made([ONE_FAULT, GOOD], seed=7)
    assert (found.attempts, found.faults) == (2, ())
    assert "- item 4 is spurious: the instruction does not ask for 'engaging'" in model.asked[1].last
    assert (model.asked[1].sampling.temperature, model.asked[1].sampling.seed) == (0.7, 8)


def test_the_list_with_the_fewest_faults_is_kept_with_them() -> None:
    found, _ = made([TWO_FAULTS, ONE_FAULT, TWO_FAULTS])
    assert found.checklist is not None
    assert (found.attempts, len(found.checklist.items), [fault.item for fault in found.faults]) == (ATTEMPTS, 4, [4])
    assert len(found.completions) == 3


LOOP = "\n".join(f"{number}. {'Yes: Yes' if number % 2 else 'No: No'}" for number in range(1, 141))
STATED = '1. It has exactly three bullet points.\n2. Is each about Paris?\n3. Does it avoid the word "travel"?'


def test_a_list_that_can_be_judged_is_better_than_one_with_fewer_faults() -> None:
    found, _ = made([STATED, TWO_FAULTS, STATED])  # one item that is no question; two items that nothing asks for
    assert (len(found.faults), found.rejected) == (2, {})


def test_items_that_are_no_questions_are_rejected_by_number() -> None:
    found, _ = made({".": STATED})
    assert {number: fault.kind for number, fault in found.rejected.items()} == {1: "form"}
    assert found.failure(ASKED) is None


def test_the_loop_of_a_model_is_noticed_and_no_list() -> None:
    found, model = made({".": LOOP})
    assert (found.checklist, found.attempts, len(model.asked)) == (None, ATTEMPTS, ATTEMPTS)
    failed = found.failure(ASKED)
    assert failed is not None
    assert (failed.reason, "repeats one entry 70 times: 'Yes: Yes'" in failed.message) == ("unparsable", True)


def test_a_list_that_is_too_long_is_rejected_as_a_whole() -> None:
    found, _ = made({".": "\n".join(f"{number}. Does it name city {number}?" for number in range(1, 30))})
    assert len(found.rejected) == 29
    failed = found.failure(ASKED)
    assert failed is not None
    assert "it has 29 items, expected at most 25" in failed.message


def test_a_list_that_was_cut_off_names_the_option() -> None:
    failed = made({".": "word " * 99}, max_tokens=60)[0].failure(ASKED)
    assert failed is not None
    assert failed.reason == "truncated"
    assert failed.message.endswith(": raise max_tokens (--max-tokens)")


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ({".": "I cannot."}, "no numbered list"),
        ({".": "word " * 99}, "cut off at 60 tokens: write a shorter list"),
        ([ModelRefusedError("too long")], "too long"),
    ],
)
def test_without_a_list_there_is_no_checklist_and_the_reason_stays(script: Script, complaint: str) -> None:
    found, _ = made(script, max_tokens=60)
    assert found.checklist is None
    assert complaint in str(found.faults[0])


def test_an_outage_is_for_the_caller_to_wait_for() -> None:
    with pytest.raises(ModelUnavailableError):
        made([ModelUnavailableError("busy")])


def test_a_critic_is_asked_where_rules_find_nothing() -> None:
    critic = ScriptedModel(["2 | spurious | nobody wants that", "none"])
    found, model = made([GOOD, GOOD], critic=critic)
    assert (found.attempts, found.faults, len(critic.asked)) == (2, (), 2)
    assert "item 2 is spurious: nobody wants that" in model.asked[1].last


def test_lines_of_a_critic_that_name_nothing_say_nothing() -> None:
    unusable = (
        "9 | spurious | no such item\n0 | spurious | no item\n1 | missing | not of an item\n1 | dull | no fault\nnone"
    )
    found, _ = made([GOOD])
    assert found.checklist is not None
    assert asyncio.run(lint_by_model(ScriptedModel([unusable]), found.checklist))[0] == ()
    reply = "0 | missing | the title\n1 | under-decomposed | two things"
    faults, _ = asyncio.run(lint_by_model(ScriptedModel([reply]), found.checklist))
    assert [(fault.kind, fault.item) for fault in faults] == [("missing", None), ("under-decomposed", 1)]


def test_the_instruction_is_data_for_who_writes_the_checklist() -> None:
    _, model = made([GOOD])
    system, user = model.asked[0].messages
    assert "do not carry it out" in system.content
    assert user.content.splitlines()[1] == ASKED
    assert user.content.startswith("<<<")


def test_a_conversation_is_an_instruction_of_several_turns() -> None:
    turns = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Yes?"}]
    assert conversation_text([*turns, {"role": "user", "content": "A poem. "}]).endswith("[user]\nA poem.")
    for wrong in ([], turns, [{"role": "user"}]):
        with pytest.raises(InputError):
            conversation_text(wrong)
