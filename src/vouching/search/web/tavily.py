"""Tavily, a search for language models (docs.tavily.com, "Search"). Left out: its answers, images and page texts."""

from __future__ import annotations

from vouching.search.web.api import Body, Hit, Request, WebApi, hit, records

_MOST = 20


def request(query: str, most: int, key: str) -> Request:
    """A basic search, the cheapest.

    >>> request("ulm", 5, "k").json
    {'query': 'ulm', 'max_results': 5, 'search_depth': 'basic'}
    """
    body = {"query": query, "max_results": min(most, _MOST), "search_depth": "basic"}
    return Request("/search", json=body, headers={"authorization": f"Bearer {key}"})


def read(body: Body) -> list[Hit]:
    """Results, best first.

    >>> read({"results": [{"title": "Ulm", "url": "http://a", "content": "On the Danube.", "score": 0.9}]})
    [Hit(title='Ulm', url='http://a', text='On the Danube.')]
    """
    return [hit(record, "title", "url", "content") for record in records(body, "results")]


TAVILY = WebApi("tavily", "https://api.tavily.com", request, read, key_variable="TAVILY_API_KEY", longest=400)
