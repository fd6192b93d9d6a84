from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from tests.types.record_strategies import REPORTS, UNVERIFIED, verdicts
from vouching.errors import InputError
from vouching.types import Claim, Report, Unverified, Verdict
from vouching.types.serial import SCHEMAS, from_json, json_schema, to_json, to_python

GOOD = Verdict(Claim("It rains."), "Attributable", 0.8, 0.8, 0.5, "supported")


@cache
def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(json_schema(name))


@given(verdicts())
def test_a_verdict_comes_back_from_json_as_it_was(verdict: Verdict) -> None:
    assert from_json(Verdict, to_json(verdict)) == verdict
    validator("verdict").validate(json.loads(to_json(verdict)))


@given(UNVERIFIED)
def test_a_failure_comes_back_from_json_as_it_was(outcome: Unverified) -> None:
    assert from_json(Unverified, to_json(outcome)) == outcome
    validator("unverified").validate(json.loads(to_json(outcome)))


@given(REPORTS)
@settings(max_examples=50)
def test_a_report_comes_back_from_json_with_every_kind_of_finding(report: Report) -> None:
    again = from_json(Report, to_json(report))
    assert again == report
    assert [type(finding) for finding in again.findings] == [type(finding) for finding in report.findings]
    validator("report").validate(json.loads(to_json(report)))


@given(verdicts())
def test_plain_python_and_json_say_the_same(verdict: Verdict) -> None:
    assert to_python(verdict) == json.loads(to_json(verdict))
    assert "\n" not in to_json(verdict)
    assert json.loads(to_json(verdict, indent=2)) == json.loads(to_json(verdict))


def test_letters_of_every_alphabet_are_written_as_they_are() -> None:
    assert '"雨 🌧"' in to_json(Verdict(Claim("雨 🌧"), "Attributable", 0.8, 0.8, 0.5, "supported"))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"label": "Maybe"}, "label"),
        ({"score": 2}, "whole record"),
        ({"score": "high"}, "score"),
        ({"label": "Not Attributable"}, "whole record"),
        ({"claim": None}, "claim"),
    ],
)
def test_json_that_breaks_a_rule_is_rejected_with_its_place(change: dict[str, object], place: str) -> None:
    with pytest.raises(InputError, match=place):
        from_json(Verdict, json.dumps(to_python(GOOD) | change))


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "5", b"\xff\xfe"])
def test_other_text_than_a_record_is_an_input_error(text: str | bytes) -> None:
    with pytest.raises(InputError, match="expected a Verdict"):
        from_json(Verdict, text)


def test_a_record_with_a_lone_surrogate_is_an_input_error() -> None:
    broken = Verdict(Claim("\ud800"), "Attributable", 0.8, 0.8, 0.5, "supported")
    with pytest.raises(InputError, match="surrogate"):
        to_json(broken)


def test_a_field_of_a_later_version_is_ignored() -> None:
    assert from_json(Verdict, json.dumps(to_python(GOOD) | {"new_in_1_7": 5})) == GOOD


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_record_and_every_field_of_a_schema_is_described(name: str) -> None:
    schema = json_schema(name)
    records = {schema["title"]: schema, **schema.get("$defs", {})}
    bare = [
        f"{title}.{field}"
        for title, record in records.items()
        for field, content in record["properties"].items()
        if not content.get("description")
    ]
    assert bare == []
    assert [title for title, record in records.items() if not record["description"]] == []


def test_a_schema_rejects_other_data() -> None:
    assert not validator("verdict").is_valid({"label": "Maybe"})
    assert not validator("verdict").is_valid(to_python(GOOD) | {"label": "Maybe"})


def test_an_unknown_schema_is_rejected_with_the_known_names() -> None:
    with pytest.raises(InputError, match="verdict, unverified, report"):
        json_schema("bogus")
