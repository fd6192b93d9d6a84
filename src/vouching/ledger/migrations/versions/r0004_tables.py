"""All tables of a ledger, as :mod:`vouching.ledger.tables` has them.

Rows and contents cannot be updated, and rows cannot be deleted, unless a trigger is dropped first: this stops mistakes.
A revision that changes a table writes out here, before it does, how this one made it.
"""

from __future__ import annotations

from alembic import op

from vouching.ledger.tables import metadata

revision = "0004"
down_revision = None
branch_labels = None
depends_on = None

_FORBIDDEN = (("ledger_rows", "UPDATE"), ("ledger_rows", "DELETE"), ("ledger_contents", "UPDATE"))


def upgrade() -> None:
    """Make the tables."""
    metadata.create_all(op.get_bind())
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
    metadata.drop_all(op.get_bind())
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION ledger_refuse()")
