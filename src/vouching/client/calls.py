"""``Client`` and ``AsyncClient``: one method per route of ``vouch serve``.

The records are those of the library and so are the errors, by class and message; what only a server can answer is an
AccessError (the key) or a ServerUnavailableError (busy or out of reach, with the time after which to try again).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

import httpx2

from vouching.client import requests
from vouching.client.requests import Call, GivenSources, KeptSource
from vouching.errors import ConfigError, ServerUnavailableError
from vouching.inputs import ClaimLike, SourceLike, as_sources
from vouching.judging.verifier import Outcome
from vouching.repair import Rest
from vouching.types import Assurance, ContextReport, Ranking, Report, Unverified

T = TypeVar("T")


def _headers(url: str, key: str | None) -> dict[str, str]:
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"expected the address of a server, such as http://127.0.0.1:8400, got {url!r}")
    return {"authorization": f"Bearer {key}"} if key else {}


def _unreachable(url: str, error: Exception) -> ServerUnavailableError:
    cause = str(error) or type(error).__name__
    return ServerUnavailableError(f"the server at {url} does not answer ({cause}): check that vouch serve is running")


class Client:
    """A server of ``vouch serve``, asked synchronously; close it, or use it in a ``with`` statement.

    Args:
        url: address of the server.
        key: API key; None for a server without keys.
        timeout: seconds to wait for an answer.
        judge: which of the server's judges to ask.

    Raises:
        ConfigError: not an address.

    >>> with Client("http://127.0.0.1:9", timeout=1) as client:
    ...     client.check("It opened in 1973.", "The bridge opened in 1973.")
    Traceback (most recent call last):
        ...
    vouching.errors.ServerUnavailableError: the server at http://127.0.0.1:9 does not answer (...): check that vouch \
serve is running
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 60.0, judge: str | None = None) -> None:
        self.url = url.rstrip("/")
        self.judge = judge
        self._http = httpx2.Client(base_url=self.url, headers=_headers(url, key), timeout=timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def check(
        self,
        claim: ClaimLike | Sequence[ClaimLike],
        sources: GivenSources | None = None,
        question: str | None = None,
    ) -> Any:
        """As :meth:`vouching.Checker.check`: an outcome, or a list of them for a list of claims."""
        return self._send(requests.check_call(claim, sources, self._more(question=question)))

    def check_response(
        self,
        response: str,
        sources: GivenSources | None = None,
        question: str | None = None,
        repair_rest: Rest | None = None,
    ) -> Report:
        """As :func:`vouching.check_response`."""
        return self._send(requests.response_call(response, sources, repair_rest, self._more(question=question)))

    def check_trace(self, messages: object, repair_rest: Rest | None = None) -> list[Report]:
        """As :func:`vouching.check_trace`."""
        return self._send(requests.trace_call(messages, repair_rest, self._more()))

    def stream_response(
        self, response: str, sources: GivenSources | None = None, question: str | None = None
    ) -> Iterator[Outcome | Report]:
        """The findings of :meth:`check_response` as they become known, and the report at the end."""
        call = requests.response_call(response, sources, None, self._more(question=question))
        try:
            with self._http.stream("POST", call.path, json=call.body, headers=_EVENTS) as answer:
                if answer.status_code >= 300:
                    requests.check_answer(answer.status_code, answer.read(), answer.headers.get("retry-after"))
                yield from requests.read_events(answer.iter_lines(), call.read)
        except httpx2.RequestError as error:
            raise _unreachable(self.url, error) from error

    def audit(self, response: str, sources: GivenSources, question: str | None = None) -> Report:
        """The numbers of a response, asked for again blind, as ``vouch audit`` does."""
        return self._send(requests.audit_call(response, sources, self._more(question=question)))

    def follow(
        self,
        instruction: str,
        response: str,
        checklist: Sequence[Any] | None = None,
        *,
        method: Literal["rules", "checklist", "holistic"] | None = None,
        sources: GivenSources = (),
    ) -> Report:
        """How a response follows its instruction, as ``vouch follow`` does."""
        return self._send(requests.follow_call(instruction, response, checklist, sources, self._more(method=method)))

    def rank(self, question: str, answers: Sequence[str], sources: GivenSources) -> Ranking:
        """As :func:`vouching.rank`."""
        return self._send(requests.rank_call(question, answers, sources, self._more()))

    def check_context(
        self, question: str, sources: GivenSources, answer: str | None = None
    ) -> ContextReport | Unverified:
        """As :func:`vouching.check_context`."""
        return self._send(requests.context_call(question, sources, answer, self._more()))

    def challenge(self, task: Mapping[str, Any], proposal: Mapping[str, Any]) -> Assurance:
        """The cases against the values proposed for a task, as ``vouch challenge`` makes them."""
        return self._send(requests.challenge_call(task, proposal, self._more()))

    def reward(self, method: str, rows: Sequence[Mapping[str, Any]], **settings: Any) -> list[dict[str, Any]]:
        """A line per row, as ``vouch reward METHOD`` writes it."""
        return self._send(requests.reward_call(method, rows, settings))

    def upload(self, source: SourceLike) -> KeptSource:
        """Have the server keep a source; pass the result in ``sources`` instead of the text."""
        return self._send(requests.upload_call(as_sources(source)[0]))

    def _more(self, **more: Any) -> dict[str, Any]:
        return {"judge": self.judge, **more}

    def _send(self, call: Call[T]) -> T:
        try:
            answer = self._http.post(call.path, json=call.body)
        except httpx2.RequestError as error:
            raise _unreachable(self.url, error) from error
        return requests.read_answer(call, answer.status_code, answer.content, answer.headers.get("retry-after"))


_EVENTS = {"accept": "text/event-stream"}


class AsyncClient:
    """The same, for asynchronous programs; close it, or use it in an ``async with`` statement.

    Args and errors are those of :class:`Client`.

    >>> import asyncio
    >>> async def verdict():
    ...     async with AsyncClient("http://127.0.0.1:9", timeout=1) as client:
    ...         return await client.check("It opened in 1973.", "The bridge opened in 1973.")
    >>> asyncio.run(verdict())
    Traceback (most recent call last):
        ...
    vouching.errors.ServerUnavailableError: the server at http://127.0.0.1:9 does not answer (...): check that vouch \
serve is running
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 60.0, judge: str | None = None) -> None:
        self.url = url.rstrip("/")
        self.judge = judge
        self._http = httpx2.AsyncClient(base_url=self.url, headers=_headers(url, key), timeout=timeout)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def check(
        self,
        claim: ClaimLike | Sequence[ClaimLike],
        sources: GivenSources | None = None,
        question: str | None = None,
    ) -> Any:
        """As :meth:`Client.check`."""
        return await self._send(requests.check_call(claim, sources, self._more(question=question)))

    async def check_response(
        self,
        response: str,
        sources: GivenSources | None = None,
        question: str | None = None,
        repair_rest: Rest | None = None,
    ) -> Report:
        """As :func:`vouching.check_response`."""
        return await self._send(requests.response_call(response, sources, repair_rest, self._more(question=question)))

    async def check_trace(self, messages: object, repair_rest: Rest | None = None) -> list[Report]:
        """As :meth:`Client.check_trace`."""
        return await self._send(requests.trace_call(messages, repair_rest, self._more()))

    async def check_written(
        self, texts: AsyncIterator[str], sources: GivenSources | None = None, question: str | None = None
    ) -> AsyncIterator[Outcome]:
        """The outcomes of a response that is still being written, sentence by sentence.

        ``texts`` are its parts, as a language model streams them.
        """
        written, checked = "", 0
        async for text in texts:
            written += text
            if any(mark in text for mark in ".!?\n"):
                async for found in self._written(written, checked, False, (sources, question)):
                    if isinstance(found, int):
                        checked = found
                    else:
                        yield found
        async for found in self._written(written, checked, True, (sources, question)):
            if not isinstance(found, int):
                yield found

    async def audit(self, response: str, sources: GivenSources, question: str | None = None) -> Report:
        """As :meth:`Client.audit`."""
        return await self._send(requests.audit_call(response, sources, self._more(question=question)))

    async def follow(
        self,
        instruction: str,
        response: str,
        checklist: Sequence[Any] | None = None,
        *,
        method: Literal["rules", "checklist", "holistic"] | None = None,
        sources: GivenSources = (),
    ) -> Report:
        """As :meth:`Client.follow`."""
        return await self._send(
            requests.follow_call(instruction, response, checklist, sources, self._more(method=method))
        )

    async def rank(self, question: str, answers: Sequence[str], sources: GivenSources) -> Ranking:
        """As :func:`vouching.rank`."""
        return await self._send(requests.rank_call(question, answers, sources, self._more()))

    async def check_context(
        self, question: str, sources: GivenSources, answer: str | None = None
    ) -> ContextReport | Unverified:
        """As :func:`vouching.check_context`."""
        return await self._send(requests.context_call(question, sources, answer, self._more()))

    async def challenge(self, task: Mapping[str, Any], proposal: Mapping[str, Any]) -> Assurance:
        """As :meth:`Client.challenge`."""
        return await self._send(requests.challenge_call(task, proposal, self._more()))

    async def reward(self, method: str, rows: Sequence[Mapping[str, Any]], **settings: Any) -> list[dict[str, Any]]:
        """As :meth:`Client.reward`."""
        return await self._send(requests.reward_call(method, rows, settings))

    async def upload(self, source: SourceLike) -> KeptSource:
        """As :meth:`Client.upload`."""
        return await self._send(requests.upload_call(as_sources(source)[0]))

    async def _written(
        self, written: str, checked: int, final: bool, given: tuple[GivenSources | None, str | None]
    ) -> AsyncIterator[Outcome | int]:
        """The outcomes of one call of /v1/stream, then how many characters are checked."""
        sources, question = given
        call = requests.response_call(written, sources, None, self._more(question=question))
        body = {**call.body, "checked": checked, "final": final}
        try:
            async with self._http.stream("POST", "/v1/stream", json=body) as answer:
                if answer.status_code >= 300:
                    requests.check_answer(answer.status_code, await answer.aread(), answer.headers.get("retry-after"))
                lines = [line async for line in answer.aiter_lines()]
        except httpx2.RequestError as error:
            raise _unreachable(self.url, error) from error
        for found in requests.read_events(lines, requests.read_checked):
            yield found

    def _more(self, **more: Any) -> dict[str, Any]:
        return {"judge": self.judge, **more}

    async def _send(self, call: Call[T]) -> T:
        try:
            answer = await self._http.post(call.path, json=call.body)
        except httpx2.RequestError as error:
            raise _unreachable(self.url, error) from error
        return requests.read_answer(call, answer.status_code, answer.content, answer.headers.get("retry-after"))
