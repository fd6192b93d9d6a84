"""The 25 exact checkers: hand-made cases, and all 540 strict results that the authors published."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processor_time import ends_within
from vouching.errors import InputError
from vouching.rules.catalog import RULES, bind
from vouching.rules.ruling import LANGUAGES, capital_words, count_sentences, count_words, language_of
from vouching.rules.verify import followed, item_result, loose_variants, named_items, rule_on
from vouching.types import ChecklistItem

EXAMPLES: dict[str, dict[str, Any]] = {
    "keywords:existence": {"keywords": ["rain"]},
    "keywords:frequency": {"keyword": "rain", "frequency": 2, "relation": "at least"},
    "keywords:forbidden_words": {"forbidden_words": ["rain"]},
    "keywords:letter_frequency": {"letter": "a", "let_frequency": 2, "let_relation": "less than"},
    "language:response_language": {"language": "de"},
    "length_constraints:number_sentences": {"num_sentences": 2, "relation": "at least"},
    "length_constraints:number_paragraphs": {"num_paragraphs": 2},
    "length_constraints:number_words": {"num_words": 4, "relation": "less than"},
    "length_constraints:nth_paragraph_first_word": {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "rain"},
    "detectable_content:number_placeholders": {"num_placeholders": 1},
    "detectable_content:postscript": {"postscript_marker": "P.S."},
    "detectable_format:number_bullet_lists": {"num_bullets": 2},
    "detectable_format:number_highlighted_sections": {"num_highlights": 1},
    "detectable_format:multiple_sections": {"section_spliter": "Part", "num_sections": 2},
    "combination:repeat_prompt": {"prompt_to_repeat": "Say rain."},
    "startend:end_checker": {"end_phrase": "The end."},
    "change_case:capital_word_frequency": {"capital_frequency": 2, "capital_relation": "at least"},
}
"""Arguments of each rule that takes some."""


def item(rule: str, **arguments: Any) -> ChecklistItem:
    """An item of a rule, with other arguments than in ``EXAMPLES`` if given."""
    return bind(rule, EXAMPLES.get(rule, {}) | arguments)


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        ("keywords:existence", "It was RAINy.", "It was dry."),  # any case, inside other words
        ("keywords:frequency", "Rain, rainy.", "Rain."),
        ("keywords:forbidden_words", "It was rainy.", "Rain."),  # words of their own only
        ("keywords:letter_frequency", "A bee.", "A cat."),
        ("language:response_language", "Das ist ein deutscher Satz.", "This is an English sentence."),
        ("length_constraints:number_sentences", "One. Two", "One."),
        ("length_constraints:number_paragraphs", "One.\n***\nTwo.", "One.\n\nTwo."),
        ("length_constraints:number_paragraphs", "***\nOne.\n***\nTwo.\n***", "One.\n***\n\n***\nTwo."),
        ("length_constraints:number_words", "one two three", "one two-three four"),
        ("length_constraints:nth_paragraph_first_word", "One.\n\n'Rain, then.", "One.\n\nRainy."),
        ("length_constraints:nth_paragraph_first_word", 'One.\n\n"rain.', "One.\n\nTwo.\n\nRain."),
        ("detectable_content:number_placeholders", "Dear [name]", "Dear [na\nme]"),
        ("detectable_content:postscript", "Bye.\np. s. More.", "Bye. Ps: more."),
        ("detectable_format:number_bullet_lists", "* one\n  - two", "* one\n** two\n- three\n- four"),
        ("detectable_format:constrained_response", "Well: My answer is maybe.", "My answer is perhaps."),
        ("detectable_format:number_highlighted_sections", "It is **so**.", "It is ** so\nnow**, * *."),
        ("detectable_format:multiple_sections", "Part 1: a\nPart 2: b", "part 1: a\nPart 2: b"),
        ("detectable_format:json_format", "```json\n[1, 2]\n```", "{'a': 1}"),
        ("detectable_format:title", "<<A day>>\nIt rained.", "<< >>\nIt rained."),
        ("combination:two_responses", "Yes.\n******\nNo.", "Yes.\n******\nyes.\n******\nNo."),
        ("combination:two_responses", "******\nYes.\n******\nNo.", "Yes.\n******\nYes."),
        ("combination:repeat_prompt", "  SAY rain.\nRain!", "Rain! Say rain."),
        ("startend:end_checker", '"So it was. the END."  ', "The end. Bye."),
        ("startend:quotation", ' "Yes." ', "“Yes.”"),
        ("change_case:capital_word_frequency", "I like NASA's plan.", "I like Nasa."),
        ("change_case:english_capital", "THIS IS AN ENGLISH SENTENCE, AND A LONG ONE.", "THIS IS an ENGLISH SENTENCE."),
        ("change_case:english_lowercase", "this is an english sentence, and a long one.", "This is english."),
        ("punctuation:no_comma", "One; two.", "One, two."),
    ],
)
def test_each_rule_passes_a_response_that_follows_it_and_fails_one_that_does_not(
    rule: str, right: str, wrong: str
) -> None:
    assert rule_on(item(rule), right).passed
    assert not rule_on(item(rule), wrong).passed


def test_every_rule_has_such_a_case_and_every_response_in_the_wrong_language_fails() -> None:
    assert len(RULES) == 25
    assert not rule_on(item("change_case:english_lowercase"), "das ist ein langer satz auf deutsch, ganz klein.").passed
    assert not rule_on(item("change_case:english_capital"), "DAS IST EIN LANGER SATZ AUF DEUTSCH, GANZ GROSS.").passed


@pytest.mark.parametrize("relation", ["at least", "less than"])
def test_a_limit_itself_is_at_least_and_not_less(relation: str) -> None:
    limit = item("length_constraints:number_words", num_words=3, relation=relation)
    assert rule_on(limit, "one two three").passed == (relation == "at least")


@pytest.mark.parametrize(
    ("marker", "response"),
    [("P.P.S", "Bye. P. P. S one more"), ("P.S.", "P.S. more"), ("PS:", "Bye. ps: more"), ("NB", "nb: more")],
)
def test_a_postscript_may_have_any_marker(marker: str, response: str) -> None:
    assert rule_on(item("detectable_content:postscript", postscript_marker=marker), response).passed


def test_a_keyword_is_not_a_regular_expression() -> None:
    assert not rule_on(item("keywords:existence", keywords=["a.c"]), "abc").passed
    assert not rule_on(item("keywords:forbidden_words", forbidden_words=["C++"]), "I know C++ well").passed
    assert rule_on(item("keywords:forbidden_words", forbidden_words=["C++"]), "I know C well").passed


def test_either_chinese_is_chinese() -> None:
    text = "这是一个用中文写的句子，它很短。"
    assert rule_on(item("language:response_language", language="zh"), text).passed
    assert rule_on(item("language:response_language", language="zh-cn"), text).passed


@pytest.mark.parametrize(
    ("rule", "response", "reason", "quoted"),
    [
        ("keywords:existence", "It was dry.", 'It lacks "rain".', None),
        ("keywords:letter_frequency", "An apple.", 'It has the letter "a" 2 times.', None),
        ("length_constraints:number_sentences", "He left. Why? Nobody knows.", "It has 3 sentences.", None),
        ("detectable_content:number_placeholders", "Dear [name], at [place].", "It has 2 placeholders.", "[name]"),
        ("detectable_content:postscript", "Bye. p. s. Write soon!", "It has a postscript.", "p. s."),
        (
            "change_case:english_capital",
            "THIS IS A SENTENCE WITH A WORD in LOWER CASE.",
            "It is not all in capital letters.",
            "in",
        ),
    ],
)
def test_a_ruling_says_what_it_found_and_quotes_it(rule: str, response: str, reason: str, quoted: str | None) -> None:
    ruling = rule_on(item(rule), response)
    assert (ruling.reason, ruling.span.text if ruling.span else None) == (reason, quoted)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_response_follows_no_rule(rule: str, blank: str) -> None:
    assert followed([item(rule)], blank) == ([False], [False])


@pytest.mark.parametrize(
    ("rule", "response"),
    [
        # One variant each: without asterisks, without the first line, the last, both, and each of them together.
        ("startend:quotation", '*"Yes."*'),
        ("startend:quotation", 'Sure:\n"Yes."'),
        ("startend:quotation", '"Yes."\nAnything else?'),
        ("startend:quotation", 'Sure:\n"Yes."\nAnything else?'),
        ("startend:quotation", 'Sure:\n**"Yes."**'),
        ("startend:quotation", '*"Yes."*\nAnything else?'),
        ("startend:quotation", 'Sure:\n"*Yes.*"*\nAnything else?'),
        ("punctuation:no_comma", "Well, sure:\nYes."),
    ],
)
def test_a_variant_follows_loosely_what_the_response_does_not_strictly(rule: str, response: str) -> None:
    assert followed([item(rule)], response) == ([False], [True])
    assert "It passes IFEval's loose check." in item_result(item(rule), response).reason


def test_a_blank_variant_follows_nothing_loosely() -> None:
    # Without its only line nothing is left, which has no comma.
    assert followed([item("punctuation:no_comma")], "One, two.") == ([False], [False])


@given(st.text(max_size=200))
def test_there_are_eight_variants_and_the_first_is_the_response(response: str) -> None:
    variants = loose_variants(response)
    assert len(variants) == 8
    assert variants[0] == response
    assert all("*" not in variant for variant in variants[4:])


@given(st.text(max_size=200) | st.text("*-# \n.,\"'<>[]{}aA1", max_size=80), st.sampled_from([*RULES]))
def test_any_text_gets_a_ruling_that_quotes_it_and_strict_implies_loose(response: str, rule: str) -> None:
    result = item_result(item(rule), response)
    if result.span is not None:
        assert response[result.span.start : result.span.end] == result.span.text
    [strict], [loose] = followed([item(rule)], response)
    assert loose >= strict
    assert result.passed == strict == (result.score == 1.0)


@pytest.mark.parametrize("unit", [".", "a. ", "1. \n", "*", "[", "<<a", "- \n", '"', "P. ", "Part ", "[a", "{"])
def test_time_is_linear_on_repetitive_responses(unit: str) -> None:
    with ends_within():  # about .5 s; quadratic work on 100,000 units takes minutes for a single rule
        for rule in RULES:
            rule_on(item(rule), unit * 100_000 + "x")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Dr. Smith met Mr. Jones. They left.", 2),
        ("It ends at 5 p.m. on Monday.", 1),
        ("Really?! Yes... perhaps.", 2),
        ("all in lower case. and so on. end", 3),
        ("# Heading\n\n- apples\n- pears", 1),
        ("1. Apples.\n2. Pears.", 2),
        ('He said "No." Then he left.', 2),
        ("これは文です。これも文です。", 2),
        ("version 2.0.1 is at example.com now", 1),
        ("🙂", 0),
        ("", 0),
    ],
)
def test_sentences_are_counted_without_a_learned_splitter(text: str, number: int) -> None:
    assert count_sentences(text) == number


def test_words_are_runs_of_letters_and_capitals_are_words_of_their_own() -> None:
    assert count_words("Don't re-read snake_case 3.5") == 7  # Don t re read snake_case 3 5
    assert capital_words("I'M A B-2 pilot, UK's") == ["I'M", "A", "B-2", "UK"]


def test_a_text_always_gets_the_same_language_and_other_seeds_stay_as_they_are() -> None:
    from langdetect import DetectorFactory

    short = "hotel taxi 42"
    assert len({language_of(short) for _ in range(20)}) == 1
    assert DetectorFactory.seed is None
    assert language_of("... 42 ...") is None


def test_every_language_that_can_be_detected_has_a_name() -> None:
    from langdetect.detector_factory import PROFILES_DIRECTORY

    assert {*os.listdir(PROFILES_DIRECTORY)} - {"__init__.py"} == {*LANGUAGES} - {"zh"}


def test_the_rules_load_without_langdetect() -> None:
    code = "import sys, vouching.methods as r; r.find_rules('No commas.'); sys.exit('langdetect' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("rule", "arguments", "problem"),
    [
        (
            "length_constraints:number_words",
            {"num_words": "300", "relation": "at least"},
            "\"num_words\" must be a whole number of at least 0, got '300'",
        ),
        (
            "length_constraints:number_words",
            {"num_words": True, "relation": "at least"},
            '"num_words" must be a whole number of at least 0, got true',
        ),
        (
            "length_constraints:number_words",
            {"num_words": -1, "relation": "at least"},
            '"num_words" must be a whole number of at least 0, got -1',
        ),
        ("length_constraints:number_words", {"num_words": 3, "relation": "around"}, "'at least' or 'less than'"),
        ("length_constraints:number_words", {"num_words": 3}, '"relation" is missing'),
        ("length_constraints:number_words", {"num_words": 3, "relation": None}, '"relation" is missing'),
        ("punctuation:no_comma", {"num_words": 3}, "expected no arguments"),
        ("keywords:existence", {"keywords": []}, "a list of at least one string"),
        ("keywords:existence", {"keywords": "rain"}, "a list of at least one string"),
        ("keywords:existence", {"keywords": ["rain", " "]}, "a string that is not blank"),
        (
            "keywords:letter_frequency",
            {"letter": "ab", "let_frequency": 1, "let_relation": "at least"},
            "a single character",
        ),
        ("language:response_language", {"language": "Klingon"}, "a language code such as 'en'"),
        ("startend:end_checker", {"end_phrase": ""}, "a string that is not blank"),
        (
            "length_constraints:nth_paragraph_first_word",
            {"num_paragraphs": 2, "nth_paragraph": 0, "first_word": "rain"},
            "a whole number of at least 1",
        ),
        ("punctuation:no_commas", {}, "did you mean 'punctuation:no_comma'?"),
    ],
)
def test_arguments_that_do_not_fit_are_named(rule: str, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=f"{rule}.*") as raised:
        bind(rule, arguments)
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({}, '"instruction_id_list" must be a list, got null'),
        ({"instruction_id_list": ["punctuation:no_comma"]}, '"kwargs" must be a list, got null'),
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": []}, '"kwargs" has 0 entries, expected 1'),
        ({"instruction_id_list": [3], "kwargs": [{}]}, "must contain only names of rules, got 3"),
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": ["x"]}, "must be an object or null, got 'x'"),
    ],
)
def test_a_row_that_names_its_rules_wrongly_is_rejected(row: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as raised:
        named_items(row)
    assert problem in str(raised.value)


def test_arguments_from_tables_are_read_too() -> None:
    # A table fills every key of every rule with null, and turns whole numbers into floats.
    row = {
        "instruction_id_list": ["length_constraints:number_words", "punctuation:no_comma"],
        "kwargs": [{"num_words": 3.0, "relation": "at least", "keywords": None}, None],
    }
    assert [dict(one.arguments) for one in named_items(row)] == [{"num_words": 3, "relation": "at least"}, {}]


def test_all_540_published_strict_results_agree() -> None:
    folder = Path(os.environ.get("VOUCH_DATA") or "nowhere") / "ifeval"
    if not folder.is_dir():
        pytest.skip("VOUCH_DATA names no folder with ifeval in it")

    def lines(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]

    rows = {row["prompt"]: row for row in lines("input_data.jsonl")}
    responses = {row["prompt"]: row["response"] for row in lines("gpt4_responses.jsonl")}
    with gzip.open(folder / "gpt4_strict_results.jsonl.gz", "rt", encoding="utf-8") as published:
        results = [json.loads(line) for line in published]
    assert len(results) == 540
    disagree = [
        result["prompt"]
        for result in results
        if followed(named_items(rows[result["prompt"]]), responses[result["prompt"]])[0]
        != result["follow_instruction_list"]
    ]
    assert disagree == []
