"""What a policy does to labelled and to kept verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.review.kept import entry, keep, review_sample, verdict
from vouching.cli.app import app_for
from vouching.judging.calibration import LabelledVerdict
from vouching.ledger import open_ledger
from vouching.report.outcomes import OutcomePolicy, Rule
from vouching.review import ReviewQueue
from vouching.review.outcome_rates import outcome_rates, replay
from vouching.types.serial import to_python

UNSURE = OutcomePolicy({"unsure": Rule("review", max_confidence=0.8)})
POLICY = '[rules.unsure]\noutcome = "review"\nmax_confidence = 0.8\n'
SCORES = (0.95, 0.95, 0.95, 0.9, 0.7, 0.6, 0.3, 0.1, 0.05, 0.05)
"""With UNSURE: 4 pass, 3 go to review (0.7, 0.6, 0.3), 3 fail."""
GOLD = (True, True, True, False, True, False, False, False, False, True)
"""Of those that pass one is wrong (0.9), of those that fail one (the last)."""


def labelled(groups: int = 10) -> list[LabelledVerdict]:
    """The verdicts, with as many groups: rows i and i + groups share one."""
    words = {True: "Attributable", False: "Not Attributable"}
    return [
        LabelledVerdict(words[gold], verdict(score), str(number % groups))  # type: ignore[arg-type]
        for number, (score, gold) in enumerate(zip(SCORES, GOLD, strict=True))
    ]


def vouch(*arguments: str) -> Result:
    return CliRunner().invoke(app_for(arguments[0]), arguments)


def test_shares_and_errors_are_those_counted_by_hand_with_wilsons_interval() -> None:
    rates = outcome_rates(labelled(), UNSURE)
    assert [(name, one.verdicts, one.wrong) for name, one in rates.items()] == [
        ("pass", 4, 1),
        ("review", 3, None),
        ("fail", 3, 1),
    ]
    # Wilson's interval of 1 of 4, z = 1.959964: centre (1/4 + z^2/8) / (1 + z^2/4) = 0.730182 / 1.960365 = 0.372473;
    # half width z sqrt(1/4 * 3/4 / 4 + z^2/64) / 1.960365 = 1.959964 * 0.326952 / 1.960365 = 0.326885.
    error = rates["pass"].error
    assert error is not None
    assert (error.estimate, error.method) == (0.25, "Wilson")
    assert (error.low, error.high) == pytest.approx((0.045588, 0.699358), abs=2e-6)
    assert (rates["review"].error, rates["review"].share.estimate) == (None, 0.3)


def test_rows_of_one_group_make_the_interval_wider() -> None:
    alone, together = (outcome_rates(labelled(groups), UNSURE)["pass"] for groups in (10, 2))
    assert alone.error is not None
    assert together.error is not None
    assert (together.error.method, together.error.estimate) == ("Wilson by groups", 0.25)
    assert together.error.high > alone.error.high  # type: ignore[operator]


def test_without_rules_it_is_the_error_of_the_labels_themselves() -> None:
    rates = outcome_rates(labelled(), OutcomePolicy())
    # Attributable: the first six, of which the gold labels of the fourth and the sixth differ.
    assert [(name, one.verdicts, one.wrong) for name, one in rates.items()] == [
        ("pass", 6, 2),
        ("review", 0, None),
        ("fail", 4, 1),
    ]
    assert rates["review"].share.estimate == 0.0


def test_a_replay_counts_both_policies_and_names_what_changes() -> None:
    kept = [(f"line {n}", to_python(verdict(score))) for n, score in enumerate(SCORES, 1)]
    kept.append(("line 11", {"kind": "unverified", "claim": {"text": "It is red."}, "reason": "backend"}))
    found = replay(kept, UNSURE)
    assert found.before == {"pass": 6, "review": 0, "fail": 4}
    assert found.after == {"pass": 4, "review": 3, "fail": 3}
    assert [(one.place, one.before, one.after, one.rule) for one in found.changes] == [
        ("line 5", "pass", "review", "unsure"),
        ("line 6", "pass", "review", "unsure"),
        ("line 7", "fail", "review", "unsure"),
    ]
    back = replay(kept, OutcomePolicy(), UNSURE)
    assert [(one.before, one.after, one.rule) for one in back.changes] == [
        ("review", "pass", ""),
        ("review", "pass", ""),
        ("review", "fail", ""),
    ]


def test_the_verdicts_of_a_report_are_named_by_their_claim() -> None:
    record = {"kind": "report", "findings": [to_python(verdict(0.9)), to_python(verdict(0.6))]}
    [change] = replay([("row 7", record)], UNSURE).changes
    assert change.place == "row 7, claim 2"


def test_the_commands_read_a_ledger_and_its_reviews(tmp_path: Path) -> None:
    target, policy = str(tmp_path / "verdicts.db"), tmp_path / "outcomes.toml"
    policy.write_text(POLICY, encoding="utf-8")
    with open_ledger(target) as ledger:
        ids = keep(ledger, SCORES)
        words = {True: "Attributable", False: "Not Attributable"}
        review_sample(ReviewQueue(ledger), {id: words[gold] for id, gold in zip(ids, GOLD, strict=True)})
    measured = vouch("measure", "--ledger", target, "--policy", str(policy))
    assert measured.stdout == (
        "pass: 4 claims, 40.0% (16.8% to 68.7%); wrongly: 1, 25.0% (4.6% to 69.9%)\n"
        "review: 3 claims, 30.0% (10.8% to 60.3%)\n"
        "fail: 3 claims, 30.0% (10.8% to 60.3%); wrongly: 1, 33.3% (6.1% to 79.2%)\n"
    ), measured.stderr
    with open_ledger(target) as ledger:
        ledger.append([entry(0.65, claim="It is new.")])
    replayed = vouch("replay", "--ledger", target, "--policy", str(policy))
    assert replayed.stdout.splitlines()[-1] == "row 21: pass -> review (unsure): It is new."
    assert replayed.stderr == "vouch: 11 verdicts, 4 change: pass 7 -> 4, review 0 -> 4, fail 4 -> 3\n"


def test_rows_are_judged_or_joined_to_their_verdicts_and_the_numbers_are_the_same(tmp_path: Path) -> None:
    rows, verdicts, source = tmp_path / "rows.jsonl", str(tmp_path / "v.jsonl"), "The bridge opened in 1973."
    given = [("It opened in 1973.", "Attributable"), ("It opened in 1937.", "Not Attributable"), ("It opened.", None)]
    lines = [json.dumps({"claim": claim, "source": source, "label": label}) for claim, label in given]
    rows.write_text("\n".join(lines), encoding="utf-8")
    judge = ("--model", "embedded:rules")
    assert vouch("check", "--input", str(rows), "--output", verdicts, *judge).exit_code == 0
    judged = vouch("measure", str(rows), "--json", *judge)
    joined = vouch("measure", str(rows), "--verdicts", verdicts, "--json")
    assert json.loads(judged.stdout) == json.loads(joined.stdout)
    found = json.loads(judged.stdout)
    assert (found["verdicts"], found["skipped"], found["pass"]["wrong"], found["fail"]["wrong"]) == (2, 1, 0, 0)
    assert judged.stderr == "vouch: skipped 1 rows without a label or a verdict\n"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"claim": "It is red.", "source": "It is red."}\n', encoding="utf-8")
    (tmp_path / "broken.jsonl").write_text('{"claim": \n', encoding="utf-8")
    for arguments, words in (
        (("measure",), "pass a file, or a ledger with --ledger"),
        (("replay",), "pass a file, or a ledger with --ledger"),
        (("measure", str(tmp_path / "rows.jsonl"), "--model", "embedded:rules"), "has no row with a label"),
        (("replay", str(tmp_path / "broken.jsonl")), "broken.jsonl, line 1: invalid JSON"),
    ):
        done = vouch(*arguments)
        assert done.exit_code == 2
        assert words in " ".join(done.stderr.split())
