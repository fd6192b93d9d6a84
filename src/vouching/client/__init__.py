"""The client of ``vouch serve``: the calls of the library, answered by a server, with the same records and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.client.calls import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]

__getattr__, __dir__ = lazily(__name__)
