"""What went wrong with a request, said once: which failures a retry can mend, which need other settings.

| what happened | error | retry |
|---|---|---|
| 408, 425, 429, 5xx, a timeout, a connection that is refused or breaks | ModelUnavailableError | yes |
| 401, 402, 403, 404, 405, a redirect | ConfigError | no: key, address or name are wrong |
| any other 4xx | ModelRefusedError | no: this request is |
| an answer that is no completion | ModelAnswerError | no |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

import httpx

from vouching.errors import ConfigError, ModelAnswerError, ModelRefusedError, ModelUnavailableError, VouchError

EXCERPT = 300
"""Characters of an answer that an error message shows."""
_BUSY = {408, 425, 429}
_MISCONFIGURED = {401, 402, 403, 404, 405}
_CHECK_THE_MODEL = "check the address, the model's name and VOUCH_API_KEY"


def error_of_status(response: httpx.Response, where: str, advice: str = _CHECK_THE_MODEL) -> VouchError | None:
    """The error that a status stands for; None for success.

    Args:
        response: the answer, read to its end.
        where: what answered, for the message.
        advice: what to do about a key, an address or a name that is wrong.

    >>> print(error_of_status(httpx.Response(429, text="slow down", headers={"retry-after": "2"}), "http://host"))
    http://host answered 429 Too Many Requests: slow down
    """
    if response.is_success:
        return None
    status = response.status_code
    said = f"{where} answered {status} {response.reason_phrase}".rstrip() + f": {excerpt(response.text)}"
    if status in _BUSY or status >= 500:
        return ModelUnavailableError(said, retry_after(response.headers))
    if response.is_redirect:
        return ConfigError(f"{where} has moved to {response.headers.get('location')}: use that address")
    if status in _MISCONFIGURED:
        return ConfigError(f"{said}; {advice}")
    return ModelRefusedError(said, status)


def error_of_transport(error: httpx.HTTPError, where: str) -> VouchError:
    """The error that a failure on the way stands for.

    >>> print(error_of_transport(httpx.ConnectError("connection refused"), "http://host"))
    no answer from http://host: ConnectError, connection refused
    """
    reason = f"{type(error).__name__}{f', {error}' if str(error) else ''}"
    if isinstance(error, httpx.UnsupportedProtocol):
        return ConfigError(f"{where} cannot be asked: {reason}")
    if isinstance(error, httpx.TransportError):
        return ModelUnavailableError(f"no answer from {where}: {reason}")
    return ModelAnswerError(f"the answer from {where} cannot be read: {reason}")


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


def read_object(response: httpx.Response, where: str) -> dict[str, Any]:
    """The JSON object that an answer holds. Raises ModelAnswerError if it holds none."""
    kind = response.headers.get("content-type", "nothing that has a type")
    try:
        body: Any = json.loads(response.content)
    except ValueError:
        raise ModelAnswerError(
            f"{where} answered {response.status_code} with {kind}, wanted JSON: {excerpt(response.text)}"
        ) from None
    if not isinstance(body, dict):
        raise ModelAnswerError(f"{where} answered with JSON that is no object: {excerpt(response.text)}")
    return cast("dict[str, Any]", body)


def excerpt(text: str) -> str:
    """The message in a body of JSON, else its first characters, on one line.

    >>> excerpt('{"error": {"message": "no such model", "code": 404}}')
    'no such model'
    >>> excerpt("")
    'nothing'
    """
    try:
        found: Any = json.loads(text)
    except ValueError:
        found = text
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and key in found:
            found = cast("dict[str, Any]", found)[key]
    line = " ".join((found if isinstance(found, str) else text).split())
    return (line if len(line) <= EXCERPT else f"{line[:EXCERPT]}...") or "nothing"
