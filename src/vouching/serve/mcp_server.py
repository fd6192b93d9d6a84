"""The tools of Vouch for agents, by the Model Context Protocol (SDK ``mcp`` 2.x): over stdio or streamable HTTP.

Each tool returns its record as structured content, with a published output schema, and the same in words for the model
that reads it. A judge that fails gives the outcome "Unverified"; a judge out of reach, or a call that cannot be used,
is a tool error with a message that says what to do. Not supported: authentication, so that HTTP is for this machine or
behind a gateway; reading files and addresses that a client names, since the server may see more than its client; over
stdio an answer to a line that is not valid JSON, as with a lone surrogate, which the SDK drops.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from vouching.checker import Checker, run
from vouching.claims import AnswerLike
from vouching.errors import ConfigError, InputError, VouchError, needed
from vouching.evidence_windows import JudgedWindow, judge_windows
from vouching.inputs import as_sources
from vouching.judging.verifier import ThresholdConfig
from vouching.repair import Rest
from vouching.retrieval.judge import check_context
from vouching.search.base import SearchEngine, search_engines
from vouching.search.open import open_engine
from vouching.serve.mcp_records import (
    ClaimAnswer,
    ContextAnswer,
    ConversationAnswer,
    EvidenceAnswer,
    FoundPassage,
    ResponseAnswer,
    SourceText,
)
from vouching.shortcuts import judge_turns
from vouching.types import Report, Source
from vouching.version import __version__

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from mcp_types import CallToolResult
    from starlette.applications import Starlette

Sources = Annotated[
    list[str | SourceText] | None,
    Field(description="The documents to check against, each a text or an object with text, id, title and url."),
]
Repair = Annotated[
    Literal["mark", "remove", "keep"] | None,
    Field(description="Apply verified fixes; mark, remove or keep the claims that have none."),
]
_INSTRUCTIONS = """\
Check statements against documents before you make them. A verdict says whether the given documents support a claim,
not whether it is true. verify_claim checks one statement, verify_response a whole answer, audit_numbers its numbers;
verify_conversation every answer of a conversation against what its tools had returned;
check_context says whether documents are enough for a question before it is answered, and which are relevant;
check_instructions checks the format that an instruction asks for; find_evidence shows which passages speak about a
claim. Unverified means that the judge failed: it is no judgement, so do not treat it as support."""
_MAX_PASSAGES = 50
_READ_ONLY = {"read_only_hint": True, "destructive_hint": False, "idempotent_hint": True}


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
    ledger: str | None = None
    """Where every verdict and report is kept before it is answered; None for nowhere."""

    def __post_init__(self) -> None:
        ThresholdConfig(self.threshold)
        if self.max_characters < 1:
            raise ConfigError(f"max_characters must be at least 1, got {self.max_characters}")


class Tools:
    """The tools, as functions that may run in several threads.

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

    def verify_claim(self, claim: str, sources: Sequence[str | SourceText] | None) -> ClaimAnswer:
        """The outcome of one claim."""
        return ClaimAnswer.of(self._checker.check(claim, self._given(sources, claim)))

    def verify_response(
        self,
        response: AnswerLike,
        sources: Sequence[str | SourceText] | None,
        question: str | None,
        repair: Rest | None,
    ) -> Report:
        """The report on a response, claim by claim."""
        given = self._given(sources, response if isinstance(response, str) else json.dumps(response), question)
        return self._checker.check_response(response, given, question, repair)

    def verify_conversation(self, messages: Sequence[Any], repair: Rest | None) -> list[Report]:
        """A report on each answer of a conversation, against what was known when it was given."""
        self._refuse_long(json.dumps(messages, ensure_ascii=False))
        return run(judge_turns(self._checker, messages, repair_rest=repair))

    def check_context(self, question: str, sources: Sequence[str | SourceText], answer: str | None) -> ContextAnswer:
        """Whether documents are enough for a question, and an answer addresses it."""
        given = self._given(sources, question, answer, search=False)
        return ContextAnswer.of(check_context(question, given, answer, model=self.config.model, ledger=self._ledger))

    def audit_numbers(self, response: str, sources: Sequence[str | SourceText], question: str | None) -> Report:
        """The numbers of a response, asked again blind."""
        given = self._given(sources, response, question, search=False)
        return self._auditor.check_response(response, given, question)

    def check_instructions(self, instruction: str, response: str) -> Report:
        """The exact rules that an instruction states."""
        self._refuse_long(instruction, response)
        return self._rules.check_instruction(instruction, response)

    def find_evidence(self, claim: str, sources: Sequence[str | SourceText] | None, limit: int) -> EvidenceAnswer:
        """The passages that speak about a claim, those that decide it first."""
        if not 1 <= limit <= _MAX_PASSAGES:
            raise InputError(f"limit must be between 1 and {_MAX_PASSAGES}, got {limit}")
        given = self._given(sources, claim)
        judged = run(self._judged(claim, given, limit))
        ranked = sorted(judged, key=_by_weight)
        return EvidenceAnswer(passages=[FoundPassage.of(one) for one in ranked[:limit]], searched=len(judged))

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


def _by_weight(window: JudgedWindow) -> tuple[bool, float]:
    """Supporting and contradicting windows first; within them the one with the higher score."""
    outcome = window.outcome
    silent = outcome.kind == "unverified" or outcome.relation == "not_found"
    return silent, -(window.score or 0.0)


@contextmanager
def _tool_errors() -> Generator[None]:
    """Show the message of a deliberate error to the model that called the tool."""
    from mcp.server.mcpserver.exceptions import ToolError

    try:
        yield
    except VouchError as error:
        raise ToolError(str(error)) from error


def build_mcp(config: McpConfig) -> MCPServer[Any]:
    """The MCP server with all tools; :func:`run_mcp` runs it.

    Raises:
        ConfigError: an unknown model or engine.
        MissingExtraError: the SDK is not installed.
    """
    server = needed("mcp.server", "serve", "the MCP server").MCPServer(
        "vouch", title="Vouch", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    types = needed("mcp_types", "serve", "the MCP server")
    for tool in _tools(Tools(config)):
        server.add_tool(tool, annotations=types.ToolAnnotations(**_READ_ONLY), structured_output=True)
    return server


def _tools(tools: Tools) -> Iterator[Callable[..., Any]]:
    """The functions that the SDK turns into tools; their docstrings are what the agent reads."""
    from mcp_types import CallToolResult

    answers: dict[Callable[..., Any], type[BaseModel]] = dict.fromkeys(_response_tools(tools), ResponseAnswer)
    verify_claim, find_evidence = _claim_tools(tools)
    answers |= {find_evidence: EvidenceAnswer, _conversation_tool(tools): ConversationAnswer}
    answers |= {_context_tool(tools): ContextAnswer}
    for tool, answer in {verify_claim: ClaimAnswer, **answers}.items():
        # The SDK evaluates annotations in the names of this module, which lack the types of an optional dependency.
        tool.__annotations__["return"] = Annotated[CallToolResult, answer]
        yield tool


def _claim_tools(tools: Tools) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def verify_claim(
        claim: Annotated[str, Field(description="One statement.")], sources: Sources = None
    ) -> CallToolResult:
        """Check whether documents support a statement: label, evidence spans, reasons, confidence and a fix."""
        with _tool_errors():
            answer = tools.verify_claim(claim, sources)
        return _result(answer, str(answer.finding))

    def find_evidence(
        claim: Annotated[str, Field(description="One statement.")],
        sources: Sources = None,
        limit: Annotated[int, Field(description="Maximal number of passages, at most 50.")] = 5,
    ) -> CallToolResult:
        """Find the passages of documents that support or contradict a statement, with what each says about it."""
        with _tool_errors():
            answer = tools.find_evidence(claim, sources, limit)
        lines = [
            f"[{one.source_id}:{one.start}-{one.end}] {one.relation or one.label}: {one.text}"
            for one in answer.passages
        ]
        return _result(answer, "\n".join(lines) or "No passage was found.")

    return verify_claim, find_evidence


def _response_tools(tools: Tools) -> tuple[Callable[..., Any], ...]:
    def verify_response(
        response: Annotated[
            str | dict[str, Any] | list[dict[str, Any]],
            Field(description="The answer to check: text, or with citations as the API of OpenAI or Anthropic has it."),
        ],
        sources: Sources = None,
        question: Annotated[str | None, Field(description="The question that it answers, if any.")] = None,
        repair: Repair = None,
    ) -> CallToolResult:
        """Check a whole answer claim by claim against documents, and repair it if asked."""
        with _tool_errors():
            report = tools.verify_response(response, sources, question, repair)
        return _result(ResponseAnswer.of(report), str(report))

    def check_instructions(
        instruction: Annotated[str, Field(description="What the response was asked to do.")],
        response: Annotated[str, Field(description="The response to check.")],
    ) -> CallToolResult:
        """Check the rules of form that an instruction states: lengths, words, punctuation, letters, lists, language."""
        with _tool_errors():
            report = tools.check_instructions(instruction, response)
        return _result(ResponseAnswer.of(report), str(report))

    def audit_numbers(
        response: Annotated[str, Field(description="The answer whose numbers are audited.")],
        sources: Annotated[list[str | SourceText], Field(description="The documents to ask.")],
        question: Annotated[str | None, Field(description="The question that it answers, if any.")] = None,
    ) -> CallToolResult:
        """Ask for each number of an answer again, from the documents only and blind to the answer, and compare."""
        with _tool_errors():
            report = tools.audit_numbers(response, sources, question)
        return _result(ResponseAnswer.of(report), str(report))

    return verify_response, check_instructions, audit_numbers


def _conversation_tool(tools: Tools) -> Callable[..., Any]:
    def verify_conversation(
        messages: Annotated[
            list[dict[str, Any]],
            Field(description="All messages, those of tools included, as OpenAI, Anthropic or LangChain has them."),
        ],
        repair: Repair = None,
    ) -> CallToolResult:
        """Check each answer of a conversation against the results of tools and the documents that stood before it."""
        with _tool_errors():
            reports = tools.verify_conversation(messages, repair)
        words = (f"Turn {number}: {report}" for number, report in enumerate(reports, 1))
        return _result(ConversationAnswer(turns=[*map(ResponseAnswer.of, reports)]), "\n\n".join(words))

    return verify_conversation


def _context_tool(tools: Tools) -> Callable[..., Any]:
    def check_context(
        question: Annotated[str, Field(description="What was asked.")],
        sources: Annotated[list[str | SourceText], Field(description="The documents that were found for it.")],
        answer: Annotated[str | None, Field(description="The answer, if there is one.")] = None,
    ) -> CallToolResult:
        """Judge whether documents are enough for a question, which are relevant, and whether an answer addresses it."""
        with _tool_errors():
            found = tools.check_context(question, sources, answer)
        return _result(found, str(found.finding))

    return check_context


def _result(answer: BaseModel, words: str) -> CallToolResult:
    """The record as structured content, and the words for the model."""
    from mcp_types import CallToolResult, TextContent

    return CallToolResult(
        content=[TextContent(type="text", text=words)], structured_content=answer.model_dump(mode="json")
    )


def run_mcp(config: McpConfig) -> None:
    """Serve one client over standard input and output until it closes them."""
    build_mcp(config).run("stdio")


def mcp_app(config: McpConfig, host: str = "127.0.0.1") -> Starlette:
    """The streamable HTTP server as an ASGI application, at /mcp; requests for other hosts are refused on this machine.

    Raises as :func:`build_mcp`.
    """
    return build_mcp(config).streamable_http_app(host=host)
