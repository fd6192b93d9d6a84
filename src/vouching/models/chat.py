"""Messages as the token ids that a model in this process reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vouching.errors import ConfigError, ModelRefusedError
from vouching.models.base import Message
from vouching.models.tools import Tool

TEMPLATE_FIELDS = "chat_template_kwargs"
"""The one field of ``Sampling.extra`` that means something without a server, and the same as on one."""


def prompt_tokens(
    tokenizer: Any, messages: Sequence[Message], extra: Mapping[str, Any], tools: Sequence[Tool] = ()
) -> tuple[int, ...]:
    """Token ids of a conversation, up to where the assistant begins to speak.

    By the tokenizer's chat template; without one the texts are read as they are, a blank line between.

    Args:
        tokenizer: of transformers.
        messages: the conversation.
        extra: of the sampling; ``chat_template_kwargs`` are passed to the template.
        tools: of the sampling.

    Raises:
        ConfigError: ``extra`` holds anything else, or the template refuses the messages.
        ModelRefusedError: there are tools, and no chat template that has a place for them.
    """
    if unknown := sorted(extra.keys() - {TEMPLATE_FIELDS}):
        raise ConfigError(
            f"extra has {unknown}, which only servers know: a model in this process takes {TEMPLATE_FIELDS}"
        )
    described = [tool.json for tool in tools] or None
    if described and not (tokenizer.chat_template and "tools" in tokenizer.get_chat_template(tools=described)):
        raise ModelRefusedError(f"{tokenizer.name_or_path} has no chat template with a place for tools")
    if not tokenizer.chat_template:
        return tuple(tokenizer("\n\n".join(message.content for message in messages))["input_ids"])
    from jinja2 import TemplateError

    try:
        encoded = tokenizer.apply_chat_template(
            [_turn(message) for message in messages],
            tools=described,
            add_generation_prompt=True,
            return_dict=True,
            **extra.get(TEMPLATE_FIELDS, {}),
        )
    except TemplateError as error:
        raise ConfigError(f"the chat template of {tokenizer.name_or_path} refuses these messages: {error}") from error
    return tuple(encoded["input_ids"])


def _turn(message: Message) -> dict[str, Any]:
    """A message as templates read it: the arguments of a call are an object, where they are one."""
    turn = message.json
    for call, told in zip(message.tool_calls, turn.get("tool_calls", ()), strict=True):
        arguments = call.read_arguments()
        told["function"]["arguments"] = call.arguments if arguments is None else arguments
    return turn
