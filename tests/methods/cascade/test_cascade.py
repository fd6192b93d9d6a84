"""Cascades: who is asked, who decides, what it costs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vouching.checker import Checker
from vouching.cli.app import app
from vouching.errors import ConfigError, ModelUnavailableError
from vouching.judging.calibration import VARIABLE, Calibration
from vouching.judging.verifier import Outcome
from vouching.methods.cascade.summary import cascade_words
from vouching.methods.cascade.verify import CONFIDENT, CascadeVerifier, Stage, open_cascade
from vouching.metrics.calibrators import Calibrator
from vouching.types import Claim, Provenance, Source, Unverified, Usage, Verdict

SOURCE = [Source("The bridge opened in 1973.")]


class Told:
    """A verifier with a given score for each claim; None fails."""

    def __init__(self, name: str, **scores: float | None) -> None:
        self.name, self.scores = name, scores
        self.asked: list[str] = []
        self.closed = False
        self.calibrator: str | None = None

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        self.asked += [claim.text for claim in claims]
        return [self._outcome(claim) for claim in claims]

    async def support(self, text: str, sources: Sequence[Source]) -> float | None:
        return 0.25

    async def aclose(self) -> None:
        self.closed = True

    def _outcome(self, claim: Claim) -> Outcome:
        score = self.scores[claim.text]
        cost = Usage(1.0, 10, 2, 1)
        if score is None:
            return Unverified(claim, "unparsable", "no verdict", usage=cost)
        return Verdict(
            claim,
            "Attributable" if score >= 0.5 else "Not Attributable",
            score,
            max(score, 1 - score),
            0.5,
            "supported" if score >= 0.5 else "not_found",
            provenance=Provenance(self.name, "1", self.calibrator),
            usage=cost,
        )


def judged(*stages: Stage, claims: str = "abc") -> list[Outcome]:
    return asyncio.run(CascadeVerifier(stages).verify([Claim(text) for text in claims], SOURCE))


def test_the_next_model_is_asked_only_where_the_one_before_is_undecided() -> None:
    first, second, third = Told("1", a=0.95, b=0.6, c=0.05), Told("2", b=0.7), Told("3", b=0.4)
    outcomes = judged(Stage("1", first, 0.9), Stage("2", second, 0.9), Stage("3", third))
    assert (first.asked, second.asked, third.asked) == (["a", "b", "c"], ["b"], ["b"])
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    assert [v.provenance.model for v in verdicts] == ["1", "3", "1"]
    assert [v.provenance.asked for v in verdicts] == [(), ("1", "2"), ()]
    # The cost of b is that of three calls, each of 1 s and 10 + 2 tokens.
    assert [v.usage for v in verdicts] == [Usage(1.0, 10, 2, 1), Usage(3.0, 30, 6, 3), Usage(1.0, 10, 2, 1)]


def test_the_limit_of_a_calibration_is_for_verdicts_to_which_it_was_applied() -> None:
    # .8 is enough where confidences are those of the calibration, else .9 is, as without one.
    for applied, asked in ((None, ["a"]), ("another:2", ["a"]), ("weights:1, platt:1", [])):
        first, second = Told("1", a=0.85, b=0.95), Told("2", a=0.3)
        first.calibrator = applied
        judged(Stage("1", first, 0.8, "platt:1"), Stage("2", second), claims="ab")
        assert second.asked == asked


def test_the_last_model_decides_whatever_its_confidence() -> None:
    [outcome] = judged(Stage("1", Told("1", a=0.5)), Stage("2", Told("2", a=0.51), 1.0), claims="a")
    assert isinstance(outcome, Verdict)
    assert (outcome.provenance.model, outcome.score) == ("2", 0.51)


def test_a_model_that_fails_hands_over_and_the_last_failure_is_unverified_and_no_label() -> None:
    [saved] = judged(Stage("1", Told("1", a=None)), Stage("2", Told("2", a=0.6)), claims="a")
    assert isinstance(saved, Verdict)
    [failed] = judged(Stage("1", Told("1", a=0.6)), Stage("2", Told("2", a=None)), claims="a")
    assert isinstance(failed, Unverified)
    assert (failed.reason, failed.usage.calls) == ("unparsable", 2)
    assert failed.verdict is not None
    assert failed.verdict.provenance.model == "1"


class Away(Told):
    """A verifier whose server is out of reach."""

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        raise ModelUnavailableError("no answer from the server")


def test_a_model_out_of_reach_hands_over_unless_it_is_the_last() -> None:
    found = judged(Stage("1", Away("1")), Stage("2", Told("2", a=0.6, b=0.4)), claims="ab")
    assert [one.score for one in found if isinstance(one, Verdict)] == [0.6, 0.4]
    with pytest.raises(ModelUnavailableError):
        judged(Stage("1", Told("1", a=0.6)), Stage("2", Away("2")), claims="a")


def test_all_models_are_closed_and_the_support_is_the_first_ones() -> None:
    first, second = Told("1"), Told("2")
    cascade = CascadeVerifier([Stage("1", first), Stage("2", second)])
    assert asyncio.run(cascade.support("x", SOURCE)) == 0.25
    asyncio.run(cascade.aclose())
    assert (first.closed, second.closed) == (True, True)


def test_the_limit_of_a_model_is_that_of_its_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert Checker("embedded:rules,embedded").decoding == {"confident_from embedded:rules": CONFIDENT}
    measured = {"rows": 40.0, "confident_from": 0.8}
    Calibration("embedded:rules", "embedded", 1, Calibrator("temperature", (1.0,)), measured).save(tmp_path / "r.json")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    cascade = open_cascade("embedded:rules,embedded")
    assert cascade.decoding == {"confident_from embedded:rules": 0.8}
    assert cascade.stages[0].calibrator == Calibrator("temperature", (1.0,)).name
    [found] = asyncio.run(cascade.stages[0].verifier.verify([Claim("It opened.")], SOURCE))
    assert isinstance(found, Verdict)
    assert cascade.stages[0].calibrator in (found.provenance.calibrator or "")


@pytest.mark.parametrize(
    ("model", "method", "message"),
    [
        ("embedded:rules,bogus:x", None, "unknown model 'bogus:x'"),
        ("embedded:rules,", None, "unknown model ''"),
        ("embedded:rules,embedded", "structured", "cannot be used with a cascade"),
        ("embedded", "cascade", "several models with commas"),
    ],
)
def test_a_cascade_that_cannot_be_opened_says_why(model: str, method: str | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Checker(model, method=method)


def test_share_cost_and_expected_loss_are_summed_up_by_the_model_that_decided() -> None:
    def line(model: str, confidence: float, tokens: int) -> dict[str, object]:
        usage = {"seconds": 0.5, "prompt_tokens": tokens, "completion_tokens": 0, "cost": tokens / 1e4}
        return {"kind": "verdict", "confidence": confidence, "usage": usage, "provenance": {"model": model}}

    lines = [line("rules", 0.9, 0), {"kind": "report", "findings": [line("rules", 0.8, 0), line("llm", 0.7, 90)]}]
    # rules: 2 of 4, (.1 + .2) / 2 = .15; llm: 1 of 4, .3; all: (.1 + .2 + .3) / 3 = .2 and 90 / 3 = 30 tokens,
    # whose prices are 90 / 10,000 and a third of that
    assert cascade_words([*lines, {"kind": "unverified"}]) == [
        "rules decided 2 of 4 claims (50%): 0.500 s and 0 tokens a claim, expected loss 0.150",
        "llm decided 1 of 4 claims (25%): 0.500 s and 90 tokens a claim, cost 0.009, expected loss 0.300",
        "all models decided 3 of 4 claims (75%): 0.500 s and 30 tokens a claim, cost 0.003, expected loss 0.200",
        "no model verified 1 of 4 claims (25%)",
    ]


def test_a_run_over_rows_reports_what_each_model_decided(tmp_path: Path) -> None:
    rows, output = tmp_path / "rows.jsonl", tmp_path / "verdicts.jsonl"
    claims = ["The bridge opened in 1973.", "The bridge was rather nice to look at."]
    texts = (json.dumps({"claim": claim, "source": SOURCE[0].text}) for claim in claims)
    rows.write_text("\n".join(texts), encoding="utf-8")
    model = "embedded:rules,embedded"
    result = CliRunner().invoke(app, ["check", "--input", str(rows), "--output", str(output), "--model", model])
    assert result.exit_code == 0, result.output
    assert "embedded:rules decided 1 of 2 claims (50%)" in result.stderr
    assert "expected loss" in result.stderr
    records = [json.loads(text) for text in output.read_text(encoding="utf-8").splitlines()]
    assert [record["provenance"].get("asked") or [] for record in records] == [[], ["embedded:rules"]]
