"""Where gateways and test runners ask the guard: LiteLLM's Generic Guardrail API and promptfoo's assertion "webhook".

LiteLLM (1.110) sends the messages of a request before the call, and after it the texts of the answer without them; both
have the id of the call. So the documents of a request are kept until its answer comes: the guardrail must run before
the call (``pre_call`` or ``during_call``) and after it (``post_call``). Documents for every call may be parameters of
the guardrail. Not supported: several proxies behind one guardrail, since each keeps the documents that it got.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vouching.errors import InputError
from vouching.inputs import as_sources, row_sources
from vouching.serve.policy import LimitSettings
from vouching.serve.proxy_guard import Guard, worst
from vouching.serve.proxy_messages import Asked, members, object_of, parsed_object, read_request
from vouching.serve.proxy_refusals import RefusedError, read_body, refuse_foreign

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LITELLM = "/beta/litellm_basic_guardrail_api"
"""The path that LiteLLM asks."""
PROMPTFOO = "/promptfoo"


class KeptRequests:
    """What calls asked, until their answers come; the oldest are dropped first.

    >>> kept = KeptRequests(characters=20)
    >>> for call in ("a", "b"):
    ...     kept.keep(call, Asked(None, as_sources("It opened in 1973.")))
    >>> kept.of("a").sources, kept.of("b").sources[0].text
    ((), 'It opened in 1973.')
    """

    def __init__(self, characters: int) -> None:
        self._limit, self._taken = characters, 0
        self._calls: OrderedDict[str, tuple[Asked, int]] = OrderedDict()

    def keep(self, call: str, asked: Asked) -> None:
        """Keep what a call asked."""
        self._taken -= self._calls.pop(call, (asked, 0))[1]
        size = len(call) + len(asked.question or "") + sum(len(one.text) for one in asked.sources)
        self._calls[call] = asked, size
        self._taken += size
        while self._taken > self._limit:
            self._taken -= self._calls.popitem(last=False)[1][1]

    def of(self, call: str) -> Asked:
        """What a call asked; nothing if it is not known."""
        return self._calls.get(call, (Asked(None, ()), 0))[0]


class Hooks:
    """The answers at both paths."""

    def __init__(self, guard: Guard, limits: LimitSettings) -> None:
        self._guard, self._limits = guard, limits
        self._calls = KeptRequests(limits.kept_bytes // 4)  # a character may take four bytes

    async def litellm(self, request: Request) -> Response:
        """LiteLLM's Generic Guardrail API: texts in, an action out."""
        from starlette.responses import JSONResponse

        try:
            return JSONResponse(await self._litellm(await self._read(request)))
        except InputError as error:
            return RefusedError(400, str(error)).answer()
        except RefusedError as refused:
            return refused.answer()

    async def _litellm(self, body: dict[str, Any]) -> dict[str, Any]:
        if body.get("input_type") not in ("request", "response"):
            raise InputError('expected an object with "input_type" request or response')
        call = str(body.get("litellm_call_id") or "")
        messages: dict[str, Any] = {"messages": body.get("structured_messages") or []}
        asked = read_request(messages, self._guard.settings.documents, self._limits)
        if body["input_type"] == "request":
            if call:
                self._calls.keep(call, asked)
            return {"action": "NONE"}
        asked = asked if asked.sources or asked.refused else self._calls.of(call)
        given = row_sources(object_of(body.get("additional_provider_specific_params")), needed=False)
        sources = [*(as_sources(given) if given else ()), *asked.sources]
        asked = replace(asked, sources=as_sources(sources) if sources else ())
        texts = [text for text in members(body.get("texts")) if isinstance(text, str)]
        decisions = [await self._guard.decide(text, asked) for text in texts]
        if any(decision.blocked for decision in decisions):
            reasons = [str(decision.report or decision.message) for decision in decisions if decision.blocked]
            return {"action": "BLOCKED", "blocked_reason": "\n".join(reasons)}
        if any(decision.action == "repaired" for decision in decisions):
            return {"action": "GUARDRAIL_INTERVENED", "texts": [one.text for one in decisions]}
        return {"action": "NONE"}

    async def promptfoo(self, request: Request) -> Response:
        """Promptfoo's webhook: the output and the variables in, pass, score and reason out."""
        from starlette.responses import JSONResponse

        try:
            body = await self._read(request)
            variables = object_of(object_of(body.get("context")).get("vars"))
            asked = Asked(_question(variables), as_sources(row_sources(variables)))
        except (InputError, RefusedError) as error:
            return JSONResponse({"pass": False, "score": 0, "reason": f"not checked: {error}"})
        output = body.get("output", "")
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        decision = await self._guard.decide(text, asked)
        passed = decision.outcome == "passed"
        reason = f"{worst([decision])}: {decision.report if decision.report is not None else decision.message}"
        # The webhook has no "not scored": an output that could not be judged does not pass, and the reason says so.
        return JSONResponse({"pass": passed, "score": float(passed), "reason": reason})

    async def _read(self, request: Request) -> dict[str, Any]:
        """The JSON object of a request. Raises RefusedError for another body, or a page of another origin."""
        refuse_foreign(request, self._guard.settings)
        body = parsed_object(await read_body(request, self._limits))
        if body is None:
            raise RefusedError(400, "the body of the request is not a JSON object")
        return body


def _question(variables: dict[str, Any]) -> str | None:
    """The question of a test. Raises InputError for one that is not a text."""
    question = variables.get("question", variables.get("query"))
    if question is not None and not isinstance(question, str):
        raise InputError(f"the variable question must be a string, got {json.dumps(question)[:100]}")
    return question
