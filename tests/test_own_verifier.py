"""A verifier of one's own judges claims, answers and rows, and is given no settings that it does not have."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from vouching import Checker, ConfigError
from vouching.methods import ClaimVerifier
from vouching.types import Claim, Source, Unverified, Verdict


class SameWords(ClaimVerifier):
    """Attributable if a source is the claim; fails where a claim says so."""

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Verdict | Unverified]:
        return [self.judged(claim, any(source.text == claim.text for source in sources)) for claim in claims]

    def judged(self, claim: Claim, same: bool) -> Verdict | Unverified:
        if "fail" in claim.text:
            return Unverified(claim, "backend", "It failed.")
        label, score = ("Attributable", 1.0) if same else ("Not Attributable", 0.0)
        return Verdict(claim, label, score, 1.0, 0.5, "supported" if same else "not_found")


def test_it_judges_claims_answers_and_rows() -> None:
    checker = Checker(SameWords())
    assert checker.check("It rained.", "It rained.").passed
    report = checker.check_response("It rained. It snowed. Things fail.", ["It rained."])
    assert [finding.passed for finding in report.findings] == [True, False, None]
    rows = [{"claim": "It snowed.", "source": "It rained."}, {"response": "It rained.", "source": "It rained."}]
    assert [result.passed for result in checker.check_many(rows)] == [False, True]


@pytest.mark.parametrize("given", [{"threshold": 0.7}, {"votes": 3}])
def test_it_takes_no_settings_because_it_has_its_own(given: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="the method SameWords has no setting"):
        Checker(SameWords(), **given)


def test_it_takes_no_method() -> None:
    with pytest.raises(ConfigError, match="'structured' cannot be used with a verifier of your own"):
        Checker(SameWords(), method="structured")
