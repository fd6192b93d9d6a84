"""The judges of a server, and what each route asks of them: the same functions as the command line calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from threading import Lock
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic_core import to_json

from vouching.checker import Checker
from vouching.claims import decompose, read_answer
from vouching.embedded.verify import is_embedded
from vouching.errors import ConfigError, InputError
from vouching.inputs import as_sources, check_text
from vouching.judging.verifier import ClaimVerifier, Outcome
from vouching.methods import METHODS
from vouching.methods.rewards import reward_work
from vouching.models.running import run
from vouching.retrieval.judge import check_context
from vouching.rows import Row
from vouching.rows.conversations import Turn
from vouching.serve import bodies
from vouching.serve.policy import JudgeSettings, Policy
from vouching.serve.shared_folder import KeptSources
from vouching.serve.work import Deadline
from vouching.shortcuts import answered_turns, judge_turn, rank
from vouching.text.json_values import parse_json
from vouching.text.sentences import sentence_spans
from vouching.types import Assurance, Claim, ContextReport, Ranking, Report, Source, Unverified
from vouching.types.visible import hint, shown_json

_NUMBER, _END = re.compile(r"\d+"), re.compile(r"[.!?。！？]+(?=\s|$)|\n+")
_SHORT_CLAIM = 10
"""Characters of a short claim."""

Show = Callable[[Outcome], object]
"""Sees each outcome as soon as it is known."""


class Judges:
    """Opens the judges of a policy and asks them; its methods run in the threads of the pool, or in its processes.

    Args:
        policy: its judges, and what one request may be.
        kept: the sources that were uploaded; None if there are none.
    """

    def __init__(self, policy: Policy, kept: KeptSources | None = None) -> None:
        self.policy = policy
        self.kept = kept
        self._opened: dict[tuple[str, str | None], Checker] = {}
        self._lock = Lock()

    def __reduce__(self) -> Any:
        """In another process, the judges of the same policy, opened once for all its jobs."""
        return _same_judges, (to_json(asdict(self.policy)).decode(), self.kept)

    def validate(self) -> None:
        """Raises ConfigError for a model that is unknown or does not judge claims."""
        for name, judge in self.policy.judges.items():
            if self._checker(name).judges != "claims":
                raise ConfigError(f"judges.{name}: {judge.model} does not judge claims: name another model")

    def load(self) -> None:
        """Load what the judges that compute need."""
        for name in filter(self.computes, self.policy.judges):
            load_judge(self._checker(name))

    def computes(self, judge: str) -> bool:
        """Whether a judge computes, as the embedded verifier does, instead of waiting for a language model."""
        return is_embedded(self._settings(judge).model)

    def check(self, body: bodies.CheckBody, deadline: Deadline) -> list[Outcome]:
        """The outcome of each claim."""
        claims = [body.claim] if isinstance(body.claim, str) else body.claim
        self._few(len(claims), "claims")
        sources = self._sources(body.sources, *claims, body.question or "")
        checker = self._checker(body.judge)
        asked = [Claim(check_text(text, "the claim"), f"claim-{number}") for number, text in enumerate(claims, 1)]
        deadline.look()
        if not checker.embedded:  # a model on a server answers several at once
            return checker.check(asked, sources, body.question)
        outcomes: list[Outcome] = []
        for claim in asked:
            deadline.look()
            outcomes.append(checker.check(claim, sources, body.question))
        return outcomes

    def check_response(self, body: bodies.ResponseBody, deadline: Deadline, show: Show | None = None) -> Report:
        """The report on a response; ``show`` sees each outcome. Only the embedded verifier is stopped on the way."""
        answer = read_answer(body.response)
        sources = self._sources(body.sources, answer.text, body.question or "")
        shown = 0

        def watch(outcome: Outcome) -> None:
            nonlocal shown
            shown += 1
            self._few(shown, "claims")
            deadline.look()
            if show is not None:
                show(outcome)

        checker = self._checker(body.judge)
        one_by_one = checker.embedded or show is not None
        # Counted before any is judged, unless they are judged one by one and so few that counting costs more.
        if not one_by_one or len(answer.text) > _SHORT_CLAIM * self.policy.limits.claims:
            most = self.policy.limits.claims
            self._few(len(decompose(check_text(answer.text, "the response"), body.question, most).claims), "claims")
            deadline.look()
        watched = watch if one_by_one else None
        return run(checker.acheck_response(body.response, sources, body.question, body.repair, watched))

    def turns(self, body: bodies.TraceBody, deadline: Deadline) -> list[bodies.ResponseBody]:
        """Each answer of a conversation, with what was known when it was given, as a request of its own."""
        turns = answered_turns(body.messages)
        self._few(len(turns), "answers")
        deadline.look()
        requests: list[bodies.ResponseBody] = []
        for turn in turns:
            sources = as_sources(turn.sources) if turn.sources else ()
            given: list[Any] = [
                bodies.GivenSource(text=one.text, digest=None, id=one.id, title=one.title, url=one.url)
                for one in sources
            ]
            requests.append(
                bodies.ResponseBody(
                    response=turn.answer, question=turn.question, sources=given, repair=body.repair, judge=body.judge
                )
            )
        return requests

    def check_turn(self, body: bodies.ResponseBody, deadline: Deadline) -> Report:
        """The report on such an answer."""
        if body.sources or (checker := self._checker(body.judge)).finder is not None:
            return self.check_response(body, deadline)
        answer = str(body.response)
        self._short(answer)
        return run(judge_turn(checker, Turn(answer, body.question, ()), body.repair))

    def check_written(self, body: bodies.StreamBody, deadline: Deadline, show: Show) -> tuple[list[Outcome], int]:
        """The outcomes of the sentences that are complete, and the number of characters that are now checked."""
        sources = self._sources(body.sources, body.response, body.question or "")
        check_text(body.response, "the response")
        spans = [span for span in sentence_spans(body.response) if span[1] > body.checked]
        complete = spans if body.final else spans[:-1]
        if not complete:
            return [], body.checked
        first, last = complete[0][0], complete[-1][1]
        checker = self._checker(body.judge)
        written = body.response if body.final else body.response[:last]
        claims = [
            one for one in decompose(written, body.question).claims if one.span and first <= one.span.start < last
        ]
        self._few(len(claims), "claims")
        outcomes: list[Outcome] = []
        for claim in claims:
            deadline.look()
            outcomes.append(checker.check(claim, sources, body.question))
            show(outcomes[-1])
        return outcomes, len(body.response) if body.final else last

    def audit(self, body: bodies.AuditBody, deadline: Deadline) -> Report:
        """The numbers of a response, asked for again."""
        sources = self._sources(body.sources, body.response, body.question or "")
        deadline.look()
        given = {} if body.scope is None else {"scope": body.scope}
        return self._checker(body.judge, "blinded", given).check_response(body.response, sources, body.question)

    def follow(self, body: bodies.FollowBody, deadline: Deadline) -> Report:
        """How a response follows its instruction."""
        self._few(len(body.checklist or ()), "items")
        sources = self._sources(body.sources, body.response, body.instruction)
        deadline.look()
        if body.method == "rules" and (sources or body.checklist):
            raise InputError("rules use neither sources nor a checklist: omit them, or choose the method checklist")
        checker = self._checker(body.judge, body.method)
        return checker.check_instruction(body.instruction, body.response, body.checklist, sources)

    def rank(self, body: bodies.RankBody, deadline: Deadline) -> Ranking:
        """The answers to a question, best first."""
        self._few(len(body.answers), "answers")
        sources = self._sources(body.sources, body.question, *body.answers)
        deadline.look()
        return rank(body.question, body.answers, sources, model=self._settings(body.judge).model)

    def context(self, body: bodies.ContextBody, deadline: Deadline) -> ContextReport | Unverified:
        """Whether sources are enough for a question, which are relevant, and whether the answer addresses it."""
        sources = self._sources(body.sources, body.question, body.answer or "")
        deadline.look()
        return check_context(body.question, sources, body.answer, model=self._settings(body.judge).model)

    def challenge(self, body: bodies.ChallengeBody, deadline: Deadline) -> Assurance:
        """The cases against the values of a task."""
        from vouching.methods.assurance.model import AssuranceConfig
        from vouching.methods.assurance.steps import challenged
        from vouching.methods.assurance.task import as_proposal, as_task

        task = as_task(body.task)
        self._few(len(task.units), "units")
        proposal = as_proposal(body.proposal, task)
        deadline.look()
        model = self._settings(body.judge).model
        named = None if is_embedded(model) else model
        return run(challenged(task, proposal, (named, None), AssuranceConfig()))

    def reward(
        self, method: str, rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], deadline: Deadline
    ) -> list[dict[str, Any]]:
        """A line per row, as ``vouch reward`` writes it; the line of a row that cannot be used has a problem."""
        self._few(len(rows), "rows")
        known = [name for name, one in METHODS.items() if one.reward_row is not None]
        if method not in known:
            raise InputError(f"unknown reward method {shown_json(method)}; expected one of {', '.join(known)}")
        self._short(*(str(value) for row in rows for value in row.values()))
        work = reward_work(method, settings)
        lines: list[dict[str, Any]] = []
        for number, row in enumerate(rows, 1):
            deadline.look()
            lines.append(parse_json(work(Row(number, f"row {number}", dict(row)))))
        return lines

    def close(self) -> None:
        """Close the connections of language models and engines."""
        for checker in self._opened.values():
            checker.close()

    def _settings(self, name: str) -> JudgeSettings:
        if name not in self.policy.judges:
            names = ", ".join(self.policy.judges)
            raise ConfigError(f"unknown judge {shown_json(name)}{hint([], f'this server has: {names}')}")
        return self.policy.judges[name]

    def _checker(self, judge: str, method: str | None = None, settings: Mapping[str, Any] | None = None) -> Checker:
        """The judge, opened once for each method."""
        given = self._settings(judge)
        key = judge, f"{method}{sorted((settings or {}).items())}" if method else None
        with self._lock:
            if key not in self._opened:
                if method is None:
                    search = given.search or None
                    self._opened[key] = Checker(
                        given.model, given.threshold, search=search, min_confidence=given.min_confidence
                    )
                else:
                    self._opened[key] = Checker(given.model, method=method, **(settings or {}))
            return self._opened[key]

    def _sources(self, given: Sequence[str | bodies.GivenSource], *texts: str) -> tuple[Source, ...]:
        """The sources of a request. Raises InputError if there are too many or they are too long."""
        self.policy.limits.check_sources(len(given))
        sources = tuple(self._source(one, number) for number, one in enumerate(given, 1))
        self._short(*texts, *(source.text for source in sources))
        return sources

    def _source(self, given: str | bodies.GivenSource, number: int) -> Source:
        if isinstance(given, str):
            return Source(given, f"source-{number}")
        if (given.text is None) == (given.digest is None):
            raise InputError(f"source {number} must have either text or digest")
        if given.text is None and self.kept is None:
            raise InputError(f"source {number} is named by its digest, but nothing can be uploaded here: pass its text")
        text = self.kept.text(given.digest or "") if given.text is None and self.kept else given.text or ""
        return Source(text, given.id or f"source-{number}", given.title, given.url)

    def _short(self, *texts: str) -> None:
        limits = self.policy.limits
        numbers, sentences = (sum(len(one.findall(text)) for text in texts) for one in (_NUMBER, _END))
        for counted, limit, what in (
            (sum(map(len, texts)), limits.characters, "characters"),
            (numbers, limits.numbers, "numbers"),
            (sentences, limits.sentences, "sentences"),
        ):
            if counted > limit:
                raise InputError(
                    f"the texts have {counted:,} {what}, but this server accepts {limit:,} per request: send fewer or "
                    "shorter texts"
                )

    def _few(self, number: int, what: str) -> None:
        limit = self.policy.limits.claims
        if number > limit:
            raise InputError(f"the request has more than {limit:,} {what}, which is what this server accepts: split it")


def load_judge(checker: Checker) -> None:
    """Load what a judge of claims computes with, by asking it about one; nothing is searched."""
    verifier = cast("ClaimVerifier", checker.verifier)
    run(verifier.verify([Claim("The mill opened in 1937.")], [Source("The mill opened in 1973.", "source-1")]))


@lru_cache(maxsize=1)
def _same_judges(policy: str, kept: KeptSources | None) -> Judges:
    """The judges of a policy, as JSON."""
    return Judges(TypeAdapter(Policy).validate_json(policy), kept)
