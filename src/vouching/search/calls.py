"""Reading the call of a search from what a model said: native tool calls, Hermes' tags, and tags as in Search-R1.

What a model thinks between <think> and </think> is neither a call nor the end of its search, and what was found is
never read for either. Left out: several calls in one turn; the first is made, as in the paper.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from vouching.models.base import Completion, Message
from vouching.models.tools import Tool, ToolCall, read_tool_calls
from vouching.text.thoughts import spoken
from vouching.types import EngineKind

TOOLS: dict[str, EngineKind] = {"search_local": "local", "search_web": "web"}
"""The tools, by the paper's names."""
STOP_WORDS = ("READY_FOR_EVALUATION", "READY_FOR_ANSWERING")
"""What ends a search; the paper uses both."""
_ABOUT: dict[EngineKind, str] = {"local": "Searches a collection of documents.", "web": "Searches the web."}
_QUERY = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "What to look for, in a few words."}},
    "required": ["query"],
}
_TAG = re.compile(r"<(search(?:_local|_web)?)>(.*?)(</\1>|\Z)", re.DOTALL)
_MARKS = re.compile(r"</?think(?:ing)?>")


class CallError(ValueError):
    """A call that cannot be read, and why."""


@dataclass(frozen=True, slots=True)
class Call:
    """The call of one turn."""

    tool: EngineKind
    """Which search."""
    query: str
    """What for."""
    said: Message
    """The turn as the conversation keeps it: up to the end of this call."""
    ignored: int
    """Calls after it in the same turn."""

    def answer(self, text: str) -> Message:
        """The message that brings the model what was found."""
        if self.said.tool_calls:
            return Message("tool", text, tool_call_id=self.said.tool_calls[0].id)
        return Message("user", f"<information>\n{text}\n</information>")


def tool(kind: EngineKind) -> Tool:
    """A kind of search as a tool.

    >>> tool("web").name, tool("web").description
    ('search_web', 'Searches the web.')
    """
    return Tool(next(name for name, of in TOOLS.items() if of == kind), _ABOUT[kind], _QUERY)


def tags(kinds: Collection[EngineKind]) -> tuple[str, ...]:
    """The texts that end a call in tags: what a completion shall stop at.

    >>> tags(["local"])
    ('</search_local>', '</search>')
    """
    return (*(f"</{name}>" for name, kind in TOOLS.items() if kind in kinds), "</search>")


def is_ready(text: str) -> bool:
    """Whether a model says that it has seen enough.

    >>> is_ready("READY_FOR_EVALUATION"), is_ready("<think>Then I say READY_FOR_EVALUATION.</think> Not yet.")
    (True, False)
    """
    said = spoken(text)
    return any(word in said for word in STOP_WORDS)


def thought_of(text: str) -> str:
    """What a model said beside its call, without marks.

    >>> thought_of("<think>I need the year.</think><search_web>bridge</search_web>")
    'I need the year.'
    """
    return _MARKS.sub(" ", _TAG.sub("", read_tool_calls(text)[0])).strip()


def read_call(said: Completion, kinds: Collection[EngineKind]) -> Call | None:
    """The first call of a turn; None if there is none.

    Args:
        said: the turn.
        kinds: the searches that there are. A plain <search> means the first of local and web that is there.

    Raises:
        CallError: another tool, no query, arguments that are no JSON object, or a call that was cut off.

    >>> from vouching.types import Usage
    >>> call = read_call(Completion("<search_web>bridge", "stop", Usage()), ["web"])
    >>> call.tool, call.query, call.said.content
    ('web', 'bridge', '<search_web>bridge</search_web>')
    """
    if said.tool_calls:
        return _native(said.tool_calls[0], Message("assistant", said.text, said.tool_calls[:1]), kinds, said.tool_calls)
    text = spoken(said.text)
    if calls := read_tool_calls(text)[1]:
        end = text.find("</tool_call>")
        shown = said.text if end < 0 else said.text[: end + len("</tool_call>")]
        return _native(calls[0], Message("assistant", shown), kinds, calls)
    if not (found := [*_TAG.finditer(text)]):
        return None
    first = found[0]
    if not first[3] and said.finish_reason != "stop":
        raise CallError(f"the call was cut off: {first[0][:80]!r}")
    name = first[1] if first[1] != "search" else tool(min(kinds)).name
    shown = said.text[: first.end()] + ("" if first[3] else f"</{first[1]}>")
    return _checked(name, first[2], Message("assistant", shown), kinds, len(found) - 1)


def _native(call: ToolCall, said: Message, kinds: Collection[EngineKind], calls: Collection[ToolCall]) -> Call:
    arguments = call.read_arguments()
    if arguments is None:
        raise CallError(f"the arguments of a call are no JSON object: {call.arguments[:80]!r}")
    return _checked(call.name, arguments.get("query"), said, kinds, len(calls) - 1)


def _checked(name: str, query: object, said: Message, kinds: Collection[EngineKind], ignored: int) -> Call:
    if TOOLS.get(name) not in kinds:
        raise CallError(f"it called {name!r}, wanted one of: {', '.join(tool(kind).name for kind in sorted(kinds))}")
    if not isinstance(query, str) or not query.strip():
        raise CallError(f"it called {name} without a query")
    return Call(TOOLS[name], " ".join(query.split()), said, ignored)
