"""Documents of LangChain, LlamaIndex and Haystack, as objects or as JSON, recognised by their fields.

LangChain: ``page_content`` and ``metadata``; LlamaIndex: ``text``, ``node_id`` and ``metadata``, or a ``node`` with a
score; Haystack: ``content`` and ``meta``. Not supported: documents without text (images, tables as data frames).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, cast


class _LangChain(Protocol):
    page_content: str
    metadata: dict[str, Any]


class _Haystack(Protocol):
    content: str | None
    meta: dict[str, Any]


class _LlamaIndex(Protocol):
    @property
    def node_id(self) -> str: ...


Document: TypeAlias = _LangChain | _Haystack | _LlamaIndex
"""A document of another library."""
_FORMS = (("page_content", "metadata"), ("text", "metadata"), ("content", "meta"))
"""Names of the text and the metadata."""
_FILES = ("source", "file_name", "file_path", "filename", "url")


def as_document(item: Any) -> dict[str, object] | None:
    """A document of another library as a mapping with text, id, title and url; None for anything else.

    The id is the file of the metadata, with its page, else the document's own.

    >>> as_document({"page_content": "It opened.", "metadata": {"source": "bridge.pdf", "page": 2}})["id"]
    'bridge.pdf#page=3'
    """
    if isinstance(item, str) or item is None:
        return None
    inner: object = _get(item, "node") or (_get(item, "kwargs") if type(item) is dict else None)
    if inner is not None:
        return as_document(inner)
    for text, meta in _FORMS:
        found = _get(item, meta)
        if isinstance(_get(item, text), str) and isinstance(found, Mapping):
            metadata = cast("Mapping[str, Any]", found)
            own = {key: _first(metadata.get(key), _get(item, key)) for key in ("title", "url")}
            name = _place(metadata) or _first(*(_get(item, key) for key in ("id", "node_id", "id_")))
            return {"text": _get(item, text), "id": name, **own}
    return None


def _place(metadata: Mapping[str, Any]) -> str | None:
    """The file and page of a document."""
    file = next((str(metadata[key]) for key in _FILES if metadata.get(key)), None)
    page = _first(metadata.get("page_label"), metadata.get("page_number"))
    if page is None and isinstance(metadata.get("page"), int):
        page = metadata["page"] + 1  # LangChain's readers count from 0
    return f"{file}#page={page}" if file and page is not None else file


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _get(item: Any, name: str) -> Any:
    return cast("Mapping[str, Any]", item).get(name) if isinstance(item, Mapping) else getattr(item, name, None)
