"""Rewards of a blinded audit (MARCH, section 2.3): do checkers who saw the questions alone answer as the response does?

    R = 0 if every answer matches, else -1        Eq. 7, zero tolerance; on the scale 0/1: 1, else 0
    R = -N_err / N_total                          section 3.4, error rate
    R = -.1 min(N_err, 13)                        the released error rate

Solver and checker earn the same R. An answer that differs, a tie of the checkers, documents that contradict each other
and "cannot answer" are faults: a checker that always says it cannot would earn most otherwise. Departures: a question
that contains its answer is dropped, not counted as answered; and each question missing to min(k, numbers of the
response) is a fault, where the released code pays the best reward for asking nothing (App. B.4); k = 0 turns that off.
Where the response is known, only questions about numbers that it states count, each number once.
Where a judge failed there is no reward: an Unverified, not a 0. Left out: advantages, and a reward for the proposer,
which is not trained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from vouching.errors import ConfigError, InputError
from vouching.judging.matching import Match, asked_about, rule
from vouching.judging.values import find_numbers
from vouching.types import Report, Reward, Unverified
from vouching.types.findings import BlindOutcome, Checked, PairResult

Scale: TypeAlias = Literal["-1/0", "0/1", "error-rate", "released-error-rate"]
"""How faults become a number; the paper trains best with the first."""
PARTS = ("questions", "matches", "different", "unanswered", "contradictory", "leaks", "missing", "coverage")
"""Names of the parts: questions put to the checkers, and how they came out; questions dropped because they contain
their answer; questions that k asks for and nobody put; share of the response's numbers asked about, in [0, 1]."""
_PART_OF: dict[BlindOutcome, str] = {
    "same": "matches", "different": "different", "not_found": "unanswered", "contradictory": "contradictory",
    "leaked": "leaks",
}  # fmt: skip
_RELEASED_STEP, _RELEASED_MOST = 0.1, 13


@dataclass(frozen=True, slots=True)
class BlindedRules:
    """How an audit becomes a reward. Raises ConfigError for an unknown scale or comparison, or a number below 0."""

    scale: Scale = "-1/0"
    """How faults become a number."""
    match: Match = "units"
    """How answers are compared; see :mod:`vouching.judging.matching`."""
    min_questions: int = 3
    """k: numbers of a response that must be asked about, where it states as many; at least 0."""

    def __post_init__(self) -> None:
        for name, known in (("scale", get_args(Scale)), ("match", get_args(Match))):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} is {getattr(self, name)!r}, wanted one of {', '.join(known)}")
        if self.min_questions < 0:
            raise ConfigError(f"min_questions is {self.min_questions}, wanted at least 0")


PAPER = BlindedRules()
"""The paper's reward, with units and the question guard."""


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A question with the response's answer and what each checker said."""

    question: str
    """As the checkers saw it."""
    answer: str
    """The response's."""
    checked: tuple[Checked | str | None, ...]
    """One per checker; a text stands for a single answer, None for "cannot answer"."""


def blinded_reward(
    pairs: Sequence[AskedPair | Unverified], num_numbers: int, rules: BlindedRules = PAPER
) -> Reward | Unverified:
    """The reward of one response.

    Args:
        pairs: the questions about it, each answered blind by as many checkers.
        num_numbers: numbers in the response.
        rules: scale, comparison and k.

    Returns:
        R with its parts; the first Unverified where a judge failed.

    Raises:
        InputError: a question without a checker, or a negative count.

    >>> pairs = [AskedPair("How long is it?", "3.2 km", ("3,200 m", "3.2 km")), AskedPair("Opened?", "1937", ("1973",))]
    >>> blinded_reward(pairs, num_numbers=2).total
    -1.0
    >>> blinded_reward(pairs, 4, BlindedRules("error-rate")).total  # one differs, one of three is missing: 2 of 3
    -0.6666666666666666
    """
    failed = next((pair for pair in pairs if isinstance(pair, Unverified)), None)
    if failed is not None:
        return failed
    asked = [pair for pair in pairs if isinstance(pair, AskedPair)]
    silent = next((number for number, pair in enumerate(asked, 1) if not pair.checked), None)
    if silent is not None:
        raise InputError(f"question {silent} has no checker: write null for a checker that could not answer")
    rulings = [rule(pair.question, pair.answer, pair.checked, rules.match) for pair in asked]
    return outcome_reward([ruling.outcome for ruling in rulings], num_numbers, rules)


def report_reward(report: Report, rules: BlindedRules = PAPER) -> Reward | Unverified:
    """The reward of the response that a blinded audit reports on; of the rules, the comparison is the audit's own.

    Raises:
        InputError: the report is one of another method.

    >>> report = Report("It has 2 towers.", (), (PairResult("How many towers?", "2", "same", ("two",)),))
    >>> report_reward(report).total
    0.0
    """
    # A number that nobody asked about is no failure: it counts in coverage and the question guard.
    findings = [one for one in report.findings if not isinstance(one, Unverified) or one.reason != "unasked"]
    failed = next((finding for finding in findings if isinstance(finding, Unverified)), None)
    if failed is not None:
        return failed
    pairs = [finding for finding in findings if isinstance(finding, PairResult)]
    if len(pairs) < len(findings):
        raise InputError("the report judges no questions: take one of a blinded audit (vouch check --method blinded)")
    numbers, asked = find_numbers(report.response), [pair.answer for pair in pairs if pair.outcome != "leaked"]
    asked_for = asked_about(numbers, asked, rules.match)
    reward = outcome_reward([pair.outcome for pair in pairs], len(numbers), rules, asked_for)
    return Reward(reward.total, {**reward.parts, "coverage": report.coverage})


def outcome_reward(
    outcomes: Iterable[BlindOutcome], num_numbers: int, rules: BlindedRules = PAPER, asked_for: int | None = None
) -> Reward:
    """The reward of a response whose questions came out so.

    Args:
        outcomes: one per question.
        num_numbers: numbers in the response.
        rules: scale and k.
        asked_for: how many of these numbers the questions ask for; None takes every question for one of them.

    Raises:
        InputError: a negative count.

    >>> outcome_reward(["same", "same", "same"], 5).total, outcome_reward([], 5).total, outcome_reward([], 0).total
    (0.0, -1.0, 0.0)
    >>> outcome_reward(["same", "same", "same"], 5, asked_for=1).total  # two ask for what the response does not state
    -1.0
    """
    if num_numbers < 0:
        raise InputError(f"num_numbers is {num_numbers}, wanted the count of numbers in the response, at least 0")
    found = Counter(_PART_OF[outcome] for outcome in outcomes)
    questions = found.total() - found["leaks"]
    covered = questions if asked_for is None else asked_for
    missing = max(0, min(rules.min_questions, num_numbers) - covered)
    faults = questions - found["matches"] + missing
    parts = {name: float(found[name]) for name in PARTS}
    parts |= {
        "questions": float(questions),
        "missing": float(missing),
        "coverage": min(1.0, covered / num_numbers) if num_numbers else 1.0,
    }
    return Reward(_total(faults, questions + missing, rules.scale), parts)


def _total(faults: int, claims: int, scale: Scale) -> float:
    match scale:
        case "-1/0" | "0/1":
            return zero_tolerance(faults, scale)
        case "error-rate":
            return error_rate(faults, claims)
        case "released-error-rate":
            return released_error_rate(faults)


def zero_tolerance(faults: int, scale: Literal["-1/0", "0/1"] = "-1/0") -> float:
    """All or nothing (Eq. 7): 0 without a fault, else -1; on the scale 0/1, 1 or 0.

    >>> zero_tolerance(0), zero_tolerance(2), zero_tolerance(0, "0/1"), zero_tolerance(2, "0/1")
    (0.0, -1.0, 1.0, 0.0)
    """
    return float(not faults) - (scale == "-1/0")


def error_rate(faults: int, claims: int) -> float:
    """-N_err / N_total (section 3.4); 0 where nothing was asked and nothing was to be asked.

    >>> error_rate(1, 4), error_rate(0, 0)
    (-0.25, 0.0)
    """
    return -faults / claims if faults else 0.0


def released_error_rate(faults: int) -> float:
    """-.1 for each fault, of 13 at most, whatever the number of questions (the released code).

    >>> released_error_rate(2), released_error_rate(40)
    (-0.2, -1.3)
    """
    return -_RELEASED_STEP * min(faults, _RELEASED_MOST) if faults else 0.0
