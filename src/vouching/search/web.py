"""Web search engines over HTTP, with rate limits and retries, and the package ``ddgs``.

Failures are classified and retried as those of language models. A key is sent to the engine's address only: redirects
are errors.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, Literal, TypeVar

from vouching.errors import ConfigError, ModelError, SearchError, needed
from vouching.models.connections import checked_address, proxy_of
from vouching.models.running import OpenPerLoop, PerLoop
from vouching.models.transport import Connections
from vouching.models.wrappers import retried
from vouching.search.web_apis import Body, Hit, Request, WebApi, hit, plain_query
from vouching.types import Passage, Span
from vouching.version import __version__

USER_AGENT = f"vouching/{__version__} (https://pypi.org/project/vouching/)"
"""Identifies Vouch to engines and sites."""
TIMEOUT = 30.0
"""Seconds without data after which a request is aborted."""
ATTEMPTS, FIRST_WAIT, MAX_WAIT = 3, 0.5, 20.0
Found = TypeVar("Found")
_DDGS_CHARACTERS = 400
_NOTHING = "No results found."
"""The package's message if every engine returned nothing."""


class SearchServer:
    """Sends requests to a server that responds in JSON, and retries while it is busy.

    ``advice`` says what to do about a wrong address or key; ``seconds`` limits a search with its retries.
    """

    def __init__(self, label: str, address: str, advice: str, at_once: int = 4, seconds: float = 60.0) -> None:
        self._address, self._advice, self._seconds = address, advice, seconds
        self._where = f"{label} at {address}"
        proxy = proxy_of(address)
        self._opened = OpenPerLoop(lambda: Connections(proxy, TIMEOUT, headers={"user-agent": USER_AGENT}))
        self._slots = PerLoop(lambda: asyncio.Semaphore(at_once))
        self._random = random.Random()

    async def ask(self, request: Request, read: Callable[[Body], Found]) -> Found:
        """The response, parsed by ``read``. Raises SearchError if it is late, an error, or unreadable."""
        try:
            async with self._slots.get(), asyncio.timeout(self._seconds):
                body = await retried(lambda: self._body(request), ATTEMPTS, FIRST_WAIT, MAX_WAIT, self._random)
        except TimeoutError:
            raise SearchError(f"{self._where} did not answer within {self._seconds:g} seconds") from None
        except (ModelError, ConfigError) as error:
            raise SearchError(str(error)) from error
        try:
            return read(body)
        except SearchError as error:
            raise SearchError(f"the answer from {self._where} cannot be read: {error}") from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._opened.aclose()

    async def _body(self, request: Request) -> Body:
        connections = await self._opened.get()
        method = "GET" if request.json is None else "POST"
        what: dict[str, Any] = {"params": request.params, "json": request.json, "headers": request.headers}
        url = f"{self._address}{request.path}"
        return await connections.ask(method, url, self._where, advice=self._advice, **what)


class WebEngine:
    """A web search engine. Raises ConfigError for an address that is not valid, or a missing or unusable key.

    Args:
        api: its interface.
        address: of a mirror or your own instance; None for the public address.
        key: its key; None for the environment variable of the interface.
        seconds: time limit for a search with its retries.
    """

    kind: Literal["web"] = "web"

    def __init__(self, api: WebApi, address: str | None = None, key: str | None = None, seconds: float = 60.0) -> None:
        if not (address or api.address):
            raise ConfigError(
                f"{api.name} has no public address: add the address of an instance, e.g. {api.name}=http://localhost:8080"
            )
        self._api = api
        checked = checked_address(address or api.address, api.name, "https://host", api.key_variable)
        self.name = f"web:{api.name}" + (f"={checked}" if address and api.address else "")
        self._key = checked_key(api.name, api.key_variable, key) if api.key_variable else ""
        advice = f"check the address and {api.key_variable or 'whether the server allows format=json'}"
        self._server = SearchServer(api.name, checked, advice, api.at_once, seconds)

    async def search(self, query: str, limit: int) -> list[Passage]:
        """Excerpts of at most ``limit`` pages, best first; the score is 1 / rank. Raises SearchError."""
        words = plain_query(query, self._api.max_characters)
        if not words:
            return []
        hits = await self._server.ask(self._api.request(words, limit, self._key), self._api.read)
        return snippets(hits, limit, self.name)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()


def snippets(hits: Iterable[Hit], limit: int, origin: str) -> list[Passage]:
    """The first ``limit`` results with text and address, as passages; offsets refer to the excerpt.

    >>> snippets([Hit("Ulm", "http://a", "On the Danube."), Hit("Bare", "http://b", "")], 5, "web:x")[0].span
    Span(text='On the Danube.', start=0, end=14, source_id='http://a')
    """
    usable = [hit for hit in hits if hit.text and hit.url][:limit]
    return [
        Passage(Span(hit.text, 0, len(hit.text), hit.url), 1 / rank, hit.title, hit.url, origin)
        for rank, hit in enumerate(usable, 1)
    ]


def checked_key(owner: str, variable: str, key: str | None = None) -> str:
    """A key, or the one in an environment variable; messages never show it. Raises ConfigError if there is none."""
    found = (key or os.environ.get(variable, "")).strip()
    if not found:
        raise ConfigError(f"{owner} requires a key: set the environment variable {variable}")
    if not (found.isascii() and found.isprintable() and " " not in found):
        raise ConfigError(
            f"the key in {variable} contains a space or a character that is not allowed in a header: copy the key again"
        )
    return found


class Ddgs:
    """Several engines without a key, through the package ``ddgs``, which parses the pages that they show to browsers.

    For experiments: the interface is unofficial, and the package identifies itself as a browser. It asks one engine
    after the other; nothing is retried.

    Args:
        proxy: a proxy for its requests, e.g. "socks5h://127.0.0.1:9150"; None for its variable ``DDGS_PROXY``.
        seconds: time limit per engine.
    """

    name = "web:ddgs"
    kind: Literal["web"] = "web"

    def __init__(self, proxy: str | None = None, seconds: int = 10) -> None:
        package = needed("ddgs", "search", "--web ddgs")
        self._error: type[Exception] = import_module("ddgs.exceptions").DDGSException
        self._client: Callable[[], Any] = lambda: package.DDGS(proxy=proxy, timeout=seconds)
        self._slots = PerLoop(lambda: asyncio.Semaphore(1))

    async def search(self, query: str, limit: int) -> list[Passage]:
        """Excerpts of at most ``limit`` pages, best first; the score is 1 / rank. Raises SearchError."""
        words = plain_query(query, _DDGS_CHARACTERS)
        if not words:
            return []
        async with self._slots.get():
            return snippets(await asyncio.to_thread(self._hits, words, limit), limit, self.name)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _hits(self, words: str, limit: int) -> list[Hit]:
        try:
            records = self._client().text(words, max_results=limit)
        except self._error as error:
            if str(error) == _NOTHING:
                return []
            raise SearchError(f"none of the engines of ddgs answered: {str(error)[:300]}") from error
        return [hit(record, "title", "href", "body") for record in records]
