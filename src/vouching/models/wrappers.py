"""Models around a model: limits, deadlines, retries, costs, fields for every request, and tracing spans.

A wrapper has the name of the model inside and closes it. Only ``ModelUnavailableError`` is retried: busy, down, broken.
A call that timed out would take as long again, a wrong key or a refused request would fail again, and an unusable
answer would be paid for twice. Spans follow OpenTelemetry's conventions for generative AI (1.37); without
``opentelemetry-api`` there are none. Not supported: texts of messages and completions in spans, which may be private.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar, cast

from vouching.errors import ConfigError, ModelDeadlineError, ModelError, ModelUnavailableError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.limits import Pace, Price, ServerFacts, facts_of
from vouching.models.running import PerLoop
from vouching.text.json_values import parse_json
from vouching.types import Usage, total_usage


class Wrapper:
    """Passes on everything but ``generate``."""

    def __init__(self, model: Model) -> None:
        self.model = model
        """The model inside."""

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self.model.name

    async def facts(self) -> ServerFacts:
        """What the server of the model inside says about itself."""
        return await facts_of(self.model)

    async def aclose(self) -> None:
        """Close the model inside."""
        await self.model.aclose()


class Limited(Wrapper):
    """Limits concurrent calls to what the server bears, at most ``at_once``, and calls begun in a minute.

    Within one process and one event loop; see ``Pace``. The second call at once waits until the server was asked how
    many it works on, so that none waits in the server. Calls are spread evenly over a minute: at 60, one begins each
    second. Waiting in line does not count against the time limits of the model inside. Inside ``Retrying``, a retry is
    a call of its own.

    >>> from vouching.models.scripted import ScriptedModel
    >>> model = Limited(ScriptedModel(["Yes."]), at_once=8)
    >>> asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))[0].text
    'Yes.'
    """

    def __init__(self, model: Model, at_once: int, per_minute: float | None = None) -> None:
        if at_once < 1:
            raise ConfigError(f"at_once must be at least 1, got {at_once}")
        if per_minute is not None and not per_minute > 0:
            raise ConfigError(f"per_minute must be above 0, got {per_minute}")
        super().__init__(model)
        self._pace = Pace(at_once)
        self._asked = at_once == 1
        self._hung, self._hung_at, self._reason = 0, 0.0, ""
        self._lines = PerLoop(lambda: _Line(self._pace))
        self._between = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The completions of the model inside, once there is a place for the call."""
        line = self._lines.get()
        if line.busy and not self._asked:
            slots = (await self.facts()).slots
            if slots is not None and not self._asked:
                self._pace.known(slots)
            self._asked = True
        await line.enter()
        try:
            if self._between:
                now = time.monotonic()
                begin = max(now, self._next)
                self._next = begin + self._between
                await asyncio.sleep(begin - now)
            return await self._paced(messages, sampling, line)
        finally:
            line.leave()

    async def _paced(self, messages: Sequence[Message], sampling: Sampling, line: _Line) -> list[Completion]:
        begun, full, alone, started = self._pace.begun, line.full, self._pace.limit == 1, time.monotonic()
        if self._hung >= _HUNG and started - self._hung_at < _PAUSE:
            alone_too = f"none of the last {self._hung} calls was answered, each alone: {self._reason}"
            raise ModelUnavailableError(alone_too, retry_after=2 * _PAUSE)
        try:
            completions = await self.model.generate(messages, sampling)
        except ModelError as error:
            if isinstance(error, ModelDeadlineError):
                self._hung, self._hung_at, self._reason = self._hung + alone, time.monotonic(), str(error)
            if isinstance(error, ModelDeadlineError) or getattr(error, "status", None) in _OVERLOADED:
                self._pace.overloaded(begun)
            raise
        self._hung = 0
        self._pace.answered(time.monotonic() - started, begun, full)
        return completions


_OVERLOADED = {429, 503}
_HUNG, _PAUSE = 3, 60.0
"""Calls in a row that were too slow although each was the only one, and the seconds without calls after that."""


class _Line:
    """Calls of one event loop that wait for their place, in order."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._running = 0
        self._waiting = deque[asyncio.Future[None]]()

    @property
    def busy(self) -> bool:
        return self._running > 0

    @property
    def full(self) -> bool:
        return self._running >= self._pace.limit

    async def enter(self) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self.admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        self._running -= 1
        self.admit()

    def admit(self) -> None:
        while self._waiting and not self.full:
            place = self._waiting.popleft()
            if not place.done():  # else it was cancelled
                self._running += 1
                place.set_result(None)


class Deadline(Wrapper):
    """Cancels a call that takes longer than ``seconds``, including its retries.

    >>> from vouching.models.scripted import ScriptedModel
    >>> model = Deadline(ScriptedModel(["Yes."]), seconds=60)
    >>> asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))[0].text
    'Yes.'
    """

    def __init__(self, model: Model, seconds: float) -> None:
        if not seconds > 0:
            raise ConfigError(f"the deadline must be above 0 seconds, got {seconds}")
        super().__init__(model)
        self._seconds = seconds

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The completions of the model inside. Raises ModelDeadlineError if they take too long."""
        scope = asyncio.timeout(self._seconds)
        try:
            async with scope:
                return await self.model.generate(messages, sampling)
        except TimeoutError:
            if not scope.expired():
                raise
            raise ModelDeadlineError(
                f"{self.name} did not answer within {self._seconds:g} seconds, including retries: allow more "
                "(VOUCH_TIMEOUT, --timeout), or request less"
            ) from None


class Metered(Wrapper):
    """Adds up what successful calls cost. Around a cache, cached answers cost nothing.

    >>> import asyncio
    >>> from vouching.models.scripted import ScriptedModel
    >>> model = Metered(ScriptedModel(["Yes, it is."]), Price(prompt=2.0, completion=10.0))
    >>> said = asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))
    >>> model.usage.prompt_tokens, model.usage.completion_tokens, round(model.cost, 9)  # 2 * 2 / 1e6 + 3 * 10 / 1e6
    (2, 3, 3.4e-05)
    """

    def __init__(self, model: Model, price: Price | None = None) -> None:
        super().__init__(model)
        self._price = price
        self.usage = Usage()
        """The sum so far; the seconds of concurrent calls are added too."""

    @property
    def cost(self) -> float | None:
        """The sum so far in the currency of the price; None without a price."""
        if self._price is None:
            return None
        return self._price.of(self.usage.prompt_tokens, self.usage.completion_tokens)

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The completions of the model inside, counted."""
        completions = await self.model.generate(messages, sampling)
        self.usage = total_usage([self, *completions])
        return completions


T = TypeVar("T")


class Retrying(Wrapper):
    """Retries while the model is unavailable, with ``attempts`` calls in all.

    The wait before retry k is drawn from [0, first_wait * 2^(k-1)], at most ``longest_wait`` seconds, so that callers
    that failed together do not return together ("full jitter", Brooker 2015). Retry-After is honoured, plus a tenth of
    such a wait; if it exceeds ``longest_wait``, the error is raised at once. ``seed`` fixes the waits.

    >>> from vouching.models.scripted import ScriptedModel
    >>> script = ScriptedModel([ModelUnavailableError("busy"), "Yes."])
    >>> asyncio.run(Retrying(script, first_wait=0).generate([Message("user", "Is it?")], Sampling()))[0].text
    'Yes.'
    """

    def __init__(
        self,
        model: Model,
        attempts: int = 5,
        *,
        first_wait: float = 0.5,
        longest_wait: float = 60.0,
        seed: int | None = None,
    ) -> None:
        if attempts < 1:
            raise ConfigError(f"attempts must be at least 1, got {attempts}")
        super().__init__(model)
        self._attempts, self._first_wait, self._longest_wait = attempts, first_wait, longest_wait
        self._random = random.Random(seed)
        self._answers = 0

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The completions of the model inside. Raises its last error when the attempts are used up."""
        before: list[int] = []

        async def call() -> list[Completion]:
            try:
                completions = await self.model.generate(messages, sampling)
            except ModelUnavailableError as error:
                before.append(self._answers)
                error.others_answered = before[-1] > before[0]
                raise
            self._answers += 1
            return completions

        return await retried(call, self._attempts, self._first_wait, self._longest_wait, self._random)


async def retried(
    call: Callable[[], Awaitable[T]], attempts: int, first_wait: float, longest_wait: float, source: random.Random
) -> T:
    """The result of a call, retried as by :class:`Retrying`.

    >>> script = iter([ModelUnavailableError("busy"), "Yes."])
    >>> async def call():
    ...     if isinstance(reply := next(script), Exception):
    ...         raise reply
    ...     return reply
    >>> asyncio.run(retried(call, 2, 0.0, 1.0, random.Random(0)))
    'Yes.'
    """
    for retry in range(1, attempts):
        try:
            return await call()
        except ModelUnavailableError as error:
            required = error.retry_after
            if required is not None and required > longest_wait:
                raise
        wait = jitter(retry, first_wait, longest_wait, source)
        await asyncio.sleep(wait if required is None else required + wait / 10)
    return await call()


def jitter(retry: int, first: float, longest: float, source: random.Random) -> float:
    """Seconds to wait before retry 1, 2, ..., drawn from [0, first * 2^(retry - 1)], at most ``longest``.

    >>> 0 <= jitter(3, 0.5, 60.0, random.Random(0)) <= 2.0
    True
    """
    return source.uniform(0, min(longest, first * 2.0 ** min(retry - 1, 100)))


class WithFields(Wrapper):
    """Adds fields to the body of every request; None removes a field.

    >>> import asyncio
    >>> from vouching.models.scripted import ScriptedModel
    >>> inside = ScriptedModel(["Yes."])
    >>> model = WithFields(inside, {"reasoning_effort": "low"})
    >>> said = asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))
    >>> inside.asked[0].sampling.extra
    {'reasoning_effort': 'low'}
    """

    def __init__(self, model: Model, fields: Mapping[str, Any]) -> None:
        super().__init__(model)
        self._fields = dict(fields)

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The completions of the model inside for a request with the fields."""
        return await self.model.generate(messages, replace(sampling, extra=self._fields | dict(sampling.extra)))


def read_fields(text: str) -> dict[str, Any]:
    """The fields of ``VOUCH_EXTRA``. Raises ConfigError if it is neither empty nor a JSON object.

    >>> read_fields('{"reasoning_effort": "low"}')
    {'reasoning_effort': 'low'}
    """
    try:
        fields: Any = parse_json(text) if text.strip() else {}
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise ConfigError(f'VOUCH_EXTRA must be a JSON object such as {{"reasoning_effort": "low"}}, got {text[:80]!r}')
    return cast(dict[str, Any], fields)


class Traced(Wrapper):
    """Wraps each call in a span of kind client, with ``provider`` as its ``gen_ai.provider.name``.

    >>> import asyncio
    >>> from vouching.models.scripted import ScriptedModel
    >>> model = Traced(ScriptedModel(["Yes."]), "scripted")
    >>> asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))[0].text
    'Yes.'
    """

    def __init__(self, model: Model, provider: str) -> None:
        super().__init__(model)
        self._provider = provider
        # Other parts of OpenTelemetry install the bare package without the API.
        there = find_spec("opentelemetry") and find_spec("opentelemetry.trace")
        self._trace: Any = import_module("opentelemetry.trace") if there else None

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The completions of the model inside."""
        if self._trace is None:
            return await self.model.generate(messages, sampling)
        model = self.name.rpartition("#")[2]
        kind, attributes = self._trace.SpanKind.CLIENT, request_attributes(model, self._provider, sampling)
        tracer = self._trace.get_tracer("vouching")
        # The span records errors itself; the conventions add their type.
        with tracer.start_as_current_span(f"chat {model}", kind=kind, attributes=attributes) as span:
            try:
                completions = await self.model.generate(messages, sampling)
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                raise
            span.set_attributes(response_attributes(completions))
            return completions


def request_attributes(model: str, provider: str, sampling: Sampling) -> dict[str, Any]:
    """Attributes of a request.

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
    """Attributes of a response.

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
