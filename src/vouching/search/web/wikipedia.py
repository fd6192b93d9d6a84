"""Wikipedia by its own search and the openings of its articles (mediawiki.org, "API:Search", "Extension:TextExtracts").

Every word of a query must occur in an article. One request is under way at a time, as its etiquette asks. Left out: the
rest of the articles; reading the pages brings that.
"""

from __future__ import annotations

from typing import Any, cast

from vouching.errors import SearchError
from vouching.search.web.api import Body, Hit, Request, WebApi, hit, records

_MOST = 20
"""Openings of articles that one request can bring."""


def request(query: str, most: int, key: str) -> Request:
    """Articles that match, each with its opening in plain text and its address.

    >>> request("ulm", 50, "").params["gsrlimit"]
    '20'
    """
    what = {"action": "query", "format": "json", "formatversion": "2", "generator": "search", "prop": "extracts|info"}
    extract = {"exintro": "1", "explaintext": "1", "exlimit": "max", "inprop": "url"}
    return Request("/w/api.php", {**what, "gsrsearch": query, "gsrlimit": str(min(most, _MOST)), **extract})


def read(body: Body) -> list[Hit]:
    """Articles by their place in the search, which is not the order they come in.

    Raises:
        SearchError: the search was refused, or the answer is none of MediaWiki's.

    >>> page = {"title": "Ulm", "index": 1, "fullurl": "https://en.wikipedia.org/wiki/Ulm", "extract": "Ulm is a city."}
    >>> read({"query": {"pages": [{"title": "Ulm Minster", "index": 2}, page]}})[0]
    Hit(title='Ulm', url='https://en.wikipedia.org/wiki/Ulm', text='Ulm is a city.')
    >>> read({"batchcomplete": True})
    []
    """
    if "error" in body:
        told = body["error"]
        raise SearchError(str(cast("dict[str, Any]", told).get("info", told) if isinstance(told, dict) else told)[:300])
    if "query" not in body:
        if "batchcomplete" in body:
            return []
        raise SearchError(f"the answer is none of MediaWiki's, it has {[*body]}")
    query = body["query"]
    pages = records(cast("Body", query) if isinstance(query, dict) else {}, "pages")
    pages.sort(key=lambda page: page["index"] if isinstance(page.get("index"), int) else len(pages) + 1)
    return [hit(page, "title", "fullurl", "extract") for page in pages]


WIKIPEDIA = WebApi("wikipedia", "https://en.wikipedia.org", request, read, longest=300, at_once=1)
