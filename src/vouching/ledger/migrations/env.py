"""What Alembic runs for a migration: in the connection and the transaction of the caller."""

from __future__ import annotations

from alembic import context

from vouching.ledger.migrate import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"], version_table=VERSION_TABLE, transactional_ddl=True
)
context.run_migrations()
