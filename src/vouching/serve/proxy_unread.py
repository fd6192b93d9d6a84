"""What an answer, or an event of a stream, says where the proxy reads no text, so that a policy that blocks refuses it.

Texts may stand unread only in documented fields and objects: what the request said, citations, thoughts, calls of
tools and their results, errors, and names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, cast

from vouching.serve.proxy_messages import members, object_of, objects
from vouching.serve.proxy_said import MOST_CHOICES, places
from vouching.types.visible import shorten

_EVENT = re.compile(r"(response\.|message_|content_block_).*|error|ping")
"""The types of the events of responses and of messages."""
_UNSEEN = re.compile(
    r"(redacted_)?thinking(_delta)?|signature_delta|reasoning(_text)?|summary(_text)?|compaction(_delta)?"
    r"|(\w+_)?(tool_use|tool_result|call|call_output)|input_json_delta|tool_search_output|additional_tools"
    r"|mcp_(list_tools|approval_request|approval_response)|program(_output)?"
)
"""The types of parts, items and blocks that are no answer: thoughts, and calls of tools with their results."""
_UNSEEN_EVENT = re.compile(
    r"error|response\.(reasoning(_summary)?(_text|_part)?|mcp_list_tools|compaction"
    r"|\w+_call(_arguments|_input|_code|_command|_output_content|_operation_diff)?)\.\w+"
)
"""The types of events that are no answer."""
_TYPED = {"output", "item", "content", "part", "content_block", "delta", "summary"}
"""Fields whose objects have a type."""
_SILENT = {"tool_calls", "function_call", "reasoning", "reasoning_content", "reasoning_details"}
"""Fields of a delta or message, besides its text, that are no answer."""
_AROUND = {
    "id",
    "object",
    "created",
    "model",
    "choices",
    "usage",
    "system_fingerprint",
    "service_tier",
    "error",
    "obfuscation",
    "prompt_filter_results",
    "provider",
}
"""Fields of a chunk."""
_LISTS = ("choices", "output", "content")
"""Fields of an answer that have its texts."""
_IN_CHOICE = {"message", "text", "logprobs"}
_IN_ITEM = {*_SILENT, "content"}
_IN_MESSAGE = {*_IN_ITEM, "refusal"}
_IN_PART = {"text", "refusal"}
_UNREAD_TYPES: dict[str, tuple[type, ...]] = {
    "text": (dict, list),
    "refusal": (dict, list),
    "content": (dict,),
    "message": (list,),
}
"""Types of values in which these fields are not read."""
_CITED = {"annotations", "annotation", "citations", "citation", "logprobs"}
"""Fields whose lists and objects quote sources, or say how likely the words of a text were."""
_NAMES = set(
    "id item_id event_id call_id file_id object type role status phase finish_reason native_finish_reason stop_reason"
    " stop_sequence matched_stop service_tier system_fingerprint obfuscation severity category speed inference_geo"
    " created created_at completed_at expires_at skill_id version".split()
)
"""Documented fields whose value is a name: one word."""
_ECHOED = set(
    "error instructions input metadata tools tool_choice prompt reasoning user safety_identifier conversation"
    " prompt_cache_key prompt_cache_retention prompt_cache_options prompt_cache_diagnostics previous_response_id"
    " truncation incomplete_details moderation billing tool_usage context_management access_programs"
    " parallel_tool_calls".split()
)
"""Fields of an answer as a whole that say what was asked, or why there is no answer."""


def strange_chunk(data: dict[str, Any]) -> str:
    """What an event of a chat completion has that cannot be checked; empty if nothing."""
    if not data:
        return "an event that is not a JSON object"
    if unknown := sorted(data.keys() - _AROUND):
        return f"an event with the field {unknown[0]!r}"
    if unread := _unread({name: value for name, value in data.items() if name not in ("choices", "error")}):
        return f"an event with {unread}"
    for choice in objects(data.get("choices")):
        delta = object_of(choice.get("delta"))
        if unread := _unread({"role": delta.get("role")}):
            return f"a delta with {unread}"
        for name, value in delta.items():
            if name not in (*_SILENT, "role") and value and not (name == "content" and isinstance(value, str | list)):
                return f"a delta with the field {name!r}"
        for part in members(delta.get("content")) if isinstance(delta.get("content"), list) else ():
            if object_of(part).get("type") not in ("text", "thinking", "reasoning"):
                return "a part of a text that is not of the type text"
        if unread := _unread({name: value for name, value in choice.items() if name != "delta"}):
            return f"a choice with {unread}"
    return ""


def strange_event(data: dict[str, Any]) -> str:
    """What an event of a response or a message has that cannot be checked; empty if nothing."""
    kind = str(data.get("type", ""))
    if not _EVENT.fullmatch(kind):
        return "an event that is not one of a response"
    if _UNSEEN_EVENT.fullmatch(kind):
        return ""
    unread = _unread(data, read={(id(part), name) for _, part, name in places(data)})
    return f"an event with {unread}" if unread else ""


def strange_answer(body: Mapping[str, Any]) -> str:
    """What a whole answer says where it is not checked, such as the words of an audio; empty if nothing."""
    if not any(isinstance(body.get(name), list) for name in _LISTS):
        return "has no list of choices, output or content"
    choices = objects(body.get("choices"))
    if len(choices) > MOST_CHOICES:
        return f"has more than {MOST_CHOICES} choices"
    messages = [object_of(choice.get("message")) for choice in choices]
    if any(message.get("type") == "reasoning" for message in messages):
        return "has a choice whose message is of the type reasoning"
    items = [one for one in objects(body.get("output")) if not _UNSEEN.fullmatch(str(one.get("type")))]
    holders = [(choice, _IN_CHOICE) for choice in choices]
    holders += [(one, _IN_MESSAGE) for one in messages]
    holders += [(one, _IN_ITEM) for one in items]
    for holder in (*messages, *items, body):
        parts = [object_of(one) or {"content": one} for one in members(holder.get("content"))]
        known = {"text"} if holder is body else _IN_PART
        holders += [(part, known) for part in parts if not _UNSEEN.fullmatch(str(part.get("type")))]
    around = {name: value for name, value in body.items() if name != "output_text" or not isinstance(value, str)}
    around |= {
        name: [one for one in members(body[name]) if not isinstance(one, dict)]
        for name in _LISTS
        if isinstance(body.get(name), list)
    }
    rests = [_unread(around, "response")]
    for where, known in holders:
        beside: dict[str, Any] = {
            name: value
            for name, value in where.items()
            if name not in known or isinstance(value, _UNREAD_TYPES.get(name, ()))
        }
        rests.append(_unread(beside, "choices"))
    unread = next(filter(None, rests), "")
    return f"has {unread}, which is not checked" if unread else ""


def _unread(where: Mapping[str, Any], holder: str = "", read: Collection[tuple[int, str]] = ()) -> str:
    """A field with a text, which a client may show, that is neither documented nor read; empty if there is none.

    Args:
        where: an object.
        holder: the field that has it.
        read: the fields that are read, each with the id of its object.

    >>> _unread({"id": "r1", "usage": {"tokens": 7}}), _unread({"audio": {"id": "a1", "transcript": "1937."}})
    ('', "a text in the field 'transcript'")
    """
    left: list[tuple[str, Any]] = [(holder, where)]
    while left:  # an answer may be nested more deeply than functions may be
        name, value = left.pop()
        if isinstance(value, str) and _is_text(name, value):
            return f"a text in the field {shorten(name, 100)!r}"
        if isinstance(value, dict) and any(len(key.split()) > 1 for key in cast("dict[str, Any]", value)):
            return f"a text as the name of a field in {shorten(name, 100)!r}"
        left += [(name, one) for one in members(value)]
        fields = object_of(value)
        if not (name in _TYPED and _UNSEEN.fullmatch(str(fields.get("type")))):
            left += [
                (key, one)
                for key, one in fields.items()
                if (id(cast("object", value)), key) not in read and not _is_documented(name, key, one)
            ]
    return ""


def _is_text(name: str, value: str) -> bool:
    """Whether a client may show a value as a text: any word, in the field of a name several ones or another script."""
    if name in ("model", "provider"):  # some have blanks
        return False
    return bool(value.strip()) and (name not in _NAMES or len(value.split()) > 1 or not value.isascii())


def _is_documented(holder: str, name: str, value: Any) -> bool:
    """Whether a field may have texts that are no answer."""
    if name in _CITED or (holder, name) == ("response", "text"):
        return not isinstance(value, str)
    return holder == "response" and name in _ECHOED
