"""Evidence that is looked up, App. F's JSON, and Q_SAC."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.assurance.evidence import (
    CaseQuality,
    UnitState,
    case_quality,
    evidence_fault,
    evidence_faults,
    resolve,
)
from vouching.methods.assurance.reply import ReplyError, case_json, read_case, read_choice, read_line
from vouching.types import EvidencePointer, Rule, SafetyCase, Task, TaskUnit

RETURN = {"return_data": {"w2": [{"wages": {"label": "Box 1", "value": 116022}}, {"wages": {"value": 45675}}]}}
UNITS = (
    TaskUnit("11", "amount", "AGI", form="1040"),
    TaskUnit("12", "amount", "Deduction", form="1040"),
    TaskUnit("15", "amount", "Taxable income", ("R15",), ("11", "12"), form="1040"),
    TaskUnit("16", "amount", "Tax", depends_on=("15",)),
)
TAX = Task("tax", RETURN, {"R15": Rule("R15", "Line 11 less line 12."), "R16": Rule("R16", "The table.")}, UNITS)
STATE = UnitState(TAX, UNITS[2], {"11": Decimal(161697), "12": Decimal("14600")})
APPENDIX_F = {
    "claim_id": "linewise-claim",
    "overall_verdict": "reject",
    "overall_confidence": 0.9,
    "line_findings": [
        {
            "form": "1040",
            "line": "15",
            "claim": "Taxable income calculated as AGI minus standard deduction",
            "verdict": "wrong",
            "confidence": 0.9,
            "arguments": ["The AGI of line 11 is $161,697, the deduction of line 12 $14,600: $147,097, not $146,000."],
            "evidence": [
                {"type": "input_field", "location": "return_data.w2[0].wages.value", "value": 116022},
                {"type": "input_field", "location": "return_data.w2[1].wages.value", "value": 45675},
                {"type": "input_field", "location": "context_so_far[0].amount", "value": 161697.0},
                {"type": "input_field", "location": "context_so_far[1].amount", "value": 14600.0},
            ],
        }
    ],
}
"""App. F's example, with the places that these units have."""


def with_finding(**changes: Any) -> str:
    return json.dumps(APPENDIX_F | {"line_findings": [APPENDIX_F["line_findings"][0] | changes]})  # pyright: ignore[reportIndexIssue, reportOperatorIssue, reportUnknownArgumentType]


def test_the_case_of_appendix_f_is_read_and_everything_it_points_to_is_found() -> None:
    case = read_case(f"<think>Hm.</think> Here it is:\n```json\n{json.dumps(APPENDIX_F)}\n```", UNITS[2])
    assert case is not None
    assert (case.unit_id, case.verdict, case.confidence, len(case.evidence)) == ("15", "wrong", 0.9, 4)
    assert [evidence_fault(one, STATE) for one in case.evidence] == [None] * 4
    assert case_quality(case, STATE) == CaseQuality(1.0, 1.0, 1.0)


def test_a_case_that_is_written_is_read_back() -> None:
    evidence = (EvidencePointer("input_field", "return_data.w2[0].wages", 116022), EvidencePointer("rule", "R15", None))
    case = SafetyCase("15", "c", "g", evidence, ("R15",), Decimal("147097.50"), 0.25, "needs review")
    assert read_case(json.dumps(case_json(case, UNITS[2])), UNITS[2]) == case


@pytest.mark.parametrize(
    ("location", "value", "fault"),
    [
        ("/return_data/w2/1/wages/value", 45675, None),
        ("return_data.w2[1].wages", "$45,675.00", None),
        ("data.return_data.w2[0].wages.label", "Box 1", None),
        ("unit.11", 161697, None),
        ('unit["12"]', 14600, None),
        ("context_so_far[1].line", "12", None),
        ("return_data.w2[2].wages.value", 1, "there is no 2 in return_data.w2."),
        ("return_data.w3", 1, "there is no w3 in return_data."),
        ("context_so_far[2].amount", 1, "there is no 2 in context_so_far."),
        ("unit.16", 1, "there is no 16 in unit."),
        ("", 1, "the location is empty."),
        ("return_data..w2", 1, "cannot be parsed at '..w2'"),
        ("return_data.w2[-1]", 1, "cannot be parsed at '[-1]'"),
        ("return_data.w2[0].wages.value", 116021, "is 116022, but the case says 116021."),
        ("return_data.w2[0].wages.value", True, "is 116022, but the case says True."),
        ("return_data.w2", [], "is a list, but the case says a list."),
    ],
)
def test_evidence_that_is_absent_or_has_another_value_is_flagged(location: str, value: Any, fault: str | None) -> None:
    found = evidence_fault(EvidencePointer("input_field", location, value), STATE)
    if fault is None:
        assert found is None
    else:
        assert found is not None
        assert fault in found


def test_units_and_rules_can_be_named_alone_and_computed_evidence_is_evaluated() -> None:
    good = [
        EvidencePointer("unit", "11", 161697),
        EvidencePointer("rule", "R15"),
        EvidencePointer("computed", "unit['11'] - unit['12']", 147097),
    ]
    assert [evidence_fault(one, STATE) for one in good] == [None] * 3
    bad = [
        EvidencePointer("unit", "16"),
        EvidencePointer("rule", "R99"),
        EvidencePointer("computed", "unit['11'] - 1", 3),
        EvidencePointer("computed", "__import__('os')", 3),
        EvidencePointer("computed", "unit['16']", 3),
    ]
    assert all(evidence_fault(one, STATE) for one in bad)


@given(st.text(max_size=30), st.text(".[]/\"'ab0unit", max_size=30))
def test_any_location_is_found_or_not_and_never_an_error(one: str, other: str) -> None:
    for location in (one, other, f"/{one}"):
        fault = evidence_fault(EvidencePointer("input_field", location, 1), STATE)
        assert fault is None or fault.endswith(".")


def test_a_pointer_with_escapes_is_followed() -> None:
    assert resolve("/a~1b/c~0d", {"a/b": {"c~d": 1}}) == 1


def test_quality_counts_target_citation_and_evidence() -> None:
    sound = EvidencePointer("unit", "11", 161697)
    wrong = EvidencePointer("unit", "11", 161698)
    # (target + cites + share of evidence) / 3
    cases = {
        SafetyCase("15", "", "By R15.", (sound,)): 1.0,
        SafetyCase("16", "", "By R15.", (sound,)): 2 / 3,
        SafetyCase("15", "", "By R16.", (EvidencePointer("input_field", "return_data.w2[0].wages", 116022),)): 2 / 3,
        SafetyCase("15", "", "By R15.", (sound, wrong)): 2.5 / 3,
        SafetyCase("15", "", "By R15."): 2 / 3,
        SafetyCase("9", "", "It is 11 and 12."): 0.0,
        SafetyCase("15", "", "See line 12."): 2 / 3,
        SafetyCase("15", "", "", (EvidencePointer("input_field", "context_so_far[1].amount", 14600),)): 1.0,
    }
    assert [case_quality(case, STATE).total for case in cases] == pytest.approx([*cases.values()])


def test_silence_is_the_verdict_correct_and_nothing_else() -> None:
    assert read_case(with_finding(verdict="Correct."), UNITS[2]) is None
    for word in ("wrong", "incorrect", "unsure", "needs review"):
        assert read_case(with_finding(verdict=word), UNITS[2]) is not None


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Correct.",
        "{}",
        '{"line_findings": []}',
        '{"line_findings": [{"line": "15"}]}',
        with_finding(verdict=None),
        '{"line_findings": [{"line": "11", "verdict": "wrong"}, {"line": "12", "verdict": "wrong"}]}',
        "[1]",
        "{" * 5000,
        '{"line_findings": {"verdict": "wrong"}}',
        '<think>{"verdict": "wrong"}</think>',
    ],
)
def test_a_reply_without_a_verdict_on_the_unit_is_an_error(reply: str) -> None:
    with pytest.raises(ReplyError):
        read_case(reply, UNITS[2])


def test_odd_parts_of_a_case_cost_quality_and_not_the_case() -> None:
    case = read_case(
        with_finding(evidence=["a", {"value": 3}], arguments="One.", confidence=7, correction="?"), UNITS[2]
    )
    assert case is not None
    assert (case.argument, case.confidence, case.correction) == ("One.", None, None)
    assert case_quality(case, STATE).evidence == 0


@given(st.text(max_size=40) | st.recursive(st.none() | st.integers() | st.text(max_size=4), st.lists).map(json.dumps))
def test_any_reply_is_read_or_refused(text: str) -> None:
    for reply in (text, with_finding(verdict=text, evidence=text, line=text), f'{{"value": {json.dumps(text)}}}'):
        for reader in (lambda r: read_case(r, UNITS[2]), lambda r: read_line(r, UNITS[2]), read_choice):
            try:
                reader(reply)
            except ReplyError:
                continue


@pytest.mark.parametrize(
    "reply", ['{"line": "16", "amount": 3}', '{"line": "15"}', '{"amount": "lots"}', '{"amount": NaN}', "3"]
)
def test_a_line_for_another_unit_or_without_a_value_is_refused(reply: str) -> None:
    with pytest.raises(ReplyError):
        read_line(reply, UNITS[2])


@pytest.mark.parametrize("line", ["15", " 15 ", "Line 15", 15])
def test_a_line_may_be_called_a_line(line: str | int) -> None:
    case = read_case(with_finding(line=line), UNITS[2])
    assert case is not None
    assert case.unit_id == "15"
    assert read_line(json.dumps({"line": line, "amount": 3}), UNITS[2]).value == 3


def test_approval_of_another_line_is_not_silence_on_this_one() -> None:
    with pytest.raises(ReplyError, match="the verdict \"correct\" is about '11', expected '15'"):
        read_case(with_finding(line="11", verdict="correct"), UNITS[2])
    wrong = read_case(with_finding(line="11"), UNITS[2])
    assert wrong is not None
    assert case_quality(wrong, STATE).target == 0.0


def test_lone_surrogates_in_a_reply_are_replaced() -> None:
    evidence = [{"location": "a\ud800", "value": ["\udc00"]}]
    case = read_case(with_finding(claim="Not \ud800!", evidence=evidence), UNITS[2])
    assert case is not None
    assert case.claim == "Not ?!"
    assert (case.evidence[0].location, case.evidence[0].value) == ("a?", ["?"])
    assert read_line('{"amount": 3, "rationale": "\ud800"}', UNITS[2]).rationale == "?"


def test_a_rule_of_one_letter_is_cited_as_a_rule_and_not_by_every_article() -> None:
    task = Task("t", {}, {"A": Rule("A", "Add.")}, (TaskUnit("x", "number", rules=("A",)),))
    state = UnitState(task, task.units[0], {})
    said = ("This is a mistake.", "By rule A it is 4.")
    assert [case_quality(SafetyCase("x", "", words), state).cites for words in said] == [0.0, 1.0]


def test_evidence_computed_from_nothing_is_flagged_unless_it_is_the_unit_s_rule() -> None:
    task = Task("t", {"a": [4, 5]}, {"R": Rule("R", "Nothing.", "0")}, (TaskUnit("x", "number", rules=("R",)),))
    state = UnitState(task, task.units[0], {})
    assert (
        evidence_fault(EvidencePointer("computed", "2 + 2", 4), state)
        == "2 + 2: the expression does not use any value of the task."
    )
    assert evidence_fault(EvidencePointer("computed", "count(data.a)", 2), state) is None
    assert evidence_fault(EvidencePointer("computed", "0", 0), state) is None


def test_three_pieces_of_computed_evidence_are_evaluated_per_case() -> None:
    pieces = [EvidencePointer("computed", "unit.missing", 1)] * 2 + [EvidencePointer("rule", "R15")]
    pieces += [EvidencePointer("computed", 'unit["11"]', 161697)] * 3
    faults = evidence_faults(pieces, UnitState(TAX, UNITS[2], {"11": Decimal(161697)}))
    # The first two have no value, the third is the last that is tried.
    assert [fault is None for fault in faults] == [False, False, True, True, False, False]
    assert faults[5] == 'unit["11"]: not evaluated; the limit is 3 pieces of computed evidence per case.'
