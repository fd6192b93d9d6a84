"""The interfaces of web search engines: the request for a query and the parser of the response, by name in ``APIS``.

Not supported: news, infoboxes, answer boxes, images, page texts, and pages of results after the first.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

from vouching.errors import SearchError
from vouching.types.visible import shown_json, shown_keys

Body: TypeAlias = Mapping[str, Any]
"""A response: a JSON object."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARK = re.compile(r"[\"“”„\\]|(?<=[^\W\d]):(?=\S)")
"""Quotation marks, which ask for the exact words, and the colon in operators such as site:."""
_SIGN = re.compile(r"(?<!\S)[-+!:?~@*&|^]+")
"""Signs that make a word a command: -word, !bang, :language."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a server."""

    path: str
    """Appended to the address of the engine."""
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    json: Mapping[str, Any] | None = None
    """Body of a POST request; None for GET."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of an engine."""

    title: str
    url: str
    """http or https; empty for any other address."""
    text: str
    """The excerpt; may be empty."""


@dataclass(frozen=True, slots=True)
class WebApi:
    """The interface of one engine."""

    name: str
    address: str
    """Empty if there is no public server."""
    request: Callable[[str, int, str], Request]
    """Makes a request from a query, the number of results and the key."""
    read: Callable[[Body], list[Hit]]
    """Parses a response to results, best first. Raises SearchError."""
    key_variable: str = ""
    """Environment variable of the key; empty if none is needed."""
    max_characters: int = 1000
    """Of a query; a longer one is cut after a word."""
    at_once: int = 4
    """Maximal number of concurrent requests."""


def plain_query(text: str, max_characters: int) -> str:
    """A text as words to search for: operators and commands of engines are removed, then it is cut after a word.

    Empty if no word is left.

    >>> plain_query('It fell by -5% in "Ulm", see site:example.org !g', 40)
    'It fell by 5% in Ulm , see site'
    """
    words = " ".join(_SIGN.sub(" ", _MARK.sub(" ", text)).split())
    if len(words) > max_characters:
        words = words[: max_characters + 1].rpartition(" ")[0] or words[:max_characters]
    return words if any(c.isalnum() for c in words) else ""


def hit(record: Body, title: str, url: str, text: str) -> Hit:
    """A result from the fields of a record by their names."""
    address = _string(record, url)
    return Hit(_string(record, title), address if re.match("https?://", address) else "", _string(record, text))


def _string(record: Body, key: str) -> str:
    value = record.get(key)
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value).strip() if isinstance(value, str) else ""


def _records(body: Body, key: str) -> list[Body]:
    """The objects in a list of a response. Raises SearchError if there is no such list."""
    found = body.get(key)
    if not isinstance(found, list):
        raise SearchError(f'the answer has no list "{key}"; {shown_keys(body)}')
    return [cast("Body", item) for item in cast("list[Any]", found) if isinstance(item, dict)]


# SearXNG, which you run yourself (docs.searxng.org, "Search API"). It answers in JSON only if its settings.yml lists
# "json" under search: formats. The instance decides how many results it returns.


def _ask_searxng(query: str, limit: int, key: str) -> Request:
    return Request("/search", {"q": query, "format": "json"})


def _read_results(body: Body) -> list[Hit]:
    return [hit(record, "title", "url", "content") for record in _records(body, "results")]


def _read_searxng(body: Body) -> list[Hit]:
    hits = _read_results(body)
    silent = body.get("unresponsive_engines")
    if not hits and silent:
        raise SearchError(f"none of the engines of SearXNG answered: {shown_json(silent, 200)}")
    return hits


# Wikipedia's own search, with the openings of the articles (mediawiki.org, "API:Search", "Extension:TextExtracts").
# Every word of a query must occur in an article. One request at a time, as its etiquette asks.

_MAX_OPENINGS = 20


def _ask_wikipedia(query: str, limit: int, key: str) -> Request:
    what = {"action": "query", "format": "json", "formatversion": "2", "generator": "search", "prop": "extracts|info"}
    extract = {"exintro": "1", "explaintext": "1", "exlimit": "max", "inprop": "url"}
    count = str(min(limit, _MAX_OPENINGS))
    return Request("/w/api.php", {**what, "gsrsearch": query, "gsrlimit": count, **extract})


def _read_wikipedia(body: Body) -> list[Hit]:
    """Articles by their rank, which is not their order in the response."""
    if "error" in body:
        error = body["error"]
        raise SearchError(
            str(cast("dict[str, Any]", error).get("info", error) if isinstance(error, dict) else error)[:300]
        )
    if "query" not in body:
        if "batchcomplete" in body:
            return []
        raise SearchError(f"the answer is not from MediaWiki; {shown_keys(body)}")
    query = body["query"]
    pages = _records(cast("Body", query) if isinstance(query, dict) else {}, "pages")
    pages.sort(key=lambda page: page["index"] if isinstance(page.get("index"), int) else len(pages) + 1)
    return [hit(page, "title", "fullurl", "extract") for page in pages]


# Brave Search's own index of the web (api-dashboard.search.brave.com, "Web search"). It refuses more than 50 words.
# A response without results has no "web".

_MAX_BRAVE, _WORDS_BRAVE = 20, 50


def _ask_brave(query: str, limit: int, key: str) -> Request:
    words = " ".join(query.split()[:_WORDS_BRAVE])
    params = {"q": words, "count": str(min(limit, _MAX_BRAVE)), "text_decorations": "false", "result_filter": "web"}
    return Request("/res/v1/web/search", params, headers={"x-subscription-token": key})


def _read_brave(body: Body) -> list[Hit]:
    if body.get("type") != "search":
        raise SearchError(f'the answer is not of the type "search"; {shown_keys(body)}')
    web = body.get("web")
    if not isinstance(web, dict):
        return []
    hits = [hit(record, "title", "url", "description") for record in _records(cast("Body", web), "results")]
    return [replace(found, title=html.unescape(found.title), text=html.unescape(found.text)) for found in hits]


# Tavily, a search for language models (docs.tavily.com, "Search"), at its basic depth, the cheapest.


def _ask_tavily(query: str, limit: int, key: str) -> Request:
    body = {"query": query, "max_results": min(limit, 20), "search_depth": "basic"}
    return Request("/search", json=body, headers={"authorization": f"Bearer {key}"})


# Serper, which returns Google's results (serper.dev). A response without results has no "organic".


def _ask_serper(query: str, limit: int, key: str) -> Request:
    return Request("/search", json={"q": query, "num": min(limit, 100)}, headers={"x-api-key": key})


def _read_serper(body: Body) -> list[Hit]:
    if "searchParameters" not in body:
        raise SearchError(f"the answer is not from Serper; {shown_keys(body)}")
    return [hit(record, "title", "link", "snippet") for record in _records({"organic": [], **body}, "organic")]


APIS: Mapping[str, WebApi] = {
    api.name: api
    for api in (
        WebApi("searxng", "", _ask_searxng, _read_searxng),
        WebApi("wikipedia", "https://en.wikipedia.org", _ask_wikipedia, _read_wikipedia, max_characters=300, at_once=1),
        WebApi("brave", "https://api.search.brave.com", _ask_brave, _read_brave, "BRAVE_API_KEY", max_characters=400),
        WebApi("tavily", "https://api.tavily.com", _ask_tavily, _read_results, "TAVILY_API_KEY", max_characters=400),
        WebApi("serper", "https://google.serper.dev", _ask_serper, _read_serper, "SERPER_API_KEY"),
    )
}
