"""Verdicts are no longer assigned to reviewers.

The tables of the queue are emptied, and filled again from the chains when they are used next; entries of the kind
"assignment" stay in their chains and are passed over.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TABLES = ("review_items", "review_events")


def upgrade() -> None:
    """Drop the columns."""
    _empty()
    op.drop_index("review_items_assignee", "review_items")
    for table in _TABLES:
        op.drop_column(table, "assignee")


def downgrade() -> None:
    """Add the columns."""
    _empty()
    for table in _TABLES:
        op.add_column(table, sa.Column("assignee", sa.String(200)))
    op.create_index("review_items_assignee", "review_items", ["assignee"])


def _empty() -> None:
    for table in ("review_locks", "review_events", "review_items", "review_cursors"):
        op.execute(f"DELETE FROM {table}")
