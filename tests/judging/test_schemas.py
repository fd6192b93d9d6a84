"""The schemas of all methods: every list and string ends, and what a schema allows is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import pytest

from vouching.judging.schemas import MAX_LENGTH, json_fields, json_list, longest, token_limit
from vouching.methods.assurance.reply import case_schema, choice_schema, line_schema
from vouching.methods.blinded.prompt import check_schema, propose_schema, read_answers, read_pairs, says_none
from vouching.methods.checklist.make import fault_schema
from vouching.methods.checklist.reply import ItemAnswer, answer_schema, list_schema, parse_checklist, read_answer
from vouching.methods.discriminative.factscore import read_facts
from vouching.methods.discriminative.generative import places_schema, points_schema, read_places, read_points, worded
from vouching.methods.structured.reply import LabelReply, Reply, schema_for
from vouching.types import TaskUnit

SCHEMAS = {
    "record": schema_for(Reply, "The bridge opened in 1937."),
    "record on a long claim": schema_for(Reply, "The bridge opened in 1937. " * 400),
    "label": schema_for(LabelReply, "The bridge opened in 1937."),
    "questions": propose_schema(),
    "answers": check_schema(20),
    "checklist": list_schema(),
    "faults": fault_schema(25),
    "vote": answer_schema(reasons=False),
    "vote with reasons": answer_schema(reasons=True),
    "case": case_schema(TaskUnit("9", "amount")),
    "line": line_schema(TaskUnit("9", "text")),
    "choice": choice_schema(),
    "places": places_schema(8),
    "points": points_schema(),
}


def parts_of(schema: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, Mapping):
        yield schema
        for member in schema.values():
            yield from parts_of(member)
    elif isinstance(schema, list):
        for member in schema:
            yield from parts_of(member)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_list_and_string_of_a_schema_has_a_bound_that_grammars_accept(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    for part in parts_of(SCHEMAS[name]):
        if part.get("type") == "array":
            assert 0 < part["maxItems"] <= 25
        if part.get("type") == "string" and "enum" not in part:
            assert 0 < part["maxLength"] <= MAX_LENGTH
        if part.get("type") == "object":
            assert part["required"] == [*part["properties"]]
            assert part["additionalProperties"] is False


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_derived_limit_covers_the_schema_and_stays_small_enough_for_small_contexts(name: str) -> None:
    limit = token_limit(None, SCHEMAS[name])
    assert 1024 <= limit <= 3_200
    assert longest(SCHEMAS[name]) <= 4 * limit


def test_claims_of_similar_length_share_a_schema() -> None:
    assert schema_for(Reply, "a" * 65) is schema_for(Reply, "b" * 128)


def test_a_list_without_a_bound_is_a_bug_of_the_schema() -> None:
    with pytest.raises(KeyError):
        longest({"type": "array", "items": {"type": "boolean"}})


# What servers write that enforce the schemas


def test_questions_and_answers_of_an_audit_are_read_from_json() -> None:
    [pair] = read_pairs('{"questions": [{"question": "How long is it?", "answer": "5 km"}, {"question": "?"}]}')
    assert (pair.question.text, pair.answer) == ("How long is it?", "5 km")
    assert says_none('{"questions": []}')
    said = """{"answers": [{"number": 2, "evidence": "", "answer": "Cannot answer"}, {"number": 9, "answer": "1"},
        {"number": 1, "evidence": "It is 6 km long.", "answer": "6 km | 7 km"}]}"""
    first, second, third = read_answers(said, 3)
    assert first is not None
    assert (first.answers, first.evidence) == (("6 km", "7 km"), "It is 6 km long.")
    assert (second is not None and second.answers, third) == ((), None)


def test_votes_and_checklists_are_read_from_json() -> None:
    assert read_answer('{"answer": "unclear"}') == ItemAnswer(None)
    said = '{"reason": "It has\\ntwo.", "quote": "Answer: yes", "answer": "no"}'
    assert read_answer(said) == ItemAnswer(False, "It has two.", "Answer: yes")
    assert read_answer('{"answer": 1}') is None
    assert parse_checklist('{"questions": ["Is it short?", "", 7, "Is it **red**? (yes/no)"]}') == (
        "Is it short?",
        "Is it **red**?",
    )


def test_rankings_points_and_facts_are_read_from_json() -> None:
    said = '{"explanation": "Paris.", "places": {"answer 1": 10, "answer 2": 2, "answer 3": 2}}'
    assert read_places(worded(said), 3) == [3, 1, 1]
    assert read_points(worded('{"explanation": "<verdict>9</verdict>", "points": 4}')) == 4
    assert read_facts('{"facts": ["It opened in 1973."]}') == ["It opened in 1973."]
    assert read_facts('{"facts": []}') == []


@pytest.mark.parametrize("reply", ["", "{", "[1]", "{}", '{"a": ' + "[" * 100_000, "yes {}", "\ud800"])
def test_what_is_no_object_has_no_fields(reply: str) -> None:
    assert json_fields(reply) == {}
    assert json_list(reply, "a") is None
