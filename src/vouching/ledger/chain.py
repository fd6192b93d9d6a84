"""The chain: what a row's code covers, with which key, and how its texts are digested.

A row's code (``mac``) is HMAC-SHA256 over the row and the code of the row before it, so that whoever lacks the key can
neither change a row nor remove one from the middle unnoticed. Without a key it is plain SHA-256, which anyone can
compute: it shows accidents, not attacks. The texts are covered by their salted digest: with the salt removed, the
digest gives no information about the text, and the chain stays valid.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from vouching.errors import ConfigError, InputError
from vouching.text.json_values import MOST_LEVELS, is_too_deep
from vouching.types.ledger import Head
from vouching.types.serial import defined

KEY_VARIABLE = "VOUCH_LEDGER_KEY"
GENESIS = "0" * 64
"""What stands for the code of the row before the first one."""
COVERED = (
    "id",
    "stream",
    "seq",
    "at",
    "kind",
    "caller",
    "about",
    "label",
    "error_type",
    "score",
    "confidence",
    "passed",
    "model",
    "details",
    "kept",
    "inputs_digest",
    "record_digest",
    "key_id",
    "prev",
)
"""Columns that a row's code covers, in the order in which it covers them: all but itself."""
_FORMAT, _HEAD_FORMAT = "vouching ledger 1", "vouching ledger head 1"
_SHORTEST_KEY = 16
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """The keys of a ledger: the first makes the codes of new rows, the others check older rows. Never shown.

    >>> keys = Keys.read("new-key-of-some-length,old-key-of-some-length")
    >>> len(keys.by_id), keys.signing in keys.by_id, Keys.read(None).signing
    (2, True, '')
    """

    by_id: Mapping[str, bytes]
    signing: str
    """Id of the key for new rows; empty without a key."""

    @classmethod
    def read(cls, given: str | None) -> Keys:
        """Keys from a text with commas between them. Raises ConfigError for a short one."""
        keys = [part.strip() for part in (given or "").split(",") if part.strip()]
        for number, key in enumerate(keys, 1):
            if len(key) < _SHORTEST_KEY:
                raise ConfigError(
                    f"key {number} of the ledger has {len(key)} characters: {KEY_VARIABLE} must hold keys of at least "
                    f"{_SHORTEST_KEY}, for example from  openssl rand -hex 32"
                )
        by_id = {_key_id(key.encode()): key.encode() for key in keys}
        return cls(by_id, next(iter(by_id), ""))

    def code(self, row: Mapping[str, Any]) -> str | None:
        """The code of a row under the key that it names; None if that key is not known."""
        return self._code([_FORMAT, *(row[name] for name in COVERED)], row["key_id"])

    def head_code(self, head: Head) -> str | None:
        """The code of the end of a chain, which shows that this ledger gave it; None if its key is not known."""
        return self._code([_HEAD_FORMAT, head.stream, head.seq, head.mac, head.key_id, head.at], head.key_id)

    def _code(self, covered: Sequence[object], key_id: str) -> str | None:
        message = json.dumps(covered, separators=(",", ":"), default=repr).encode()
        if not key_id:
            return hashlib.sha256(message).hexdigest()
        key = self.by_id.get(key_id)
        return None if key is None else hmac.new(key, message, "sha256").hexdigest()


def _key_id(key: bytes) -> str:
    return hmac.new(key, b"vouching ledger key id", "sha256").hexdigest()[:16]


def content_text(content: Mapping[str, Any], what: str) -> str:
    r"""Content as the JSON text that is stored and digested. Raises InputError if it is not JSON, or nested too deeply.

    >>> content_text({"claim": "caf\u00e9 \ud800", "score": float("nan")}, "the record")
    '{"claim":"café \\ud800","score":null}'
    """
    try:
        try:
            text = _json(dict(content))
        except ValueError:  # it may have a nan or an infinity, which are rare
            text = _json(defined(dict(content)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what} cannot be kept: expected plain JSON ({error})") from None
    if is_too_deep(dict(content)):
        raise InputError(f"{what} cannot be kept: expected JSON of at most {MOST_LEVELS} levels")
    return text if text.isascii() else _SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def new_salt() -> str:
    """128 random bits in hexadecimal."""
    return os.urandom(16).hex()


def digest(salt: str, name: str, text: str) -> str:
    """The digest of a text under a salt: HMAC-SHA256 with the salt as its key, in hexadecimal."""
    return hmac.new(bytes.fromhex(salt), f"{name}\n{text}".encode("utf-8", "surrogateescape"), "sha256").hexdigest()


def words_of(inputs: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    r"""The text that a search looks in, in lower case: what was judged and what should replace it, not the sources.

    >>> words_of({"claim": "It opened in 1937.", "sources": [{"text": "Long."}]}, {"fix_suggestion": "Use 1973."})
    'it opened in 1937.\nuse 1973.'
    """
    texts = [text for key, value in inputs.items() if key != "sources" for text in _texts(value)]
    texts += [text for key in ("fix_suggestion", "revised_claim", "note") for text in _texts(record.get(key))]
    return _SURROGATES.sub("\ufffd", "\n".join(texts).replace("\0", "\ufffd")).casefold()


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        value = list(cast("Mapping[str, Any]", value).values())
    members = cast("list[Any]", value) if isinstance(value, list | tuple) else []
    return [text for member in members for text in _texts(member)]
