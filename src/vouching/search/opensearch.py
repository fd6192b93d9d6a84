"""Your own documents in an OpenSearch index, searched by BM25 over HTTP.

A document is found by its text and title, and cut into passages as those of a local index; of each document found, the
passage with most of the query's words is returned. Elasticsearch answers the same requests. Not supported: vector
search, several indexes at once, and signing requests for AWS.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from vouching.errors import ConfigError, SearchError
from vouching.models.connections import checked_address
from vouching.search.passages import cut_passages
from vouching.search.terms import query_terms, terms
from vouching.search.web import SearchServer, checked_key
from vouching.search.web_apis import Body, Request
from vouching.types import EngineKind, Passage, Span
from vouching.types.visible import shown_keys, shown_names

KEY, USER, PASSWORD = "OPENSEARCH_API_KEY", "OPENSEARCH_USER", "OPENSEARCH_PASSWORD"
"""Environment variables with an API key, or with a user name and a password."""
TITLE_BOOST = 2
"""Weight of the title's score relative to that of the text."""
MAX_CHARACTERS = 2000
"""Characters of a query that are sent; OpenSearch allows 1024 words."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The names of the fields of a document."""

    text: str = "text"
    title: str = "title"
    id: str = "_id"
    """``_id`` is OpenSearch's own id."""
    url: str = "url"


class OpenSearch:
    """An index of an OpenSearch server; a search engine, see ``search/base.py``.

    Args:
        address: of the index, e.g. ``http://localhost:9200/notes``. Parameters name other fields than "text", "title",
            "_id" and "url", e.g. ``http://localhost:9200/notes?text=body&title=heading``.
        seconds: time limit for a search with its retries.

    Raises ConfigError if the address is not valid, or the environment contains an incomplete or unusable key.
    """

    kind: EngineKind = "local"

    def __init__(self, address: str, seconds: float = 60.0) -> None:
        bare, _, given = address.partition("?")
        checked = checked_address(bare, "OpenSearch", "http://localhost:9200/INDEX", KEY)
        index = urlsplit(checked).path.strip("/")
        if not index or "/" in index:
            raise ConfigError(f'expected the address of one index, like "http://localhost:9200/INDEX", got {bare!r}')
        self.name = f"opensearch:{checked}"
        self._fields = _read_fields(given)
        self._headers = _authorization()
        advice = f"check the address, the name of the index, and either {KEY} or both {USER} and {PASSWORD}"
        self._server = SearchServer("OpenSearch", checked, advice, seconds=seconds)

    async def search(self, query: str, limit: int) -> list[Passage]:
        """At most ``limit`` passages of different documents, best first, scored by OpenSearch.

        Documents without a text are skipped. Raises SearchError if none of those found has its field, or the server
        fails.
        """
        if not query_terms(query):
            return []
        names = self._fields
        body = {
            "size": limit,
            "_source": [name for name in (names.text, names.title, names.id, names.url) if name != "_id"],
            "query": {
                "multi_match": {
                    "query": query[:MAX_CHARACTERS],
                    "fields": [names.text, f"{names.title}^{TITLE_BOOST}"],
                    "type": "most_fields",
                }
            },
        }
        hits = await self._server.ask(Request("/_search", json=body, headers=self._headers), _read_hits)
        if hits and not any(names.text in _leaves(_source(hit)) for hit in hits):
            raise SearchError(await self._without_field(hits[0]))
        found = (self._passage(hit, query) for hit in hits)
        return [passage for passage in found if passage is not None][:limit]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()

    async def _without_field(self, hit: Body) -> str:
        """What to say of documents without the field, of which ``hit`` is one; asks for all of its fields."""
        name = str(hit.get("_id", ""))
        body = {"size": 1, "query": {"ids": {"values": [name]}}}
        found = await self._server.ask(Request("/_search", json=body, headers=self._headers), _read_hits)
        keys = shown_names(_leaves(_source(found[0]))) if found else ""
        has = f"has the fields {keys}" if keys else "has no fields"
        return (
            f"the documents that {self.name} found have no field {self._fields.text!r}: document {name!r} "
            f"{has}; choose the field of the text with {self.name}?text=NAME"
        )

    def _passage(self, hit: Body, query: str) -> Passage | None:
        """The passage of a document that has most of the query's words, the first of several; None without a text."""
        source = _source(hit)
        text = _value(source, self._fields.text)
        cuts = cut_passages(text)
        if not cuts:
            return None
        sought = {*query_terms(query)}
        start, end = max(cuts, key=lambda cut: len(sought & {*terms(text[cut[0] : cut[1]])}))
        name = str(hit.get("_id", "")) if self._fields.id == "_id" else _value(source, self._fields.id)
        score = hit.get("_score")
        return Passage(
            Span(text[start:end], start, end, name),
            float(score) if isinstance(score, int | float) else 0.0,
            _value(source, self._fields.title),
            _value(source, self._fields.url),
            self.name,
        )


def _read_fields(given: str) -> Fields:
    known = [field.name for field in fields(Fields)]
    try:
        named = dict(parse_qsl(given, keep_blank_values=True, strict_parsing=bool(given)))
    except ValueError:
        named = {given: ""}
    for name, field in named.items():
        if name not in known or not field:
            raise ConfigError(
                f"expected field names in the form {', '.join(f'{one}=NAME' for one in known)}, got {given!r}"
            )
    return Fields(**named)


def _authorization() -> Mapping[str, str]:
    """The header with the credentials of the environment."""
    if os.environ.get(KEY, "").strip():
        return {"authorization": f"ApiKey {checked_key('OpenSearch', KEY)}"}
    user, password = os.environ.get(USER, ""), os.environ.get(PASSWORD, "")
    if not user and not password:
        return {}
    if not user or not password or ":" in user:
        raise ConfigError(f"OpenSearch requires both {USER}, without a colon, and {PASSWORD}: set both, or neither")
    return {"authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def _read_hits(body: Body) -> list[Body]:
    """The documents of a response. Raises SearchError if it has none and is incomplete or not one of OpenSearch."""
    outer = body.get("hits")
    hits: Any = cast("Body", outer).get("hits") if isinstance(outer, dict) else None
    if not isinstance(hits, list):
        raise SearchError(f'the answer has no "hits"; {shown_keys(body)}')
    found = [cast("Body", hit) for hit in cast("list[Any]", hits) if isinstance(hit, dict)]
    shards = body.get("_shards")
    failed = cast("Body", shards).get("failed") if isinstance(shards, dict) else 0
    if not found and (failed or body.get("timed_out")):
        late = "yes" if body.get("timed_out") else "no"
        raise SearchError(
            f"nothing was found, but the search is incomplete (shards failed: {failed or 0}, timed out: {late})"
        )
    return found


def _source(hit: Body) -> Body:
    """The fields of a document; none if its index does not store them."""
    source = hit.get("_source")
    return cast("Body", source) if isinstance(source, dict) else {}


def _leaves(source: Body, place: str = "") -> Iterator[str]:
    """The names of all fields, those of objects as "a.b"."""
    for name, value in source.items():
        if isinstance(value, dict) and value:
            yield from _leaves(cast("Body", value), f"{place}{name}.")
        else:
            yield f"{place}{name}"


def _value(source: Body, name: str) -> str:
    """A field of a document, also "a.b" inside an object; empty if it is not a text."""
    value: Any = source.get(name)
    if value is None and "." in name:
        outer, _, inner = name.partition(".")
        deeper = source.get(outer)
        return _value(cast("Body", deeper), inner) if isinstance(deeper, dict) else ""
    return _as_text(value)


def _as_text(value: Any) -> str:
    """The value of a field as a text; those of a list are joined; empty if it is not a text."""
    if isinstance(value, list):
        return "\n".join(map(_as_text, cast("list[Any]", value)))
    if isinstance(value, int):
        return str(value)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
