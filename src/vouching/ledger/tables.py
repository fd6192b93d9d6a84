"""The tables of a ledger, for queries. The migrations make them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()
_ID = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself only if they are INTEGER

STREAMS = Table(
    "ledger_streams",
    metadata,
    Column("stream", String(200), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("mac", String(64), nullable=False),
    Column("key_id", String(16), nullable=False),
)
"""The end of each chain. Whoever appends locks its row first."""

ROWS = Table(
    "ledger_rows",
    metadata,
    Column("id", _ID, primary_key=True, autoincrement=True),
    Column("stream", String(200), nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("at", String(32), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("caller", String(200), nullable=False),
    Column("about", BigInteger),
    Column("label", Text),
    Column("error_type", Text),
    Column("score", Double),
    Column("confidence", Double),
    Column("passed", Boolean),
    Column("model", Text),
    Column("details", Text, nullable=False),
    Column("kept", String(16), nullable=False),
    Column("inputs_digest", String(64), nullable=False),
    Column("record_digest", String(64), nullable=False),
    Column("key_id", String(16), nullable=False),
    Column("prev", String(64), nullable=False),
    Column("mac", String(64), nullable=False),
    UniqueConstraint("stream", "seq"),
    Index("ledger_rows_at", "at"),
    Index("ledger_rows_caller", "caller"),
    Index("ledger_rows_about", "about"),
    Index("ledger_rows_label", "label"),
    sqlite_autoincrement=True,
)
"""Everything that stays: only inserted, never changed."""

CONTENTS = Table(
    "ledger_contents",
    metadata,
    Column("id", _ID, ForeignKey("ledger_rows.id"), primary_key=True, autoincrement=False),
    Column("salt", String(32), nullable=False),
    Column("inputs", Text),
    Column("record", Text),
    Column("words", Text, nullable=False),
)
"""The texts of a row, with the salt of their digests: removed by an erasure."""
