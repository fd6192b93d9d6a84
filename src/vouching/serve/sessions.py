"""Sessions of the pages: a browser shows its key once and gets a cookie that scripts cannot read.

The cookie is HttpOnly and SameSite=Strict, and Secure where the page came over HTTPS; it holds 256 random bits, of
which the server keeps only the SHA-256, in the folder that its workers share. A session ends at a fixed time, when its
key is revoked, when its owner signs out, and when the server stops.

A server without keys has sessions too, in which a reviewer states a name: who reviews is then a matter of trust.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from vouching.errors import AccessError
from vouching.text.json_values import parse_json

COOKIE = "vouch_session"
"""Name of the cookie where the page did not come over HTTPS."""
SECURE_COOKIE = "__Host-vouch_session"
"""Name of the cookie that is Secure: browsers let no other host of the domain set it."""


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who signed in."""

    id: str
    """Which session: not secret, and different for each browser that signs in."""
    key: str
    """Id of the API key; empty on a server without keys."""
    name: str
    """Whose it is."""
    ends: float
    """Seconds since 1970 at which it ends."""


class Sessions:
    """The open sessions, in files of a folder.

    >>> sessions = Sessions(Path(tempfile.mkdtemp()), minutes=60)
    >>> token, session = sessions.open("", "Ada")
    >>> sessions.find(token).name, sessions.find("other")
    ('Ada', None)
    >>> sessions.close(token), sessions.find(token)
    (None, None)
    """

    def __init__(self, folder: Path, minutes: float, now: Callable[[], float] = time.time) -> None:
        self.seconds = round(60 * minutes)
        self._folder = folder / "sessions"
        self._folder.mkdir(exist_ok=True, mode=0o700)
        self._now = now

    def open(self, key: str, name: str) -> tuple[str, Session]:
        """A new session and the token that its cookie holds."""
        self._drop_ended()
        token = secrets.token_urlsafe(32)
        digest = _digest(token)
        session = Session(digest[:16], key, name, self._now() + self.seconds)
        number, part = tempfile.mkstemp(dir=self._folder, prefix="new-")
        with os.fdopen(number, "w", encoding="utf-8") as file:
            json.dump(asdict(session), file)
        Path(part).replace(self._folder / digest)
        return token, session

    def find(self, token: str) -> Session | None:
        """The session of a token; None if there is none or it has ended."""
        try:
            session = Session(**parse_json((self._folder / _digest(token)).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        return session if self._now() < session.ends else None

    def close(self, token: str) -> None:
        """End a session, if there is one."""
        (self._folder / _digest(token)).unlink(missing_ok=True)

    def _drop_ended(self) -> None:
        longest = self._now() - self.seconds
        for file in os.scandir(self._folder):
            with suppress(FileNotFoundError):
                if file.stat().st_mtime < longest:
                    Path(file.path).unlink()


def token_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The token in the cookie of a request; None without one.

    Raises AccessError for two session cookies: one of them may be from another host of the domain.

    >>> token_of([(b"cookie", b"theme=dark; vouch_session=abc")]), token_of([(b"cookie", b"my_vouch_session=abc")])
    ('abc', None)
    """
    lines = [value.decode("latin-1") for name, value in headers if name == b"cookie"]
    cookies = [part.strip().partition("=") for line in lines for part in line.split(";")]
    tokens = [token for name, _, token in cookies if name in (COOKIE, SECURE_COOKIE) and token]
    if len(tokens) > 1:
        raise AccessError(
            f"the request has {len(tokens)} session cookies, but one at most is this server's: delete the cookies of "
            "this site in the browser, and sign in again",
            403,
        )
    return tokens[0] if tokens else None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
