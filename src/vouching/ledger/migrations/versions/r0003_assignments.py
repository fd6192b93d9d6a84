"""Who is to review a verdict.

The tables of the queue are emptied, and filled again from the chains when they are used next.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TABLES = ("review_items", "review_events")


def upgrade() -> None:
    """Add the columns."""
    _empty()
    for table in _TABLES:
        op.add_column(table, sa.Column("assignee", sa.String(200)))
    op.create_index("review_items_assignee", "review_items", ["assignee"])


def downgrade() -> None:
    """Drop the columns; the assignments stay in their chains."""
    _empty()
    op.drop_index("review_items_assignee", "review_items")
    for table in _TABLES:
        op.drop_column(table, "assignee")


def _empty() -> None:
    for table in ("review_locks", "review_events", "review_items", "review_cursors"):
        op.execute(f"DELETE FROM {table}")
