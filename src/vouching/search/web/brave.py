"""Brave Search's own index of the web (api-dashboard.search.brave.com, "Web search"). Left out: news and infoboxes."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import cast

from vouching.errors import SearchError
from vouching.search.web.api import Body, Hit, Request, WebApi, hit, records

_MOST = 20
_WORDS = 50
"""More words are refused."""


def request(query: str, most: int, key: str) -> Request:
    """Web results without marks around the words of the query.

    >>> request("ulm", 5, "k").headers
    {'x-subscription-token': 'k'}
    """
    words = " ".join(query.split()[:_WORDS])
    params = {"q": words, "count": str(min(most, _MOST)), "text_decorations": "false", "result_filter": "web"}
    return Request("/res/v1/web/search", params, headers={"x-subscription-token": key})


def read(body: Body) -> list[Hit]:
    """Web results; an answer without any has no part "web".

    >>> read({"type": "search", "web": {"results": [{"title": "A", "url": "http://a", "description": "R&amp;D"}]}})
    [Hit(title='A', url='http://a', text='R&D')]
    >>> read({"type": "search"})
    []
    """
    if body.get("type") != "search":
        raise SearchError(f'the answer is no "search", it has {[*body]}')
    web = body.get("web")
    if not isinstance(web, dict):
        return []
    hits = [hit(record, "title", "url", "description") for record in records(cast("Body", web), "results")]
    return [replace(found, title=html.unescape(found.title), text=html.unescape(found.text)) for found in hits]


BRAVE = WebApi("brave", "https://api.search.brave.com", request, read, key_variable="BRAVE_API_KEY", longest=400)
