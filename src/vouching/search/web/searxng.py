"""SearXNG, an engine of engines that one runs oneself (docs.searxng.org, "Search API").

An instance answers in JSON only if its settings.yml lists "json" under ``search: formats``. Left out: its infoboxes,
its direct answers, and the choice of categories.
"""

from __future__ import annotations

from vouching.errors import SearchError
from vouching.search.web.api import Body, Hit, Request, WebApi, hit, records


def request(query: str, most: int, key: str) -> Request:
    """The query; the number of results is the instance's own.

    >>> request("ulm", 5, "").params
    {'q': 'ulm', 'format': 'json'}
    """
    return Request("/search", {"q": query, "format": "json"})


def read(body: Body) -> list[Hit]:
    """Results in the instance's order.

    Raises:
        SearchError: no results because the engines behind it did not answer.

    >>> read({"results": [{"title": "Ulm", "url": "http://a", "content": "On the Danube."}]})
    [Hit(title='Ulm', url='http://a', text='On the Danube.')]
    """
    hits = [hit(record, "title", "url", "content") for record in records(body, "results")]
    silent = body.get("unresponsive_engines")
    if not hits and silent:
        raise SearchError(f"none of its engines answered: {str(silent)[:200]}")
    return hits


SEARXNG = WebApi("searxng", "", request, read)
