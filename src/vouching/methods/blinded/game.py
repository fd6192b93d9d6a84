"""MARCH's game: a solver answers, a proposer asks about the answer, and checkers who never see it use the documents.

    y ~ solver(x, D)     tau ~ proposer(y)      lambda_1..J ~ checker({q_i}, D)      R = 0 if all answers match, else -1

One policy, three prompts (Algorithm 1). The solver's response and one of the checker's J samples are trained with the
same terminal reward; a critic estimates the advantage of each token. The proposer is not trained. The audit is that of
:class:`BlindedVerifier` with the policy in both roles, so it is blind in the same way.

Departures: questions that would give each other's answers away go into separate prompts, and the trained sample is one
of the longest list. An unreadable reply counts as no answer, which is a fault, and is not asked again. A response
without a number is asked nothing and earns 0, unless ``rules.min_numbers`` requires some; a blank one counts as a
fault. ``preference`` adds a second reward for the solver alone (the paper's policies start from RLHF).

Not supported: questions about facts other than numbers, and documents longer than a prompt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from vouching.answering.prompt import Style, answer_messages
from vouching.errors import ConfigError, InputError
from vouching.inputs import as_sources, row_sources
from vouching.judging.values import find_numbers, find_values
from vouching.judging.windows import ScreenedSources
from vouching.methods.base import Measures, Play, Row, Sampler, gathered_measures, outcome_of
from vouching.methods.blinded.compare import placed, sourced
from vouching.methods.blinded.prompt import check_messages, propose_messages, read_answers, read_pairs
from vouching.methods.blinded.reward import PAPER, BlindedRules, audited, report_reward
from vouching.methods.blinded.roles import MAX_QUESTIONS, Answered, Asked, Proposal, Scope
from vouching.methods.blinded.verify import BlindedConfig, BlindedVerifier
from vouching.models.base import Message
from vouching.models.running import all_of
from vouching.prompts import Wording
from vouching.types import Checked, Group, PairResult, Report, Reward, Rollout, Source, Unverified
from vouching.types.visible import shown_json

Preference: TypeAlias = Callable[[str, Row], Awaitable[Reward | Unverified]]
"""An additional reward for a response. An endpoint that fails may raise BackendError."""
Watch: TypeAlias = Callable[[str, Row], Awaitable[Measures]]
"""Measures of a response that are logged and not trained on."""
_WHOLE = 1 << 62
"""Window size, in characters, that fits all documents."""


@dataclass(frozen=True, slots=True)
class PolicyProposer:
    """The policy as proposer, with one list of questions for each response."""

    sampler: Sampler
    wording: Wording = "ours"

    async def propose(self, responses: Sequence[str], scope: Scope, least: int) -> list[Proposal]:
        """Questions about each response, from one call of the sampler."""
        prompts = [propose_messages(response, scope, least, self.wording) for response in responses]
        replies = await self.sampler.sample(prompts, "proposer", 1)
        return [
            Proposal(placed(read_pairs(one.text), response)) for response, [one] in zip(responses, replies, strict=True)
        ]

    async def aclose(self) -> None:
        """Nothing to release."""


@dataclass(frozen=True, slots=True)
class Checks:
    """The checkers' answers for one response."""

    questions: int = 0
    """Number of questions asked."""
    votes: tuple[Checked | None, ...] = ()
    """Each answer of each checker; None if unreadable."""
    trained: Rollout | None = None
    """The sample that is trained."""


class PolicyChecker:
    """The policy as ``votes`` checkers, who see all documents in one prompt; an unreadable reply answers nothing."""

    max_at_once = MAX_QUESTIONS

    def __init__(self, sampler: Sampler, votes: int, wording: Wording = "ours") -> None:
        self._sampler, self._votes = sampler, votes
        self._wording: Wording = wording
        self.checks: list[Checks] = []
        """The answers of the last call, by response."""

    async def answer(self, asked: Sequence[Asked]) -> list[Answered]:
        """The answers to all questions, from one call of the sampler."""
        evidence = [ScreenedSources(one.sources) for one in asked]
        prompts = [
            check_messages(batch, next(iter(shown.windows(_WHOLE)), ()), self._wording)
            for one, shown in zip(asked, evidence, strict=True)
            for batch in one.batches
        ]
        replies = iter(await self._sampler.sample(prompts, "checker", self._votes))
        answered: list[Answered] = []
        self.checks = []
        for one, shown in zip(asked, evidence, strict=True):
            votes = [next(replies) for _ in one.batches]
            read = [
                vote
                for batch, several in zip(one.batches, votes, strict=True)
                for vote in zip(*(read_answers(rollout.text, len(batch)) for rollout in several), strict=True)
            ]
            longest = max(range(len(votes)), key=lambda at, of=one.batches: len(of[at]), default=None)
            trained = None if longest is None else votes[longest][0]
            self.checks.append(Checks(len(read), tuple(vote for question in read for vote in question), trained))
            answered.append(
                Answered(
                    tuple(
                        tuple(sourced([vote], shown, one.sources) or Checked() for vote in question)
                        for question in read
                    )
                )
            )
        return answered

    async def aclose(self) -> None:
        """Nothing to release."""


@dataclass(frozen=True, slots=True)
class Audit:
    """A response with its audit."""

    key: str
    """Unique in a batch."""
    row: Row
    solved: Rollout
    """The response."""
    report: Report
    checks: Checks


@dataclass(frozen=True, slots=True)
class BlindedGame:
    """The game on questions with documents; rows need no reference answer.

    A row has ``question``, ``source`` or ``sources``, and optionally ``id``.
    """

    samples: int = 1
    """Responses to each question."""
    votes: int = 3
    """J: checkers of each response; a tie is a mismatch."""
    rules: BlindedRules = PAPER
    checker_learns: bool = True
    """Whether to train the checker too, not the solver alone."""
    style: Style = "plain"
    """Prompt of the solver."""
    preference: Preference | None = None
    watch: Watch | None = None
    wording: Wording = "ours"
    """Prompts of proposer and checker: ours, or as MARCH prints them."""

    def __post_init__(self) -> None:
        for name in ("samples", "votes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")

    @property
    def pooled(self) -> bool:
        """Whether there is one mean over the trajectories of both roles (Eq. 8), not one for each."""
        return True

    def opening(self, row: Row) -> Sequence[Message]:
        """The solver's prompt, about as long as a checker's. Raises InputError without a question or documents."""
        question, sources = read_row(row)
        return answer_messages(question, sources, self.style)

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Phase 1 of Algorithm 1, all rows at the same time."""
        audits = await self.audit(sampler, rows)
        rewards = [report_reward(one.report, self.rules, read_row(one.row)[0]) for one in audits]  # step 4
        earned = await all_of(self._with_preference(one, reward) for one, reward in zip(audits, rewards, strict=True))
        groups: list[Group] = []
        for place, row in enumerate(rows):
            mine = slice(place * self.samples, (place + 1) * self.samples)
            members = zip((one.solved for one in audits[mine]), earned[mine], strict=True)
            groups.append(_group(f"{place}:{row.get('id', '')}:solver", "solver", members))
        for one, reward in zip(audits, rewards, strict=True):
            if self.checker_learns and one.checks.trained is not None:
                groups.append(_group(f"{one.key}:checker", "checker", [(one.checks.trained, reward)]))
        seen = [measures for one in audits for measures in _measures(one)]
        if self.watch is not None:
            watch = self.watch
            seen += await all_of(_watched(watch, one) for one in audits)
        return Play(
            groups=tuple(group for group in groups if group.rollouts),
            failures=tuple(one for one in earned if isinstance(one, Unverified)),
            measures=gathered_measures(seen),
        )

    async def audit(self, sampler: Sampler, rows: Sequence[Row]) -> list[Audit]:
        """Steps 1 to 3: the responses to each row, each with its audit."""
        replies = await sampler.sample([self.opening(row) for row in rows], "solver", self.samples)
        solved = [(place, row, one) for place, row in enumerate(rows) for one in replies[place]]
        checker = PolicyChecker(sampler, self.votes, self.wording)
        verifier = self.verifier(sampler, checker)
        reports = await verifier.verify_all([(audited(one.text), read_row(row)[1]) for _, row, one in solved])
        return [
            Audit(f"{place}:{row.get('id', '')}:{at % self.samples}", row, one, report, checks)
            for at, ((place, row, one), report, checks) in enumerate(zip(solved, reports, checker.checks, strict=True))
        ]

    def verifier(self, sampler: Sampler, checker: PolicyChecker | None = None) -> BlindedVerifier:
        """The auditor, with the policy in both roles."""
        config = BlindedConfig(match=self.rules.match, min_questions=max(1, self.rules.min_questions))
        checks = checker or PolicyChecker(sampler, self.votes, self.wording)
        return BlindedVerifier(PolicyProposer(sampler, self.wording), checks, config)

    async def _with_preference(self, one: Audit, reward: Reward | Unverified) -> Reward | Unverified:
        """The solver's reward."""
        if self.preference is None or isinstance(reward, Unverified):
            return reward
        response = one.report.response
        found = await outcome_of(self.preference(response, one.row), response)
        if isinstance(found, Unverified):
            return found
        return Reward(reward.total + found.total, {**reward.parts, "audit": reward.total, "preference": found.total})


def audit_watch(verifier: BlindedVerifier) -> Watch:
    """A watch that logs whether another auditor, such as the embedded one, supports a response.

    ``oracle/supported`` is 1 for a response that states numbers, all of them as the documents do.
    """

    async def watch(response: str, row: Row) -> Measures:
        if not find_values(response):
            return {"oracle/supported": 0.0}
        reward = report_reward(await verifier.verify(None, response, read_row(row)[1]))
        return {} if isinstance(reward, Unverified) else {"oracle/supported": float(reward.total == 0.0)}

    return watch


def read_row(row: Row) -> tuple[str, tuple[Source, ...]]:
    """Question and documents of a row. Raises InputError if one of them is missing."""
    question = row.get("question")
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"the question of row {row.get('id', '?')!r} must be a string, got {shown_json(question, 80)}")
    sources = as_sources(row_sources(row))
    if not any(source.text.strip() for source in sources):
        raise InputError(f"row {row.get('id', '?')!r} has no documents with text to answer from")
    return question, sources


def _group(key: str, role: str, members: Iterable[tuple[Rollout, Reward | Unverified]]) -> Group:
    """Step 5: a group of the rollouts that have a reward."""
    scored = tuple(
        replace(one, group=key, reward=reward, estimator="gae") for one, reward in members if isinstance(reward, Reward)
    )
    return Group(key, role, "gae", scored)


def _measures(one: Audit) -> Iterator[Measures]:
    """Early signs of vanishing questions and of checkers that give up."""
    leaked = sum(isinstance(found, PairResult) and found.outcome == "leaked" for found in one.report.findings)
    numbers = len(find_numbers(one.report.response))
    yield {
        "questions/asked": float(one.checks.questions),
        "questions/numbers": float(numbers),
        "questions/leaked": float(leaked),
    }
    for vote in one.checks.votes:
        yield {"readable": float(vote is not None)}
        if vote is not None:
            yield {"cannot_answer": float(not vote.answers)}


async def _watched(watch: Watch, one: Audit) -> Measures:
    return await watch(one.report.response, one.row)
