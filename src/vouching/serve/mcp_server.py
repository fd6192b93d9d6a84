"""The tools of Vouch for agents, by the Model Context Protocol (SDK ``mcp`` 2.x): over stdio or streamable HTTP.

Each tool returns its record as structured content, with a published output schema, and the same in words for the model
that reads it. A judge that fails gives the outcome "Unverified"; a judge out of reach, or a call that cannot be used,
is a tool error with a message that says what to do. Not supported: authentication, so that HTTP is for this machine or
behind a gateway; reading files and addresses that a client names, since the server may see more than its client; over
stdio an answer to a line that is not valid JSON, as with a lone surrogate, which the SDK drops.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from vouching.errors import VouchError, needed
from vouching.serve.bodies import fault_words
from vouching.serve.mcp_records import (
    ClaimAnswer,
    ContextAnswer,
    ConversationAnswer,
    EvidenceAnswer,
    ResponseAnswer,
    SourceText,
)
from vouching.serve.mcp_tools import Answer, Calls, McpConfig, Tools
from vouching.types.visible import hint, shown_json
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
_READ_ONLY = {"read_only_hint": True, "destructive_hint": False, "idempotent_hint": True}


def build_mcp(config: McpConfig) -> MCPServer[Any]:
    """The MCP server with all tools; :func:`run_mcp` runs it.

    Raises:
        ConfigError: an unknown model or engine.
        MissingExtraError: the SDK is not installed.
    """
    calls = Calls(config)
    server = _strict_server()(
        "vouch",
        title="Vouch",
        instructions=_INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        lifespan=calls.open,
    )
    types = needed("mcp_types", "serve", "the MCP server")
    for tool in _tools(calls):
        server.add_tool(tool, annotations=types.ToolAnnotations(**_READ_ONLY), structured_output=True)
    return server


def _strict_server() -> type[MCPServer[Any]]:
    """The server of the SDK, with arguments that do not fit refused in words, unknown ones too."""
    from mcp.server.mcpserver.exceptions import ToolError

    base: type[MCPServer[Any]] = needed("mcp.server", "serve", "the MCP server").MCPServer

    class StrictServer(base):
        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            schema = f"the input schema of {name}"
            for tool in await self.list_tools():
                known: dict[str, Any] = tool.input_schema["properties"]
                if tool.name == name and (unknown := [one for one in arguments if one not in known]):
                    given = hint(get_close_matches(unknown[0], known, 1), f"see {schema} for the fields")
                    raise ToolError(f"unknown argument {shown_json(unknown[0])}{given}")
            try:
                return await super().call_tool(name, arguments, context)
            except ToolError as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                raise ToolError(fault_words(error.__cause__.errors(), "the arguments", schema)) from error

    return StrictServer


def _tools(calls: Calls) -> Iterator[Callable[..., Any]]:
    """The functions that the SDK turns into tools; their docstrings are what the agent reads."""
    from mcp_types import CallToolResult

    answers: dict[Callable[..., Any], type[BaseModel]] = dict.fromkeys(_response_tools(calls), ResponseAnswer)
    verify_claim, find_evidence = _claim_tools(calls)
    answers |= {find_evidence: EvidenceAnswer, _conversation_tool(calls): ConversationAnswer}
    answers |= {_context_tool(calls): ContextAnswer}
    for tool, answer in {verify_claim: ClaimAnswer, **answers}.items():
        # The SDK evaluates annotations in the names of this module, which lack the types of an optional dependency.
        tool.__annotations__["return"] = Annotated[CallToolResult, answer]
        yield tool


def _claim_tools(calls: Calls) -> tuple[Callable[..., Any], Callable[..., Any]]:
    async def verify_claim(
        claim: Annotated[str, Field(description="One statement.")], sources: Sources = None
    ) -> CallToolResult:
        """Check whether documents support a statement: label, evidence spans, reasons, confidence and a fix."""
        return await _result(calls.answer(Tools.verify_claim, claim, sources))

    async def find_evidence(
        claim: Annotated[str, Field(description="One statement.")],
        sources: Sources = None,
        limit: Annotated[int, Field(description="Maximal number of passages, at most 50.")] = 5,
    ) -> CallToolResult:
        """Find the passages of documents that support or contradict a statement, with what each says about it."""
        return await _result(calls.answer(Tools.find_evidence, claim, sources, limit))

    return verify_claim, find_evidence


def _response_tools(calls: Calls) -> tuple[Callable[..., Any], ...]:
    async def verify_response(
        response: Annotated[
            str | dict[str, Any] | list[dict[str, Any]],
            Field(description="The answer to check: text, or with citations as the API of OpenAI or Anthropic has it."),
        ],
        sources: Sources = None,
        question: Annotated[str | None, Field(description="The question that it answers, if any.")] = None,
        repair: Repair = None,
    ) -> CallToolResult:
        """Check a whole answer claim by claim against documents, and repair it if asked."""
        return await _result(calls.answer(Tools.verify_response, response, sources, question, repair))

    async def check_instructions(
        instruction: Annotated[str, Field(description="What the response was asked to do.")],
        response: Annotated[str, Field(description="The response to check.")],
    ) -> CallToolResult:
        """Check the rules of form that an instruction states: lengths, words, punctuation, letters, lists, language."""
        return await _result(calls.answer(Tools.check_instructions, instruction, response))

    async def audit_numbers(
        response: Annotated[str, Field(description="The answer whose numbers are audited.")],
        sources: Annotated[list[str | SourceText], Field(description="The documents to ask.")],
        question: Annotated[str | None, Field(description="The question that it answers, if any.")] = None,
    ) -> CallToolResult:
        """Ask for each number of an answer again, from the documents only and blind to the answer, and compare."""
        return await _result(calls.answer(Tools.audit_numbers, response, sources, question))

    return verify_response, check_instructions, audit_numbers


def _conversation_tool(calls: Calls) -> Callable[..., Any]:
    async def verify_conversation(
        messages: Annotated[
            list[dict[str, Any]],
            Field(description="All messages, those of tools included, as OpenAI, Anthropic or LangChain has them."),
        ],
        repair: Repair = None,
    ) -> CallToolResult:
        """Check each answer of a conversation against the results of tools and the documents that stood before it."""
        return await _result(calls.answer(Tools.verify_conversation, messages, repair))

    return verify_conversation


def _context_tool(calls: Calls) -> Callable[..., Any]:
    async def check_context(
        question: Annotated[str, Field(description="What was asked.")],
        sources: Annotated[list[str | SourceText], Field(description="The documents that were found for it.")],
        answer: Annotated[str | None, Field(description="The answer, if there is one.")] = None,
    ) -> CallToolResult:
        """Judge whether documents are enough for a question, which are relevant, and whether an answer addresses it."""
        return await _result(calls.answer(Tools.check_context, question, sources, answer))

    return check_context


async def _result(answered: Awaitable[Answer]) -> CallToolResult:
    """The record as structured content, and the words for the model; so is the message of a deliberate error."""
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import CallToolResult, TextContent

    try:
        answer, words = await answered
    except VouchError as error:
        raise ToolError(str(error)) from error
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
