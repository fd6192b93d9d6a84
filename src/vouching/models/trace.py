"""A span for each call, by OpenTelemetry's conventions for generative AI (gen-ai spans, semantic conventions 1.37).

Without the package ``opentelemetry-api`` a call is passed on as it is; without an SDK the spans go nowhere. Left out:
the texts of messages and completions, which may be private.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.wrappers import Wrapper
from vouching.types import total_usage


class Traced(Wrapper):
    """Wraps each call in a span of kind client.

    Args:
        model: the model inside.
        provider: ``gen_ai.provider.name``: who runs the model, or whose interface it has.

    >>> import asyncio
    >>> from vouching.models.scripted import ScriptedModel
    >>> model = Traced(ScriptedModel(["Yes."]), "scripted")
    >>> asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))[0].text
    'Yes.'
    """

    def __init__(self, model: Model, provider: str) -> None:
        super().__init__(model)
        self._provider = provider
        # The bare package may come from other parts of OpenTelemetry, without an API.
        there = find_spec("opentelemetry") and find_spec("opentelemetry.trace")
        self._trace: Any = import_module("opentelemetry.trace") if there else None

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """What the model inside says."""
        if self._trace is None:
            return await self.model.generate(messages, sampling)
        model = self.name.rpartition("#")[2]
        kind, attributes = self._trace.SpanKind.CLIENT, request_attributes(model, self._provider, sampling)
        tracer = self._trace.get_tracer("vouching")
        # The span records an error by itself; its type is what the conventions add.
        with tracer.start_as_current_span(f"chat {model}", kind=kind, attributes=attributes) as span:
            try:
                completions = await self.model.generate(messages, sampling)
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                raise
            span.set_attributes(response_attributes(completions))
            return completions


def request_attributes(model: str, provider: str, sampling: Sampling) -> dict[str, Any]:
    """What a span says about the question.

    >>> request_attributes("m", "openai", Sampling())["gen_ai.output.type"]
    'text'
    """
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.request.max_tokens": sampling.max_tokens,
        "gen_ai.request.temperature": sampling.temperature,
        "gen_ai.request.top_p": sampling.top_p,
        "gen_ai.output.type": "text" if sampling.json_schema is None else "json",
    }
    if sampling.n > 1:
        attributes["gen_ai.request.choice.count"] = sampling.n
    if sampling.seed is not None:
        attributes["gen_ai.request.seed"] = sampling.seed
    if sampling.stop:
        attributes["gen_ai.request.stop_sequences"] = list(sampling.stop)
    return attributes


def response_attributes(completions: Sequence[Completion]) -> dict[str, Any]:
    """What a span says about the answer.

    >>> from vouching.types import Usage
    >>> response_attributes([Completion("Yes.", "stop", Usage(prompt_tokens=3, completion_tokens=2, calls=1))])
    {'gen_ai.response.finish_reasons': ['stop'], 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.output_tokens': 2}
    """
    usage = total_usage(completions)
    return {
        "gen_ai.response.finish_reasons": [completion.finish_reason for completion in completions],
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
    }
