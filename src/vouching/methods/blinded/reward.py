"""Rewards of a blinded audit (MARCH, section 2.3): do checkers who see only the questions answer as the response does?

    R = 0 if every answer matches, else -1        Eq. 7, zero tolerance; on the scale 0/1: 1, else 0
    R = -N_err / N_total                          section 3.4, error rate
    R = -.1 min(N_err, 13)                        the released error rate

Solver and checker earn the same R. Faults are answers that differ, ties of the checkers, contradictory documents and
"cannot answer", or a checker that never answers would earn most. Only questions about numbers that the response states
count, each number once; a blank response is a fault. Where a judge failed there is no reward: an Unverified, not a 0.
The game, ``vouch reward blinded`` and the adapters all go through :func:`report_reward`.

Departures: a question that contains its answer is dropped, not counted as answered; and each question missing to min(k,
numbers of the response) is a fault, where the released code gives the best reward for asking nothing (App. B.4); k = 0
turns that off.

Not supported here: advantages, and a reward for the proposer, which is not trained.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast, get_args

from vouching.answering.prompt import read_reply
from vouching.errors import ConfigError, InputError
from vouching.inputs import as_sources, row_sources
from vouching.judging.matching import Match, alike, as_checked, asked_about, consensus, rule
from vouching.judging.values import find_numbers
from vouching.judging.windows import ScreenedSources
from vouching.methods.blinded.compare import beside, compared, placed, sourced
from vouching.methods.blinded.verify import BlindedVerifier
from vouching.methods.table import RewardLines
from vouching.types import Checked, Pair, PairResult, Question, Report, Reward, Source, Unverified
from vouching.types.findings import BlindOutcome
from vouching.types.serial import from_json
from vouching.types.visible import shown_json, value_fault

Scale: TypeAlias = Literal["-1/0", "0/1", "error-rate", "released-error-rate"]
"""How faults become a number; the paper's best results come from the first."""
PARTS = ("questions", "matches", "different", "unanswered", "contradictory", "leaks", "missing", "coverage")
"""Names of the parts: questions asked and their outcomes; questions dropped because they contain their answer;
questions missing to k; share of the response's numbers asked about, in [0, 1]."""
_PART_OF: dict[BlindOutcome, str] = {
    "same": "matches",
    "different": "different",
    "not_found": "unanswered",
    "contradictory": "contradictory",
    "leaked": "leaks",
}
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w'-]+")
_UNSTATED: BlindOutcome = "not_found"
_RELEASED_STEP, _RELEASED_LIMIT = 0.1, 13


@dataclass(frozen=True, slots=True)
class BlindedRules:
    """How an audit becomes a reward. Raises ConfigError for a value out of range."""

    scale: Scale = "-1/0"
    match: Match = "units"
    """How answers are compared; see :mod:`vouching.judging.matching`."""
    min_questions: int = 3
    """k: numbers of a response that must be asked about, if it states as many; at least 0."""
    min_numbers: int = 0
    """Numbers that a response must state; each missing one is a fault. The paper has 0, which rewards silence."""
    on_topic: bool = False
    """Whether a question about a name that the user's question does not have is a fault. Not in the paper, whose reward
    agrees on the numbers of another place too."""
    fine_missing: bool = True
    """Whether questions missing to k are faults. The paper asks for k in the proposer's prompt alone (App. B.4)."""

    def __post_init__(self) -> None:
        for name, known in (("scale", get_args(Scale)), ("match", get_args(Match))):
            if getattr(self, name) not in known:
                raise ConfigError(f"unknown {name} {getattr(self, name)!r}; expected one of {', '.join(known)}")
        for name in ("min_questions", "min_numbers"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")


PAPER = BlindedRules()
"""The paper's reward, with units and the question guard."""


def report_reward(report: Report, rules: BlindedRules = PAPER, question: str | None = None) -> Reward | Unverified:
    """The reward for an audited response; the first Unverified where a judge failed.

    ``question`` is the user's, for ``rules.on_topic``; None for that of the report. Answers keep the audit's own
    comparison, whatever ``rules.match``. Raises InputError for another method's report.
    """
    # A number without a question is not a failure: it counts in coverage and in the minimum of questions.
    findings = [one for one in report.findings if not isinstance(one, Unverified) or one.reason != "unasked"]
    failed = next((finding for finding in findings if isinstance(finding, Unverified)), None)
    if failed is not None:
        return failed
    pairs = [finding for finding in findings if isinstance(finding, PairResult)]
    if len(pairs) < len(findings):
        raise InputError("the report has findings that are not questions of a blinded audit (vouch audit)")
    numbers, asked = find_numbers(report.response), [pair.answer for pair in pairs if pair.outcome != "leaked"]
    unstated = max(0, max(rules.min_numbers, int(not report.response.strip())) - len(numbers))
    asks = question or report.question
    strays = rules.on_topic and asks is not None
    outcomes: list[BlindOutcome] = [
        "different"
        if strays and pair.outcome == "same" and names_elsewhere(pair.question, asks or "")
        else pair.outcome
        for pair in pairs
    ]
    outcomes.extend(_UNSTATED for _ in range(unstated))
    asked_for = asked_about(numbers, asked, rules.match) + unstated
    return outcome_reward(outcomes, len(numbers) + unstated, asked_for, rules)


async def reply_reward(
    verifier: BlindedVerifier, reply: str, sources: Sequence[Source], rules: BlindedRules = PAPER
) -> Reward | Unverified:
    """The reward of a policy's reply, audited against its documents. Raises ModelError if it is unreachable."""
    [report] = await verifier.verify_all([(audited(reply), sources)])
    return report_reward(report, rules)


def audited(reply: str) -> str:
    r"""The audited part of a reply: its response, without reasoning steps.

    The short answer is added where it states a number of its own, which otherwise no question would cover.

    >>> audited("Reasoning: 7 + 8.\nResponse: It is 5 km long.\nAnswer: 5,000 m")
    'It is 5 km long.'
    >>> audited("Response: It is 5 km long.\nAnswer: 7 km")
    'It is 5 km long.\n7 km'
    """
    parsed = read_reply(reply)
    stated = [number.text for number in find_numbers(parsed.response)]
    own = (number.text for number in find_numbers(parsed.answer))
    if all(any(alike(one, other) for other in stated) for one in own):
        return parsed.response
    return f"{parsed.response}\n{parsed.answer}"


def reward_of_row(
    row: Mapping[str, Any],
    *,
    scale: Scale = PAPER.scale,
    match: Match = PAPER.match,
    min_questions: int = PAPER.min_questions,
    min_numbers: int = PAPER.min_numbers,
    on_topic: bool = PAPER.on_topic,
    fine_missing: bool = PAPER.fine_missing,
) -> dict[str, Any]:
    """Total and parts of an audit from a file: a report, or a response with pairs that checkers answered.

    Without a report the row has ``response`` and ``pairs``, each with question, answer and checked: an answer per
    checker, null for "cannot answer", and optionally evidence, a quotation or null per checker. ``source`` or
    ``sources`` give the direction of values; InputError is raised if the response states one and neither they nor the
    checkers do. The other arguments are those of :class:`BlindedRules`.

    >>> pairs = [{"question": "How many towers?", "answer": "2", "checked": ["two", None, "2"]}]
    >>> reward_of_row({"response": "It has two towers.", "pairs": pairs})["total"]
    0.0
    """
    rules = BlindedRules(scale, match, min_questions, min_numbers, on_topic, fine_missing)
    if row.get("kind") == "unverified":  # vouch check could not use the row
        raise InputError(f"the audit of the row failed: {row.get('message')}")
    if row.get("pairs") is None and row.get("kind") == "report":
        report = from_json(Report, json.dumps(row))
    else:
        report = _report_of(row, rules.match)
    reward = report_reward(report, rules)
    if isinstance(reward, Unverified):
        raise InputError(f"the judge failed ({reward.reason}: {reward.message}): a failed judgement gives no reward")
    return {"total": reward.total, "parts": dict(reward.parts)}


def _is_clean(parts: Mapping[str, float]) -> int:
    return int(parts["questions"] == parts["matches"] and not parts["missing"])


REWARD_LINES = RewardLines(
    ("pairs", "findings"),
    lambda line: {"clean": _is_clean(line["parts"])},
    lambda counts: f", {counts['clean']:,} without faults",
)
"""Lines of ``vouch reward blinded``."""


def _report_of(row: Mapping[str, Any], match: Match) -> Report:
    """The report of a row with pairs."""
    given, response = row.get("pairs"), row.get("response")
    if not isinstance(given, list):
        raise InputError(value_fault(row, "pairs", "a list of questions with answers"))
    if not isinstance(response, str):
        raise InputError(
            f'"response" must be the audited text, got {shown_json(response)}: only questions about its numbers count'
        )
    read = [_pair(one, number) for number, one in enumerate(cast("list[Any]", given), 1)]
    sources = as_sources(row_sources(row)) if row.get("source") or row.get("sources") else ()
    evidence = ScreenedSources(sources)
    answers: defaultdict[Pair, list[list[Checked]]] = defaultdict(list)
    for pair, samples in read:
        answers[pair].append(samples)
    findings: list[PairResult] = []
    for pair in placed([pair for pair, _ in read], response):
        samples = [sourced([one], evidence, sources) for one in answers[replace(pair, span=None)].pop(0)]
        ruling = rule(pair.question.text, pair.answer, [one or Checked() for one in samples], match)
        finding = compared(pair, ruling, samples, response, sources, match)
        if finding.outcome == "same" and not sources:
            _check_direction(finding, samples, response, match)
        findings.append(finding)
    return Report(response, sources, tuple(findings))


def _check_direction(finding: PairResult, samples: Sequence[Checked | None], response: str, match: Match) -> None:
    """Raises InputError if the response states a direction and the checkers do not, since documents may differ."""
    span = finding.span
    stated = beside(Source(response), span.start, span.end) if span else None
    agreed = consensus([one for one in samples if one is not None], match)
    if stated is not None and (agreed is None or None in agreed.directions):
        raise InputError(
            f'the row has no "source" or "sources" to compare directions with: the response says "{stated.text}", and '
            f'"checked" of the question {finding.question!r:.80} contains no direction'
        )


def _pair(given: Any, number: int) -> tuple[Pair, list[Checked]]:
    if not isinstance(given, Mapping):
        raise InputError(f'question {number} must have "question", "answer" and "checked", got {shown_json(given)}')
    pair = cast("Mapping[str, Any]", given)
    for key in ("question", "answer"):
        if not isinstance(pair.get(key), str):
            raise InputError(value_fault(pair, key, owner=f"question {number}"))
    checked: Any = pair.get("checked")
    if not _are_texts(checked):
        raise InputError(
            f'"checked" of question {number} must be a list of strings and nulls, got {shown_json(checked)}'
        )
    if not checked:
        raise InputError(
            f'"checked" of question {number} must not be empty: use null for a checker that could not answer'
        )
    answers = cast("list[str | None]", checked)
    quotes: Any = pair.get("evidence")
    if quotes is None:
        quotes = [None] * len(answers)
    if not _are_texts(quotes) or len(quotes) != len(answers):
        raise InputError(
            f'"evidence" of question {number} must have a string or null for each of the {len(answers)} entries of '
            f'"checked", got {shown_json(quotes)}'
        )
    read = [replace(as_checked(one), evidence=quote or "") for one, quote in zip(answers, quotes, strict=True)]
    return Pair(Question(pair["question"]), pair["answer"]), read


def _are_texts(given: Any) -> bool:
    return isinstance(given, list) and all(one is None or isinstance(one, str) for one in cast("list[Any]", given))


def names_elsewhere(asked: str, question: str) -> bool:
    """Whether a question has a name, other than its first word, that the user's question does not have.

    >>> names_elsewhere("How many inns are in Belness?", "How many inns are in Orham?")
    True
    """
    return bool({*_NAME.findall(asked)} - {*re.findall(r"[\w'-]+", question)})


def outcome_reward(
    outcomes: Iterable[BlindOutcome], num_numbers: int, asked_for: int, rules: BlindedRules = PAPER
) -> Reward:
    """The reward for the outcomes of a response's questions.

    ``asked_for`` is how many of the response's ``num_numbers`` numbers the questions ask for.

    >>> outcome_reward(["same"] * 3, 5, 3).total, outcome_reward([], 5, 0).total, outcome_reward([], 0, 0).total
    (0.0, -1.0, 0.0)
    >>> outcome_reward(["same"] * 3, 5, asked_for=1).total  # two ask for what the response does not state
    -1.0
    """
    found = Counter(_PART_OF[outcome] for outcome in outcomes)
    questions = found.total() - found["leaks"]
    missing = max(0, min(rules.min_questions, num_numbers) - asked_for) if rules.fine_missing else 0
    faults = questions - found["matches"] + missing
    parts = {name: float(found[name]) for name in PARTS}
    parts |= {
        "questions": float(questions),
        "missing": float(missing),
        "coverage": min(1.0, asked_for / num_numbers) if num_numbers else 1.0,
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
    """-N_err / N_total (section 3.4); 0 where nothing was asked and nothing had to be.

    >>> error_rate(1, 4), error_rate(0, 0)
    (-0.25, 0.0)
    """
    return -faults / claims if faults else 0.0


def released_error_rate(faults: int) -> float:
    """-.1 for each fault, at most 13 of them, whatever the number of questions (the released code).

    >>> released_error_rate(2), released_error_rate(40)
    (-0.2, -1.3)
    """
    return -_RELEASED_STEP * min(faults, _RELEASED_LIMIT) if faults else 0.0
