"""Ledgers to test: in a file of SQLite and in a PostgreSQL that runs for the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger.server import NoPostgres, PostgresServer
from vouching.ledger import Ledger, open_ledger

KEY = "a key only for these tests"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    try:
        server = PostgresServer()
    except NoPostgres as error:
        pytest.skip(str(error))
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgres"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.database()


@pytest.fixture
def ledger(target: str) -> Iterator[Ledger]:
    with open_ledger(target, key=KEY) as opened:
        yield opened
