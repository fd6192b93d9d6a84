"""Several engines without a key, by the package ``ddgs``, which reads the pages that they show to browsers.

Convenient for a try. It is no interface that anybody promises to keep, and it presents itself as a browser, whatever
the engines think of that. Left out: retries; the package asks one engine after the other by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal

from vouching.errors import MissingExtraError, SearchError
from vouching.models.running import PerLoop
from vouching.search.web.api import Body, Hit, hit, plain_query
from vouching.search.web.engine import snippets
from vouching.types import Passage

_LONGEST = 400
_NOTHING = "No results found."
"""What the package says when every engine answered with nothing."""


class Ddgs:
    """A web search through the package ``ddgs``.

    Args:
        proxy: a proxy for its requests, e.g. "socks5h://127.0.0.1:9150"; None takes its variable ``DDGS_PROXY``.
        seconds: how long each engine may take.

    Raises:
        MissingExtraError: the package is not installed.
    """

    name = "web:ddgs"
    """What its passages name as their origin."""
    kind: Literal["web"] = "web"
    """It looks on the web."""

    def __init__(self, proxy: str | None = None, seconds: int = 10) -> None:
        try:
            package = import_module("ddgs")
        except ImportError:
            raise MissingExtraError("search", "--web ddgs", "ddgs") from None
        self._error: type[Exception] = import_module("ddgs.exceptions").DDGSException
        self._client: Callable[[], Any] = lambda: package.DDGS(proxy=proxy, timeout=seconds)
        self._slots = PerLoop(lambda: asyncio.Semaphore(1))

    async def search(self, query: str, most: int) -> list[Passage]:
        """What the engines show of at most ``most`` pages, best first; the score is 1 / rank.

        Raises:
            SearchError: none of them answered.
        """
        words = plain_query(query, _LONGEST)
        if not words:
            return []
        async with self._slots.get():
            return snippets(await asyncio.to_thread(self._hits, words, most), most, self.name)

    async def aclose(self) -> None:
        """Nothing stays open."""

    def _hits(self, words: str, most: int) -> list[Hit]:
        try:
            records = self._client().text(words, max_results=most)
        except self._error as error:
            if str(error) == _NOTHING:
                return []
            raise SearchError(f"ddgs found no engine that answers: {str(error)[:300]}") from error
        return read(records)


def read(records: Sequence[Body]) -> list[Hit]:
    """Results, best first.

    >>> read([{"title": "Ulm", "href": "https://en.wikipedia.org/wiki/Ulm", "body": "On the Danube."}])
    [Hit(title='Ulm', url='https://en.wikipedia.org/wiki/Ulm', text='On the Danube.')]
    """
    return [hit(record, "title", "href", "body") for record in records]
