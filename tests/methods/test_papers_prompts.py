"""The prompts that the papers print, asked as they stand, and the replies that the papers show."""

from __future__ import annotations

import asyncio
import re

import pytest

from vouching.checker import Checker
from vouching.errors import ConfigError
from vouching.methods.blinded.prompt import check_messages, propose_messages, read_answers, read_pairs
from vouching.methods.checklist.prompt import item_messages, make_messages
from vouching.methods.discriminative.generative import GenerativeRanker, read_places, read_points
from vouching.methods.discriminative.open import open_ranker
from vouching.models import ScriptedModel
from vouching.models.base import Message
from vouching.prompts import load_prompt
from vouching.search.agent import SearchAgent
from vouching.search.compress import ModelCompressor, read_reply
from vouching.types import Passage, Question, SearchResult, SearchTurn, Source, Span, Trajectory


def words(messages: tuple[Message, ...] | list[Message]) -> str:
    """All texts of a prompt as single-spaced words."""
    return " ".join(" ".join(message.content for message in messages).split())


def test_an_item_is_asked_as_soft_rlvr_prints_it() -> None:
    # App. A.3.1: one user message, every slot filled once, and nothing of ours around it.
    [message] = item_messages("Use no commas.", "So it is.", "Is it free of commas?", wording="paper")
    assert message.role == "user"
    assert words([message]) == (
        "Here is an instruction given to an AI Assistant: <START OF INSTRUCTION> Use no commas. <END OF INSTRUCTION> "
        "Here is an AI Assistant's response to the instruction: <START OF RESPONSE> So it is. <END OF RESPONSE> Please "
        "answer the following question about the AI Assistant's response to the instruction: <START OF QUESTION> Is it "
        'free of commas? <END OF QUESTION> Output "yes" or "no" and nothing else.'
    )


def test_texts_that_came_with_an_instruction_are_part_of_it_in_the_papers_prompt() -> None:
    [message] = item_messages(
        "Sum it up.", "Short.", "Is it short?", sources=(Source("A long text."),), wording="paper"
    )
    inside = message.content.split("<START OF INSTRUCTION>")[1].split("<END OF INSTRUCTION>")[0]
    assert inside.split() == ["Sum", "it", "up.", "A", "long", "text."]


def test_a_checklist_is_asked_for_as_soft_rlvr_prints_it_and_its_items_are_judged_so() -> None:
    model = ScriptedModel(
        {"exhaustive checklist": "1. Is it a bridge?\n2. Is it in Japan?", "Is it a bridge": "yes", "in Japan?": "no"}
    )
    report = Checker(model, method="checklist", wording="paper").check_instruction(
        "A bridge in Japan.", "Tower Bridge."
    )
    assert [finding.passed for finding in report.findings] == [True, False]
    assert words(make_messages("x", "paper")).startswith("Here is an instruction given to an AI assistant: <START OF")
    assert words(make_messages("x", "paper")).endswith("DO NOT output anything else besides the numbered list.")


@pytest.mark.parametrize("setting", ["holistic", "reasons"])
def test_what_soft_rlvr_prints_no_prompt_for_is_refused(setting: str) -> None:
    with pytest.raises(ConfigError, match="Soft-RLVR prints no prompt"):
        Checker(ScriptedModel([]), method="checklist", wording="paper", **{setting: True})


def test_marchs_example_replies_are_read_and_its_prompts_have_no_other_slots() -> None:
    # App. A.2 shows the form of a question, App. A.3 two answers; both are printed in the prompts themselves.
    [asked] = propose_messages("In 2025, 50 people sat it.", wording="paper")
    assert asked.content.endswith("Model Response: In 2025, 50 people sat it.")
    [pair] = read_pairs("- Question: How many people will take the bar exam in the Beijing area in 2025? [Answer: 50]")
    assert (pair.question.text[:8], pair.answer) == ("How many", "50")
    printed = load_prompt("vouching.methods.blinded", "prompts/paper_check").text
    example = re.search(r"Example Response:\n(.*?)\n\nNow", printed, re.S)
    assert example is not None
    first, second = read_answers(example[1], 2)
    assert first is not None
    assert second is not None
    assert (first.answers, second.answers) == (("50",), ())


def test_a_blinded_audit_works_in_marchs_words_and_the_checker_sees_nothing_of_the_response() -> None:
    asks = {
        "data annotation": "- Question: How long is the bridge? [Answer: 5]",
        "data validation": "1. Evidence: Document 1 says it is 6 km long. [Answer: 6]",
    }
    model = ScriptedModel(asks)
    report = Checker(model, method="blinded", wording="paper").check_response("The bridge is 5 km.", "It is 6 km long.")
    assert [finding.outcome for finding in report.findings] == ["different"]
    checked = [words(list(call.messages)) for call in model.asked if "data validation" in words(list(call.messages))]
    assert checked
    assert not any("5 km" in text for text in checked)
    assert "Document 1: It is 6 km long." in checked[0]
    assert "- Question 1: How long is the bridge?" in checked[0]


def test_marchs_words_ask_for_numbers_only_and_need_a_language_model() -> None:
    with pytest.raises(ConfigError, match="numbers only"):
        Checker(ScriptedModel([]), method="blinded", wording="paper", scope="facts")
    with pytest.raises(ConfigError, match="wording cannot be used"):
        Checker(method="blinded", wording="paper", scope="numbers")
    with pytest.raises(ConfigError, match="wording must be one of ours, paper, got 'theirs'"):
        Checker(ScriptedModel([]), method="blinded", wording="theirs")


def found() -> Trajectory:
    """A search with one result."""
    text = "The bridge opened in 1973."
    passage = Passage(Span(text, 0, len(text), "bridge"), title="Bridge", score=1.0)
    turn = SearchTurn("", "local", "bridge", SearchResult("bridge", (passage,), ()))
    return Trajectory("When?", ("In 1937.", "In 1973."), (turn,), "ready", "scripted")


def test_divas_examples_of_a_verdict_are_read() -> None:
    # Prompts D.3 to D.5 end with an example each.
    assert read_places("**Final Verdict**: <verdict> Answer3 > Answer1 > Answer2 </verdict>", 3) == [2, 3, 1]
    assert read_points("**Final Verdict**: <verdict> 3 </verdict>") == 3.0


@pytest.mark.parametrize("mode", ["agentic", "points"])
def test_divas_prompts_follow_the_search_as_a_message_before_them(mode: str) -> None:
    reply = "<verdict> Answer2 > Answer1 </verdict>" if mode == "agentic" else "<verdict> 4 </verdict>"
    model = ScriptedModel({"Based on the preceding conversation": reply})

    async def find(question: str, answers: object = ()) -> Trajectory:
        return found()

    ranker = GenerativeRanker(model, mode, find=find, wording="paper")  # type: ignore[arg-type]
    ranking = asyncio.run(ranker.rank("When?", ["In 1937.", "In 1973."]))
    assert len(ranking.answers) == 2
    history, asked = model.asked[0].messages
    assert "opened in 1973" in history.content
    assert asked.content.startswith("Based on the preceding conversation, your task is to ")
    assert ("Answer1: In 1937.\nAnswer2: In 1973." in asked.content) is (mode == "agentic")


def test_divas_compression_is_asked_for_and_read_in_the_papers_form() -> None:
    # The form of prompt D.2, filled with Figure 10's content.
    reply = (
        "**Useful Facts:** Pluto is the Roman god of the underworld; Pluto is known as Dis Pater;\n"
        "**Reasoning:** 1. Search results consistently mention Pluto.\n**Final Verdict:** Intermediate"
    )
    parts = read_reply(reply)
    assert parts is not None
    assert parts.facts == ("Pluto is the Roman god of the underworld", "Pluto is known as Dis Pater")
    assert parts.verdict == "Intermediate"
    model = ScriptedModel([reply])
    asyncio.run(ModelCompressor(model, wording="paper").compress(found(), "In 1937."))
    [message] = model.asked[0].messages
    assert "**Answer to Verify:** In 1937." in message.content
    assert "opened in 1973" in message.content


def test_divas_search_is_asked_for_in_the_papers_words() -> None:
    class Shelf:
        name, kind = "shelf", "local"

        async def search(self, query: str, limit: int) -> SearchResult:
            return SearchResult(query, (), ())

        async def aclose(self) -> None: ...

    model = ScriptedModel(["READY_FOR_EVALUATION"])
    ended = asyncio.run(SearchAgent(model, [Shelf()], wording="paper").search("When?", ["In 1937."])).ended
    assert ended == "ready"
    [message] = model.asked[0].messages
    assert words([message]).startswith("Your task is to determine the correct factual ranking of the provided answers.")
    assert "Question: When?\nAnswer1: In 1937." in message.content


def test_the_papers_words_need_a_language_model_that_searches_or_ranks() -> None:
    with pytest.raises(ConfigError, match="DiVA's prompts are for language models"):
        open_ranker("embedded:rules", wording="paper")


def test_check_messages_in_our_words_are_unchanged_by_the_setting() -> None:
    asked = [Question("How long is it?")]
    assert check_messages(asked, ()) == check_messages(asked, (), "ours") != check_messages(asked, (), "paper")
