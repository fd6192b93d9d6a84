"""How the guard proxy treats answers: the table ``[proxy]`` of the policy file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from vouching.errors import ConfigError
from vouching.repair import Rest
from vouching.rows.conversations import ORIGINS, Origin


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """The policy of the proxy. Raises ConfigError for a value out of range.

    >>> ProxySettings(upstream="http://127.0.0.1:8000/v1").action
    'annotate'
    """

    upstream: str = ""
    """Base URL of the server, with its /v1."""
    address: str = "127.0.0.1:8401"
    """HOST:PORT where the proxy listens. It has no keys of its own: those of callers go to the upstream server."""
    action: Literal["annotate", "repair", "block"] = "annotate"
    """What happens to an answer with an unsupported claim. Every checked answer is annotated."""
    unverified: Literal["pass", "block"] | None = None
    """What happens to an answer that could not be judged, or with a claim that could not; None for "block" where the
    action is "block", else "pass"."""
    undocumented: Literal["pass", "block"] = "pass"
    """What happens to an answer to a request without documents, which is not checked."""
    abstained: Literal["pass", "block"] = "pass"
    """What happens to an answer that makes no claim and only says that it does not know."""
    unclaimed: Literal["pass", "block"] = "pass"
    """What happens to any other answer without a claim: a greeting, a question, an opinion, advice, code."""
    documents: tuple[Origin, ...] = ORIGINS
    """What counts as documents. With "user", whatever the user asserts supports the answer."""
    forward_documents: bool = False
    """Whether the field "documents" of a request is passed on; many servers refuse it."""
    stream: Literal["after", "held"] = "after"
    """Streams pass through and end with the verdict ("after"), or each sentence is held until it is checked."""
    rest: Rest = "mark"
    """For "repair": what to do with claims that have no verified fix."""
    blocked_text: str = "The answer was withheld, because its documents do not confirm it."
    """What a caller gets instead of a blocked answer."""
    judge: str = "default"
    """Name of the judge, of the table ``judges``."""
    hosts: tuple[str, ...] = ()
    """Names by which callers on this machine may ask besides its own, such as that of a reverse proxy, with the port if
    they send one. A request by another name is refused where ``address`` is of this machine only (DNS rebinding)."""
    caller: str = "proxy"
    """Name under which results are kept in ``serve.ledger``, and whose reviews blocking rests on."""
    check_seconds: float = 30.0
    """Longest time of a check; after it, the answer counts as not verified."""
    upstream_seconds: float = 600.0
    """Longest silence of the upstream server."""

    def __post_init__(self) -> None:
        if self.upstream and not self.upstream.startswith(("http://", "https://")):
            raise ConfigError(f"upstream must be a URL such as http://127.0.0.1:8000/v1, got {self.upstream!r}")
        unknown = [one for one in self.documents if one not in get_args(Origin)]
        if unknown:
            raise ConfigError(f"documents must be of {', '.join(get_args(Origin))}, got {unknown[0]!r}")
        if min(self.check_seconds, self.upstream_seconds) <= 0:
            raise ConfigError("check_seconds and upstream_seconds must be above 0")

    @property
    def blocks(self) -> bool:
        """Whether a verdict, or the lack of one, can block an answer."""
        return self.blocks_unverified or "block" in (self.action, self.abstained, self.unclaimed)

    @property
    def blocks_unverified(self) -> bool:
        """Whether an answer that could not be judged is blocked."""
        return (self.unverified or self.action) == "block"

    @property
    def gaps(self) -> tuple[str, ...]:
        """What a policy that repairs or blocks lets through as it is, and what to do about it."""
        found: list[str] = []
        if self.action == "block" and self.undocumented == "pass":
            where = ", ".join(self.documents)
            users = "" if "user" in self.documents else '; if user messages hold the documents, add "user" to documents'
            found.append(f'a request without documents ({where}) is answered unchecked: undocumented = "block"{users}')
        if self.action == "block" and self.unclaimed == "pass":
            found.append('an answer without a claim, such as a question or code, passes unchecked: unclaimed = "block"')
        if self.action != "annotate" and self.stream == "after":
            found.append('a stream passes as it is, and only its last event has the verdict: stream = "held"')
        return tuple(found)
