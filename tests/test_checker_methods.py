"""One checker runs every method: what each judges, its settings, its rows, and what it has no use for."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from vouching.checker import Checker
from vouching.errors import ConfigError, InputError
from vouching.methods import METHODS
from vouching.models import ScriptedModel
from vouching.types import Report

RESPONSE, SOURCE = "The bridge has 2 towers.", "The bridge has three towers."
TASK = {
    "task": "t",
    "data": {"paid": [40, 2]},
    "rules": [{"id": "R", "text": "Add what was paid.", "value": "sum(data.paid)"}],
    "units": [{"id": "total", "type": "amount", "rules": ["R"]}],
}
RECORD = {
    "evidence_alignment": [{"claim_span": "2", "source_span": "three", "status": "mismatch"}],
    "reasoning_chain": [
        {"claim_part": "2", "source_evidence": "three", "judgment": "not_supported", "explanation": "Another number."}
    ],
    "label": "Not Attributable",
    "confidence": 0.9,
    "error_type": "numerical_exaggeration",
    "fix_suggestion": "Change 2 to three.",
}


def checker(method: str) -> Checker:
    """A checker of that method with a script in the place of a language model."""
    if method in ("structured", "label"):
        return Checker(ScriptedModel([json.dumps(RECORD)]), method=method)
    if method in ("checklist", "holistic"):
        return Checker(ScriptedModel({"": "no"}), method=method)
    if method == "cascade":
        return Checker("embedded:rules,embedded")
    return Checker("embedded:rules" if method != "assurance" else "embedded", method=method)


@pytest.mark.parametrize("method", ["embedded", "structured", "label", "discriminative", "blinded"])
def test_a_wrong_number_is_found_by_every_method_that_reads_sources(method: str) -> None:
    report = checker(method).check_response(RESPONSE, SOURCE)
    assert [finding.kind for finding in report.findings] == ["pair" if method == "blinded" else "verdict"]
    assert not report.attributable


@pytest.mark.parametrize("method", ["rules", "checklist", "holistic"])
def test_an_instruction_that_was_not_followed_is_found_by_every_method_that_reads_it(method: str) -> None:
    items = None if method == "holistic" else [{"rule": "punctuation:no_comma"}]
    report = checker(method).check_instruction("Use no commas.", "No, never.", items)
    assert [finding.passed for finding in report.findings] == [False]
    assert checker("rules").check_response("No, never.", question="Use no commas.").score == 0.0


def test_a_wrong_unit_of_a_task_is_challenged() -> None:
    assurance = checker("assurance").check_task(TASK, {"values": {"total": 41}})
    assert assurance.open == 1
    assert assurance.units[0].correction == "42"


ROWS = {
    "embedded": {"claim": RESPONSE, "source": SOURCE},
    "cascade": {"response": RESPONSE, "source": SOURCE},
    "rules": {
        "instruction_id_list": ["punctuation:no_comma"],
        "kwargs": [{}],
        "prompt": "No commas.",
        "response": "a,b",
    },
    "structured": {"response": RESPONSE, "source": SOURCE},
    "discriminative": {"claim": RESPONSE, "source": SOURCE},
    "checklist": {"prompt": "Be kind.", "response": "Never.", "checklist": ["Is it kind?"]},
    "blinded": {"response": RESPONSE, "source": SOURCE},
    "assurance": {"task": TASK, "proposal": {"values": {"total": 41}}},
}


@pytest.mark.parametrize("method", METHODS)
def test_a_row_is_judged_by_every_method(method: str) -> None:
    [result] = checker(method).check_many([{"id": "a", **ROWS[method]}])
    assert result.kind != "unverified"
    if isinstance(result, Report):
        assert result.id == "a"


FINE = {
    "embedded": {"response": SOURCE, "source": SOURCE},
    "cascade": {"response": SOURCE, "source": SOURCE},
    "rules": {"prompt": "Use no commas.", "response": "So it is."},
    "structured": {"response": SOURCE, "source": SOURCE},
    "discriminative": {"response": SOURCE, "source": SOURCE},
    "checklist": {"prompt": "Be kind.", "response": "Dear.", "checklist": [{"rule": "punctuation:no_comma"}]},
    "blinded": {"response": SOURCE, "source": SOURCE},
    "assurance": {"task": TASK, "proposal": {"values": {"total": 42}}},
}
WRONG = {
    **ROWS,
    "embedded": {"response": RESPONSE, "source": SOURCE},
    "discriminative": {"response": RESPONSE, "source": SOURCE},
}
SUPPORTED = {**RECORD, "label": "Attributable", "error_type": None, "fix_suggestion": None} | {
    "evidence_alignment": [{"claim_span": "three", "source_span": "three", "status": "match"}],
    "reasoning_chain": [
        {"claim_part": "three", "source_evidence": "three", "judgment": "supported", "explanation": "As it says."}
    ],
}


@pytest.mark.parametrize("method", METHODS)
def test_a_report_means_the_same_for_every_method(method: str) -> None:
    judge = Checker(ScriptedModel([json.dumps(SUPPORTED)])) if method == "structured" else checker(method)
    [fine] = judge.check_many([FINE[method]])
    [wrong] = checker(method).check_many([WRONG[method]])
    assert (fine.passed, wrong.passed) == (True, False)
    assert 0.0 <= wrong.score < fine.score <= 1.0
    assert fine.coverage == wrong.coverage == 1.0
    for finding in fine.units if method == "assurance" else fine.findings:
        assert finding.passed
        assert (finding.status, bool(finding.label), bool(finding.subject)) == ("match", True, True)


def test_what_nobody_could_judge_neither_passes_nor_fails_nor_has_a_score() -> None:
    broken = Checker(ScriptedModel(["no record"]))
    report = broken.check_response(RESPONSE, SOURCE)
    assert (report.passed, report.score, report.findings[0].label) == (None, None, "Unverified")
    nothing = checker("rules").check_instruction("Describe the sea.", "Wide.")
    assert (nothing.passed, nothing.score) == (None, None)
    words = {**TASK, "rules": [{"id": "R", "text": "Add what was paid."}]}
    assurance = checker("assurance").check_task(words, {"values": {"total": 41}})
    assert (assurance.passed, assurance.score, assurance.coverage) == (None, None, 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_a_row_without_what_the_method_judges_says_so(method: str) -> None:
    [result] = checker(method).check_many([{"id": "a"}])
    assert (result.kind, result.claim.id) == ("unverified", "a")
    assert result.reason == "input"


@pytest.mark.parametrize("method", ["rules", "checklist", "blinded", "assurance"])
def test_a_claim_alone_is_refused_by_methods_that_judge_something_else(method: str) -> None:
    with pytest.raises(ConfigError, match=f"the method {method} does not accept a claim: call check_"):
        checker(method).check(RESPONSE, SOURCE)
    with pytest.raises(ConfigError, match="does not accept a search"):
        Checker(method=method, model=ScriptedModel(["yes"]), search=["wikipedia"])


@pytest.mark.parametrize("method", ["embedded", "blinded", "assurance"])
def test_an_instruction_is_refused_by_methods_that_do_not_judge_by_it(method: str) -> None:
    with pytest.raises(ConfigError, match="does not accept an instruction"):
        checker(method).check_instruction("Use no commas.", "No, never.")


def test_a_method_that_judges_form_repairs_nothing() -> None:
    with pytest.raises(ConfigError, match="does not support repairs: omit repair_rest"):
        checker("rules").check_response("No, never.", question="Use no commas.", repair_rest="mark")


def test_a_blinded_audit_is_repaired_by_what_the_documents_say() -> None:
    report = checker("blinded").check_response("It has 2 km.", "It has 3 km.", repair_rest="mark")
    assert report.revised_response == "It has 3 km."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "blindd"}, "unknown method 'blindd'; did you mean 'blinded'"),
        ({"method": "nonsense"}, "expected one of embedded, cascade, rules"),
        ({"treshold": 0.7}, "the method embedded has no setting 'treshold'; did you mean 'threshold'"),
        ({"votes": 3, "seed": 1}, "embedded is not a language model, so votes and seed cannot be used"),
        ({"method": "structured"}, "embedded is not a language model, so method cannot be used"),
        ({"method": "checklist"}, "items are judged by a language model, got embedded"),
        ({"model": ScriptedModel(["yes"]), "method": "embedded"}, "expected structured or label"),
        ({"method": "blinded", "threshold": 0.7}, "the method blinded has no setting 'threshold'"),
        ({"method": "blinded", "scope": "words"}, "scope must be one of numbers, facts"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Checker(**arguments)  # type: ignore[arg-type]


def test_settings_reach_the_verifier() -> None:
    assert Checker(method="blinded").verifier.config.scope == "facts"
    assert Checker(method="blinded", scope="numbers", seed=None, votes=1).verifier.config.scope == "numbers"
    assert Checker(ScriptedModel(["yes"]), method="label", votes=3).verifier.config.style == "label"
    assert Checker(ScriptedModel(["yes"]), method="holistic", votes=3).decoding["votes"] == 3
    assert Checker("embedded", votes=1).embedded


def test_a_blank_instruction_is_refused() -> None:
    with pytest.raises(InputError, match="the instruction must not be empty"):
        checker("rules").check_response("So it is.")


def test_to_the_discriminative_method_the_embedded_verifier_is_a_scorer() -> None:
    claim, source = "It opened in 1937.", "The bridge opened in 1973."
    judged, plain = Checker(method="discriminative").check(claim, source), Checker().check(claim, source)
    assert replace(judged, provenance=plain.provenance, usage=plain.usage) == plain
