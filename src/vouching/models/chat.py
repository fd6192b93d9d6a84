"""Messages as the token ids that a model in this process reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from vouching.errors import ConfigError
from vouching.models.base import Message

TEMPLATE_FIELDS = "chat_template_kwargs"
"""The one field of ``Sampling.extra`` that means something without a server, and the same as on one."""


def prompt_tokens(tokenizer: Any, messages: Sequence[Message], extra: Mapping[str, Any]) -> tuple[int, ...]:
    """Token ids of a conversation, up to where the assistant begins to speak.

    By the tokenizer's chat template; without one the texts are read as they are, a blank line between.

    Args:
        tokenizer: of transformers.
        messages: the conversation.
        extra: of the sampling; ``chat_template_kwargs`` are passed to the template.

    Raises:
        ConfigError: ``extra`` holds anything else, or the template refuses the messages.
    """
    if unknown := sorted(extra.keys() - {TEMPLATE_FIELDS}):
        raise ConfigError(
            f"extra has {unknown}, which only servers know: a model in this process takes {TEMPLATE_FIELDS}"
        )
    if not tokenizer.chat_template:
        return tuple(tokenizer("\n\n".join(message.content for message in messages))["input_ids"])
    from jinja2 import TemplateError

    try:
        encoded = tokenizer.apply_chat_template(
            [asdict(message) for message in messages],
            add_generation_prompt=True,
            return_dict=True,
            **extra.get(TEMPLATE_FIELDS, {}),
        )
    except TemplateError as error:
        raise ConfigError(f"the chat template of {tokenizer.name_or_path} refuses these messages: {error}") from error
    return tuple(encoded["input_ids"])
