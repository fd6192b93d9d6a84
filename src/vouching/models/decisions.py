"""Decision models on servers: typed questions about a text, answered by probabilities instead of text.

A decision model is a model like any other, so that cache, retries, limits and recordings are those of every model: the
last message is the request as JSON, with ``state`` and ``questions``, and the completion is the reply as JSON, with
``answers``, both in the form of System One (see ``decision_shapes``). Not supported: images, weights in this process.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from vouching.errors import ConfigError, ModelContextError, ModelRefusedError
from vouching.models.base import Completion, Message, Sampling
from vouching.models.connections import KEY
from vouching.models.decision_shapes import FORM, SHAPE_NAMES, SHAPES, Json, ShapeName
from vouching.models.json_fields import json_object
from vouching.models.limits import ServerFacts, TimeLimits, usage_of
from vouching.models.posting import ModelServer
from vouching.text.json_values import parse_json
from vouching.types.visible import hint

DECISION = "decision:"
Ask: TypeAlias = Literal["predicate", "relation"]
"""Whether a question is yes or no, or a choice of supported, contradicted and not found."""
_ROUTE = re.compile(r"/(systemone|decisions)$")
_AS_IT_IS = re.compile(rf"{_ROUTE.pattern}|/ai/run/")
_VERSION = re.compile(r"/v\d\w*$")
_NO_ROUTE = {404, 405}
_OTHER_FORM = {400, 422} | _NO_ROUTE
"""Statuses by which a server may not know the form of a request, but another one."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A known server of decision models."""

    address: str
    shape: ShapeName
    key: str = KEY
    """The variable of the environment that has its key."""
    most: int = 64
    """Questions of one request."""
    key_header: str = ""
    """Its header for the key, if it is not a bearer token."""


PROVIDERS = {
    "typesafe": Provider("https://api.typesafe.ai", "systemone", "TYPESAFE_API_KEY"),
    "openai": Provider("https://api.openai.com/v1", "openai", "OPENAI_API_KEY", 400),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com/v1beta", "gemini", "GEMINI_API_KEY", 1000, "x-goog-api-key"
    ),
    "openrouter": Provider("https://openrouter.ai/api/v1", "systemone", "OPENROUTER_API_KEY"),
    "perplexity": Provider("https://api.perplexity.ai/v1/decisions", "systemone", "PERPLEXITY_API_KEY", 128),
    "ollama": Provider("http://localhost:11434", "systemone"),
}
"""By the name that may stand for the address."""


@dataclass(frozen=True, slots=True)
class DecisionName:
    """The parts of a decision model's name.

    >>> found = DecisionName.parse("decision:http://localhost:8000#kev;shape=openai;ask=relation")
    >>> found.model, found.shapes, found.ask
    ('kev', ('openai',), 'relation')
    >>> DecisionName.parse("decision:typesafe#jev-1.13.0").provider.address
    'https://api.typesafe.ai'
    """

    provider: Provider
    model: str
    """Its name on the server."""
    shapes: tuple[ShapeName, ...]
    """The forms to try, until one is accepted."""
    ask: Ask

    @classmethod
    def parse(cls, name: str) -> DecisionName:
        """The parts of a name. Raises ConfigError for one that is not in the form of ``FORM``."""
        place, _, rest = name.removeprefix(DECISION).partition("#")
        model, *settings = rest.split(";")
        named = {key: value for key, _, value in (setting.partition("=") for setting in settings)}
        if not place or not model or (place not in PROVIDERS and "://" not in place):
            near = hint([f"{DECISION}http://{place}#{model or 'MODEL'}"] if ":" in place else [])
            raise ConfigError(
                f"{name!r} names no decision model: expected {FORM}, with the address of a server or one of "
                f"{', '.join(PROVIDERS)}{near}"
            )
        allowed = {"shape": ("auto", *SHAPE_NAMES), "ask": get_args(Ask)}
        for key, value in named.items():
            if value not in allowed.get(key, ()):
                forms = " or ".join(f"{key}={'|'.join(values)}" for key, values in allowed.items())
                raise ConfigError(f"{name!r} has the setting {f'{key}={value}'!r}: expected {forms}")
        provider = PROVIDERS.get(place) or Provider(place, "systemone")
        shape = named.get("shape", provider.shape if place in PROVIDERS else "auto")
        either: tuple[ShapeName, ...] = ("openai", "systemone") if place.endswith("decisions") else SHAPE_NAMES[:2]
        shapes = either if shape == "auto" else (cast("ShapeName", shape),)
        return cls(provider, model, shapes, cast("Ask", named.get("ask", "predicate")))


class DecisionModel:
    """A decision model on a server.

    Args:
        name: as ``FORM``; the setting ``ask`` is not the model's.
        api_key: sent; None takes that of the provider's own variable of the environment.
        time: limits for each phase of a request.

    Raises:
        ConfigError: a malformed name, address or key, or no key for a provider that requires one.

    >>> DecisionModel("decision:http://localhost:8000/v1#kev", None, TimeLimits()).name
    'decision:http://localhost:8000/v1#kev'
    """

    def __init__(self, name: str, api_key: str | None, time: TimeLimits) -> None:
        parts = DecisionName.parse(name)
        self.name = name
        self._model, self._shapes, self._hosted = parts.model, parts.shapes, parts.provider.key != KEY
        provider = parts.provider
        key = api_key or os.environ.get(provider.key)
        if self._hosted and not key:
            raise ConfigError(f"{name} requires a key, and none is set: set {provider.key}")
        self._server = ModelServer(provider.address, key, time, provider.key_header, provider.key)

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The reply to the request in the last message.

        Raises:
            ModelError, ConfigError: see ``connections``.
        """
        asked = cast("Json", parse_json(messages[-1].content))
        refused: ModelRefusedError | ConfigError | None = None
        for shape in self._shapes:
            body = {**SHAPES[shape].ask(self._model, asked), **sampling.extra}
            body = {key: value for key, value in body.items() if value is not None}
            try:
                found, seconds = await self._server.post(self._url(SHAPES[shape].path), body, self.name, strict=True)
            except ModelContextError:
                raise
            except (ModelRefusedError, ConfigError) as error:
                # A route that exists says more than one that does not.
                if refused is None or (refused.status in _NO_ROUTE and error.status not in _NO_ROUTE):
                    refused = error
                if error.status not in _OTHER_FORM:
                    break
            else:
                return [self._completion(found, asked, shape, seconds)]
        assert refused
        raise refused

    async def facts(self) -> ServerFacts:
        """What the server says about itself; providers by name do not say it, and are not asked."""
        if self._hosted:
            return ServerFacts()
        return await self._server.facts(_ROUTE.sub("", self._url("decisions")), self._model)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()

    def _url(self, path: str) -> str:
        address = self._server.address
        if _AS_IT_IS.search(address):
            return address
        return f"{address}/{path}" if _VERSION.search(address) else f"{address}/v1/{path}"

    def _completion(self, found: Json, asked: Json, shape: ShapeName, seconds: float) -> Completion:
        try:
            reply = SHAPES[shape].read(found, asked)
            text = json.dumps(reply)
        except ValueError as error:  # unusable, but it was paid for
            reply = {"error": str(error), "usage": found.get("usage")}
            text = json.dumps({"error": str(error)})
        if json_object(reply.get("answers")).keys() & asked["questions"].keys():
            self._shapes = (shape,)
        return Completion(text, "stop", usage_of(reply.get("usage"), seconds, ("input", "output")))
