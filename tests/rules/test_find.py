"""Rules found in instructions: phrasings of our own, right and wrong ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processor_time import ends_within
from vouching.rules.find import find_rules
from vouching.rules.verify import named_items

WORDS, SENTENCES = "length_constraints:number_words", "length_constraints:number_sentences"
EXISTENCE, FORBIDDEN, FREQUENCY = "keywords:existence", "keywords:forbidden_words", "keywords:frequency"


def found(instruction: str) -> list[tuple[object, ...]]:
    """Rule and arguments of each item, in order."""
    return [(item.rule, *item.arguments.values()) for item in find_rules(instruction)]


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Write a letter of at least 300 words.", (WORDS, 300, "at least")),
        ("Write a 300+ word essay about rain.", (WORDS, 300, "at least")),
        ("Your answer must not exceed 50 words.", (WORDS, 51, "less than")),
        ("Keep it under one hundred words.", (WORDS, 100, "less than")),
        ("Please use no more than two hundred and fifty words.", (WORDS, 251, "less than")),
        ("Limit your response to 40 words.", (WORDS, 41, "less than")),
        ("The essay should be 400 or more words.", (WORDS, 400, "at least")),
        ("The essay should be 400 words or more.", (WORDS, 400, "at least")),
        ("Your reply should have more than 20 words.", (WORDS, 21, "at least")),
        ("Never write more than 20 words.", (WORDS, 21, "less than")),
        ("Your response should contain less than 6 sentences.", (SENTENCES, 6, "less than")),
        ("Answer with at least five sentences.", (SENTENCES, 5, "at least")),
        ("Use exactly 4 bullet points.", ("detectable_format:number_bullet_lists", 4)),
        ("Answer in 3 bullet points.", ("detectable_format:number_bullet_lists", 3)),
        ("Include at least 2 placeholders such as [name].", ("detectable_content:number_placeholders", 2)),
        (
            "Highlight at least 3 sections in your answer with markdown, i.e. *highlighted section*.",
            ("detectable_format:number_highlighted_sections", 3),
        ),
        (
            "Your response must have 4 sections. Mark the beginning of each section with SECTION X.",
            ("detectable_format:multiple_sections", "SECTION", 4),
        ),
        (
            "There should be 3 paragraphs. Separate the paragraphs with the markdown divider: ***",
            ("length_constraints:number_paragraphs", 3),
        ),
        (
            "Write four paragraphs, separated by two line breaks. Paragraph 2 must start with the word However.",
            ("length_constraints:nth_paragraph_first_word", 4, 2, "However"),
        ),
        ("The letter q should appear at least 5 times.", ("keywords:letter_frequency", "q", 5, "at least")),
        ("Use the letter 'z' fewer than three times.", ("keywords:letter_frequency", "z", 3, "less than")),
        ("Do not include keywords ['red', 'blue'] in the response.", (FORBIDDEN, ("red", "blue"))),
        ("Do not use the letter e.", ("keywords:letter_frequency", "e", 1, "less than")),
        (
            "Words with all capital letters should appear less than 10 times.",
            ("change_case:capital_word_frequency", 10, "less than"),
        ),
        ("Use at least 3 words in all caps.", ("change_case:capital_word_frequency", 3, "at least")),
        ('Include the keywords "sun", "moon" and "stars".', (EXISTENCE, ("sun", "moon", "stars"))),
        ("Make sure that the word rain is included.", (EXISTENCE, ("rain",))),
        ("Use the words rain, wind and snow in your story.", (EXISTENCE, ("rain", "wind", "snow"))),
        ('The word "sea" must appear in the answer.', (EXISTENCE, ("sea",))),
        ("Please exclude the word climate change.", (FORBIDDEN, ("climate change",))),
        ("Do not use the words 'very' or 'really'.", (FORBIDDEN, ("very", "really"))),
        ("The word “hot” is forbidden.", (FORBIDDEN, ("hot",))),
        ("Avoid saying 'cold' in your reply.", (FORBIDDEN, ("cold",))),
        ("Use the word tree at least twice.", (FREQUENCY, "tree", 2, "at least")),
        ("The word 'tree' should appear less than 4 times.", (FREQUENCY, "tree", 4, "less than")),
        ("Do not use the word tree more than once.", (FREQUENCY, "tree", 2, "less than")),
        ('End your email with the phrase "Yours, Ann".', ("startend:end_checker", "Yours, Ann")),
        (
            'The very last sentence of your answer should be "Is that all?"',
            ("startend:end_checker", "Is that all?"),
        ),
        (
            "Finish your response with this exact phrase That is it, is it? No other words should follow.",
            ("startend:end_checker", "That is it, is it?"),
        ),
        ("At the end, please add a postscript starting with P.P.S", ("detectable_content:postscript", "P.P.S")),
        ("Also add a P.S. to it.", ("detectable_content:postscript", "P.S.")),
        ("Give it a title, wrapped in double angular brackets, such as <<joy>>.", ("detectable_format:title",)),
        ("Write your entire answer in capital letters only, all capital letters.", ("change_case:english_capital",)),
        ("Your whole response should be in lowercase.", ("change_case:english_lowercase",)),
        ("No capital letters are allowed.", ("change_case:english_lowercase",)),
        ("Please respond in French.", ("language:response_language", "fr")),
        ("Write a poem about the sea in German language.", ("language:response_language", "de")),
        ("Do not use commas.", ("punctuation:no_comma",)),
        ("In your entire response, refrain from the use of any commas.", ("punctuation:no_comma",)),
        ("Put your whole response in double quotation marks.", ("startend:quotation",)),
        ("Wrap the entire output in JSON format.", ("detectable_format:json_format",)),
        (
            "Give two different answers, separated by 6 asterisk symbols: ******.",
            ("combination:two_responses",),
        ),
        (
            'Is it so? Answer with "My answer is yes.", "My answer is no.", or "My answer is maybe."',
            ("detectable_format:constrained_response",),
        ),
        (
            "Name a fruit. First repeat the request above word for word without change, then answer (1. nothing "
            "before it; 2. the request does not include this sentence)",
            ("combination:repeat_prompt", "Name a fruit."),
        ),
    ],
)
def test_a_requirement_is_found_with_its_arguments(instruction: str, expected: tuple[object, ...]) -> None:
    assert found(instruction) == [expected]


@pytest.mark.parametrize(
    ("instruction", "limits"),
    [
        ("Write between 100 and 200 words.", [(100, "at least"), (201, "less than")]),
        ("Write 100 to 200 words.", [(100, "at least"), (201, "less than")]),
        ("Write exactly 12 words.", [(12, "at least"), (13, "less than")]),
    ],
)
def test_a_range_gives_a_rule_for_each_end(instruction: str, limits: list[tuple[int, str]]) -> None:
    assert found(instruction) == [(WORDS, *limit) for limit in limits]


@pytest.mark.parametrize(
    "instruction",
    [
        "Write a poem about the sea.",
        "Write about 300 words.",
        "Write a 500-word essay.",
        "Each paragraph should have at least 3 sentences.",
        "Give it a title of at most 5 words.",
        "The first sentence must have less than 10 words.",
        "Why do some essays have at least 300 words?",
        'Translate this: "Use no commas. Write at least 30 words."',
        "What does the word 'irony' mean?",
        "Explain where the word 'irony' comes from.",
        "Replace the word 'big' in my text.",
        "Write the title in all caps.",
        "Explain how to parse a JSON string.",
        "How do you say hello in Spanish?",
        "Compare life in German and in French villages.",
        "End each paragraph with 'Amen'.",
        "Mention the war.",
        "Use 'red' or the word 'blue' or 'green'.",
        "Write words that rhyme with 'sea'.",
        "Explain the comma splice and why not to use a comma splice.",
        "Write three paragraphs.",
        "Highlight 3 sections.",
        "Rewrite it as a letter to the editor.",
        "Repeat after me.",
        "Explain what happens if you write more than 300 words.",
        "Summarise my 3 sentences.",
        "In English grammar, explain the passive.",
        "Stick to a word limit.",
        "",
    ],
)
def test_what_is_no_requirement_or_has_no_exact_rule_gives_nothing(instruction: str) -> None:
    assert found(instruction) == []


def test_several_requirements_come_in_the_order_of_the_instruction_and_once_each() -> None:
    instruction = 'Use no commas. Include "rain". Write at least 40 words. Remember: use no commas.'
    assert [item.rule for item in find_rules(instruction)] == ["punctuation:no_comma", EXISTENCE, WORDS]


def test_each_of_several_frequencies_belongs_to_its_own_word_or_letter() -> None:
    instruction = "Use the letter a at least 9 times, the letter b less than twice and the word 'sea' at least 4 times."
    assert found(instruction) == [
        ("keywords:letter_frequency", "a", 9, "at least"),
        ("keywords:letter_frequency", "b", 2, "less than"),
        (FREQUENCY, "sea", 4, "at least"),
    ]


def test_requirements_in_a_list_are_found() -> None:
    assert found("Write a story.\n- At least 90 words\n- No commas\n- In Spanish") == [
        (WORDS, 90, "at least"),
        ("punctuation:no_comma",),
        ("language:response_language", "es"),
    ]


def test_a_case_is_not_asked_for_beside_another_language() -> None:
    assert found("Answer in French. Use only lowercase letters.") == [("language:response_language", "fr")]


def test_wishes_that_exclude_each_other_give_no_rule() -> None:
    assert found("Answer in French. Please answer in German.") == []


@pytest.mark.parametrize("unit", ["Use 3 words. ", '"', "use the word ", '"a" and ', "(", "1 ", "no ", "in ", "wrap "])
def test_time_is_about_linear_on_repetitive_instructions(unit: str) -> None:
    with ends_within():  # at most .5 s; looking all the way back from each number took minutes
        find_rules(unit * 3_000)


PIECES = (
    'Use "a" \' “ at least 3 words times *** <<title>> no comma in French end with the phrase P.S. letter \n . ? twice'
).split(" ")


@given(st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
def test_every_item_quotes_the_instruction_and_fits_its_rule(instruction: str) -> None:
    for item in find_rules(instruction):
        assert item.span is not None
        assert instruction[item.span.start : item.span.end] == item.span.text
        assert item.span.text


@pytest.mark.skipif("VOUCH_DATA" not in os.environ, reason="VOUCH_DATA names no folder with data sets")
@pytest.mark.parametrize("name", ["exclusion", "inclusion"])
def test_words_to_use_or_to_avoid_are_found_in_prompts_of_others(name: str) -> None:
    path = Path(os.environ["VOUCH_DATA"]) / f"ifeval/train_like/{name}_validation.jsonl"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        assert [(item.rule, item.arguments) for item in find_rules(row["prompt"])] == [
            (item.rule, item.arguments) for item in named_items(row)
        ]


def test_brackets_beside_a_language_take_linear_time() -> None:
    text = f"Answer in at most 20 {'[' * 3_000}s, in English.{'[' * 30} words."
    with ends_within():  # 5 ms; cubic work took 120 s
        find_rules(text)


def test_a_language_in_letters_of_another_alphabet_and_an_endless_number_give_no_rule() -> None:
    assert find_rules("Answer in Englİsh.") == ()
    assert find_rules(f"Answer in at most {'9' * 4_000} words.") == ()
