"""The tables of a ledger, for queries; its first revision makes them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
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

REVIEW_CURSORS = Table(
    "review_cursors",
    metadata,
    Column("stream", String(200), primary_key=True),
    Column("seq", BigInteger, nullable=False),
)
"""How far each chain was read into the tables below. Whoever reads on locks its row first."""

REVIEW_ITEMS = Table(
    "review_items",
    metadata,
    Column("row_id", BigInteger, primary_key=True, autoincrement=False),
    Column("finding", Integer, primary_key=True, autoincrement=False),
    Column("stream", String(200), nullable=False),
    Column("at", String(32), nullable=False),
    Column("caller", String(200), nullable=False),
    Column("model", Text),
    Column("label", Text, nullable=False),
    Column("error_type", Text),
    Column("score", Double, nullable=False),
    Column("confidence", Double, nullable=False),
    Column("doubt", Double, nullable=False),
    Column("draw", Double, nullable=False),
    Column("decided", Integer, nullable=False),
    Column("contested", Boolean, nullable=False),
    Column("objected", Boolean, nullable=False),
    Column("gold_label", Text),
    Column("gold_type", Text),
    Index("review_items_doubt", "doubt"),
    Index("review_items_draw", "draw"),
)
"""Every verdict that can be reviewed, with the state of its reviews: read from the chains, and made again from them."""

REVIEW_EVENTS = Table(
    "review_events",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("row_id", BigInteger, nullable=False),
    Column("finding", Integer, nullable=False),
    Column("at", String(32), nullable=False),
    Column("reviewer", String(200), nullable=False),
    Column("action", String(16), nullable=False),
    Column("label", Text),
    Column("error_type", Text),
    Column("policy", String(16)),
    Column("seed", BigInteger),
    Column("undone", Boolean, nullable=False),
    Index("review_events_item", "row_id", "finding"),
    Index("review_events_reviewer", "reviewer"),
)
"""Reviews of these verdicts, read from the chains; one that was taken back stays, as undone."""

REVIEW_LOCKS = Table(
    "review_locks",
    metadata,
    Column("row_id", BigInteger, primary_key=True, autoincrement=False),
    Column("finding", Integer, primary_key=True, autoincrement=False),
    Column("reviewer", String(200), primary_key=True),
    Column("until", Double, nullable=False),
    Column("policy", String(16), nullable=False),
    Column("seed", BigInteger, nullable=False),
    ForeignKeyConstraint(["row_id", "finding"], ["review_items.row_id", "review_items.finding"]),
)
"""Who has which verdict in hand, until when (seconds since 1970)."""
