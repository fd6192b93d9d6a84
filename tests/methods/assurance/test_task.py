"""Task and proposal files: what is read, and the message for every bad one, with the path to the field."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.house.source_tree import ROOT
from vouching.errors import InputError
from vouching.methods.assurance.task import as_proposal, as_task, read_file, read_proposal, read_task
from vouching.methods.assurance.values import read_amount, read_data

TASK: dict[str, Any] = {
    "task": "t",
    "data": {"x": [1, 2]},
    "rules": [
        {"id": "R1", "text": "Add.", "value": "sum(data.x)"},
        {"id": "R2", "text": "Double.", "value": "unit.a * 2"},
    ],
    "units": [
        {"id": "a", "type": "amount", "rules": ["R1"]},
        {"id": "b", "type": "number", "rules": ["R2"], "depends_on": ["a"]},
        {"id": "c", "type": "choice", "choices": ["yes", "no"]},
        {"id": "d", "type": "integer"},
        {"id": "e", "type": "boolean"},
    ],
}
VALUES: dict[str, Any] = {"a": "$1,234.50", "b": 2.5, "c": "yes", "d": 4, "e": False}


def changed(record: dict[str, Any], path: list[Any], value: Any) -> dict[str, Any]:
    """The record with one field changed, added, or removed by an Ellipsis."""
    copied = deepcopy(record)
    here: Any = copied
    for step in path[:-1]:
        here = here[step]
    if value is ...:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    return copied


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["units", 0, "depends_on"], ["b"], r"units\[0\].depends_on\[0\]: the dependencies form a cycle: a -> b -> a"),
        (["units", 1, "depends_on"], ["b"], r"units\[1\].depends_on\[0\]: the dependencies form a cycle: b -> b"),
        (["units", 0, "depends_on"], ["d"], r"units\[0\].depends_on\[0\] is 'd', a later unit: move units\[3\] before"),
        (["units", 1, "depends_on"], ["aa"], r"units\[1\].depends_on\[0\]: there is no unit 'aa'"),
        (["units", 1, "depends_on"], [], r"units\[1\].rules\[0\]: rule R2 reads the unit 'a': add it to .depends_on"),
        (["units", 0, "rules"], ["R9"], r"units\[0\].rules\[0\]: there is no rule 'R9'; the rules are R1"),
        (["units", 1, "rules"], ["R1", "R2"], r"units\[1\].rules: 2 rules compute a value"),
        (["units", 3, "id"], "a", r"units\[3\].id is 'a', expected a unique id"),
        (["units", 2, "choices"], [], r"units\[2\].choices: the type choice requires choices"),
        (["units", 3, "choices"], ["1"], r"units\[3\].choices: the type integer does not support choices"),
        (["units", 3, "type"], "float", r"units\[3\].type is 'float', expected amount, number, .* or text"),
        (["units", 3, "typ"], "number", r"units\[3\].typ: unknown field; did you mean 'type'"),
        (["units", 3, "type"], ..., r"units\[3\].type is missing"),
        (["units"], [], '"units" is empty'),
        (["units"], ..., "units is missing"),
        (["units"], "a", "units is 'a', expected a list"),
        (["units", 3], "a", r"units\[3\] is 'a', expected an object"),
        (["data"], [1], "data is a list, expected an object"),
        (["rules", 1, "id"], "R1", r"rules\[1\].id is 'R1', expected a unique id"),
        (["rules", 0, "value"], "sum(", r"rules\[0\].value: 'sum\(' is not an expression"),
        (["rules", 0, "value"], "value + 1", r"rules\[0\].value: .* must not refer to value"),
        (["rules", 0, "check"], "value > 1", r'rules\[0\] has both "value" and "check", expected one of them'),
        (["rules", 0], {"id": "R1", "text": "", "check": "data.x == 1"}, r"rules\[0\].check: .* must refer to value"),
        (["rules", 0, "text"], 3.5, r"rules\[0\].text is 3.5, expected a string"),
        (["unit"], [], "unit: unknown field; did you mean 'units'"),
    ],
)
def test_a_bad_task_names_the_field_that_is_wrong(path: list[Any], value: Any, message: str) -> None:
    as_task(TASK)  # it is good without the change
    with pytest.raises(InputError, match=f"^the task: {message}"):
        as_task(changed(TASK, path, value))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["values", "a"], "1.234,50", "values.a is '1.234,50', expected an amount"),
        (["values", "a"], float("nan"), "values.a is NaN, expected an amount"),
        (["values", "a"], True, "values.a is true, expected an amount"),
        (["values", "a"], "1e400", "values.a is '1e400', expected an amount"),
        (["values", "a"], 10**4000, "values.a is 10{59}[.]{3}, expected an amount"),
        (["values", "a"], {"value": None}, "values.a.value is null"),
        (
            ["values", "a"],
            {"amount": 1},
            'values.a must have the key "value" and may have "rationale"; its keys are amount',
        ),
        (["values", "b"], "2.5", "values.b is '2.5', expected a number"),
        (["values", "b"], float("inf"), "values.b is Infinity, expected a number"),
        (["values", "c"], "maybe", "values.c is 'maybe', expected one of yes, no"),
        (["values", "d"], 4.5, "values.d is 4.5, expected a whole number"),
        (["values", "e"], "true", "values.e is 'true', expected true or false"),
        (["values", "e"], ..., r"values.e is missing \(1 of 5 units have no value\)"),
        (["values", "f"], 1, "values.f: the task has no unit 'f'"),
        (["values"], [1], 'expected an object with "values"'),
        (["task"], "other", "\"task\" is 'other', but the id of the task is 't'"),
        (["note"], "", "unknown field 'note'"),
    ],
)
def test_a_bad_proposal_names_the_field_that_is_wrong(path: list[Any], value: Any, message: str) -> None:
    task, proposal = as_task(TASK), {"values": VALUES}
    assert as_proposal(proposal, task)["a"].value == Decimal("1234.5")
    with pytest.raises(InputError, match=f"^the proposal: {message}"):
        as_proposal(changed(proposal, path, value), task)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"data": {"a": [1, NaN]}}', r"data.a\[1\] is nan, expected a finite number"),
        ('{"a": -Infinity}', "a is -inf"),
        ('{"a": 1e400}', "a is inf"),
        ('{"a": ' + "9" * 60 + "}", r"a is a number beyond 10\^40"),
        ('{"a": ' + "9" * 9000 + "}", "JSON with a value that cannot be read"),
        ('{"a": 1, "a": 2}', 'the key "a" appears twice'),
        ('{"a": "\\ud800"}', "a contains a lone surrogate"),
        ('{"a": ', "not JSON: line 1, column"),
        ("[" * 200_000, "too deeply"),
        ('{"a":' * 100 + "1" + "}" * 100, "too deeply"),
        ('{"a": 1, "\\ud800": 1}', "the top level contains a lone surrogate"),
        ('["' + "x" * 9 + '", NaN]', r"\[1\] is nan"),
        ('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "/etc/passwd">]><a>&b;</a>', "XML is not supported"),
        ("a: \ud800", "not YAML: it contains a lone surrogate"),
        ("a: .nan", "a is .nan, expected a finite number"),
        ("a: 1\na: 2", "a appears twice"),
        ("a: !!python/object/apply:os.system ['true']", "has the tag tag:yaml.org,2002:python"),
        ("a: !mine 3", "has the tag !mine"),
        ("a: &x [1]\nb: *x", "b is a YAML alias"),
        ("a: {b: 1}\n<<: {c: 2}", "merge keys are not supported"),
        ("a: [1", "not YAML: line"),
        ("? [a]\n: 1", "a key that is not a string"),
        ("- " * 3000 + "a", "too deeply|not YAML"),
        ("a: " + "x" * 2_000_001, "more than the limit of 2,000,000 for YAML"),
    ],
)
def test_a_file_that_is_not_plain_data_names_the_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_data(text)


def test_yaml_is_read_as_json_would_be() -> None:
    text = "a: NO\nb: 12:30\nc: 2024-06-01\nd: 010\ne: '5'\nf: 1e3\ng: null\nh: yes\n9: true\ni: !!str 7"
    expected = {
        "a": "NO",
        "b": "12:30",
        "c": "2024-06-01",
        "d": 10,
        "e": "5",
        "f": 1000.0,
        "g": None,
        "h": "yes",
        "9": True,
        "i": "7",
    }
    assert read_data(text) == expected


def test_a_file_of_fifty_megabytes_and_one_of_xml_are_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    large.write_text('{"a": "' + "x" * 50_000_000 + '"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"large.json has 50,\d+,\d+ characters, more than the limit of 20,000,000"):
        read_file(large)
    page = tmp_path / "task.xml"
    page.write_text('<!DOCTYPE x [<!ENTITY e SYSTEM "/etc/hostname">]><x>&e;</x>', encoding="utf-8")
    with pytest.raises(InputError, match="XML is not supported, expected JSON or YAML"):
        read_task(page)
    (tmp_path / "empty.json").touch()
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(80_000_001)
    for name, message in (
        ("", "is not a regular file"),
        ("none.yaml", "cannot be read"),
        ("empty.json", "is empty"),
        ("huge.json", "has 80,000,001 bytes, more than the limit of 80,000,000"),
    ):
        with pytest.raises(InputError, match=message):
            read_task(tmp_path / name)


def test_the_example_is_the_same_as_json(tmp_path: Path) -> None:
    source = ROOT / "examples" / "expenses.yaml"
    copy = tmp_path / "expenses.json"
    copy.write_text(json.dumps(read_file(source)), encoding="utf-8")
    task = read_task(copy)
    assert task == read_task(source)
    assert (len(task.rules), len(task.units)) == (10, 10)
    assert len(read_proposal(ROOT / "examples" / "expenses_proposal.yaml", task)) == 10


@given(st.decimals(-(10**9), 10**9, places=2), st.sampled_from(["${}", "{}", "{} EUR", "USD {}", "€ {}"]))
def test_amounts_are_read_as_they_are_written(number: Decimal, form: str) -> None:
    assert read_amount(form.format(f"{number:,.2f}")) == number


@pytest.mark.parametrize(
    "text", ["", "$", "1,23", "1.234,5", "12,34,567", "--3", "(3", "(-3)", "1 2", "NaN", "1e3", "٣"]
)
def test_what_is_not_an_amount_is_none(text: str) -> None:
    assert read_amount(text) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3),
    max_leaves=6,
)
PLACES = st.sampled_from(
    [
        ["task"],
        ["data"],
        ["rules"],
        ["units"],
        ["tables"],
        ["rules", 0],
        ["units", 1],
        ["units", 0, "rules"],
        ["units", 1, "depends_on"],
        ["units", 2, "choices"],
        ["rules", 0, "value"],
        ["units", 3, "type"],
    ]
)


@given(PLACES, JSON)
def test_any_json_in_any_field_is_a_task_or_an_input_error(path: list[Any], value: Any) -> None:
    with suppress(InputError):
        as_task(changed(TASK, path, value))
