"""Rows, their contents and the ends of the chains.

Rows and contents cannot be updated, and rows cannot be deleted, unless a trigger is dropped first: this stops mistakes.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_FORBIDDEN = (("ledger_rows", "UPDATE"), ("ledger_rows", "DELETE"), ("ledger_contents", "UPDATE"))


def upgrade() -> None:
    """Make the tables."""
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "ledger_streams",
        sa.Column("stream", sa.String(200), primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("mac", sa.String(64), nullable=False),
        sa.Column("key_id", sa.String(16), nullable=False),
    )
    op.create_table(
        "ledger_rows",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        sa.Column("stream", sa.String(200), nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("caller", sa.String(200), nullable=False),
        sa.Column("about", sa.BigInteger),
        sa.Column("label", sa.Text),
        sa.Column("error_type", sa.Text),
        sa.Column("score", sa.Double),
        sa.Column("confidence", sa.Double),
        sa.Column("passed", sa.Boolean),
        sa.Column("model", sa.Text),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("kept", sa.String(16), nullable=False),
        sa.Column("inputs_digest", sa.String(64), nullable=False),
        sa.Column("record_digest", sa.String(64), nullable=False),
        sa.Column("key_id", sa.String(16), nullable=False),
        sa.Column("prev", sa.String(64), nullable=False),
        sa.Column("mac", sa.String(64), nullable=False),
        sa.UniqueConstraint("stream", "seq"),
        sqlite_autoincrement=True,
    )
    for column in ("at", "caller", "about", "label"):
        op.create_index(f"ledger_rows_{column}", "ledger_rows", [column])
    op.create_table(
        "ledger_contents",
        sa.Column("id", number, sa.ForeignKey("ledger_rows.id"), primary_key=True, autoincrement=False),
        sa.Column("salt", sa.String(32), nullable=False),
        sa.Column("inputs", sa.Text),
        sa.Column("record", sa.Text),
        sa.Column("words", sa.Text, nullable=False),
    )
    _forbid(op.get_bind().dialect.name)


def _forbid(dialect: str) -> None:
    if dialect == "postgresql":
        op.execute(
            "CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "RAISE EXCEPTION '% on % is not allowed: the ledger is append-only', TG_OP, TG_TABLE_NAME; END $$"
        )
    for table, act in _FORBIDDEN:
        name = f"{table}_no_{act.lower()}"
        if dialect == "postgresql":
            op.execute(f"CREATE TRIGGER {name} BEFORE {act} ON {table} EXECUTE FUNCTION ledger_refuse()")
        else:
            refuse = f"SELECT RAISE(ABORT, '{act} on {table} is not allowed: the ledger is append-only')"
            op.execute(f"CREATE TRIGGER {name} BEFORE {act} ON {table} BEGIN {refuse}; END")
    if dialect == "postgresql":
        op.execute(
            "CREATE TRIGGER ledger_rows_no_truncate BEFORE TRUNCATE ON ledger_rows EXECUTE FUNCTION ledger_refuse()"
        )


def downgrade() -> None:
    """Drop the tables with everything in them."""
    for table in ("ledger_contents", "ledger_rows", "ledger_streams"):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION ledger_refuse()")
