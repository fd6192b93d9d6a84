"""Connections to one server: a pool for each event loop, which closes with its loop.

One answer is read to its end and let go; nothing of a server is kept but its open connections: no cookies. Proxies are
those of the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY). Certificates are checked against those of the
system and of Mozilla. Left out: a limit on connections; ``Limited`` sets it.

What went wrong with a request, said once: which failures a retry can mend, which need other settings.

| what happened | error | retry |
|---|---|---|
| 408, 425, 429, 5xx, a timeout, a connection that is refused or breaks | ModelUnavailableError | yes |
| 401, 402, 403, 404, 405, a redirect, a wrong certificate | ConfigError | no: key, address or name are wrong |
| any other 4xx | ModelRefusedError | no: this request is |
| an answer that is no completion | ModelAnswerError | no |
"""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
from aiohttp.http_exceptions import ContentEncodingError

from vouching.errors import ConfigError, ModelAnswerError, ModelRefusedError, ModelUnavailableError, VouchError
from vouching.models.running import PerLoop
from vouching.version import __version__

CONNECT_TIMEOUT = 10.0
"""Seconds until a connection must stand."""
LONGEST_ANSWER = 64 << 20
"""Bytes of an answer; what is longer is read no further."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What a server answered."""

    status: int
    """The HTTP status."""
    reason: str
    """The status in words, if the server said them."""
    headers: Mapping[str, str]
    """By names in any case."""
    content: bytes
    """The body, decoded if it came compressed."""
    whole: bool = True
    """Whether that is all of it; False if it was longer than 64 MiB."""

    @property
    def text(self) -> str:
        """The body as UTF-8; what is none is replaced."""
        return self.content.decode(errors="replace")


class Connections:
    """Asks a server, over connections that are kept for the next question.

    Args:
        url: what is asked, or the address that everything asked begins with.
        headers: sent with every request.
        timeout: seconds without a byte after which a request is given up.

    Raises:
        ConfigError: the environment names a proxy of a kind that is not known.
    """

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float) -> None:
        self._url = url
        self._headers = {"user-agent": f"vouching/{__version__}", **headers}
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT, sock_read=timeout)
        self._proxy = proxy_of(url)
        self._pools: PerLoop[AsyncGenerator[aiohttp.ClientSession]] = PerLoop(self._pool)

    async def post(self, content: bytes) -> HttpResponse:
        """Send a body; see :meth:`ask`."""
        return await self.ask("POST", data=content)

    async def ask(self, method: str, path: str = "", **what: Any) -> HttpResponse:
        """Send a request and read the answer; a redirect is an answer like any other.

        Args:
            method: of HTTP.
            path: what follows the address.
            what: "data", "json", "params" or "headers", as aiohttp takes them.

        Raises:
            aiohttp.ClientError, OSError: there is no answer; see ``http_errors``.
        """
        session = await anext(self._pools.get())
        url = f"{self._url}{path}"
        async with session.request(method, url, proxy=self._proxy, allow_redirects=False, **what) as response:
            parts: list[bytes] = []
            left = LONGEST_ANSWER
            async for part in response.content.iter_any():
                parts.append(part[:left])
                left -= len(part)
                if left < 0:
                    response.close()
                    break
            return HttpResponse(response.status, response.reason or "", response.headers, b"".join(parts), left >= 0)

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        if (pool := self._pools.drop()) is not None:
            await pool.aclose()

    async def _pool(self) -> AsyncGenerator[aiohttp.ClientSession]:
        """The session of an event loop. A loop that ends closes its generators, and so the session."""
        secure = urlsplit(self._url).scheme == "https"
        connector = aiohttp.TCPConnector(limit=0, ssl=certificates() if secure else True)
        try:
            async with aiohttp.ClientSession(
                connector=connector, headers=self._headers, timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar()
            ) as session:
                while True:
                    yield session
        finally:
            self._pools.drop()


@cache
def certificates() -> ssl.SSLContext:
    """Whom to trust. Read once: it takes longer than a call."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())  # some systems have none of their own
    return context


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for an address; None if it is asked directly.

    Raises:
        ConfigError: the proxy is of another kind than http.

    >>> import os
    >>> os.environ["NO_PROXY"] = "localhost"
    >>> proxy_of("http://localhost:8000/v1") is None
    True
    """
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy and urlsplit(proxy).scheme not in {"http", "https"}:
        raise ConfigError(f"{urlsplit(proxy).scheme} proxies are not known, for {parts.hostname}: set NO_PROXY for it")
    return proxy


def checked_address(address: str, owner: str, example: str, key_variable: str = "") -> str:
    """An address of a server, without a slash at its end.

    Args:
        address: what was given.
        owner: whose address it is, for the message.
        example: what one looks like, for the message.
        key_variable: where a key belongs, for the message.

    Raises:
        ConfigError: it is none, or it holds a password.

    >>> checked_address("http://localhost:8000/v1/", "a model", "http://host:8000/v1")
    'http://localhost:8000/v1'
    """
    try:
        parts = urlsplit(address)
        named = bool(parts.hostname and parts.hostname.encode("idna")) and not any(map(str.isspace, address))
        usable = parts.scheme in {"http", "https"} and named and (parts.port is None or parts.port > 0)
    except ValueError:
        parts, usable = None, False
    if not parts or not usable or parts.query or parts.fragment:
        raise ConfigError(f'the address of {owner} must be like "{example}", got {address!r}')
    if parts.username or parts.password:
        instead = f"put the key into {key_variable}" if key_variable else "take it out, none is sent"
        raise ConfigError(f"the address of {owner} must hold no password: {instead}")
    return address.rstrip("/")


EXCERPT = 300
"""Characters of an answer that an error message shows."""
_BUSY = {408, 425, 429}
_MISCONFIGURED = {401, 402, 403, 404, 405}


def error_of_status(answer: HttpResponse, where: str, advice: str | None = None) -> VouchError | None:
    """The error that a status stands for; None for success.

    Args:
        answer: the answer, read to its end.
        where: what answered, for the message.
        advice: what to do about a key, an address or a name that is wrong; None for what helps with a language model.

    >>> answer = HttpResponse(429, "Too Many Requests", {"retry-after": "2"}, b"slow down")
    >>> print(error_of_status(answer, "http://host"))
    http://host answered 429 Too Many Requests: slow down
    """
    status = answer.status
    if 200 <= status < 300:
        return None
    said = f"{where} answered {status} {answer.reason}".rstrip() + f": {excerpt(answer.text)}"
    if status in _BUSY or status >= 500:
        return ModelUnavailableError(said, retry_after(answer.headers))
    if 300 <= status < 400:
        return ConfigError(f"{where} has moved to {answer.headers.get('location')}: use that address")
    if status in _MISCONFIGURED:
        return ConfigError(f"{said}; {advice or _check_the_model(status)}")
    return ModelRefusedError(said, status)


def _check_the_model(status: int) -> str:
    hint = " (most end in /v1)" if status == 404 else ""
    return f"check the address{hint}, the model's name and VOUCH_API_KEY"


def error_of_transport(error: Exception, where: str) -> VouchError:
    """The error that a failure on the way stands for.

    >>> print(error_of_transport(ConnectionResetError("the server hung up"), "http://host"))
    no answer from http://host: ConnectionResetError, the server hung up
    """
    reason = f"{type(error).__name__}{f', {error}' if str(error) else ''}"
    if isinstance(error, aiohttp.InvalidURL | aiohttp.ClientConnectorCertificateError):
        return ConfigError(f"{where} cannot be asked: {reason}")
    garbled = isinstance(error.__cause__, ContentEncodingError)
    if garbled or isinstance(error, aiohttp.ClientResponseError):
        return ModelAnswerError(f"the answer from {where} cannot be read: {reason}")
    return ModelUnavailableError(f"no answer from {where}: {reason}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the header Retry-After asks to wait, given in seconds or as a date; None if there is no such wish.

    >>> retry_after({"retry-after": "1.5"}), retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})
    (1.5, 0.0)
    """
    wish = headers.get("retry-after", "").strip()
    try:
        seconds = float(wish)
    except ValueError:
        try:
            date = parsedate_to_datetime(wish)
        except ValueError:
            return None
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if seconds < float("inf") else None


def read_object(answer: HttpResponse, where: str) -> dict[str, Any]:
    """The JSON object that an answer holds. Raises ModelAnswerError if it holds none."""
    kind = answer.headers.get("content-type", "nothing that has a type")
    if not answer.whole:
        raise ModelAnswerError(f"{where} answered with more than {len(answer.content):,} bytes: {excerpt(answer.text)}")
    try:
        body: Any = json.loads(answer.content)
    except (ValueError, RecursionError):
        raise ModelAnswerError(
            f"{where} answered {answer.status} with {kind}, wanted JSON: {excerpt(answer.text)}"
        ) from None
    if not isinstance(body, dict):
        raise ModelAnswerError(f"{where} answered with JSON that is no object: {excerpt(answer.text)}")
    return cast("dict[str, Any]", body)


def excerpt(text: str) -> str:
    """The message in a body of JSON, else its first characters, on one line.

    >>> excerpt('{"error": {"message": "no such model", "code": 404}}')
    'no such model'
    >>> excerpt("")
    'an empty body'
    """
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and key in found:
            found = cast("dict[str, Any]", found)[key]
    line = " ".join((found if isinstance(found, str) else text).split())
    return (line if len(line) <= EXCERPT else f"{line[:EXCERPT]}...") or "an empty body"
