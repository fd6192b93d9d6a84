"""Which verdicts pass, go to review and fail by the rules of a policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from vouching import check_response
from vouching.errors import ConfigError
from vouching.report.outcomes import OutcomePolicy, Rule, claim_kind, read_outcomes
from vouching.types import Claim, ItemResult, Unverified, Verdict, VerdictWarning


def verdict(score: float, claim: str = "It is red.", relation: str = "supported", **more: object) -> Verdict:
    label = "Attributable" if score >= 0.5 else "Not Attributable"
    return Verdict(Claim(claim), label, score, max(score, 1 - score), 0.5, relation, **more)  # type: ignore[arg-type]


def decided(rule: Rule, one: Verdict) -> bool:
    """Whether the rule is what decides."""
    return OutcomePolicy({"rule": rule}).decide(one)[1] == "rule"


def test_without_rules_the_label_decides_and_a_failed_judge_goes_to_review() -> None:
    policy = OutcomePolicy()
    failed = Unverified(Claim("It is red."), "backend", "No reply.")
    assert [policy.decide(one)[0] for one in (verdict(0.9), verdict(0.1), failed)] == ["pass", "fail", "review"]
    assert [policy.passes(one) for one in (verdict(0.9), verdict(0.1), failed)] == [True, False, None]


def test_each_criterion_takes_what_it_names_and_nothing_else() -> None:
    warned = verdict(0.9, warnings=(VerdictWarning("misattributed", "Another source."),))
    broken = verdict(0.9, warnings=(VerdictWarning("citation", "It names no source."),))
    wrong = verdict(0.2, "It opened in 1937.", "contradicted", error_type="temporal_shift")
    for rule, yes, no in (
        (Rule("fail", label="Not Attributable"), wrong, warned),
        (Rule("fail", relation="contradicted"), wrong, verdict(0.2, relation="not_found")),
        (
            Rule("fail", error_type="temporal_shift"),
            wrong,
            verdict(0.2, relation="not_found", error_type="fabrication"),
        ),
        (Rule("fail", kind="date"), wrong, verdict(0.2, "It has 3 towers.", "contradicted")),
        (Rule("fail", citation="misattributed"), warned, broken),
        (Rule("fail", citation="broken"), broken, warned),
        (Rule("fail", min_confidence=0.8), wrong, verdict(0.79)),
        (Rule("fail", max_confidence=0.8), verdict(0.2), verdict(0.81)),
    ):
        assert (decided(rule, yes), decided(rule, no)) == (True, False), rule


def test_all_criteria_of_a_rule_must_hold_and_the_first_rule_decides() -> None:
    policy = OutcomePolicy(
        {
            "unsure": Rule("review", max_confidence=0.6),
            "silent": Rule("pass", relation="not_found", kind="words"),
            "rest": Rule("fail"),
        }
    )
    assert policy.decide(verdict(0.45, relation="not_found")) == ("review", "unsure")
    assert policy.decide(verdict(0.1, relation="not_found")) == ("pass", "silent")
    assert policy.decide(verdict(0.1, "It has 2 doors.", "not_found")) == ("fail", "rest")
    assert policy.decide(verdict(0.9)) == ("fail", "rest")


def test_no_rule_makes_a_verdict_of_a_failed_judge_or_decides_on_an_item() -> None:
    policy = OutcomePolicy({"everything": Rule("pass")})
    unsure = Unverified(Claim("It is red."), "undecided", "Not sure enough.", verdict=verdict(0.55))
    assert policy.decide(unsure) == ("review", "")
    assert policy.decide(ItemResult("Is it red?", (False,), 0.0, False)) == ("fail", "")


def test_a_wrong_citation_of_a_right_claim_fails_by_a_rule() -> None:
    sources = ["It opened in 1973.", "It has two towers."]
    report = check_response("It opened in 1973 [2]. It has two towers [2].", sources, model="embedded:rules")
    policy = OutcomePolicy({"cites-another": Rule("fail", citation="misattributed")})
    assert [one.label for one in report.findings] == ["Attributable", "Attributable"]
    assert [policy.decide(one)[0] for one in report.findings] == ["fail", "pass"]


def test_the_kind_of_a_claim_is_what_it_states() -> None:
    kinds = {
        "It costs 5 euros in 1973.": "number",
        "It has two towers.": "number",
        "It opened on 4 May 1973.": "date",
        "It is the longest bridge.": "words",
        "It has towers [1].": "words",
    }
    assert {claim: claim_kind(claim) for claim in kinds} == kinds


def test_a_file_gives_rules_in_order_and_adds_them_to_those_that_it_extends(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('[rules.a]\noutcome = "review"\nmax_confidence = 0.6\n', encoding="utf-8")
    more = 'extends = "base.toml"\n[rules.b]\noutcome = "fail"\nlabel = "Attributable"\n'
    (tmp_path / "more.toml").write_text(more, encoding="utf-8")
    policy = read_outcomes(tmp_path / "more.toml")
    assert policy.rules == {"a": Rule("review", max_confidence=0.6), "b": Rule("fail", label="Attributable")}
    assert list(policy.rules) == ["a", "b"]
    assert read_outcomes(None) == OutcomePolicy()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[rules.a]\noutcome = "fail"\nrelatoin = "not_found"', "unknown setting 'rules.a.relatoin'; did you mean"),
        ('[rules.a]\nlabel = "Attributable"', "rules.a.outcome is missing"),
        ('[rules.a]\noutcome = "fail"\nlabel = "True"', "rules.a.label must be 'Attributable' or 'Not Attributable'"),
        ('[rules.a]\noutcome = "fail"\nmin_confidence = 0.9\nmax_confidence = 0.5', "got 0.9 and 0.5"),
        ('[rule.a]\noutcome = "fail"', "unknown setting 'rule'; did you mean 'rules'?"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_setting(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "outcomes.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_outcomes(tmp_path / "outcomes.toml")
    assert words in str(refused.value)
