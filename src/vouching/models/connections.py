"""What HTTP clients here share: addresses, proxies, certificates, what failures mean.

Proxies are those of the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY). Certificates are checked against
those of the system and of Mozilla. ``transport`` sends the requests.

| what happened | error | retry |
|---|---|---|
| 408, 425, 429, 5xx but 501, a timeout, a connection that is refused or breaks | ModelUnavailableError | can help |
| a language model that answers too slowly | ModelDeadlineError | can help |
| 401, 402, 403, 404, 405, 501, a redirect, a wrong certificate | ConfigError | cannot: key, address or name are wrong |
| 413, and any status that names the model's context | ModelContextError | cannot: this prompt is too long |
| any other 4xx | ModelRefusedError | cannot: this request is refused |
| an answer that cannot be read | ModelAnswerError | cannot |
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi
import httpx2

from vouching.errors import (
    ConfigError,
    ModelAnswerError,
    ModelContextError,
    ModelRefusedError,
    ModelUnavailableError,
    VouchError,
)
from vouching.models.base import NO_SYSTEM_ROLE
from vouching.models.json_fields import read_json
from vouching.text.json_values import parse_json
from vouching.types.visible import shown_json

CONNECT_TIMEOUT = 10.0
"""Seconds to open a connection."""
EXCERPT = 300
"""Characters of an answer that an error message shows."""
KEY = "VOUCH_API_KEY"
"""The variable of the environment that has the key of a model's server."""
_BUSY = {408, 425, 429}
_MISCONFIGURED = {401, 402, 403, 404, 405, 501}
_TOO_LARGE = 413
_HUNG_UP = re.compile("disconnected|closed connection")
"""In the messages of httpx2 about a server that closed a connection before the end of its answer."""
_TOO_LONG = re.compile(
    r"context[ _](?:size|length|window)|max_new_tokens|(?:prompt|input|state) is too long", re.IGNORECASE
)
"""In the messages of llama.cpp, vLLM and SGLang; of text-generation-inference; of Anthropic."""


@cache
def certificates() -> ssl.SSLContext:
    """The trusted certificates, read once: that takes longer than a call."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())  # some systems have none
    return context


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for an address, if any.

    Raises:
        ConfigError: it is not an HTTP proxy.

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
        raise ConfigError(f"{urlsplit(proxy).scheme} proxies are not supported: set NO_PROXY for {parts.hostname}")
    return proxy


def checked_address(address: str, owner: str, example: str, key_variable: str = "") -> str:
    """An address without the slash at its end.

    Args:
        address: what was given.
        owner: whose address it is, for messages.
        example: a well-formed one, for messages.
        key_variable: where a key belongs, for messages.

    Raises:
        ConfigError: it is malformed or holds a password.

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
        raise ConfigError(f'the address of {owner} must look like "{example}", got {address!r}')
    if parts.username or parts.password:
        instead = f"set {key_variable} to the key" if key_variable else "remove it, because no password is sent"
        raise ConfigError(f"the address of {owner} must not contain a password: {instead}")
    return address.rstrip("/")


def error_of_status(
    response: httpx2.Response, content: bytes, where: str, advice: str | None = None, key: str = KEY
) -> VouchError | None:
    """The error that a status means; None for success.

    Args:
        response: status and headers.
        content: the body.
        where: the server, for messages.
        advice: what to do about a wrong key, address or name; None has the advice for language models.
        key: the variable of the environment that has the key, for that advice.

    >>> print(error_of_status(httpx2.Response(429, headers={"retry-after": "2"}), b"slow down", "http://host"))
    http://host returned 429 Too Many Requests: slow down
    """
    status = response.status_code
    if 200 <= status < 300:
        return None
    message = f"{where} returned {status} {response.reason_phrase}".rstrip()
    message += f": {excerpt(content.decode(errors='replace'))}"
    if status in _MISCONFIGURED:
        wrong = ConfigError(f"{message}; {advice or _check_the_model(status, key)}")
        wrong.status = status
        return wrong
    too_long = status not in _BUSY and (_TOO_LONG.search(message) or b'"context_length_exceeded"' in content)
    if status == _TOO_LARGE or too_long:
        return ModelContextError(message, status)
    if status in _BUSY or (status >= 500 and not NO_SYSTEM_ROLE.search(message)):
        return ModelUnavailableError(message, retry_after(response.headers), status)
    if 300 <= status < 400:
        return ConfigError(f"{where} has moved to {response.headers.get('location')}: use that address")
    return ModelRefusedError(message, status)


def _check_the_model(status: int, key: str) -> str:
    hint = " (most end in /v1)" if status == 404 else ""
    return f"check the address{hint}, the model's name and {key}"


def error_of_transport(error: BaseException, where: str) -> VouchError:
    """The error that a failure of the connection means.

    >>> print(error_of_transport(ConnectionResetError("the server hung up"), "http://host"))
    no answer from http://host: ConnectionResetError, the server hung up
    """
    reason = transport_reason(error)
    unsigned = isinstance(_origin(error), ssl.SSLCertVerificationError)
    if unsigned or any(isinstance(one, httpx2.InvalidURL) for one in _causes(error)):
        return ConfigError(f"{where} cannot be reached: {reason}")
    is_no_http = isinstance(error, httpx2.RemoteProtocolError) and not _HUNG_UP.search(str(error))
    if is_no_http or isinstance(error, httpx2.DecodingError):
        return ModelAnswerError(f"the answer from {where} cannot be read: {reason}")
    return ModelUnavailableError(f"no answer from {where}: {reason}")


def transport_reason(error: BaseException) -> str:
    """A failure of the connection in words.

    >>> transport_reason(TimeoutError()), transport_reason(ConnectionResetError("the server hung up"))
    ('TimeoutError', 'ConnectionResetError, the server hung up')
    """
    if isinstance(error, httpx2.ConnectError):
        with suppress(RuntimeError):  # it has no request
            url = error.request.url
            place = f"{url.host}:{url.port or (443 if url.scheme == 'https' else 80)}"
            return f"cannot connect to {place} ({_reason(_origin(error))})"
    return f"{type(error).__name__}{f', {error}' if str(error) else ''}"


def _reason(error: BaseException) -> str:
    if not isinstance(error, OSError):
        return str(error)
    is_system = (error.errno or 0) > 0 and not isinstance(error, ssl.SSLError)
    return os.strerror(error.errno or 0) if is_system else error.strerror or str(error)


def _origin(error: BaseException) -> BaseException:
    """The error of the system in a chain, else its first error; of several attempts to connect, that of the first.

    What the caller was handling before is in the chain too, and no reason.
    """
    while not (isinstance(error, OSError) and error.errno):
        if isinstance(error, BaseExceptionGroup):
            inner = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
        elif (inner := error.__cause__ or error.__context__) is None:
            return error
        error = inner
    return error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by Retry-After, which has seconds or a date, or Retry-After-Ms; None without either.

    >>> retry_after({"retry-after": "1.5"}), retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})
    (1.5, 0.0)
    >>> retry_after({"retry-after": "1", "retry-after-ms": "250"})
    0.25
    """
    exact, text = (headers.get(name, "").strip() for name in ("retry-after-ms", "retry-after"))
    try:
        seconds = float(exact) / 1000 if re.fullmatch(r"[\d.]+", exact, re.ASCII) else float(text)
    except ValueError:
        try:
            date = parsedate_to_datetime(text)
        except ValueError:
            return None
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if seconds < float("inf") else None


def read_object(response: httpx2.Response, content: bytes, where: str, strict: bool = False) -> dict[str, Any]:
    """The JSON object that an answer holds.

    Raises ModelAnswerError if it holds none; with ``strict``, also if a key occurs twice in one object, or it is deep.
    """
    try:
        body: Any = read_json(content.decode()) if strict else parse_json(content)
    except ValueError as error:
        kind = response.headers.get("content-type", "no content type")
        text, fault = excerpt(content.decode(errors="replace")), f" ({error})" if strict else ""
        got = f"{response.status_code} with {kind}"
        raise ModelAnswerError(f"{where} returned {got}, expected JSON{fault}: {text}") from None
    if not isinstance(body, dict):
        raise ModelAnswerError(f"expected a JSON object from {where}, got {shown_json(body, EXCERPT)}")
    return cast("dict[str, Any]", body)


def excerpt(text: str) -> str:
    """The error message in a body of JSON, else the first characters, on one line.

    >>> excerpt('{"error": {"message": "no such model", "code": 404}}')
    'no such model'
    >>> excerpt("")
    'an empty body'
    """
    try:
        found: Any = parse_json(text)
    except ValueError:
        found = text
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and key in found:
            found = cast("dict[str, Any]", found)[key]
    line = " ".join((found if isinstance(found, str) else text).split())
    return (line if len(line) <= EXCERPT else f"{line[:EXCERPT]}...") or "an empty body"
