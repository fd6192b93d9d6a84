"""The policy file of a server, ``vouch.toml``: where it listens, what it accepts, and how it judges.

    [serve]
    address = "127.0.0.1:8400"
    workers = 2
    keys = "keys.json"

    [limits]
    body_bytes = 8000000

    [judges.default]
    model = "embedded"

    [proxy]
    upstream = "http://127.0.0.1:8000/v1"
    action = "repair"

A caller chooses a judge by its name, never a model: a caller who could name a model could make the server open any
address or file. An unknown key is an error that names the nearest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path

from vouching.checker import Checker
from vouching.errors import ConfigError, InputError
from vouching.serve.proxy_settings import ProxySettings
from vouching.settings import read_settings

DEFAULT_JUDGE = "default"


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """How the server runs. Raises ConfigError for a number out of range."""

    address: str = "127.0.0.1:8400"
    """HOST:PORT; a host that other machines reach requires ``keys``."""
    workers: int = 1
    """Processes, each with its own judges; for the embedded verifier one per core."""
    threads: int = 1
    """Checks at the same time in a worker: 1 for the embedded verifier, more for a language model."""
    queue: int = 64
    """Requests that may wait in a worker; further ones are refused with status 429."""
    timeout_seconds: float = 60.0
    """Longest time for a request, waiting included."""
    shutdown_seconds: int = 30
    """Time that open requests get to end when the server stops."""
    keys: str = ""
    """File of the API keys (see ``vouch serve keys``), relative to the policy file; "" accepts every caller."""
    ledger: str = ""
    """Where every result is kept before it is answered: a path or an address of PostgreSQL; "" keeps nothing."""
    stream: str = "serve"
    """The chain of the ledger that the results are appended to."""
    cors_origins: tuple[str, ...] = ()
    """Web origins whose pages may call the server; none by default."""
    reviewers: int = 1
    """People who decide each verdict of the review queue, 1 or 2."""
    lock_seconds: float = 600.0
    """Time for which a verdict of the queue is reserved to whoever took it."""
    session_minutes: float = 480.0
    """Time until somebody who signed in to the pages must do so again."""
    decisions_fallback: str = ""
    """The decision model that answers questions to /v1/systemone and /v1/decisions which are not about a claim."""

    def __post_init__(self) -> None:
        _at_least(self, 1, "workers", "threads", "shutdown_seconds")
        _at_least(self, 0, "queue")
        if self.reviewers not in (1, 2):
            raise ConfigError(f"reviewers must be 1 or 2, got {self.reviewers}")
        for name in ("timeout_seconds", "lock_seconds", "session_minutes"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """What one request may be. Raises ConfigError for a number out of range."""

    body_bytes: int = 8_000_000
    """Largest body."""
    body_seconds: float = 30.0
    """Longest time until a body has arrived."""
    header_seconds: float = 10.0
    """Longest time until the first headers of a connection have arrived."""
    answer_seconds: float = 30.0
    """Longest time that a client may leave an answer unread; the connection is then closed."""
    connections: int = 1000
    """Open connections of a worker; further ones are answered with status 503."""
    characters: int = 2_000_000
    """Largest total length of the texts of a request, its sources included."""
    numbers: int = 100_000
    """Most numbers in the texts of a request."""
    sentences: int = 50_000
    """Most sentences and lines in the texts of a request."""
    sources: int = 100
    """Most sources of a request."""
    claims: int = 500
    """Most claims, answers, rows or units of a request, and most claims that a response may have."""
    kept_bytes: int = 256_000_000
    """Memory of a worker, and space on disk, for uploaded sources; memory of the proxy for those of LiteLLM's calls.

    The least recently used are dropped.
    """
    memory_bytes: int = 4_000_000_000
    """Memory of a process that judges or reads files; a request that needs more is refused. 0 for no limit."""
    requests_per_minute: int = 0
    """Requests of each key, in all workers together; 0 for no limit. A key may have its own."""

    def __post_init__(self) -> None:
        _at_least(self, 1, "body_bytes", "connections", "characters", "numbers", "sentences")
        _at_least(self, 1, "sources", "claims", "kept_bytes")
        _at_least(self, 0, "requests_per_minute", "memory_bytes")
        if min(self.body_seconds, self.header_seconds, self.answer_seconds) <= 0:
            raise ConfigError("body_seconds, header_seconds and answer_seconds must be above 0")

    def check_sources(self, number: int) -> None:
        """Raises InputError if a request has too many sources."""
        if number > self.sources:
            raise InputError(
                f"the request has more than {self.sources:,} sources, which is what this server accepts: send fewer"
            )


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """A judge that callers name. Its model is opened when the server starts, so that an error shows then."""

    model: str = "embedded"
    """As for :class:`vouching.Checker`."""
    threshold: float = 0.5
    """Score from which a claim is Attributable."""
    min_confidence: float = 0.0
    """Verdicts of a lower confidence become Unverified(reason="undecided")."""
    search: tuple[str, ...] = ()
    """Engines that are searched for further sources."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that the policy file sets; the defaults serve the embedded verifier to this machine.

    >>> Policy().judges["default"].model, Policy().serve.address
    ('embedded', '127.0.0.1:8400')
    """

    serve: ServeSettings = field(default_factory=ServeSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    judges: dict[str, JudgeSettings] = field(default_factory=lambda: {DEFAULT_JUDGE: JudgeSettings()})
    proxy: ProxySettings = field(default_factory=ProxySettings)

    def __post_init__(self) -> None:
        if DEFAULT_JUDGE not in self.judges:
            raise ConfigError(f"judges has no {DEFAULT_JUDGE!r}, got {', '.join(self.judges) or 'none'}: add it")
        if self.proxy.judge not in self.judges:
            raise ConfigError(f"proxy.judge is {self.proxy.judge!r}, expected one of {', '.join(self.judges)}")
        if not self.serve.keys and not is_local(self.serve.address):
            raise ConfigError(
                f"other machines reach the address {self.serve.address}, but serve.keys is empty: set it to a file "
                "made with vouch serve keys add, or listen at 127.0.0.1"
            )


def read_policy(path: Path | None, overrides: Sequence[str] = ()) -> Policy:
    r"""The policy of a TOML file with ``key=value`` overrides; ``serve.keys`` is relative to the file.

    Without a file, the defaults with the overrides.

    Raises:
        ConfigError: the file cannot be read, has an unknown key (the nearest is named) or a value of the wrong type.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "vouch.toml"
    >>> _ = path.write_text("[limits]\nbody_byte = 9", encoding="utf-8")
    >>> read_policy(path)
    Traceback (most recent call last):
        ...
    vouching.errors.ConfigError: unknown setting 'limits.body_byte'; did you mean 'limits.body_bytes'?
    """
    policy = read_settings(Policy, path, overrides)
    if path is None or not policy.serve.keys:
        return policy
    return replace(policy, serve=replace(policy.serve, keys=str(path.parent / policy.serve.keys)))


def check_policy(path: Path) -> tuple[str, ...]:
    """Read a policy file, open its judges, and return their names. Raises as :func:`read_policy` and the judges do."""
    policy = read_policy(path)
    for name, judge in policy.judges.items():
        checker = Checker(judge.model, judge.threshold, min_confidence=judge.min_confidence)
        if checker.judges != "claims":
            raise ConfigError(f"judges.{name}: {judge.model} does not judge claims: name another model")
    return tuple(policy.judges)


def is_local(address: str) -> bool:
    """Whether only this machine reaches HOST:PORT.

    >>> is_local("127.0.0.1:80"), is_local("[::1]:80"), is_local("localhost:80"), is_local("0.0.0.0:80")
    (True, True, True, False)
    """
    host = (address.rpartition(":")[0] or address).removeprefix("[").removesuffix("]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _at_least(settings: object, least: int, *names: str) -> None:
    for name in names:
        if getattr(settings, name) < least:
            raise ConfigError(f"{name} must be at least {least}, got {getattr(settings, name)}")
