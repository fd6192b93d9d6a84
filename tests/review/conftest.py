"""The ledgers of tests/ledger: in a file of SQLite and in a PostgreSQL that runs for the tests."""

from __future__ import annotations

from tests.ledger.conftest import ledger, postgres, target

__all__ = ["ledger", "postgres", "target"]
