"""What went wrong with a request, said once: which failures a retry can mend, which need other settings.

| what happened | error | retry |
|---|---|---|
| 408, 425, 429, 5xx, a timeout, a connection that is refused or breaks | ModelUnavailableError | yes |
| 401, 402, 403, 404, 405, a redirect, a wrong certificate | ConfigError | no: key, address or name are wrong |
| any other 4xx | ModelRefusedError | no: this request is |
| an answer that is no completion | ModelAnswerError | no |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

import aiohttp
from aiohttp.http_exceptions import ContentEncodingError

from vouching.errors import ConfigError, ModelAnswerError, ModelRefusedError, ModelUnavailableError, VouchError
from vouching.models.connections import Answer

EXCERPT = 300
"""Characters of an answer that an error message shows."""
_BUSY = {408, 425, 429}
_MISCONFIGURED = {401, 402, 403, 404, 405}


def error_of_status(answer: Answer, where: str, advice: str | None = None) -> VouchError | None:
    """The error that a status stands for; None for success.

    Args:
        answer: the answer, read to its end.
        where: what answered, for the message.
        advice: what to do about a key, an address or a name that is wrong; None for what helps with a language model.

    >>> answer = Answer(429, "Too Many Requests", {"retry-after": "2"}, b"slow down")
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


def read_object(answer: Answer, where: str) -> dict[str, Any]:
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
