"""What an engine's interface comes down to: a request from a query, and results from the JSON of an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from vouching.errors import SearchError

Body: TypeAlias = Mapping[str, Any]
"""An answer: a JSON object."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARK = re.compile(r"[\"“”„\\]|(?<=[^\W\d]):(?=\S)")
"""Quotation marks, which ask for the very words, and the colon of site: and the like."""
_SIGN = re.compile(r"(?<!\S)[-+!:?~@*&|^]+")
"""What makes a command of a word: -word, !bang, :language."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to send."""

    path: str
    """Path after the address of the engine."""
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    """Parameters of the address."""
    json: Mapping[str, Any] | None = None
    """A body to post; None gets."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """The key, where there is one."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of an engine."""

    title: str
    """Title of the page."""
    url: str
    """Where it is, http or https; empty where the engine names something else."""
    text: str
    """What the engine shows of it; may be empty."""


@dataclass(frozen=True, slots=True)
class WebApi:
    """The interface of one engine."""

    name: str
    """What the engine is called on the command line."""
    address: str
    """Where it is; empty if everybody runs their own."""
    request: Callable[[str, int, str], Request]
    """From a query, how many results to get and the key to what is sent."""
    read: Callable[[Body], list[Hit]]
    """From an answer to its results, best first. Raises SearchError if it is none."""
    key_variable: str = ""
    """Environment variable of the key; empty if none is needed."""
    longest: int = 1000
    """Characters of a query; a longer one is cut after a word."""
    at_once: int = 4
    """Requests under way at once."""


def plain_query(text: str, longest: int) -> str:
    """A text as words to search for: what an engine would read as a command is taken out, then cut after a word.

    Empty if there is nothing to search for.

    >>> plain_query('It fell by -5% in "Ulm", see site:example.org !g', 40)
    'It fell by 5% in Ulm , see site'
    """
    words = " ".join(_SIGN.sub(" ", _MARK.sub(" ", text)).split())
    if len(words) > longest:
        words = words[: longest + 1].rpartition(" ")[0] or words[:longest]
    return words if any(c.isalnum() for c in words) else ""


def records(body: Body, key: str) -> list[Body]:
    """The objects in a list of an answer.

    Raises:
        SearchError: there is no such list.

    >>> records({"results": [{"url": "http://a"}, 7]}, "results")
    [{'url': 'http://a'}]
    """
    found = body.get(key)
    if not isinstance(found, list):
        raise SearchError(f'the answer has no list "{key}", it has {[*body]}')
    return [cast("Body", item) for item in cast("list[Any]", found) if isinstance(item, dict)]


def hit(record: Body, title: str, url: str, text: str) -> Hit:
    """A result from the fields of a record by their names.

    >>> hit({"title": "Ulm", "link": "javascript:x", "snippet": " On the Danube. "}, "title", "link", "snippet")
    Hit(title='Ulm', url='', text='On the Danube.')
    """
    address = _text(record, url)
    return Hit(_text(record, title), address if re.match("https?://", address) else "", _text(record, text))


def _text(record: Body, key: str) -> str:
    value = record.get(key)
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value).strip() if isinstance(value, str) else ""
