"""What a prompt holds: instructions alone, or a context beside what it asks."""

from __future__ import annotations

import pytest

from tests.processor_time import ends_within
from vouching.text.prompts import given_context, only_instructs

FACT = "The bridge opened in 1973."


@pytest.mark.parametrize(
    "prompt",
    [
        "You are a helpful assistant.",
        "Answer in French.",
        "Be polite. If you do not know, say so.",
        "You are a careful analyst. Answer only from the context. Do not make things up.",
        "Your task is to summarize the text. Use at most 100 words.",
        "Respond concisely.",
        "Never give legal advice.",
        "You must answer in JSON. Always cite sources.",
        "The answer should be short.",
        "# Rules\n- Use bullet points.\n- Keep it to 2-3 sentences.\n- Don't mention competitors.",
        "Please answer the user's question. When the documents disagree, quote both.",
    ],
)
def test_a_prompt_of_instructions_alone_states_nothing(prompt: str) -> None:
    assert only_instructs(prompt)
    assert not only_instructs(f"{prompt} {FACT}")


@pytest.mark.parametrize(
    "prompt",
    [
        FACT,
        "You are a bot. Our opening hours are 9 to 5.",
        "You can return shoes within 30 days.",
        "You must be 18 to enter.",
        "Use this: the office is closed on Mondays.",
        "Call 555-1234 for refunds.",
        "You are Ada, the bot of Acme, which sells shoes.",
        "Shoes: 80 euros.",
        "Refunds are paid by cheque.",
    ],
)
def test_a_prompt_that_states_something_is_more_than_instructions(prompt: str) -> None:
    assert not only_instructs(prompt)


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        (f"Context: {FACT}\n\nQuestion: When did it open?", "When did it open?"),
        (
            f"Answer from the context.\n<context>\n{FACT}\n</context>\nWhen did it open?",
            "Answer from the context.\nWhen did it open?",
        ),
        (f"## Documents\n{FACT}\n\n## Question\nWhen did it open?", "When did it open?"),
        (f"**Context:**\n{FACT}\n\n**Question:** When did it open?", "When did it open?"),
        (f'When did it open? Use this text: """{FACT}"""', "When did it open? Use this text:"),
        (f"Question: When did it open?\n\nRetrieved passages:\n{FACT}", "When did it open?"),
        (f"[Source 1]: {FACT}\nQ: When did it open?", "When did it open?"),
        (f"<documents><document>{FACT}</document></documents> When did it open?", "When did it open?"),
        (f'<document id="3">{FACT}</document>\n\nWhen did it open?', "When did it open?"),
    ],
)
def test_a_context_is_told_from_the_question(prompt: str, question: str) -> None:
    assert given_context(prompt) == (FACT, question)


@pytest.mark.parametrize(
    "prompt",
    [
        "When did it open?",
        f"Is it so? {FACT}",
        "What is the context of this poem?",
        "Context: none",
        "Text me the answer: when did it open?",
        "Which sources do you use?",
    ],
)
def test_a_message_without_a_marked_context_has_none(prompt: str) -> None:
    assert given_context(prompt) == ("", prompt)


@pytest.mark.parametrize(
    "piece", ["<context>", "context: ", '"""', ":", "1", " ", "If a, ", "Question:\n", "<document "]
)
def test_no_prompt_takes_long(piece: str) -> None:
    with ends_within():
        given_context(piece * (200_000 // len(piece)))
        only_instructs("Use " + piece * (50_000 // len(piece)))
