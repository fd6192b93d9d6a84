"""MARCH's game: a solver answers, a proposer asks about the answer, checkers who never see it answer from documents.

    y ~ solver(x, D)     tau ~ proposer(y)      lambda_1..J ~ checker({q_i}, D)      R = 0 if all answers match, else -1

One policy, three prompts (Algorithm 1). The solver's response and one of the checker's J samples are trained, both with
the same terminal reward, whose advantage per token a critic estimates; the proposer speaks and does not learn. What is
asked and how answers are read and compared is that of ``verify``; so is the blindness: a checker
is sent documents and questions, and no question that contains its answer.

Departures: questions that would give each other's answers away are put apart, and the trained sample is one of the
largest list. A reply that cannot be read is the policy's own: no answer, which is a fault. A response without a
number is asked nothing and earns 0, unless ``min_numbers`` asks for some; one without a word earns what a fault earns.
``preference`` adds a second reward for the solver alone (the paper's start from RLHF). Left out: questions about other
facts than numbers, and documents longer than a prompt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TypeAlias

from vouching.answering.prompt import Style, answer_messages
from vouching.answering.reply import read_reply
from vouching.errors import ConfigError, InputError
from vouching.inputs import as_sources, row_sources
from vouching.judging.matching import alike, asked_about, leaks, rule, same_answer
from vouching.judging.values import find_numbers, find_values
from vouching.judging.windows import ScreenedSources, Window
from vouching.methods.base import Measures, Play, Row, Sampler, outcome_of
from vouching.methods.blinded.prompt import check_messages, propose_messages
from vouching.methods.blinded.reply import read_answers, read_pairs
from vouching.methods.blinded.reward import PAPER, BlindedRules, outcome_reward, report_reward
from vouching.methods.blinded.verify import BlindedVerifier, apart
from vouching.models.base import Message
from vouching.models.running import all_of
from vouching.types import Checked, Group, Pair, Reward, Rollout, Source, Unverified
from vouching.types.findings import BlindOutcome

Preference: TypeAlias = Callable[[str, Row], Awaitable[Reward | Unverified]]
"""What a response earns besides. An endpoint that fails may raise BackendError."""
Watch: TypeAlias = Callable[[str, Row], Awaitable[Measures]]
"""What is watched of a response and not trained on."""
MOST_QUESTIONS = 20
"""In one prompt."""
_WHOLE = 1 << 62
"""Characters of a prompt's documents: all there are."""


@dataclass(frozen=True, slots=True)
class Audit:
    """A response on its way through the roles."""

    key: str
    """Unique in a batch."""
    row: Row
    """What it answers."""
    solved: Rollout
    """What the solver said."""
    response: str
    """What is audited of it; see :func:`audited`."""
    pairs: tuple[Pair, ...] = ()
    """What the proposer asks."""
    checked: tuple[tuple[Pair, tuple[Checked | None, ...]], ...] = ()
    """Each question that was put, with what each checker said; None where that cannot be read."""
    checker: Rollout | None = None
    """The checker's sample that is trained."""

    @property
    def numbers(self) -> int:
        """Numbers that the response states, as the proposer's prompt counts them: a date with a day is none."""
        return len(find_numbers(self.response))

    @property
    def leaked(self) -> int:
        """Questions that contain their answer; they are put to nobody."""
        return sum(leaks(pair.question.text, pair.answer) for pair in self.pairs)


@dataclass(frozen=True, slots=True)
class BlindedGame:
    """The game on questions with documents; no answer is needed.

    A row has ``question``, ``source`` or ``sources``, and perhaps ``id``.

    Raises:
        ConfigError: no sample or no vote.

    >>> import asyncio
    >>> from vouching.methods.base import ScriptedSampler
    >>> says = {"solver": "It is 5 km long.", "proposer": "- Question: How long is it? [Answer: 5 km]",
    ...         "checker": '1. Evidence: "6 km" [Answer: 6 km]'}
    >>> row = {"question": "How long is the bridge?", "source": "The bridge is 6 km long."}
    >>> play = asyncio.run(BlindedGame().play(ScriptedSampler(lambda prompt, role, number: says[role]), [row]))
    >>> [(group.key, [one.reward.total for one in group.rollouts]) for group in play.groups]
    [('0::solver', [-1.0]), ('0::0:checker', [-1.0])]
    """

    samples: int = 1
    """Responses to each question."""
    votes: int = 3
    """J: checkers of each response; a tie is a mismatch."""
    rules: BlindedRules = PAPER
    """How an audit becomes a reward."""
    min_numbers: int = 0
    """Numbers that a response must state; each that is missing is a fault. The paper has 0, and silence pays."""
    checker_learns: bool = True
    """Whether the checker is trained as well, or the solver alone."""
    style: Style = "plain"
    """How the solver is asked."""
    preference: Preference | None = None
    """What is added to the solver's reward."""
    watch: Watch | None = None
    """What else is recorded of a response."""

    def __post_init__(self) -> None:
        for name in ("samples", "votes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")

    @property
    def pooled(self) -> bool:
        """One mean over the trajectories of both roles (eq. 8), not one of each."""
        return True

    def opening(self, row: Row) -> Sequence[Message]:
        """The solver's prompt, about as long as a checker's.

        Raises:
            InputError: no question, or no documents.
        """
        question, sources = read_row(row)
        return answer_messages(question, sources, self.style)

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Phase 1 of Algorithm 1, all rows side by side."""
        said = await sampler.sample([self.opening(row) for row in rows], "solver", self.samples)
        audits = [
            Audit(f"{place}:{row.get('id', '')}:{number}", row, one, audited(one.text))
            for place, (row, some) in enumerate(zip(rows, said, strict=True))
            for number, one in enumerate(some)
        ]
        audits = await self._checked(sampler, await self._proposed(sampler, audits))
        rewards = [self._reward(one) for one in audits]
        solved = await all_of(self._with_preference(one, reward) for one, reward in zip(audits, rewards, strict=True))
        groups: list[Group] = []
        for place, row in enumerate(rows):
            mine = slice(place * self.samples, (place + 1) * self.samples)
            members = zip((one.solved for one in audits[mine]), solved[mine], strict=True)
            groups.append(_group(f"{place}:{row.get('id', '')}:solver", "solver", members))
        for one, reward in zip(audits, rewards, strict=True):
            if self.checker_learns and one.checker is not None:
                groups.append(_group(f"{one.key}:checker", "checker", [(one.checker, reward)]))
        seen = [_measures(one) for one in audits]
        if self.watch is not None:
            watched = await all_of(_watched(self.watch, one) for one in audits)
            seen += [{name: [value] for name, value in found.items()} for found in watched]
        return Play(
            groups=tuple(group for group in groups if group.rollouts),
            failures=tuple(one for one in solved if isinstance(one, Unverified)),
            measures=_columns(seen),
        )

    async def _proposed(self, sampler: Sampler, audits: Sequence[Audit]) -> list[Audit]:
        """Step 2: questions about each response that states a number."""
        asked = [one for one in audits if one.numbers]
        prompts = [propose_messages(one.response, least=max(1, self.rules.min_questions)) for one in asked]
        lists = await sampler.sample(prompts, "proposer", 1)
        found = {
            one.key: _told_apart(read_pairs(said.text), one.response) for one, [said] in zip(asked, lists, strict=True)
        }
        return [replace(one, pairs=found.get(one.key, ())) for one in audits]

    async def _checked(self, sampler: Sampler, audits: Sequence[Audit]) -> list[Audit]:
        """Step 3: J blind answers to each question."""
        lists = [(one, batch) for one in audits for batch in apart(_askable(one), MOST_QUESTIONS)]
        windows = {one.key: _documents(one.row) for one, _ in lists}
        prompts = [check_messages([pair.question for pair in batch], windows[one.key]) for one, batch in lists]
        said = await sampler.sample(prompts, "checker", self.votes)
        checked: dict[str, list[tuple[Pair, tuple[Checked | None, ...]]]] = {one.key: [] for one in audits}
        trained: dict[str, tuple[int, Rollout]] = {}
        for (one, batch), votes in zip(lists, said, strict=True):
            read = [read_answers(vote.text, len(batch)) for vote in votes]
            checked[one.key] += [(pair, tuple(vote[at] for vote in read)) for at, pair in enumerate(batch)]
            trained[one.key] = max(trained.get(one.key, (0, votes[0])), (len(batch), votes[0]), key=itemgetter(0))
        return [
            replace(one, checked=tuple(checked[one.key]), checker=trained.get(one.key, (0, None))[1]) for one in audits
        ]

    def _reward(self, one: Audit) -> Reward:
        """Step 4: Eq. 7, or another of the scales."""
        unsaid = max(0, max(self.min_numbers, int(not one.response.strip())) - one.numbers)
        outcomes: list[BlindOutcome] = []
        outcomes.extend("leaked" for _ in range(one.leaked))
        outcomes.extend("not_found" for _ in range(unsaid))
        for pair, votes in one.checked:
            answers = [vote or Checked() for vote in votes]
            outcomes.append(rule(pair.question.text, pair.answer, answers, self.rules.match).outcome)
        answers = [pair.answer for pair, _ in one.checked]
        asked_for = asked_about(find_numbers(one.response), answers, self.rules.match) + unsaid
        return outcome_reward(outcomes, one.numbers + unsaid, self.rules, asked_for)

    async def _with_preference(self, one: Audit, reward: Reward) -> Reward | Unverified:
        """What the solver earns."""
        if self.preference is None:
            return reward
        found = await outcome_of(self.preference(one.response, one.row), one.response)
        if isinstance(found, Unverified):
            return found
        return Reward(reward.total + found.total, {**reward.parts, "audit": reward.total, "preference": found.total})


def audited(text: str) -> str:
    r"""What is audited of a reply: its response, without steps before it.

    The short answer is audited with it where it states a number of its own: nobody would ask about that otherwise.

    >>> audited("Reasoning: 7 + 8.\nResponse: It is 5 km long.\nAnswer: 5,000 m")
    'It is 5 km long.'
    >>> audited("Response: It is 5 km long.\nAnswer: 7 km")
    'It is 5 km long.\n7 km'
    """
    reply = read_reply(text)
    stated = [number.text for number in find_numbers(reply.response)]
    own = (number.text for number in find_numbers(reply.answer))
    if all(any(alike(one, other) for other in stated) for one in own):
        return reply.response
    return f"{reply.response}\n{reply.answer}"


def audit_watch(verifier: BlindedVerifier) -> Watch:
    """Watches whether another auditor bears a response out, such as the embedded one, whose answers nobody trains.

    Returns:
        A watch of ``oracle/borne_out``: 1 for a response that states a number and every number as the documents do.

    >>> import asyncio
    >>> from vouching.methods.blinded.verify import open_blinded
    >>> watch, row = audit_watch(open_blinded()), {"question": "How many towers?", "source": "It has three towers."}
    >>> [asyncio.run(watch(text, row))["oracle/borne_out"] for text in ("It has 3 towers.", "It has 2.", "Some.")]
    [1.0, 0.0, 0.0]
    """

    async def watch(response: str, row: Row) -> Measures:
        if not find_values(response):
            return {"oracle/borne_out": 0.0}
        reward = report_reward(await verifier.verify(None, response, read_row(row)[1]))
        return {} if isinstance(reward, Unverified) else {"oracle/borne_out": float(reward.total == 0.0)}

    return watch


def read_row(row: Row) -> tuple[str, tuple[Source, ...]]:
    """Question and documents of a row.

    Raises:
        InputError: one of them is missing.

    >>> read_row({"question": "When?", "sources": ["In 1973."]})[1][0].text
    'In 1973.'
    """
    question = row.get("question")
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"row {row.get('id', '?')!r} has the question {question!r:.80}, wanted a text")
    sources = as_sources(row_sources(row))
    if not any(source.text.strip() for source in sources):
        raise InputError(f"row {row.get('id', '?')!r} has no documents with text: there is nothing to answer from")
    return question, sources


def _told_apart(pairs: Sequence[Pair], response: str) -> tuple[Pair, ...]:
    """The pairs; one that is repeated counts as often as the response states its answer, lest one pass for three."""
    kept: list[Pair] = []
    for pair in pairs:
        stated = sum(same_answer(value.text, pair.answer) for value in find_values(response))
        if kept.count(pair) < max(1, stated):
            kept.append(pair)
    return tuple(kept)


def _askable(one: Audit) -> list[Pair]:
    return [pair for pair in one.pairs if not leaks(pair.question.text, pair.answer)]


def _documents(row: Row) -> Window:
    """All documents, in one prompt."""
    [window] = ScreenedSources(read_row(row)[1]).windows(_WHOLE)
    return window


def _group(key: str, role: str, members: Iterable[tuple[Rollout, Reward | Unverified]]) -> Group:
    """Step 5: the rollouts that have a reward."""
    scored = tuple(
        replace(one, group=key, reward=reward, estimator="gae") for one, reward in members if isinstance(reward, Reward)
    )
    return Group(key, role, "gae", scored)


async def _watched(watch: Watch, one: Audit) -> Measures:
    return await watch(one.response, one.row)


def _measures(one: Audit) -> dict[str, list[float]]:
    """What tells early of questions that vanish and of checkers that give up."""
    votes = [vote for _, votes in one.checked for vote in votes]
    return {
        "questions/asked": [float(len(one.checked))],
        "questions/numbers": [float(one.numbers)],
        "questions/leaked": [float(one.leaked)],
        "cannot_answer": [float(not vote.answers) for vote in votes if vote is not None],
        "readable": [float(vote is not None) for vote in votes],
    }


def _columns(seen: Sequence[dict[str, list[float]]]) -> dict[str, tuple[float, ...]]:
    columns: defaultdict[str, list[float]] = defaultdict(list)
    for one in seen:
        for name, values in one.items():
            columns[name] += values
    return {name: tuple(values) for name, values in columns.items() if values}
