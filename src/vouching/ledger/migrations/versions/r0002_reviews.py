"""Tables of the review queue: what can be reviewed, its reviews, and who has what in hand.

They hold no text, and nothing that is not read from the chains, except the locks.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables; the first use of the queue fills them."""
    op.create_table(
        "review_cursors",
        sa.Column("stream", sa.String(200), primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "review_items",
        sa.Column("row_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("finding", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("stream", sa.String(200), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("caller", sa.String(200), nullable=False),
        sa.Column("model", sa.Text),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("error_type", sa.Text),
        *(sa.Column(name, sa.Double, nullable=False) for name in ("score", "confidence", "doubt", "draw")),
        sa.Column("decided", sa.Integer, nullable=False),
        sa.Column("contested", sa.Boolean, nullable=False),
        sa.Column("objected", sa.Boolean, nullable=False),
        sa.Column("gold_label", sa.Text),
        sa.Column("gold_type", sa.Text),
    )
    op.create_table(
        "review_events",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("row_id", sa.BigInteger, nullable=False),
        sa.Column("finding", sa.Integer, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("reviewer", sa.String(200), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("label", sa.Text),
        sa.Column("error_type", sa.Text),
        sa.Column("policy", sa.String(16)),
        sa.Column("seed", sa.BigInteger),
        sa.Column("undone", sa.Boolean, nullable=False),
    )
    op.create_table(
        "review_locks",
        sa.Column("row_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("finding", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("reviewer", sa.String(200), primary_key=True),
        sa.Column("until", sa.Double, nullable=False),
        sa.Column("policy", sa.String(16), nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["row_id", "finding"], ["review_items.row_id", "review_items.finding"]),
    )
    for table, name, columns in (
        ("review_items", "doubt", ["doubt"]),
        ("review_items", "draw", ["draw"]),
        ("review_events", "item", ["row_id", "finding"]),
        ("review_events", "reviewer", ["reviewer"]),
    ):
        op.create_index(f"{table}_{name}", table, columns)


def downgrade() -> None:
    """Drop the tables; the reviews stay in their chains."""
    for table in ("review_locks", "review_events", "review_items", "review_cursors"):
        op.drop_table(table)
