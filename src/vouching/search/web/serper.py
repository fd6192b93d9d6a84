"""Serper, which passes on Google's results (serper.dev). Left out: its answer box and knowledge graph."""

from __future__ import annotations

from vouching.errors import SearchError
from vouching.search.web.api import Body, Hit, Request, WebApi, hit, records

_MOST = 100


def request(query: str, most: int, key: str) -> Request:
    """A web search.

    >>> request("ulm", 5, "k").json
    {'q': 'ulm', 'num': 5}
    """
    return Request("/search", json={"q": query, "num": min(most, _MOST)}, headers={"x-api-key": key})


def read(body: Body) -> list[Hit]:
    """What Google found, best first; an answer without any has no part "organic".

    >>> read({"searchParameters": {}, "organic": [{"title": "Ulm", "link": "http://a", "snippet": "On the Danube."}]})
    [Hit(title='Ulm', url='http://a', text='On the Danube.')]
    >>> read({"searchParameters": {}})
    []
    """
    if "searchParameters" not in body:
        raise SearchError(f"the answer is none of Serper's, it has {[*body]}")
    return [hit(record, "title", "link", "snippet") for record in records({"organic": [], **body}, "organic")]


SERPER = WebApi("serper", "https://google.serper.dev", request, read, key_variable="SERPER_API_KEY")
