"""What happens to a verdict: pass, review or fail, by the rules of a policy.

    [rules.unsure]
    outcome = "review"
    max_confidence = 0.8

    [rules.cites-another-source]
    outcome = "fail"
    citation = "misattributed"

The first rule whose criteria all hold decides. A verdict that no rule is about passes if it is Attributable, and else
fails. A claim that the judge failed on always goes to review: no rule makes a verdict of it. Not supported: rules about
whether a claim cites anything, as a mark after a full stop is not in the claim's text; YAML.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from vouching.errors import ConfigError
from vouching.settings import read_settings
from vouching.text.dates import find_dates
from vouching.text.quantities import find_quantities
from vouching.types import ErrorType, Finding, Label, Relation, Verdict

PolicyOutcome: TypeAlias = Literal["pass", "review", "fail"]
"""What happens to a verdict."""
ClaimKind: TypeAlias = Literal["number", "date", "words"]
"""number: it states a number or an amount; date: it states a date or a year and no other number; words: neither."""
OUTCOMES: tuple[PolicyOutcome, ...] = get_args(PolicyOutcome)
_PASSED: dict[PolicyOutcome, bool | None] = {"pass": True, "review": None, "fail": False}


def claim_kind(claim: str) -> ClaimKind:
    """What a claim states.

    >>> [claim_kind(text) for text in ("It has 2 towers.", "It opened in May 1973.", "It is red.")]
    ['number', 'date', 'words']
    """
    dates = find_dates(claim)
    return "number" if find_quantities(claim, dates) else "date" if dates else "words"


@dataclass(frozen=True, slots=True)
class Rule:
    """An outcome, and which verdicts get it; a criterion that is None does not restrict.

    Raises ConfigError for confidences that are not 0 <= min_confidence <= max_confidence <= 1.
    """

    outcome: PolicyOutcome
    """What happens to them."""
    label: Label | None = None
    """The verdict's label."""
    relation: Relation | None = None
    """How the sources relate to the claim."""
    error_type: ErrorType | None = None
    """What is wrong with the claim."""
    kind: ClaimKind | None = None
    """What the claim states."""
    citation: Literal["misattributed", "broken"] | None = None
    """misattributed: another source than the cited one supports the claim; broken: the citation names no source, or the
    source does not have the cited text."""
    min_confidence: float = 0.0
    """Confidence of at least this, in [0, 1]."""
    max_confidence: float = 1.0
    """Confidence of at most this, in [0, 1]."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.min_confidence <= self.max_confidence <= 1.0:
            raise ConfigError(
                "min_confidence must be at least 0, and max_confidence at least that and at most 1, got "
                f"{self.min_confidence} and {self.max_confidence}"
            )

    def fits(self, verdict: Verdict) -> bool:
        """Whether all criteria hold."""
        warned = {warning.kind for warning in verdict.warnings}
        return (
            self.min_confidence <= verdict.confidence <= self.max_confidence
            and self.label in (None, verdict.label)
            and self.relation in (None, verdict.relation)
            and self.error_type in (None, verdict.error_type)
            and (self.citation is None or {"broken": "citation"}.get(self.citation, self.citation) in warned)
            and (self.kind is None or self.kind == claim_kind(verdict.claim.text))
        )


@dataclass(frozen=True, slots=True)
class OutcomePolicy:
    """Rules by name, in order; without one, a verdict passes if it is Attributable, and else fails.

    >>> from vouching import check
    >>> policy = OutcomePolicy({"numbers": Rule("review", label="Not Attributable", kind="number")})
    >>> verdict = check("It has three towers.", "It has two towers.", model="embedded:rules")
    >>> policy.decide(verdict), OutcomePolicy().decide(verdict)
    (('review', 'numbers'), ('fail', ''))
    """

    rules: dict[str, Rule] = field(default_factory=dict[str, Rule])
    """The first that fits decides."""

    def decide(self, finding: Finding) -> tuple[PolicyOutcome, str]:
        """The outcome of a finding, and the name of the rule that decided; "" without one.

        Rules are about verdicts; any other finding passes or fails by itself, and goes to review if that is unknown.
        """
        if isinstance(finding, Verdict):
            for name, rule in self.rules.items():
                if rule.fits(finding):
                    return rule.outcome, name
        return "review" if finding.passed is None else "pass" if finding.passed else "fail", ""

    def passes(self, finding: Finding) -> bool | None:
        """Whether a finding passes; None if it goes to review."""
        return _PASSED[self.decide(finding)[0]]


def read_outcomes(path: str | Path | None) -> OutcomePolicy:
    r"""The policy of a TOML file; None for the one without rules.

    With ``extends = "other.toml"`` the file adds rules to those of another, which come first. Raises ConfigError if it
    cannot be read, or has an unknown key or value.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "outcomes.toml"
    >>> _ = file.write_text('[rules.unsure]\noutcome = "revue"', encoding="utf-8")
    >>> read_outcomes(file)
    Traceback (most recent call last):
        ...
    vouching.errors.ConfigError: rules.unsure.outcome must be 'pass', 'review' or 'fail', got 'revue'
    """
    return read_settings(OutcomePolicy, None if path is None else Path(path))
