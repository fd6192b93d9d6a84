"""Whether a request of a browser comes from this server's own pages: no other page may act for its reader.

A browser says where a request that changes something comes from, in ``Sec-Fetch-Site`` and ``Origin``, which scripts
cannot set. A request from another page is refused, unless the policy names its origin. A request with the cookie of a
session must say that it comes from here; programs, which say neither, use a key. A server without keys answers to names
of this machine only: a page elsewhere whose name was made to lead here (DNS rebinding) asks under its own name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from vouching.serve.policy import is_local

SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""
_PORT = re.compile(r":\d+$")


def from_elsewhere(headers: Mapping[bytes, bytes], allowed: Collection[str] = ()) -> bool:
    """Whether a page of another origin sent a request; False for a program, which names none.

    >>> host = {b"host": b"127.0.0.1:8400"}
    >>> from_elsewhere(host | {b"origin": b"https://example.org"}), from_elsewhere(host)
    (True, False)
    >>> from_elsewhere(host | {b"origin": b"http://127.0.0.1:8400"})
    False
    """
    origin = headers.get(b"origin", b"").decode("latin-1")
    if origin in allowed:
        return False
    if site := headers.get(b"sec-fetch-site"):
        return site not in (b"same-origin", b"none")
    return bool(origin) and not _is_own(origin, headers)


def from_here(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a request says that a page of this server sent it.

    >>> from_here({b"host": b"a.example", b"origin": b"https://a.example"}), from_here({b"host": b"a.example"})
    (True, False)
    """
    if site := headers.get(b"sec-fetch-site"):
        return site == b"same-origin"
    return _is_own(headers.get(b"origin", b"").decode("latin-1"), headers)


def is_named_elsewhere(headers: Mapping[bytes, bytes], allowed: Collection[str] = ()) -> str:
    """The name that a request calls this machine by, if it is not one that means this machine; else empty.

    >>> is_named_elsewhere({b"host": b"localhost:8400"}), is_named_elsewhere({b"host": b"rebound.example:8400"})
    ('', 'rebound.example:8400')
    """
    host = headers.get(b"host", b"").decode("latin-1").lower()
    known = {urlsplit(origin).netloc.lower() for origin in allowed}
    return "" if not host or host in known or is_local(host if _PORT.search(host) else f"{host}:") else host


def _is_own(origin: str, headers: Mapping[bytes, bytes]) -> bool:
    host = headers.get(b"host", b"").decode("latin-1").lower()
    return bool(host) and urlsplit(origin).netloc.lower() == host
