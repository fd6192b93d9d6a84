"""What a ledger keeps, and what checking it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

EntryKind: TypeAlias = Literal[
    "check",
    "check-response",
    "follow",
    "audit",
    "rank",
    "context",
    "challenge",
    "reward",
    "review",
    "erase",
]
"""What an entry records: a result of the command of that name, a review, or an erasure."""
Kept: TypeAlias = Literal["all", "record", "digests"]
"""What a ledger keeps of the texts: inputs and record, the record alone, or only digests of both."""
FaultKind: TypeAlias = Literal["changed", "missing", "inserted", "unlinked", "content", "head", "anchor", "key"]

DAMAGED: Mapping[str, str] = {"damaged": "this cannot be shown: run  vouch ledger verify"}
"""What a row shows in place of inputs, a record or details that were changed into something else than an object."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One result to keep, with its inputs and where it came from."""

    stream: str
    """The chain that it is appended to, for example the name of a product."""
    kind: EntryKind
    """What it records."""
    inputs: Mapping[str, Any]
    """What was judged, as JSON: for example claim and sources."""
    record: Mapping[str, Any]
    """The result as JSON, as its published schema has it."""
    caller: str = ""
    """Who asked, by a name that is not secret: it stays after an erasure."""
    provenance: Mapping[str, Any] | None = None
    """What produced it; None for the record's own."""
    timing: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """When it began and how long it took, for example ``started_at`` and ``seconds``."""
    usage: Mapping[str, Any] | None = None
    """What it cost; None for the record's own."""
    about: int | None = None
    """Id of the row that it is about, for a review."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row of a ledger."""

    id: int
    """Its name, unique in the ledger."""
    stream: str
    """The chain that it belongs to."""
    seq: int
    """Its place in the chain, from 1."""
    at: str
    """When it was appended: ISO 8601, UTC."""
    kind: str
    """What it records."""
    caller: str
    """Who asked."""
    about: int | None
    """Id of the row that it is about."""
    label: str | None
    """Label of the verdict; of a report, passed, failed or unverified."""
    error_type: str | None
    """Error type of the verdict; of a report, the most frequent one."""
    score: float | None
    """Score of the record."""
    confidence: float | None
    """Confidence of the verdict; of a report, the lowest one."""
    passed: bool | None
    """Whether everything in it passed; None if unknown."""
    model: str | None
    """Engine of the (first) verdict."""
    inputs: Mapping[str, Any] | None
    """What was judged; None if it was erased or never kept."""
    record: Mapping[str, Any] | None
    """The result; None if it was erased or never kept."""
    provenance: Mapping[str, Any]
    """What produced it."""
    timing: Mapping[str, Any]
    """When it began and how long it took."""
    usage: Mapping[str, Any]
    """What it cost."""
    kept: Kept
    """What was kept of the texts."""
    erased: bool
    """Whether the texts were removed later."""
    inputs_digest: str
    """Salted digest of the inputs, in hexadecimal; it stays after an erasure."""
    record_digest: str
    """Salted digest of the record, in hexadecimal; it stays after an erasure."""
    key_id: str
    """Which key made ``mac``; empty for a chain without a key."""
    prev: str
    """The ``mac`` of the row before it in the chain."""
    mac: str
    """HMAC-SHA256 (without a key: SHA-256) of everything above except the texts, in hexadecimal."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which rows to find; a filter that is None does not restrict."""

    stream: str | None = None
    """The chain."""
    kind: str | None = None
    """What the row records."""
    caller: str | None = None
    """Who asked."""
    about: int | None = None
    """Id of the row that it is about."""
    label: str | None = None
    """Its label."""
    error_type: str | None = None
    """Its error type."""
    model: str | None = None
    """Its engine."""
    passed: bool | None = None
    """Whether everything in it passed."""
    since: str | None = None
    """Appended at this time or later: ISO 8601; without a zone, UTC."""
    until: str | None = None
    """Appended before this time."""
    max_confidence: float | None = None
    """Confidence of at most this."""


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: kept elsewhere, it proves later that nothing before it changed or is gone."""

    stream: str
    """The chain."""
    seq: int
    """Number of its rows."""
    mac: str
    """The ``mac`` of its last row."""
    key_id: str
    """Which key made it; empty for a chain without a key."""
    at: str
    """When the last row was appended."""
    code: str = ""
    """Code of all this under the same key, so that a changed head is seen too."""


@dataclass(frozen=True, slots=True)
class LedgerFault:
    """A place where a chain is broken."""

    stream: str
    """The chain."""
    seq: int | None
    """The place in the chain; None if it is not in one."""
    id: int | None
    """Id of the row; None if the row is missing."""
    kind: FaultKind
    """What is wrong."""
    message: str
    """What is wrong, in a sentence."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of checking the chains of a ledger."""

    streams: int
    """Chains that were checked."""
    rows: int
    """Rows that were checked."""
    erased: int
    """Rows whose texts were removed, with an erasure on record."""
    keyed: bool
    """Whether a key was used: without one, the chains only show accidents."""
    anchors: int
    """Heads from elsewhere that the chains were compared with."""
    faults: tuple[LedgerFault, ...]
    """What is wrong, in the order of the chains; at most the number that was asked for."""
    total_faults: int
    """Number of faults, also of those that are not listed."""

    @property
    def intact(self) -> bool:
        """Whether nothing is wrong."""
        return self.total_faults == 0


class Keeps(Protocol):
    """Something that keeps entries: a ledger."""

    stream: str
    """The chain for what checks append by themselves."""
    caller: str
    """Who runs these checks."""

    def append(self, entries: Sequence[Entry]) -> list[int]:
        """Keep all entries or none, and return their ids."""
        ...
