r"""Errors on the wire: a problem object (RFC 9457) for each deliberate error, and the same error again at the client.

    {"type": "about:blank", "title": "Unusable input", "status": 422, "error": "InputError",
     "detail": "the claim must contain at least one word or number, got \"\"", "can_retry": false}

``detail`` says what was got, what was expected and what to do. The status says whose fault it is: 4xx the caller's, 429
and 503 that the same call may succeed after ``retry_after`` seconds, 501, 502 and 504 that server or model failed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import vouching.errors
from vouching.errors import (
    AccessError,
    BackendError,
    ConfigError,
    InputError,
    MissingExtraError,
    ModelDeadlineError,
    ModelUnavailableError,
    NoLanguageModelError,
    ServerUnavailableError,
    VouchError,
)

MEDIA_TYPE = "application/problem+json"

_STATUS: tuple[tuple[type[VouchError], int, str], ...] = (
    (AccessError, 401, "No access"),
    (MissingExtraError, 501, "Not installed"),
    (InputError, 422, "Unusable input"),
    (ConfigError, 422, "Unusable setting"),
    (ModelDeadlineError, 504, "Too slow"),
    (ServerUnavailableError, 503, "Busy"),
    (BackendError, 502, "The model or a search failed"),
    (VouchError, 500, "Failed"),
)
"""The first class that an error is of decides, unless the error has a status of its own for its caller."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A deliberate error as data."""

    title: str
    """The kind of problem."""
    status: int
    """The HTTP status, 400 to 599."""
    error: str
    """The class in ``vouching.errors`` that the client raises."""
    detail: str
    """What was got, what was expected, and what to do."""
    can_retry: bool = False
    """Whether the same call may succeed later."""
    retry_after: float | None = None
    """Seconds after which to try again; None if unknown."""
    type: str = "about:blank"
    """As RFC 9457 has it: the status says what kind of problem it is."""


def problem_of(error: VouchError, status: int | None = None) -> Problem:
    """The problem object of an error; ``status`` replaces the one of its class.

    >>> problem = problem_of(InputError("no source was given: pass at least one"))
    >>> problem.status, problem.error, problem.can_retry
    (422, 'InputError', False)
    """
    _, usual, title = next(row for row in _STATUS if isinstance(error, row[0]))
    own = error.status if isinstance(error, AccessError | ServerUnavailableError) else None
    if own is None and isinstance(error, BackendError) and error.can_retry and usual == 502:
        own = 503
    # A retry of a missing extra or of a wrong model would fail in the same way under the name of its parent.
    known = ConfigError if isinstance(error, MissingExtraError | NoLanguageModelError) else type(error)
    name = next(kind.__name__ for kind in known.__mro__ if kind.__name__ in vouching.errors.__all__)
    after: float | None = getattr(error, "retry_after", None)
    return Problem(title, status or own or usual, name, str(error), error.can_retry, after)


def error_of(fields: dict[str, Any]) -> VouchError:
    """The error of a problem object; of an unknown class, a VouchError.

    >>> error_of({"error": "ConfigError", "detail": "unknown judge 'b'", "status": 422})
    ConfigError("unknown judge 'b'")
    """
    name, detail = str(fields.get("error")), str(fields.get("detail"))
    status: int = fields.get("status", 500)
    after: float | None = fields.get("retry_after")
    kind: type[VouchError] = getattr(vouching.errors, name) if name in vouching.errors.__all__ else VouchError
    if issubclass(kind, ServerUnavailableError | ModelUnavailableError):
        return kind(detail, after, status)
    return kind(detail, status) if issubclass(kind, AccessError) else kind(detail)
