"""The decision on an answer: checked against the documents of its request, then annotated, repaired or blocked."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal

from vouching.claims import read_answer
from vouching.errors import ConfigError, InputError, ModelDeadlineError, VouchError
from vouching.evaluation_events import of_response
from vouching.serve.blocking import Blocking
from vouching.serve.bodies import GivenSource, ResponseBody
from vouching.serve.judges import Judges
from vouching.serve.policy import DEFAULT_JUDGE, JudgeSettings, LimitSettings, Policy
from vouching.serve.proxy_messages import Asked, Given, with_found
from vouching.serve.proxy_settings import ProxySettings
from vouching.serve.work import Deadline, Pool
from vouching.text.json_values import parse_json
from vouching.types import Report
from vouching.types.serial import finding_json

_LEAST_SECONDS = 1.0
"""Time to keep a report, however late it is."""
Outcome = Literal["passed", "failed", "unverified", "unchecked"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to a text."""

    outcome: Outcome
    """passed, failed, unverified (a claim could not be judged) or unchecked (no documents, or no claim)."""
    action: Literal["none", "repaired", "blocked"]
    """What was done."""
    text: str
    """What the caller gets."""
    report: Report | None = None
    """The findings."""
    message: str = ""
    """Why the answer was not verified or not checked."""
    warning: str = ""
    """What is not known about a policy that blocks; empty if it is known, or nothing is blocked."""

    @property
    def blocked(self) -> bool:
        """Whether the caller gets the text of the policy instead."""
        return self.action == "blocked"

    def record(self) -> dict[str, Any]:
        """The annotation, as JSON: outcome, action, a finding per claim and per citation, and abstentions."""
        found: dict[str, Any] = {"findings": [], "abstained": [], "citations": []}
        if self.report is not None:
            found["findings"] = [finding_json(finding) for finding in self.report.findings]
            found["abstained"] = [one.span.text for one in self.report.abstained]
            found["citations"] = [asdict(one) for one in self.report.citations]
        return {"outcome": self.outcome, "action": self.action, "message": self.message, **found}


class Guard:
    """Decides by a policy, in its pool: an answer that finds the pool full is not verified.

    Args:
        settings: what happens to an answer.
        judge: what checks it.
        pool: where it is checked; closed with the guard.
        blocking: what is known about blocked answers.
        limits: what one answer, with its documents, may be; a larger one is not verified.

    Raises ConfigError for a judge that does not judge claims, or that searches.
    """

    def __init__(
        self,
        settings: ProxySettings,
        judge: JudgeSettings,
        pool: Pool,
        blocking: Blocking,
        limits: LimitSettings | None = None,
    ) -> None:
        self.settings = settings
        self.pool = pool
        self._blocking = blocking
        self._judges = Judges(Policy(limits=limits or LimitSettings(), judges={DEFAULT_JUDGE: judge}))
        self._judges.validate()
        if judge.search:
            raise ConfigError(f"proxy.judge {settings.judge!r} must not search")

    def start(self) -> None:
        """Have processes with a loaded judge, if the judge computes."""
        if self._judges.computes(DEFAULT_JUDGE):
            self.pool.start(self._judges.load)

    def with_found(self, asked: Asked, items: Sequence[Any], given: Sequence[Given], response_id: object) -> Asked:
        """What a request asks, with the id of its answer and what was found for it; see the one of the messages."""
        return replace(with_found(asked, items, given, self.settings.documents), response_id=response_id)

    async def decide(self, given: Given, asked: Asked) -> Decision:
        """The decision on an answer; a fault of the check or of the ledger counts as not verified, never as passed."""
        return replace(await self._decide(given, asked), warning=await self._blocking.awarning())

    async def _decide(self, given: Given, asked: Asked) -> Decision:
        settings, text = self.settings, given if isinstance(given, str) else read_answer(given).text
        if asked.refused:
            return self.undecided(text, asked.refused)
        if not asked.sources:
            return self._final(
                "unchecked", settings.undocumented == "block", text, None, "the request has no documents"
            )
        deadline = Deadline(settings.check_seconds, asked.caller)
        started = time.perf_counter()
        try:
            given = parse_json(json.dumps(given))  # halves of a character that came in two events become one
            report = await self._checked(given, asked, deadline)
            async with asyncio.timeout(max(deadline.remaining, _LEAST_SECONDS)):
                await self._blocking.keep(text, asked, report, time.perf_counter() - started)
        except (ModelDeadlineError, TimeoutError):
            words = f"the check took longer than {settings.check_seconds:g} s"
            return self.undecided(text, words)
        except VouchError as error:
            return self.undecided(text, str(error))
        if not report.findings:
            block = settings.abstained if report.abstained else settings.unclaimed
            return self._final("unchecked", block == "block", text, report, report.without_claims)
        if report.passed is False:
            if settings.action == "repair" and report.revised_response is not None:
                if not report.revised_response.strip():
                    return self._final("failed", True, text, report, "nothing is left of the answer")
                return Decision("failed", "repaired", report.revised_response, report)
            return self._final("failed", settings.action == "block", text, report)
        if report.passed is None:
            return self._final("unverified", settings.blocks_unverified, text, report)
        return Decision("passed", "none", text, report)

    def undecided(self, text: str, message: str) -> Decision:
        """The decision on a text that cannot be checked, by the policy for unverified answers."""
        return self._final("unverified", self.settings.blocks_unverified, text, None, message)

    async def _checked(self, answer: Given, asked: Asked, deadline: Deadline) -> Report:
        """The report. The embedded verifier looks at the deadline, and whether the caller left, after each claim."""
        rest = self.settings.rest if self.settings.action == "repair" else None
        try:
            given = [
                GivenSource(text=one.text, digest=None, id=one.id, title=one.title, url=one.url)
                for one in asked.sources
            ]
            body = ResponseBody(response=answer, sources=[*given], question=asked.question, repair=rest)
        except ValueError as error:  # a text with half a character
            raise InputError(f"the answer cannot be checked: {error}") from None
        job = partial(self._judges.check_response, body)
        with of_response(asked.response_id):
            if self._judges.computes(DEFAULT_JUDGE):
                return await self.pool.run_apart(job, deadline)
            return await self.pool.run(lambda: job(deadline), deadline)

    def _final(self, outcome: Outcome, block: bool, text: str, report: Report | None, message: str = "") -> Decision:
        if block:
            return Decision(outcome, "blocked", self.settings.blocked_text, report, message)
        return Decision(outcome, "none", text, report, message)

    def close(self) -> None:
        """Start no further check, and close the connections of the judge and the ledger."""
        self.pool.close()
        self._judges.close()
        self._blocking.close()


def worst(decisions: list[Decision]) -> Outcome:
    """The outcome of several texts: the one that matters most."""
    order: tuple[Outcome, ...] = ("failed", "unverified", "unchecked", "passed")
    for outcome in order:
        if any(decision.outcome == outcome for decision in decisions):
            return outcome
    return "unchecked"
