"""Search engines by name, as on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from vouching.errors import ConfigError
from vouching.search.base import Finder, SearchEngine
from vouching.search.steps import QUERIES, StepSearch, Verify
from vouching.search.web_apis import APIS
from vouching.types.visible import hint

FORMS = "searxng=URL, wikipedia, brave, tavily, serper, ddgs, or, for your own documents, index:PATH or opensearch:URL"
"""Names of engines. An address after "=" replaces the default one."""

OPENSEARCH = "opensearch:"


def open_engine(spec: str) -> SearchEngine:
    """Open a search engine by its name, see ``FORMS``.

    Raises ConfigError if the engine is unknown, its address is not valid or its key is missing, and InputError if an
    index does not exist or cannot be read.

    >>> open_engine("searxng=http://localhost:8080").name
    'web:searxng'
    >>> open_engine("bravo")
    Traceback (most recent call last):
    ...
    vouching.errors.ConfigError: unknown search engine 'bravo'; expected one of searxng=URL, wikipedia, ...
    """
    if spec.startswith("index:"):
        from vouching.search.index import open_index

        return open_index(spec.removeprefix("index:"))
    if spec.startswith(OPENSEARCH):
        from vouching.search.opensearch import OpenSearch

        return OpenSearch(spec.removeprefix(OPENSEARCH))
    name, given, address = spec.partition("=")
    if name not in (*APIS, "ddgs") or (given and not address):
        near = [one for one in get_close_matches(name, (*APIS, "ddgs"), n=1) if one != name]
        raise ConfigError(f"unknown search engine {spec!r}; expected one of {FORMS}{hint(near)}")
    return _web(name, address or None)


def web_name(spec: str) -> str:
    """The name of the web engine ``spec``, without opening it; recordings use it.

    >>> web_name("searxng=http://localhost:8080"), web_name("wikipedia=https://de.wikipedia.org/")
    ('web:searxng', 'web:wikipedia=https://de.wikipedia.org')
    """
    return f"web:{spec.partition('=')[0] if spec.startswith('searxng=') else spec.rstrip('/')}"


def as_finder(
    search: Finder | Sequence[SearchEngine | str], verify: Verify | None = None, queries: int | None = None
) -> Finder:
    """A finder unchanged, or a multi-step search in engines; see :class:`~vouching.search.steps.StepSearch`.

    Raises ConfigError if there is no engine, one cannot be opened, or ``queries`` is given with a finder.
    """
    if not isinstance(search, Sequence):
        if queries is not None:
            raise ConfigError(
                f"queries={queries} cannot be used with a finder, which has its own limit: omit it, or pass engines"
            )
        return search
    if isinstance(search, str):
        raise ConfigError(f"expected a list of engines, got {search!r}: pass [{search!r}]")
    engines = [open_engine(engine) if isinstance(engine, str) else engine for engine in search]
    return StepSearch(engines, verify, queries=QUERIES if queries is None else queries)


def _web(name: str, address: str | None) -> SearchEngine:
    from vouching.search.web import Ddgs, WebEngine

    if name != "ddgs":
        return WebEngine(APIS[name], address)
    if address is not None:
        raise ConfigError(f"ddgs takes no address, got {address!r}")
    return Ddgs()
