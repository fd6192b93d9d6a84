"""Opening the database of a ledger: SQLite in a file, or PostgreSQL; transactions, and its errors in plain words."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError

from vouching.errors import BackendError, ConfigError, needed
from vouching.ledger.migrate import migrate, refuse_other_revision, revision_of

VARIABLE = "VOUCH_LEDGER"
_PATIENCE = 60
"""Seconds that a writer waits for another one on the same SQLite file."""
_EXPECTED = "expected a path, sqlite:///PATH or postgresql+psycopg://USER@HOST/DATABASE"


_PASSING = {5, 6, 7, 9, 10, 13, 14}
"""Codes of SQLite that may pass: busy, locked, out of memory, interrupted, an I/O error, disk full, cannot open."""
_NO_DATABASE = 26
"""The code of SQLite for a file of another kind."""
_PASSING_CLASSES = ("08", "40", "53", "55", "57")
"""Classes of PostgreSQL that may pass: connection, rollback, resources, state of an object, the administrator."""


class LedgerError(BackendError):
    """The database of the ledger failed, and nothing of the call was kept.

    ``can_retry`` says whether the same call may succeed later: so where the database is down, locked or full, and not
    where it is damaged, read-only or lacks its tables.
    """

    def __init__(self, message: str, can_retry: bool) -> None:
        super().__init__(f"{message}; {'try again' if can_retry else 'the same call will fail again'}")
        self.can_retry = can_retry


class Store:
    """The database: connections that survive a fork, a restarted server and several threads."""

    def __init__(self, target: str, create: bool = True) -> None:
        self.url = _url(target)
        self._create = create
        self.embedded = self.url.get_backend_name() == "sqlite"
        self.name = self.url.render_as_string(hide_password=True)
        """The address, without the password."""
        self._engine = self._open()
        self._process = os.getpid()
        self._writing = threading.Lock()

    def _open(self) -> Engine:
        if not self.embedded:
            needed("psycopg", "postgres", "a ledger in PostgreSQL")
            return create_engine(self.url, pool_pre_ping=True, connect_args={"connect_timeout": 10})
        path = Path(self.url.database or "")
        if self._create:
            _make_private(path)
        elif not path.is_file():
            raise ConfigError(f"there is no ledger at {path}: check the path")
        engine = create_engine(self.url, connect_args={"timeout": _PATIENCE})
        event.listen(engine, "connect", _configure)
        event.listen(engine, "begin", _begin)
        return engine

    def prepare(self) -> None:
        """Make the tables in an empty database. Raises ConfigError if it is no database, or of another version."""
        try:
            with self.read() as connection:
                made = revision_of(connection) is not None
        except LedgerError as error:
            if getattr(getattr(error.__cause__, "orig", None), "sqlite_errorcode", None) == _NO_DATABASE:
                raise ConfigError(f"{self.url.database} is not a ledger: it is not a database of SQLite") from None
            raise
        if self._create and not made:
            with self.write() as connection:
                migrate(connection)
        with self.read() as connection:
            refuse_other_revision(connection)

    @contextmanager
    def read(self) -> Generator[Connection]:
        """A connection that sees one state of the database."""
        with self._errors(), self._connected() as connection:
            if not self.embedded:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def write(self) -> Generator[Connection]:
        """A connection whose changes are kept together, or not at all; one writer at a time on SQLite."""
        with self._errors(), self._writing if self.embedded else nullcontext(), self._connected() as connection:
            if self.embedded:
                connection = connection.execution_options(vouch_write=True)
            with connection.begin():
                yield connection

    def scrub(self) -> None:
        """Remove what deleted rows left in the files of the database."""
        with self._errors():
            if self.embedded:
                with self._connected() as connection:
                    raw: Any = connection.connection.dbapi_connection
                    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            else:
                with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.execute(text("VACUUM ledger_contents"))

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        self._engine.dispose()

    def _connected(self) -> Connection:
        if self._process != os.getpid():  # a fork must not use its parent's connections, nor close them
            self._engine.dispose(close=False)
            self._process, self._writing = os.getpid(), threading.Lock()
        return self._engine.connect()

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except DBAPIError as error:
            passing = error.connection_invalidated or _may_pass(error)
            state = "is not available" if passing else "failed"
            raise LedgerError(f"the ledger {self.name} {state}: {_first_line(error)}", passing) from error


def _may_pass(error: DBAPIError) -> bool:
    """Whether the same call may succeed later; where the database does not say why it failed, it may."""
    if not isinstance(error, OperationalError):
        return False
    code: int | None = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _PASSING
    state: str | None = getattr(error.orig, "sqlstate", None)
    return state is None or state.startswith(_PASSING_CLASSES)


def _url(target: str) -> URL:
    if "://" not in target:
        return URL.create("sqlite", database=target)
    try:
        url = make_url(target)
        backend = url.get_backend_name()
        url.get_dialect()
    except (ArgumentError, NoSuchModuleError, ValueError):
        scheme = target.partition("://")[0]
        raise ConfigError(f"cannot open a ledger with the address {scheme}://...: {_EXPECTED}") from None
    except ImportError:
        url, backend = make_url(target), make_url(target).get_backend_name()
    if backend not in {"sqlite", "postgresql"}:
        raise ConfigError(f"a ledger cannot be kept in {backend}: {_EXPECTED}")
    if backend == "sqlite" and url.database in {None, "", ":memory:"}:
        raise ConfigError(f"a ledger in memory is lost at the end: {_EXPECTED}")
    return url.set(drivername="postgresql+psycopg") if backend == "postgresql" else url


def _make_private(path: Path) -> None:
    """Make the file, readable by its owner only: it holds texts. Raises ConfigError where that is not possible."""
    try:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise ConfigError(f"the ledger {path} cannot be made: {error.strerror}") from None
    if path.is_dir():
        raise ConfigError(f"the ledger {path} is a folder: pass the path of a file")


def _configure(connection: Any, _: Any) -> None:
    """Settings of a new connection to SQLite."""
    connection.isolation_level = None  # transactions begin where _begin says so
    connection.text_factory = _decoded
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _decoded(raw: bytes) -> str:
    """Text of the file; bytes that are not UTF-8, which only a damaged file has, must not stop a verification."""
    return raw.decode("utf-8", "surrogateescape")


def _begin(connection: Connection) -> None:
    """Begin a transaction; one that writes takes the lock at once, so that it never reads an old end of a chain."""
    writes = connection.get_execution_options().get("vouch_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().partition("\n")[0]
