"""Tools that a model may call: their descriptions, and the calls that models in this process write.

A tool is never run here: a call is returned with the completion, and the caller answers it with a message of role
"tool". Not supported: other notations for calls than Hermes' tags, which Qwen and many others learn; servers parse
their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from vouching.text.json_values import parse_json

_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call."""

    name: str
    """Its name."""
    description: str
    """What it does, for the model."""
    parameters: Mapping[str, Any]
    """JSON Schema of its arguments, an object."""

    @property
    def json(self) -> dict[str, Any]:
        """The tool as OpenAI-compatible servers and chat templates accept it.

        >>> Tool("look", "Looks.", {"type": "object", "properties": {}}).json["function"]["name"]
        'look'
        """
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, as the model wrote it."""

    id: str
    """Identifies the call; the message that answers it has the same."""
    name: str
    """The tool; empty if the call cannot be parsed."""
    arguments: str
    """The arguments, normally JSON."""

    @property
    def json(self) -> dict[str, Any]:
        """The call as OpenAI-compatible servers send and accept it.

        >>> ToolCall("1", "look", "{}").json
        {'id': '1', 'type': 'function', 'function': {'name': 'look', 'arguments': '{}'}}
        """
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}

    def read_arguments(self) -> dict[str, Any] | None:
        """The arguments; None if they are not a JSON object.

        >>> [ToolCall("1", "look", text).read_arguments() for text in ('{"query": "bridge"}', "bridge")]
        [{'query': 'bridge'}, None]
        """
        return _object(self.arguments)


def read_tool_calls(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """A text without its tool calls, and the calls; one that cannot be parsed has no name and its text as arguments.

    >>> read_tool_calls('First. <tool_call>{"name": "look", "arguments": {"query": "a"}}</tool_call>')
    ('First.', (ToolCall(id='call-1', name='look', arguments='{"query": "a"}'),))
    >>> read_tool_calls("<tool_call>look</tool_call>")[1]
    (ToolCall(id='call-1', name='', arguments='look'),)
    """
    calls = tuple(_call(f"call-{number}", found[1].strip()) for number, found in enumerate(_CALL.finditer(text), 1))
    return (_CALL.sub("", text).strip() if calls else text), calls


def _call(name: str, text: str) -> ToolCall:
    found = _object(text) or {}
    function, arguments = found.get("name"), found.get("arguments")
    if not isinstance(function, str) or not isinstance(arguments, dict):
        return ToolCall(name, "", text)
    return ToolCall(name, function, json.dumps(arguments, ensure_ascii=False))


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = parse_json(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
