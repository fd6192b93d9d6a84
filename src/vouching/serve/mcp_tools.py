"""What the tools of the MCP server do with a call, and where: in processes that are ended with its deadline."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, TypeAlias

from pydantic import BaseModel

from vouching.checker import Checker, run
from vouching.claims import AnswerLike, decompose, read_answer
from vouching.embedded.verify import is_embedded
from vouching.errors import ConfigError, InputError, needed
from vouching.evidence_windows import JudgedWindow, judge_windows
from vouching.inputs import as_sources, check_text
from vouching.judging.verifier import ThresholdConfig
from vouching.repair import Rest
from vouching.retrieval.judge import check_context
from vouching.rows.pool import cores
from vouching.search.base import SearchEngine, search_engines
from vouching.search.open import open_engine
from vouching.serve.judges import load_judge
from vouching.serve.mcp_records import (
    ClaimAnswer,
    ContextAnswer,
    ConversationAnswer,
    EvidenceAnswer,
    FoundPassage,
    ResponseAnswer,
    SourceText,
)
from vouching.serve.policy import LimitSettings, ServeSettings
from vouching.serve.work import Deadline, Pool, stopping
from vouching.shortcuts import answered_turns, judge_turns
from vouching.types import Report, Source

Answer: TypeAlias = tuple[BaseModel, str]
"""The record, and the same in words for the model that reads it."""
_LIMITS, _SERVE = LimitSettings(), ServeSettings()
_MAX_PASSAGES = 50
_WAITING = 8
"""Calls at the same time of a language model."""


@dataclass(frozen=True, slots=True)
class McpConfig:
    """How the tools judge. Raises ConfigError for a threshold outside [0, 1]."""

    model: str = "embedded"
    """The judge of claims, as for :class:`vouching.Checker`."""
    threshold: float = 0.5
    """Score from which a claim is Attributable, in [0, 1]."""
    search: tuple[str, ...] = ()
    """Engines that are searched where a call has no sources, e.g. "index:notes" or "wikipedia"."""
    max_characters: int = 2_000_000
    """Largest total length of the texts of a call."""
    max_claims: int = _LIMITS.claims
    """Most claims of a response, and of all answers of a conversation together."""
    timeout_seconds: float = _SERVE.timeout_seconds
    """Longest time for a call, waiting included; its process is then ended."""
    ledger: str | None = None
    """Where every verdict and report is kept before it is answered; None for nowhere."""

    def __post_init__(self) -> None:
        ThresholdConfig(self.threshold)
        for name in ("max_characters", "max_claims"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not self.timeout_seconds > 0:
            raise ConfigError(f"timeout_seconds must be above 0, got {self.timeout_seconds}")


class Calls:
    """Does the calls of a server: each in a process that is ended with the deadline, or once nobody is served.

    A judge that waits for a language model works in a process too, since a thread that waits cannot be ended.

    Raises as :class:`Tools`, so that a wrong setting shows before anybody is served.
    """

    def __init__(self, config: McpConfig) -> None:
        self._config = config
        self._pool: Pool | None = None
        self._served = 0
        Tools(config).close()

    @asynccontextmanager
    async def open(self, _: object = None) -> AsyncGenerator[None]:
        """Have processes while somebody is served; those who are served at the same time share them."""
        if self._pool is None:
            places = cores() if is_embedded(self._config.model) else _WAITING
            self._pool = Pool(places, _SERVE.queue, _LIMITS.memory_bytes, places)
            self._pool.start(partial(_ready, self._config))
        self._served += 1
        try:
            yield
        finally:
            self._served -= 1
            if not self._served:
                self._pool.close()
                self._pool = None

    async def answer(self, tool: Callable[..., Answer], *arguments: Any) -> Answer:
        """The answer of a method of :class:`Tools`.

        Raises what it raises, ModelDeadlineError after ``timeout_seconds``, and ServerUnavailableError if too many
        calls wait.
        """
        if self._pool is None:
            raise stopping()
        return await self._pool.run_apart(
            partial(_answered, self._config, tool, arguments), Deadline(self._config.timeout_seconds)
        )


def _answered(config: McpConfig, tool: Callable[..., Answer], arguments: Sequence[Any], deadline: Deadline) -> Answer:
    deadline.look()
    return tool(_same_tools(config), *arguments)


def _ready(config: McpConfig) -> None:
    """In a process, load the tools and, if it is embedded, the judge."""
    tools = _same_tools(config)
    if is_embedded(config.model):
        tools.load()


@lru_cache(maxsize=1)
def _same_tools(config: McpConfig) -> Tools:
    """In a process, the tools of all its calls."""
    return Tools(config)


class Tools:
    """The tools.

    Raises ConfigError for an unknown model or engine, or a ledger that cannot be used.
    """

    def __init__(self, config: McpConfig) -> None:
        self.config = config
        self._engines: list[SearchEngine] = [open_engine(name) for name in config.search]
        opens = needed("vouching.ledger", "serve", "a ledger").open_ledger if config.ledger else None
        self._ledger = opens(config.ledger) if opens else None
        self._checker = Checker(config.model, config.threshold, search=self._engines or None, ledger=self._ledger)
        self._judge = Checker(config.model, config.threshold)
        if self._checker.judges != "claims":
            raise ConfigError(f"{config.model} does not judge claims: pass another model")

    @cached_property
    def _auditor(self) -> Checker:
        return Checker("embedded", method="blinded", ledger=self._ledger)

    @cached_property
    def _rules(self) -> Checker:
        return Checker("embedded", method="rules", ledger=self._ledger)

    def load(self) -> None:
        """Load what the judge of claims computes with."""
        load_judge(self._checker)

    def close(self) -> None:
        """Close the connections of the judges, and the ledger."""
        self._checker.close()
        self._judge.close()
        if self._ledger is not None:
            self._ledger.close()

    def verify_claim(self, claim: str, sources: Sequence[str | SourceText] | None) -> Answer:
        """The outcome of one claim."""
        answer = ClaimAnswer.of(self._checker.check(claim, self._given(sources, claim)))
        return answer, str(answer.finding)

    def verify_response(
        self,
        response: AnswerLike,
        sources: Sequence[str | SourceText] | None,
        question: str | None,
        repair: Rest | None,
    ) -> Answer:
        """The report on a response, claim by claim."""
        given = self._given(sources, response if isinstance(response, str) else json.dumps(response), question)
        self._refuse_many(read_answer(response).text)
        return _in_words(self._checker.check_response(response, given, question, repair))

    def verify_conversation(self, messages: Sequence[Any], repair: Rest | None) -> Answer:
        """A report on each answer of a conversation, against what was known when it was given."""
        self._refuse_long(json.dumps(messages, ensure_ascii=False))
        self._refuse_many(*(str(turn.answer) for turn in answered_turns(messages)))
        reports = run(judge_turns(self._checker, messages, repair_rest=repair))
        words = (f"Turn {number}: {report}" for number, report in enumerate(reports, 1))
        return ConversationAnswer(turns=[*map(ResponseAnswer.of, reports)]), "\n\n".join(words)

    def check_context(self, question: str, sources: Sequence[str | SourceText], answer: str | None) -> Answer:
        """Whether documents are enough for a question, and an answer addresses it."""
        given = self._given(sources, question, answer, search=False)
        found = check_context(question, given, answer, model=self.config.model, ledger=self._ledger)
        return ContextAnswer.of(found), str(found)

    def audit_numbers(self, response: str, sources: Sequence[str | SourceText], question: str | None) -> Answer:
        """The numbers of a response, asked again blind."""
        given = self._given(sources, response, question, search=False)
        return _in_words(self._auditor.check_response(response, given, question))

    def check_instructions(self, instruction: str, response: str) -> Answer:
        """The exact rules that an instruction states."""
        self._refuse_long(instruction, response)
        return _in_words(self._rules.check_instruction(instruction, response))

    def find_evidence(self, claim: str, sources: Sequence[str | SourceText] | None, limit: int) -> Answer:
        """The passages that speak about a claim, those that decide it first."""
        if not 1 <= limit <= _MAX_PASSAGES:
            raise InputError(f"limit must be between 1 and {_MAX_PASSAGES}, got {limit}")
        given = self._given(sources, claim)
        judged = run(self._judged(claim, given, limit))
        ranked = sorted(judged, key=_by_weight)
        answer = EvidenceAnswer(passages=[FoundPassage.of(one) for one in ranked[:limit]], searched=len(judged))
        lines = [
            f"[{one.source_id}:{one.start}-{one.end}] {one.relation or one.label}: {one.text}"
            for one in answer.passages
        ]
        return answer, "\n".join(lines) or "No passage was found."

    async def _judged(self, claim: str, given: tuple[Source, ...], limit: int) -> list[JudgedWindow]:
        if not given:
            found = await search_engines(self._engines, claim, limit)
            if not found.passages:
                return []
            given = as_sources(found.passages)
        return await judge_windows(self._judge, claim, given)

    def _given(
        self, sources: Sequence[str | SourceText] | None, *texts: str | None, search: bool = True
    ) -> tuple[Source, ...]:
        """The sources of a call; none where they are searched for. Raises InputError if it is too long as a whole."""
        given = [one if isinstance(one, str) else one.source(n) for n, one in enumerate(sources or (), 1)]
        self._refuse_long(*texts, *(one if isinstance(one, str) else one.text for one in given))
        if not given:
            if search and self._engines:
                return ()
            where = "" if search else "; this tool does not search"
            raise InputError(f"no source was given: pass the documents to check against in sources{where}")
        return as_sources(given)

    def _refuse_long(self, *texts: str | None) -> None:
        length = sum(len(text or "") for text in texts)
        if length > self.config.max_characters:
            raise InputError(
                f"the texts have {length:,} characters, but this server accepts {self.config.max_characters:,} per "
                "call: pass fewer or shorter documents"
            )

    def _refuse_many(self, *answers: str) -> None:
        left = most = self.config.max_claims
        for text in answers:
            left -= len(decompose(check_text(text, "the response"), most=left).claims)
            if left < 0:
                raise InputError(f"the call has more than {most:,} claims, which is what this server accepts: split it")


def _in_words(report: Report) -> Answer:
    return ResponseAnswer.of(report), str(report)


def _by_weight(window: JudgedWindow) -> tuple[bool, float]:
    """Supporting and contradicting windows first; within them the one with the higher score."""
    outcome = window.outcome
    silent = outcome.kind == "unverified" or outcome.relation == "not_found"
    return silent, -(window.score or 0.0)
