"""Messages as token ids, for models in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vouching.errors import ConfigError, ModelRefusedError
from vouching.models.base import NO_SYSTEM_ROLE, Message, system_in_user
from vouching.models.tools import Tool

TEMPLATE_FIELDS = "chat_template_kwargs"
"""The one field of ``Sampling.extra`` that models in this process support, with the same meaning as on a server."""


def prompt_tokens(
    tokenizer: Any, messages: Sequence[Message], extra: Mapping[str, Any], tools: Sequence[Tool] = ()
) -> tuple[int, ...]:
    """Token ids of a conversation up to the assistant's turn, by the tokenizer's chat template.

    Without a template the texts are joined by blank lines. A template without a system role gets the system message at
    the beginning of the first user's.

    Raises:
        ConfigError: ``extra`` has other fields than ``chat_template_kwargs``, or the template refuses the messages.
        ModelRefusedError: there are tools, and the chat template has no place for them.
    """
    if unknown := sorted(extra.keys() - {TEMPLATE_FIELDS}):
        raise ConfigError(
            f"extra contains {', '.join(unknown)}, but a model in this process supports only {TEMPLATE_FIELDS}"
        )
    described = [tool.json for tool in tools] or None
    if described and not (tokenizer.chat_template and "tools" in tokenizer.get_chat_template(tools=described)):
        raise ModelRefusedError(f"{tokenizer.name_or_path} has no chat template that supports tools")
    if not tokenizer.chat_template:
        return tuple(tokenizer("\n\n".join(message.content for message in messages))["input_ids"])
    from jinja2 import TemplateError

    fields = {"tools": described, "add_generation_prompt": True, "return_dict": True, **extra.get(TEMPLATE_FIELDS, {})}
    turns = [_turn(message) for message in messages]
    try:
        try:
            encoded = tokenizer.apply_chat_template(turns, **fields)
        except TemplateError as error:
            if not NO_SYSTEM_ROLE.search(str(error)) or all(turn["role"] != "system" for turn in turns):
                raise
            encoded = tokenizer.apply_chat_template(system_in_user(turns), **fields)
    except TemplateError as error:
        raise ConfigError(f"the chat template of {tokenizer.name_or_path} rejects these messages: {error}") from error
    return tuple(encoded["input_ids"])


def _turn(message: Message) -> dict[str, Any]:
    """A message as templates expect it: the arguments of a tool call are an object if they can be parsed."""
    turn = message.json
    for call, written in zip(message.tool_calls, turn.get("tool_calls", ()), strict=True):
        arguments = call.read_arguments()
        written["function"]["arguments"] = call.arguments if arguments is None else arguments
    return turn
