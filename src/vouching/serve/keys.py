"""API keys: a file of their digests, scopes and limits, changed by ``vouch serve keys`` and read again when it changes.

A key is ``vouch_ID_SECRET``. The file has the SHA-256 of the whole key: a secret of 256 random bits needs no slow hash.
Digests are compared in constant time, also where the id is unknown.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from pydantic import TypeAdapter, ValidationError

from vouching.errors import AccessError, ConfigError, InputError
from vouching.types.visible import shown_json

Scope: TypeAlias = Literal["check", "reward", "read", "review", "metrics"]
"""What a key may do: check texts; score training rows; read the ledger; review; read the metrics."""
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret."""

    id: str
    name: str
    """Whose it is; shown in the ledger and the log."""
    digest: str
    """SHA-256 of the whole key, in hexadecimal."""
    scopes: tuple[str, ...]
    """A scope that this version does not know allows nothing."""
    requests_per_minute: int | None = None
    """Its own limit; None for the server's."""
    created: str = ""
    revoked: str | None = None
    """When it was revoked; None while it is valid."""

    def allows(self, scope: Scope) -> bool:
        """Whether the key has a scope."""
        return scope in self.scopes


def caller_of(key: Key) -> str:
    """The key as the ledger names who asked."""
    return key.name if key.name == key.id else f"{key.name} ({key.id})"


ANYONE = Key("anyone", "anyone", "", SCOPES)
"""The caller of a server without keys."""
STRANGER = Key("-", "", "", ())
"""Whoever has not signed in, on a server with keys."""
_ABSENT = "0" * 64


class KeyFile:
    """The keys of a file. Raises ConfigError if it cannot be read.

    >>> import tempfile
    >>> keys = KeyFile(Path(tempfile.mkdtemp()) / "keys.json")
    >>> secret, key = keys.add("search team", ["check"])
    >>> keys.find(secret).name, secret in keys.path.read_text(encoding="utf-8")
    ('search team', False)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int] | None = None
        self._keys: dict[str, Key] = {}

    @property
    def keys(self) -> dict[str, Key]:
        """All keys by id, revoked ones included; read again if the file has changed."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._seen, self._keys = None, {}
            return {}
        except OSError as error:
            raise self._unreadable(error.strerror) from None
        seen = (found.st_mtime_ns, found.st_ino)
        if seen != self._seen:
            self._keys, self._seen = self._read(), seen
        return self._keys

    def find(self, secret: str) -> Key:
        """The valid key of a caller. Raises AccessError, which never repeats the secret."""
        parts = secret.split("_")
        key = self.keys.get(parts[1]) if len(parts) == 3 and parts[0] == "vouch" else None
        same = hmac.compare_digest(_digest(secret), key.digest if key else _ABSENT)
        if key is None or not same:
            raise AccessError("the API key is unknown: pass one that vouch serve keys add printed")
        if key.revoked is not None:
            raise AccessError(f"the API key {key.id} was revoked on {key.revoked}: pass another one")
        return key

    def add(
        self, name: str, scopes: Sequence[str] = ("check",), requests_per_minute: int | None = None
    ) -> tuple[str, Key]:
        """A new key, whose secret is returned and stored nowhere.

        Raises InputError for an unknown scope, and for a name that would not tell a reviewer from another valid key.
        """
        if len(name) > 200 or not name.isprintable():
            raise InputError(f"the name of a key must have at most 200 printable characters, got {name[:80]!r}")
        unknown = [scope for scope in scopes if scope not in SCOPES]
        if unknown or not scopes:
            raise InputError(f"unknown scope {shown_json(unknown[0] if unknown else '')}: expected {', '.join(SCOPES)}")
        if requests_per_minute is not None and requests_per_minute < 1:
            raise InputError(f"requests per minute must be at least 1, got {requests_per_minute}")
        with self._changing() as keys:
            _refuse_shared_name(name, scopes, keys.values())
            number = next(n for n in iter(lambda: secrets.token_hex(4), None) if n not in keys)
            secret = f"vouch_{number}_{secrets.token_hex(32)}"
            given = tuple(dict.fromkeys(scopes))
            key = Key(number, name, _digest(secret), given, requests_per_minute, _now())
            keys[number] = key
        return secret, key

    def revoke(self, id: str) -> Key:
        """Revoke a key; the servers refuse it from their next request on. Raises InputError for an unknown id."""
        with self._changing() as keys:
            if id not in keys:
                raise InputError(f"there is no key {id!r} in {self.path}: vouch serve keys list shows their ids")
            keys[id] = key = keys[id] if keys[id].revoked else replace(keys[id], revoked=_now())
        return key

    def _read(self) -> dict[str, Key]:
        try:
            keys = TypeAdapter(list[Key]).validate_json(self.path.read_bytes())
        except (OSError, ValidationError) as error:
            cause = error.strerror if isinstance(error, OSError) else "it is not a list of keys"
            raise self._unreadable(cause) from None
        return {key.id: key for key in keys}

    def _unreadable(self, cause: str | None) -> ConfigError:
        return ConfigError(f"cannot read the keys in {self.path}: {cause}")

    @contextmanager
    def _changing(self) -> Generator[dict[str, Key]]:
        """The keys, written back as a whole: a reader sees the old file or the new one."""
        try:
            with open(f"{self.path}.lock", "w", encoding="utf-8") as lock:
                flock(lock, LOCK_EX)
                keys = dict(self.keys)
                yield keys
                text = json.dumps([asdict(key) for key in keys.values()], indent=1, ensure_ascii=False) + "\n"
                number, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)  # only its owner reads it
                with os.fdopen(number, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(number)
                Path(name).replace(self.path)
        except OSError as error:
            raise InputError(f"cannot write the keys to {self.path}: {error.strerror or error}") from None


def _refuse_shared_name(name: str, scopes: Sequence[str], keys: Iterable[Key]) -> None:
    """Raises InputError if two valid keys had the name and one of them reviewed: people are known by it."""
    for key in keys:
        if key.name == name and key.revoked is None and "review" in {*scopes, *key.scopes}:
            raise InputError(
                f"the valid key {key.id} has the name {shown_json(name)} too, and reviewers are known by "
                f"the names of their keys: choose another name, or first run  vouch serve keys revoke {key.id}"
            )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def shown(key: Key) -> dict[str, object]:
    """What may be shown of a key: everything but its digest."""
    return {name: value for name, value in asdict(key).items() if name != "digest"}
